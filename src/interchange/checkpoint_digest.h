/* The digest of a checkpoint: its last tensor, CHECKPOINT_DIGEST, eight bytes, little-endian, has the
 * CRC-64 of all bytes of the file before them, header and length too.
 *
 * A CRC of 64 bits, that of .xz files (ECMA-182), finds for certain what is damaged within eight bytes,
 * and lets other damage pass once in 2^64. zlib has 32 bits alone, too few where a wrong network is
 * the price; a digest that keeps off who means to change a file could not stand in the file. liblzma,
 * which every Debian has, computes it. */
#ifndef GLCNN_CHECKPOINT_DIGEST_H
#define GLCNN_CHECKPOINT_DIGEST_H

#include "checkpoint_file.h"

#define CHECKPOINT_DIGEST      CHECKPOINT_BYTES "crc64"
#define CHECKPOINT_DIGEST_SIZE 8

/* Of bytes that follow those of `digest`, 0 at first. */
uint64_t checkpoint_digest_add(uint64_t digest, const void *bytes, size_t size);
void checkpoint_digest_write(uint64_t digest, uint8_t bytes[CHECKPOINT_DIGEST_SIZE]);
uint64_t checkpoint_digest_read(const uint8_t bytes[CHECKPOINT_DIGEST_SIZE]);

#endif
