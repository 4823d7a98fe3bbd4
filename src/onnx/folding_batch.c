/* Batch normalisation of constants: what standardises weights before a convolution. */
#include <math.h>

#include "onnx/fold.h"

/* y = (x - mean) / sqrt(variance + epsilon) gamma + beta of one channel; in training of its own mean and
 * variance, that of all its numbers. */
struct channel {
    double mean, variance, gamma, beta;
};

static void find_moments(const struct constant *x, const struct parts *p, size_t channel,
                         struct channel *c)
{
    const double count = (double)(p->before * p->behind);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p->before * p->behind; i++)
        sum += constant_number(x, (i / p->behind * p->size + channel) * p->behind + i % p->behind);
    c->mean = sum / count;
    for (size_t i = 0; i < p->before * p->behind; i++) {
        double d =
            constant_number(x, (i / p->behind * p->size + channel) * p->behind + i % p->behind) -
            c->mean;
        squares += d * d;
    }
    c->variance = squares / count;
}

static bool check_inputs(struct call *call, const struct constant *x, const struct constant *of[4])
{
    bool fits = x->floats && x->shape.rank >= 2 && x->count && constant_batch_free(x);
    for (size_t i = 0; i < 4; i++) {
        if (!op_constant(call, i + 1, true, &of[i]))
            return false;
        fits = fits && of[i]->count == (size_t)x->shape.dims[1];
    }
    return fits || op_fail(call, GLCNN_MALFORMED_DATA, "its constants do not fit together");
}

bool fold_batch(struct call *call)
{
    const struct constant *x, *of[4];
    const bool trains = attribute_int(call, "training_mode", 0) != 0;
    const double epsilon = (double)attribute_float(call, "epsilon", 1e-5f);
    if (!op_constant(call, 0, true, &x) || !check_inputs(call, x, of))
        return false;
    const struct parts p = fold_parts(&x->shape, 1);
    struct constant *y = fold_like(call, &x->shape, x);
    for (size_t k = 0; y && k < p.size; k++) {
        struct channel c = {constant_number(of[2], k), constant_number(of[3], k),
                            constant_number(of[0], k), constant_number(of[1], k)};
        if (trains)
            find_moments(x, &p, k, &c);
        const double scale = c.gamma / sqrt(c.variance + epsilon);
        for (size_t i = 0; i < p.before * p.behind; i++) {
            const size_t at = (i / p.behind * p.size + k) * p.behind + i % p.behind;
            constant_set(y, at, (constant_number(x, at) - c.mean) * scale + c.beta);
        }
    }
    return op_give_constant(call, 0, y);
}
