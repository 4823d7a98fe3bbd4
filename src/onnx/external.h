/* Data of initialisers that lie in files beside the model's. */
#ifndef GLCNN_ONNX_EXTERNAL_H
#define GLCNN_ONNX_EXTERNAL_H

#include "onnx/onnx.h"

/* Takes the data of an external tensor into the tensor itself, which is external no longer: the model
 * stays whole where the file is not. `count` numbers of `size` bytes are expected. False, with the
 * message, where they cannot be had. */
bool external_take(struct reader *reader, Onnx__TensorProto *tensor, int64_t count, size_t size);

#endif
