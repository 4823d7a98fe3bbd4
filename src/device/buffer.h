#ifndef GLCNN_BUFFER_INTERNAL_H
#define GLCNN_BUFFER_INTERNAL_H

#include "glcnn/buffer.h"
#include "device/storage.h"

struct glcnn_buffer {
    struct glcnn_device *device;
    int references;
    size_t size; /* bytes */
    GLuint name;
    struct hazard hazard;
    struct glcnn_buffer *next; /* of a list that lends buffers */
    bool zeros; /* known to hold nothing but zeros: so written, and by no pass since */
};

/* Gives the buffer object `*name`, made where it is 0, these bytes. Where the driver fails no other
 * buffer is touched, and the call can be made again. */
glcnn_status buffer_upload(struct glcnn_device *device, GLenum target, GLuint *name, size_t size,
                           const void *bytes, const char *where);

struct glcnn_buffer *buffer_retain(struct glcnn_buffer *buffer);
/* The small buffer of zeros that stands in for every declared buffer that is not given. */
glcnn_status buffer_create_zeros(struct glcnn_device *device, struct glcnn_buffer **buffer);

#endif
