/* What the passes and the references of reductions share. */
#ifndef GLCNN_KERNELS_REDUCE_INTERNAL_H
#define GLCNN_KERNELS_REDUCE_INTERNAL_H

#include "glcnn/kernels/reduce.h"

#include "encode/descriptor.h"

enum axis_reduced { ROW, COLUMN, CHANNELS };
enum quantity { SUM, MEAN, MINIMUM, MAXIMUM, ARGUMENT_MINIMUM, ARGUMENT_MAXIMUM };

struct reduction {
    enum axis_reduced axis;
    enum quantity quantity;
};

/* Arguments of a forward kernel, whose third is the weights or, of an extreme, its indices; and of a
 * gradient kernel. */
enum { SOURCE, RESULT, WEIGHTS, INDICES = WEIGHTS };
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_INDICES };

/* The kernel's row; a gradient's is that of its forward kernel. */
const struct reduction *reduction_of(const struct operation *operation);
/* Factor of a sum. */
float reduce_scale(const struct operation *operation);

/* Values that a mean divides by: those that one result was made of. */
int32_t reduce_mean_count(const struct operation *operation);

#endif
