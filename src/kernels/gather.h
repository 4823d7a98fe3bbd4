/* What the passes and the references of gather share. */
#ifndef GLCNN_KERNELS_GATHER_INTERNAL_H
#define GLCNN_KERNELS_GATHER_INTERNAL_H

#include "glcnn/kernels/gather.h"

#include "kernels/elements.h"

/* Index of the vector in the descriptors, behind the arguments of elements.h. */
enum { GATHER_INDICES = ELEMENT_RESULT + 1, GATHER_GRADIENT_INDICES = ELEMENT_DESTINATION + 1 };

#endif
