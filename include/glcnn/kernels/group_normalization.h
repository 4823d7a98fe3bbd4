/* Normalisation over groups of channels and over the channels of a pixel, as nodes made of other
 * kernels: reshape and transpose make of what is normalised together one channel of an image, and
 * instance_normalization does the rest. MPS 119.3 has neither; spec 7.22.
 *
 *   group   (x - mean) / sqrt(variance + epsilon), mean and variance of all pixels of the channels
 *           of a group; with one group of all channels it is the layer normalisation of an image
 *   layer   the same, mean and variance of the channels of one pixel
 *
 * There are no gamma and beta of their own: a convolution of 1x1 with as many groups as channels,
 * whose weights and biases they are, follows where they are wanted. Nothing of these nodes is
 * trained; they have gradients.
 */
#ifndef GLCNN_KERNELS_GROUP_NORMALIZATION_H
#define GLCNN_KERNELS_GROUP_NORMALIZATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of a source, which a node does not know before its graph is executed. */
struct glcnn_source_shape {
    uint32_t width, height, feature_channels;
};

/* The last node's result. `groups` must divide the channels, which are those of `shape`; an epsilon
 * of 0 stands for FLT_MIN. A source of another shape is refused as the graph is executed, a shape
 * with a 0 at once. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_group_normalization_node(glcnn_image_node *source,
                                                           struct glcnn_source_shape shape,
                                                           uint32_t groups, float epsilon);
GLCNN_API glcnn_image_node *glcnn_layer_normalization_node(glcnn_image_node *source,
                                                           struct glcnn_source_shape shape,
                                                           float epsilon);

#ifdef __cplusplus
}
#endif
#endif
