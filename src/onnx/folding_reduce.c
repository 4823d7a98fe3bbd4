/* Reductions of constants, and what orders or sums numbers along an axis. Sums are of double precision,
 * rounded once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/fold.h"

/* ---- Reductions ---- */

static double keep(double x)
{
    return x;
}

static double square(double x)
{
    return x * x;
}

static double add(double sum, double x)
{
    return sum + x;
}

static double multiply(double product, double x)
{
    return product * x;
}

static double larger(double a, double x)
{
    return isnan(x) || x > a ? x : a;
}

static double smaller(double a, double x)
{
    return isnan(x) || x < a ? x : a;
}

static const struct reduction {
    const char *name;
    double begin;
    double (*before)(double x);
    double (*join)(double all, double x);
    double (*after)(double all);
} reductions[] = {
    {"ReduceSum", 0, keep, add, keep},
    {"ReduceMean", 0, keep, add, keep},
    {"ReduceMax", -(double)INFINITY, keep, larger, keep},
    {"ReduceMin", (double)INFINITY, keep, smaller, keep},
    {"ReduceProd", 1, keep, multiply, keep},
    {"ReduceL1", 0, fabs, add, keep},
    {"ReduceL2", 0, square, add, sqrt},
    {"ReduceSumSquare", 0, square, add, keep},
    {"ReduceLogSum", 0, keep, add, log},
    {"ReduceLogSumExp", 0, exp, add, log},
};

/* The shape with reduced axes of size 1, and without them. */
static bool reduced_shapes(struct call *call, const struct shape *shape, struct shape *kept,
                           struct shape *left)
{
    int64_t axes[GLCNN_ONNX_RANK];
    bool reduced[GLCNN_ONNX_RANK];
    size_t count;
    if (!op_wholes(call, "axes", 1, GLCNN_ONNX_RANK, axes, &count))
        return false;
    for (uint32_t i = 0; i < shape->rank; i++)
        reduced[i] = !count && !attribute_int(call, "noop_with_empty_axes", 0);
    for (size_t i = 0; i < count; i++) {
        const int axis = shape_axis(shape, axes[i]);
        if (axis < 0)
            return op_fail(call, GLCNN_MALFORMED_DATA, "axis %lld is not one of its input's",
                           (long long)axes[i]);
        reduced[axis] = true;
    }
    *kept = *shape;
    *left = (struct shape){0};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (reduced[i])
            kept->dims[i] = 1;
        else
            left->dims[left->rank++] = shape->dims[i];
    return true;
}

static void reduce(const struct reduction *r, const struct constant *x, const struct shape *kept,
                   double *sums, struct constant *y)
{
    struct walk w = walk_through(&x->shape);
    const double each = y->count ? (double)(x->count / y->count) : 1;
    const bool is_mean = strcmp(r->name, "ReduceMean") == 0;
    walk_broadcast(&w, 0, kept);
    for (size_t i = 0; i < y->count; i++)
        sums[i] = r->begin;
    for (size_t i = 0; i < x->count; i++, walk_next(&w))
        sums[w.at[0]] = r->join(sums[w.at[0]], r->before(constant_number(x, i)));
    for (size_t i = 0; i < y->count; i++)
        constant_set(y, i, r->after(is_mean ? sums[i] / each : sums[i]));
}

bool fold_reduce(struct call *call)
{
    const struct constant *x;
    struct shape kept, left;
    size_t f = 0;
    while (strcmp(reductions[f].name, call->row->name) != 0)
        f++;
    if (!op_constant(call, 0, true, &x) || !reduced_shapes(call, &x->shape, &kept, &left) ||
        !fold_work(call, x->count))
        return false;
    struct constant *y = fold_like(call, attribute_int(call, "keepdims", 1) ? &kept : &left, x);
    double *sums = y ? malloc((y->count + 1) * sizeof *sums) : NULL;
    if (!sums)
        return onnx_no_memory(call->reader);
    reduce(&reductions[f], x, &kept, sums, y);
    free(sums);
    return op_give_constant(call, 0, y);
}

/* ---- Indices ---- */

static size_t find_extreme(const struct constant *x, size_t first, const struct parts *p,
                           bool is_least, bool is_last)
{
    size_t best = 0;
    for (size_t i = 1; i < p->size; i++) {
        const double number = constant_number(x, first + i * p->behind);
        const double than = constant_number(x, first + best * p->behind);
        if (is_least ? number < than : number > than)
            best = i;
        else if (is_last && number == than)
            best = i;
    }
    return best;
}

bool fold_argument(struct call *call)
{
    const struct constant *x;
    const bool is_least = strcmp(call->row->name, "ArgMin") == 0;
    const bool is_last = attribute_int(call, "select_last_index", 0) != 0;
    int axis;
    if (!fold_axis(call, 0, 0, &x, &axis) || !fold_work(call, x->count))
        return false;
    const struct parts p = fold_parts(&x->shape, axis);
    struct shape shape = x->shape;
    shape.dims[axis] = 1;
    if (!attribute_int(call, "keepdims", 1)) {
        shape.rank--;
        memmove(shape.dims + axis, shape.dims + axis + 1,
                (shape.rank - (size_t)axis) * sizeof *shape.dims);
    }
    if (!p.size)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis has no numbers");
    struct constant *y = constant_make(call->reader, &shape, true);
    for (size_t i = 0; y && i < y->count; i++)
        y->wholes[i] = (int64_t)find_extreme(x, i / p.behind * p.size * p.behind + i % p.behind, &p,
                                             is_least, is_last);
    return op_give_constant(call, 0, y);
}

struct ranked {
    double number; /* the larger one comes first */
    int64_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void take_first(const struct constant *x, size_t first, const struct parts *p,
                       bool is_largest, struct ranked *order)
{
    for (size_t k = 0; k < p->size; k++) {
        const double number = constant_number(x, first + k * p->behind);
        order[k] = (struct ranked){is_largest ? number : -number, (int64_t)k};
    }
    qsort(order, p->size, sizeof *order, compare_ranked);
}

static bool order_parts(struct call *call, const struct constant *x, const struct parts *p,
                        struct constant *values, struct constant *indices, size_t taken)
{
    const bool is_largest = attribute_int(call, "largest", 1) != 0;
    struct ranked *order = malloc((p->size + 1) * sizeof *order);
    if (!order)
        return onnx_no_memory(call->reader);
    for (size_t row = 0; row < p->before * p->behind; row++) {
        const size_t outer = row / p->behind, inner = row % p->behind;
        take_first(x, outer * p->size * p->behind + inner, p, is_largest, order);
        for (size_t k = 0; k < taken; k++) {
            const size_t to = (outer * taken + k) * p->behind + inner;
            const size_t from = (outer * p->size + (size_t)order[k].index) * p->behind + inner;
            constant_copy(values, to, x, from);
            indices->wholes[to] = order[k].index;
        }
    }
    free(order);
    return true;
}

static bool fold_top_k(struct call *call)
{
    const struct constant *x;
    int64_t taken = attribute_int(call, "k", 0);
    size_t count;
    int axis;
    if (!fold_axis(call, 0, -1, &x, &axis) || !fold_work(call, 32 * (uint64_t)x->count) ||
        (!attribute_find(call, "k") && !op_wholes(call, NULL, 1, 1, &taken, &count)))
        return false;
    const struct parts p = fold_parts(&x->shape, axis);
    struct shape shape = x->shape;
    if (taken < 0 || taken > shape.dims[axis])
        return op_fail(call, GLCNN_MALFORMED_DATA, "it takes %lld of %lld numbers",
                       (long long)taken, (long long)shape.dims[axis]);
    shape.dims[axis] = taken;
    struct constant *values = fold_like(call, &shape, x);
    struct constant *indices = values ? constant_make(call->reader, &shape, true) : NULL;
    return indices && (!x->count || order_parts(call, x, &p, values, indices, (size_t)taken)) &&
           op_give_constant(call, 0, values) && op_give_constant(call, 1, indices);
}

/* ---- Along an axis ---- */

enum choice { SHARES, LOGARITHMS, HARDEST };

static void share(const struct constant *x, size_t first, const struct parts *p, enum choice choice,
                  struct constant *y)
{
    const size_t best = find_extreme(x, first, p, false, false);
    const double most = constant_number(x, first + best * p->behind);
    double sum = 0;
    for (size_t k = 0; k < p->size; k++)
        sum += exp(constant_number(x, first + k * p->behind) - most);
    for (size_t k = 0; k < p->size; k++) {
        const double number = constant_number(x, first + k * p->behind) - most;
        constant_set(y, first + k * p->behind,
                     choice == SHARES       ? exp(number) / sum
                     : choice == LOGARITHMS ? number - log(sum)
                                            : k == best);
    }
}

/* Over one axis; to opset 12 over that and all behind it. */
bool fold_soft_max(struct call *call)
{
    const struct constant *x;
    const bool is_one = call->reader->opset >= 13;
    const enum choice choice = strcmp(call->row->name, "Softmax") == 0      ? SHARES
                               : strcmp(call->row->name, "LogSoftmax") == 0 ? LOGARITHMS
                                                                            : HARDEST;
    int axis;
    if (!fold_axis(call, 0, is_one ? -1 : 1, &x, &axis))
        return false;
    struct parts p = fold_parts(&x->shape, axis);
    if (!is_one)
        p = (struct parts){p.before, p.size * p.behind, 1};
    struct constant *y = fold_like(call, &x->shape, x);
    for (size_t row = 0; y && x->count && row < p.before * p.behind; row++)
        share(x, row / p.behind * p.size * p.behind + row % p.behind, &p, choice, y);
    return op_give_constant(call, 0, y);
}

const struct operator_row onnx_folding_axes[] = {
    {"Hardmax", op_only_constants, fold_soft_max, 0, NULL},
    {"TopK", op_only_constants, fold_top_k, 0, NULL},
    {0}};
