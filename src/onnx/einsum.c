/* Einsum of two tensors: their axes put in the order of matrices, those multiplied, and the product's axes
 * in the order of the result. */
#include <string.h>

#include "onnx/equation.h"
#include "onnx/operand.h"

/* Labels of axes. */
struct labels {
    char of[GLCNN_ONNX_RANK + 1];
};

/* Those labels of `from` that the others have, or have not. */
static struct labels pick(const char *from, const char *one, bool has_one, const char *other,
                          bool has_other)
{
    struct labels picked = {{0}};
    size_t count = 0;
    for (; *from; from++)
        if (!strchr(one, *from) != has_one && !strchr(other, *from) != has_other)
            picked.of[count++] = *from;
    return picked;
}

static void append(struct labels *to, const char *labels)
{
    for (size_t count = strlen(to->of); *labels && count < GLCNN_ONNX_RANK; labels++)
        to->of[count++] = *labels;
}

/* Of at most as many axes as a tensor has. */
static struct labels together(const struct labels *a, const struct labels *b,
                              const struct labels *c)
{
    struct labels all = *a;
    append(&all, b->of);
    append(&all, c->of);
    return all;
}

static bool is_plain(const char *labels)
{
    for (; *labels; labels++)
        if (strchr("01234567", *labels) || strchr(labels + 1, *labels))
            return false;
    return true;
}

/* ---- Axes ---- */

static int64_t size_of(const struct operand *operand, const char *labels, char label)
{
    return operand->shape.dims[strchr(labels, label) - labels];
}

/* The operand's axes as these labels have them. */
static bool order_axes(struct call *call, struct operand *operand, const char *own,
                       const char *wanted)
{
    uint32_t end[GLCNN_ONNX_RANK], count = 0;
    int64_t order[GLCNN_ONNX_RANK];
    if (!place_split(call, &operand->image, &operand->shape, end))
        return false;
    const struct shape shape = operand->shape;
    for (; wanted[count]; count++) {
        order[count] = strchr(own, wanted[count]) - own;
        operand->shape.dims[count] = shape.dims[order[count]];
    }
    view_permute(&operand->image, end, order, count);
    return true;
}

/* Axes of matrices, then rows and columns as one axis each. */
static void make_matrices(struct operand *operand, size_t matrices, size_t rows)
{
    const struct shape *shape = &operand->shape;
    const int first = (int)matrices, second = (int)(matrices + rows);
    struct shape narrow = {.rank = (uint32_t)matrices + 2};
    memcpy(narrow.dims, shape->dims, matrices * sizeof *narrow.dims);
    narrow.dims[matrices] = shape_count_between(shape, first, second);
    narrow.dims[matrices + 1] = shape_count_between(shape, second, (int)shape->rank);
    operand->shape = narrow;
}

/* Makes a constant an image: its axis of the batch is the one of the other's label. */
static bool place_constant(struct call *call, struct operand *operand, const char *own,
                           const struct operand *other, const char *others)
{
    const struct batch batch = view_batch(&other->image);
    const int axis = view_batch_axis(batch, &other->shape);
    const char *same = axis >= 0 ? strchr(own, others[axis]) : NULL;
    return operand->image.node ||
           operand_place_constant(call, operand,
                                  operand_constant_batch(batch, &other->shape, same ? axis : -1,
                                                         &operand->shape,
                                                         same ? (int)(same - own) : 0));
}

/* ---- The operator ---- */

static bool refuse_equation(struct call *call)
{
    return op_unsupported(call, "its equation is not one of two tensors whose axes have a letter "
                                "each, as \"bij,bjk->bik\"");
}

static bool read_operands(struct call *call, struct equation *e, struct operand operands[2])
{
    char text[EQUATION_LENGTH];
    uint32_t ranks[2];
    *e = (struct equation){.operands = 2};
    if (call->node->n_input != 2)
        return refuse_equation(call);
    for (size_t i = 0; i < 2; i++) {
        const struct value *value = op_input(call, i);
        if (!value)
            return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
        operands[i] = operand_of(value);
        ranks[i] = value->shape.rank;
    }
    if (!equation_text(call, text) || !equation_read(call, text, ranks, e))
        return false;
    return (is_plain(e->labels[0]) && is_plain(e->labels[1]) && is_plain(e->result)) ||
           refuse_equation(call);
}

bool lower_einsum(struct call *call)
{
    struct equation e;
    struct operand operands[2], product = {0};
    if (!read_operands(call, &e, operands))
        return false;
    struct operand *x = &operands[0], *y = &operands[1];
    const char *of_x = e.labels[0], *of_y = e.labels[1], *of_result = e.result;
    const struct labels matrices = pick(of_x, of_y, true, of_result, true);
    const struct labels rows = pick(of_x, of_y, false, of_result, true);
    const struct labels columns = pick(of_y, of_x, false, of_result, true);
    const struct labels summed = pick(of_x, of_y, true, of_result, false);
    const size_t m = strlen(matrices.of), r = strlen(rows.of), k = strlen(columns.of),
                 n = strlen(summed.of);
    if (m + r + n != strlen(of_x) || m + k + n != strlen(of_y) || m + r + k != strlen(of_result) ||
        m + 2 > GLCNN_ONNX_RANK)
        return op_unsupported(call,
                              "an axis of one tensor alone is summed, or one of the result is "
                              "that of none");
    const struct labels all = together(&matrices, &rows, &columns);
    struct shape shape = {.rank = (uint32_t)(m + r + k)};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] =
            strchr(of_x, all.of[i]) ? size_of(x, of_x, all.of[i]) : size_of(y, of_y, all.of[i]);
    if (!place_constant(call, x, of_x, y, of_y) || !place_constant(call, y, of_y, x, of_x) ||
        !order_axes(call, x, of_x, together(&matrices, &rows, &summed).of) ||
        !order_axes(call, y, of_y, together(&matrices, &summed, &columns).of))
        return false;
    make_matrices(x, m, r);
    make_matrices(y, m, n);
    if (!op_multiply(call, x, y, &product))
        return false;
    product.shape = shape;
    return order_axes(call, &product, all.of, of_result) &&
           op_give(call, 0, &product.shape, &product.image);
}
