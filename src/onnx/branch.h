/* Branches: their nodes take the place of the node If. */
#ifndef GLCNN_ONNX_BRANCH_H
#define GLCNN_ONNX_BRANCH_H

#include "onnx/onnx.h"

/* Node i of the graph, an If, becomes the *count nodes of the branch that its condition takes and one
 * Identity for each output; where the condition is an image, those of both and one Where. */
bool branch_inline(struct call *call, size_t i, size_t *count);

#endif
