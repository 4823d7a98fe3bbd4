/* Sums of the numbers so far along an axis. */
#include "onnx/fold.h"
#include "onnx/operand.h"

/* What is added up for a number: those before it along the axis, or behind it, and itself or not. */
struct cumulation {
    int axis;
    bool is_reverse, is_exclusive;
};

static bool read_cumulation(struct call *call, const struct shape *shape, struct cumulation *c)
{
    int64_t number;
    size_t count;
    if (!op_wholes(call, NULL, 1, 1, &number, &count))
        return false;
    c->axis = count ? shape_axis(shape, number) : -1;
    c->is_reverse = attribute_int(call, "reverse", 0) != 0;
    c->is_exclusive = attribute_int(call, "exclusive", 0) != 0;
    return c->axis >= 0 ||
           op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its input's");
}

/* A product with a triangle of ones, whose gradient is that of any layer. */
bool lower_cumulative_sum(struct call *call)
{
    struct value *x;
    struct cumulation c;
    if (!op_image(call, 0, &x) || !read_cumulation(call, &x->shape, &c))
        return false;
    struct image image = x->image;
    struct shape shape = x->shape;
    if (shape.dims[c.axis] % OPEN_BATCH == 0)
        return op_unsupported(call, "it sums over the batch; each image must be independent");
    const int64_t size = shape.dims[c.axis];
    struct constant *ones =
        constant_make_filled(call->reader, &(struct shape){.rank = 2, .dims = {size, size}}, false);
    for (int64_t to = 0; ones && to < size; to++)
        for (int64_t from = 0; from < size; from++) {
            const int64_t ahead = c.is_reverse ? from - to : to - from;
            ones->floats[to * size + from] = ahead >= c.is_exclusive;
        }
    return ones && op_multiply_axis(call, &image, &shape, c.axis, ones, NULL) &&
           op_give(call, 0, &shape, &image);
}

bool fold_cumulative_sum(struct call *call)
{
    const struct constant *x;
    struct cumulation c;
    if (!op_constant(call, 0, true, &x) || !read_cumulation(call, &x->shape, &c))
        return false;
    const struct parts p = fold_parts(&x->shape, c.axis);
    struct constant *y = fold_like(call, &x->shape, x);
    for (size_t row = 0; y && x->count && row < p.before * p.behind; row++) {
        double sum = 0;
        for (size_t k = 0; k < p.size; k++) {
            const size_t along = c.is_reverse ? p.size - 1 - k : k;
            const size_t at = (row / p.behind * p.size + along) * p.behind + row % p.behind;
            const double next = sum + constant_number(x, at);
            constant_set(y, at, c.is_exclusive ? sum : next);
            sum = next;
        }
    }
    return op_give_constant(call, 0, y);
}
