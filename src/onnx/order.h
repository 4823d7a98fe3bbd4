/* What nodes read, and an order in which values are made before they are read. */
#ifndef GLCNN_ONNX_ORDER_H
#define GLCNN_ONNX_ORDER_H

#include "onnx/onnx.h"

/* Calls for each name that the node reads: its inputs, and those of nodes in its graphs. */
typedef void read_function(void *context, const char *name);
void order_reads(const Onnx__NodeProto *node, read_function *read, void *context);

/* Sorts the graph's nodes, whose values have names; those in order stay as they are. A cycle is
 * refused. Linear in nodes and inputs. */
bool order_nodes(struct reader *reader);

#endif
