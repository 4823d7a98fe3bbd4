/* Nodes of arithmetic: their scales, bias and bounds are set in the kernel. */
#include "glcnn/kernels/arithmetic.h"

#include "graph/node.h"

#define DEFINE_NODE(NAME)                                                                          \
    glcnn_image_node *glcnn_##NAME##_node(glcnn_image_node *primary, glcnn_image_node *secondary)  \
    {                                                                                              \
        return glcnn_node_binary(primary, secondary, #NAME, NULL);                                 \
    }

DEFINE_NODE(add)
DEFINE_NODE(subtract)
DEFINE_NODE(multiply)
DEFINE_NODE(divide)
DEFINE_NODE(maximum)
DEFINE_NODE(minimum)
DEFINE_NODE(power)
