/* Operators that are a neuron: a function of each number, wherever it lies. */
#include <math.h>

#include <glcnn/kernels/neuron.h>

#include "onnx/operand.h"

/* What a parameter of a neuron can be; beyond it there is no bound. */
#define MOST 3.4e38f

/* The neuron of every element of input 0, as it lies. */
static bool apply(struct call *call, struct glcnn_neuron_descriptor neuron)
{
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    struct image result = x->image;
    result.node = glcnn_neuron_node(x->image.node, &neuron);
    return op_made(call, result.node, NULL) && op_give(call, 0, &x->shape, &result);
}

/* Numbers of the neuron: a constant, or an attribute. */
struct number {
    const char *attribute; /* NULL: `value` itself */
    float value;
};

enum kind {
    RELU,
    LEAKY_RELU,
    SIGMOID,
    TANH,
    ELU,
    SOFTPLUS,
    SOFTSIGN,
    HARD_SIGMOID,
    ABS,
    EXP,
    LOG,
    SQRT,
    RECIPROCAL,
    NEG,
    HARD_SWISH,
    MISH,
    SWISH,
    SELU,
    CELU,
    THRESHOLDED_RELU,
    ERF,
    FLOOR,
    CEIL,
    ROUND,
    SIGN,
};

/* The derivative at 0 is that of the left, as ONNX Runtime and PyTorch train it. */
#define LEFT                                                                                       \
    {                                                                                              \
        NULL, 1                                                                                    \
    }

/* Numbers that a row leaves out are 0. */
static const struct function {
    glcnn_neuron_type type;
    struct number a, b, c;
} functions[] = {
    [RELU] = {GLCNN_NEURON_TYPE_RELU, {0}, {0}, LEFT},
    [LEAKY_RELU] = {GLCNN_NEURON_TYPE_RELU, {"alpha", 0.01f}, {0}, LEFT},
    [SIGMOID] = {GLCNN_NEURON_TYPE_SIGMOID, {0}},
    [TANH] = {GLCNN_NEURON_TYPE_TANH, {NULL, 1}, {NULL, 1}},
    [ELU] = {GLCNN_NEURON_TYPE_ELU, {"alpha", 1}, {0}, LEFT},
    [SOFTPLUS] = {GLCNN_NEURON_TYPE_SOFT_PLUS, {NULL, 1}, {NULL, 1}},
    [SOFTSIGN] = {GLCNN_NEURON_TYPE_SOFT_SIGN, {0}},
    [HARD_SIGMOID] = {GLCNN_NEURON_TYPE_HARD_SIGMOID, {"alpha", 0.2f}, {"beta", 0.5f}},
    [ABS] = {GLCNN_NEURON_TYPE_ABSOLUTE, {0}},
    [EXP] = {GLCNN_NEURON_TYPE_EXPONENTIAL, {NULL, 1}, {0}, {NULL, -1}},
    [LOG] = {GLCNN_NEURON_TYPE_LOGARITHM, {NULL, 1}, {0}, {NULL, -1}},
    [SQRT] = {GLCNN_NEURON_TYPE_POWER, {NULL, 1}, {0}, {NULL, 0.5f}},
    [RECIPROCAL] = {GLCNN_NEURON_TYPE_POWER, {NULL, 1}, {0}, {NULL, -1}},
    [NEG] = {GLCNN_NEURON_TYPE_LINEAR, {NULL, -1}},
    [HARD_SWISH] = {GLCNN_NEURON_TYPE_HARD_SWISH, {NULL, 1.0f / 6}, {NULL, 0.5f}},
    [MISH] = {GLCNN_NEURON_TYPE_MISH, {0}},
    [SWISH] = {GLCNN_NEURON_TYPE_SWISH, {"alpha", 1}},
    [SELU] = {GLCNN_NEURON_TYPE_SELU, {"alpha", 1.67326319f}, {"gamma", 1.05070102f}, LEFT},
    [CELU] = {GLCNN_NEURON_TYPE_CELU, {"alpha", 1}},
    [THRESHOLDED_RELU] = {GLCNN_NEURON_TYPE_THRESHOLDED_RELU, {"alpha", 1}},
    [ERF] = {GLCNN_NEURON_TYPE_ERF, {0}},
    [FLOOR] = {GLCNN_NEURON_TYPE_FLOOR, {0}},
    [CEIL] = {GLCNN_NEURON_TYPE_CEILING, {0}},
    [ROUND] = {GLCNN_NEURON_TYPE_ROUND, {0}},
    [SIGN] = {GLCNN_NEURON_TYPE_SIGN, {0}},
};

static float number_of(const struct call *call, const struct number *number)
{
    return number->attribute ? attribute_float(call, number->attribute, number->value)
                             : number->value;
}

static bool lower_function(struct call *call)
{
    const struct function *f = &functions[call->row->kind];
    return apply(call,
                 (struct glcnn_neuron_descriptor){f->type, number_of(call, &f->a),
                                                  number_of(call, &f->b), number_of(call, &f->c)});
}

/* ---- Slopes ---- */

/* The kernel of an earlier node with the same slopes: both train them together. NULL: none. */
static glcnn_kernel *same_slopes(const struct call *call, glcnn_neuron_type type,
                                 const struct value *value, float scale)
{
    const struct value *parameter = value->learns ? op_parameter(call, value) : NULL;
    glcnn_kernel *kernel = parameter ? parameter->kernel : NULL;
    const struct glcnn_neuron_parameters *p = kernel ? glcnn_neuron(kernel) : NULL;
    bool same = p && p->neuron.type == type && p->shares_data == (value->constant->count == 1);
    return same && parameter->scale == scale ? kernel : NULL;
}

glcnn_image_node *op_slopes(struct call *call, glcnn_image_node *x, glcnn_neuron_type type,
                            const struct value *value, float scale)
{
    size_t count = value->constant->count;
    struct layout layout = layout_plain(count, count > 1);
    layout.scale = scale;
    glcnn_kernel *same = same_slopes(call, type, value, scale);
    if (same) {
        glcnn_image_node *again = glcnn_node_with_kernel(x, same);
        bool noted =
            op_made(call, again, NULL) && vector_note(call, again, "neuron_data", value, &layout);
        return noted ? again : NULL;
    }
    const float left = type == GLCNN_NEURON_TYPE_PRELU; /* at 0 its derivative is the slope */
    glcnn_image_node *node =
        glcnn_neuron_node(x, &(struct glcnn_neuron_descriptor){.type = type, .c = left});
    if (!op_made(call, node, NULL))
        return NULL;
    glcnn_neuron(glcnn_filter_node_kernel(glcnn_image_node_filter(node)))->shares_data = count == 1;
    if (!value->learns)
        op_freeze(node);
    if (!value->learns && !op_note_frozen(call, value, ""))
        return NULL;
    return vector_set(call, node, "neuron_data", count, value, &layout) ? node : NULL;
}

static bool part_of(struct call *call, struct image *x, float low, float high, const char *suffix)
{
    x->node = glcnn_neuron_node(
        x->node, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_CLIP, low, high, 0});
    return op_made(call, x->node, suffix);
}

/* Slopes that lie otherwise, or are computed: max(x, 0) + slope min(x, 0). */
static bool slope_image(struct call *call, const struct value *x, const struct value *slopes)
{
    struct value below = *x;
    struct operand above = operand_of(x), sloped;
    return part_of(call, &above.image, 0, MOST, "above") &&
           part_of(call, &below.image, -MOST, 0, "below") &&
           op_combine(call, "Mul", &below, slopes, &sloped) &&
           op_join(call, "add", &above, &sloped, "sum") &&
           op_give(call, 0, &above.shape, &above.image);
}

static bool slope_all(struct call *call, const struct value *x, const struct value *slope)
{
    struct image result = x->image;
    result.node = op_slopes(call, result.node, GLCNN_NEURON_TYPE_PRELU, slope, 1);
    return result.node && op_give(call, 0, &x->shape, &result);
}

/* One number for each channel. */
static bool slope_channels(struct call *call, const struct value *slopes)
{
    struct value *x;
    if (!place_input(call, 0, &x))
        return false;
    glcnn_image_node *node = op_slopes(call, x->image.node, GLCNN_NEURON_TYPE_PRELU, slopes, 1);
    return node && place_give(call, 0, &x->shape, node);
}

static bool lower_prelu(struct call *call)
{
    struct value *x;
    const struct value *slopes = op_input(call, 1);
    if (!op_image(call, 0, &x))
        return false;
    if (!slopes)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has two inputs; one is missing");
    bool are_of_channels = slopes->constant && slopes->constant->floats &&
                           place_spreads(call->reader, &slopes->shape, &x->shape);
    struct shape all;
    if (!shape_broadcast(&slopes->shape, &x->shape, &all) || !shape_equal(&all, &x->shape))
        return op_unsupported(call, "its slopes do not broadcast to its input");
    if (!are_of_channels)
        return slope_image(call, x, slopes);
    return slopes->constant->count == 1 ? slope_all(call, x, slopes) : slope_channels(call, slopes);
}

/* ---- Bounds ---- */

/* A bound by attribute (to opset 10) or by input. */
static bool bound_of(struct call *call, const char *attribute, size_t input, float otherwise,
                     float *bound)
{
    const struct constant *c = NULL;
    *bound = attribute_float(call, attribute, otherwise);
    if (!op_constant(call, input, false, &c))
        return false;
    if (c && c->count == 1)
        *bound = (float)constant_number(c, 0);
    if (isnan(*bound))
        return op_fail(call, GLCNN_MALFORMED_DATA, "the bound %s is nan; expected a number",
                       attribute);
    return op_note_frozen(call, op_input(call, input), "a bound does not train");
}

static bool lower_clip(struct call *call)
{
    float low, high;
    if (!bound_of(call, "min", 1, -MOST, &low) || !bound_of(call, "max", 2, MOST, &high))
        return false;
    low = high < low ? high : low; /* the upper bound counts last */
    return apply(call, (struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_CLIP, fmaxf(low, -MOST),
                                                        fminf(high, MOST), 0});
}

/* ---- Gelu ---- */

static bool lower_gelu(struct call *call)
{
    bool by_tanh = attribute_is(call, "approximate", "tanh", "none");
    return apply(call, (struct glcnn_neuron_descriptor){
                           .type = by_tanh ? GLCNN_NEURON_TYPE_GELU_TANH : GLCNN_NEURON_TYPE_GELU});
}

/* ---- What passes on what it is given ---- */

/* Dropout too, in training as well: networks are read as they are where nothing trains. */
static bool lower_identity(struct call *call)
{
    struct value *x;
    return op_image(call, 0, &x) && op_give(call, 0, &x->shape, &x->image);
}

const struct operator_row onnx_activation[] = {
    {"Relu", lower_function, fold_unary, RELU, NULL},
    {"LeakyRelu", lower_function, fold_unary, LEAKY_RELU, NULL},
    {"Sigmoid", lower_function, fold_unary, SIGMOID, NULL},
    {"Tanh", lower_function, fold_unary, TANH, NULL},
    {"Elu", lower_function, fold_unary, ELU, NULL},
    {"Softplus", lower_function, fold_unary, SOFTPLUS, NULL},
    {"Softsign", lower_function, fold_unary, SOFTSIGN, NULL},
    {"HardSigmoid", lower_function, fold_unary, HARD_SIGMOID, NULL},
    {"Abs", lower_function, fold_unary, ABS, NULL},
    {"Exp", lower_function, fold_unary, EXP, NULL},
    {"Log", lower_function, fold_unary, LOG, NULL},
    {"Sqrt", lower_function, fold_unary, SQRT, NULL},
    {"Reciprocal", lower_function, fold_unary, RECIPROCAL, NULL},
    {"Neg", lower_function, fold_unary, NEG, NULL},
    {"PRelu", lower_prelu, fold_binary, 0, NULL},
    {"Clip", lower_clip, fold_clip, 0, NULL},
    {"Selu", lower_function, fold_unary, SELU, NULL},
    {"Celu", lower_function, fold_unary, CELU, NULL},
    {"HardSwish", lower_function, fold_unary, HARD_SWISH, NULL},
    {"Mish", lower_function, fold_unary, MISH, NULL},
    {"Swish", lower_function, fold_unary, SWISH, NULL},
    {"ThresholdedRelu", lower_function, fold_unary, THRESHOLDED_RELU, NULL},
    {"Erf", lower_function, fold_unary, ERF, NULL},
    {"Floor", lower_function, fold_unary, FLOOR, NULL},
    {"Ceil", lower_function, fold_unary, CEIL, NULL},
    {"Round", lower_function, fold_unary, ROUND, NULL},
    {"Sign", lower_function, fold_unary, SIGN, NULL},
    {"Gelu", lower_gelu, fold_gelu, 0, NULL},
    {"Dropout", lower_identity, NULL, 0, NULL},
    {0}};
