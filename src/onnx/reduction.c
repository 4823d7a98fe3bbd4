/* Reductions, one axis after the other. */
#include <stdio.h>
#include <string.h>

#include <glcnn/kernels/neuron.h>

#include "onnx/moves.h"

/* What is done to the numbers before and after they are reduced. */
struct step {
    glcnn_neuron_type type; /* none: nothing */
    float a, b, c;
};

enum kind { SUM, MEAN, MOST, LEAST, ABSOLUTES, EUCLIDEAN, SQUARES, LOG_OF_SUM, LOG_OF_EXP };

static const struct reduction {
    const char *by; /* the last word of the kernels' names */
    struct step before, after;
} reductions[] = {
    [SUM] = {"sum", {0}, {0}},
    [MEAN] = {"mean", {0}, {0}},
    [MOST] = {"max", {0}, {0}},
    [LEAST] = {"min", {0}, {0}},
    [ABSOLUTES] = {"sum", {GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0}, {0}},
    [EUCLIDEAN] = {"sum",
                   {GLCNN_NEURON_TYPE_POWER, 1, 0, 2},
                   {GLCNN_NEURON_TYPE_POWER, 1, 0, 0.5f}},
    [SQUARES] = {"sum", {GLCNN_NEURON_TYPE_POWER, 1, 0, 2}, {0}},
    [LOG_OF_SUM] = {"sum", {0}, {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, -1}},
    [LOG_OF_EXP] = {"sum",
                    {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, -1},
                    {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, -1}},
};

static bool apply(struct call *call, const struct step *step, struct image *image,
                  const char *suffix)
{
    if (step->type == GLCNN_NEURON_TYPE_NONE)
        return true;
    image->node = glcnn_neuron_node(
        image->node, &(struct glcnn_neuron_descriptor){step->type, step->a, step->b, step->c});
    return op_made(call, image->node, suffix);
}

/* Along one axis of the tensor, which is of size 1 then. */
static bool reduce_axis(struct call *call, const char *by, struct image *image, struct shape *shape,
                        int axis, const char *suffix)
{
    static const char *const along[AXES] = {[C] = "feature_channels", [H] = "column", [W] = "row"};
    char kernel[64];
    if (shape->dims[axis] == 1)
        return true;
    enum axis found = place_find(image, shape, axis);
    if (found == AXES || found == N) {
        if (!place_channels(call, image, shape, axis, axis + 1))
            return false;
        found = C;
    }
    snprintf(kernel, sizeof kernel, "reduce_%s_%s", along[found], by);
    image->node = glcnn_node(image->node, kernel, NULL);
    place_resize(image, shape, axis, axis + 1, found, 1);
    shape->dims[axis] = 1;
    return op_made(call, image->node, suffix);
}

/* Which axes: by attribute or input; all where there are none, unless that means none. */
static bool read_axes(struct call *call, const struct shape *shape, bool reduced[GLCNN_ONNX_RANK])
{
    int64_t axes[GLCNN_ONNX_RANK];
    size_t count;
    memset(reduced, 0, GLCNN_ONNX_RANK * sizeof *reduced);
    if (!op_wholes(call, "axes", 1, GLCNN_ONNX_RANK, axes, &count))
        return false;
    for (uint32_t i = 0; count == 0 && i < shape->rank; i++)
        reduced[i] = !attribute_int(call, "noop_with_empty_axes", 0);
    for (size_t i = 0; i < count; i++) {
        int axis = shape_axis(shape, axes[i]);
        if (axis < 0)
            return op_fail(call, GLCNN_MALFORMED_DATA, "axis %lld is not one of its input's",
                           (long long)axes[i]);
        reduced[axis] = true;
    }
    return true;
}

/* The input, which moves change, and which of its axes are reduced. */
static bool read_reduced(struct call *call, struct image *image, struct shape *shape,
                         bool reduced[GLCNN_ONNX_RANK])
{
    struct value *x;
    if (!op_image(call, 0, &x) || !read_axes(call, &x->shape, reduced))
        return false;
    *image = x->image;
    *shape = x->shape;
    return true;
}

static struct shape without(const struct shape *shape, const bool reduced[GLCNN_ONNX_RANK])
{
    struct shape left = {0};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (!reduced[i])
            left.dims[left.rank++] = shape->dims[i];
    return left;
}

static bool give(struct call *call, const struct shape *shape, const struct image *image,
                 const bool reduced[GLCNN_ONNX_RANK])
{
    struct shape left = without(shape, reduced);
    return op_give(call, 0, attribute_int(call, "keepdims", 1) ? shape : &left, image);
}

static bool lower_reduction(struct call *call)
{
    const struct reduction *r = &reductions[call->row->kind];
    bool reduced[GLCNN_ONNX_RANK];
    struct image image;
    struct shape shape;
    if (!read_reduced(call, &image, &shape, reduced) || !apply(call, &r->before, &image, "before"))
        return false;
    for (int i = (int)shape.rank - 1; i >= 0; i--)
        if (reduced[i] && !reduce_axis(call, r->by, &image, &shape, i, NULL))
            return false;
    return apply(call, &r->after, &image, "after") && give(call, &shape, &image, reduced);
}

/* ---- Products ---- */

/* One half of the axis times the other; what is odd gets a 1. */
static bool multiply_halves(struct call *call, struct image *image, struct shape *shape, int axis)
{
    static const int64_t one[] = {0, 1};
    const int64_t half = (shape->dims[axis] + 1) / 2;
    if (shape->dims[axis] % 2 && !move_pad(call, image, shape, axis, one, "constant", 1))
        return false;
    struct image other = *image;
    struct shape rest = *shape;
    if (!move_cut(call, image, shape, axis, 0, 1, half, "first") ||
        !move_cut(call, &other, &rest, axis, half, 1, half, "second"))
        return false;
    image->node = glcnn_node_binary(image->node, other.node, "multiply", NULL);
    return op_made(call, image->node, NULL);
}

static bool lower_product(struct call *call)
{
    bool reduced[GLCNN_ONNX_RANK];
    struct image image;
    struct shape shape;
    if (!read_reduced(call, &image, &shape, reduced))
        return false;
    for (int i = (int)shape.rank - 1; i >= 0; i--) {
        enum axis axis = place_find(&image, &shape, i);
        bool moves = reduced[i] && shape.dims[i] > 1 && (axis == AXES || axis == N);
        if (moves && !place_channels(call, &image, &shape, i, i + 1))
            return false;
        while (reduced[i] && shape.dims[i] > 1)
            if (!multiply_halves(call, &image, &shape, i))
                return false;
    }
    return give(call, &shape, &image, reduced);
}

/* ---- Indices ---- */

static bool lower_argument(struct call *call)
{
    bool reduced[GLCNN_ONNX_RANK] = {false};
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    int axis = shape_axis(&x->shape, attribute_int(call, "axis", 0));
    if (axis < 0 || x->shape.dims[axis] == 1 || attribute_int(call, "select_last_index", 0))
        return op_unsupported(call,
                              "its axis is not one of its input's, has one number, or the last "
                              "index is wanted");
    struct image image = x->image;
    struct shape shape = x->shape;
    reduced[axis] = true;
    if (!place_channels(call, &image, &shape, axis, axis + 1) ||
        !reduce_axis(call, call->row->kernel, &image, &shape, axis, NULL))
        return false;
    return give(call, &shape, &image, reduced);
}

const struct operator_row onnx_reduction[] = {
    {"ReduceSum", lower_reduction, fold_reduce, SUM, NULL},
    {"ReduceMean", lower_reduction, fold_reduce, MEAN, NULL},
    {"ReduceMax", lower_reduction, fold_reduce, MOST, NULL},
    {"ReduceMin", lower_reduction, fold_reduce, LEAST, NULL},
    {"ReduceL1", lower_reduction, fold_reduce, ABSOLUTES, NULL},
    {"ReduceL2", lower_reduction, fold_reduce, EUCLIDEAN, NULL},
    {"ReduceSumSquare", lower_reduction, fold_reduce, SQUARES, NULL},
    {"ReduceLogSum", lower_reduction, fold_reduce, LOG_OF_SUM, NULL},
    {"ReduceLogSumExp", lower_reduction, fold_reduce, LOG_OF_EXP, NULL},
    {"ReduceProd", lower_product, fold_reduce, 0, NULL},
    {"CumSum", lower_cumulative_sum, fold_cumulative_sum, 0, NULL},
    {"ArgMax", lower_argument, fold_argument, 0, "argument_max"},
    {"ArgMin", lower_argument, fold_argument, 0, "argument_min"},
    {0}};
