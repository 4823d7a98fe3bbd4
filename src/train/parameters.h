/* What trains of a model that was imported. */
#ifndef GLCNN_TRAIN_PARAMETERS_H
#define GLCNN_TRAIN_PARAMETERS_H

#include <glcnn/onnx.h>

#include "base/text.h"

/* Adds to a text the parameters that train, layer by layer with their shapes and counts, those that do not,
 * with the reason, and the totals; the first of them, or `all`. False: not enough memory. */
bool parameters_describe(const glcnn_network *network, const struct glcnn_onnx_record *record,
                         bool all, struct text *text);
/* Adds a line for each initialiser that does not train, with the reason; of many the first, or
 * `all`. */
void parameters_describe_frozen(const struct glcnn_onnx_record *record, bool all,
                                struct text *text);

#endif
