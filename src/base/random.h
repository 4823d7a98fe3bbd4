/* Random numbers that are the same everywhere: splitmix64 (Steele, Lea, Flood 2014). */
#ifndef GLCNN_BASE_RANDOM_H
#define GLCNN_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The next 64 random bits; the state begins with any seed. */
uint64_t random_next(uint64_t *state);

/* Uniform weights of variance 2 / inputs (He et al. 2015), for layers before a ReLU. */
void random_weights(uint64_t *state, float *weights, size_t count, uint32_t inputs);

#endif
