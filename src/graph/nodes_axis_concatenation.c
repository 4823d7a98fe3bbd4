/* Nodes that join images along an axis. */
#include "glcnn/kernels/axis_concatenation.h"

#include "graph/nodes.h"

static glcnn_image_node *join(glcnn_image_node *first, glcnn_image_node *second, glcnn_axis axis)
{
    glcnn_image_node *const sources[] = {first, second};
    glcnn_kernel *kernel =
        first && second ? node_kernel(first->network, "axis_concatenation", sources, 2) : NULL;
    if (!kernel)
        return NULL;
    glcnn_axis_concatenation(kernel)->axis = axis;
    return glcnn_filter_node_result(node_finish(first->network, kernel, sources, 2));
}

glcnn_image_node *glcnn_axis_concatenation_node(glcnn_image_node *const *sources,
                                                size_t source_count, glcnn_axis axis)
{
    if (!sources || source_count == 0)
        return NULL;
    glcnn_image_node *result = sources[0];
    for (size_t i = 1; i < source_count; i++)
        result = join(result, sources[i], axis);
    return result;
}
