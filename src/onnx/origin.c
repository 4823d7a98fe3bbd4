/* Where numbers that only were moved come from. Their order in the tensor of the file is another one: the
 * axes of a layout are split where those of the constant end, and put in the order of the tensor's. */
#include "onnx/origin.h"

#include <string.h>

#include "onnx/values.h"

/* ---- Axes ---- */

/* An axis of a layout, or a part of it, and the dimension of the constant that it is of. */
struct part {
    int64_t size, stride;
    uint32_t dimension;
    bool is_output;
};

struct parts {
    struct part at[GLCNN_ONNX_RANK];
    uint32_t count;
};

/* The slowest digits of an axis that end with a dimension of the constant, whose own rest is `left`, the
 * axis's `size`. 0: neither goes into the other. */
static int64_t common(int64_t size, int64_t left)
{
    return size % left == 0 ? left : left % size == 0 ? size : 0;
}

/* Walks axes and dimensions from the fastest to the slowest. */
static bool split(const struct layout *layout, const struct shape *shape, struct parts *parts)
{
    uint32_t dimension = shape->rank;
    int64_t left = 1;
    parts->count = 0;
    for (uint32_t a = layout->axes; a-- > 0;) {
        int64_t size = layout->size[a], stride = layout->stride[a];
        while (size > 1) {
            while (left == 1 && dimension > 0)
                left = shape->dims[--dimension];
            const int64_t step = left > 1 ? common(size, left) : 0;
            if (step == 0 || parts->count == GLCNN_ONNX_RANK)
                return false;
            parts->at[parts->count++] =
                (struct part){step, stride, dimension, (int32_t)a == layout->output_axis};
            size /= step;
            left /= step;
            stride *= step;
        }
    }
    while (left == 1 && dimension > 0)
        left = shape->dims[--dimension];
    return left == 1;
}

/* In the order of the tensor, axis i of which is axis to[i] of the constant. */
static void join(const struct parts *parts, const uint32_t to[GLCNN_ONNX_RANK], uint32_t rank,
                 struct layout *layout)
{
    layout->axes = 0;
    layout->output_axis = -1;
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = parts->count; k-- > 0;) {
            const struct part *part = &parts->at[k];
            if (part->dimension != to[i])
                continue;
            layout->output_axis = part->is_output ? (int32_t)layout->axes : layout->output_axis;
            layout->size[layout->axes] = part->size;
            layout->stride[layout->axes++] = part->stride;
        }
}

/* An axis of outputs that is in two parts cannot have another size. */
static bool has_one_output(const struct parts *parts, const struct layout *layout)
{
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < parts->count; i++)
        outputs += parts->at[i].is_output;
    return layout->output_axis < 0 || outputs == 1;
}

/* ---- Nodes ---- */

static bool is_operator(const Onnx__NodeProto *node, const char *const *names)
{
    while (*names && strcmp(*names, text_of(node->op_type)) != 0)
        names++;
    return *names;
}

/* Back over a transposition to what it reads, of that shape. */
static bool undo_transposition(const struct call *call, const struct shape *made,
                               struct layout *layout)
{
    uint32_t to[GLCNN_ONNX_RANK] = {0};
    struct parts parts;
    const Onnx__AttributeProto *a = attribute_find(call, "perm");
    for (uint32_t k = 0; k < made->rank; k++) {
        const int64_t from =
            a && a->n_ints == made->rank ? a->ints[k] : (int64_t)made->rank - 1 - k;
        if (from < 0 || from >= made->rank)
            return false;
        to[from] = k;
    }
    if (!split(layout, made, &parts) || !has_one_output(&parts, layout))
        return false;
    if (layout->output_dimension >= 0)
        for (uint32_t k = 0; k < made->rank; k++)
            if (to[k] == (uint32_t)layout->output_dimension) {
                layout->output_dimension = (int32_t)k;
                break;
            }
    join(&parts, to, made->rank, layout);
    return true;
}

/* Back over another shape of the same numbers: the dimension of outputs is the one of as many numbers with
 * as many behind it. */
static bool undo_reshape(const struct shape *made, const struct shape *from, struct layout *layout)
{
    const int32_t d = layout->output_dimension;
    if (d < 0)
        return true;
    const int64_t behind = shape_count_between(made, d + 1, (int)made->rank);
    for (uint32_t i = 0; i < from->rank; i++)
        if (from->dims[i] == made->dims[d] &&
            shape_count_between(from, (int)i + 1, (int)from->rank) == behind) {
            layout->output_dimension = (int32_t)i;
            return true;
        }
    return false;
}

static bool undo(const struct call *call, const struct value *made, const struct value *from,
                 struct layout *layout)
{
    static const char *const transpositions[] = {"Transpose", NULL};
    static const char *const shapes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", NULL};
    static const char *const copies[] = {"Identity", "Cast", NULL};
    if (is_operator(call->node, transpositions))
        return undo_transposition(call, &made->shape, layout);
    if (is_operator(call->node, shapes))
        return undo_reshape(&made->shape, &from->shape, layout);
    return is_operator(call->node, copies);
}

const struct value *origin_find(const struct call *call, const struct value *value,
                                struct layout *layout)
{
    struct layout moved = *layout;
    const struct value *at = value;
    if (!value->learns || !value->parameter)
        return value;
    while (at->node && strcmp(at->name, value->parameter) != 0) {
        const struct call made = {call->reader, at->node, NULL};
        const struct value *from = op_input(&made, 0);
        if (at->uses != 1 || !from || !from->constant || from->uses != 1 ||
            from->constant->count != at->constant->count || !undo(&made, at, from, &moved))
            return value;
        at = from;
    }
    if (at == value || strcmp(at->name, value->parameter) != 0)
        return value;
    *layout = moved;
    return at;
}
