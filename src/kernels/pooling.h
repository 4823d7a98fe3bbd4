/* What the passes and the references of pooling share. */
#ifndef GLCNN_KERNELS_POOLING_INTERNAL_H
#define GLCNN_KERNELS_POOLING_INTERNAL_H

#include "glcnn/kernels/pooling.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT, WINNERS };                        /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_WINNERS }; /* of a gradient kernel */

/* Does an average divide by the window's size, whatever lies outside? */
bool pooling_counts_whole_window(const struct operation *operation);
/* Columns and rows of zeros beside the source that an average counts. */
void pooling_counted_padding(const struct operation *operation, int32_t pad[2]);

#endif
