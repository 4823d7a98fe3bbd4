/* Spatial normalisation and its gradient. MPSCNNSpatialNormalization; spec 7.7. Each
 * channel on its own, N = kernel_width * kernel_height:
 *
 *   T(u)  = delta + (alpha / N) * sum of X(v)^2 over the window around u
 *   Y(u)  = X(u) * T(u)^-beta
 *   dX(u) = G(u)*T(u)^-beta - (2*alpha*beta/N) * X(u) * sum of G(v)*X(v)*T(v)^(-beta-1) over the v
 *           whose window holds u
 *
 * The window reaches from u - floor(k/2) to u + floor((k-1)/2). N counts all of it, also what lies
 * outside the image: 0 there, or with edge mode clamp the nearest pixel inside. T has to be greater
 * than 0. By default the result has the source's size; padding, offset and clip rectangle move the
 * windows as those of other kernels. MPS wants a square window; here any is accepted.
 *
 * A gradient addressed by hand reads G at the primary offset, X at the secondary offset and writes
 * the gradient of that pixel to the first pixel of the clip rectangle.
 *
 * Where a MPS client may differ: MPS's text of the gradient draws T(u) out of the sum and lacks the
 * 1/N; here it is the exact derivative (spec 12.15).
 */
#ifndef GLCNN_KERNELS_SPATIAL_NORMALIZATION_H
#define GLCNN_KERNELS_SPATIAL_NORMALIZATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_spatial_normalization_parameters {
    float alpha, beta, delta; /* default 1, 5, 1 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_spatial_normalization_parameters *
glcnn_spatial_normalization(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. A gradient takes window and parameters from the state
 * that the forward encode left. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_spatial_normalization_create(glcnn_device *device,
                                                          uint32_t kernel_width,
                                                          uint32_t kernel_height,
                                                          glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_spatial_normalization_gradient_create(glcnn_device *device,
                                                                   uint32_t kernel_width,
                                                                   uint32_t kernel_height,
                                                                   glcnn_kernel **kernel);

/* The result of a node with a window, 1 to 65535 pixels each way; MPS's default is 5. Defaults:
 * alpha 1, beta 5, delta 1, edge mode zero, padding same size. NULL on failure, see glcnn/node.h.
 * MPSCNNSpatialNormalizationNode. */
GLCNN_API glcnn_image_node *glcnn_spatial_normalization_node(glcnn_image_node *source,
                                                             uint32_t kernel_width,
                                                             uint32_t kernel_height);

#ifdef __cplusplus
}
#endif
#endif
