/* Einsum of two tensors: their axes put in the order of matrices, those multiplied, and the product's axes
 * in the order of the result. */
#include <string.h>

#include "onnx/operand.h"

enum { MOST_LABELS = GLCNN_ONNX_RANK };

struct labels {
    char of[MOST_LABELS + 1];
    uint32_t count;
};

struct equation {
    struct labels x, y, result;
};

/* Letters up to `end`; each once. */
static const char *read_labels(const char *at, const char *end, struct labels *labels)
{
    *labels = (struct labels){.count = 0};
    for (; at < end && *at != ',' && *at != '-'; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (*at == ' ')
            continue;
        if (!is_letter || labels->count == MOST_LABELS || strchr(labels->of, *at))
            return NULL;
        labels->of[labels->count++] = *at;
    }
    return at;
}

/* Without an arrow the result has what one tensor alone has, in the order of letters. */
static void implied_result(struct equation *e)
{
    for (char letter = 'A'; letter <= 'z'; letter++)
        if (!strchr(e->x.of, letter) != !strchr(e->y.of, letter) && e->result.count < MOST_LABELS)
            e->result.of[e->result.count++] = letter;
}

static bool read_equation(struct call *call, struct equation *e)
{
    const Onnx__AttributeProto *a = attribute_find(call, "equation");
    const char *at = a && a->has_s ? (const char *)a->s.data : NULL;
    const char *end = at ? at + a->s.len : NULL;
    *e = (struct equation){0};
    at = at ? read_labels(at, end, &e->x) : NULL;
    at = at && at < end && *at == ',' ? read_labels(at + 1, end, &e->y) : NULL;
    if (at && at + 1 < end && at[0] == '-' && at[1] == '>')
        at = read_labels(at + 2, end, &e->result);
    else if (at == end && at)
        implied_result(e);
    return (at && at == end) ||
           op_unsupported(call, "its equation is not one of two tensors whose axes have a letter "
                                "each, as \"bij,bjk->bik\"");
}

/* ---- Axes ---- */

/* Those labels of `from` that the others have, or have not. */
static void pick(const struct labels *from, const struct labels *one, bool has_one,
                 const struct labels *other, bool has_other, struct labels *to)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!strchr(one->of, from->of[i]) != has_one &&
            !strchr(other->of, from->of[i]) != has_other && to->count < MOST_LABELS)
            to->of[to->count++] = from->of[i];
}

static int64_t size_of(const struct operand *operand, const struct labels *labels, char letter)
{
    const char *found = strchr(labels->of, letter);
    return found ? operand->shape.dims[found - labels->of] : 1;
}

/* The operand's axes as these labels have them. */
static bool order_axes(struct call *call, struct operand *operand, const struct labels *own,
                       const struct labels *wanted)
{
    uint32_t end[GLCNN_ONNX_RANK];
    int64_t order[GLCNN_ONNX_RANK];
    if (!place_split(call, &operand->image, &operand->shape, end))
        return false;
    const struct shape shape = operand->shape;
    for (uint32_t i = 0; i < wanted->count; i++) {
        order[i] = strchr(own->of, wanted->of[i]) - own->of;
        operand->shape.dims[i] = shape.dims[order[i]];
    }
    view_permute(&operand->image, end, order, wanted->count);
    return true;
}

/* Axes of matrices, then rows and columns as one axis each. */
static void make_matrices(struct operand *operand, uint32_t matrices, uint32_t rows)
{
    const struct shape *shape = &operand->shape;
    const int first = (int)matrices, second = (int)(matrices + rows);
    struct shape narrow = {.rank = matrices + 2};
    memcpy(narrow.dims, shape->dims, matrices * sizeof *narrow.dims);
    narrow.dims[matrices] = shape_count_between(shape, first, second);
    narrow.dims[matrices + 1] = shape_count_between(shape, second, (int)shape->rank);
    operand->shape = narrow;
}

static void append(struct labels *to, const struct labels *labels)
{
    for (uint32_t i = 0; i < labels->count && to->count < MOST_LABELS; i++)
        to->of[to->count++] = labels->of[i];
}

/* ---- The operator ---- */

static bool read_operand(struct call *call, size_t i, const struct labels *labels,
                         struct operand *operand)
{
    const struct value *value = op_input(call, i);
    if (!value)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
    *operand = operand_of(value);
    if (operand->shape.rank != labels->count)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu has %u axes, its equation %u", i,
                       operand->shape.rank, labels->count);
    return operand->image.node || operand_place_constant(call, operand);
}

bool lower_einsum(struct call *call)
{
    struct equation e;
    struct operand x, y, product = {0};
    struct labels matrices = {0}, rows = {0}, columns = {0}, summed = {0};
    if (!read_equation(call, &e) || !read_operand(call, 0, &e.x, &x) ||
        !read_operand(call, 1, &e.y, &y))
        return false;
    pick(&e.x, &e.y, true, &e.result, true, &matrices);
    pick(&e.x, &e.y, false, &e.result, true, &rows);
    pick(&e.y, &e.x, false, &e.result, true, &columns);
    pick(&e.x, &e.y, true, &e.result, false, &summed);
    if (matrices.count + rows.count + summed.count != e.x.count ||
        matrices.count + columns.count + summed.count != e.y.count ||
        matrices.count + rows.count + columns.count != e.result.count ||
        matrices.count + 2 > GLCNN_ONNX_RANK)
        return op_unsupported(call,
                              "an axis of one tensor alone is summed, or one of the result is "
                              "that of none");
    struct labels of_x = matrices, of_y = matrices, of_product = matrices;
    append(&of_x, &rows);
    append(&of_x, &summed);
    append(&of_y, &summed);
    append(&of_y, &columns);
    append(&of_product, &rows);
    append(&of_product, &columns);
    struct shape shape = {.rank = of_product.count};
    for (uint32_t i = 0; i < of_product.count; i++)
        shape.dims[i] = strchr(e.x.of, of_product.of[i]) ? size_of(&x, &e.x, of_product.of[i])
                                                         : size_of(&y, &e.y, of_product.of[i]);
    if (!order_axes(call, &x, &e.x, &of_x) || !order_axes(call, &y, &e.y, &of_y))
        return false;
    make_matrices(&x, matrices.count, rows.count);
    make_matrices(&y, matrices.count, summed.count);
    if (!op_multiply(call, &x, &y, &product))
        return false;
    product.shape = shape;
    return order_axes(call, &product, &of_product, &e.result) &&
           op_give(call, 0, &product.shape, &product.image);
}
