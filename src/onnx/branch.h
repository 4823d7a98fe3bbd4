/* Branches whose condition is known: their nodes take the place of the node If. */
#ifndef GLCNN_ONNX_BRANCH_H
#define GLCNN_ONNX_BRANCH_H

#include "onnx/onnx.h"

/* Node i of the graph, an If whose condition is at hand, becomes the *count nodes of the branch and
 * one Identity for each output. */
bool branch_inline(struct call *call, size_t i, size_t *count);

#endif
