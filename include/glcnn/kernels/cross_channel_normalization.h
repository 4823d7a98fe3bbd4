/* Cross-channel normalisation (local response normalisation) and its gradient.
 * MPSCNNCrossChannelNormalization; spec 7.6. Each pixel on its own, N = kernel_size, D
 * channels read:
 *
 *   L(k)  = delta + (alpha / N) * sum of X(q)^2,   q from max(0, k - floor(N/2))
 *                                                  to min(D - 1, k + floor((N-1)/2))
 *   Y(k)  = X(k) * L(k)^-beta
 *   dX(k) = G(k)*L(k)^-beta - (2*alpha*beta/N) * X(k) * sum of G(r)*X(r)*L(r)^(-beta-1) over the
 *           channels r whose window holds k
 *
 * L has to be greater than 0; where it is not the result is whatever C's pow makes of it. alpha is
 * divided by N also where the window leaves the channels, as PyTorch's local_response_norm does
 * (k there is delta here). The result has the source's size.
 *
 * Where a MPS client may differ: MPS's text of the gradient lacks the 1/N; here it is the exact
 * derivative (spec 12.15).
 */
#ifndef GLCNN_KERNELS_CROSS_CHANNEL_NORMALIZATION_H
#define GLCNN_KERNELS_CROSS_CHANNEL_NORMALIZATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_cross_channel_normalization_parameters {
    float alpha, beta, delta; /* default 1, 5, 1 */
    uint32_t kernel_size;     /* N, 1 or more; default 5 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_cross_channel_normalization_parameters *
glcnn_cross_channel_normalization(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. A gradient takes its parameters from the state that the
 * forward encode left. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_cross_channel_normalization_create(glcnn_device *device,
                                                                uint32_t kernel_size,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_cross_channel_normalization_gradient_create(glcnn_device *device,
                                                                         uint32_t kernel_size,
                                                                         glcnn_kernel **kernel);

/* The result of a node over `kernel_size` channels, 1 to 65535; MPS's default is 5. Defaults: alpha
 * 1, beta 5, delta 1. NULL on failure, see glcnn/node.h. MPSCNNCrossChannelNormalizationNode. */
GLCNN_API glcnn_image_node *glcnn_cross_channel_normalization_node(glcnn_image_node *source,
                                                                   uint32_t kernel_size);

#ifdef __cplusplus
}
#endif
#endif
