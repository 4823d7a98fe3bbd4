/* Arguments of the kernel. */
#ifndef GLCNN_KERNELS_IMAGE_NORMALIZATION_INTERNAL_H
#define GLCNN_KERNELS_IMAGE_NORMALIZATION_INTERNAL_H

#include "glcnn/kernels/image_normalization.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT, MEAN, DEVIATION };

#endif
