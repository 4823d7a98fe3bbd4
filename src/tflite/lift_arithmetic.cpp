/* Arithmetic, neurons, reductions, and what changes the form of numbers alone. */
#include <algorithm>

#include "tflite/lifting.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;

/* ---- Two tensors ---- */

/* Numbers in the file's axes as a constant of a value of so many axes, without the axes of 1 in front. */
static std::string operand_constant(Lifting &l, int tensor, size_t rank)
{
    Shape shape = l.shape(tensor);
    std::vector<float> values = l.reals(tensor);
    if (shape.size() > rank)
        l.damaged("a constant has more axes than its result");
    shape.insert(shape.begin(), rank - shape.size(), 1);
    if (rank == 4) {
        std::vector<float> moved(values.size());
        size_t n = 0;
        for (int64_t b = 0; b < shape[0]; b++)
            for (int64_t c = 0; c < shape[3]; c++)
                for (int64_t i = 0; i < shape[1] * shape[2]; i++)
                    moved[n++] = values[size_t((b * shape[1] * shape[2] + i) * shape[3] + c)];
        values = moved;
        shape = {shape[0], shape[3], shape[1], shape[2]};
    }
    while (!shape.empty() && shape[0] == 1 && (values.size() == 1 || shape.size() > 3))
        shape.erase(shape.begin());
    return l.initialiser(tensor, "operand" + std::to_string(rank), shape, values);
}

/* An operand as a value with the axes of the result. */
static std::string operand_of(Lifting &l, int tensor, size_t rank)
{
    if (l.is_constant(tensor))
        return operand_constant(l, tensor, rank);
    if (l.rank(tensor) == rank)
        return l.usual(tensor);
    if (l.rank(tensor) > rank)
        l.damaged("an operand has more axes than its result");
    Shape wide = l.shape(tensor);
    wide.insert(wide.begin(), rank - wide.size(), 1);
    const std::string value = l.add("Reshape", {l.plain(tensor), l.sizes(wide)});
    return rank == 4 ? l.add("Transpose", {value}, {{"perm", wholes_attribute({0, 3, 1, 2})}})
                     : value;
}

static std::string two(Lifting &l, const char *op)
{
    const size_t rank = l.rank(l.output());
    return l.add(op, {operand_of(l, l.input(0), rank), operand_of(l, l.input(1), rank)});
}

static const char *name_of(Operation operation)
{
    static const struct {
        Operation operation;
        const char *name;
    } names[] = {{Operation::ABS, "Abs"},
                 {Operation::ADD, "Add"},
                 {Operation::DIV, "Div"},
                 {Operation::ELU, "Elu"},
                 {Operation::EXP, "Exp"},
                 {Operation::GREATER, "Greater"},
                 {Operation::GREATER_EQUAL, "GreaterOrEqual"},
                 {Operation::HARD_SWISH, "HardSwish"},
                 {Operation::LESS, "Less"},
                 {Operation::LESS_EQUAL, "LessOrEqual"},
                 {Operation::LOG, "Log"},
                 {Operation::LOGISTIC, "Sigmoid"},
                 {Operation::MAXIMUM, "Max"},
                 {Operation::MEAN, "ReduceMean"},
                 {Operation::MINIMUM, "Min"},
                 {Operation::MUL, "Mul"},
                 {Operation::NEG, "Neg"},
                 {Operation::POW, "Pow"},
                 {Operation::REDUCE_MAX, "ReduceMax"},
                 {Operation::REDUCE_MIN, "ReduceMin"},
                 {Operation::SQRT, "Sqrt"},
                 {Operation::SUB, "Sub"},
                 {Operation::SUM, "ReduceSum"},
                 {Operation::TANH, "Tanh"}};
    for (const auto &row : names)
        if (row.operation == operation)
            return row.name;
    return "";
}

template <Operation operation> static void lift_two(Lifting &l)
{
    l.give_usual(two(l, name_of(operation)));
}

template <Operation operation, typename Table> static void lift_activated(Lifting &l)
{
    const auto *o = l.made->builtin_options_as<Table>();
    l.give_usual(l.activated(two(l, name_of(operation)), o ? o->activation() : Activation::NONE));
}

/* ---- One tensor ---- */

static std::string usual_input(Lifting &l)
{
    return l.usual(l.input(0));
}

template <Operation operation> static void lift_one(Lifting &l)
{
    l.give_usual(l.add(name_of(operation), {usual_input(l)}));
}

template <Activation activation> static void lift_activation(Lifting &l)
{
    l.give_usual(l.activated(usual_input(l), activation));
}

static void lift_leaky(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_LeakyReluOptions();
    l.give_usual(
        l.add("LeakyRelu", {usual_input(l)}, {{"alpha", real_attribute(o ? o->alpha() : 0)}}));
}

/* Slopes lack the axis of the batch. */
static void lift_prelu(Lifting &l)
{
    const int slopes = l.input(1);
    if (!l.is_constant(slopes))
        l.refuse("its slopes are computed");
    l.give_usual(l.add("PRelu", {usual_input(l), operand_constant(l, slopes, l.rank(l.output()))}));
}

static void lift_rsqrt(Lifting &l)
{
    const std::string root = l.add("Sqrt", {usual_input(l)});
    l.give_usual(l.add("Div", {l.number(1), root}));
}

static void lift_square(Lifting &l)
{
    const std::string x = usual_input(l);
    l.give_usual(l.add("Mul", {x, x}));
}

static void lift_squared_difference(Lifting &l)
{
    const std::string x = two(l, "Sub");
    l.give_usual(l.add("Mul", {x, x}));
}

static void lift_soft_max(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_SoftmaxOptions();
    const int64_t last = int64_t(l.rank(l.input(0))) - 1;
    if (o && o->beta() != 1)
        l.refuse("its beta is not 1");
    l.give_usual(l.add("Softmax", {usual_input(l)},
                       {{"axis", whole_attribute(l.usual_axis(last, size_t(last + 1)))}}));
}

/* Truths are 0 and 1 here already. */
static void lift_cast(Lifting &l)
{
    l.give_usual(l.add("Cast", {usual_input(l)}, {{"to", whole_attribute(1)}}));
}

/* ---- The form of numbers ---- */

static void lift_form(Lifting &l)
{
    const int from = l.input(0);
    if (l.is_constant(from)) {
        l.alias(l.output(), from);
        return;
    }
    l.drops_roundings = true;
    l.give_usual(l.add("Identity", {l.usual(from)}));
}

/* ---- Reductions ---- */

template <Operation operation> static void lift_reduction(Lifting &l)
{
    const char *op = name_of(operation);
    const auto *o = l.made->builtin_options_as_ReducerOptions();
    const int x = l.input(0);
    const size_t rank = l.rank(x);
    std::vector<int64_t> axes;
    for (int64_t axis : l.wholes(l.input(1), "its axes"))
        axes.push_back(l.usual_axis(axis, rank));
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    const bool keeps = o && o->keep_dims();
    std::vector<std::string> inputs = {l.usual(x)};
    std::map<std::string, Attribute> attributes = {{"keepdims", whole_attribute(keeps)}};
    if (operation == Operation::SUM)
        inputs.push_back(l.sizes(axes));
    else
        attributes["axes"] = wholes_attribute(axes);
    const bool is_of_pixels = axes == std::vector<int64_t>{2, 3};
    if (rank == 4 && !keeps && !is_of_pixels) { /* axes that are left stand in the file's order */
        attributes["keepdims"] = whole_attribute(1);
        const std::string kept = l.add(op, inputs, attributes);
        const std::string last =
            l.add("Transpose", {kept}, {{"perm", wholes_attribute({0, 2, 3, 1})}});
        l.give_plain(l.add("Reshape", {last, l.sizes(l.shape(l.output()))}));
        return;
    }
    const std::string y = l.add(op, inputs, attributes);
    keeps ? l.give_usual(y) : l.give_plain(y);
}

const LiftingRow lift_arithmetic[] = {
    {Operation::ABS, lift_one<Operation::ABS>},
    {Operation::ADD, lift_activated<Operation::ADD, tflite::AddOptions>},
    {Operation::CAST, lift_cast},
    {Operation::DENSIFY, lift_form},
    {Operation::DEQUANTIZE, lift_form},
    {Operation::DIV, lift_activated<Operation::DIV, tflite::DivOptions>},
    {Operation::ELU, lift_one<Operation::ELU>},
    {Operation::EXP, lift_one<Operation::EXP>},
    {Operation::GREATER, lift_two<Operation::GREATER>},
    {Operation::GREATER_EQUAL, lift_two<Operation::GREATER_EQUAL>},
    {Operation::HARD_SWISH, lift_one<Operation::HARD_SWISH>},
    {Operation::LEAKY_RELU, lift_leaky},
    {Operation::LESS, lift_two<Operation::LESS>},
    {Operation::LESS_EQUAL, lift_two<Operation::LESS_EQUAL>},
    {Operation::LOG, lift_one<Operation::LOG>},
    {Operation::LOGISTIC, lift_one<Operation::LOGISTIC>},
    {Operation::MAXIMUM, lift_two<Operation::MAXIMUM>},
    {Operation::MEAN, lift_reduction<Operation::MEAN>},
    {Operation::MINIMUM, lift_two<Operation::MINIMUM>},
    {Operation::MUL, lift_activated<Operation::MUL, tflite::MulOptions>},
    {Operation::NEG, lift_one<Operation::NEG>},
    {Operation::POW, lift_two<Operation::POW>},
    {Operation::PRELU, lift_prelu},
    {Operation::QUANTIZE, lift_form},
    {Operation::REDUCE_MAX, lift_reduction<Operation::REDUCE_MAX>},
    {Operation::REDUCE_MIN, lift_reduction<Operation::REDUCE_MIN>},
    {Operation::RELU, lift_activation<Activation::RELU>},
    {Operation::RELU6, lift_activation<Activation::RELU6>},
    {Operation::RELU_N1_TO_1, lift_activation<Activation::RELU_N1_TO_1>},
    {Operation::RSQRT, lift_rsqrt},
    {Operation::SOFTMAX, lift_soft_max},
    {Operation::SQRT, lift_one<Operation::SQRT>},
    {Operation::SQUARE, lift_square},
    {Operation::SQUARED_DIFFERENCE, lift_squared_difference},
    {Operation::SUB, lift_activated<Operation::SUB, tflite::SubOptions>},
    {Operation::SUM, lift_reduction<Operation::SUM>},
    {Operation::TANH, lift_one<Operation::TANH>},
    {Operation::ADD, nullptr}};

} // namespace glcnn
