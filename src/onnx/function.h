/* Functions of a model, and branches whose condition is known: their nodes take the place of the node
 * that calls them. */
#ifndef GLCNN_ONNX_FUNCTION_H
#define GLCNN_ONNX_FUNCTION_H

#include "onnx/onnx.h"

/* Before values have names: every node that calls a function becomes the function's nodes, whose
 * values have the node's name before their own. The model has no functions then. */
bool function_inline(struct reader *reader, Onnx__ModelProto *model);

#endif
