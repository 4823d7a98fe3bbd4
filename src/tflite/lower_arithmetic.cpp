/* Arithmetic of two values, of one, and over an axis. */
#include <algorithm>
#include <cmath>

#include "tflite/lower.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;

template <Operation operation> static void lower_unary(Lowering &l)
{
    l.give(l.unary(operation, l.input(0)));
}

template <Operation operation> static void lower_binary(Lowering &l)
{
    l.give(l.binary(operation, l.input(0), l.input(1)));
}

/* ONNX takes any number of inputs here, an interpreter two. */
template <Operation operation> static void lower_many(Lowering &l)
{
    Value y = l.input(0);
    for (size_t k = 1; k < l.node->inputs.size(); k++)
        y = l.binary(operation, y, l.input(k));
    l.give(y);
}

/* Truths are reals here, 0 and 1, as what multiplies by them wants. */
template <Operation operation> static void lower_comparison(Lowering &l)
{
    const Value y = l.binary(operation, l.input(0), l.input(1));
    l.out.tensor(y.tensor).type = tflite::TensorType::BOOL;
    l.give(l.make(Operation::CAST, {}, {y.tensor}, y.shape, y.order, {}));
}

static void lower_identity(Lowering &l)
{
    l.give(l.input(0));
}

/* An input of bytes becomes reals; other values are reals already. */
static void lower_cast(Lowering &l)
{
    const Value &x = l.input(0);
    if (l.whole("to", 1) != int64_t(Type::FLOAT))
        l.refuse("it makes other numbers than float32");
    const bool has_bytes = !x.is_constant && l.out.has_unsigned_bytes(x.tensor);
    l.give(has_bytes ? l.make(Operation::CAST, {}, {x.tensor}, x.shape, x.order, {}) : x);
}

/* Interpreters sum over the last axis of the tensor alone, so that the axis is laid there. */
static void lower_soft_max(Lowering &l)
{
    const Value &x = l.input(0);
    const size_t rank = x.shape.size();
    const int64_t axis = l.axis_of(l.whole("axis", l.opset() < 13 ? 1 : -1), rank);
    int64_t after = 1;
    for (size_t i = size_t(axis) + 1; i < rank; i++)
        after *= x.shape[i];
    if (l.opset() < 13 && after != 1)
        l.refuse("of opset " + std::to_string(l.opset()) + " it is over several axes");
    Order order = l.order_of(x);
    if (order.empty() || order.back() != int(axis)) {
        order = plain_order(rank);
        order.erase(order.begin() + axis);
        order.push_back(int(axis));
    }
    const bool is_logarithm = l.node->op == "LogSoftmax";
    Numbers numbers = is_logarithm ? Numbers{} : l.numbers_for({&x}, false);
    if (numbers.are_bytes())
        numbers.result = {{1.0f / 256}, {-128}, 0};
    tflite::SoftmaxOptionsT options;
    options.beta = 1;
    const std::vector<int> operands = {l.laid(x, order, numbers)};
    const Value y =
        l.make(Operation::SOFTMAX, options_of(options), operands, x.shape, order, numbers);
    l.give(is_logarithm ? l.unary(Operation::LOG, y) : y);
}

/* Bilinear sums have no operator for instances: means over rows and columns. */
static void lower_instance(Lowering &l)
{
    const Value x = l.as_reals(l.input(0));
    const size_t rank = x.shape.size();
    if (rank != 4)
        l.refuse("it is not of rows and columns");
    const Order order = l.order_of(x);
    std::vector<int64_t> places;
    for (size_t i = 0; i < rank; i++)
        if (order[i] >= 2)
            places.push_back(int64_t(i));
    auto mean_of = [&](const Value &v) {
        tflite::ReducerOptionsT options;
        options.keep_dims = true;
        return l.make(Operation::MEAN, options_of(options),
                      {l.laid(v, order, {}), l.out.add_sizes(places)},
                      {x.shape[0], x.shape[1], 1, 1}, order, {});
    };
    const Value centred = l.binary(Operation::SUB, x, mean_of(x));
    const Value variance = mean_of(l.binary(Operation::MUL, centred, centred));
    const Value wide = l.binary(Operation::ADD, variance, l.number(l.real("epsilon", 1e-5f)));
    const Value unit = l.binary(Operation::MUL, centred, l.unary(Operation::RSQRT, wide));
    const Value scaled =
        l.binary(Operation::MUL, unit, l.channels(l.constant(1, "gamma").reals, rank));
    l.give(l.binary(Operation::ADD, scaled, l.channels(l.constant(2, "beta").reals, rank)));
}

const LoweringRow lower_arithmetic[] = {
    {"Abs", lower_unary<Operation::ABS>},
    {"Add", lower_binary<Operation::ADD>},
    {"Cast", lower_cast},
    {"Div", lower_binary<Operation::DIV>},
    {"Dropout", lower_identity},
    {"Exp", lower_unary<Operation::EXP>},
    {"Greater", lower_comparison<Operation::GREATER>},
    {"GreaterOrEqual", lower_comparison<Operation::GREATER_EQUAL>},
    {"Identity", lower_identity},
    {"InstanceNormalization", lower_instance},
    {"Less", lower_comparison<Operation::LESS>},
    {"LessOrEqual", lower_comparison<Operation::LESS_EQUAL>},
    {"Log", lower_unary<Operation::LOG>},
    {"LogSoftmax", lower_soft_max},
    {"Max", lower_many<Operation::MAXIMUM>},
    {"Min", lower_many<Operation::MINIMUM>},
    {"Mul", lower_binary<Operation::MUL>},
    {"Neg", lower_unary<Operation::NEG>},
    {"Pow", lower_binary<Operation::POW>},
    {"Softmax", lower_soft_max},
    {"Sqrt", lower_unary<Operation::SQRT>},
    {"Sub", lower_binary<Operation::SUB>},
    {nullptr, nullptr}};

} // namespace glcnn
