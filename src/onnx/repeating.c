/* Operators that repeat numbers, and that choose between them by a mask that is known. */
#include <math.h>

#include "onnx/fold.h"
#include "onnx/operand.h"

/* ---- Expand and Tile ---- */

/* The batch of what becomes `to`: that of the image, or leading, where axis 0 gets one. */
static struct batch repeated_batch(const struct call *call, const struct operand *x,
                                   const struct shape *to)
{
    const int64_t images = call->reader->images;
    struct batch batch = view_batch(&x->image);
    bool gets_batch = !batch.after && images > 1 && to->rank && x->shape.dims[0] == 1 &&
                      to->dims[0] % images == 0;
    return gets_batch ? view_leading_batch(to, images) : view_broadcast_batch(batch, &x->shape, to);
}

static bool repeat(struct call *call, struct operand *x, const struct shape *to)
{
    x->shape = shape_widened(&x->shape, to->rank);
    return operand_repeat(call, x, to, repeated_batch(call, x, to));
}

bool lower_expand(struct call *call)
{
    struct value *value;
    struct shape to, shape;
    size_t rank;
    if (!op_image(call, 0, &value) || !op_wholes(call, NULL, 1, GLCNN_ONNX_RANK, to.dims, &rank))
        return false;
    to.rank = (uint32_t)rank;
    if (!shape_broadcast(&value->shape, &to, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its input does not fit that shape");
    struct operand x = operand_of(value);
    return op_shape(call, &shape) && repeat(call, &x, &shape) && op_give(call, 0, &shape, &x.image);
}

/* Each axis that is repeated is two: the repetitions, and what they are of. */
bool lower_tile(struct call *call)
{
    struct value *value;
    int64_t repeats[GLCNN_ONNX_RANK];
    size_t count;
    if (!op_image(call, 0, &value) || !op_wholes(call, NULL, 1, GLCNN_ONNX_RANK, repeats, &count))
        return false;
    struct operand x = operand_of(value);
    struct shape result = value->shape, to = {0};
    x.shape.rank = 0;
    if (count != value->shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu repeats for %u axes", count,
                       value->shape.rank);
    for (uint32_t i = 0; i < value->shape.rank; i++) {
        if (repeats[i] < 1 || repeats[i] > INT32_MAX || to.rank + 2 > GLCNN_ONNX_RANK)
            return op_unsupported(call, "axis %u is repeated %lld times, or too many are", i,
                                  (long long)repeats[i]);
        result.dims[i] *= repeats[i];
        if (repeats[i] > 1) {
            x.shape.dims[x.shape.rank++] = 1;
            to.dims[to.rank++] = repeats[i];
        }
        x.shape.dims[x.shape.rank++] = value->shape.dims[i];
        to.dims[to.rank++] = value->shape.dims[i];
    }
    return op_shape(call, &result) && repeat(call, &x, &to) && op_give(call, 0, &result, &x.image);
}

/* ---- Where ---- */

#define LARGEST_NUMBER 1e19f /* that a vector of a kernel has */

/* Bounds between which a number stays where the mask has `kept`, and is 0 elsewhere. */
static struct constant *make_bounds(struct call *call, const struct constant *mask, bool kept,
                                    float bound)
{
    struct constant *bounds = constant_make(call->reader, &mask->shape, false);
    for (size_t i = 0; bounds && i < bounds->count; i++)
        bounds->floats[i] = (constant_number(mask, i) != 0) == kept ? bound : 0;
    return bounds;
}

static bool bound(struct call *call, struct operand *x, const struct value *mask, bool kept,
                  float number)
{
    struct value value = {.name = mask->name, .shape = mask->shape};
    value.constant = make_bounds(call, mask->constant, kept, number);
    struct operand bounds = {.shape = mask->shape, .constant = &value};
    return value.constant && op_join(call, number < 0 ? "maximum" : "minimum", x, &bounds, "mask");
}

/* The input where the mask has `kept`, 0 elsewhere: also of what is not finite there. */
static bool keep(struct call *call, size_t i, const struct value *mask, bool kept,
                 struct operand *x)
{
    const struct value *value = op_input(call, i);
    *x = operand_of(value);
    if (!value->constant)
        return bound(call, x, mask, kept, -LARGEST_NUMBER) &&
               bound(call, x, mask, kept, LARGEST_NUMBER);
    return true;
}

/* The constant's numbers where the mask has `kept`, 0 elsewhere. */
static bool keep_constant(struct call *call, const struct value *value, const struct value *mask,
                          bool kept, struct value *masked)
{
    struct shape shape;
    if (!shape_broadcast(&value->shape, &mask->shape, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
    *masked = (struct value){.name = value->name, .shape = shape, .parameter = value->parameter};
    masked->constant = constant_make(call->reader, &shape, false);
    struct walk walk = walk_through(&shape);
    walk_broadcast(&walk, 0, &mask->shape);
    walk_broadcast(&walk, 1, &value->shape);
    for (size_t i = 0; masked->constant && i < masked->constant->count; i++, walk_next(&walk))
        if ((constant_number(mask->constant, (size_t)walk.at[0]) != 0) == kept)
            masked->constant->floats[i] =
                (float)constant_number(value->constant, (size_t)walk.at[1]);
    return masked->constant;
}

bool lower_where(struct call *call)
{
    const struct value *mask = op_input(call, 0);
    struct operand kept[2];
    struct value masked[2];
    if (!mask || !op_input(call, 1) || !op_input(call, 2))
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has three inputs; one is missing");
    if (!mask->constant)
        return op_unsupported(call, "its condition is computed while the model runs; only one that "
                                    "is known beforehand can be read");
    for (size_t i = 0; i < 2; i++) {
        const struct value *value = op_input(call, i + 1);
        if (!keep(call, i + 1, mask, i == 0, &kept[i]))
            return false;
        if (!value->constant)
            continue;
        if (!keep_constant(call, value, mask, i == 0, &masked[i]))
            return false;
        kept[i] = operand_of(&masked[i]);
    }
    return op_join(call, "add", &kept[0], &kept[1], NULL) &&
           op_give(call, 0, &kept[0].shape, &kept[0].image);
}
