/* A program's binary as a file: written whole or not at all, believed only where every byte is as
 * it was written. */
#ifndef GLCNN_BINARY_FILE_H
#define GLCNN_BINARY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What drivers give for a program. */
struct binary {
    uint32_t format;
    size_t size;
    unsigned char *bytes; /* the owner's to free */
};

/* FNV-1a of 64 bits; `hash` is what came before, or HASH_BASIS. */
#define HASH_BASIS 14695981039346656037u
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* False where there is no file of that key, all of it, or where it is damaged, another user's, or
 * unreadable. A file that is read stays young (binary_folder.h). */
bool binary_file_read(const char *path, const char *key, struct binary *binary);

/* Replaces the file in one step, so that readers see the old one or the new. 0, or an error of
 * errno.h; then nothing is left of it. Not synced: a file cut short by a power failure is one that
 * is not believed. */
int binary_file_write(const char *path, const char *key, const struct binary *binary);

/* Bytes that the file of such a key has. */
size_t binary_file_size(const char *key, const struct binary *binary);

#endif
