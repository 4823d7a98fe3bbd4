/* Arguments of the kernels. */
#ifndef GLCNN_KERNELS_CROSS_CHANNEL_NORMALIZATION_INTERNAL_H
#define GLCNN_KERNELS_CROSS_CHANNEL_NORMALIZATION_INTERNAL_H

#include "glcnn/kernels/cross_channel_normalization.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT };               /* arguments of the forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of the gradient kernel */

#endif
