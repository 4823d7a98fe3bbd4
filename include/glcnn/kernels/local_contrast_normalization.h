/* Local contrast normalisation and its gradient. MPSCNNLocalContrastNormalization;
 * spec 7.8. Each channel on its own, N = kernel_width * kernel_height:
 *
 *   Mn(u) = mean of X over the window around u
 *   T(u)  = delta + alpha * mean of (X - Mn(u))^2 over that window
 *   Y(u)  = pm + ps * (X(u) - p0*Mn(u)) * T(u)^-beta
 *   dX    the exact derivative of this
 *
 * The window reaches from u - floor(k/2) to u + floor((k-1)/2). N and both means count all of it,
 * also what lies outside the image: 0 there, or with edge mode clamp the nearest pixel inside (the
 * gradient of a border pixel then has a share for each time it is read). T has to be greater than
 * 0. By default the result has the source's size; padding, offset and clip rectangle move the
 * windows as those of other kernels. The window need not be square.
 *
 * alpha is 0 in a new kernel, as in MPS's kernels, so that only the mean is taken away; MPS's graph
 * nodes start with 1. With alpha 0 too T is what the formula gives: a NaN or an infinity anywhere in
 * the window makes it NaN, and so does a difference of 1.8e19 or more from the mean, whose square no
 * float32 holds.
 *
 * A gradient addressed by hand reads G at the primary offset, X at the secondary offset and writes
 * the gradient of that pixel to the first pixel of the clip rectangle.
 *
 * Where a MPS client may differ: MPS does not say what counts at the border, and its text of the
 * gradient fails a finite-difference test (spec 12.15 and 12.16).
 */
#ifndef GLCNN_KERNELS_LOCAL_CONTRAST_NORMALIZATION_H
#define GLCNN_KERNELS_LOCAL_CONTRAST_NORMALIZATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_local_contrast_normalization_parameters {
    float alpha, beta, delta; /* default 0, 0.5, 1/1024 */
    float p0, pm, ps;         /* default 1, 0, 1 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_local_contrast_normalization_parameters *
glcnn_local_contrast_normalization(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. A gradient takes window and parameters from the state
 * that the forward encode left. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_local_contrast_normalization_create(glcnn_device *device,
                                                                 uint32_t kernel_width,
                                                                 uint32_t kernel_height,
                                                                 glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_local_contrast_normalization_gradient_create(glcnn_device *device,
                                                                          uint32_t kernel_width,
                                                                          uint32_t kernel_height,
                                                                          glcnn_kernel **kernel);

/* The result of a node with a window, 1 to 65535 pixels each way; MPS's default is 5. Defaults:
 * alpha 1, where the kernel's is 0; beta 0.5, delta 1/1024, p0 1, pm 0, ps 1, edge mode zero,
 * padding same size. NULL on failure, see glcnn/node.h. MPSCNNLocalContrastNormalizationNode. */
GLCNN_API glcnn_image_node *glcnn_local_contrast_normalization_node(glcnn_image_node *source,
                                                                    uint32_t kernel_width,
                                                                    uint32_t kernel_height);

#ifdef __cplusplus
}
#endif
#endif
