/* Operators of constants: what exporters compute of shapes before they reshape, and what they leave
 * of arithmetic on numbers that are known. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "onnx/onnx.h"

/* ---- Functions of numbers ---- */

static double reciprocal(double x)
{
    return 1 / x;
}

static double negative(double x)
{
    return -x;
}

static double negation(double x)
{
    return x == 0;
}

static const struct {
    const char *name;
    double (*of)(double x);
} unary_functions[] = {
    {"Abs", fabs},
    {"Exp", exp},
    {"Log", log},
    {"Sqrt", sqrt},
    {"Reciprocal", reciprocal},
    {"Floor", floor},
    {"Ceil", ceil},
    {"Not", negation},
    {"Neg", negative},
    {"Round", nearbyint},
    {"Erf", erf},

};

static void store(struct constant *to, size_t i, double value)
{
    if (to->floats)
        to->floats[i] = (float)value;
    else
        to->wholes[i] = value >= 0x1p63   ? INT64_MAX
                        : value < -0x1p63 ? INT64_MIN
                        : isnan(value)    ? 0
                                          : (int64_t)value;
}

bool fold_unary(struct call *call)
{
    const struct constant *x;
    size_t f = 0;
    while (strcmp(unary_functions[f].name, call->row->name) != 0)
        f++;
    if (!op_constant(call, 0, true, &x))
        return false;
    struct constant *y = constant_make(call->reader, &x->shape, x->wholes);
    for (size_t i = 0; y && i < x->count; i++)
        store(y, i, unary_functions[f].of(constant_number(x, i)));
    return op_give_constant(call, 0, y);
}

/* ---- Functions of two numbers, with broadcasting ---- */

static double sum(double x, double y)
{
    return x + y;
}

static double difference(double x, double y)
{
    return x - y;
}

static double product(double x, double y)
{
    return x * y;
}

static double quotient(double x, double y)
{
    return x / y;
}

static double is_equal(double x, double y)
{
    return x == y;
}

static double is_greater(double x, double y)
{
    return x > y;
}

static double is_less(double x, double y)
{
    return x < y;
}

static const struct {
    const char *name;
    double (*of)(double x, double y);
    bool is_truth;
} binary_functions[] = {
    {"Add", sum, false},           {"Sub", difference, false}, {"Mul", product, false},
    {"Div", quotient, false},      {"Pow", pow, false},        {"Max", fmax, false},
    {"Min", fmin, false},          {"Sum", sum, false},        {"Equal", is_equal, true},
    {"Greater", is_greater, true}, {"Less", is_less, true},    {"Mod", fmod, false},
};

size_t constant_place(const struct shape *all, const struct shape *part, size_t i)
{
    size_t place = 0, step = 1;
    for (uint32_t back = 1; back <= all->rank; back++) {
        size_t size = (size_t)all->dims[all->rank - back], index = i % size;
        i /= size;
        if (back > part->rank)
            continue;
        size_t own = (size_t)part->dims[part->rank - back];
        place += own == 1 ? 0 : index * step;
        step *= own;
    }
    return place;
}

static struct constant *combine(struct call *call, size_t f, const struct constant *x,
                                const struct constant *y)
{
    struct shape shape;
    if (!shape_broadcast(&x->shape, &y->shape, &shape)) {
        op_fail(call, GLCNN_MALFORMED_DATA, "shapes of its constants do not fit together");
        return NULL;
    }
    bool is_whole = (x->wholes && y->wholes) || binary_functions[f].is_truth;
    struct constant *z = constant_make(call->reader, &shape, is_whole);
    for (size_t i = 0; z && i < z->count; i++)
        store(z, i,
              binary_functions[f].of(constant_number(x, constant_place(&shape, &x->shape, i)),
                                     constant_number(y, constant_place(&shape, &y->shape, i))));
    return z;
}

bool fold_binary(struct call *call)
{
    const struct constant *x, *y;
    size_t f = 0;
    while (strcmp(binary_functions[f].name, call->row->name) != 0)
        f++;
    if (!op_constant(call, 0, true, &x))
        return false;
    for (size_t k = 1; k < call->node->n_input; k++) {
        if (!op_constant(call, k, true, &y))
            return false;
        x = combine(call, f, x, y);
        if (!x)
            return false;
    }
    return op_give_constant(call, 0, (struct constant *)(uintptr_t)x);
}

static bool fold_where(struct call *call)
{
    const struct constant *condition, *x, *y;
    struct shape shape, all;
    if (!op_constant(call, 0, true, &condition) || !op_constant(call, 1, true, &x) ||
        !op_constant(call, 2, true, &y))
        return false;
    if (!shape_broadcast(&x->shape, &y->shape, &shape) ||
        !shape_broadcast(&shape, &condition->shape, &all) || !x->floats != !y->floats)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
    struct constant *z = constant_make(call->reader, &all, x->wholes);
    for (size_t i = 0; z && i < z->count; i++) {
        bool is_x = constant_number(condition, constant_place(&all, &condition->shape, i)) != 0;
        const struct constant *from = is_x ? x : y;
        constant_copy(z, i, from, constant_place(&all, &from->shape, i));
    }
    return op_give_constant(call, 0, z);
}

static bool fold_expand(struct call *call)
{
    const struct constant *x;
    struct shape to, shape;
    size_t rank;
    if (!op_constant(call, 0, true, &x) ||
        !op_wholes(call, NULL, 1, GLCNN_ONNX_RANK, to.dims, &rank))
        return false;
    to.rank = (uint32_t)rank;
    if (!shape_check(call->reader, call->node->output[0], &to))
        return false;
    if (!shape_broadcast(&x->shape, &to, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its input does not fit that shape");
    struct constant *y = constant_make(call->reader, &shape, x->wholes);
    for (size_t i = 0; y && i < y->count; i++)
        constant_copy(y, i, x, constant_place(&shape, &x->shape, i));
    return op_give_constant(call, 0, y);
}

/* ---- Constants and shapes ---- */

static bool give_number(struct call *call, bool is_whole, const double *values, size_t count,
                        bool is_list)
{
    struct shape shape = {.rank = is_list, .dims = {(int64_t)count}};
    struct constant *c = constant_make(call->reader, &shape, is_whole);
    for (size_t i = 0; c && i < c->count; i++)
        store(c, i, values[i]);
    return op_give_constant(call, 0, c);
}

static bool give_floats(struct call *call, const Onnx__AttributeProto *a)
{
    struct shape shape = {.rank = 1, .dims = {(int64_t)a->n_floats}};
    struct constant *c = constant_make(call->reader, &shape, false);
    if (c && a->n_floats)
        memcpy(c->floats, a->floats, a->n_floats * sizeof *a->floats);
    return op_give_constant(call, 0, c);
}

static bool give_ints(struct call *call, const Onnx__AttributeProto *a)
{
    struct shape shape = {.rank = 1, .dims = {(int64_t)a->n_ints}};
    struct constant *c = constant_make(call->reader, &shape, true);
    if (c && a->n_ints)
        memcpy(c->wholes, a->ints, a->n_ints * sizeof *a->ints);
    return op_give_constant(call, 0, c);
}

static bool fold_constant(struct call *call)
{
    const Onnx__AttributeProto *a = call->node->n_attribute == 1 ? call->node->attribute[0] : NULL;
    if (!a)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has no value, or several");
    if (a->t)
        return op_give_constant(call, 0, constant_of_tensor(call->reader, a->t));
    if (a->has_f)
        return give_number(call, false, (const double[]){(double)a->f}, 1, false);
    if (a->has_i)
        return give_number(call, true, (const double[]){(double)a->i}, 1, false);
    if (a->name && strcmp(a->name, "value_floats") == 0)
        return give_floats(call, a);
    if (a->name && strcmp(a->name, "value_ints") == 0)
        return give_ints(call, a);
    return op_unsupported(call, "its value is not a number");
}

static bool fold_constant_of_shape(struct call *call)
{
    struct shape shape;
    size_t rank;
    const Onnx__AttributeProto *a = attribute_find(call, "value");
    if (a && !a->t)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its value is not a tensor");
    struct constant *value = a ? constant_of_tensor(call->reader, a->t) : NULL;
    if ((a && !value) || !op_wholes(call, NULL, 0, GLCNN_ONNX_RANK, shape.dims, &rank))
        return false;
    shape.rank = (uint32_t)rank;
    if (value && value->count != 1)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its value is not one number");
    struct constant *c = constant_make(call->reader, &shape, value && value->wholes);
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
    struct shape shape = {.rank = 1, .dims = {end - start}};
    struct constant *c = constant_make(call->reader, &shape, true);
    if (c)
        memcpy(c->wholes, x->shape.dims + start, c->count * sizeof *c->wholes);
    return op_give_constant(call, 0, c);
}

static bool fold_size(struct call *call)
{
    const struct value *x = op_input(call, 0);
    if (!x)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 0 is missing");
    return give_number(call, true, (const double[]){(double)shape_count(&x->shape)}, 1, false);
}

/* ---- Types ---- */

static bool is_whole_type(int64_t type)
{
    static const int64_t reals[] = {
        ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16,
        ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE, ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (reals[i] == type)
            return false;
    return true;
}

static bool convert(struct call *call, bool is_whole)
{
    const struct constant *x;
    if (!op_constant(call, 0, true, &x))
        return false;
    struct constant *y = constant_make(call->reader, &x->shape, is_whole);
    for (size_t i = 0; y && i < y->count; i++) {
        if (x->wholes && is_whole)
            constant_copy(y, i, x, i);
        else
            store(y, i, constant_number(x, i));
    }
    return op_give_constant(call, 0, y);
}

static bool fold_cast(struct call *call)
{
    return convert(call, is_whole_type(attribute_int(call, "to", 1)));
}

/* An image is float32 and stays so. */
static bool lower_cast(struct call *call)
{
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    int64_t to = attribute_int(call, "to", 1);
    if (to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && to != ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE)
        return op_unsupported(call, "an image would become whole numbers, or be rounded");
    return op_give(call, 0, &x->shape, &x->image);
}

static bool lower_cast_like(struct call *call)
{
    struct value *x;
    const struct value *like = op_input(call, 1);
    if (!op_image(call, 0, &x))
        return false;
    if (!like || !like->image.node)
        return op_unsupported(call, "an image would become of a constant's type");
    return op_give(call, 0, &x->shape, &x->image);
}

static bool fold_cast_like(struct call *call)
{
    const struct value *like = op_input(call, 1);
    return convert(call, like && like->constant && like->constant->wholes);
}

static bool fold_range(struct call *call)
{
    const struct constant *c[3];
    for (size_t i = 0; i < 3; i++)
        if (!op_constant(call, i, true, &c[i]))
            return false;
    double start = constant_number(c[0], 0), step = constant_number(c[2], 0);
    double count = ceil((constant_number(c[1], 0) - start) / step);
    if (!(count < 0x1p31))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its range is infinite");
    struct shape shape = {.rank = 1, .dims = {count > 0 ? (int64_t)count : 0}};
    struct constant *y = constant_make(call->reader, &shape, c[0]->wholes);
    for (size_t i = 0; y && i < y->count; i++)
        store(y, i, start + step * (double)i);
    return op_give_constant(call, 0, y);
}

bool fold_gather(struct call *call)
{
    const struct constant *x, *at;
    if (!op_constant(call, 0, true, &x) || !op_constant(call, 1, true, &at))
        return false;
    int axis = shape_axis(&x->shape, attribute_int(call, "axis", 0));
    struct shape shape = {.rank = x->shape.rank + at->shape.rank - 1};
    if (axis < 0 || shape.rank > GLCNN_ONNX_RANK || !at->wholes)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis or its indices are invalid");
    size_t inner = 1, size = (size_t)x->shape.dims[axis];
    for (uint32_t i = 0, k = 0; i < x->shape.rank; i++) {
        if ((int)i > axis)
            inner *= (size_t)x->shape.dims[i];
        for (uint32_t j = 0; (int)i == axis && j < at->shape.rank; j++)
            shape.dims[k++] = at->shape.dims[j];
        if ((int)i != axis)
            shape.dims[k++] = x->shape.dims[i];
    }
    struct constant *y = constant_make(call->reader, &shape, x->wholes);
    for (size_t i = 0; y && i < y->count; i++) {
        int64_t index = at->wholes[i / inner % at->count];
        index += index < 0 ? (int64_t)size : 0;
        if (index < 0 || index >= (int64_t)size)
            return op_fail(call, GLCNN_MALFORMED_DATA, "index %" PRId64 " is beyond %zu", index,
                           size);
        constant_copy(y, i, x, (i / inner / at->count * size + (size_t)index) * inner + i % inner);
    }
    return op_give_constant(call, 0, y);
}

static bool lower_nothing(struct call *call)
{
    return op_unsupported(call, "this operator is supported only for constants");
}

const struct operator_row onnx_folding[] = {
    {"Constant", NULL, fold_constant, 0, NULL},
    {"ConstantOfShape", NULL, fold_constant_of_shape, 0, NULL},
    {"Shape", NULL, fold_shape, 0, NULL},
    {"Size", NULL, fold_size, 0, NULL},
    {"Cast", lower_cast, fold_cast, 0, NULL},
    {"CastLike", lower_cast_like, fold_cast_like, 0, NULL},
    {"Range", lower_nothing, fold_range, 0, NULL},
    {"Where", lower_where, fold_where, 0, NULL},
    {"Expand", lower_expand, fold_expand, 0, NULL},
    {"Tile", lower_tile, NULL, 0, NULL},
    {"Equal", lower_nothing, fold_binary, 0, NULL},
    {"Greater", lower_nothing, fold_binary, 0, NULL},
    {"Less", lower_nothing, fold_binary, 0, NULL},
    {"Mod", lower_nothing, fold_binary, 0, NULL},
    {"Not", lower_nothing, fold_unary, 0, NULL},
    {0}};
