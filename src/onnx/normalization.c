/* Normalisations, and soft-max, which is one over channels. */
#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/cross_channel_normalization.h>
#include <glcnn/kernels/instance_normalization.h>
#include <glcnn/kernels/soft_max.h>

#include "onnx/onnx.h"

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

static bool lower_batch(struct call *call)
{
    static const char *const names[] = {"gamma", "beta", "mean", "variance"};
    struct value *x;
    if (attribute_int(call, "training_mode", 0) || !attribute_int(call, "spatial", 1))
        return op_unsupported(call, "training_mode 1 and spatial 0 are not read");
    if (!channels_input(call, &x))
        return false;
    glcnn_image_node *node = glcnn_batch_normalization_node(
        x->image.node, attribute_float(call, "epsilon", 1e-5f), NULL, NULL);
    return op_made(call, node, NULL) && set_vectors(call, node, names, 4, x->image.extent[C]) &&
           place_give(call, 0, &x->shape, node);
}

static bool lower_instance(struct call *call)
{
    static const char *const names[] = {"gamma", "beta"};
    struct value *x;
    if (!channels_input(call, &x))
        return false;
    glcnn_image_node *node = glcnn_instance_normalization_node(
        x->image.node, attribute_float(call, "epsilon", 1e-5f), NULL);
    return op_made(call, node, NULL) && set_vectors(call, node, names, 2, x->image.extent[C]) &&
           place_give(call, 0, &x->shape, node);
}

/* Windows of an even size lean to the other side here. */
static bool lower_response(struct call *call)
{
    struct value *x;
    int64_t size = attribute_int(call, "size", 0);
    if (!channels_input(call, &x))
        return false;
    if (size < 1 || size > 65535 || size % 2 == 0)
        return op_unsupported(call, "size is %lld; odd ones are read", (long long)size);
    glcnn_image_node *node = glcnn_cross_channel_normalization_node(x->image.node, (uint32_t)size);
    if (!op_made(call, node, NULL))
        return false;
    struct glcnn_cross_channel_normalization_parameters *p =
        glcnn_cross_channel_normalization(glcnn_filter_node_kernel(glcnn_image_node_filter(node)));
    p->alpha = attribute_float(call, "alpha", 1e-4f);
    p->beta = attribute_float(call, "beta", 0.75f);
    p->delta = attribute_float(call, "bias", 1);
    return place_give(call, 0, &x->shape, node);
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
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is none of its input's");
    struct image result = x->image;
    if (!place_channels(call, &result, &x->shape, axis, is_one ? axis + 1 : (int)x->shape.rank))
        return false;
    result.node = glcnn_node(result.node, call->row->kernel, NULL);
    return op_made(call, result.node, NULL) && op_give(call, 0, &x->shape, &result);
}

const struct operator_row onnx_normalization[] = {
    {"BatchNormalization", lower_batch, NULL, 0, NULL},
    {"InstanceNormalization", lower_instance, NULL, 0, NULL},
    {"LRN", lower_response, NULL, 0, NULL},
    {"Softmax", lower_soft_max, NULL, 0, "soft_max"},
    {"LogSoftmax", lower_soft_max, NULL, 0, "log_soft_max"},
    {0}};
