/* What the passes and the references of joined images share. */
#ifndef GLCNN_KERNELS_AXIS_CONCATENATION_INTERNAL_H
#define GLCNN_KERNELS_AXIS_CONCATENATION_INTERNAL_H

#include "glcnn/kernels/axis_concatenation.h"

#include "kernels/elements.h"

enum { SECONDARY = ELEMENT_RESULT + 1 }; /* argument of the forward kernel */

/* Elements of an image argument along the axis that is joined. */
uint32_t axis_concatenation_size(const struct operation *operation, int argument);

/* Elements of the result before those of the source that the gradient is by. */
uint32_t axis_concatenation_start(const struct operation *operation);

#endif
