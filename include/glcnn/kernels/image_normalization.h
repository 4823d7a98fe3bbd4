/* Normalisation of pictures: each channel less its mean, divided by its deviation. MPS has no such
 * kernel; spec 7.15.
 *
 *   out       (source - mean[c]) / deviation[c]
 *
 * The kernel's vectors are "mean", 0 until it is set, and "deviation", 1 until it is set, one value
 * a channel. Of a Unorm8 picture the source is byte / 255, so that the two are those of values from
 * 0 to 1. What edge mode zero reads outside is a 0 that is normalised too. There is no gradient: a
 * node's result stops gradients.
 */
#ifndef GLCNN_KERNELS_IMAGE_NORMALIZATION_H
#define GLCNN_KERNELS_IMAGE_NORMALIZATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a kernel. `mean` and `deviation` have `count` values each, one a channel, and are copied;
 * deviations are greater than 0. Both NULL with a count of 0: to be set by glcnn_kernel_set_vector.
 * The caller owns it.
 * Errors: GLCNN_INVALID_ARGUMENT, also for values that are not finite; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_image_normalization_create(glcnn_device *device, const float *mean,
                                                        const float *deviation, size_t count,
                                                        glcnn_kernel **kernel);

/* The result of a node of it; it stops gradients. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_image_normalization_node(glcnn_image_node *source,
                                                           const float *mean,
                                                           const float *deviation, size_t count);

#ifdef __cplusplus
}
#endif
#endif
