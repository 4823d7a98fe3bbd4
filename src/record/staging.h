/* What a device keeps for uploads and read-backs, which come one at a time: a buffer, memory of the
 * host for elements that are converted, and a command buffer for the pass between buffer and image.
 */
#ifndef GLCNN_STAGING_H
#define GLCNN_STAGING_H

#include "record/command_buffer.h"

struct staging {
    struct glcnn_buffer *buffer;           /* grows to the largest transfer that was made */
    struct glcnn_command_buffer *commands; /* empty between transfers */
    float *values;
    size_t value_count;
};

/* For opening and closing: device->staging. */
glcnn_status staging_create(struct glcnn_device *device);
void staging_destroy(struct staging **staging);

/* Makes the buffer hold `count` elements at least. */
glcnn_status staging_reserve_buffer(struct glcnn_device *device, size_t count);
/* Makes room for `count` values on the host; `where` begins the sentence. */
glcnn_status staging_reserve_values(struct glcnn_device *device, size_t count, const char *where);

#endif
