/* Digests of bytes, to tell one thing from another; no protection from who wants them equal. */
#ifndef GLCNN_BASE_DIGEST_H
#define GLCNN_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a of 64 bits, gone on with from a digest of what stands before. */
static inline uint64_t digest_add(uint64_t digest, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
