/* Nodes of numbers by constant indices. */
#include "glcnn/kernels/gather.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_gather_node(glcnn_image_node *source, uint32_t width, uint32_t height,
                                    uint32_t feature_channels, const float *indices, size_t count)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status = glcnn_gather_create(unary_device(source), width, height, feature_channels,
                                              indices, count, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}
