/* A .tflite file on its way to an ONNX model. */
#ifndef GLCNN_TFLITE_LIFT_H
#define GLCNN_TFLITE_LIFT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace glcnn
{

/* The bytes of an ONNX model; `note` has what the file says and the model does not. */
std::vector<uint8_t> lift(const uint8_t *bytes, size_t size, std::string &note);

} // namespace glcnn

#endif
