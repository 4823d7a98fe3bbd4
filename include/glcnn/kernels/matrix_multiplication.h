/* Products of matrices, with the gradients by both: each channel of each image is a matrix of its
 * own, rows by columns. MPS has no such kernel for images; spec 7.21.
 *
 *   out(n, c, y, x) = sum over k of source(n, c, y, k) secondary(n, c, k, x)
 *
 * The source has as many columns as the secondary source has rows, and both have as many channels
 * and images; the result has the rows of the one and the columns of the other. A product with the
 * same matrix for all images and channels is a convolution of 1x1, which is faster.
 *
 * Offsets count in z only, edge modes do not count, and the destination is as wide and high as the
 * sources make it. Gradients follow their states: G secondary^T by the source, source^T G by the
 * secondary source.
 */
#ifndef GLCNN_KERNELS_MATRIX_MULTIPLICATION_H
#define GLCNN_KERNELS_MATRIX_MULTIPLICATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of the gradient alone. */
struct glcnn_matrix_multiplication_parameters {
    bool is_secondary_source_filter; /* it is by the secondary source */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_matrix_multiplication_parameters *
glcnn_matrix_multiplication(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_matrix_multiplication_create(glcnn_device *device,
                                                          glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_matrix_multiplication_gradient_create(glcnn_device *device,
                                                                   bool is_secondary_source_filter,
                                                                   glcnn_kernel **kernel);

/* The result of a node. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_matrix_multiplication_node(glcnn_image_node *primary,
                                                             glcnn_image_node *secondary);

#ifdef __cplusplus
}
#endif
#endif
