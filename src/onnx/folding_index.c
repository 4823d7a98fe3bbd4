/* Numbers of constants that are taken from, or put to, places that other constants name. */
#include <inttypes.h>
#include <string.h>

#include "onnx/fold.h"

/* From 0 on; -1, with the message, where it is beyond. */
static int64_t index_within(struct call *call, int64_t index, int64_t size)
{
    const int64_t found = index < 0 ? index + size : index;
    if (found >= 0 && found < size)
        return found;
    op_fail(call, GLCNN_MALFORMED_DATA, "index %" PRId64 " is beyond %" PRId64, index, size);
    return -1;
}

/* An input of whole numbers. */
static bool read_indices(struct call *call, size_t i, const struct constant **at)
{
    return op_constant(call, i, true, at) &&
           ((*at)->wholes ||
            op_fail(call, GLCNN_MALFORMED_DATA, "input %zu has real numbers; expected indices", i));
}

bool fold_gather(struct call *call)
{
    const struct constant *x, *at;
    int axis;
    if (!fold_axis(call, 0, 0, &x, &axis) || !read_indices(call, 1, &at))
        return false;
    const struct parts p = fold_parts(&x->shape, axis);
    struct shape shape = {.rank = x->shape.rank + at->shape.rank - 1};
    if (shape.rank > GLCNN_ONNX_RANK)
        return op_unsupported(call, "its result has more than %d axes", GLCNN_ONNX_RANK);
    for (uint32_t i = 0, k = 0; i < x->shape.rank; i++) {
        for (uint32_t j = 0; (int)i == axis && j < at->shape.rank; j++)
            shape.dims[k++] = at->shape.dims[j];
        if ((int)i != axis)
            shape.dims[k++] = x->shape.dims[i];
    }
    struct constant *y = fold_like(call, &shape, x);
    for (size_t row = 0; y && y->count && row < p.before * at->count; row++) {
        const int64_t index = index_within(call, at->wholes[row % at->count], (int64_t)p.size);
        if (index < 0)
            return false;
        const size_t from = (row / at->count * p.size + (size_t)index) * p.behind;
        for (size_t k = 0; k < p.behind; k++)
            constant_copy(y, row * p.behind + k, x, from + k);
    }
    return op_give_constant(call, 0, y);
}

/* Where the element of `at` that the walk is at points to in a tensor of `shape`, whose strides are
 * other 0 of the walk; -1: nowhere. */
static int64_t element_place(struct call *call, const struct walk *w, const struct shape *shape,
                             int axis, int64_t index)
{
    const int64_t found = index_within(call, index, shape->dims[axis]);
    return found < 0 ? -1 : w->at[0] + (found - w->index[axis]) * w->stride[0][axis];
}

/* The indices' axes are as many as the tensor's, and none but `axis` is longer. */
static bool check_elements(struct call *call, const struct shape *at, const struct shape *shape,
                           int axis)
{
    char first[96], second[96];
    bool fits = at->rank == shape->rank;
    for (uint32_t i = 0; fits && i < at->rank; i++)
        fits = (int)i == axis || at->dims[i] <= shape->dims[i];
    return fits || op_fail(call, GLCNN_MALFORMED_DATA, "indices of %s do not fit %s",
                           shape_text(at, first), shape_text(shape, second));
}

static bool fold_gather_elements(struct call *call)
{
    const struct constant *x, *at;
    int axis;
    if (!fold_axis(call, 0, 0, &x, &axis) || !read_indices(call, 1, &at) ||
        !check_elements(call, &at->shape, &x->shape, axis))
        return false;
    struct constant *y = fold_like(call, &at->shape, x);
    struct walk w = walk_through(&at->shape);
    fold_strides(&x->shape, w.stride[0]);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        const int64_t from = element_place(call, &w, &x->shape, axis, at->wholes[i]);
        if (from < 0)
            return false;
        constant_copy(y, i, x, (size_t)from);
    }
    return op_give_constant(call, 0, y);
}

/* ---- Scattered ---- */

enum reduction { REPLACE, ADD, MULTIPLY, LARGEST, SMALLEST };

static bool read_reduction(struct call *call, enum reduction *reduction)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    for (size_t i = 0; i < 5; i++)
        if (attribute_is(call, "reduction", names[i], "none")) {
            *reduction = (enum reduction)i;
            return true;
        }
    return op_fail(call, GLCNN_MALFORMED_DATA, "its reduction is unknown");
}

static void put(struct constant *y, size_t i, const struct constant *from, size_t j,
                enum reduction reduction)
{
    const double old = constant_number(y, i), other = constant_number(from, j);
    if (reduction == REPLACE)
        constant_copy(y, i, from, j);
    else
        constant_set(y, i,
                     reduction == ADD        ? old + other
                     : reduction == MULTIPLY ? old * other
                     : reduction == LARGEST  ? (old > other ? old : other)
                                             : (old < other ? old : other));
}

/* Input 0, of which a copy is made, and the updates, of the same kind. */
static struct constant *copy_data(struct call *call, const struct constant *x,
                                  const struct constant *updates)
{
    struct constant *y;
    if (!x->floats != !updates->floats) {
        op_fail(call, GLCNN_MALFORMED_DATA, "its data and its updates are of different types");
        return NULL;
    }
    y = fold_like(call, &x->shape, x);
    for (size_t i = 0; y && i < y->count; i++)
        constant_copy(y, i, x, i);
    return y;
}

static bool fold_scatter_elements(struct call *call)
{
    const struct constant *x, *at, *updates;
    enum reduction reduction = REPLACE;
    int axis;
    if (!fold_axis(call, 0, 0, &x, &axis) || !read_indices(call, 1, &at) ||
        !op_constant(call, 2, true, &updates) || !read_reduction(call, &reduction) ||
        !check_elements(call, &at->shape, &x->shape, axis))
        return false;
    if (!shape_equal(&updates->shape, &at->shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its updates do not have the indices' shape");
    struct constant *y = copy_data(call, x, updates);
    struct walk w = walk_through(&at->shape);
    fold_strides(&x->shape, w.stride[0]);
    for (size_t i = 0; y && i < at->count; i++, walk_next(&w)) {
        const int64_t to = element_place(call, &w, &x->shape, axis, at->wholes[i]);
        if (to < 0)
            return false;
        put(y, (size_t)to, updates, i, reduction);
    }
    return y && op_give_constant(call, 0, y);
}

/* ---- By several indices ---- */

/* Indices whose last axis has one for each of `depth` axes of the tensor, from axis `batch` on; each
 * names a part of `behind` numbers. */
struct places {
    const struct constant *at;
    const struct shape *of;
    size_t batch, depth, count, behind;
};

static bool read_places(struct call *call, const struct constant *x, size_t batch, struct places *p)
{
    *p = (struct places){.of = &x->shape, .batch = batch};
    if (!read_indices(call, 1, &p->at))
        return false;
    const struct shape *at = &p->at->shape;
    const int64_t depth = at->rank ? at->dims[at->rank - 1] : 0;
    bool fits = at->rank > batch && depth >= 1 && depth <= (int64_t)(x->shape.rank - batch);
    for (size_t i = 0; fits && i < batch; i++)
        fits = at->dims[i] == x->shape.dims[i];
    if (!fits || x->shape.rank < batch)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its indices do not fit its data");
    p->depth = (size_t)depth;
    p->count = p->at->count / p->depth;
    p->behind = (size_t)shape_count_between(&x->shape, (int)(batch + p->depth), (int)x->shape.rank);
    return true;
}

/* Where part i begins; -1: nowhere. */
static int64_t part_place(struct call *call, const struct places *p, size_t i)
{
    const size_t each =
        (size_t)shape_count_between(&p->at->shape, (int)p->batch, (int)p->at->shape.rank - 1);
    int64_t place = p->batch ? (int64_t)(i / each) : 0;
    for (size_t k = 0; k < p->depth; k++) {
        const int64_t size = p->of->dims[p->batch + k];
        const int64_t index = index_within(call, p->at->wholes[i * p->depth + k], size);
        if (index < 0)
            return -1;
        place = place * size + index;
    }
    return place * (int64_t)p->behind;
}

/* The indices' axes but the last one, then those of a part. */
static bool places_shape(struct call *call, const struct places *p, struct shape *shape)
{
    const size_t first = p->batch + p->depth;
    *shape = p->at->shape;
    shape->rank--;
    if (shape->rank + p->of->rank - first > GLCNN_ONNX_RANK)
        return op_unsupported(call, "its result has more than %d axes", GLCNN_ONNX_RANK);
    for (size_t i = first; i < p->of->rank; i++)
        shape->dims[shape->rank++] = p->of->dims[i];
    return true;
}

static bool fold_gather_nd(struct call *call)
{
    const struct constant *x;
    const int64_t batch = attribute_int(call, "batch_dims", 0);
    struct places p;
    struct shape shape;
    if (!op_constant(call, 0, true, &x))
        return false;
    if (batch < 0 || batch >= x->shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "batch_dims is %" PRId64, batch);
    if (!read_places(call, x, (size_t)batch, &p) || !places_shape(call, &p, &shape))
        return false;
    struct constant *y = fold_like(call, &shape, x);
    for (size_t i = 0; y && y->count && i < p.count; i++) {
        const int64_t from = part_place(call, &p, i);
        for (size_t k = 0; from >= 0 && k < p.behind; k++)
            constant_copy(y, i * p.behind + k, x, (size_t)from + k);
        if (from < 0)
            return false;
    }
    return op_give_constant(call, 0, y);
}

static bool fold_scatter_nd(struct call *call)
{
    const struct constant *x, *updates;
    enum reduction reduction = REPLACE;
    struct places p;
    struct shape shape;
    if (!op_constant(call, 0, true, &x) || !read_places(call, x, 0, &p) ||
        !op_constant(call, 2, true, &updates) || !read_reduction(call, &reduction) ||
        !places_shape(call, &p, &shape))
        return false;
    if (!shape_equal(&updates->shape, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its updates do not fit its indices");
    struct constant *y = copy_data(call, x, updates);
    for (size_t i = 0; y && updates->count && i < p.count; i++) {
        const int64_t to = part_place(call, &p, i);
        for (size_t k = 0; to >= 0 && k < p.behind; k++)
            put(y, (size_t)to + k, updates, i * p.behind + k, reduction);
        if (to < 0)
            return false;
    }
    return y && op_give_constant(call, 0, y);
}

/* ---- By what numbers are ---- */

static bool fold_one_hot(struct call *call)
{
    const struct constant *at, *depth, *values;
    if (!op_constant(call, 0, true, &at) || !op_constant(call, 1, true, &depth) ||
        !op_constant(call, 2, true, &values))
        return false;
    const double size = depth->count == 1 ? constant_number(depth, 0) : -1;
    struct shape shape = at->shape;
    int64_t axis = attribute_int(call, "axis", -1);
    axis += axis < 0 ? shape.rank + 1 : 0;
    if (!(size >= 0 && size < OPEN_BATCH) || values->count != 2 || axis < 0 || axis > shape.rank ||
        shape.rank == GLCNN_ONNX_RANK)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its depth, values or axis are invalid");
    memmove(shape.dims + axis + 1, shape.dims + axis,
            (shape.rank++ - (size_t)axis) * sizeof *shape.dims);
    shape.dims[axis] = (int64_t)size;
    struct constant *y = fold_like(call, &shape, values);
    const struct parts p = fold_parts(&shape, (int)axis);
    for (size_t i = 0; y && i < y->count; i++)
        constant_copy(y, i, values, 0);
    for (size_t i = 0; y && y->count && i < at->count; i++) {
        double index = constant_number(at, i);
        index += index < 0 ? size : 0;
        if (index >= 0 && index < size)
            constant_copy(y, (i / p.behind * p.size + (size_t)index) * p.behind + i % p.behind,
                          values, 1);
    }
    return op_give_constant(call, 0, y);
}

static bool fold_non_zero(struct call *call)
{
    const struct constant *x;
    size_t count = 0, found = 0;
    if (!op_constant(call, 0, true, &x) || !fold_work(call, x->count))
        return false;
    for (size_t i = 0; i < x->count; i++)
        count += constant_number(x, i) != 0;
    const struct shape shape = {.rank = 2, .dims = {x->shape.rank, (int64_t)count}};
    struct constant *y = constant_make(call->reader, &shape, true);
    struct walk w = walk_through(&x->shape);
    for (size_t i = 0; y && i < x->count; i++, walk_next(&w)) {
        if (constant_number(x, i) == 0)
            continue;
        for (uint32_t k = 0; k < x->shape.rank; k++)
            y->wholes[k * count + found] = w.index[k];
        found++;
    }
    return op_give_constant(call, 0, y);
}

/* Of the axis, or of all numbers, those whose condition holds. */
static bool fold_compress(struct call *call)
{
    const struct constant *x, *condition;
    if (!op_constant(call, 0, true, &x) || !op_constant(call, 1, true, &condition))
        return false;
    const bool is_flat = !attribute_find(call, "axis");
    const int axis = is_flat ? 0 : shape_axis(&x->shape, attribute_int(call, "axis", 0));
    struct shape shape = is_flat ? (struct shape){1, {(int64_t)x->count}} : x->shape;
    size_t count = 0, taken = 0;
    for (size_t i = 0; i < condition->count; i++)
        count += constant_number(condition, i) != 0;
    if (axis < 0 || condition->count > (size_t)shape.dims[axis])
        return op_fail(call, GLCNN_MALFORMED_DATA, "its condition or its axis does not fit");
    const struct parts p = fold_parts(&shape, axis);
    shape.dims[axis] = (int64_t)count;
    struct constant *y = fold_like(call, &shape, x);
    for (size_t i = 0; y && y->count && i < condition->count; i++) {
        if (constant_number(condition, i) == 0)
            continue;
        for (size_t row = 0; row < p.before * p.behind; row++)
            constant_copy(y, (row / p.behind * count + taken) * p.behind + row % p.behind, x,
                          (row / p.behind * p.size + i) * p.behind + row % p.behind);
        taken++;
    }
    return op_give_constant(call, 0, y);
}

static bool fold_triangle(struct call *call)
{
    const struct constant *x;
    const bool is_upper = attribute_int(call, "upper", 1) != 0;
    int64_t first = 0;
    size_t count;
    if (!op_constant(call, 0, true, &x) || !op_wholes(call, NULL, 1, 1, &first, &count))
        return false;
    first = count ? first : 0;
    const uint32_t last = x->shape.rank - 1;
    if (x->shape.rank < 2)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its input has no rows and columns");
    struct constant *y = fold_like(call, &x->shape, x);
    struct walk w = walk_through(&x->shape);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        const int64_t from = w.index[last] - w.index[last - 1];
        if (is_upper ? from >= first : from <= first)
            constant_copy(y, i, x, i);
    }
    return op_give_constant(call, 0, y);
}

const struct operator_row onnx_folding_indices[] = {
    {"GatherElements", op_only_constants, fold_gather_elements, 0, NULL},
    {"GatherND", op_only_constants, fold_gather_nd, 0, NULL},
    {"Scatter", op_only_constants, fold_scatter_elements, 0, NULL},
    {"ScatterElements", op_only_constants, fold_scatter_elements, 0, NULL},
    {"ScatterND", op_only_constants, fold_scatter_nd, 0, NULL},
    {"OneHot", op_only_constants, fold_one_hot, 0, NULL},
    {"NonZero", op_only_constants, fold_non_zero, 0, NULL},
    {"Compress", op_only_constants, fold_compress, 0, NULL},
    {"Trilu", op_only_constants, fold_triangle, 0, NULL},
    {0}};
