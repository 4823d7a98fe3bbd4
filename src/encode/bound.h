/* How far an element of a result may be from the exact one: the bound of glcnn/image.h. */
#ifndef GLCNN_BOUND_H
#define GLCNN_BOUND_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* `exact` of a result whose largest magnitude is `norm`, stored as float16 or not. */
static inline double bound_of(double exact, double norm, bool float16)
{
    double error = 1e-5 * (norm > 1 ? norm : 1);
    return float16 ? error + ldexp(fabs(exact), -11) * 1.0001 + 0x1p-25 : error;
}

/* The difference in units of the bound: 0 for equal numbers and for two NaN, infinite where one
 * alone is not finite. */
static inline double bound_error(double found, double exact, double norm, bool float16)
{
    if ((isnan(found) && isnan(exact)) || found == exact)
        return 0;
    double error = fabs(found - exact) / bound_of(exact, norm, float16);
    return isnan(error) ? INFINITY : error;
}

/* The largest finite magnitude. */
static inline double bound_norm(const double *values, size_t count)
{
    double norm = 0;
    for (size_t i = 0; i < count; i++)
        norm = fmax(norm, isfinite(values[i]) ? fabs(values[i]) : 0);
    return norm;
}

#endif
