/* What the passes and the references of learned images share. */
#ifndef GLCNN_KERNELS_LEARNED_IMAGE_INTERNAL_H
#define GLCNN_KERNELS_LEARNED_IMAGE_INTERNAL_H

#include "glcnn/kernels/learned_image.h"

#include "encode/descriptor.h"

/* Index of each argument in the descriptors. */
enum { SOURCE, RESULT, VALUES };
enum { GRADIENT, IMAGE, DESTINATION, FOR_VALUES };

bool learned_image_wants(const struct operation *operation, glcnn_gradient_option option);

#endif
