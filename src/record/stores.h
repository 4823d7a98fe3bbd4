/* Whole images that passes store by way of a buffer.
 *
 * llvmpipe stores an image's texels float by float, 15 cycles each where processors have AVX-512,
 * and a buffer's in 3; the copy from one to the other takes 2. So a pass that stores all of its only
 * image writes the pixels into a buffer of the device, one slice after the other, and they are
 * copied once it has run. It runs in parts, as many work groups at once as the buffer holds the
 * stores of, so that a small buffer serves batches of any size. Where a trait of the device says
 * so. */
#ifndef GLCNN_STORES_H
#define GLCNN_STORES_H

#include "record/pass.h"

#define STORES_LOCATION 1 /* of the uniform that tells the first layer in the buffer */
#define STORES_PART     ((size_t)1 << 20) /* a cache holds it, and all threads have groups to run */

/* Refuses a pass that says it stores other layers than its image has, on any device: where it may
 * not be buffered what it says goes unseen. */
glcnn_status stores_check(struct glcnn_device *device, const struct pass *pass);

/* Settles which of the passes, whose textures need not be placed yet, store by way of a buffer of at
 * most so many bytes. Returns how many it needs. */
size_t stores_plan(const struct glcnn_device *device, struct pass *passes, size_t count,
                   uint64_t most);
/* Bytes of the buffer for these passes. */
size_t stores_size(const struct pass *passes, size_t count);
/* Is the pass one of those? Then glsl/record/image.glsl stores into buffer pass->buffer_count. */
bool stores_are_buffered(const struct pass *pass);
/* Makes the buffer large enough for each of the passes. */
glcnn_status stores_prepare(struct glcnn_device *device, const struct pass *passes, size_t count);
void stores_destroy(struct glcnn_device *device, bool reachable);
/* Binds the buffer before a pass. */
void stores_bind(const struct glcnn_device *device, const struct pass *pass);
/* Before work groups of the pass from `group` on, of its axis, are dispatched. */
void stores_begin(const struct glcnn_device *device, const struct pass *pass, uint32_t group);
/* Copies the pixels of work groups that were dispatched, in [from, to) of its axis. */
glcnn_status stores_copy(struct glcnn_device *device, const struct pass *pass, uint32_t from,
                         uint32_t to, const char *where);

#endif
