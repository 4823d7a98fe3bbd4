/* A graph without what its outputs do not need. */
#ifndef GLCNN_ONNX_PRUNE_H
#define GLCNN_ONNX_PRUNE_H

#include "onnx/onnx.h"

/* Takes away nodes, initialisers and descriptions of values that no output depends on; inputs stay, but
 * those that an initialiser which goes gave a default. False: no memory. */
bool prune_graph(Onnx__GraphProto *graph);

#endif
