/* What the passes and the references of dropout share. */
#ifndef GLCNN_KERNELS_DROPOUT_INTERNAL_H
#define GLCNN_KERNELS_DROPOUT_INTERNAL_H

#include "glcnn/kernels/dropout.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT, MASK };                        /* arguments of the forward kernel */
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_MASK }; /* of the gradient kernel */

/* Of the mask of all images: 1 along an axis of stride 0. */
struct extent dropout_mask_extent(const struct operation *operation);

/* Elements of one image's mask; 0 while the image is not known. */
size_t dropout_mask_length(const struct operation *operation);

/* Numbers of 16 bits that they make. */
size_t dropout_mask_words(const struct operation *operation);

#endif
