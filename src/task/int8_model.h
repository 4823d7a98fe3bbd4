/* Models that compute as a runtime of int8 will: for training (quantisation-aware training). */
#ifndef GLCNN_TASK_INT8_MODEL_H
#define GLCNN_TASK_INT8_MODEL_H

#include <glcnn/onnx.h>

#include "model.h"

/* Counts the values that the network rounds already, as one that was read of a file in int8 does: it cannot be made int8
 * once more, by other scales. */
size_t int8_count_roundings(const glcnn_network *network);
#define INT8_IS_ROUNDED                                                                                              \
    "the network rounds values between its layers already, as the file in int8 has them that it was imported from: " \
    "%s would round them twice; begin with the model or file in float32 that the other was made of"

/* Prepares the network to be int8 as an exported file will be, where it ends as the task's files end; *q is the
 * caller's. False, with a message: something of it cannot be written as ONNX, there is no layer of weights, or it rounds already. */
bool int8_prepare(const struct model *model, struct glcnn_onnx_quantization **q,
                  char error[GLCNN_ERROR_LENGTH]);

/* Makes a part of the model that is all of it, of the same kernels, where each value that int8 stores is rounded by its
 * range in `q`, of int8_prepare, and gradients go straight through the roundings. The kernels change: weights are
 * rounded from then on, and batch normalisations keep their statistics, as those that a file has folded into its weights.
 * A fold scales all weights of an output channel, and so its scale: rounded weights are the same before and after it.
 * `whole` must outlive the part; release that with model_destroy, after a failure too. */
bool int8_model_create(const struct model *whole, struct glcnn_onnx_quantization *q, uint32_t batch,
                       struct model *rounded, char error[GLCNN_ERROR_LENGTH]);

#endif
