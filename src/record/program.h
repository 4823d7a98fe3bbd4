/* Programs: made of a pass and its shader body, cached in memory by their source. */
#ifndef GLCNN_PROGRAM_H
#define GLCNN_PROGRAM_H

#include "record/pass.h"

struct program {
    struct program *next;
    char *source; /* the cache's key */
    GLuint name;
    uint32_t local[3];
    enum { PROGRAM_UNTESTED, PROGRAM_RUNS, PROGRAM_DOES_NOT_RUN } verdict; /* a canary's */
};

struct program_cache *program_cache_create(void);
/* `gl` NULL: the context is out of reach, only host memory is freed. */
void program_cache_destroy(struct program_cache *cache, const struct gl *gl);

/* Calls `visit` with every program's source, as the driver got it, in no particular order. */
void program_cache_each(const struct program_cache *cache,
                        void (*visit)(void *user, const struct program *program), void *user);

/* Sets pass->program, compiling it if the cache has no program of the same source. A refused
 * shader fails with the file and line of its first error. One that the driver accepts and does not
 * run (canary.h) fails too: its variant is refused from then on, and whoever can plans anew. */
glcnn_status program_find(struct glcnn_device *device, struct pass *pass);
/* The passes that are made ready one after the other, for whoever is told of compilations. */
void program_count(struct glcnn_device *device, size_t pass, size_t passes);
/* The same without a canary's test. */
glcnn_status program_find_untested(struct glcnn_device *device, struct pass *pass);

/* Variants whose programs the driver accepted and did not run. `name` lives as long as the
 * device. */
void program_refuse(struct glcnn_device *device, const char *name);
bool program_is_refused(const struct glcnn_device *device, const char *name);
/* How many there are: grows where program_find fails and a smaller variant may be tried. */
size_t program_refusals(const struct glcnn_device *device);

#endif
