/* Operators that are short forms of several others. */
#ifndef GLCNN_ONNX_EXPANSION_H
#define GLCNN_ONNX_EXPANSION_H

#include "onnx/onnx.h"

/* Values between the nodes that the node is a short form of; 0: it is none. */
size_t expansion_values(const Onnx__NodeProto *node);
/* Node i of the graph becomes *count others. */
bool expansion_inline(struct call *call, size_t i, size_t *count);

#endif
