/* Random numbers that are the same everywhere: splitmix64 (Steele, Lea and Flood 2014). */
#ifndef GLCNN_RANDOM_H
#define GLCNN_RANDOM_H

#include <stdint.h>

/* The next number of 24 random bits; the state begins with any seed. */
static inline uint32_t random_bits24(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 40);
}

#endif
