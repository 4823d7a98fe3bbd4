/* Device memory of 32-bit elements: vectors of states (weights, statistics, optimizer moments) and
 * staging memory of image transfers. The counterpart of an MTLBuffer.
 *
 * Contents are zero at creation.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_BUFFER_H
#define GLCNN_BUFFER_H

#include <glcnn/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_buffer glcnn_buffer;

/* Makes a buffer of `size` bytes, 4 at least and a multiple of 4. The caller owns it. One of more bytes
 * than the device's storage_block_size can hold the weights of convolutions and fully connected layers,
 * their gradients and what an optimizer keeps for them; the encode of another kernel that would bind it
 * is refused with GLCNN_LIMIT_EXCEEDED.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_LIMIT_EXCEEDED (more than 2^31 - 1 elements of 4 bytes, or than
 * an offset of this machine counts), GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_buffer_create(glcnn_device *device, size_t size,
                                           glcnn_buffer **buffer);

/* Gives up the caller's reference; *buffer becomes NULL. Memory is freed once nothing recorded
 * refers to it. */
GLCNN_API void glcnn_buffer_destroy(glcnn_buffer **buffer);

GLCNN_API size_t glcnn_buffer_size(const glcnn_buffer *buffer);

/* Writes bytes, ordered after all committed and before all later committed work. `offset` and
 * `size` are multiples of 4. The bytes are copied before the call returns. */
GLCNN_API glcnn_status glcnn_buffer_write(glcnn_buffer *buffer, size_t offset, size_t size,
                                          const void *bytes);

/* Waits for all committed work that writes the buffer, then copies out. */
GLCNN_API glcnn_status glcnn_buffer_read(glcnn_buffer *buffer, size_t offset, size_t size,
                                         void *bytes);

#ifdef __cplusplus
}
#endif
#endif
