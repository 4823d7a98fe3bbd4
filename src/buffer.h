#ifndef GLCNN_BUFFER_INTERNAL_H
#define GLCNN_BUFFER_INTERNAL_H

#include "glcnn/buffer.h"
#include "storage.h"

struct glcnn_buffer {
    struct glcnn_device *device;
    int references;
    size_t size; /* bytes */
    GLuint name;
    struct hazard hazard;
};

struct glcnn_buffer *buffer_retain(struct glcnn_buffer *buffer);
/* The small buffer of zeros that stands in for every declared buffer that is not given. */
glcnn_status buffer_create_zeros(struct glcnn_device *device, struct glcnn_buffer **buffer);

#endif
