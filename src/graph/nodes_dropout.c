/* The node of dropout. */
#include "glcnn/kernels/dropout.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_dropout_node(glcnn_image_node *source, float keep_probability,
                                     uint64_t seed)
{
    glcnn_kernel *kernel = unary_kernel(source, "dropout");
    if (!kernel)
        return NULL;
    glcnn_dropout(kernel)->keep_probability = keep_probability;
    glcnn_dropout(kernel)->seed = seed;
    return unary_node(source, kernel);
}
