/* Failures as exceptions, which the functions of glcnn/tflite.h turn into a status and a message.
 *
 * Room: .tflite files to ONNX models and back, bytes to bytes, without a device. C++ behind a C interface, as
 * flatbuffers is a library of C++; the tables are of schema.fbs, ONNX's messages of exchange.proto. */
#ifndef GLCNN_TFLITE_FAILURE_H
#define GLCNN_TFLITE_FAILURE_H

#include <glcnn/status.h>

#include <stdexcept>
#include <string>

namespace glcnn
{

class Failure : public std::runtime_error
{
  public:
    Failure(glcnn_status why, const std::string &text) : std::runtime_error(text), status(why)
    {
    }
    const glcnn_status status;
};

[[noreturn]] inline void fail_malformed(const std::string &text)
{
    throw Failure(GLCNN_MALFORMED_DATA, text);
}

[[noreturn]] inline void fail_unsupported(const std::string &text)
{
    throw Failure(GLCNN_UNSUPPORTED, text);
}

} // namespace glcnn

#endif
