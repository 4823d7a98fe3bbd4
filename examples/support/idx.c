/* Sizes that a file promises are believed only as far as its bytes arrive. */
#include "idx.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CHUNK ((size_t)1 << 20)

struct reader {
    const char *path;
    gzFile file;
    char *error;
};

static bool fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reader *r, const char *format, ...)
{
    int length = snprintf(r->error, GLCNN_ERROR_LENGTH, "%.300s: ", r->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error + length, GLCNN_ERROR_LENGTH - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

/* Reads up to `size` bytes; *got is less where the file ends. */
static bool read_bytes(struct reader *r, void *bytes, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        size_t part = size - *got < CHUNK ? size - *got : CHUNK;
        int count = gzread(r->file, (char *)bytes + *got, (unsigned)part);
        if (count < 0) {
            int number;
            const char *reason = gzerror(r->file, &number);
            return fail(r, "cannot be read: %s", number == Z_ERRNO ? strerror(errno) : reason);
        }
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return true;
}

static bool read_header(struct reader *r, struct idx *out)
{
    uint8_t bytes[4 * (1 + IDX_MAX_RANK)];
    size_t got;
    if (!read_bytes(r, bytes, 4, &got))
        return false;
    if (got < 4 || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8)
        return fail(r, "is not an IDX file of bytes: it does not begin with 0 0 8");
    out->rank = bytes[3];
    if (out->rank < 1 || out->rank > IDX_MAX_RANK)
        return fail(r, "has %u dimensions; expected 1 to %d", out->rank, IDX_MAX_RANK);
    if (!read_bytes(r, bytes, 4 * out->rank, &got))
        return false;
    if (got < 4 * out->rank)
        return fail(r, "ends within its header");
    for (uint32_t i = 0; i < out->rank; i++)
        out->shape[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                        (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    return true;
}

static bool measure(struct reader *r, const struct idx *out, size_t *size)
{
    *size = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        if (out->shape[i] == 0)
            return fail(r, "dimension %u is 0", i);
        if (out->shape[i] > IDX_MAX_SIZE / *size)
            return fail(r, "its dimensions promise more data than is read, %zu bytes at most",
                        IDX_MAX_SIZE);
        *size *= out->shape[i];
    }
    return true;
}

static bool read_data(struct reader *r, struct idx *out, size_t size)
{
    size_t capacity = 0;
    while (out->size < size) {
        size_t wanted = capacity * 2 > CHUNK ? capacity * 2 : CHUNK;
        capacity = wanted < size ? wanted : size;
        uint8_t *data = realloc(out->data, capacity);
        if (!data)
            return fail(r, "not enough memory for %zu bytes", capacity);
        out->data = data;
        size_t got;
        if (!read_bytes(r, data + out->size, capacity - out->size, &got))
            return false;
        out->size += got;
        if (out->size < capacity)
            return fail(r, "is truncated: it ends after %zu of %zu bytes of data", out->size, size);
    }
    return true;
}

/* The attempt to read on makes zlib check the end of the compressed stream. */
static bool read_end(struct reader *r, size_t size)
{
    uint8_t byte;
    size_t got;
    if (!read_bytes(r, &byte, 1, &got))
        return false;
    return got == 0 || fail(r, "is too long: it goes on after its %zu bytes of data", size);
}

static bool read_all(struct reader *r, struct idx *out)
{
    size_t size;
    return read_header(r, out) && measure(r, out, &size) && read_data(r, out, size) &&
           read_end(r, size);
}

bool idx_read(const char *path, struct idx *out, char error[GLCNN_ERROR_LENGTH])
{
    struct reader r = {.path = path, .error = error};
    *out = (struct idx){0};
    errno = 0;
    r.file = gzopen(path, "rb");
    if (!r.file)
        return fail(&r, "cannot be opened: %s", errno ? strerror(errno) : "not enough memory");
    bool good = read_all(&r, out);
    int closed = gzclose_r(r.file); /* Z_BUF_ERROR: the compressed stream lacks its end */
    if (good && closed != Z_OK)
        good = fail(&r, "is truncated: the compressed stream has no end");
    if (!good)
        idx_free(out);
    return good;
}

void idx_free(struct idx *idx)
{
    free(idx->data);
    *idx = (struct idx){0};
}
