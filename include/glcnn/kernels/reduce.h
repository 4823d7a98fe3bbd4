/* Reductions: MPSNNReduceRow..., MPSNNReduceColumn..., MPSNNReduceFeatureChannels... and
 * MPSNNReduceFeatureChannelsAndWeights...; spec 7.14.
 *
 *   row               along x: 1 x H pixels, channels stay
 *   column            along y: W x 1 pixels, channels stay
 *   feature channels  along the channels: W x H pixels of one channel
 *     min, max        NaN wins
 *     mean, sum       the sum of feature channels is multiplied by `weight`
 *     argument_min, argument_max   the channel's number as a float; of equals the smallest; the
 *                     first NaN, if there is one
 *   feature channels and weights   of source_image times secondary_image, which has as many
 *                     channels: their sum, divided by the number of weights that are not 0 where
 *                     do_weighted_sum_by_non_zero_weights is set (0 where there are none), or
 *                     their mean over the channels
 *
 * The clip rectangle of a source says which of its pixels are reduced; it takes the place of the
 * offset in x and y, and only its part inside the image counts. Without such a part the encode
 * fails. Images are chosen by offset z. The first result goes to the clip rectangle's first pixel,
 * which may leave results out but not ask for more than there are.
 *
 * Sums, means, minima and maxima have gradients, which MPS lacks: reduce_row_sum_gradient and so on
 * give each reduced value its share of the result's gradient, all others 0. The gradient of a minimum
 * or maximum goes to that value, of equals to the first, of NaNs too, as that of max pooling and of
 * PyTorch's max(dim); its amax shares it among equals. The forward encode keeps which it is in the
 * state's vector "indices". Gradients follow a gradient state and cannot be addressed by hand.
 */
#ifndef GLCNN_KERNELS_REDUCE_H
#define GLCNN_KERNELS_REDUCE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of a source; the default is all. */
struct glcnn_source_rectangle {
    uint32_t origin_x, origin_y, size_width, size_height;
};

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_reduce_parameters {
    struct glcnn_source_rectangle clip_rect_source;           /* of the (primary) source */
    struct glcnn_source_rectangle secondary_source_clip_rect; /* of the weights */
    float weight;                             /* reduce_feature_channels_sum; default 1 */
    bool do_weighted_sum_by_non_zero_weights; /* sum with weights; default false */
};

/* The parameters of a reduction, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_reduce_parameters *glcnn_reduce(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_reduce_row_min_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_max_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_mean_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_sum_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_min_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_max_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_mean_gradient_create(glcnn_device *device,
                                                             glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_row_sum_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_min_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_max_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_mean_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_sum_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_min_gradient_create(glcnn_device *device,
                                                               glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_max_gradient_create(glcnn_device *device,
                                                               glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_mean_gradient_create(glcnn_device *device,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_column_sum_gradient_create(glcnn_device *device,
                                                               glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_min_create(glcnn_device *device,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_max_create(glcnn_device *device,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_mean_create(glcnn_device *device,
                                                                 glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_sum_create(glcnn_device *device,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_argument_min_create(glcnn_device *device,
                                                                         glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_argument_max_create(glcnn_device *device,
                                                                         glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_and_weights_sum_create(glcnn_device *device,
                                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_and_weights_mean_create(glcnn_device *device,
                                                                             glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_min_gradient_create(glcnn_device *device,
                                                                         glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_max_gradient_create(glcnn_device *device,
                                                                         glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_mean_gradient_create(glcnn_device *device,
                                                                          glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reduce_feature_channels_sum_gradient_create(glcnn_device *device,
                                                                         glcnn_kernel **kernel);

/* The result of a node. Defaults: all pixels of the source, weight 1. NULL on failure, see
 * glcnn/node.h. MPSNNReductionRowMinNode and so on. */
GLCNN_API glcnn_image_node *glcnn_reduce_row_min_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_row_max_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_row_mean_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_row_sum_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_column_min_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_column_max_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_column_mean_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_column_sum_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_feature_channels_min_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_feature_channels_max_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_feature_channels_mean_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_reduce_feature_channels_sum_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *
glcnn_reduce_feature_channels_argument_min_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *
glcnn_reduce_feature_channels_argument_max_node(glcnn_image_node *source);
/* `weights` has as many channels as the source. Default: the sum is not divided. */
GLCNN_API glcnn_image_node *
glcnn_reduce_feature_channels_and_weights_sum_node(glcnn_image_node *source,
                                                   glcnn_image_node *weights);
GLCNN_API glcnn_image_node *
glcnn_reduce_feature_channels_and_weights_mean_node(glcnn_image_node *source,
                                                    glcnn_image_node *weights);

#ifdef __cplusplus
}
#endif
#endif
