/* Values of a graph by name, and which of them its outputs need. */
#ifndef GLCNN_ONNX_VALUES_H
#define GLCNN_ONNX_VALUES_H

#include "onnx/onnx.h"

/* Makes room for all values, those within nodes too, and names those of the graph. */
bool values_name(struct reader *reader);
bool values_name_tensor(struct reader *reader, Onnx__TensorProto *tensor);
bool values_name_output(struct reader *reader, const Onnx__NodeProto *node, size_t i);

/* NULL: there is none of that name. */
struct value *values_find(const struct reader *reader, const char *name);

/* What the outputs need, from the last node to the first. */
bool values_find_needed(struct reader *reader);
/* What nodes from .. to, without the last, read of what is needed. */
void values_note_uses(struct reader *reader, size_t from, size_t to);
/* Does anything need the node? */
bool values_need(const struct reader *reader, const Onnx__NodeProto *node);
/* Does nothing look at the value but transpositions of N,H,W,C to N,C,H,W, arithmetic with constants
 * before them passed over? */
bool values_is_turned(const struct value *value);

#endif
