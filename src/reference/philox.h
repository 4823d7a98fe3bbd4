/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) for references; glsl/lib/philox.glsl is the same.
 */
#ifndef GLCNN_REFERENCE_PHILOX_H
#define GLCNN_REFERENCE_PHILOX_H

#include <stdint.h>

static inline uint32_t philox_high(uint64_t product)
{
    return (uint32_t)(product >> 32);
}

/* Four random words in place of the counter. */
static inline void philox(uint32_t c[4], uint64_t seed)
{
    uint32_t key[2] = {(uint32_t)seed, philox_high(seed)};
    for (int round = 0; round < 10; round++) {
        uint64_t first = (uint64_t)0xD2511F53u * c[0], second = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = philox_high(second) ^ c[1] ^ key[0];
        c[2] = philox_high(first) ^ c[3] ^ key[1];
        c[1] = (uint32_t)second;
        c[3] = (uint32_t)first;
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
}

#endif
