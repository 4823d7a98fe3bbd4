/* What the passes and the references of resizing share. */
#ifndef GLCNN_KERNELS_RESIZE_INTERNAL_H
#define GLCNN_KERNELS_RESIZE_INTERNAL_H

#include "glcnn/kernels/resize.h"

#include "encode/descriptor.h"

/* Of result X: (factor X + shift) / divisor. */
struct positions {
    int32_t factor, shift, divisor;
};

struct both_positions {
    struct positions x, y;
};

/* Of results in the source. */
struct both_positions resize_positions(const struct operation *operation);
bool resize_is_linear(const struct operation *operation);

#endif
