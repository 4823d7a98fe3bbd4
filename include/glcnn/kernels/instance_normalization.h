/* Instance normalisation and its gradient. MPSCNNInstanceNormalization; spec 7.5. For each
 * channel of each image by itself, M = width * height of the source:
 *
 *   xh = (x - mean) / sqrt(variance + epsilon),   mean and biased variance of that channel
 *   y  = gamma xh + beta
 *   dX = gamma / sqrt(variance + epsilon) * (G - Sb / M - xh Sg / M),
 *        Sb = sum G,  Sg = sum G xh
 *
 * A NaN or an infinity in one pixel makes NaN of its channel of that image.
 *
 * gamma and beta have an element for each channel read, are the kernel's vectors of these names and
 * 1 and 0 until they are set: with the data source, with glcnn_kernel_set_vector, or in order with
 * glcnn_kernel_encode_reload. The result has the source's size.
 *
 * The gradient kernel needs the state that a forward encode filled. It takes gamma, beta, epsilon,
 * mean and variance from it (an element for each channel of each image, images one after the other),
 * computes statistics from the source image where the state has none, and leaves
 * gradient_for_gamma and gradient_for_beta in it (glcnn_state_vector): each encode sets them, none
 * adds to what an earlier one left. There is one state for each image of a batch, so the batch's
 * states are added up by whoever updates gamma and beta. For an image that holds several images the
 * state has the sums over them.
 *
 * Where a MPS client may differ (spec 12.17): MPS does not say that the variance is the
 * biased one. As in MPS epsilon is FLT_MIN unless it is set; PyTorch's is 1e-5.
 *
 * Results that read outside the source (offset, edge mode zero) count in Sb and Sg, not in mean,
 * variance and M: dX is the exact derivative.
 */
#ifndef GLCNN_KERNELS_INSTANCE_NORMALIZATION_H
#define GLCNN_KERNELS_INSTANCE_NORMALIZATION_H

#include <glcnn/data_source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_instance_normalization_parameters {
    float epsilon; /* default FLT_MIN */
};

/* MPSCNNInstanceNormalizationDataSource. Arrays have number_of_feature_channels elements and are
 * copied; NULL stands for gamma 1, beta 0. */
struct glcnn_instance_normalization_data_source {
    uint32_t number_of_feature_channels;
    const float *gamma, *beta;
    float epsilon; /* 0: FLT_MIN */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_instance_normalization_parameters *
glcnn_instance_normalization(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. `data_source` may be NULL: gamma 1, beta 0.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_instance_normalization_create(
    glcnn_device *device, const struct glcnn_instance_normalization_data_source *data_source,
    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_instance_normalization_gradient_create(glcnn_device *device,
                                                                    glcnn_kernel **kernel);

/* The result of a node. An epsilon of 0 stands for the default, FLT_MIN. `data_source`
 * (glcnn/data_source.h) has gamma and beta and may update them; its values are loaded at once, so
 * it says its feature_channels. NULL: gamma 1, beta 0 until they are set. NULL on failure, see
 * glcnn/node.h; the data source's context is then the caller's still.
 * MPSCNNInstanceNormalizationNode. */
GLCNN_API glcnn_image_node *
glcnn_instance_normalization_node(glcnn_image_node *source, float epsilon,
                                  const struct glcnn_data_source *data_source);

#ifdef __cplusplus
}
#endif
#endif
