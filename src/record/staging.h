/* What a device keeps for uploads and read-backs: memory that processor and GPU both reach (or
 * that the driver copies uploads to: buffer_create_mapped), and command buffers with the passes that
 * were made last, to be issued again for other images.
 *
 * Uploads take the memories of a ring in turn: the next one is filled while passes still read those
 * before it, and the GPU is waited for only where it is a whole ring behind. Small ones, as a batch's
 * classes, have a ring of their own, so that they never lie in memory that grew for pictures and is
 * reached in another way. A read-back has one memory, since it waits for its pass. */
#ifndef GLCNN_STAGING_H
#define GLCNN_STAGING_H

#include "record/command_buffer.h"

#define STAGING_RING   8
#define STAGING_PASSES 8
#define STAGING_WORDS  48 /* that a pass is known by */

struct staging_memory {
    struct glcnn_buffer *buffer; /* grows to the largest transfer that was made */
    uint64_t serial;             /* of the last pass that used it */
};

/* A pass that was made for what these words tell. It holds on to no image: the storage that it
 * names is set anew each time. */
struct staging_pass {
    uint64_t words[STAGING_WORDS];
    struct glcnn_command_buffer *commands; /* with that pass alone, or empty */
    uint64_t used; /* the number of the call that found it last; 0: it is empty */
};

struct staging_ring {
    struct staging_memory memories[STAGING_RING];
    size_t next;
};

struct staging {
    struct staging_ring small, large; /* small: of uploads of BUFFER_SMALL bytes at most */
    struct staging_memory read;
    struct staging_pass passes[STAGING_PASSES];
    uint64_t used; /* calls of staging_find_pass */
};

/* For opening and closing: device->staging. */
glcnn_status staging_create(struct glcnn_device *device);
void staging_destroy(struct staging **staging);

/* Memory of `size` bytes at least that no pass uses: to be filled, or to be read. */
glcnn_status staging_acquire(struct glcnn_device *device, size_t size, bool write,
                             struct staging_memory **memory, const char *where);
/* The pass that these words tell of, or an empty one in place of what was used longest ago. */
struct staging_pass *staging_find_pass(struct glcnn_device *device,
                                       const uint64_t words[STAGING_WORDS]);
/* Leaves it empty. */
void staging_forget_pass(struct staging_pass *pass);

#endif
