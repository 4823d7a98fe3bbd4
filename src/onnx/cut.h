/* A graph that ends at one of its values: glcnn_onnx_options' output. */
#ifndef GLCNN_ONNX_CUT_H
#define GLCNN_ONNX_CUT_H

#include "onnx/onnx.h"

/* The graph has no output then; there is room for one. False: no memory. */
bool cut_drop_outputs(Onnx__GraphProto *graph);
/* Makes the value that the options name the graph's only output. Does nothing where they name none. */
bool cut_begin(struct reader *reader, Onnx__GraphProto *graph);
/* Takes away what the only output does not need, and gives it its shape: once the graph was read,
 * whose values are not to be looked at any more. */
bool cut_finish(struct reader *reader, Onnx__GraphProto *graph);

#endif
