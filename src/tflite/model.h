/* An ONNX model as values of C++, and its bytes. */
#ifndef GLCNN_TFLITE_MODEL_H
#define GLCNN_TFLITE_MODEL_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace glcnn
{

using Shape = std::vector<int64_t>;

/* Types of ONNX's TensorProto. */
enum class Type : int32_t { FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6, INT64 = 7, BOOL = 9 };

/* A constant: reals of FLOAT, whole numbers of all other types. */
struct Constant {
    Type type = Type::FLOAT;
    Shape shape;
    std::vector<float> reals;
    std::vector<int64_t> wholes;
};

struct Attribute {
    int64_t whole = 0;
    float real = 0;
    std::string text;
    std::vector<int64_t> wholes;
    std::vector<float> reals;
    Constant constant;
    int32_t type = 0; /* ONNX's AttributeType */
};

struct Node {
    std::string name, op;
    std::vector<std::string> inputs, outputs; /* "": none */
    std::map<std::string, Attribute> attributes;
};

/* An input or an output; sizes that the file leaves open are -1. */
struct Port {
    std::string name;
    Shape shape;
    Type type = Type::FLOAT;
};

struct OnnxModel {
    std::vector<Node> nodes;
    std::map<std::string, Constant> initialisers;
    std::vector<Port> inputs, outputs; /* inputs that no initialiser fills */
    std::vector<Port> inner;           /* values whose types are stated */
    std::map<std::string, std::string> metadata;
    int64_t opset = 0;
};

/* Numbers of a shape, or a failure where the product overflows or a size is below 0. */
int64_t count_of(const Shape &shape);

OnnxModel parse_onnx(const uint8_t *bytes, size_t size);
std::vector<uint8_t> serialise_onnx(const OnnxModel &model);

} // namespace glcnn

#endif
