/* Normalisations, and soft-max, which is one over channels. */
#include <inttypes.h>
#include <stdlib.h>

#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/cross_channel_normalization.h>
#include <glcnn/kernels/instance_normalization.h>
#include <glcnn/kernels/neuron.h>
#include <glcnn/kernels/soft_max.h>

#include "onnx/moves.h"

/* Vectors of a filter, one number a channel, from inputs 1 on. */
static bool set_vectors(struct call *call, glcnn_image_node *node, const char *const *names,
                        size_t count, int64_t channels)
{
    struct layout layout = layout_plain((size_t)channels, true);
    const struct constant *c;
    layout.output_dimension = 0;
    for (size_t i = 0; i < count; i++)
        if (!op_constant(call, i + 1, true, &c) ||
            !vector_set(call, node, names[i], (size_t)channels, op_input(call, i + 1), &layout))
            return false;
    return true;
}

/* An input N,C and more, whose channels are those of the image. */
static bool channels_input(struct call *call, struct value **x)
{
    if (!place_input(call, 0, x))
        return false;
    return ((*x)->shape.rank >= 2 && !call->reader->options.without_batch) ||
           op_unsupported(call, "its input has no axes of batch and channels");
}

/* ONNX has the share that is kept. */
static bool set_momentum(struct call *call, glcnn_image_node *node)
{
    const float kept = attribute_float(call, "momentum", 0.9f);
    if (!(kept >= 0 && kept <= 1))
        return op_fail(call, GLCNN_MALFORMED_DATA, "momentum is %g, not in 0 .. 1", (double)kept);
    glcnn_batch_normalization(glcnn_filter_node_kernel(glcnn_image_node_filter(node)))
        ->running_momentum = 1 - kept;
    return true;
}

/* In training_mode too: what trains has the batch's statistics, what does not those that are kept. */
static bool lower_batch(struct call *call)
{
    static const char *const names[] = {"gamma", "beta", "mean", "variance"};
    struct value *x;
    if (!attribute_int(call, "spatial", 1))
        return op_unsupported(call,
                              "spatial is 0; statistics of each channel, spatial 1, are read");
    if (!channels_input(call, &x))
        return false;
    glcnn_image_node *node = glcnn_batch_normalization_node(
        x->image.node, attribute_float(call, "epsilon", 1e-5f), NULL, NULL);
    return op_made(call, node, NULL) && set_momentum(call, node) &&
           set_vectors(call, node, names, 4, x->image.extent[C]) &&
           place_give(call, 0, &x->shape, node);
}

/* Gamma and beta that no initialiser has, ones and zeros where a file scales behind the node, do not
 * train. */
static void freeze_constants(struct call *call, glcnn_image_node *node)
{
    for (size_t i = 1; i <= 2; i++)
        if (op_input(call, i) && op_input(call, i)->parameter)
            return;
    op_freeze(node);
}

/* It does not matter where the pixels of a channel are, only that all of them are there. */
static bool lower_instance(struct call *call)
{
    static const char *const names[] = {"gamma", "beta"};
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    struct image image = x->image;
    const int64_t channels = x->shape.rank < 2 ? 0 : x->shape.dims[1];
    if (x->shape.rank < 3 || call->reader->options.without_batch)
        return op_unsupported(call, "its input is not an image of a batch");
    if (!place_pixels(call, &image, &x->shape, 2))
        return false;
    if (image.extent[C] != channels)
        return op_unsupported(call, "its first axis has several images for each one of the batch");
    image.node = glcnn_instance_normalization_node(image.node,
                                                   attribute_float(call, "epsilon", 1e-5f), NULL);
    if (!op_made(call, image.node, NULL) || !set_vectors(call, image.node, names, 2, channels))
        return false;
    freeze_constants(call, image.node);
    return op_give(call, 0, &x->shape, &image);
}

/* ---- Over parts of an image ---- */

/* Ones and zeros: without them the network could not be saved before its first image tells how many they are. */
static bool set_neutral(struct call *call, glcnn_image_node *node, int64_t channels)
{
    const size_t count = (size_t)channels;
    float *values = calloc(count, sizeof *values);
    if (!values)
        return onnx_no_memory(call->reader);
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    glcnn_status status = glcnn_kernel_set_vector(kernel, "beta", values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = 1;
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_set_vector(kernel, "gamma", values, count);
    free(values);
    return status == GLCNN_SUCCESS ||
           op_fail(call, status, "%s", glcnn_device_error(call->reader->device));
}

/* The numbers of axes from .. on, together: a channel of an image for each of what is before them. */
static bool normalize(struct call *call, struct image *image, const struct shape *shape, int from,
                      const char *suffix)
{
    if (!place_pixels(call, image, shape, from))
        return false;
    image->node = glcnn_instance_normalization_node(image->node,
                                                    attribute_float(call, "epsilon", 1e-5f), NULL);
    return op_made(call, image->node, suffix) && set_neutral(call, image->node, image->extent[C]);
}

static bool has_numbers(struct call *call, size_t i, int64_t count)
{
    const struct value *value = op_input(call, i);
    return (value->constant->floats && value->constant->count == (size_t)count) ||
           op_unsupported(call, "\"%.80s\" has %zu numbers, not %" PRId64, value->name,
                          value->constant->count, count);
}

/* A number of input i for each channel; input 2 may be left out. */
static bool set_numbers(struct call *call, size_t i, glcnn_image_node *node, const char *vector,
                        int64_t channels)
{
    const struct constant *c;
    if (!op_constant(call, i, i == 1, &c))
        return false;
    if (!c)
        return true;
    if (!has_numbers(call, i, channels))
        return false;
    struct layout layout = layout_plain((size_t)channels, c->shape.rank == 1);
    layout.output_dimension = c->shape.rank == 1 ? 0 : -1;
    return vector_set(call, node, vector, (size_t)channels, op_input(call, i), &layout);
}

/* Inputs 1 and 2, for each number of axes from .. to, without the last: a convolution of each channel
 * by itself. */
static bool scale(struct call *call, struct image *image, const struct shape *shape, int from,
                  int to)
{
    const struct constant *gamma;
    if (!op_constant(call, 1, true, &gamma) ||
        !has_numbers(call, 1, shape_count_between(shape, from, to)))
        return false;
    const uint32_t channels = (uint32_t)gamma->count;
    const struct glcnn_convolution_descriptor descriptor = {.kernel_width = 1,
                                                            .kernel_height = 1,
                                                            .input_feature_channels = channels,
                                                            .output_feature_channels = channels,
                                                            .groups = channels,
                                                            .without_biases = !op_input(call, 2)};
    if (!place_channels(call, image, shape, from, to))
        return false;
    image->node = glcnn_convolution_node(image->node, &descriptor, NULL);
    if (!op_made(call, image->node, NULL))
        return false;
    freeze_constants(call, image->node);
    return set_numbers(call, 1, image->node, "weights", channels) &&
           set_numbers(call, 2, image->node, "biases", channels);
}

static bool lower_layer(struct call *call)
{
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    struct image image = x->image;
    int axis = shape_axis(&x->shape, attribute_int(call, "axis", -1));
    if (axis < 0)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its input's");
    if (!normalize(call, &image, &x->shape, axis, "normalize"))
        return false;
    op_freeze(image.node); /* its own scales stay 1: those that follow train */
    return scale(call, &image, &x->shape, axis, (int)x->shape.rank) &&
           op_give(call, 0, &x->shape, &image);
}

/* ---- Of groups ---- */

/* Axes N, group, channels of the group, and the others. */
static bool group_shape(struct call *call, const struct shape *shape, struct shape *grouped)
{
    const int64_t groups = attribute_int(call, "num_groups", 0);
    if (groups < 1 || shape->dims[1] % groups)
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "%" PRId64 " groups do not divide %" PRId64 " channels", groups,
                       shape->dims[1]);
    *grouped =
        (struct shape){.rank = 4, .dims = {shape->dims[0], groups, shape->dims[1] / groups, 1}};
    for (uint32_t i = 2; i < shape->rank; i++)
        grouped->dims[3] *= shape->dims[i];
    return true;
}

/* Gamma and beta of each channel follow where the source was. */
static bool scale_channels(struct call *call, const struct value *x, struct image *image)
{
    op_freeze(image->node); /* its own scales stay 1 */
    return place_move(call, image, &x->image) && scale(call, image, &x->shape, 1, 2) &&
           op_give(call, 0, &x->shape, image);
}

/* To opset 20 gamma and beta are one number a group, as instance normalisation has them. */
static bool scale_groups(struct call *call, const struct value *x, struct image *image,
                         int64_t groups)
{
    freeze_constants(call, image->node);
    return set_numbers(call, 1, image->node, "gamma", groups) &&
           set_numbers(call, 2, image->node, "beta", groups) &&
           place_move(call, image, &x->image) && op_give(call, 0, &x->shape, image);
}

static bool lower_group(struct call *call)
{
    struct value *x;
    struct shape grouped;
    const bool has_channels = call->reader->opset >= 21;
    if (!channels_input(call, &x) || !group_shape(call, &x->shape, &grouped))
        return false;
    struct image image = x->image;
    if (!normalize(call, &image, &grouped, 2, has_channels ? "normalize" : NULL))
        return false;
    return has_channels ? scale_channels(call, x, &image)
                        : scale_groups(call, x, &image, grouped.dims[1]);
}

/* ---- By a norm ---- */

/* Divides by (r + epsilon)^exponent, r the sum or mean over axes from .. to of the neuron's results. */
struct norm {
    struct glcnn_neuron_descriptor before;
    const char *kernel;
    float epsilon, exponent;
};

static bool divide_by(struct call *call, const struct norm *norm, struct image *image,
                      const struct shape *shape, int from, int to)
{
    if (!place_channels(call, image, shape, from, to))
        return false;
    glcnn_image_node *node = glcnn_neuron_node(image->node, &norm->before);
    if (!op_made(call, node, "before"))
        return false;
    node = glcnn_node(node, norm->kernel, NULL);
    if (!op_made(call, node, "norm"))
        return false;
    node = glcnn_neuron_power_node(node, 1, norm->epsilon, -norm->exponent);
    if (!op_made(call, node, "reciprocal"))
        return false;
    image->node = glcnn_node_binary(image->node, node, "multiply", NULL);
    if (!op_made(call, image->node, "normalize"))
        return false;
    glcnn_kernel_properties(glcnn_filter_node_kernel(glcnn_image_node_filter(image->node)))
        ->secondary.stride_in_feature_channels = 0;
    return true;
}

static bool lower_root_mean_square(struct call *call)
{
    const struct norm norm = {{GLCNN_NEURON_TYPE_POWER, 1, 0, 2},
                              "reduce_feature_channels_mean",
                              attribute_float(call, "epsilon", 1e-5f),
                              0.5f};
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    const int axis = shape_axis(&x->shape, attribute_int(call, "axis", -1));
    struct image image = x->image;
    if (axis < 0)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its input's");
    return divide_by(call, &norm, &image, &x->shape, axis, (int)x->shape.rank) &&
           scale(call, &image, &x->shape, axis, (int)x->shape.rank) &&
           op_give(call, 0, &x->shape, &image);
}

static bool lower_norm(struct call *call)
{
    static const struct norm norms[] = {
        {{GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0}, "reduce_feature_channels_sum", 0, 1},
        {{GLCNN_NEURON_TYPE_POWER, 1, 0, 2}, "reduce_feature_channels_sum", 0, 0.5f}};
    const int64_t p = attribute_int(call, "p", 2);
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    const int axis = shape_axis(&x->shape, attribute_int(call, "axis", -1));
    struct image image = x->image;
    if (axis < 0 || p < 1 || p > 2)
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "its axis is not one of its input's, or p is "
                       "%" PRId64 ", neither 1 nor 2",
                       p);
    return divide_by(call, &norms[p - 1], &image, &x->shape, axis, axis + 1) &&
           op_give(call, 0, &x->shape, &image);
}

/* ---- Others ---- */

/* The last channel first. */
static bool reverse(struct call *call, struct image *image, const char *suffix)
{
    const int64_t channels = image->extent[C];
    return move_by_name(call, image, "strided_slice", suffix,
                        "start_channel=%" PRId64 " step_channel=-1 size_channels=%" PRId64,
                        channels - 1, channels);
}

/* Windows of an even size lean to the other side here, which is theirs where channels are reversed. */
static bool lower_response(struct call *call)
{
    struct value *x;
    int64_t size = attribute_int(call, "size", 0);
    bool is_even = size % 2 == 0;
    if (!channels_input(call, &x))
        return false;
    if (size < 1 || size > 65535)
        return op_fail(call, GLCNN_MALFORMED_DATA, "size is %" PRId64 ", not in 1 .. 65535", size);
    struct image image = x->image;
    if (is_even && !reverse(call, &image, "reverse"))
        return false;
    image.node = glcnn_cross_channel_normalization_node(image.node, (uint32_t)size);
    if (!op_made(call, image.node, NULL))
        return false;
    struct glcnn_cross_channel_normalization_parameters *p = glcnn_cross_channel_normalization(
        glcnn_filter_node_kernel(glcnn_image_node_filter(image.node)));
    p->alpha = attribute_float(call, "alpha", 1e-4f);
    p->beta = attribute_float(call, "beta", 0.75f);
    p->delta = attribute_float(call, "bias", 1);
    return (!is_even || reverse(call, &image, "back")) &&
           place_give(call, 0, &x->shape, image.node);
}

/* Over one axis; to opset 12 over that and all behind it. */
static bool lower_soft_max(struct call *call)
{
    struct value *x;
    bool is_one = call->reader->opset >= 13;
    if (!op_image(call, 0, &x))
        return false;
    int axis = shape_axis(&x->shape, attribute_int(call, "axis", is_one ? -1 : 1));
    if (axis < 0)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its input's");
    struct image result = x->image;
    if (!place_channels(call, &result, &x->shape, axis, is_one ? axis + 1 : (int)x->shape.rank))
        return false;
    result.node = glcnn_node(result.node, call->row->kernel, NULL);
    return op_made(call, result.node, NULL) && op_give(call, 0, &x->shape, &result);
}

const struct operator_row onnx_normalization[] = {
    {"BatchNormalization", lower_batch, fold_batch_normalization, 0, NULL},
    {"InstanceNormalization", lower_instance, fold_instance_normalization, 0, NULL},
    {"LayerNormalization", lower_layer, fold_layer_normalization, 0, NULL},
    {"GroupNormalization", lower_group, NULL, 0, NULL},
    {"RMSNormalization", lower_root_mean_square, NULL, 0, NULL},
    {"LpNormalization", lower_norm, NULL, 0, NULL},
    {"LRN", lower_response, NULL, 0, NULL},
    {"Softmax", lower_soft_max, fold_soft_max, 0, "soft_max"},
    {"LogSoftmax", lower_soft_max, fold_soft_max, 0, "log_soft_max"},
    {0}};
