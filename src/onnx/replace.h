/* Nodes that take the place of another one while a graph is read. */
#ifndef GLCNN_ONNX_REPLACE_H
#define GLCNN_ONNX_REPLACE_H

#include "onnx/onnx.h"

/* Node i of the graph, which is needed, becomes the nodes of `by`, which has none then. They make what
 * it makes, and values of their own, which get names. */
bool replace_node(struct reader *reader, size_t i, Onnx__GraphProto *by);

#endif
