/* Nodes that join images, any number of them. */
#include "glcnn/kernels/axis_concatenation.h"
#include "glcnn/kernels/slice.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_concatenation_node(glcnn_image_node *const *sources, size_t source_count)
{
    if (!sources || source_count == 0)
        return NULL;
    return glcnn_filter_node_result(
        node_of_values("concatenation", sources, source_count, NULL, NULL));
}

/* The kernel joins two. */
glcnn_image_node *glcnn_axis_concatenation_node(glcnn_image_node *const *sources,
                                                size_t source_count, glcnn_axis axis)
{
    const struct kernel_value values[] = {{"axis", .number = (double)axis}, {0}};
    glcnn_image_node *result = sources && source_count ? sources[0] : NULL;
    for (size_t i = 1; i < source_count && result; i++) {
        glcnn_image_node *const pair[] = {result, sources[i]};
        result =
            glcnn_filter_node_result(node_of_values("axis_concatenation", pair, 2, values, NULL));
    }
    return result;
}
