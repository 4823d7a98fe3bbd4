#include "image/half.h"

#include <math.h>
#include <string.h>

float half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int mantissa = half & 1023;
    float magnitude;
    if (exponent == 31)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexpf((float)mantissa, -24);
    else
        magnitude = ldexpf((float)(mantissa + 1024), exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t half_from_float(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    float magnitude = fabsf(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (magnitude >= 65520.0f)
        return sign | 0x7c00;
    if (magnitude < 0x1p-14f) /* whole steps of 2^-24; 1024 of them are the least normal number */
        return (uint16_t)(sign | (uint16_t)nearbyintf(magnitude * 0x1p24f));
    int exponent;
    float fraction = frexpf(magnitude, &exponent); /* in [0.5, 1) */
    uint32_t mantissa = (uint32_t)nearbyintf(fraction * 2048.0f);
    return (uint16_t)(sign | (uint16_t)(((uint32_t)(exponent + 13) << 10) + mantissa));
}
