/* The walk over an ONNX model's nodes, and the tensors that they share. */
#include "tflite/lower.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "tflite/failure.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;
using tflite::TensorType;

Order plain_order(size_t rank)
{
    Order order;
    for (size_t i = 0; i < rank; i++)
        order.push_back(int(i));
    return order;
}

Order picture_order(size_t rank)
{
    return rank == 4 ? Order{0, 2, 3, 1} : plain_order(rank);
}

static Shape ordered(const Shape &shape, const Order &order)
{
    Shape sizes;
    for (int axis : order)
        sizes.push_back(shape[size_t(axis)]);
    return sizes;
}

/* The axes that have more than one number: two orders that agree in these lay numbers alike. */
static Order moving_axes(const Shape &shape, const Order &order)
{
    Order moving;
    for (int axis : order)
        if (shape[size_t(axis)] != 1)
            moving.push_back(axis);
    return moving;
}

/* ---- The node ---- */

Lowering::Lowering(const OnnxModel &model) : in(model)
{
}

void Lowering::refuse(const std::string &why) const
{
    fail_unsupported("node \"" + node->name + "\" (" + node->op + "): " + why);
}

bool Lowering::has_input(size_t k) const
{
    return k < node->inputs.size() && !node->inputs[k].empty();
}

const Value &Lowering::input(size_t k) const
{
    if (!has_input(k))
        fail_malformed("node \"" + node->name + "\" (" + node->op + ") lacks its input " +
                       std::to_string(k));
    const auto found = values.find(node->inputs[k]);
    if (found == values.end())
        fail_malformed("node \"" + node->name + "\" (" + node->op + ") reads \"" + node->inputs[k] +
                       "\", which nothing before it makes");
    return found->second;
}

const Constant &Lowering::constant(size_t k, const char *what) const
{
    const Value &value = input(k);
    if (!value.is_constant || !value.quantisation.is_none())
        refuse(std::string(what) + " must be constant: \"" + node->inputs[k] + "\" is computed");
    return value.constant;
}

std::vector<int64_t> Lowering::wholes_of(size_t k, const char *what) const
{
    const Constant &c = constant(k, what);
    if (c.type == Type::FLOAT)
        refuse(std::string(what) + " must be whole numbers");
    return c.wholes;
}

float Lowering::real_of(size_t k, const char *what) const
{
    const Constant &c = constant(k, what);
    if (c.reals.size() != 1)
        refuse(std::string(what) + " must be one real number");
    return c.reals[0];
}

int64_t Lowering::whole(const char *name, int64_t usual) const
{
    const auto found = node->attributes.find(name);
    return found == node->attributes.end() ? usual : found->second.whole;
}

float Lowering::real(const char *name, float usual) const
{
    const auto found = node->attributes.find(name);
    return found == node->attributes.end() ? usual : found->second.real;
}

std::string Lowering::text(const char *name, const char *usual) const
{
    const auto found = node->attributes.find(name);
    return found == node->attributes.end() ? usual : found->second.text;
}

std::vector<int64_t> Lowering::wholes(const char *name, const std::vector<int64_t> &usual) const
{
    const auto found = node->attributes.find(name);
    return found == node->attributes.end() ? usual : found->second.wholes;
}

std::vector<float> Lowering::reals(const char *name, const std::vector<float> &usual) const
{
    const auto found = node->attributes.find(name);
    return found == node->attributes.end() ? usual : found->second.reals;
}

std::vector<int64_t> Lowering::wholes_of(size_t k, const char *name, const char *what) const
{
    return has_input(k) ? wholes_of(k, what) : wholes(name, {});
}

int64_t Lowering::axis_of(int64_t axis, size_t rank) const
{
    const int64_t from_front = axis < 0 ? axis + int64_t(rank) : axis;
    if (from_front < 0 || from_front >= int64_t(rank))
        refuse("axis " + std::to_string(axis) + " of " + std::to_string(rank) + " axes");
    return from_front;
}

std::string Lowering::result_name() const
{
    return node->outputs.empty() || node->outputs[0].empty() ? node->name : node->outputs[0];
}

void Lowering::give(Value value, size_t k)
{
    if (k >= node->outputs.size() || node->outputs[k].empty())
        return;
    if (!value.is_constant)
        names[value.tensor].push_back(node->outputs[k]);
    values[node->outputs[k]] = std::move(value);
}

/* ---- Numbers ---- */

bool Lowering::has_bytes(const Value &value) const
{
    if (value.is_constant)
        return !value.quantisation.is_none();
    return !out.quantisation(value.tensor).is_none();
}

static bool is_rectifier(const Node &node)
{
    return node.op == "Relu" || node.op == "Clip";
}

/* The scale of the QuantizeLinear that alone reads the node's result. */
std::optional<Quantisation> Lowering::target(const Node &from, bool fuses) const
{
    const Node *at = &from;
    for (int passed = 0; passed < 2 && !at->outputs.empty(); passed++) {
        const auto found = readers.find(at->outputs[0]);
        if (results.count(at->outputs[0]) || found == readers.end() || found->second.size() != 1)
            return {};
        at = found->second[0];
        if (at->op == "QuantizeLinear") {
            const auto scale = at->inputs.size() > 1 ? values.find(at->inputs[1]) : values.end();
            const auto zero = at->inputs.size() > 2 ? values.find(at->inputs[2]) : values.end();
            if (scale == values.end() || !scale->second.is_constant ||
                scale->second.constant.reals.size() != 1)
                return {};
            return quantisation_of(*this, scale->second.constant,
                                   zero == values.end() ? nullptr : &zero->second.constant, 0);
        }
        if (!fuses || !is_rectifier(*at))
            return {};
    }
    return {};
}

Numbers Lowering::numbers_for(const std::vector<const Value *> &operands, bool fuses) const
{
    for (const Value *value : operands)
        if (!value->is_constant && !has_bytes(*value))
            return {};
    const std::optional<Quantisation> wanted = target(*node, fuses);
    return wanted ? Numbers{*wanted} : Numbers{};
}

Numbers Lowering::numbers_of(const Value &value) const
{
    if (value.is_constant)
        return {};
    return {out.quantisation(value.tensor)};
}

Order Lowering::order_of(const Value &value) const
{
    return value.is_constant ? picture_order(value.shape.size()) : value.order;
}

/* ---- Tensors ---- */

/* The numbers of a row-major array in another order of its axes. */
template <typename T>
static std::vector<T> permuted(const std::vector<T> &values, const Shape &shape, const Order &order)
{
    const size_t rank = shape.size();
    std::vector<size_t> stride(rank, 1), at(rank, 0);
    for (size_t i = rank; i-- > 1;)
        stride[i - 1] = stride[i] * size_t(shape[i]);
    std::vector<T> to;
    to.reserve(values.size());
    for (size_t n = 0; n < values.size(); n++) {
        size_t from = 0;
        for (size_t i = 0; i < rank; i++)
            from += at[i] * stride[size_t(order[i])];
        to.push_back(values[from]);
        for (size_t i = rank; i-- > 0;) {
            if (++at[i] < size_t(shape[size_t(order[i])]))
                break;
            at[i] = 0;
        }
    }
    return to;
}

static float real_at(const Value &value, size_t i)
{
    const Constant &c = value.constant;
    if (c.type == Type::FLOAT)
        return c.reals[i];
    const Quantisation &q = value.quantisation;
    if (q.is_none())
        return float(c.wholes[i]);
    size_t after = 1;
    for (size_t axis = size_t(q.axis) + 1; axis < c.shape.size(); axis++)
        after *= size_t(c.shape[axis]);
    const size_t k = q.scales.size() == 1 ? 0 : i / after % q.scales.size();
    return q.scales[k] * float(c.wholes[i] - q.zeros[k]);
}

static std::vector<float> reals_of(const Value &value)
{
    if (value.constant.type == Type::FLOAT)
        return value.constant.reals;
    std::vector<float> reals(value.constant.wholes.size());
    for (size_t i = 0; i < reals.size(); i++)
        reals[i] = real_at(value, i);
    return reals;
}

/* Bytes that hold 0 and all of the numbers. */
static Quantisation range_of(const std::vector<float> &values)
{
    float least = 0, most = 0;
    for (float value : values) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    const float scale = most > least ? (most - least) / 255 : 1;
    return {{scale}, {-128 - std::llround(least / scale)}, 0};
}

static std::vector<int64_t> quantised(const std::vector<float> &values, const Quantisation &q)
{
    std::vector<int64_t> wholes;
    for (float value : values)
        wholes.push_back(std::clamp<int64_t>(
            int64_t(std::nearbyint(value / q.scales[0])) + q.zeros[0], -128, 127));
    return wholes;
}

int Lowering::constant_tensor(const Value &value, const Order &order, const Numbers &numbers)
{
    const Shape shape = ordered(value.shape, order);
    const std::string name = result_name() + ".constant";
    if (!numbers.are_bytes())
        return out.add_reals(name, shape, permuted(reals_of(value), value.shape, order));
    Quantisation q = value.quantisation;
    std::vector<int64_t> wholes = value.constant.wholes;
    if (q.is_none() || value.constant.type != Type::INT8) {
        q = range_of(reals_of(value));
        wholes = quantised(reals_of(value), q);
    }
    if (q.scales.size() > 1)
        q.axis = int32_t(std::find(order.begin(), order.end(), q.axis) - order.begin());
    return out.add_wholes(name, shape, permuted(wholes, value.shape, order), TensorType::INT8, q);
}

Value Lowering::as_reals(const Value &x)
{
    if (x.is_constant || !has_bytes(x))
        return x;
    const auto found = real_tensors.find(x.tensor);
    Value y = x;
    if (found != real_tensors.end()) {
        y.tensor = found->second;
        return y;
    }
    y = make(Operation::DEQUANTIZE, {}, {x.tensor}, x.shape, x.order, {});
    real_tensors[x.tensor] = y.tensor;
    return y;
}

Value Lowering::requantised(const Value &x, const Quantisation &quantisation)
{
    if (!x.is_constant && out.quantisation(x.tensor) == quantisation)
        return x;
    const Order order = order_of(x);
    const int tensor = x.is_constant ? constant_tensor(x, order, {}) : x.tensor;
    return make(Operation::QUANTIZE, {}, {tensor}, x.shape, order, {quantisation});
}

int Lowering::laid(const Value &value, const Order &order, const Numbers &numbers)
{
    if (value.is_constant)
        return constant_tensor(value, order, numbers);
    const Value x = numbers.are_bytes() ? value : as_reals(value);
    if (x.order == order)
        return x.tensor;
    const auto found = moved.find({x.tensor, order});
    if (found != moved.end())
        return found->second;
    Value y;
    if (moving_axes(x.shape, x.order) == moving_axes(x.shape, order))
        y = make_reshape(x.tensor, x.shape, order, numbers_of(x));
    else {
        std::vector<int64_t> places;
        for (int axis : order)
            places.push_back(std::find(x.order.begin(), x.order.end(), axis) - x.order.begin());
        y = make(Operation::TRANSPOSE, {}, {x.tensor, out.add_sizes(places)}, x.shape, order,
                 numbers_of(x));
    }
    moved[{x.tensor, order}] = y.tensor;
    return y.tensor;
}

/* ---- Making ---- */

Value Lowering::number(float value) const
{
    Value v;
    v.is_constant = true;
    v.constant.reals = {value};
    return v;
}

Value Lowering::channels(const std::vector<float> &numbers, size_t rank) const
{
    Value v;
    v.is_constant = true;
    v.constant.reals = numbers;
    v.shape.assign(rank, 1);
    if (rank > 1)
        v.shape[1] = int64_t(numbers.size());
    else
        v.shape = {int64_t(numbers.size())};
    v.constant.shape = v.shape;
    return v;
}

Value Lowering::make(Operation operation, Options options, const std::vector<int> &operands,
                     const Shape &shape, const Order &order, const Numbers &numbers)
{
    count_of(shape);
    Value v;
    v.shape = shape;
    v.order = order;
    const TensorType type = numbers.are_bytes() ? TensorType::INT8 : TensorType::FLOAT32;
    v.tensor = out.add_tensor(result_name(), ordered(shape, order), type, numbers.result);
    out.add_operator(operation, std::move(options), operands, {v.tensor});
    return v;
}

/* Scales that interpreters want of what is within 0 .. 1, or -1 .. 1. */
static Quantisation fixed_scale(Operation operation)
{
    if (operation == Operation::TANH)
        return {{1.0f / 128}, {0}, 0};
    if (operation == Operation::LOGISTIC || operation == Operation::SOFTMAX)
        return {{1.0f / 256}, {-128}, 0};
    return {};
}

/* Has the operator a form for bytes, of a scale of its own for the result? */
static bool takes_bytes(Operation operation)
{
    static const Operation those[] = {
        Operation::RELU,    Operation::RELU6,      Operation::LOGISTIC,   Operation::TANH,
        Operation::SOFTMAX, Operation::HARD_SWISH, Operation::LEAKY_RELU, Operation::ADD,
        Operation::SUB,     Operation::MUL};
    return std::find(std::begin(those), std::end(those), operation) != std::end(those);
}

Value Lowering::unary(Operation operation, const Value &x, Options options)
{
    Numbers numbers = takes_bytes(operation) ? numbers_for({&x}, false) : Numbers{};
    const Quantisation fixed = fixed_scale(operation);
    if (numbers.are_bytes() && !fixed.is_none())
        numbers.result = fixed;
    Order order = order_of(x);
    return make(operation, std::move(options), {laid(x, order, numbers)}, x.shape, order, numbers);
}

static Shape broadcast(const Lowering &l, const Shape &a, const Shape &b)
{
    const size_t rank = std::max(a.size(), b.size());
    Shape shape(rank, 1);
    for (size_t i = 0; i < rank; i++) {
        const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            l.refuse("its inputs have sizes that do not fit together");
        shape[rank - 1 - i] = x == 1 ? y : x;
    }
    return shape;
}

static Options arithmetic_options(Operation operation)
{
    switch (operation) {
    case Operation::ADD:
        return options_of(tflite::AddOptionsT());
    case Operation::SUB:
        return options_of(tflite::SubOptionsT());
    case Operation::MUL:
        return options_of(tflite::MulOptionsT());
    case Operation::DIV:
        return options_of(tflite::DivOptionsT());
    default:
        return {};
    }
}

Value Lowering::binary(Operation operation, const Value &x, const Value &y)
{
    const Shape shape = broadcast(*this, x.shape, y.shape);
    const size_t rank = shape.size();
    const Value *leads = !x.is_constant && x.shape.size() == rank ? &x : &y;
    const Order order = leads->shape.size() == rank ? order_of(*leads) : picture_order(rank);
    const Numbers numbers = takes_bytes(operation) ? numbers_for({&x, &y}, true) : Numbers{};
    std::vector<int> operands;
    for (const Value *value : {&x, &y}) {
        Shape wide = value->shape;
        wide.insert(wide.begin(), rank - wide.size(), 1);
        const Value aligned = value->shape.size() < rank ? reshaped(*value, wide) : *value;
        operands.push_back(laid(aligned, order, numbers));
    }
    return make(operation, arithmetic_options(operation), operands, shape, order, numbers);
}

Value Lowering::reshaped(const Value &x, const Shape &shape)
{
    Value y = x;
    y.shape = shape;
    if (x.is_constant) {
        if (y.quantisation.scales.size() > 1)
            y = {shape, -1, {}, true, {Type::FLOAT, shape, reals_of(x), {}}, {}};
        y.constant.shape = shape;
        return y;
    }
    const Numbers numbers = numbers_of(x);
    Order from = moving_axes(x.shape, x.order) == moving_axes(x.shape, plain_order(x.shape.size()))
                     ? x.order
                     : plain_order(x.shape.size());
    const int tensor = laid(x, from, numbers);
    /* What lies as N,H,W,C of one channel or pixel may stay so. */
    Order order = picture_order(shape.size());
    if (moving_axes(shape, order) != moving_axes(shape, plain_order(shape.size())))
        order = plain_order(shape.size());
    return make_reshape(tensor, shape, order, numbers);
}

Value Lowering::make_reshape(int tensor, const Shape &shape, const Order &order,
                             const Numbers &numbers)
{
    const Shape sizes = ordered(shape, order);
    tflite::ReshapeOptionsT options;
    options.new_shape.assign(sizes.begin(), sizes.end());
    return make(Operation::RESHAPE, options_of(options), {tensor, out.add_sizes(sizes)}, shape,
                order, numbers);
}

static bool is_all(const std::vector<int64_t> &values, int64_t value)
{
    return std::all_of(values.begin(), values.end(), [value](int64_t v) { return v == value; });
}

Value Lowering::padded(const Value &x, const std::vector<int64_t> &before,
                       const std::vector<int64_t> &after, float number)
{
    if (is_all(before, 0) && is_all(after, 0))
        return x;
    Shape shape = x.shape;
    const Order order = order_of(x);
    std::vector<int64_t> margins;
    for (int axis : order) {
        margins.push_back(before[size_t(axis)]);
        margins.push_back(after[size_t(axis)]);
        shape[size_t(axis)] += margins.end()[-1] + margins.end()[-2];
        if (margins.end()[-1] < 0 || margins.end()[-2] < 0)
            refuse("it has margins below 0");
    }
    const Numbers numbers = numbers_of(x);
    std::vector<int> operands = {laid(x, order, numbers),
                                 out.add_wholes(result_name() + ".margins",
                                                {int64_t(order.size()), 2}, margins,
                                                TensorType::INT32)};
    if (number == 0)
        return make(Operation::PAD, {}, operands, shape, order, numbers);
    if (numbers.are_bytes()) {
        const Quantisation &q = numbers.result;
        operands.push_back(out.add_wholes(
            result_name() + ".margin", {1},
            {std::clamp<int64_t>(int64_t(std::max(number / q.scales[0], -1e6f)) + q.zeros[0], -128,
                                 127)},
            TensorType::INT8, q));
    } else
        operands.push_back(out.add_reals(result_name() + ".margin", {1}, {number}));
    return make(Operation::PADV2, {}, operands, shape, order, numbers);
}

Value Lowering::cut(const Value &x, const std::vector<int64_t> &begin, const Shape &shape)
{
    if (shape == x.shape)
        return x;
    const Order order = order_of(x);
    const Numbers numbers = numbers_of(x);
    return make(Operation::SLICE, {},
                {laid(x, order, numbers), out.add_sizes(ordered(begin, order)),
                 out.add_sizes(ordered(shape, order))},
                shape, order, numbers);
}

Value Lowering::gathered(const Value &x, size_t axis, const std::vector<int64_t> &places)
{
    const Order order = order_of(x);
    const Numbers numbers = numbers_of(x);
    Shape shape = x.shape;
    shape[axis] = int64_t(places.size());
    tflite::GatherOptionsT options;
    options.axis = int32_t(std::find(order.begin(), order.end(), int(axis)) - order.begin());
    return make(Operation::GATHER, options_of(options),
                {laid(x, order, numbers), out.add_sizes(places)}, shape, order, numbers);
}

/* ---- Rectifiers within operators ---- */

/* A tensor is that of several values where nodes change no number. */
bool Lowering::is_sole_reader(size_t k) const
{
    const auto tensor_names = names.find(input(k).tensor);
    if (tensor_names == names.end())
        return false;
    for (const std::string &name : tensor_names->second) {
        const auto found = readers.find(name);
        if (found == readers.end() || found->second.size() != 1 || results.count(name))
            return false;
    }
    return true;
}

static Activation *activation_of(Options &options)
{
    if (auto *o = options.AsConv2DOptions())
        return &o->activation;
    if (auto *o = options.AsDepthwiseConv2DOptions())
        return &o->activation;
    if (auto *o = options.AsPool2DOptions())
        return &o->activation;
    if (auto *o = options.AsFullyConnectedOptions())
        return &o->activation;
    if (auto *o = options.AsAddOptions())
        return &o->activation;
    if (auto *o = options.AsSubOptions())
        return &o->activation;
    if (auto *o = options.AsMulOptions())
        return &o->activation;
    return nullptr;
}

bool Lowering::fuse(const Value &x, Activation activation)
{
    tflite::OperatorT *made = x.is_constant ? nullptr : out.producer(x.tensor);
    Activation *own = made ? activation_of(made->builtin_options) : nullptr;
    if (!own || *own != Activation::NONE || !is_sole_reader(0))
        return false;
    *own = activation;
    return true;
}

/* ---- The graph ---- */

static const LoweringRow *find_row(const std::string &op)
{
    static const LoweringRow *const families[] = {
        lower_arithmetic, lower_convolution, lower_neurons,     lower_pooling,
        lower_shaping,    lower_resizing,    lower_quantisation};
    for (const LoweringRow *row : families)
        for (; row->op; row++)
            if (op == row->op)
                return row;
    return nullptr;
}

void Lowering::find_readers()
{
    for (const Port &port : in.outputs)
        results.insert(port.name);
    for (const Node &each : in.nodes)
        for (const std::string &name : each.inputs)
            readers[name].push_back(&each);
}

/* Does a Transpose to N,C,H,W come first, after nothing but arithmetic with constants? */
bool Lowering::is_channels_last() const
{
    if (in.inputs.empty())
        return false;
    std::string name = in.inputs[0].name;
    for (size_t steps = 0; steps <= in.nodes.size(); steps++) {
        const auto found = readers.find(name);
        if (found == readers.end() || found->second.size() != 1 ||
            found->second[0]->outputs.empty())
            return false;
        const Node &reader = *found->second[0];
        if (reader.op == "Transpose") {
            const auto perm = reader.attributes.find("perm");
            return perm != reader.attributes.end() &&
                   perm->second.wholes == std::vector<int64_t>{0, 3, 1, 2};
        }
        if (reader.op != "Add" && reader.op != "Sub" && reader.op != "Mul" && reader.op != "Div")
            return false;
        name = reader.outputs[0];
    }
    return false;
}

void Lowering::add_input(const Port &port, bool is_last)
{
    Value v;
    v.shape = port.shape;
    for (size_t i = 0; i < v.shape.size(); i++)
        if (v.shape[i] < 0) {
            if (i > 0)
                fail_unsupported("input \"" + port.name + "\" leaves the size of axis " +
                                 std::to_string(i) + " open; a .tflite file has fixed sizes");
            v.shape[i] = 1;
        }
    v.order = is_last ? plain_order(v.shape.size()) : picture_order(v.shape.size());
    Node reads;
    reads.name = port.name;
    reads.op = "input";
    reads.outputs = {port.name};
    node = &reads;
    const std::optional<Quantisation> wanted = target(reads, false);
    if (port.type != Type::FLOAT && port.type != Type::UINT8)
        fail_unsupported("input \"" + port.name + "\" is neither of float32 nor of bytes");
    const TensorType type = wanted                     ? TensorType::INT8
                            : port.type == Type::UINT8 ? TensorType::UINT8
                                                       : TensorType::FLOAT32;
    v.tensor = out.add_tensor(port.name, ordered(v.shape, v.order), type,
                              wanted ? *wanted : Quantisation{});
    out.inputs.push_back(v.tensor);
    values[port.name] = v;
    node = nullptr;
}

void Lowering::add_output(const Port &port, bool is_last)
{
    const auto found = values.find(port.name);
    if (found == values.end())
        fail_malformed("no node makes the output \"" + port.name + "\"");
    Node writes;
    writes.name = port.name;
    writes.op = "output";
    writes.outputs = {port.name};
    node = &writes;
    const Value &v = found->second;
    const size_t rank = v.shape.size();
    const Order order = is_last ? plain_order(rank) : picture_order(rank);
    int tensor = laid(v, order, numbers_of(v));
    auto is_taken = [tensor](const std::vector<int32_t> &list) {
        return std::find(list.begin(), list.end(), tensor) != list.end();
    };
    if (out.is_constant(tensor) || is_taken(out.inputs) || is_taken(out.outputs))
        tensor = make_reshape(tensor, v.shape, order, numbers_of(v)).tensor;
    out.rename(tensor, port.name);
    out.outputs.push_back(tensor);
    node = nullptr;
}

void Lowering::lower_node()
{
    if (fold_constants(*this))
        return;
    const LoweringRow *row = find_row(node->op);
    if (!row)
        refuse("no operator of .tflite files is known for it");
    row->lower(*this);
}

/* A tensor has the name of the last value that it is: what a rectifier within its operator, or a pair of QuantizeLinear
 * and DequantizeLinear, makes of it. */
void Lowering::name_tensors()
{
    for (const auto &[tensor, of_values] : names)
        if (std::find(out.inputs.begin(), out.inputs.end(), tensor) == out.inputs.end())
            out.suggest_name(tensor, of_values.back());
}

std::vector<uint8_t> Lowering::run()
{
    find_readers();
    for (const auto &[name, constant] : in.initialisers) {
        Value v;
        v.shape = constant.shape;
        v.is_constant = true;
        v.constant = constant;
        values[name] = std::move(v);
    }
    const bool is_last = is_channels_last();
    for (const Port &port : in.inputs)
        add_input(port, is_last);
    for (const Node &each : in.nodes) {
        node = &each;
        lower_node();
    }
    name_tensors();
    for (const Port &port : in.outputs)
        add_output(port, is_last);
    for (const auto &[key, text] : in.metadata)
        out.add_metadata(key, text);
    return out.finish();
}

} // namespace glcnn
