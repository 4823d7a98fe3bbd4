/* What the passes and the references of products of matrices share. */
#ifndef GLCNN_KERNELS_MATRIX_MULTIPLICATION_INTERNAL_H
#define GLCNN_KERNELS_MATRIX_MULTIPLICATION_INTERNAL_H

#include "glcnn/kernels/matrix_multiplication.h"

#include "kernels/elements.h"

enum { SECONDARY = ELEMENT_RESULT + 1 }; /* argument of the forward kernel */

bool matrix_multiplication_by_secondary(const void *parameters);

/* As matrix/factors.glsl tells them apart. */
enum form { RESULT, BY_SOURCE, BY_SECONDARY };

/* The problem that rows are asked about and plan: a sum of products, over k from first to last - 1. */
struct product {
    const struct operation *operation;
    const struct image_view *left, *right, *to;
    enum form form;
    int32_t first, last;
};

/* What every pass of a product is given. */
void pass_product(struct pass *pass, const struct product *product);

#endif
