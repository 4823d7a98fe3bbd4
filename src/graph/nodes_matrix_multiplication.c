/* The node of matrix multiplication. */
#include "glcnn/kernels/matrix_multiplication.h"

#include "graph/node.h"

glcnn_image_node *glcnn_matrix_multiplication_node(glcnn_image_node *primary,
                                                   glcnn_image_node *secondary)
{
    return glcnn_node_binary(primary, secondary, "matrix_multiplication", NULL);
}
