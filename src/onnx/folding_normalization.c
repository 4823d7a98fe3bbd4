/* Normalisations of constants: of weights, mostly, before they are those of a convolution. */
#include <math.h>
#include <string.h>

#include "onnx/fold.h"

/* y = (x - mean) / sqrt(variance + epsilon), over elements that have the same place in a tensor of the
 * shape `kept`, whose sizes are those of x or 1. */
struct moments {
    struct constant *mean, *deviation; /* of `kept`, the second 1 / sqrt(variance + epsilon) */
};

static void average(const struct constant *x, const struct shape *kept, const struct constant *mean,
                    struct constant *result)
{
    const double each = (double)(x->count / result->count);
    struct walk w = walk_through(&x->shape);
    walk_broadcast(&w, 0, kept);
    for (size_t i = 0; i < x->count; i++, walk_next(&w)) {
        const size_t at = (size_t)w.at[0];
        const double number = constant_number(x, i) - (mean ? constant_number(mean, at) : 0);
        constant_set(result, at,
                     constant_number(result, at) + (mean ? number * number : number) / each);
    }
}

static bool measure(struct call *call, const struct constant *x, const struct shape *kept,
                    struct moments *m)
{
    const double epsilon = (double)attribute_float(call, "epsilon", 1e-5f);
    m->mean = constant_make(call->reader, kept, false);
    m->deviation = m->mean ? constant_make(call->reader, kept, false) : NULL;
    if (!m->deviation || !fold_work(call, 2 * (uint64_t)x->count))
        return false;
    if (x->count) {
        average(x, kept, NULL, m->mean);
        average(x, kept, m->mean, m->deviation);
    }
    for (size_t i = 0; i < m->deviation->count; i++)
        constant_set(m->deviation, i, 1 / sqrt(constant_number(m->deviation, i) + epsilon));
    return true;
}

/* Inputs 1 and 2, broadcast as tensors of these shapes; the second may be left out. */
static bool give(struct call *call, const struct constant *x, const struct shape *kept,
                 const struct moments *m, const struct shape *own)
{
    const struct constant *gamma, *beta;
    if (!op_constant(call, 1, true, &gamma) || !op_constant(call, 2, false, &beta))
        return false;
    const size_t count = (size_t)shape_count(own);
    if (gamma->count != count || (beta && beta->count != count))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its scale or bias does not have %zu numbers",
                       count);
    struct constant *y = fold_like(call, &x->shape, x);
    struct walk w = walk_through(&x->shape);
    walk_broadcast(&w, 0, kept);
    walk_broadcast(&w, 1, own);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w)) {
        const size_t at = (size_t)w.at[0], channel = (size_t)w.at[1];
        const double share = (constant_number(x, i) - constant_number(m->mean, at)) *
                             constant_number(m->deviation, at);
        constant_set(y, i,
                     share * constant_number(gamma, channel) +
                         (beta ? constant_number(beta, channel) : 0));
    }
    return op_give_constant(call, 0, y);
}

/* Only axis 1, or axes 0 and 1, of more than one number. */
static struct shape channels_of(const struct shape *shape, bool has_images)
{
    struct shape kept = *shape;
    for (uint32_t i = 0; i < shape->rank; i++)
        if (i != 1 && !(i == 0 && has_images))
            kept.dims[i] = 1;
    return kept;
}

static bool channels_input(struct call *call, const struct constant **x)
{
    return op_constant(call, 0, true, x) &&
           ((*x)->shape.rank >= 2 ||
            op_fail(call, GLCNN_MALFORMED_DATA, "its input has no channels"));
}

/* Inputs 3 and 4. */
static bool read_moments(struct call *call, const struct shape *channels, struct moments *m)
{
    const double epsilon = (double)attribute_float(call, "epsilon", 1e-5f);
    const struct constant *mean, *variance;
    const size_t count = (size_t)shape_count(channels);
    if (!op_constant(call, 3, true, &mean) || !op_constant(call, 4, true, &variance))
        return false;
    if (mean->count != count || variance->count != count)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its statistics do not have %zu numbers", count);
    m->mean = constant_make(call->reader, channels, false);
    m->deviation = m->mean ? constant_make(call->reader, channels, false) : NULL;
    for (size_t i = 0; m->deviation && i < count; i++) {
        constant_set(m->mean, i, constant_number(mean, i));
        constant_set(m->deviation, i, 1 / sqrt(constant_number(variance, i) + epsilon));
    }
    return m->deviation;
}

/* In training, which to opset 13 further outputs tell, by the statistics of what it is given. */
bool fold_batch_normalization(struct call *call)
{
    const struct constant *x;
    struct moments m;
    const bool trains = call->reader->opset >= 14 ? attribute_int(call, "training_mode", 0) != 0
                                                  : call->node->n_output > 1;
    if (!channels_input(call, &x))
        return false;
    const struct shape channels = channels_of(&x->shape, false);
    return (trains ? measure(call, x, &channels, &m) : read_moments(call, &channels, &m)) &&
           give(call, x, &channels, &m, &channels);
}

bool fold_instance_normalization(struct call *call)
{
    const struct constant *x;
    struct moments m;
    if (!channels_input(call, &x))
        return false;
    const struct shape channels = channels_of(&x->shape, false),
                       kept = channels_of(&x->shape, true);
    return measure(call, x, &kept, &m) && give(call, x, &kept, &m, &channels);
}

bool fold_layer_normalization(struct call *call)
{
    const struct constant *x;
    struct moments m;
    int axis;
    if (!fold_axis(call, 0, -1, &x, &axis))
        return false;
    struct shape kept = x->shape, own = x->shape;
    for (int i = 0; i < (int)x->shape.rank; i++)
        *(i < axis ? &own.dims[i] : &kept.dims[i]) = 1;
    return measure(call, x, &kept, &m) && give(call, x, &kept, &m, &own);
}
