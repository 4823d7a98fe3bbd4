/* Data of initialisers that lie in files beside the model's. */
#ifndef GLCNN_ONNX_EXTERNAL_H
#define GLCNN_ONNX_EXTERNAL_H

#include "onnx/onnx.h"

/* Bytes of an external tensor, to be freed; NULL, with the sentence, where they cannot be had. The
 * file must lie in the model's folder or below it. */
uint8_t *external_read(struct reader *reader, const Onnx__TensorProto *tensor, size_t *size);

#endif
