/* Constants of a file, what is computed of shapes, and constants of another shape. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "onnx/blocks.h"
#include "onnx/fold.h"

/* ---- Constant ---- */

static bool give_floats(struct call *call, const float *values, size_t count, bool is_list)
{
    const struct shape shape = {.rank = is_list, .dims = {(int64_t)count}};
    struct constant *c = constant_make(call->reader, &shape, false);
    if (c && count)
        memcpy(c->floats, values, count * sizeof *values);
    return op_give_constant(call, 0, c);
}

static bool give_wholes(struct call *call, const int64_t *values, size_t count, bool is_list)
{
    const struct shape shape = {.rank = is_list, .dims = {(int64_t)count}};
    struct constant *c = constant_make(call->reader, &shape, true);
    if (c && count)
        memcpy(c->wholes, values, count * sizeof *values);
    return op_give_constant(call, 0, c);
}

/* Where number i of a sparse tensor is among all; -1: its indices are beyond them. */
static int64_t sparse_place(const struct constant *at, const struct shape *shape, size_t i)
{
    int64_t place = 0;
    if (at->shape.rank == 1)
        return at->wholes[i] >= 0 && at->wholes[i] < shape_count(shape) ? at->wholes[i] : -1;
    for (uint32_t k = 0; k < shape->rank; k++) {
        const int64_t index = at->wholes[i * shape->rank + k];
        if (index < 0 || index >= shape->dims[k])
            return -1;
        place = place * shape->dims[k] + index;
    }
    return place;
}

static bool give_sparse(struct call *call, const Onnx__SparseTensorProto *s)
{
    struct shape shape = {.rank = (uint32_t)s->n_dims};
    if (!s->values || !s->indices || s->n_dims > GLCNN_ONNX_RANK)
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "its sparse tensor has no values or indices, or more than %d axes",
                       GLCNN_ONNX_RANK);
    if (s->n_dims)
        memcpy(shape.dims, s->dims, s->n_dims * sizeof *s->dims);
    const struct constant *values = constant_of_tensor(call->reader, s->values);
    const struct constant *at = values ? constant_of_tensor(call->reader, s->indices) : NULL;
    if (!at)
        return false;
    if (!at->wholes || at->count != values->count * (at->shape.rank == 1 ? 1 : shape.rank))
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "its sparse tensor has %zu indices of %zu values", at->count, values->count);
    struct constant *c = fold_like(call, &shape, values);
    for (size_t i = 0; c && i < values->count; i++) {
        const int64_t place = sparse_place(at, &shape, i);
        if (place < 0 || (size_t)place >= c->count)
            return op_fail(call, GLCNN_MALFORMED_DATA,
                           "index %zu of its sparse tensor is beyond it", i);
        constant_copy(c, (size_t)place, values, i);
    }
    return op_give_constant(call, 0, c);
}

static bool fold_constant(struct call *call)
{
    const Onnx__AttributeProto *a = call->node->n_attribute == 1 ? call->node->attribute[0] : NULL;
    if (!a || !a->name)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has no value, or several");
    if (a->t)
        return op_give_constant(call, 0, constant_of_tensor(call->reader, a->t));
    if (a->sparse_tensor)
        return give_sparse(call, a->sparse_tensor);
    if (strcmp(a->name, "value_floats") == 0)
        return give_floats(call, a->floats, a->n_floats, true);
    if (strcmp(a->name, "value_ints") == 0)
        return give_wholes(call, a->ints, a->n_ints, true);
    if (a->has_f || strcmp(a->name, "value_float") == 0)
        return give_floats(call, &a->f, 1, false);
    if (a->has_i || strcmp(a->name, "value_int") == 0)
        return give_wholes(call, &a->i, 1, false);
    return op_unsupported(call, "%.40s is not a number; texts are not read", a->name);
}

/* ---- Of a shape ---- */

static bool read_shape(struct call *call, size_t input, struct shape *shape)
{
    size_t rank;
    if (!op_wholes(call, NULL, input, GLCNN_ONNX_RANK, shape->dims, &rank))
        return false;
    shape->rank = (uint32_t)rank;
    return shape_check(call->reader, call->node->output[0], shape);
}

static bool fold_constant_of_shape(struct call *call)
{
    struct shape shape;
    const Onnx__AttributeProto *a = attribute_find(call, "value");
    if (a && !a->t)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its value is not a tensor");
    struct constant *value = a ? constant_of_tensor(call->reader, a->t) : NULL;
    if ((a && !value) || !read_shape(call, 0, &shape))
        return false;
    if (value && value->count != 1)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its value is not one number");
    struct constant *c = constant_make_filled(call->reader, &shape, value && value->wholes);
    if (c && value)
        c->type = value->type;
    for (size_t i = 0; c && value && i < c->count; i++)
        constant_copy(c, i, value, 0);
    return op_give_constant(call, 0, c);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Of images too: their shapes are known. */
static bool fold_shape(struct call *call)
{
    const struct value *x = op_input(call, 0);
    if (!x)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 0 is missing");
    int64_t rank = x->shape.rank, start = attribute_int(call, "start", 0),
            end = attribute_int(call, "end", rank);
    start = clamp(start < 0 ? start + rank : start, 0, rank);
    end = clamp(end < 0 ? end + rank : end, start, rank);
    return give_wholes(call, x->shape.dims + start, (size_t)(end - start), true);
}

static bool fold_size(struct call *call)
{
    const struct value *x = op_input(call, 0);
    if (!x)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 0 is missing");
    return give_wholes(call, (const int64_t[]){shape_count(&x->shape)}, 1, false);
}

static bool fold_range(struct call *call)
{
    const struct constant *c[3];
    for (size_t i = 0; i < 3; i++) {
        if (!op_constant(call, i, true, &c[i]))
            return false;
        if (c[i]->count != 1)
            return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu has %zu numbers; expected one", i,
                           c[i]->count);
    }
    double start = constant_number(c[0], 0), step = constant_number(c[2], 0);
    double count = ceil((constant_number(c[1], 0) - start) / step);
    if (!(count < 0x1p31))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its range is infinite");
    struct shape shape = {.rank = 1, .dims = {count > 0 ? (int64_t)count : 0}};
    if (!shape_batch_free(&shape))
        return op_unsupported(call, "it counts the images of a batch, which may be of any size");
    struct constant *y = fold_like(call, &shape, c[0]);
    for (size_t i = 0; y && i < y->count; i++)
        constant_set(y, i, start + step * (double)i);
    return op_give_constant(call, 0, y);
}

static bool fold_eye_like(struct call *call)
{
    const struct value *x = op_input(call, 0);
    const int64_t first = attribute_int(call, "k", 0);
    if (!x || x->shape.rank != 2 || !shape_batch_free(&x->shape))
        return op_unsupported(call, "its input has other axes than rows and columns");
    const int otherwise = x->constant ? x->constant->type : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    const int type = (int)attribute_int(call, "dtype", otherwise);
    struct constant *y = constant_make(call->reader, &x->shape, type_is_whole(type));
    if (!y)
        return false;
    y->type = type;
    const int64_t columns = x->shape.dims[1];
    for (int64_t row = 0; y->count && row < x->shape.dims[0]; row++)
        if (first >= -row && first < columns - row)
            constant_set(y, (size_t)(row * columns + row + first), 1);
    return op_give_constant(call, 0, y);
}

/* ---- Repeated ---- */

static bool fold_expand(struct call *call)
{
    const struct constant *x;
    struct shape to, shape;
    char first[96], second[96];
    if (!op_constant(call, 0, true, &x) || !read_shape(call, 1, &to))
        return false;
    if (!shape_broadcast(&x->shape, &to, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "a constant of %s does not fit a shape of %s",
                       shape_text(&x->shape, first), shape_text(&to, second));
    struct constant *y = fold_like(call, &shape, x);
    struct walk w = walk_through(&shape);
    walk_broadcast(&w, 0, &x->shape);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w))
        constant_copy(y, i, x, (size_t)w.at[0]);
    return op_give_constant(call, 0, y);
}

static bool fold_tile(struct call *call)
{
    const struct constant *x;
    int64_t repeats[GLCNN_ONNX_RANK], stride[GLCNN_ONNX_RANK];
    size_t count;
    if (!op_constant(call, 0, true, &x) ||
        !op_wholes(call, NULL, 1, GLCNN_ONNX_RANK, repeats, &count))
        return false;
    struct shape shape = x->shape;
    if (count != shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu repeats of %u axes", count,
                       shape.rank);
    for (uint32_t i = 0; i < shape.rank; i++) {
        const bool fits = repeats[i] >= 0 && repeats[i] <= INT32_MAX && shape.dims[i] <= INT32_MAX;
        shape.dims[i] = fits ? shape.dims[i] * repeats[i] : -1;
    }
    struct constant *y = fold_like(call, &shape, x);
    struct walk w = walk_through(&shape);
    fold_strides(&x->shape, stride);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        int64_t from = 0;
        for (uint32_t k = 0; k < shape.rank; k++)
            from += w.index[k] % x->shape.dims[k] * stride[k];
        constant_copy(y, i, x, (size_t)from);
    }
    return op_give_constant(call, 0, y);
}

/* ---- Pad ---- */

struct padding {
    int64_t before[GLCNN_ONNX_RANK], after[GLCNN_ONNX_RANK];
    enum padding_mode { NUMBER, REFLECT, EDGE, WRAP } mode;
    double number;
};

static bool read_mode(struct call *call, struct padding *p)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    for (size_t i = 0; i < 4; i++)
        if (attribute_is(call, "mode", modes[i], "constant")) {
            p->mode = (enum padding_mode)i;
            return true;
        }
    return op_fail(call, GLCNN_MALFORMED_DATA, "its mode is unknown");
}

static bool read_padding(struct call *call, uint32_t rank, struct padding *p)
{
    int64_t all[2 * GLCNN_ONNX_RANK], axes[GLCNN_ONNX_RANK];
    size_t count, axes_count;
    const struct constant *number;
    const struct shape shape = {.rank = rank};
    *p = (struct padding){.number = (double)attribute_float(call, "value", 0)};
    if (!read_mode(call, p) || !op_wholes(call, "pads", 1, 2 * GLCNN_ONNX_RANK, all, &count) ||
        !op_constant(call, 2, false, &number) ||
        !op_wholes(call, NULL, 3, GLCNN_ONNX_RANK, axes, &axes_count))
        return false;
    if (number && number->count)
        p->number = constant_number(number, 0);
    if (count % 2 || count / 2 != (axes_count ? axes_count : rank))
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu pads", count);
    for (size_t k = 0; k < count / 2; k++) {
        const int axis = shape_axis(&shape, axes_count ? axes[k] : (int64_t)k);
        const int64_t before = all[k], after = all[count / 2 + k];
        if (axis < 0 || before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX ||
            after > INT32_MAX)
            return op_fail(call, GLCNN_MALFORMED_DATA,
                           "it pads an axis that does not exist, or by "
                           "too much");
        p->before[axis] = before;
        p->after[axis] = after;
    }
    return true;
}

/* The element of an axis that is read at a place; -1: the number. */
static int64_t padded_index(int64_t at, int64_t size, const struct padding *p)
{
    const int64_t period = p->mode == WRAP ? size : size > 1 ? 2 * (size - 1) : 1;
    if (at >= 0 && at < size)
        return at;
    if (p->mode == NUMBER || size == 0)
        return -1;
    if (p->mode == EDGE)
        return at < 0 ? 0 : size - 1;
    at = (at % period + period) % period;
    return at < size ? at : period - at;
}

bool fold_pad(struct call *call)
{
    const struct constant *x;
    struct padding p;
    int64_t stride[GLCNN_ONNX_RANK];
    if (!op_constant(call, 0, true, &x) || !read_padding(call, x->shape.rank, &p))
        return false;
    struct shape shape = x->shape;
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] += p.before[i] + p.after[i];
    struct constant *y = fold_like(call, &shape, x);
    struct walk w = walk_through(&shape);
    fold_strides(&x->shape, stride);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        int64_t from = 0;
        for (uint32_t k = 0; k < shape.rank && from >= 0; k++) {
            const int64_t at = padded_index(w.index[k] - p.before[k], x->shape.dims[k], &p);
            from = at < 0 ? -1 : from + at * stride[k];
        }
        if (from < 0)
            constant_set(y, i, p.number);
        else
            constant_copy(y, i, x, (size_t)from);
    }
    return op_give_constant(call, 0, y);
}

/* ---- Blocks ---- */

/* Axes N, block row, block column, C in the operator's order, as the numbers of depth lie. */
static size_t block_place(const struct shape *deep, const int64_t index[4], int64_t size,
                          bool is_crd)
{
    const int64_t row = index[2] % size, column = index[3] % size;
    const int64_t channels = deep->dims[1] / (size * size);
    const int64_t channel = is_crd ? (index[1] * size + row) * size + column
                                   : (row * size + column) * channels + index[1];
    return (size_t)(((index[0] * deep->dims[1] + channel) * deep->dims[2] + index[2] / size) *
                        deep->dims[3] +
                    index[3] / size);
}

bool fold_blocks(struct call *call)
{
    const struct constant *x;
    struct blocks b;
    struct shape shape;
    if (!op_constant(call, 0, true, &x) || !blocks_read(call, &x->shape, &b, &shape))
        return false;
    struct constant *y = fold_like(call, &shape, x);
    struct walk w = walk_through(b.to_space ? &shape : &x->shape);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        const size_t deep = block_place(b.to_space ? &x->shape : &shape, w.index, b.size, b.is_crd);
        constant_copy(y, b.to_space ? i : deep, x, b.to_space ? deep : i);
    }
    return op_give_constant(call, 0, y);
}

const struct operator_row onnx_folding_shapes[] = {
    {"Constant", NULL, fold_constant, 0, NULL},
    {"ConstantOfShape", NULL, fold_constant_of_shape, 0, NULL},
    {"Shape", NULL, fold_shape, 0, NULL},
    {"Size", NULL, fold_size, 0, NULL},
    {"If", NULL, NULL, 0, NULL}, /* its branch takes its place before */
    {"EyeLike", NULL, fold_eye_like, 0, NULL},
    {"Range", op_only_constants, fold_range, 0, NULL},
    {"Expand", lower_expand, fold_expand, 0, NULL},
    {"Tile", lower_tile, fold_tile, 0, NULL},
    {0}};
