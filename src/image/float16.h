/* 16-bit floats on the CPU side, IEEE 754 binary16. */
#ifndef GLCNN_FLOAT16_H
#define GLCNN_FLOAT16_H

#include <stddef.h>
#include <stdint.h>

/* Exact. */
float float16_to_float(uint16_t bits);
/* Rounds to nearest, ties to even; overflow gives infinity. */
uint16_t float16_from_float(float value);

/* The same for `count` of them; `float16` may lie at any address. */
void float16_to_floats(const void *float16, float *floats, size_t count);
void float16_from_floats(void *float16, const float *floats, size_t count);

#endif
