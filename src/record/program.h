/* Programs: made of a pass and its shader body, cached in memory by their source. */
#ifndef GLCNN_PROGRAM_H
#define GLCNN_PROGRAM_H

#include "record/pass.h"

/* A program is made in steps, so that many can be under way at once (compile.h). */
enum program_stage { PROGRAM_COMPILING, PROGRAM_LINKING, PROGRAM_MADE };

struct program {
    struct program *next;
    char *source; /* the cache's key */
    GLuint name;
    GLuint shader; /* 0 once the program is made */
    uint32_t local[3];
    enum program_stage stage;
    bool loaded;     /* from a binary, not compiled */
    bool kept;       /* its binary needs no more keeping */
    bool of_kernel;  /* made for a pass of a kernel, not for one that the device keeps */
    uint64_t number; /* of the device's programs, counted from 1 as they are made */
    enum { PROGRAM_UNTESTED, PROGRAM_RUNS, PROGRAM_DOES_NOT_RUN } verdict; /* the smoke test's */
    struct glcnn_compilation compilation; /* shader NULL: nobody waits to be told that it ended */
    uint64_t nanoseconds;                 /* that it took of this thread */
};

struct program_cache *program_cache_create(void);
/* `gl` NULL: the context is out of reach, only host memory is freed. */
void program_cache_destroy(struct program_cache *cache, const struct gl *gl);

/* Calls `visit` with every program's source, as the driver got it, in no particular order. */
void program_cache_each(const struct program_cache *cache,
                        void (*visit)(void *user, const struct program *program), void *user);

/* How many programs the device has made so far. */
uint64_t programs_made(const struct glcnn_device *device);
/* Frees the programs of kernels' passes that were made since programs_made said `made`. No command
 * buffer that was recorded since may exist any more. */
void programs_release(struct glcnn_device *device, uint64_t made);

/* Sets the program of each pass that has none: from the cache, a binary of an earlier process, or
 * the compiler, which has all of them to work on at once where the driver lets it. A refused shader
 * fails with the file and line of its first error. One that the driver accepts and does not run
 * (smoke_test.h) fails too: its implementation is refused from then on, and whoever can plans again. After a
 * failure the pass that it is for, and those behind it, have no program. */
glcnn_status programs_find(struct glcnn_device *device, struct pass *passes, size_t count);
/* The same of one pass, without a smoke test; its binary is not kept. */
glcnn_status program_find_untested(struct glcnn_device *device, struct pass *pass);
/* Compiles what came from a binary and does not run. */
glcnn_status program_rebuild(struct glcnn_device *device, const struct pass *pass);
/* Keeps the binary of a program that has proved itself, for the next process. */
glcnn_status program_keep(struct glcnn_device *device, const struct pass *pass);

/* Implementations whose programs the driver accepted and did not run. `name` lives as long as the
 * device. */
void program_refuse(struct glcnn_device *device, const char *name);
bool program_is_refused(const struct glcnn_device *device, const char *name);
/* How many there are: grows where programs_find fails and a smaller implementation may be tried. */
size_t program_refusals(const struct glcnn_device *device);

#endif
