/* Tables of a .tflite file as they are put together. */
#include "tflite/builder.h"

#include <algorithm>
#include <cstring>

#include "tflite/failure.h"

namespace glcnn
{

using tflite::Operation;
using tflite::TensorType;

Builder::Builder()
{
    model.version = 3;
    model.description = "glcnn";
    model.subgraphs.emplace_back(new tflite::SubGraphT);
    model.subgraphs[0]->name = "main";
    add_buffer({});
}

int Builder::add_buffer(std::vector<uint8_t> bytes)
{
    model.buffers.emplace_back(new tflite::BufferT);
    model.buffers.back()->data = std::move(bytes);
    return int(model.buffers.size()) - 1;
}

/* Interpreters find tensors by their names. */
std::string Builder::unique_name(const std::string &name)
{
    const int count = names[name]++;
    return count == 0 ? name : unique_name(name + "_" + std::to_string(count));
}

int Builder::add_tensor(const std::string &name, const Shape &shape, TensorType type,
                        const Quantisation &quantisation)
{
    std::unique_ptr<tflite::TensorT> t(new tflite::TensorT);
    for (int64_t size : shape) {
        if (size < 0 || size > INT32_MAX)
            fail_unsupported("tensor \"" + name + "\" has a size of " + std::to_string(size));
        t->shape.push_back(int32_t(size));
    }
    t->type = type;
    t->name = unique_name(name);
    if (!quantisation.is_none()) {
        t->quantization.reset(new tflite::QuantizationParametersT);
        t->quantization->scale = quantisation.scales;
        t->quantization->zero_point = quantisation.zeros;
        t->quantization->quantized_dimension = quantisation.axis;
    }
    auto &tensors = model.subgraphs[0]->tensors;
    tensors.push_back(std::move(t));
    return int(tensors.size()) - 1;
}

template <typename T> static std::vector<uint8_t> bytes_of(const std::vector<T> &values)
{
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

int Builder::add_reals(const std::string &name, const Shape &shape,
                       const std::vector<float> &values)
{
    const int index = add_tensor(name, shape, TensorType::FLOAT32);
    tensor(index).buffer = uint32_t(add_buffer(bytes_of(values)));
    return index;
}

int Builder::add_wholes(const std::string &name, const Shape &shape,
                        const std::vector<int64_t> &values, TensorType type,
                        const Quantisation &quantisation)
{
    const int index = add_tensor(name, shape, type, quantisation);
    std::vector<uint8_t> bytes;
    if (type == TensorType::INT8)
        bytes = bytes_of(std::vector<int8_t>(values.begin(), values.end()));
    else
        bytes = bytes_of(std::vector<int32_t>(values.begin(), values.end()));
    tensor(index).buffer = uint32_t(add_buffer(std::move(bytes)));
    return index;
}

int Builder::add_sizes(const std::vector<int64_t> &values)
{
    return add_wholes("sizes", {int64_t(values.size())}, values, TensorType::INT32);
}

/* Versions from which on operators take 8-bit numbers; of reals all here are of version 1. */
static const std::map<Operation, int32_t> versions_of_bytes = {
    {Operation::ADD, 2},
    {Operation::AVERAGE_POOL_2D, 2},
    {Operation::CONCATENATION, 2},
    {Operation::CONV_2D, 3},
    {Operation::DEPTHWISE_CONV_2D, 3},
    {Operation::DEQUANTIZE, 2},
    {Operation::GATHER, 2},
    {Operation::LOGISTIC, 2},
    {Operation::MAX_POOL_2D, 2},
    {Operation::MUL, 2},
    {Operation::SOFTMAX, 2},
    {Operation::TANH, 2},
    {Operation::PAD, 2},
    {Operation::PADV2, 2},
    {Operation::MEAN, 2},
    {Operation::TRANSPOSE, 2},
    {Operation::SUB, 2},
    {Operation::SLICE, 2},
    {Operation::STRIDED_SLICE, 2},
    {Operation::MAXIMUM, 2},
    {Operation::MINIMUM, 2},
    {Operation::LEAKY_RELU, 2},
    {Operation::RELU, 2},
    {Operation::RELU6, 2},
    {Operation::TRANSPOSE_CONV, 2},
    {Operation::REDUCE_MAX, 2},
    {Operation::REDUCE_MIN, 2},
    {Operation::RESIZE_BILINEAR, 2},
    {Operation::RESIZE_NEAREST_NEIGHBOR, 2}};

int32_t Builder::version_of(Operation operation, const std::vector<int> &operands) const
{
    const auto found = versions_of_bytes.find(operation);
    bool has_bytes = std::any_of(operands.begin(), operands.end(), [this](int index) {
        return index >= 0 && tensor(index).type == TensorType::INT8;
    });
    bool is_resize =
        operation == Operation::RESIZE_BILINEAR || operation == Operation::RESIZE_NEAREST_NEIGHBOR;
    bool has_bias = operation == Operation::TRANSPOSE_CONV && operands.size() == 4;
    if (has_bias || is_resize) /* of biases, and of centres of pixels */
        return 3;
    return has_bytes && found != versions_of_bytes.end() ? found->second : 1;
}

uint32_t Builder::code_of(Operation operation, int32_t version)
{
    auto &codes = model.operator_codes;
    for (size_t i = 0; i < codes.size(); i++)
        if (codes[i]->builtin_code == operation && codes[i]->version == version)
            return uint32_t(i);
    std::unique_ptr<tflite::OperatorCodeT> code(new tflite::OperatorCodeT);
    const int32_t most = int32_t(Operation::PLACEHOLDER_FOR_GREATER_OP_CODES);
    code->deprecated_builtin_code = int8_t(std::min(int32_t(operation), most));
    code->builtin_code = operation;
    code->version = version;
    codes.push_back(std::move(code));
    return uint32_t(codes.size()) - 1;
}

void Builder::add_operator(Operation operation, Options options, const std::vector<int> &operands,
                           const std::vector<int> &results)
{
    std::unique_ptr<tflite::OperatorT> made(new tflite::OperatorT);
    made->opcode_index = code_of(operation, version_of(operation, operands));
    made->inputs.assign(operands.begin(), operands.end());
    made->outputs.assign(results.begin(), results.end());
    made->builtin_options = std::move(options);
    auto &operators = model.subgraphs[0]->operators;
    for (int index : results)
        producers[index] = operators.size();
    operators.push_back(std::move(made));
}

tflite::TensorT &Builder::tensor(int index)
{
    return *model.subgraphs[0]->tensors.at(size_t(index));
}

const tflite::TensorT &Builder::tensor(int index) const
{
    return *model.subgraphs[0]->tensors.at(size_t(index));
}

Quantisation Builder::quantisation(int index) const
{
    const auto &q = tensor(index).quantization;
    return q ? Quantisation{q->scale, q->zero_point, q->quantized_dimension} : Quantisation{};
}

bool Builder::is_constant(int index) const
{
    return tensor(index).buffer != 0;
}

std::vector<float> Builder::reals(int index) const
{
    const std::vector<uint8_t> &bytes = model.buffers[tensor(index).buffer]->data;
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty())
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

void Builder::set_reals(int index, const std::vector<float> &values)
{
    model.buffers[tensor(index).buffer]->data = bytes_of(values);
}

tflite::OperatorT *Builder::producer(int index)
{
    const auto found = producers.find(index);
    return found == producers.end() ? nullptr : model.subgraphs[0]->operators[found->second].get();
}

void Builder::rename(int index, const std::string &name)
{
    for (auto &other : model.subgraphs[0]->tensors)
        if (other->name == name)
            other->name = unique_name(name + "_inner");
    tensor(index).name = name;
}

void Builder::suggest_name(int index, const std::string &name)
{
    if (names.emplace(name, 1).second)
        tensor(index).name = name;
}

void Builder::add_metadata(const std::string &name, const std::string &text)
{
    std::unique_ptr<tflite::MetadataT> entry(new tflite::MetadataT);
    entry->name = name;
    entry->buffer = uint32_t(add_buffer({text.begin(), text.end()}));
    model.metadata.push_back(std::move(entry));
}

std::vector<uint8_t> Builder::finish()
{
    model.subgraphs[0]->inputs = inputs;
    model.subgraphs[0]->outputs = outputs;
    flatbuffers::FlatBufferBuilder buffer;
    buffer.Finish(tflite::Model::Pack(buffer, &model), tflite::ModelIdentifier());
    return {buffer.GetBufferPointer(), buffer.GetBufferPointer() + buffer.GetSize()};
}

} // namespace glcnn
