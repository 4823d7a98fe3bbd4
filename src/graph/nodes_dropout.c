/* The node of dropout. */
#include "glcnn/kernels/dropout.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_dropout_node(glcnn_image_node *source, float keep_probability,
                                     uint64_t seed)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status =
        glcnn_dropout_create(unary_device(source), keep_probability, seed, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}
