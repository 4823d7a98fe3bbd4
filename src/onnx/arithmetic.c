/* Operators of two images, of an image and numbers that are known, and of several images. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/arithmetic.h>
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/neuron.h>

#include "onnx/operand.h"
#include "onnx/sharing.h"

enum kind { ADD, SUBTRACT, MULTIPLY, DIVIDE, LARGEST, SMALLEST, POWER };
static const char *const kernels[] = {"add",     "subtract", "multiply", "divide",
                                      "maximum", "minimum",  "power"};

/* ---- Two images ---- */

/* The strides of 0 with which one is read along axes where the other has more. */
static void spread(struct glcnn_source_properties *source, const struct image *own,
                   const struct image *all)
{
    source->stride_in_pixels_x = own->extent[W] == all->extent[W];
    source->stride_in_pixels_y = own->extent[H] == all->extent[H];
    source->stride_in_feature_channels = own->extent[C] == all->extent[C];
}

bool op_join(struct call *call, const char *kernel, struct operand *a, struct operand *b,
             const char *suffix)
{
    struct operand all;
    if (!operand_align(call, a, b, &all))
        return false;
    all.image.node = glcnn_node_binary(a->image.node, b->image.node, kernel, NULL);
    if (!op_made(call, all.image.node, suffix))
        return false;
    struct glcnn_addressing *p =
        glcnn_kernel_properties(glcnn_filter_node_kernel(glcnn_image_node_filter(all.image.node)));
    spread(&p->primary, &a->image, &all.image);
    spread(&p->secondary, &b->image, &all.image);
    *a = all;
    return true;
}

static bool join_images(struct call *call, struct operand *a, struct operand *b, const char *suffix)
{
    return op_join(call, kernels[call->row->kind], a, b, suffix);
}

/* ---- An image and a number ---- */

#define DIVISOR "what divides does not train"

/* x and the number in the operator's order. */
static bool join_number(struct call *call, struct operand *x, const struct value *value,
                        bool number_first)
{
    const float number = (float)constant_number(value->constant, 0);
    const float inverse = 1 / number;
    const struct {
        float a, b;
    } linear[] = {[ADD] = {1, number},
                  [SUBTRACT] = {number_first ? -1.0f : 1.0f, number_first ? number : -number},
                  [MULTIPLY] = {number, 0},
                  [DIVIDE] = {number_first ? number : inverse, 0}};
    enum kind kind = (enum kind)call->row->kind;
    if (kind == DIVIDE && number_first) {
        x->image.node = glcnn_neuron_power_node(x->image.node, 1, 0, -1);
        if (!op_made(call, x->image.node, "reciprocal"))
            return false;
    }
    if (!isfinite(linear[kind].a) || !isfinite(linear[kind].b))
        return op_unsupported(call, "the number %g is not finite, or divides as 0", (double)number);
    x->image.node = glcnn_neuron_linear_node(x->image.node, linear[kind].a, linear[kind].b);
    return op_made(call, x->image.node, NULL) && op_note_frozen(call, value, DIVISOR);
}

static bool choose_number(struct call *call, struct operand *x, const struct value *value)
{
    float number = (float)constant_number(value->constant, 0);
    bool is_largest = call->row->kind == LARGEST;
    x->image.node = glcnn_neuron_node(
        x->image.node,
        &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_CLIP, is_largest ? number : -3.4e38f,
                                          is_largest ? 3.4e38f : number, 0});
    return op_made(call, x->image.node, NULL) &&
           op_note_frozen(call, value, "a bound does not train");
}

/* ---- An image and numbers that train, one or one for each channel ---- */

/* What stands behind the number in Sub and Div, made ready to be added to or multiplied. */
static bool turn(struct call *call, struct operand *x, bool value_first)
{
    const char *suffix = call->row->kind == DIVIDE ? "reciprocal" : "negative";
    if (!value_first || (call->row->kind != DIVIDE && call->row->kind != SUBTRACT))
        return true;
    x->image.node = call->row->kind == DIVIDE ? glcnn_neuron_power_node(x->image.node, 1, 0, -1)
                                              : glcnn_neuron_linear_node(x->image.node, -1, 0);
    return op_made(call, x->image.node, suffix);
}

static bool join_learned(struct call *call, struct operand *x, const struct value *value,
                         bool value_first)
{
    bool adds = call->row->kind == ADD || call->row->kind == SUBTRACT;
    if (!turn(call, x, value_first))
        return false;
    x->image.node =
        op_slopes(call, x->image.node, adds ? GLCNN_NEURON_TYPE_SHIFT : GLCNN_NEURON_TYPE_SCALE,
                  value, call->row->kind == SUBTRACT && !value_first ? -1 : 1);
    return x->image.node;
}

/* ---- An image and a number for each channel ---- */

/* Lets biases into the filter that makes it, which could have some and has none, and that trains or not as
 * they do. False: it is no such filter. */
static bool take_biases(const struct reader *reader, const struct image *x, bool learns)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(x->node);
    struct glcnn_convolution_parameters *p = glcnn_convolution(glcnn_filter_node_kernel(filter));
    bool trains =
        glcnn_filter_node_training_style(filter) != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
    bool takes = p && !sharing_is(reader, glcnn_filter_node_kernel(filter)) && p->without_biases &&
                 p->output_feature_channels == x->extent[C] && trains == learns;
    if (takes)
        p->without_biases = false;
    return takes;
}

/* Scales channels: a convolution of each by itself, of 1x1 pixels. */
static glcnn_image_node *make_scales(struct operand *x, uint32_t channels)
{
    return glcnn_convolution_node(x->image.node,
                                  &(struct glcnn_convolution_descriptor){
                                      .kernel_width = 1,
                                      .kernel_height = 1,
                                      .input_feature_channels = channels,
                                      .output_feature_channels = channels,
                                      .groups = channels,
                                      .without_biases = true,
                                  },
                                  NULL);
}

static bool put_inverse(struct call *call, glcnn_image_node *node, size_t channels,
                        const struct value *value)
{
    struct constant *inverse = constant_make(call->reader, &value->constant->shape, false);
    struct layout layout = layout_plain(channels, true);
    for (size_t i = 0; inverse && i < inverse->count; i++)
        inverse->floats[i] = (float)(1 / constant_number(value->constant, i));
    op_freeze(node);
    return inverse && vector_put(call, node, "weights", channels, value, inverse, &layout) &&
           op_note_frozen(call, value, DIVISOR);
}

static bool join_channels(struct call *call, struct operand *x, const struct value *value,
                          bool value_first)
{
    enum kind kind = (enum kind)call->row->kind;
    size_t channels = (size_t)x->image.extent[C];
    struct layout layout = layout_plain(channels, true);
    if (kind == ADD || kind == SUBTRACT)
        return join_learned(call, x, value, value_first);
    if (!turn(call, x, value_first))
        return false;
    x->image.node = make_scales(x, (uint32_t)channels);
    if (!op_made(call, x->image.node, NULL))
        return false;
    if (kind == DIVIDE && !value_first)
        return put_inverse(call, x->image.node, channels, value);
    if (!value->learns)
        op_freeze(x->image.node);
    if (!value->learns && !op_note_frozen(call, value, ""))
        return false;
    return vector_set(call, x->image.node, "weights", channels, value, &layout);
}

/* ---- Operators ---- */

/* The axis of a tensor along which a constant has numbers, as many; -1: it has them elsewhere. */
static int single_axis(const struct shape *constant, const struct shape *shape)
{
    struct shape wide = shape_widened(constant, shape->rank);
    int axis = -1;
    if (constant->rank > shape->rank)
        return -1;
    for (uint32_t i = 0; i < wide.rank; i++) {
        if (wide.dims[i] == 1)
            continue;
        if (axis >= 0 || wide.dims[i] != shape->dims[i])
            return -1;
        axis = (int)i;
    }
    return axis;
}

/* Numbers along one axis, which becomes that of the channels; biases where it is that of a filter. */
static bool join_vector(struct call *call, size_t uses, const struct value *value, int axis,
                        bool value_first, struct operand *result)
{
    if (!place_channels(call, &result->image, &result->shape, axis, axis + 1))
        return false;
    size_t channels = (size_t)result->image.extent[C];
    if (call->row->kind != ADD || uses != 1 ||
        !take_biases(call->reader, &result->image, value->learns))
        return join_channels(call, result, value, value_first);
    struct layout layout = layout_plain(channels, true);
    layout.output_dimension = (int32_t)value->shape.rank - 1;
    for (uint32_t i = 0; i < value->shape.rank; i++)
        if (value->shape.dims[i] != 1)
            layout.output_dimension = (int32_t)i;
    return vector_set(call, result->image.node, "biases", channels, value, &layout);
}

/* Numbers along several axes, or axes that the image has not: an image too. */
static bool join_learned_image(struct call *call, const struct value *value, bool value_first,
                               struct operand *result)
{
    struct operand constant = operand_of(value);
    struct operand first = value_first ? constant : *result,
                   second = value_first ? *result : constant;
    if (!join_images(call, &first, &second, NULL))
        return false;
    *result = first;
    return true;
}

/* Of a constant that is the same for each image of the batch the image has that axis already. */
static struct value without_batch(const struct value *value, const struct value *x)
{
    struct value plain = *value;
    const bool has_batch = x->shape.rank == plain.shape.rank && plain.shape.rank &&
                           x->shape.dims[0] == plain.shape.dims[0];
    if (has_batch && plain.shape.dims[0] == OPEN_BATCH)
        plain.shape.dims[0] = 1;
    plain.image = (struct image){0};
    return plain;
}

static bool join_constant(struct call *call, const struct value *x, const struct value *constant,
                          bool value_first, struct operand *result)
{
    if (constant->learns && constant->image.node) {
        *result = operand_of(x);
        return join_learned_image(call, constant, value_first, result);
    }
    const struct value value = without_batch(constant, x);
    bool is_number = shape_count(&value.shape) == 1 && value.shape.rank <= x->shape.rank;
    int axis = single_axis(&value.shape, &x->shape);
    *result = operand_of(x);
    if (!is_number && (call->row->kind >= LARGEST || axis < 0 || !value.constant->floats))
        return join_learned_image(call, &value, value_first, result);
    if (!is_number)
        return join_vector(call, x->uses, &value, axis, value_first, result);
    if (call->row->kind >= LARGEST)
        return choose_number(call, result, &value);
    bool divides = call->row->kind == DIVIDE && !value_first;
    return value.learns && !divides ? join_learned(call, result, &value, value_first)
                                    : join_number(call, result, &value, value_first);
}

/* Adds input i to what there is; the first is the beginning. */
static bool join_input(struct call *call, size_t i, struct operand *sum)
{
    struct value *y = op_input(call, i);
    if (!y)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
    if (y->constant)
        return join_constant(call,
                             &(struct value){.name = "", .shape = sum->shape, .image = sum->image},
                             y, false, sum);
    struct operand other = operand_of(y);
    return join_images(call, sum, &other, i + 1 == call->node->n_input ? NULL : "sum");
}

/* The second input, its axes beginning at those of the first where opset 6 says: "axis". */
static struct value old_broadcast(const struct call *call, const struct value *x,
                                  const struct value *y)
{
    struct value placed = *y;
    int64_t axis = attribute_int(call, "axis", -1);
    if (call->reader->opset > 6 || axis < 0 || axis >= x->shape.rank ||
        axis + y->shape.rank >= x->shape.rank)
        return placed;
    for (uint32_t i = (uint32_t)axis + y->shape.rank; i < x->shape.rank; i++)
        placed.shape.dims[placed.shape.rank++] = 1;
    return placed;
}

static bool combine(struct call *call, const struct value *x, const struct value *y,
                    struct operand *result)
{
    struct operand other = operand_of(y);
    *result = operand_of(x);
    return x->constant   ? join_constant(call, y, x, true, result)
           : y->constant ? join_constant(call, x, y, false, result)
                         : join_images(call, result, &other, NULL);
}

bool op_combine(struct call *call, const char *operator, const struct value * x,
                const struct value *y, struct operand *result)
{
    struct call own = {call->reader, call->node, operator_find(operator)};
    return combine(&own, x, y, result);
}

static bool lower_two(struct call *call)
{
    const struct value *x = op_input(call, 0), *y = op_input(call, 1);
    struct operand result;
    if (!x || !y)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has two inputs; one is missing");
    struct value placed = old_broadcast(call, x, y);
    return combine(call, x, &placed, &result) && op_give(call, 0, &result.shape, &result.image);
}

/* Any number of images; the mean divides their sum. */
static bool lower_all(struct call *call)
{
    struct value *x;
    size_t count = call->node->n_input;
    if (count == 2 && strcmp(call->row->name, "Mean") != 0)
        return lower_two(call);
    if (!op_image(call, 0, &x))
        return false;
    struct operand sum = operand_of(x);
    for (size_t i = 1; i < count; i++)
        if (!join_input(call, i, &sum))
            return false;
    if (strcmp(call->row->name, "Mean") == 0 && count > 1) {
        sum.image.node = glcnn_neuron_linear_node(sum.image.node, 1 / (float)count, 0);
        if (!op_made(call, sum.image.node, "mean"))
            return false;
    }
    return op_give(call, 0, &sum.shape, &sum.image);
}

/* x^n, and n^x. */
static bool raise_number(struct call *call, const struct value *x, const struct value *value,
                         bool is_base)
{
    struct image result = x->image;
    if (value->constant->count != 1 || value->shape.rank > x->shape.rank) {
        struct operand powers = operand_of(x);
        return join_learned_image(call, value, is_base, &powers) &&
               op_give(call, 0, &powers.shape, &powers.image);
    }
    float n = (float)constant_number(value->constant, 0);
    result.node = is_base ? glcnn_neuron_exponential_node(result.node, 1, 0, n)
                          : glcnn_neuron_power_node(result.node, 1, 0, n);
    return op_made(call, result.node, NULL) &&
           op_note_frozen(call, value,
                          is_base ? "a base does not train" : "an exponent does not train") &&
           op_give(call, 0, &x->shape, &result);
}

static bool lower_pow(struct call *call)
{
    const struct value *x = op_input(call, 0), *y = op_input(call, 1);
    if (x && y && x->constant)
        return raise_number(call, y, x, true);
    return x && y && y->constant ? raise_number(call, x, y, false) : lower_two(call);
}

const struct operator_row onnx_arithmetic[] = {{"Add", lower_two, fold_binary, ADD, NULL},
                                               {"Sub", lower_two, fold_binary, SUBTRACT, NULL},
                                               {"Mul", lower_two, fold_binary, MULTIPLY, NULL},
                                               {"Div", lower_two, fold_binary, DIVIDE, NULL},
                                               {"Pow", lower_pow, fold_binary, POWER, NULL},
                                               {"Sum", lower_all, fold_binary, ADD, NULL},
                                               {"Mean", lower_all, fold_binary, ADD, NULL},
                                               {"Max", lower_all, fold_binary, LARGEST, NULL},
                                               {"Min", lower_all, fold_binary, SMALLEST, NULL},
                                               {0}};
