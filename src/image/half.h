/* 16-bit floats on the CPU side, IEEE 754 binary16. */
#ifndef GLCNN_HALF_H
#define GLCNN_HALF_H

#include <stddef.h>
#include <stdint.h>

/* Exact. */
float half_to_float(uint16_t half);
/* Rounds to nearest, ties to even; overflow gives infinity. */
uint16_t half_from_float(float value);

/* The same for `count` of them; `halves` may lie at any address. */
void halves_to_floats(const void *halves, float *floats, size_t count);
void halves_from_floats(void *halves, const float *floats, size_t count);

#endif
