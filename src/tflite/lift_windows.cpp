/* Convolutions, fully connected layers and pooling. */
#include <algorithm>
#include <cstring>

#include "tflite/lifting.h"

namespace glcnn
{

using tflite::Activation;
using tflite::Operation;
using tflite::Padding;

enum { MOST_SIDE = 65535 };

/* A window of a .tflite operator: the first number is along rows, the second along columns. */
struct Walk {
    int64_t size[2], stride[2], dilation[2];
    Padding padding;
};

static std::vector<int64_t> both(const int64_t values[2])
{
    return {values[0], values[1]};
}

static void check_walk(const Lifting &l, const Walk &w)
{
    for (size_t i = 0; i < 2; i++)
        if (w.size[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 || w.size[i] > MOST_SIDE ||
            w.stride[i] > MOST_SIDE || w.dilation[i] > MOST_SIDE)
            l.damaged("its windows have a size, stride or dilation that is not in 1 .. 65535");
    if (w.padding != Padding::SAME && w.padding != Padding::VALID)
        l.damaged("its padding is neither SAME nor VALID");
}

/* The margins of SAME for a source of so many rows and columns: the odd one comes behind. */
static std::vector<int64_t> pads_of(const Walk &w, const Shape &source)
{
    std::vector<int64_t> pads(4, 0);
    for (size_t i = 0; i < 2 && w.padding == Padding::SAME; i++) {
        const int64_t pixels = source[1 + i], results = (pixels + w.stride[i] - 1) / w.stride[i];
        const int64_t reach = (w.size[i] - 1) * w.dilation[i] + 1;
        const int64_t total = std::max<int64_t>((results - 1) * w.stride[i] + reach - pixels, 0);
        pads[i] = total / 2;
        pads[2 + i] = total - total / 2;
    }
    return pads;
}

static std::map<std::string, Attribute> attributes_of(const Walk &w, const Shape &source)
{
    return {{"kernel_shape", wholes_attribute(both(w.size))},
            {"strides", wholes_attribute(both(w.stride))},
            {"pads", wholes_attribute(pads_of(w, source))}};
}

static int picture_input(const Lifting &l, size_t k)
{
    const int x = l.input(k);
    if (l.rank(x) != 4)
        l.damaged("its source has not four axes");
    return x;
}

/* Numbers of a constant by what axis each of ONNX's axes is in the file. */
static std::vector<float> moved(const std::vector<float> &values, const Shape &s,
                                const int order[4])
{
    int64_t stride[4] = {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
    std::vector<float> to;
    to.reserve(values.size());
    for (int64_t a = 0; a < s[size_t(order[0])]; a++)
        for (int64_t b = 0; b < s[size_t(order[1])]; b++)
            for (int64_t c = 0; c < s[size_t(order[2])]; c++)
                for (int64_t d = 0; d < s[size_t(order[3])]; d++)
                    to.push_back(values[size_t(a * stride[order[0]] + b * stride[order[1]] +
                                               c * stride[order[2]] + d * stride[order[3]])]);
    return to;
}

static std::string weights_of(Lifting &l, int tensor, const char *form, const int order[4])
{
    const Shape s = l.shape(tensor);
    if (s.size() != 4)
        l.damaged("its weights have not four axes");
    if (!l.is_constant(tensor))
        l.refuse("its weights are computed");
    Shape sizes;
    for (size_t i = 0; i < 4; i++)
        sizes.push_back(s[size_t(order[i])]);
    return l.initialiser(tensor, form, sizes, moved(l.reals(tensor), s, order));
}

/* An input of biases that may be missing. */
static void add_biases(Lifting &l, std::vector<std::string> &inputs, size_t k, int64_t outputs)
{
    if (!l.has_input(k))
        return;
    const int tensor = l.input(k);
    if (count_of(l.shape(tensor)) != outputs)
        l.damaged("it has " + std::to_string(count_of(l.shape(tensor))) + " biases for " +
                  std::to_string(outputs) + " outputs");
    inputs.push_back(l.initialiser(tensor, "biases", {outputs}, l.reals(tensor)));
}

/* ---- Convolutions ---- */

template <typename Table> static Walk walk_of(const Table &o, int64_t rows, int64_t columns)
{
    return {{rows, columns},
            {o.stride_h(), o.stride_w()},
            {o.dilation_h_factor(), o.dilation_w_factor()},
            o.padding()};
}

static void convolve(Lifting &l, const Walk &w, const std::string &weights, int64_t outputs,
                     int64_t groups, Activation activation)
{
    const int x = picture_input(l, 0);
    check_walk(l, w);
    std::vector<std::string> inputs = {l.picture(x), weights};
    add_biases(l, inputs, 2, outputs);
    auto attributes = attributes_of(w, l.shape(x));
    attributes["dilations"] = wholes_attribute(both(w.dilation));
    attributes["group"] = whole_attribute(groups);
    l.give_picture(l.activated(l.add("Conv", inputs, attributes), activation));
}

static void lift_convolution(Lifting &l)
{
    static const int order[] = {0, 3, 1, 2};
    const auto *o = l.made->builtin_options_as_Conv2DOptions();
    const int x = picture_input(l, 0), tensor = l.input(1);
    if (!o)
        l.damaged("it has no options");
    const std::string weights = weights_of(l, tensor, "weights", order);
    const Shape &s = l.shape(tensor);
    const int64_t channels = l.shape(x)[3];
    if (s[3] < 1 || channels % s[3])
        l.damaged("its weights are of " + std::to_string(s[3]) + " channels, its source of " +
                  std::to_string(channels));
    convolve(l, walk_of(*o, s[1], s[2]), weights, s[0], channels / s[3], o->activation());
}

static void lift_depthwise(Lifting &l)
{
    static const int order[] = {3, 0, 1, 2};
    const auto *o = l.made->builtin_options_as_DepthwiseConv2DOptions();
    const int x = picture_input(l, 0), tensor = l.input(1);
    if (!o)
        l.damaged("it has no options");
    const std::string weights = weights_of(l, tensor, "depthwise", order);
    const Shape &s = l.shape(tensor);
    const int64_t channels = l.shape(x)[3];
    if (s[0] != 1 || channels < 1 || s[3] % channels)
        l.damaged("its weights are of " + std::to_string(s[3]) + " channels, its source of " +
                  std::to_string(channels));
    convolve(l, walk_of(*o, s[1], s[2]), weights, s[3], channels, o->activation());
}

/* The result of a transposed one is what a convolution with the same margins would make the source of. */
static void transpose_convolution(Lifting &l, int x, int tensor, size_t biases, Walk w,
                                  Activation activation)
{
    static const int order[] = {3, 0, 1, 2};
    const std::string weights = weights_of(l, tensor, "transposed", order);
    const Shape &s = l.shape(tensor), &source = l.shape(x), &result = l.shape(l.output());
    w.size[0] = s[1];
    w.size[1] = s[2];
    check_walk(l, w);
    if (result.size() != 4 || source.size() != 4 || s[3] != source[3] || s[0] != result[3])
        l.damaged("its weights do not fit to its source and result");
    std::vector<int64_t> pads(4, 0), more(2, 0);
    for (size_t i = 0; i < 2; i++) {
        const int64_t whole = (source[1 + i] - 1) * w.stride[i] + w.size[i];
        const int64_t total = std::max<int64_t>(whole - result[1 + i], 0);
        pads[i] = w.padding == Padding::SAME ? total / 2 : 0;
        pads[2 + i] = total - pads[i];
        more[i] = std::max<int64_t>(result[1 + i] - whole, 0);
    }
    std::vector<std::string> inputs = {l.picture(x), weights};
    add_biases(l, inputs, biases, s[0]);
    const std::string y = l.add("ConvTranspose", inputs,
                                {{"kernel_shape", wholes_attribute(both(w.size))},
                                 {"strides", wholes_attribute(both(w.stride))},
                                 {"pads", wholes_attribute(pads)},
                                 {"output_padding", wholes_attribute(more)}});
    l.give_picture(l.activated(y, activation));
}

static void lift_transposed(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_TransposeConvOptions();
    if (!o)
        l.damaged("it has no options");
    const Walk w = {{1, 1}, {o->stride_h(), o->stride_w()}, {1, 1}, o->padding()};
    transpose_convolution(l, picture_input(l, 2), l.input(1), 3, w, o->activation());
}

/* Its options are three int32: padding, 1 for SAME and 2 for VALID, and strides. */
void lift_transposed_bias(Lifting &l)
{
    int32_t numbers[3];
    const auto *options = l.made->custom_options();
    if (!options || options->size() < sizeof numbers)
        l.damaged("its options are cut off");
    std::memcpy(numbers, options->data(), sizeof numbers);
    const Walk w = {
        {1, 1}, {numbers[2], numbers[1]}, {1, 1}, numbers[0] == 1 ? Padding::SAME : Padding::VALID};
    transpose_convolution(l, picture_input(l, 0), l.input(1), 2, w, Activation::NONE);
}

/* ---- Fully connected ---- */

static void lift_connected(Lifting &l)
{
    const auto *o = l.made->builtin_options_as_FullyConnectedOptions();
    const int x = l.input(0), tensor = l.input(1);
    const Shape s = l.shape(tensor);
    if (s.size() != 2 || s[1] < 1 || (o && o->weights_format() != 0))
        l.damaged("its weights are no matrix, or shuffled");
    if (!l.is_constant(tensor))
        l.refuse("its weights are computed");
    const int64_t count = count_of(l.shape(x));
    if (count % s[1])
        l.damaged("its source has " + std::to_string(count) + " numbers, of which " +
                  std::to_string(s[1]) + " make a row");
    /* A batch of one row for each image stays one, of any size. */
    const int64_t rows = count / s[1];
    const bool by_image = l.rank(x) > 0 && l.shape(x)[0] == rows;
    std::string value = l.rank(x) == 2 ? l.plain(x) : l.row(x);
    if (l.rank(x) != 2 || l.shape(x)[1] != s[1])
        value = l.add("Reshape", {value, l.sizes({by_image ? 0 : rows, s[1]})});
    std::vector<std::string> inputs = {value, l.initialiser(tensor, "matrix", s, l.reals(tensor))};
    add_biases(l, inputs, 2, s[0]);
    const std::string y = l.activated(l.add("Gemm", inputs, {{"transB", whole_attribute(1)}}),
                                      o ? o->activation() : Activation::NONE);
    Shape shape = l.shape(l.output());
    if (shape.size() == 2) {
        l.give_plain(y);
        return;
    }
    if (by_image && !shape.empty() && shape[0] == rows)
        shape[0] = 0;
    l.give_plain(l.add("Reshape", {y, l.sizes(shape)}));
}

/* ---- Pooling ---- */

static void pool(Lifting &l, const char *op)
{
    const auto *o = l.made->builtin_options_as_Pool2DOptions();
    const int x = picture_input(l, 0);
    if (!o)
        l.damaged("it has no options");
    const Walk w = {{o->filter_height(), o->filter_width()},
                    {o->stride_h(), o->stride_w()},
                    {1, 1},
                    o->padding()};
    check_walk(l, w);
    l.give_picture(
        l.activated(l.add(op, {l.picture(x)}, attributes_of(w, l.shape(x))), o->activation()));
}

static void lift_max_pool(Lifting &l)
{
    pool(l, "MaxPool");
}

static void lift_average_pool(Lifting &l)
{
    pool(l, "AveragePool");
}

const LiftingRow lift_windows[] = {{Operation::AVERAGE_POOL_2D, lift_average_pool},
                                   {Operation::CONV_2D, lift_convolution},
                                   {Operation::DEPTHWISE_CONV_2D, lift_depthwise},
                                   {Operation::FULLY_CONNECTED, lift_connected},
                                   {Operation::MAX_POOL_2D, lift_max_pool},
                                   {Operation::TRANSPOSE_CONV, lift_transposed},
                                   {Operation::ADD, nullptr}};

} // namespace glcnn
