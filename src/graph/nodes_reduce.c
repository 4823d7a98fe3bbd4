/* Nodes of reductions: rectangles and weight are set in the kernel. */
#include "glcnn/kernels/reduce.h"

#include "graph/node.h"

#define DEFINE_NODE(NAME)                                                                          \
    glcnn_image_node *glcnn_reduce_##NAME##_node(glcnn_image_node *source)                         \
    {                                                                                              \
        return glcnn_node(source, "reduce_" #NAME, NULL);                                          \
    }

DEFINE_NODE(row_min)
DEFINE_NODE(row_max)
DEFINE_NODE(row_mean)
DEFINE_NODE(row_sum)
DEFINE_NODE(column_min)
DEFINE_NODE(column_max)
DEFINE_NODE(column_mean)
DEFINE_NODE(column_sum)
DEFINE_NODE(feature_channels_min)
DEFINE_NODE(feature_channels_max)
DEFINE_NODE(feature_channels_mean)
DEFINE_NODE(feature_channels_sum)
DEFINE_NODE(feature_channels_argument_min)
DEFINE_NODE(feature_channels_argument_max)

#define DEFINE_WEIGHTED_NODE(NAME)                                                                 \
    glcnn_image_node *glcnn_reduce_##NAME##_node(glcnn_image_node *source,                         \
                                                 glcnn_image_node *weights)                        \
    {                                                                                              \
        return glcnn_node_binary(source, weights, "reduce_" #NAME, NULL);                          \
    }

DEFINE_WEIGHTED_NODE(feature_channels_and_weights_sum)
DEFINE_WEIGHTED_NODE(feature_channels_and_weights_mean)
