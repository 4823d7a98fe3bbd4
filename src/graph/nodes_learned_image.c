/* Nodes of learned images. */
#include "glcnn/kernels/learned_image.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_learned_image_node(glcnn_image_node *source, uint32_t width,
                                           uint32_t height, uint32_t feature_channels)
{
    glcnn_kernel *kernel = unary_kernel(source, "learned_image");
    if (!kernel)
        return NULL;
    glcnn_learned_image(kernel)->width = width;
    glcnn_learned_image(kernel)->height = height;
    glcnn_learned_image(kernel)->feature_channels = feature_channels;
    return unary_node(source, kernel);
}
