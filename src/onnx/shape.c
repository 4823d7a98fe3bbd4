/* Shapes of tensors, and how failures are told. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "onnx/onnx.h"

/* Numbers of a tensor at most: what an index of 32 bits and a sign can count, times an open batch. */
#define MOST_NUMBERS (INT64_C(1) << 52)

bool onnx_fail(struct reader *reader, glcnn_status status, const char *format, ...)
{
    va_list arguments;
    if (reader->status != GLCNN_SUCCESS)
        return false;
    reader->status = status;
    va_start(arguments, format);
    vsnprintf(reader->text, sizeof reader->text, format, arguments);
    va_end(arguments);
    return false;
}

bool onnx_no_memory(struct reader *reader)
{
    return onnx_fail(reader, GLCNN_OUT_OF_MEMORY, "out of memory reading the model");
}

int64_t shape_count_between(const struct shape *shape, int from, int to)
{
    int64_t count = 1;
    for (int i = from; i < to; i++)
        count *= shape->dims[i];
    return count;
}

int64_t shape_count(const struct shape *shape)
{
    return shape_count_between(shape, 0, (int)shape->rank);
}

bool shape_check(struct reader *reader, const char *name, const struct shape *shape)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t size = shape->dims[i];
        if (size < 0 || size > MOST_NUMBERS || (size && count > MOST_NUMBERS / size))
            return onnx_fail(reader, GLCNN_MALFORMED_DATA,
                             "\"%.80s\": size %" PRId64
                             " of axis %u is below 0, or makes too many numbers",
                             name, size, i);
        count = size ? count * size : count;
    }
    return true;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

int shape_axis(const struct shape *shape, int64_t axis)
{
    if (axis < 0)
        axis += shape->rank;
    return axis >= 0 && axis < shape->rank ? (int)axis : -1;
}

bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *result)
{
    *result = a->rank < b->rank ? *b : *a;
    for (uint32_t i = 0; i < result->rank; i++) {
        uint32_t back = result->rank - i;
        int64_t x = back <= a->rank ? a->dims[a->rank - back] : 1;
        int64_t y = back <= b->rank ? b->dims[b->rank - back] : 1;
        if (x != y && x != 1 && y != 1)
            return false;
        result->dims[i] = x == 1 ? y : x;
    }
    return true;
}

struct shape shape_widened(const struct shape *shape, uint32_t rank)
{
    struct shape wide = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        wide.dims[i] = i + shape->rank < rank ? 1 : shape->dims[i + shape->rank - rank];
    return wide;
}

struct shape shape_stored(const struct shape *shape)
{
    struct shape stored = *shape;
    if (shape->rank && shape->dims[0] && shape->dims[0] % OPEN_BATCH == 0)
        stored.dims[0] /= OPEN_BATCH;
    return stored;
}

bool shape_batch_free(const struct shape *shape)
{
    for (uint32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i] && shape->dims[i] % OPEN_BATCH == 0)
            return false;
    return true;
}

/* A size: N, 4N, or N/2, where a division cut off what was left. */
static int write_size(int64_t size, char *text, size_t length)
{
    const int64_t times = size / OPEN_BATCH;
    if (size == OPEN_BATCH)
        return snprintf(text, length, "N");
    if (times > 0 && size % OPEN_BATCH == 0)
        return snprintf(text, length, "%" PRId64 "N", times);
    for (int64_t part = 2; part <= 64; part++)
        if (size == OPEN_BATCH / part)
            return snprintf(text, length, "N/%" PRId64, part);
    return snprintf(text, length, "%" PRId64, size);
}

const char *shape_text(const struct shape *shape, char text[96])
{
    size_t length = 0;
    strcpy(text, "(a number)");
    for (uint32_t i = 0; i < shape->rank && length < 72; i++) {
        if (i)
            text[length++] = 'x';
        int n = write_size(shape->dims[i], text + length, 96 - length);
        length += n > 0 ? (size_t)n : 0;
    }
    return text;
}
