/* What the passes and the references of products of matrices share. */
#ifndef GLCNN_KERNELS_MATRIX_MULTIPLICATION_INTERNAL_H
#define GLCNN_KERNELS_MATRIX_MULTIPLICATION_INTERNAL_H

#include "glcnn/kernels/matrix_multiplication.h"

#include "kernels/elements.h"

enum { SECONDARY = ELEMENT_RESULT + 1 }; /* argument of the forward kernel */

bool matrix_multiplication_by_secondary(const void *parameters);

#endif
