/* Operators that repeat numbers. */
#include "onnx/operand.h"

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
