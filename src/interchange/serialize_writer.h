/* Bytes of CBOR being written: one item after the other, into memory that grows.
 *
 * Once memory is short nothing more is written, and `failed` says so: callers look at the end.
 */
#ifndef GLCNN_SERIALIZE_WRITER_H
#define GLCNN_SERIALIZE_WRITER_H

#include <glcnn/serialize.h>

struct writer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

/* Heads: the items follow, of a map a key and a value each. */
void writer_array(struct writer *writer, size_t count);
void writer_map(struct writer *writer, size_t count);

void writer_unsigned(struct writer *writer, uint64_t value);
/* A whole number in -2^63 .. 2^63, both excluded. */
void writer_whole(struct writer *writer, double value);
/* As a float of 32 bits if that holds the value, otherwise of 64. */
void writer_real(struct writer *writer, double value);
void writer_boolean(struct writer *writer, bool value);
void writer_text(struct writer *writer, const char *text);
/* A byte string of little-endian float32. */
void writer_floats(struct writer *writer, const float *values, size_t count);

#endif
