/* What the passes and the references of slices and reshapes share. */
#ifndef GLCNN_KERNELS_SLICE_INTERNAL_H
#define GLCNN_KERNELS_SLICE_INTERNAL_H

#include "glcnn/kernels/slice.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT };               /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

/* Is the order of a reshape channel, row, column? Otherwise row, column, channel. */
bool reshape_is_channels_first(const struct operation *operation);

#endif
