/* Soft-max and log-soft-max across the feature channels of each pixel, and their gradients.
 * MPSCNNSoftMax, MPSCNNLogSoftMax; spec 7.9.
 *
 *   soft-max        y(k) = exp(x(k) - m) / sum_i exp(x(i) - m),     m = max_i x(i)
 *     gradient      dX(k) = y(k) * (G(k) - sum_i G(i)*y(i))
 *   log-soft-max    y(k) = x(k) - m - log(sum_i exp(x(i) - m))
 *     gradient      dX(k) = G(k) - exp(y(k)) * sum_i G(i)
 *
 * -infinity in a channel gives it probability 0; a NaN or +infinity, or nothing but -infinity,
 * makes NaN of the whole pixel. Sums over many channels are made of runs, to keep the bound of
 * image.h.
 *
 * The secondary source of both gradients is the forward RESULT y, not the forward source: pass the
 * image that the forward kernel wrote as glcnn_encode.secondary. The sums run over the channels
 * that the kernel reads. The result has the source's size; there are no parameters.
 */
#ifndef GLCNN_KERNELS_SOFT_MAX_H
#define GLCNN_KERNELS_SOFT_MAX_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each makes a kernel that the caller owns. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_soft_max_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_soft_max_gradient_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_log_soft_max_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_log_soft_max_gradient_create(glcnn_device *device,
                                                          glcnn_kernel **kernel);

/* The result of a node. NULL on failure, see glcnn/node.h. MPSCNNSoftMaxNode,
 * MPSCNNLogSoftMaxNode. */
GLCNN_API glcnn_image_node *glcnn_soft_max_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_log_soft_max_node(glcnn_image_node *source);

#ifdef __cplusplus
}
#endif
#endif
