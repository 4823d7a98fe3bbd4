/* Writing CBOR. libcbor lays out the heads of items. */
#include "serialize_writer.h"

#include <cbor.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HEAD 9 /* bytes of the longest head, or number */

static uint8_t *reserve(struct writer *writer, size_t size)
{
    size_t wanted = writer->size + size;
    if (writer->failed || wanted < size) {
        writer->failed = true;
        return NULL;
    }
    if (wanted > writer->capacity) {
        size_t capacity = wanted + wanted / 2 + 256;
        uint8_t *grown = capacity > wanted ? realloc(writer->bytes, capacity) : NULL;
        if (!grown) {
            writer->failed = true;
            return NULL;
        }
        writer->bytes = grown;
        writer->capacity = capacity;
    }
    return writer->bytes + writer->size;
}

/* Heads that say a size or a count, and whole numbers. */
static void write_head(struct writer *writer, size_t (*encode)(size_t, unsigned char *, size_t),
                       size_t count)
{
    uint8_t *to = reserve(writer, MOST_HEAD);
    if (to)
        writer->size += encode(count, to, MOST_HEAD);
}

void writer_array(struct writer *writer, size_t count)
{
    write_head(writer, cbor_encode_array_start, count);
}

void writer_map(struct writer *writer, size_t count)
{
    write_head(writer, cbor_encode_map_start, count);
}

void writer_unsigned(struct writer *writer, uint64_t value)
{
    uint8_t *to = reserve(writer, MOST_HEAD);
    if (to)
        writer->size += cbor_encode_uint(value, to, MOST_HEAD);
}

void writer_whole(struct writer *writer, double value)
{
    uint8_t *to = reserve(writer, MOST_HEAD);
    if (!to)
        return;
    writer->size += value < 0 ? cbor_encode_negint((uint64_t)(-1 - (int64_t)value), to, MOST_HEAD)
                              : cbor_encode_uint((uint64_t)value, to, MOST_HEAD);
}

/* Infinity is a float of either size; the comparison is false for what overflows the smaller. */
void writer_real(struct writer *writer, double value)
{
    uint8_t *to = reserve(writer, MOST_HEAD);
    if (!to)
        return;
    writer->size += (double)(float)value == value ? cbor_encode_single((float)value, to, MOST_HEAD)
                                                  : cbor_encode_double(value, to, MOST_HEAD);
}

void writer_boolean(struct writer *writer, bool value)
{
    uint8_t *to = reserve(writer, MOST_HEAD);
    if (to)
        writer->size += cbor_encode_bool(value, to, MOST_HEAD);
}

void writer_text(struct writer *writer, const char *text)
{
    size_t length = strlen(text);
    write_head(writer, cbor_encode_string_start, length);
    uint8_t *to = reserve(writer, length);
    if (!to)
        return;
    memcpy(to, text, length);
    writer->size += length;
}

void writer_floats(struct writer *writer, const float *values, size_t count)
{
    write_head(writer, cbor_encode_bytestring_start, count * 4);
    uint8_t *to = reserve(writer, count * 4);
    if (!to)
        return;
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < 4; byte++) {
            uint32_t bits;
            memcpy(&bits, &values[i], 4);
            to[4 * i + byte] = (uint8_t)(bits >> 8 * byte);
        }
    writer->size += count * 4;
}
