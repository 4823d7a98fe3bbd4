/* CRC-64, by liblzma. */
#include "checkpoint_digest.h"

#include <lzma.h>

uint64_t checkpoint_digest_add(uint64_t digest, const void *bytes, size_t size)
{
    return lzma_crc64(bytes, size, digest);
}

void checkpoint_digest_write(uint64_t digest, uint8_t bytes[CHECKPOINT_DIGEST_SIZE])
{
    for (size_t i = 0; i < CHECKPOINT_DIGEST_SIZE; i++)
        bytes[i] = (uint8_t)(digest >> 8 * i);
}

uint64_t checkpoint_digest_read(const uint8_t bytes[CHECKPOINT_DIGEST_SIZE])
{
    uint64_t digest = 0;
    for (size_t i = 0; i < CHECKPOINT_DIGEST_SIZE; i++)
        digest |= (uint64_t)bytes[i] << 8 * i;
    return digest;
}
