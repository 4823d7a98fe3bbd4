/* The types of neurons: f and f' of each in double precision, as the references compute them. Graphs
 * look at f too, to choose how the weights before a neuron start. */
#ifndef GLCNN_KERNELS_NEURON_TYPES_H
#define GLCNN_KERNELS_NEURON_TYPES_H

#include "kernels/neuron.h"

#include <math.h>

#include "kernels/numbers.h"

enum { SOURCE, RESULT, SLOPES };                        /* arguments of the forward kernel */
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_SLOPES }; /* of the gradient kernel */
enum { FOR_SLOPES = DESTINATION };                      /* of the gradient for the slopes */

static inline double affine(const struct glcnn_neuron_descriptor *n, double x)
{
    return (double)n->a * x + (double)n->b;
}

static inline double base_log(const struct glcnn_neuron_descriptor *n)
{
    return n->c == -1 ? 1 : log((double)n->c);
}

/* A NaN is on neither side of 0. */
static inline double by_sign(double x, double below, double above)
{
    return isnan(x) ? x : x >= 0 ? above : below;
}

/* Has the derivative at 0 that of smaller x? Of types that use c otherwise, or have no kink there, it is
 * not asked. */
static inline bool neuron_takes_left(const struct glcnn_neuron_descriptor *n)
{
    return n->c != 0;
}

/* A derivative with a kink at 0. */
static inline double by_kink(const struct glcnn_neuron_descriptor *n, double x, double below,
                             double above)
{
    return x == 0 && neuron_takes_left(n) ? below : by_sign(x, below, above);
}

static inline double relun_inner(const struct glcnn_neuron_descriptor *n, double x)
{
    return x >= 0 ? x : times((double)n->a, x);
}

static inline double relun_slope(const struct glcnn_neuron_descriptor *n, double x)
{
    return by_kink(n, x, relun_inner(n, x) < (double)n->b ? (double)n->a : 0, x < (double)n->b);
}

/* At a base of 0, where it may be infinite, it is a number: a gradient of 0 then passes on 0. */
static inline double power_slope(const struct glcnn_neuron_descriptor *n, double x)
{
    double base = affine(n, x);
    double slope = (double)n->a * (double)n->c * pow(base, (double)n->c - 1);
    return base == 0 ? held(slope, -3.4e38, 3.4e38) : slope;
}

/* 1^x is 1 for all x, as C's pow has it. */
static inline double base_power(const struct glcnn_neuron_descriptor *n, double x)
{
    return n->c == -1 ? exp(affine(n, x)) : pow((double)n->c, affine(n, x));
}

static inline double within(double v, double low, double high, double slope)
{
    return isnan(v) ? v : v >= low && v <= high ? slope : 0;
}

static inline double softened(double v)
{
    return v > 700 ? v : log1p(exp(v));
}

static inline double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double logistic_slope(double x)
{
    return 1 / (2 + exp(x) + exp(-x));
}

static inline double mish_share(double x)
{
    return tanh(softened(x));
}

static inline double mish_slope(double x)
{
    return logistic(x) / pow(cosh(softened(x)), 2);
}

/* At the kinks the branch for greater x. */
static inline double hard_swish_slope(double v, double ax)
{
    return isnan(v) ? v : v < 0 ? 0 : v >= 1 ? 1 : v + ax;
}

/* s(u) = (1 + tanh(u / 2)) / 2 is the logistic function of u. */
static inline double tanh_argument(double x)
{
    return 2 * M_SQRT1_2 * M_2_SQRTPI * (x + 0.044715 * x * x * x);
}

static inline double tanh_argument_slope(double x)
{
    return 2 * M_SQRT1_2 * M_2_SQRTPI * (1 + 3 * 0.044715 * x * x);
}

static inline double beyond(double x, double threshold, double value)
{
    return isnan(x) ? x : x > threshold ? value : 0;
}

/* The share of a normal distribution that lies below x, and its density at x. */
static inline double normal_share(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static inline double normal_density(double x)
{
    return 0.5 * M_SQRT1_2 * M_2_SQRTPI * exp(-0.5 * x * x);
}

/* A row is a type: its name; its enumerator, GLCNN_NEURON_TYPE_ENUM; the numbers a, b and c that a
 * graph's node starts from, of which the check makes a case; f(x) and f'(x) in double precision, of x,
 * A, B, C and `slope`, the channel's number of neuron_data. The shader is neuron/neuron_NAME.glsl.
 * The logarithm stands by itself: with its default numbers it has no value for the check's pixels
 * below 0. */
/* clang-format off */
#define NEURON_TYPES(ROW) TYPES_TO_EXPONENTIAL(ROW) TYPE_LOGARITHM(ROW) TYPES_FROM_GELU(ROW)

#define TYPES_TO_EXPONENTIAL(ROW)                                                                  \
    ROW(none, NONE, 0, 0, 0, x, 1)                                                                 \
    ROW(relu, RELU, 0, 0, 0, x >= 0 ? x : times(A, x), by_kink(n, x, A, 1))                        \
    ROW(linear, LINEAR, 1, 0, 0, affine(n, x), A)                                                  \
    ROW(sigmoid, SIGMOID, 0, 0, 0, logistic(x), logistic_slope(x))                                 \
    ROW(hard_sigmoid, HARD_SIGMOID, 0.2, 0.5, 0,                                                   \
        held(affine(n, x), 0, 1), within(affine(n, x), 0, 1, A))                                   \
    ROW(tanh, TANH, 1, 1, 0, A * tanh(B * x), A * B / pow(cosh(B * x), 2))                         \
    ROW(absolute, ABSOLUTE, 0, 0, 0, fabs(x), sign_of(x))                                          \
    ROW(soft_plus, SOFT_PLUS, 1, 1, 0, A * softened(B * x), A * B / (1 + exp(-B * x)))             \
    ROW(soft_sign, SOFT_SIGN, 0, 0, 0, x / (1 + fabs(x)), 1 / pow(1 + fabs(x), 2))                 \
    ROW(elu, ELU, 1, 0, 0, x >= 0 ? x : A * expm1(x), by_kink(n, x, A * exp(x), 1))                \
    ROW(prelu, PRELU, 0, 0, 0, x >= 0 ? x : times(slope, x), by_kink(n, x, slope, 1))              \
    ROW(relun, RELUN, 1, 6, 0, at_most(relun_inner(n, x), B), relun_slope(n, x))                   \
    ROW(power, POWER, 1, 0, 1, pow(affine(n, x), C), power_slope(n, x))                            \
    ROW(exponential, EXPONENTIAL, 1, 0, -1, base_power(n, x), A * base_log(n) * base_power(n, x))

#define TYPE_LOGARITHM(ROW)                                                                        \
    ROW(logarithm, LOGARITHM, 1, 0, -1,                                                            \
        log(affine(n, x)) / base_log(n), A / (base_log(n) * affine(n, x)))

#define TYPES_FROM_GELU(ROW)                                                                       \
    ROW(gelu, GELU, 0, 0, 0,                                                                       \
        times(normal_share(x), x), normal_share(x) + times(normal_density(x), x))                  \
    ROW(swish, SWISH, 1, 0, 0, times(logistic(A * x), x),                                          \
        logistic(A * x) + times(logistic_slope(A * x), A * x))                                     \
    ROW(clip, CLIP, 0, 1, 0, held(x, A, B), within(x, A, B, 1))                                    \
    ROW(hard_swish, HARD_SWISH, 0.16666667, 0.5, 0, times(held(affine(n, x), 0, 1), x),            \
        hard_swish_slope(affine(n, x), A * x))                                                     \
    ROW(gelu_tanh, GELU_TANH, 0, 0, 0,                                                             \
        times(logistic(tanh_argument(x)), x), logistic(tanh_argument(x)) +                         \
        times(logistic_slope(tanh_argument(x)), x * tanh_argument_slope(x)))                       \
    ROW(mish, MISH, 0, 0, 0, times(mish_share(x), x), mish_share(x) + times(mish_slope(x), x))     \
    ROW(selu, SELU, 1.67326324, 1.05070099, 0, B * (x >= 0 ? x : A * expm1(x)),                    \
        B * by_kink(n, x, A * exp(x), 1))                                                          \
    ROW(celu, CELU, 1, 0, 0, x >= 0 ? x : A * expm1(x / A), by_sign(x, exp(x / A), 1))             \
    ROW(thresholded_relu, THRESHOLDED_RELU, 1, 0, 0, beyond(x, A, x), beyond(x, A, 1))             \
    ROW(erf, ERF, 0, 0, 0, erf(x), M_2_SQRTPI * exp(-x * x))                                       \
    ROW(floor, FLOOR, 0, 0, 0, floor(x), 0)                                                        \
    ROW(ceiling, CEILING, 0, 0, 0, ceil(x), 0)                                                     \
    ROW(round, ROUND, 0, 0, 0, nearbyint(x), 0)                                                    \
    ROW(sign, SIGN, 0, 0, 0, sign_of(x), 0)                                                        \
    ROW(scale, SCALE, 0, 0, 0, slope * x, slope)                                                   \
    ROW(shift, SHIFT, 0, 0, 0, x + slope, 1)                                                       \
    ROW(fake_quantization, FAKE_QUANTIZATION, 1, -128, 127, A * held(nearbyint(x / A), B, C),      \
        within(nearbyint(x / A), B, C, 1))

/* clang-format on */

/* A function of a row: its numbers, the channel's slope, and x. */
#define A ((double)n->a)
#define B ((double)n->b)
#define C ((double)n->c)

#define FUNCTION(NAME, VALUE)                                                                      \
    static double NAME(const struct glcnn_neuron_descriptor *n, double slope, double x)            \
    {                                                                                              \
        (void)n, (void)slope, (void)x;                                                             \
        return VALUE;                                                                              \
    }

#endif
