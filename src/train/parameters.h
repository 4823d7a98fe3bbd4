/* What trains of a model that was imported. */
#ifndef GLCNN_TRAIN_PARAMETERS_H
#define GLCNN_TRAIN_PARAMETERS_H

#include <glcnn/onnx.h>

/* Prints the parameters that train, layer by layer with their shapes and counts, those that do not,
 * with the reason, and the totals; the first of them, or `all`. False: not enough memory. */
bool parameters_print(const glcnn_network *network, const struct glcnn_onnx_record *record,
                      bool all);
/* Prints a line for each initialiser that does not train, with the reason; of many the first, or
 * `all`. */
void parameters_print_frozen(const struct glcnn_onnx_record *record, bool all);

#endif
