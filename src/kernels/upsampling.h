/* What the passes and the references of up-sampling share. */
#ifndef GLCNN_KERNELS_UPSAMPLING_INTERNAL_H
#define GLCNN_KERNELS_UPSAMPLING_INTERNAL_H

#include "glcnn/kernels/upsampling.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT };               /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

/* One axis: column X of the result lies at source position (scale*(X + base) + bias) / divisor. */
struct mapping {
    int32_t size, extent; /* of the source, and of the whole enlarged image */
    int32_t scale, bias, divisor, base;
    bool depends_on_size; /* scale and divisor do */
};

/* Both axes. A gradient kernel has the forward kernel's offset as its secondary one, and the first
 * result as its primary one, whether they come from a state or were set by hand. */
void upsampling_map(const struct operation *operation, struct mapping axes[2]);

#endif
