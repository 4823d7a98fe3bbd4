/* 16-bit floats on the CPU side, IEEE 754 binary16. */
#ifndef GLCNN_HALF_H
#define GLCNN_HALF_H

#include <stdint.h>

float half_to_float(uint16_t half);
/* Rounds to nearest, ties to even; overflow gives infinity. */
uint16_t half_from_float(float value);

#endif
