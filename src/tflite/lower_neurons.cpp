/* Neurons: rectifiers that become part of the operator before them, operators, and short compositions. */
#include <cfloat>
#include <cmath>

#include "tflite/lower.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;

static Value rectified(Lowering &l, const Value &x, Activation activation, Operation operation)
{
    return l.fuse(x, activation) ? x : l.unary(operation, x);
}

static void lower_relu(Lowering &l)
{
    l.give(rectified(l, l.input(0), Activation::RELU, Operation::RELU));
}

/* Bounds of Clip, which older models have as attributes. */
static void bounds_of(const Lowering &l, float &least, float &most)
{
    least = l.has_input(1) ? l.real_of(1, "its least value") : l.real("min", -FLT_MAX);
    most = l.has_input(2) ? l.real_of(2, "its greatest value") : l.real("max", FLT_MAX);
}

static void lower_clip(Lowering &l)
{
    const Value &x = l.input(0);
    float least, most;
    bounds_of(l, least, most);
    if (least == 0 && most == 6)
        l.give(rectified(l, x, Activation::RELU6, Operation::RELU6));
    else if (least == 0 && most >= FLT_MAX)
        l.give(rectified(l, x, Activation::RELU, Operation::RELU));
    else if (least == -1 && most == 1)
        l.give(rectified(l, x, Activation::RELU_N1_TO_1, Operation::RELU_N1_TO_1));
    else {
        Value y = x;
        if (least > -FLT_MAX)
            y = l.binary(Operation::MAXIMUM, y, l.number(least));
        if (most < FLT_MAX)
            y = l.binary(Operation::MINIMUM, y, l.number(most));
        l.give(y);
    }
}

static void lower_leaky(Lowering &l)
{
    tflite::LeakyReluOptionsT options;
    options.alpha = l.real("alpha", 0.01f);
    l.give(l.unary(Operation::LEAKY_RELU, l.input(0), options_of(options)));
}

/* Slopes for each channel, whatever axes of one number they have beside. */
static void lower_prelu(Lowering &l)
{
    const Value x = l.as_reals(l.input(0)), &slopes = l.input(1);
    const size_t rank = x.shape.size();
    Shape shape = slopes.shape;
    if (!slopes.is_constant || shape.size() > rank)
        l.refuse("its slopes are computed, or have more axes than its source");
    shape.insert(shape.begin(), rank - shape.size(), 1);
    if (rank < 2 || (count_of(shape) != shape[1] && count_of(shape) != 1))
        l.refuse("its slopes are not one for each channel");
    /* PRELU wants a slope for each channel, and no axis of the batch. */
    std::vector<float> each = slopes.constant.reals;
    if (each.size() == 1)
        each.resize(size_t(x.shape[1]), each[0]);
    const Order order = l.order_of(x);
    Shape sizes;
    for (size_t i = 1; i < rank; i++)
        sizes.push_back(order[i] == 1 ? int64_t(each.size()) : 1);
    const int tensor = l.out.add_reals(l.node->name + ".slopes", sizes, each);
    l.give(l.make(Operation::PRELU, {}, {l.laid(x, order, {}), tensor}, x.shape, order, {}));
}

static Value hard_sigmoid(Lowering &l, const Value &x)
{
    Value y = l.binary(Operation::MUL, x, l.number(l.real("alpha", 0.2f)));
    y = l.binary(Operation::ADD, y, l.number(l.real("beta", 0.5f)));
    return l.binary(Operation::MINIMUM, l.unary(Operation::RELU, y), l.number(1));
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which overflows nowhere. */
static Value soft_plus(Lowering &l, const Value &x)
{
    const Value less = l.unary(Operation::EXP, l.unary(Operation::NEG, l.unary(Operation::ABS, x)));
    const Value rest = l.unary(Operation::LOG, l.binary(Operation::ADD, less, l.number(1)));
    return l.binary(Operation::ADD, l.unary(Operation::RELU, x), rest);
}

static Value negative_part(Lowering &l, const Value &x)
{
    return l.binary(Operation::MINIMUM, x, l.number(0));
}

/* alpha (e^x - 1) below 0. */
static Value elu(Lowering &l, const Value &x, float alpha, float per)
{
    const Value inner = per == 1 ? negative_part(l, x)
                                 : l.binary(Operation::MUL, negative_part(l, x), l.number(per));
    const Value less = l.binary(Operation::SUB, l.unary(Operation::EXP, inner), l.number(1));
    return l.binary(Operation::ADD, l.unary(Operation::RELU, x),
                    l.binary(Operation::MUL, less, l.number(alpha)));
}

static void lower_elu(Lowering &l)
{
    const Value x = l.as_reals(l.input(0));
    const float alpha = l.real("alpha", 1);
    l.give(alpha == 1 ? l.unary(Operation::ELU, x) : elu(l, x, alpha, 1));
}

static void lower_celu(Lowering &l)
{
    const float alpha = l.real("alpha", 1);
    l.give(elu(l, l.as_reals(l.input(0)), alpha, 1 / alpha));
}

static void lower_selu(Lowering &l)
{
    const float gamma = l.real("gamma", 1.05070102214813232421875f);
    const Value y = elu(l, l.as_reals(l.input(0)), l.real("alpha", 1.67326319217681884765625f), 1);
    l.give(l.binary(Operation::MUL, y, l.number(gamma)));
}

static void lower_hard_sigmoid(Lowering &l)
{
    l.give(hard_sigmoid(l, l.as_reals(l.input(0))));
}

static void lower_soft_plus(Lowering &l)
{
    l.give(soft_plus(l, l.as_reals(l.input(0))));
}

static void lower_soft_sign(Lowering &l)
{
    const Value x = l.as_reals(l.input(0));
    const Value size = l.binary(Operation::ADD, l.unary(Operation::ABS, x), l.number(1));
    l.give(l.binary(Operation::DIV, x, size));
}

/* No operator has it: formula 7.1.26 of Abramowitz and Stegun, within 1.5e-7. */
static void lower_erf(Lowering &l)
{
    static const float factors[] = {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f,
                                    0.254829592f};
    const Value x = l.as_reals(l.input(0));
    const Value size = l.unary(Operation::ABS, x);
    const Value below =
        l.binary(Operation::ADD, l.binary(Operation::MUL, size, l.number(0.3275911f)), l.number(1));
    /* 1 / y */
    const Value t = l.binary(Operation::DIV, l.number(1), below);
    Value sum = l.binary(Operation::MUL, t, l.number(factors[0]));
    for (size_t k = 1; k < 5; k++)
        sum = l.binary(Operation::MUL, l.binary(Operation::ADD, sum, l.number(factors[k])), t);
    const Value bell =
        l.unary(Operation::EXP, l.unary(Operation::NEG, l.binary(Operation::MUL, x, x)));
    const Value whole = l.binary(Operation::SUB, l.number(1), l.binary(Operation::MUL, sum, bell));
    /* The sign of x: x over its size, which is not 0. */
    const Value sign =
        l.binary(Operation::DIV, x, l.binary(Operation::MAXIMUM, size, l.number(FLT_MIN)));
    l.give(l.binary(Operation::MUL, whole, sign));
}

template <Operation operation> static void lower_one(Lowering &l)
{
    l.give(l.unary(operation, l.input(0)));
}

const LoweringRow lower_neurons[] = {{"Celu", lower_celu},
                                     {"Clip", lower_clip},
                                     {"Elu", lower_elu},
                                     {"Erf", lower_erf},
                                     {"HardSigmoid", lower_hard_sigmoid},
                                     {"HardSwish", lower_one<Operation::HARD_SWISH>},
                                     {"LeakyRelu", lower_leaky},
                                     {"PRelu", lower_prelu},
                                     {"Relu", lower_relu},
                                     {"Selu", lower_selu},
                                     {"Sigmoid", lower_one<Operation::LOGISTIC>},
                                     {"Softplus", lower_soft_plus},
                                     {"Softsign", lower_soft_sign},
                                     {"Tanh", lower_one<Operation::TANH>},
                                     {nullptr, nullptr}};

/* ---- Bytes ---- */

/* Interpreters' bytes have a sign: q - 128 stands for what a byte without one stands for. */
Quantisation quantisation_of(const Lowering &l, const Constant &scale, const Constant *zero,
                             int32_t axis)
{
    Quantisation q;
    q.scales = scale.reals;
    q.axis = axis;
    q.zeros.assign(q.scales.size(), 0);
    if (q.scales.empty())
        l.refuse("it has no scale");
    for (float s : q.scales)
        if (!(s > 0) || !std::isfinite(s))
            l.refuse("its scale is not above 0");
    const bool is_unsigned = !zero || zero->type == Type::UINT8;
    if (zero && zero->wholes.size() != q.scales.size())
        l.refuse("it has another number of zero points than of scales");
    for (size_t k = 0; k < q.zeros.size(); k++)
        q.zeros[k] = (zero ? zero->wholes[k] : 0) - (is_unsigned ? 128 : 0);
    return q;
}

static Quantisation own_quantisation(const Lowering &l)
{
    const Constant &scale = l.constant(1, "its scale");
    const Constant *zero = l.has_input(2) ? &l.constant(2, "its zero point") : nullptr;
    const size_t count = scale.reals.size();
    const Shape &shape = l.input(0).shape;
    const int64_t axis = count > 1 ? l.axis_of(l.whole("axis", 1), shape.size()) : 0;
    if (count > 1 && int64_t(count) != shape[size_t(axis)])
        l.refuse("it has " + std::to_string(count) + " scales for " +
                 std::to_string(shape[size_t(axis)]) + " places of its axis");
    return quantisation_of(l, scale, zero, int32_t(axis));
}

/* What is computed becomes bytes; of a constant the numbers do. */
static void lower_quantise(Lowering &l)
{
    const Value &x = l.input(0);
    const Quantisation q = own_quantisation(l);
    if (q.scales.size() > 1 && !x.is_constant)
        l.refuse("what is computed has a scale for each channel");
    if (!x.is_constant) {
        l.give(l.requantised(x, q));
        return;
    }
    Value y = x;
    y.quantisation = q;
    y.constant.type = Type::INT8;
    y.constant.reals.clear();
    size_t after = 1;
    for (size_t i = size_t(q.axis) + 1; i < x.shape.size(); i++)
        after *= size_t(x.shape[i]);
    for (size_t i = 0; i < x.constant.reals.size(); i++) {
        const size_t k = q.scales.size() == 1 ? 0 : i / after % q.scales.size();
        const double whole =
            std::nearbyint(double(x.constant.reals[i]) / double(q.scales[k])) + double(q.zeros[k]);
        y.constant.wholes.push_back(int64_t(std::fmin(std::fmax(whole, -128), 127)));
    }
    l.give(y);
}

/* Constants keep their whole numbers, bytes and those of 32 bits. */
static void lower_dequantise(Lowering &l)
{
    Value x = l.input(0);
    if (x.is_constant && x.quantisation.is_none()) {
        const Constant &scale = l.constant(1, "its scale");
        const bool is_wide = x.constant.type == Type::INT32;
        const bool is_unsigned = x.constant.type == Type::UINT8;
        x.quantisation = own_quantisation(l);
        if (is_wide)
            x.quantisation.zeros.assign(scale.reals.size(), 0);
        else if (!l.has_input(2) && !is_unsigned)
            x.quantisation.zeros.assign(scale.reals.size(), 0);
        if (is_unsigned) {
            for (int64_t &whole : x.constant.wholes)
                whole -= 128;
            x.constant.type = Type::INT8;
        }
    }
    l.give(x);
}

const LoweringRow lower_quantisation[] = {
    {"DequantizeLinear", lower_dequantise}, {"QuantizeLinear", lower_quantise}, {nullptr, nullptr}};

} // namespace glcnn
