/* Convolutions, transposed ones, products with constant matrices, and normalisations by kept statistics, which become
 * part of the convolution before them. */
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "tflite/lower.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;
using tflite::Padding;
using tflite::TensorType;

/* A window of an ONNX node: the first number is along rows, the second along columns. */
struct Window {
    int64_t size[2], stride[2], dilation[2], before[2], after[2], result[2];
};

/* Pixels in both margins that SAME has for a source of so many, along one axis. */
static int64_t same_margins(const Window &w, size_t i, int64_t pixels)
{
    const int64_t results = (pixels + w.stride[i] - 1) / w.stride[i];
    const int64_t reach = (w.size[i] - 1) * w.dilation[i] + 1;
    return std::max<int64_t>((results - 1) * w.stride[i] + reach - pixels, 0);
}

/* Reads attributes of ONNX, whose windows begin `before` pixels in front of a source of N,C,H,W. */
static Window window_of(const Lowering &l, const Shape &source, const std::vector<int64_t> &size)
{
    const std::vector<int64_t> stride = l.wholes("strides", {1, 1}),
                               dilation = l.wholes("dilations", {1, 1});
    std::vector<int64_t> pads = l.wholes("pads", {0, 0, 0, 0});
    const std::string automatic = l.text("auto_pad", "NOTSET");
    if (source.size() != 4 || size.size() != 2 || stride.size() != 2 || dilation.size() != 2 ||
        pads.size() != 4)
        l.refuse("its windows are not of rows and columns");
    if (l.whole("ceil_mode", 0))
        l.refuse("ceil_mode rounds up the size of its result");
    Window w;
    for (size_t i = 0; i < 2; i++) {
        w.size[i] = size[i];
        w.stride[i] = stride[i];
        w.dilation[i] = dilation[i];
        if (size[i] < 1 || stride[i] < 1 || dilation[i] < 1 || size[i] > 65535 ||
            stride[i] > 65535 || dilation[i] > 65535)
            l.refuse("its windows have no size, or one above 65535");
        const int64_t reach = (size[i] - 1) * dilation[i] + 1, pixels = source[2 + i];
        w.before[i] = pads[i];
        w.after[i] = pads[2 + i];
        if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
            const int64_t total = same_margins(w, i, pixels);
            w.before[i] = automatic == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
            w.after[i] = total - w.before[i];
        }
        if (w.before[i] < 0 || w.after[i] < 0 || w.before[i] > 65535 || w.after[i] > 65535)
            l.refuse("it has margins below 0 or above 65535");
        const int64_t free = pixels + w.before[i] + w.after[i] - reach;
        if (free < 0)
            l.refuse("its windows are larger than the source");
        w.result[i] = free / stride[i] + 1;
    }
    return w;
}

/* Are the margins those that SAME has for a source of so many pixels? */
static bool is_same(const Window &w, const Shape &source)
{
    for (size_t i = 0; i < 2; i++) {
        const int64_t pixels = source[2 + i];
        const int64_t results = (pixels + w.stride[i] - 1) / w.stride[i];
        if (w.result[i] != results || w.before[i] != same_margins(w, i, pixels) / 2)
            return false;
    }
    return true;
}

static bool has_margins(const Window &w)
{
    return w.before[0] || w.before[1] || w.after[0] || w.after[1];
}

static Value with_margins(Lowering &l, const Value &x, const Window &w, float number)
{
    return l.padded(x, {0, 0, w.before[0], w.before[1]}, {0, 0, w.after[0], w.after[1]}, number);
}

/* The source with its margins of that number where neither VALID nor SAME is what they are. */
static Value source_of(Lowering &l, const Value &x, const Window &w, float number, Padding &padding)
{
    padding = has_margins(w) && is_same(w, x.shape) ? Padding::SAME : Padding::VALID;
    return padding == Padding::SAME ? x : with_margins(l, x, w, number);
}

/* ---- Weights ---- */

/* The biases that input k has are put in a row, as operators want them; none: there is no such input. */
static std::optional<Value> biases_of(Lowering &l, size_t k, int64_t outputs)
{
    if (!l.has_input(k))
        return {};
    const Value &biases = l.input(k);
    if (!biases.is_constant || count_of(biases.shape) != outputs)
        l.refuse("its biases must be constants, one for each of " + std::to_string(outputs) +
                 " outputs");
    return biases.shape == Shape{outputs} ? biases : l.reshaped(biases, {outputs});
}

/* The biases as whole numbers of the products' scales. */
static int byte_biases(Lowering &l, const std::optional<Value> &biases, int64_t outputs,
                       float source_scale, const Quantisation &weights)
{
    Quantisation q;
    for (size_t k = 0; k < weights.scales.size(); k++) {
        q.scales.push_back(source_scale * weights.scales[k]);
        q.zeros.push_back(0);
    }
    std::vector<int64_t> wholes(size_t(outputs), 0);
    for (size_t i = 0; biases && i < wholes.size(); i++) {
        const Constant &c = biases->constant;
        const float scale = q.scales[q.scales.size() == 1 ? 0 : i];
        const double value =
            c.type == Type::FLOAT
                ? double(c.reals[i])
                : double(c.wholes[i]) *
                      double(biases->quantisation
                                 .scales[biases->quantisation.scales.size() == 1 ? 0 : i]);
        wholes[i] =
            int64_t(std::clamp(std::nearbyint(value / double(scale)), -2147483648.0, 2147483647.0));
    }
    return l.out.add_wholes(l.node->name + ".biases", {outputs}, wholes, TensorType::INT32, q);
}

static int biases_for(Lowering &l, const std::optional<Value> &biases, int64_t outputs,
                      const Value &x, int weights, const Numbers &numbers)
{
    if (numbers.are_bytes())
        return byte_biases(l, biases, outputs, l.numbers_of(x).result.scales[0],
                           l.out.quantisation(weights));
    if (!biases)
        return l.out.add_reals(l.node->name + ".biases", {outputs},
                               std::vector<float>(size_t(outputs), 0));
    return l.laid(*biases, {0}, {});
}

/* Bytes for products: each input quantised, weights around 0, with one scale or one for each output. */
static Numbers numbers_of_product(Lowering &l, const Value &x, const Value &weights,
                                  int32_t outputs_axis)
{
    const Quantisation &q = weights.quantisation;
    const bool is_centred =
        std::all_of(q.zeros.begin(), q.zeros.end(), [](int64_t zero) { return zero == 0; });
    if (q.is_none() || weights.constant.type != Type::INT8 || !is_centred ||
        (q.scales.size() > 1 && q.axis != outputs_axis))
        return {};
    return l.numbers_for({&x}, true);
}

/* ---- Convolutions ---- */

static Value convolve(Lowering &l, const Value &source, const Value &weights,
                      const std::optional<Value> &biases)
{
    const Shape &sizes = weights.shape;
    const Window w = window_of(l, source.shape, {sizes[2], sizes[3]});
    const int64_t outputs = sizes[0], channels = source.shape[1];
    const bool is_depthwise = sizes[1] == 1 && channels > 1;
    Padding padding;
    Numbers numbers = numbers_of_product(l, source, weights, 0);
    const Value x = source_of(l, source, w, 0, padding);
    const Order order = picture_order(4);
    const Order weight_order = is_depthwise ? Order{1, 2, 3, 0} : Order{0, 2, 3, 1};
    const int kernel = l.laid(weights, weight_order, numbers);
    const std::vector<int> operands = {l.laid(x, order, numbers), kernel,
                                       biases_for(l, biases, outputs, source, kernel, numbers)};
    const Shape shape = {source.shape[0], outputs, w.result[0], w.result[1]};
    if (is_depthwise) {
        tflite::DepthwiseConv2DOptionsT o;
        o.padding = padding;
        o.stride_h = int32_t(w.stride[0]);
        o.stride_w = int32_t(w.stride[1]);
        o.dilation_h_factor = int32_t(w.dilation[0]);
        o.dilation_w_factor = int32_t(w.dilation[1]);
        o.depth_multiplier = int32_t(outputs / channels);
        return l.make(Operation::DEPTHWISE_CONV_2D, options_of(o), operands, shape, order, numbers);
    }
    tflite::Conv2DOptionsT o;
    o.padding = padding;
    o.stride_h = int32_t(w.stride[0]);
    o.stride_w = int32_t(w.stride[1]);
    o.dilation_h_factor = int32_t(w.dilation[0]);
    o.dilation_w_factor = int32_t(w.dilation[1]);
    return l.make(Operation::CONV_2D, options_of(o), operands, shape, order, numbers);
}

/* Some outputs of weights or biases. */
static Value part_of(const Value &v, int64_t first, int64_t count)
{
    Value part = v;
    const int64_t each = count_of(v.shape) / v.shape[0];
    part.shape[0] = part.constant.shape[0] = count;
    if (v.constant.type == Type::FLOAT)
        part.constant.reals = {v.constant.reals.begin() + first * each,
                               v.constant.reals.begin() + (first + count) * each};
    else
        part.constant.wholes = {v.constant.wholes.begin() + first * each,
                                v.constant.wholes.begin() + (first + count) * each};
    if (v.quantisation.scales.size() > 1 && v.quantisation.axis == 0) {
        part.quantisation.scales = {v.quantisation.scales.begin() + first,
                                    v.quantisation.scales.begin() + first + count};
        part.quantisation.zeros = {v.quantisation.zeros.begin() + first,
                                   v.quantisation.zeros.begin() + first + count};
    }
    return part;
}

/* Interpreters differ in groups: each is a convolution of its own, in reals. */
static void lower_groups(Lowering &l, int64_t groups)
{
    const Value x = l.as_reals(l.input(0)), &weights = l.input(1);
    const std::optional<Value> biases = biases_of(l, 2, weights.shape[0]);
    const int64_t channels = x.shape[1] / groups, outputs = weights.shape[0] / groups;
    std::vector<int> parts;
    Shape shape;
    for (int64_t g = 0; g < groups; g++) {
        Shape size = x.shape;
        size[1] = channels;
        const Value part = l.cut(x, {0, g * channels, 0, 0}, size);
        std::optional<Value> bias;
        if (biases)
            bias = part_of(*biases, g * outputs, outputs);
        const Value y = convolve(l, part, part_of(weights, g * outputs, outputs), bias);
        parts.push_back(l.laid(y, picture_order(4), {}));
        shape = y.shape;
    }
    shape[1] *= groups;
    tflite::ConcatenationOptionsT options;
    options.axis = 3;
    l.give(
        l.make(Operation::CONCATENATION, options_of(options), parts, shape, picture_order(4), {}));
}

static void lower_conv(Lowering &l)
{
    const int64_t groups = l.whole("group", 1);
    const Value &x = l.input(0), &weights = l.input(1);
    if (x.shape.size() != 4 || weights.shape.size() != 4 || groups < 1 ||
        weights.shape[1] * groups != x.shape[1] || weights.shape[0] < 1 ||
        weights.shape[0] % groups)
        l.refuse("its weights do not fit to its source's channels");
    if (!weights.is_constant)
        l.refuse("its weights must be a constant of four axes");
    if (groups > 1 && weights.shape[1] > 1)
        lower_groups(l, groups);
    else
        l.give(convolve(l, x, weights, biases_of(l, 2, weights.shape[0])));
}

/* The result of whole windows, or of SAME, of which the margins are cut off otherwise. */
static void lower_transposed(Lowering &l)
{
    const Value &x = l.input(0), &weights = l.input(1);
    const Shape &sizes = weights.shape;
    const std::vector<int64_t> stride = l.wholes("strides", {1, 1}),
                               pads = l.wholes("pads", {0, 0, 0, 0}),
                               more = l.wholes("output_padding", {0, 0});
    if (x.shape.size() != 4 || !weights.is_constant || sizes.size() != 4 ||
        sizes[0] != x.shape[1] || l.whole("group", 1) != 1 || stride.size() != 2 ||
        pads.size() != 4 || more.size() != 2 ||
        l.wholes("dilations", {1, 1}) != std::vector<int64_t>{1, 1} ||
        l.node->attributes.count("output_shape"))
        l.refuse("groups, dilations and given shapes of results are not written");
    Shape whole = {x.shape[0], sizes[1], 0, 0}, result = whole;
    bool is_same = true;
    for (size_t i = 0; i < 2; i++) {
        whole[2 + i] = (x.shape[2 + i] - 1) * stride[i] + sizes[2 + i] + more[i];
        result[2 + i] = whole[2 + i] - pads[i] - pads[2 + i];
        if (stride[i] < 1 || pads[i] < 0 || pads[2 + i] < 0 || more[i] < 0 || result[2 + i] < 1)
            l.refuse("it has a stride below 1, margins below 0, or no result");
        const int64_t total =
            std::max<int64_t>((x.shape[2 + i] - 1) * stride[i] + sizes[2 + i] - result[2 + i], 0);
        is_same = is_same && (result[2 + i] + stride[i] - 1) / stride[i] == x.shape[2 + i] &&
                  pads[i] == total / 2;
    }
    Numbers numbers = is_same ? numbers_of_product(l, x, weights, 1) : Numbers{};
    const Order order = picture_order(4);
    const Shape &made = is_same ? result : whole;
    tflite::TransposeConvOptionsT o;
    o.padding = is_same ? Padding::SAME : Padding::VALID;
    o.stride_h = int32_t(stride[0]);
    o.stride_w = int32_t(stride[1]);
    const int kernel = l.laid(weights, {1, 2, 3, 0}, numbers);
    const std::vector<int> operands = {
        l.out.add_sizes({made[0], made[2], made[3], made[1]}), kernel, l.laid(x, order, numbers),
        biases_for(l, biases_of(l, 2, sizes[1]), sizes[1], x, kernel, numbers)};
    const Value y =
        l.make(Operation::TRANSPOSE_CONV, options_of(o), operands, made, order, numbers);
    l.give(l.cut(y, {0, 0, is_same ? 0 : pads[0], is_same ? 0 : pads[1]}, result));
}

/* ---- Products ---- */

static Value transposed(const Value &v)
{
    Value t = v;
    const int64_t rows = v.shape[0], columns = v.shape[1];
    t.shape = t.constant.shape = {columns, rows};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++) {
            if (v.constant.type == Type::FLOAT)
                t.constant.reals[size_t(k * rows + i)] = v.constant.reals[size_t(i * columns + k)];
            else
                t.constant.wholes[size_t(k * rows + i)] =
                    v.constant.wholes[size_t(i * columns + k)];
        }
    if (t.quantisation.scales.size() > 1)
        t.quantisation.axis = 1 - t.quantisation.axis;
    return t;
}

/* Weights of each output in a row. Scales by output want a convolution, which has had them for longer. */
static Value multiply(Lowering &l, const Value &x, const Value &weights,
                      const std::optional<Value> &biases)
{
    const int64_t outputs = weights.shape[0], inputs = weights.shape[1];
    Shape shape = x.shape;
    if (shape.empty() || shape.back() != inputs)
        l.refuse("its matrix has " + std::to_string(inputs) +
                 " rows, which do not fit to its source");
    const int64_t rows = count_of(shape) / std::max<int64_t>(inputs, 1);
    shape.back() = outputs;
    const Numbers numbers = numbers_of_product(l, x, weights, 0);
    if (numbers.are_bytes()) {
        const int kernel = l.laid(weights, {0, 1}, numbers);
        l.out.tensor(kernel).shape = {int32_t(outputs), 1, 1, int32_t(inputs)};
        const Value wide = l.reshaped(x, {1, rows, 1, inputs});
        const std::vector<int> operands = {l.laid(wide, plain_order(4), numbers), kernel,
                                           biases_for(l, biases, outputs, x, kernel, numbers)};
        tflite::Conv2DOptionsT o;
        o.padding = Padding::VALID;
        o.stride_h = o.stride_w = 1;
        const Value y = l.make(Operation::CONV_2D, options_of(o), operands, {1, rows, 1, outputs},
                               plain_order(4), numbers);
        return l.reshaped(y, shape);
    }
    const Value flat = x.shape.size() == 2 ? x : l.reshaped(x, {rows, inputs});
    const int kernel = l.laid(weights, {0, 1}, {});
    const std::vector<int> operands = {l.laid(flat, {0, 1}, {}), kernel,
                                       biases_for(l, biases, outputs, x, kernel, {})};
    const Value y = l.make(Operation::FULLY_CONNECTED, options_of(tflite::FullyConnectedOptionsT()),
                           operands, {rows, outputs}, {0, 1}, {});
    return x.shape.size() == 2 ? y : l.reshaped(y, shape);
}

static void lower_gemm(Lowering &l)
{
    const Value &x = l.input(0), &weights = l.input(1);
    if (weights.shape.size() != 2 || !weights.is_constant || x.shape.size() != 2)
        l.refuse("it multiplies by what is no constant matrix");
    if (l.real("alpha", 1) != 1 || (l.has_input(2) && l.real("beta", 1) != 1) ||
        l.whole("transA", 0))
        l.refuse("alpha, beta and transA are not written");
    const Value rows = l.whole("transB", 0) ? weights : transposed(weights);
    l.give(multiply(l, x, rows, biases_of(l, 2, rows.shape[0])));
}

/* The last two axes change places: nothing moves. */
static Value turned(const Value &v)
{
    const size_t rank = v.shape.size();
    Value t = v;
    std::swap(t.shape[rank - 2], t.shape[rank - 1]);
    for (int &axis : t.order)
        axis = axis + 2 == int(rank) ? axis + 1 : axis + 1 == int(rank) ? axis - 1 : axis;
    return t;
}

/* A constant matrix before what is computed multiplies it from behind, once both are turned. */
static void lower_matmul(Lowering &l)
{
    const Value &x = l.input(0), &y = l.input(1);
    if (x.is_constant && x.shape.size() == 2 && !y.is_constant && y.shape.size() >= 2) {
        l.give(turned(multiply(l, turned(y), x, {})));
        return;
    }
    if (y.shape.size() != 2 || !y.is_constant)
        l.refuse("it multiplies two values that are computed, or more matrices than one");
    l.give(multiply(l, x, transposed(y), {}));
}

/* ---- Normalisations by kept statistics ---- */

/* Scales the outputs of the convolution that made x, and adds to its biases, where nobody else reads those. */
static bool fold_into_convolution(Lowering &l, const Value &x, const std::vector<float> &scale,
                                  const std::vector<float> &shift)
{
    tflite::OperatorT *made = x.is_constant ? nullptr : l.out.producer(x.tensor);
    if (!made || !l.is_sole_reader(0) || l.has_bytes(x))
        return false;
    const auto *plain = made->builtin_options.AsConv2DOptions();
    const auto *depthwise = made->builtin_options.AsDepthwiseConv2DOptions();
    if (!(plain && plain->activation == Activation::NONE) &&
        !(depthwise && depthwise->activation == Activation::NONE))
        return false;
    std::vector<float> weights = l.out.reals(made->inputs[1]),
                       biases = l.out.reals(made->inputs[2]);
    const size_t outputs = scale.size();
    const size_t each = weights.size() / std::max<size_t>(outputs, 1);
    if (biases.size() != outputs || weights.size() != each * outputs)
        return false;
    for (size_t i = 0; i < weights.size(); i++)
        weights[i] *= scale[plain ? i / each : i % outputs];
    for (size_t k = 0; k < outputs; k++)
        biases[k] = biases[k] * scale[k] + shift[k];
    /* Each operator has constants of its own. */
    l.out.set_reals(made->inputs[1], weights);
    l.out.set_reals(made->inputs[2], biases);
    return true;
}

static void lower_batch_normalisation(Lowering &l)
{
    const Value &x = l.input(0);
    const std::vector<float> gamma = l.constant(1, "gamma").reals,
                             beta = l.constant(2, "beta").reals, mean = l.constant(3, "mean").reals,
                             variance = l.constant(4, "variance").reals;
    const float epsilon = l.real("epsilon", 1e-5f);
    const size_t channels = x.shape.size() > 1 ? size_t(x.shape[1]) : 0;
    if (gamma.size() != channels || beta.size() != channels || mean.size() != channels ||
        variance.size() != channels)
        l.refuse("its vectors must have a number for each channel");
    std::vector<float> scale(channels), shift(channels);
    for (size_t k = 0; k < channels; k++) {
        const double factor = double(gamma[k]) / std::sqrt(double(variance[k]) + double(epsilon));
        scale[k] = float(factor);
        shift[k] = float(double(beta[k]) - double(mean[k]) * factor);
    }
    if (fold_into_convolution(l, x, scale, shift))
        l.give(x);
    else {
        const Value y = l.binary(Operation::MUL, x, l.channels(scale, x.shape.size()));
        l.give(l.binary(Operation::ADD, y, l.channels(shift, x.shape.size())));
    }
}

const LoweringRow lower_convolution[] = {{"BatchNormalization", lower_batch_normalisation},
                                         {"Conv", lower_conv},
                                         {"ConvTranspose", lower_transposed},
                                         {"Gemm", lower_gemm},
                                         {"MatMul", lower_matmul},
                                         {nullptr, nullptr}};

/* ---- Pooling ---- */

static Value pool(Lowering &l, Operation operation, const Value &x, const Window &w,
                  Padding padding, const Numbers &numbers)
{
    tflite::Pool2DOptionsT o;
    o.padding = padding;
    o.stride_h = int32_t(w.stride[0]);
    o.stride_w = int32_t(w.stride[1]);
    o.filter_height = int32_t(w.size[0]);
    o.filter_width = int32_t(w.size[1]);
    const Order order = picture_order(4);
    return l.make(operation, options_of(o), {l.laid(x, order, numbers)},
                  {x.shape[0], x.shape[1], w.result[0], w.result[1]}, order, numbers);
}

static Window pool_window(const Lowering &l)
{
    const Window w = window_of(l, l.input(0).shape, l.wholes("kernel_shape", {}));
    if (w.dilation[0] != 1 || w.dilation[1] != 1)
        l.refuse("its windows are dilated");
    if (l.node->outputs.size() > 1)
        l.refuse("it gives the places of what it takes, too");
    return w;
}

/* Margins are less than all numbers. */
static void lower_max_pool(Lowering &l)
{
    const Value &x = l.input(0);
    const Window w = pool_window(l);
    Padding padding;
    const Value wide = source_of(l, x, w, -FLT_MAX, padding);
    l.give(pool(l, Operation::MAX_POOL_2D, wide, w, padding, l.numbers_of(x)));
}

/* How much larger than the window is the part of it that counts: 1 where all of it lies within the source. */
static Value parts_of_windows(Lowering &l, const Value &x, const Window &w)
{
    Value v;
    v.is_constant = true;
    v.shape = v.constant.shape = {1, 1, w.result[0], w.result[1]};
    auto count = [&](size_t i, int64_t at) {
        const int64_t first = at * w.stride[i] - w.before[i];
        return std::min(first + w.size[i], x.shape[2 + i]) - std::max<int64_t>(first, 0);
    };
    for (int64_t row = 0; row < w.result[0]; row++)
        for (int64_t column = 0; column < w.result[1]; column++) {
            const int64_t pixels = count(0, row) * count(1, column);
            if (count(0, row) <= 0 || count(1, column) <= 0)
                l.refuse("some of its windows have no pixel");
            v.constant.reals.push_back(float(w.size[0] * w.size[1]) / float(pixels));
        }
    return v;
}

static Value average(Lowering &l, const Value &x, const Window &w, bool counts_margins)
{
    if (!has_margins(w))
        return pool(l, Operation::AVERAGE_POOL_2D, x, w, Padding::VALID, l.numbers_of(x));
    if (!counts_margins && is_same(w, x.shape))
        return pool(l, Operation::AVERAGE_POOL_2D, x, w, Padding::SAME, l.numbers_of(x));
    const Value source = counts_margins ? x : l.as_reals(x);
    const Value wide = with_margins(l, source, w, 0);
    const Value y =
        pool(l, Operation::AVERAGE_POOL_2D, wide, w, Padding::VALID, l.numbers_of(source));
    return counts_margins ? y : l.binary(Operation::MUL, y, parts_of_windows(l, x, w));
}

static void lower_average_pool(Lowering &l)
{
    l.give(average(l, l.input(0), pool_window(l), l.whole("count_include_pad", 0) != 0));
}

/* The root of the sum of squares: of the mean, times the window's size. */
static void lower_lp_pool(Lowering &l)
{
    const Value x = l.as_reals(l.input(0));
    const Window w = pool_window(l);
    if (l.whole("p", 2) != 2)
        l.refuse("p is not 2");
    const Value mean = average(l, l.binary(Operation::MUL, x, x), w, true);
    const Value sum = l.binary(Operation::MUL, mean, l.number(float(w.size[0] * w.size[1])));
    l.give(l.unary(Operation::SQRT, sum));
}

/* ---- Reductions ---- */

static void reduce(Lowering &l, Operation operation, std::vector<int64_t> axes, bool keeps)
{
    const Value &x = l.input(0);
    const size_t rank = x.shape.size();
    std::vector<bool> is_reduced(rank, axes.empty());
    for (int64_t axis : axes)
        is_reduced[size_t(l.axis_of(axis, rank))] = true;
    const Order order = l.order_of(x);
    std::vector<int64_t> places;
    Shape kept = x.shape, shape;
    for (size_t i = 0; i < rank; i++) {
        if (is_reduced[size_t(order[i])])
            places.push_back(int64_t(i));
        if (is_reduced[i])
            kept[i] = 1;
        if (!is_reduced[i] || keeps)
            shape.push_back(kept[i]);
    }
    Numbers numbers = operation == Operation::MEAN ? l.numbers_for({&x}, false) : l.numbers_of(x);
    if (operation == Operation::SUM)
        numbers = {};
    tflite::ReducerOptionsT options;
    options.keep_dims = true;
    const int places_tensor = l.out.add_sizes(places);
    const Value y = l.make(operation, options_of(options),
                           {l.laid(x, order, numbers), places_tensor}, kept, order, numbers);
    l.give(shape == kept ? y : l.reshaped(y, shape));
}

template <Operation operation> static void lower_reduction(Lowering &l)
{
    reduce(l, operation, l.wholes_of(1, "axes", "its axes"), l.whole("keepdims", 1) != 0);
}

template <Operation operation> static void lower_global(Lowering &l)
{
    std::vector<int64_t> axes;
    for (size_t i = 2; i < l.input(0).shape.size(); i++)
        axes.push_back(int64_t(i));
    reduce(l, operation, axes, true);
}

const LoweringRow lower_pooling[] = {{"AveragePool", lower_average_pool},
                                     {"GlobalAveragePool", lower_global<Operation::MEAN>},
                                     {"GlobalMaxPool", lower_global<Operation::REDUCE_MAX>},
                                     {"LpPool", lower_lp_pool},
                                     {"MaxPool", lower_max_pool},
                                     {"ReduceMax", lower_reduction<Operation::REDUCE_MAX>},
                                     {"ReduceMean", lower_reduction<Operation::MEAN>},
                                     {"ReduceMin", lower_reduction<Operation::REDUCE_MIN>},
                                     {"ReduceSum", lower_reduction<Operation::SUM>},
                                     {nullptr, nullptr}};

} // namespace glcnn
