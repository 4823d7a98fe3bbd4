/* A layer of scores behind a model that has none: glcnn_onnx_options' head_classes. */
#ifndef GLCNN_ONNX_HEAD_H
#define GLCNN_ONNX_HEAD_H

#include "onnx/onnx.h"

/* Adds the layer and what leads to it to the graph, which has no other output then. Its weights are
 * yet to be. */
bool head_add(struct reader *reader, Onnx__GraphProto *graph);
/* Of features without pixels, N,C, the node that is about to average them passes them on. */
bool head_average(struct reader *reader);
/* Gives the layer, which is about to be read, weights of 0 for as many features as there are. */
bool head_fill(struct call *call);

#endif
