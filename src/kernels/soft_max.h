/* Arguments of the kernels. */
#ifndef GLCNN_KERNELS_SOFT_MAX_INTERNAL_H
#define GLCNN_KERNELS_SOFT_MAX_INTERNAL_H

#include "glcnn/kernels/soft_max.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT };                        /* arguments of a forward kernel */
enum { GRADIENT, FORWARD_RESULT, DESTINATION }; /* of a gradient kernel */

#endif
