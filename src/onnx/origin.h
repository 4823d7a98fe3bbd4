/* Where numbers that only were moved come from. */
#ifndef GLCNN_ONNX_ORIGIN_H
#define GLCNN_ONNX_ORIGIN_H

#include "onnx/onnx.h"

/* Goes back from a constant, over transpositions, reshapes and casts whose results nobody else reads, to
 * the tensor of the file that it was moved from: *layout, of the constant, becomes that of the tensor,
 * which a written file then has in its place, and the nodes behind it. Gives the constant itself where
 * there is none such. */
const struct value *origin_find(const struct call *call, const struct value *value,
                                struct layout *layout);

#endif
