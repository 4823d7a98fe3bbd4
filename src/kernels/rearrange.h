/* What the passes and the references of transposes share. */
#ifndef GLCNN_KERNELS_REARRANGE_INTERNAL_H
#define GLCNN_KERNELS_REARRANGE_INTERNAL_H

#include "glcnn/kernels/rearrange.h"

#include "encode/descriptor.h"

enum { CHANNEL, ROW, COLUMN };

/* For each axis of the result that of the source. */
const int *transpose_order(const struct operation *operation);

#endif
