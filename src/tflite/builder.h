/* A .tflite file that is put together: tensors, constants and operators in the order of their making. */
#ifndef GLCNN_TFLITE_BUILDER_H
#define GLCNN_TFLITE_BUILDER_H

#include <map>
#include <string>
#include <vector>

#include <tflite_schema.h>

#include "tflite/model.h"

namespace glcnn
{

/* What whole numbers q of a tensor stand for: scale (q - zero), of one scale or of one for each place along an
 * axis of the tensor. No scale: the tensor has reals. */
struct Quantisation {
    std::vector<float> scales;
    std::vector<int64_t> zeros;
    int32_t axis = 0;
    bool is_none() const
    {
        return scales.empty();
    }
    bool operator==(const Quantisation &other) const
    {
        return scales == other.scales && zeros == other.zeros && axis == other.axis;
    }
};

/* Options of an operator; none where it has no such table. */
using Options = tflite::BuiltinOptionsUnion;

template <typename T> Options options_of(T table)
{
    Options options;
    options.Set(std::move(table));
    return options;
}

class Builder
{
  public:
    Builder();
    /* Sizes in the file's order. */
    int add_tensor(const std::string &name, const Shape &shape, tflite::TensorType type,
                   const Quantisation &quantisation = {});
    int add_reals(const std::string &name, const Shape &shape, const std::vector<float> &values);
    /* The type says whether they have 8 or 32 bits. */
    int add_wholes(const std::string &name, const Shape &shape, const std::vector<int64_t> &values,
                   tflite::TensorType type, const Quantisation &quantisation = {});
    /* Axes, sizes and shapes, which operators take as tensors. */
    int add_sizes(const std::vector<int64_t> &values);
    void add_operator(tflite::Operation operation, Options options, const std::vector<int> &inputs,
                      const std::vector<int> &outputs);

    tflite::TensorT &tensor(int index);
    const tflite::TensorT &tensor(int index) const;
    Quantisation quantisation(int index) const;
    bool is_constant(int index) const;
    std::vector<float> reals(int index) const;
    /* A constant gets other numbers, as many as it has. */
    void set_reals(int index, const std::vector<float> &values);
    /* The operator that makes a tensor; NULL: none does. */
    tflite::OperatorT *producer(int index);
    bool has_unsigned_bytes(int index) const
    {
        return tensor(index).type == tflite::TensorType::UINT8;
    }
    void rename(int index, const std::string &name);
    /* The same, unless another tensor has the name. */
    void suggest_name(int index, const std::string &name);
    void add_metadata(const std::string &name, const std::string &text);

    std::vector<int32_t> inputs, outputs;
    std::vector<uint8_t> finish();

  private:
    int add_buffer(std::vector<uint8_t> bytes);
    uint32_t code_of(tflite::Operation operation, int32_t version);
    std::string unique_name(const std::string &name);
    int32_t version_of(tflite::Operation operation, const std::vector<int> &inputs) const;

    tflite::ModelT model;
    std::map<int, size_t> producers;
    std::map<std::string, int> names;
};

} // namespace glcnn

#endif
