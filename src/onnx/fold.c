/* What operators of constants share. */
#include "onnx/fold.h"

#include <string.h>

struct walk walk_through(const struct shape *shape)
{
    const struct shape stored = shape_stored(shape);
    struct walk walk = {.rank = stored.rank};
    memcpy(walk.size, stored.dims, stored.rank * sizeof *stored.dims);
    return walk;
}

void fold_strides(const struct shape *shape, int64_t stride[GLCNN_ONNX_RANK])
{
    int64_t all = 1;
    for (uint32_t i = shape->rank; i-- > 0; all *= shape->dims[i])
        stride[i] = all;
}

void walk_broadcast(struct walk *walk, size_t k, const struct shape *part)
{
    const struct shape stored = shape_stored(part);
    int64_t stride[GLCNN_ONNX_RANK];
    fold_strides(&stored, stride);
    for (uint32_t back = 1; back <= stored.rank; back++) {
        const uint32_t own = stored.rank - back;
        walk->stride[k][walk->rank - back] = stored.dims[own] == 1 ? 0 : stride[own];
    }
}

void walk_next(struct walk *walk)
{
    for (uint32_t i = walk->rank; i-- > 0;) {
        const bool is_last = ++walk->index[i] == walk->size[i];
        for (size_t k = 0; k < WALK_MOST; k++)
            walk->at[k] += walk->stride[k][i] * (is_last ? 1 - walk->size[i] : 1);
        if (!is_last)
            return;
        walk->index[i] = 0;
    }
}

struct constant *fold_like(struct call *call, const struct shape *shape, const struct constant *x)
{
    struct constant *made = constant_make(call->reader, shape, x->wholes);
    if (made)
        made->type = x->type;
    return made;
}

bool fold_work(struct call *call, uint64_t steps)
{
    if (steps > call->reader->work)
        return op_fail(call, GLCNN_LIMIT_EXCEEDED,
                       "to compute it takes %llu steps, out of proportion to the file",
                       (unsigned long long)steps);
    call->reader->work -= steps;
    return true;
}

bool fold_axis(struct call *call, size_t i, int64_t otherwise, const struct constant **x, int *axis)
{
    char text[96];
    if (!op_constant(call, i, true, x))
        return false;
    const int64_t wanted = attribute_int(call, "axis", otherwise);
    *axis = shape_axis(&(*x)->shape, wanted);
    return *axis >= 0 || op_fail(call, GLCNN_MALFORMED_DATA, "axis %lld is not one of %s",
                                 (long long)wanted, shape_text(&(*x)->shape, text));
}

struct parts fold_parts(const struct shape *shape, int axis)
{
    return (struct parts){(size_t)shape_count_between(shape, 0, axis), (size_t)shape->dims[axis],
                          (size_t)shape_count_between(shape, axis + 1, (int)shape->rank)};
}
