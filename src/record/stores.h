/* Whole images that passes store by way of a buffer.
 *
 * llvmpipe stores an image's texels float by float, 15 cycles each where processors have AVX-512,
 * and a buffer's in 3; the copy from one to the other takes 2. So a pass that stores all of its only
 * image writes the pixels into a buffer of the device, one slice after the other, and they are
 * copied once it has run. Where a trait of the device says so. */
#ifndef GLCNN_STORES_H
#define GLCNN_STORES_H

#include "record/pass.h"

/* Is the pass one of those? Then glsl/record/image.glsl stores into buffer pass->buffer_count. */
bool stores_are_buffered(const struct glcnn_device *device, const struct pass *pass);
/* Lets none of the passes be one: where little memory is wanted the buffer has none. */
void stores_directly(struct pass *passes, size_t count);
/* Makes the buffer large enough for each of the passes. */
glcnn_status stores_prepare(struct glcnn_device *device, const struct pass *passes, size_t count);
void stores_destroy(struct glcnn_device *device, bool reachable);
/* Binds the buffer before a pass. */
void stores_bind(const struct glcnn_device *device, const struct pass *pass);
/* Copies the pixels of a pass that was dispatched. */
glcnn_status stores_copy(struct glcnn_device *device, const struct pass *pass);

#endif
