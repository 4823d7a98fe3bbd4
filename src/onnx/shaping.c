/* Operators that leave numbers where they are and rename their places: reshapes, and
 * transpositions, which are settled when an operator needs the numbers elsewhere. */
#include <string.h>

#include "onnx/fold.h"
#include "onnx/view.h"

/* ---- Reshapes ---- */

typedef bool (*reshaping)(struct call *call, const struct shape *from, struct shape *to);

/* A 0 keeps the size of the axis, unless allowzero; -1 is what is left. */
static bool reshaped(struct call *call, const struct shape *from, struct shape *to)
{
    size_t rank;
    int64_t known = 1, all = shape_count(from);
    int open = -1;
    if (!op_wholes(call, NULL, 1, GLCNN_ONNX_RANK, to->dims, &rank))
        return false;
    to->rank = (uint32_t)rank;
    for (uint32_t i = 0; i < to->rank; i++) {
        if (to->dims[i] == 0 && !attribute_int(call, "allowzero", 0) && i < from->rank)
            to->dims[i] = from->dims[i];
        if (to->dims[i] == -1 && open < 0)
            open = (int)i;
        else if (to->dims[i] < 0 || (to->dims[i] && known > INT64_MAX / 2 / to->dims[i]))
            return op_fail(call, GLCNN_MALFORMED_DATA, "size %lld of axis %u is out of range",
                           (long long)to->dims[i], i);
        else
            known *= to->dims[i];
    }
    if (open >= 0 && known)
        to->dims[open] = all / known;
    return true;
}

static bool flattened(struct call *call, const struct shape *from, struct shape *to)
{
    int64_t axis = attribute_int(call, "axis", 1);
    axis += axis < 0 ? from->rank : 0;
    if (axis < 0 || axis > from->rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its input's");
    *to = (struct shape){.rank = 2, .dims = {1, 1}};
    for (uint32_t i = 0; i < from->rank; i++)
        to->dims[i >= axis] *= from->dims[i];
    return true;
}

/* The axes that are taken out, or put in, by their numbers in a shape of `rank`. */
static bool marked_axes(struct call *call, uint32_t rank, bool marked[GLCNN_ONNX_RANK],
                        size_t *count)
{
    int64_t axes[GLCNN_ONNX_RANK];
    const struct shape shape = {.rank = rank};
    memset(marked, 0, GLCNN_ONNX_RANK * sizeof *marked);
    if (!op_wholes(call, "axes", 1, GLCNN_ONNX_RANK, axes, count))
        return false;
    for (size_t i = 0; i < *count; i++) {
        int axis = shape_axis(&shape, axes[i]);
        if (axis < 0 || marked[axis])
            return op_fail(call, GLCNN_MALFORMED_DATA, "axis %lld appears twice, or does not exist",
                           (long long)axes[i]);
        marked[axis] = true;
    }
    return true;
}

static bool squeezed(struct call *call, const struct shape *from, struct shape *to)
{
    bool marked[GLCNN_ONNX_RANK];
    size_t count;
    if (!marked_axes(call, from->rank, marked, &count))
        return false;
    *to = (struct shape){0};
    for (uint32_t i = 0; i < from->rank; i++)
        if (!(count ? marked[i] : from->dims[i] == 1))
            to->dims[to->rank++] = from->dims[i];
    return true;
}

static bool unsqueezed(struct call *call, const struct shape *from, struct shape *to)
{
    bool marked[GLCNN_ONNX_RANK];
    size_t count = attribute_find(call, "axes") ? attribute_find(call, "axes")->n_ints : 0;
    const struct value *axes = op_input(call, 1);
    if (axes && axes->constant)
        count = axes->constant->count;
    if (count + from->rank > GLCNN_ONNX_RANK)
        return op_unsupported(call, "its result has more than %d axes", GLCNN_ONNX_RANK);
    *to = (struct shape){.rank = (uint32_t)count + from->rank};
    if (!marked_axes(call, to->rank, marked, &count))
        return false;
    for (uint32_t i = 0, k = 0; i < to->rank; i++)
        to->dims[i] = marked[i] || k == from->rank ? 1 : from->dims[k++];
    return true;
}

static const reshaping reshapings[] = {reshaped, flattened, squeezed, unsqueezed};
enum kind { RESHAPE, FLATTEN, SQUEEZE, UNSQUEEZE };

static bool new_shape(struct call *call, const struct shape *from, struct shape *to)
{
    char first[96], second[96];
    if (!reshapings[call->row->kind](call, from, to) ||
        !shape_check(call->reader, call->node->n_output ? call->node->output[0] : "", to))
        return false;
    return shape_count(from) == shape_count(to) ||
           op_fail(call, GLCNN_MALFORMED_DATA, "a tensor of %s cannot become one of %s",
                   shape_text(from, first), shape_text(to, second));
}

static bool lower_reshape(struct call *call)
{
    struct value *x;
    struct shape shape;
    return op_image(call, 0, &x) && new_shape(call, &x->shape, &shape) &&
           op_give(call, 0, &shape, &x->image);
}

static bool fold_reshape(struct call *call)
{
    const struct constant *x;
    struct shape shape;
    if (!op_constant(call, 0, true, &x) || !new_shape(call, &x->shape, &shape))
        return false;
    struct constant *y = constant_make(call->reader, &shape, x->wholes);
    for (size_t i = 0; y && i < y->count; i++)
        constant_copy(y, i, x, i);
    return op_give_constant(call, 0, y);
}

static bool lower_identity(struct call *call)
{
    struct value *x;
    return op_image(call, 0, &x) && op_give(call, 0, &x->shape, &x->image);
}

static bool fold_identity(struct call *call)
{
    const struct constant *x;
    return op_constant(call, 0, true, &x) &&
           op_give_constant(call, 0, (struct constant *)(uintptr_t)x);
}

/* ---- Transpositions ---- */

static bool read_permutation(struct call *call, const struct shape *shape,
                             int64_t order[GLCNN_ONNX_RANK])
{
    bool seen[GLCNN_ONNX_RANK] = {false};
    size_t count = shape->rank;
    for (uint32_t i = 0; i < shape->rank; i++)
        order[i] = shape->rank - 1 - i;
    if (!attribute_ints(call, "perm", GLCNN_ONNX_RANK, order, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        int axis = shape_axis(shape, order[i]);
        if (axis < 0 || seen[axis])
            return op_fail(call, GLCNN_MALFORMED_DATA,
                           "perm is not a permutation of its input's axes");
        seen[axis] = true;
        order[i] = axis;
    }
    return count == shape->rank || op_fail(call, GLCNN_MALFORMED_DATA,
                                           "perm has %zu axes, its input %u", count, shape->rank);
}

static struct shape permuted_shape(const struct shape *shape, const int64_t order[])
{
    struct shape result = {.rank = shape->rank};
    for (uint32_t i = 0; i < shape->rank; i++)
        result.dims[i] = shape->dims[order[i]];
    return result;
}

/* The digits in the order of the transposed tensor; nothing moves, but what is in pieces otherwise. */
static bool lower_transpose(struct call *call)
{
    struct value *x;
    int64_t order[GLCNN_ONNX_RANK];
    uint32_t end[GLCNN_ONNX_RANK];
    if (!op_image(call, 0, &x) || !read_permutation(call, &x->shape, order))
        return false;
    struct image image = x->image;
    struct shape shape = permuted_shape(&x->shape, order);
    if (!place_split(call, &image, &x->shape, end))
        return false;
    view_permute(&image, end, order, shape.rank);
    return op_give(call, 0, &shape, &image);
}

static bool fold_transpose(struct call *call)
{
    const struct constant *x;
    int64_t order[GLCNN_ONNX_RANK], stride[GLCNN_ONNX_RANK];
    if (!op_constant(call, 0, true, &x) || !read_permutation(call, &x->shape, order))
        return false;
    struct shape shape = permuted_shape(&x->shape, order);
    struct constant *y = constant_make(call->reader, &shape, x->wholes);
    struct walk w = walk_through(&shape);
    fold_strides(&x->shape, stride);
    for (uint32_t i = 0; i < shape.rank; i++)
        w.stride[0][i] = stride[order[i]];
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w))
        constant_copy(y, i, x, (size_t)w.at[0]);
    return op_give_constant(call, 0, y);
}

const struct operator_row onnx_shaping[] = {
    {"Reshape", lower_reshape, fold_reshape, RESHAPE, NULL},
    {"Flatten", lower_reshape, fold_reshape, FLATTEN, NULL},
    {"Squeeze", lower_reshape, fold_reshape, SQUEEZE, NULL},
    {"Unsqueeze", lower_reshape, fold_reshape, UNSQUEEZE, NULL},
    {"Identity", lower_identity, fold_identity, 0, NULL},
    {"Transpose", lower_transpose, fold_transpose, 0, NULL},
    {0}};
