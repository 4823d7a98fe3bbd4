/* Comparisons and products of the references in double precision that hide no NaN: C's fmin and
 * fmax take the other number. lib/compare.glsl is the same for shaders. And bits of what states keep. */
#ifndef GLCNN_KERNELS_NUMBERS_H
#define GLCNN_KERNELS_NUMBERS_H

#include <math.h>
#include <stdint.h>

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

/* The `width` bits from bit `shift` on of a whole number that a float of a state keeps. A program may
 * have put a NaN or more than an int holds in its place: those have no bits. */
static inline int32_t bits_of(double kept, uint32_t shift, uint32_t width)
{
    int32_t number = fabs(kept) <= INT32_MAX ? (int32_t)kept : 0;
    return (int32_t)((uint32_t)number >> shift & ((1u << width) - 1));
}

/* factor * v, but 0 where the factor is 0 and v infinite: a branch that is not taken. */
static inline double times(double factor, double v)
{
    return factor == 0 && isinf(v) ? 0 : factor * v;
}

#endif
