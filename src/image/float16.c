/* 16-bit floats: bits are moved, and rounding is left to a float32 addition. */
#include "image/float16.h"

#include <string.h>

#define REBIAS        ((uint32_t)(127 - 15) << 23) /* of an exponent, float16 to float32 */
#define INFINITY_BITS 0x7f800000u

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Without sign. A value below 2^-14 is its mantissa in steps of 2^-24: with the exponent of 2^-14
 * put in front it is 2^-14 too large, and the subtraction is exact. */
static uint32_t widen(uint32_t magnitude)
{
    uint32_t bits = (magnitude << 13) + REBIAS;
    if (magnitude >= 0x7c00) /* infinity and NaN */
        return bits + REBIAS;
    if (magnitude < 0x400)
        return bits_of(float_of(bits + (1u << 23)) - 0x1p-14f);
    return bits;
}

/* Without sign. Below 2^-14 a float as large as half of 2^-24's reciprocal of its last bit is
 * added: the sum's last bit is 2^-24, and it is rounded to nearest, ties to even. Above, half of
 * the last bit that stays, less one where that bit is 0, carries into it and on into the exponent.
 */
static uint32_t narrow(uint32_t bits)
{
    if (bits > INFINITY_BITS)
        return 0x7e00;
    if (bits >= 0x47800000u) /* 65536 */
        return 0x7c00;
    if (bits < 0x38800000u) /* 2^-14 */
        return bits_of(float_of(bits) + 0.5f) - bits_of(0.5f);
    return (bits - REBIAS + 0xfff + (bits >> 13 & 1)) >> 13;
}

float float16_to_float(uint16_t bits)
{
    return float_of((uint32_t)(bits & 0x8000) << 16 | widen(bits & 0x7fff));
}

uint16_t float16_from_float(float value)
{
    uint32_t bits = bits_of(value);
    return (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)narrow(bits & 0x7fffffff);
}

void float16_to_floats(const void *float16, float *floats, size_t count)
{
    const char *from = float16;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, from + 2 * i, sizeof bits);
        floats[i] = float16_to_float(bits);
    }
}

void float16_from_floats(void *float16, const float *floats, size_t count)
{
    char *to = float16;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits = float16_from_float(floats[i]);
        memcpy(to + 2 * i, &bits, sizeof bits);
    }
}
