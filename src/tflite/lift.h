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

/* The names of a dictionary as Python writes it, {0: 'a', 1: 'b'}, which loaders of Ultralytics' files want; empty:
 * it is none. */
std::vector<std::string> names_of_dictionary(const std::string &text);

/* Appends labels.txt to a file, in a ZIP archive, as TFLite Model Metadata has it. */
void append_labels(std::vector<uint8_t> &file, const std::vector<std::string> &labels);

} // namespace glcnn

#endif
