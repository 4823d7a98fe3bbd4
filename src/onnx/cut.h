/* A graph that begins or ends at values within it: input, output and outputs of glcnn_onnx_options. */
#ifndef GLCNN_ONNX_CUT_H
#define GLCNN_ONNX_CUT_H

#include "onnx/onnx.h"

/* The graph has no output then; there is room for one. False: no memory. */
bool cut_drop_outputs(Onnx__GraphProto *graph);
/* Is the name that of an input of the graph, or does a node make it? */
bool cut_has_value(const Onnx__GraphProto *graph, const char *name);
/* Makes the values that the options name the only input and outputs of the graph. Does nothing where they name none. */
bool cut_begin(struct reader *reader, Onnx__GraphProto *graph);
/* Takes away what those outputs do not need, and gives them their shapes: once the graph was read,
 * whose values are not to be looked at any more. */
bool cut_finish(struct reader *reader, Onnx__GraphProto *graph);

#endif
