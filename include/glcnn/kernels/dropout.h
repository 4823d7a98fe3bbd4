/* Dropout and its gradient. MPSCNNDropout; spec 7.10.
 *
 *   mask      1 with probability keep_probability, else 0; one for each source pixel and channel,
 *             or one for all that differ along an axis whose mask stride is 0 only
 *   out       source / keep_probability where mask is 1, 0 elsewhere
 *   gradient  G / keep_probability where mask is 1, 0 elsewhere; sourceImage gives the size alone
 *
 * What the mask takes away is 0 even if it was a NaN or infinite.
 *
 * The state owns the mask: its vector "mask" has for each image the elements [row][column][channel]
 * of what was read, axes of mask stride 0 having one, sixteen to a number: element i is bit i mod 16
 * of number i / 16, a whole number from 0 to 65535, and bits beyond the last element are 0. Without
 * a state the mask is forgotten.
 *
 * Mask values come from Philox4x32-10 and are the same on every device: element i of one image,
 * counted [row][column][channel], is kept if word i mod 4 of counter (i / 4, image, encode, 0) and
 * key (seed mod 2^32, seed / 2^32), shifted right by 8 and divided by 2^24, is below
 * keep_probability. `encode` counts the encodes of this kernel object and the commits that replay
 * them, from 0: each draws a new mask, and a new kernel draws the same masks again.
 * Where a MPS client may differ (spec 12.31 and 12.40): its masks do, as its generator is not
 * known; and a text of a later MPS hints at one state for a batch, where here each image has one.
 *
 * In training only: a network that is trained leaves dropout out.
 */
#ifndef GLCNN_KERNELS_DROPOUT_H
#define GLCNN_KERNELS_DROPOUT_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_dropout_parameters {
    float keep_probability; /* between 0 and 1, both excluded; default 0.5 */
    uint64_t seed;          /* default 0 */
    uint32_t mask_stride_in_pixels_x, mask_stride_in_pixels_y; /* 0 or 1, default 1 */
    uint32_t mask_stride_in_feature_channels;                  /* 0 or 1, default 1 */
};

/* The parameters of a dropout kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_dropout_parameters *glcnn_dropout(glcnn_kernel *kernel);

/* Each makes a kernel. The gradient's parameters are the forward kernel's; the state brings them.
 * The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_dropout_create(glcnn_device *device, float keep_probability,
                                            uint64_t seed, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_dropout_gradient_create(glcnn_device *device, float keep_probability,
                                                     glcnn_kernel **kernel);

/* The result of a node that keeps a value with a probability between 0 and 1, both excluded, and
 * divides it by that; MPS's defaults are 0.5 and a seed of 0. Default strides of the mask: 1. A
 * network for inference is written without the node. NULL on failure, see glcnn/node.h.
 * MPSCNNDropoutNode. */
GLCNN_API glcnn_image_node *glcnn_dropout_node(glcnn_image_node *source, float keep_probability,
                                               uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
