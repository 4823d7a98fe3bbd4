/* Comparisons and products of the references in double precision that hide no NaN: C's fmin and
 * fmax take the other number. lib/compare.glsl is the same for shaders. */
#ifndef GLCNN_KERNELS_NUMBERS_H
#define GLCNN_KERNELS_NUMBERS_H

#include <math.h>

static inline double at_least(double v, double low)
{
    return v < low ? low : v;
}

static inline double at_most(double v, double high)
{
    return v > high ? high : v;
}

static inline double held(double v, double low, double high)
{
    return at_most(at_least(v, low), high);
}

static inline double sign_of(double v)
{
    return isnan(v) ? v : (v > 0) - (v < 0);
}

/* factor * v, but 0 where the factor is 0 and v infinite: a branch that is not taken. */
static inline double times(double factor, double v)
{
    return factor == 0 && isinf(v) ? 0 : factor * v;
}

#endif
