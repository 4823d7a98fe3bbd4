/* An ONNX model on its way to a .tflite file.
 *
 * A value of ONNX is a tensor whose axes lie in some order: a picture N,C,H,W lies N,H,W,C, and Transpose gives
 * the same tensor another order, so that nothing moves before an operator wants another one. Quantised values
 * stand for their reals: a pair of QuantizeLinear and DequantizeLinear is the tensor of 8 bits that is between
 * them. */
#ifndef GLCNN_TFLITE_LOWER_H
#define GLCNN_TFLITE_LOWER_H

#include <optional>
#include <set>

#include "tflite/builder.h"
#include "tflite/model.h"

namespace glcnn
{

/* The axis of ONNX's value that each axis of the tensor is. */
using Order = std::vector<int>;

Order plain_order(size_t rank);
/* N,H,W,C of a value N,C,H,W; of another rank the plain one. */
Order picture_order(size_t rank);

/* What a value is: a tensor, or a constant that becomes one as operators want it. */
struct Value {
    Shape shape; /* ONNX's */
    int tensor = -1;
    Order order;
    bool is_constant = false;
    Constant constant;         /* reals, or whole numbers that `quantisation` makes reals of */
    Quantisation quantisation; /* of a constant, its axis one of ONNX's */
};

/* The numbers that an operator computes with: reals, or 8 bits with a scale for its result. */
struct Numbers {
    Quantisation result;
    bool are_bytes() const
    {
        return !result.is_none();
    }
};

class Lowering
{
  public:
    explicit Lowering(const OnnxModel &model);
    std::vector<uint8_t> run();

    /* ---- The node that is being lowered ---- */

    const Node *node = nullptr;
    [[noreturn]] void refuse(const std::string &why) const;
    bool has_input(size_t k) const;
    const Value &input(size_t k) const;
    /* An input that must be constant. */
    const Constant &constant(size_t k, const char *what) const;
    std::vector<int64_t> wholes_of(size_t k, const char *what) const;
    float real_of(size_t k, const char *what) const;
    int64_t whole(const char *name, int64_t usual) const;
    float real(const char *name, float usual) const;
    std::string text(const char *name, const char *usual) const;
    std::vector<int64_t> wholes(const char *name, const std::vector<int64_t> &usual) const;
    std::vector<float> reals(const char *name, const std::vector<float> &usual) const;
    /* Input k has the list, or an attribute, where models of older opsets have it. */
    std::vector<int64_t> wholes_of(size_t k, const char *name, const char *what) const;
    /* An axis that may count from behind. */
    int64_t axis_of(int64_t axis, size_t rank) const;
    void give(Value value, size_t k = 0);
    int64_t opset() const
    {
        return in.opset;
    }

    /* ---- Numbers ---- */

    bool has_bytes(const Value &value) const;
    /* 8 bits where all of them have them and the node's result is quantised, by itself or, if it `fuses`, behind a
     * rectifier that becomes part of the operator. */
    Numbers numbers_for(const std::vector<const Value *> &values, bool fuses) const;
    /* What moves numbers takes all, so that its result has those of the value. */
    Numbers numbers_of(const Value &value) const;
    /* The tensor of a value, its axes in that order. */
    int laid(const Value &value, const Order &order, const Numbers &numbers);
    /* The order in which the tensor of a value lies; of a constant that of a picture. */
    Order order_of(const Value &value) const;

    /* ---- Making ---- */

    Builder out;
    Value number(float value) const;
    /* A constant of so many numbers along the axis of channels of a value of that rank. */
    Value channels(const std::vector<float> &values, size_t rank) const;
    /* The result of an operator: a tensor of the shape, which is ONNX's, in that order. */
    Value make(tflite::Operation operation, Options options, const std::vector<int> &inputs,
               const Shape &shape, const Order &order, const Numbers &numbers);
    Value unary(tflite::Operation operation, const Value &x, Options options = {});
    Value binary(tflite::Operation operation, const Value &x, const Value &y);
    Value reshaped(const Value &x, const Shape &shape);
    /* The numbers of a tensor as a value of that shape, which lies in that order. */
    Value make_reshape(int tensor, const Shape &shape, const Order &order, const Numbers &numbers);
    /* Margins of ONNX's axes, which are filled with that number. */
    Value padded(const Value &x, const std::vector<int64_t> &before,
                 const std::vector<int64_t> &after, float number);
    Value cut(const Value &x, const std::vector<int64_t> &begin, const Shape &shape);
    /* The numbers at those places of an axis, one after the other. */
    Value gathered(const Value &x, size_t axis, const std::vector<int64_t> &places);
    Value as_reals(const Value &x);
    Value requantised(const Value &x, const Quantisation &quantisation);
    /* Makes the activation part of the operator that made x, where nobody else reads that. */
    bool fuse(const Value &x, tflite::Activation activation);
    /* Does nobody but the node read its input k? */
    bool is_sole_reader(size_t k) const;

  private:
    void find_readers();
    bool is_channels_last() const;
    void add_input(const Port &port, bool is_last);
    void add_output(const Port &port, bool is_last);
    void lower_node();
    void name_tensors();
    int constant_tensor(const Value &value, const Order &order, const Numbers &numbers);
    std::optional<Quantisation> target(const Node &from, bool fuses) const;
    std::string result_name() const;

    const OnnxModel &in;
    std::map<std::string, Value> values;
    std::map<std::string, std::vector<const Node *>> readers;
    std::set<std::string> results;                 /* outputs of the model */
    std::map<int, std::vector<std::string>> names; /* of the values that a tensor is */
    std::map<std::pair<int, Order>, int> moved;
    std::map<int, int> real_tensors;
};

/* An operator of ONNX and what lowers it. */
struct LoweringRow {
    const char *op;
    void (*lower)(Lowering &lowering);
};

extern const LoweringRow lower_arithmetic[], lower_convolution[], lower_neurons[], lower_pooling[],
    lower_shaping[], lower_resizing[], lower_quantisation[];

/* One scale and zero point of QuantizeLinear or DequantizeLinear; of bytes that have no sign their like that
 * have. */
Quantisation quantisation_of(const Lowering &lowering, const Constant &scale, const Constant *zero,
                             int32_t axis);

/* Computes a node whose inputs are constants: shapes and what is made of them. False: it is not one of those. */
bool fold_constants(Lowering &lowering);

} // namespace glcnn

#endif
