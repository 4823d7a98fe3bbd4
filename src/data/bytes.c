/* Reading to the end. zlib passes on what is not compressed. */
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <glcnn/io.h>

#include "base/fail.h"

#define CHUNK ((size_t)1 << 16)

static glcnn_status grow(struct bytes *bytes, const char *path, char *error)
{
    if (bytes->size + 1 < bytes->capacity)
        return GLCNN_SUCCESS;
    size_t capacity = bytes->capacity ? bytes->capacity * 2 : CHUNK;
    uint8_t *data = bytes->capacity <= SIZE_MAX / 2 ? realloc(bytes->data, capacity) : NULL;
    if (!data)
        return fail_no_memory(error, path);
    bytes->data = data;
    bytes->capacity = capacity;
    return GLCNN_SUCCESS;
}

/* Looks at what has arrived alone, so that a large file without text is refused by its first part. */
static glcnn_status check_text(const struct bytes_source *source, const uint8_t *from, size_t size,
                               char *error)
{
    if (!source->is_text || !memchr(from, 0, size))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.300s: is not text: it has a zero byte; expected lines of text",
                     source->path);
}

glcnn_status bytes_read(struct bytes *bytes, const struct bytes_source *source, size_t limit,
                        char *error)
{
    for (;;) {
        glcnn_status status = grow(bytes, source->path, error);
        if (status != GLCNN_SUCCESS)
            return status;
        long got = source->read(source->from, bytes->data + bytes->size,
                                bytes->capacity - 1 - bytes->size);
        if (got < 0)
            return fail_with(error, errno == EIO ? GLCNN_IO_ERROR : GLCNN_MALFORMED_DATA,
                             "%.300s: cannot be read: %s", source->path,
                             source->reason(source->from));
        status = check_text(source, bytes->data + bytes->size, (size_t)got, error);
        if (status != GLCNN_SUCCESS)
            return status;
        bytes->size += (size_t)got;
        bytes->data[bytes->size] = 0;
        if (got == 0)
            return GLCNN_SUCCESS;
        if (bytes->size > limit)
            return fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.300s: goes on after %zu bytes unpacked; expected no more",
                             source->path, limit);
    }
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

bool bytes_are_gzipped(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static long read_gz(void *from, void *bytes, size_t size)
{
    errno = 0;
    return gzread(from, bytes, size < CHUNK << 8 ? (unsigned)size : (unsigned)(CHUNK << 8));
}

static const char *gz_reason(void *from)
{
    int number;
    const char *reason = gzerror(from, &number);
    return number == Z_ERRNO ? strerror(errno) : reason;
}

/* zlib owns the descriptor from then on. */
static glcnn_status open_gz(const char *path, gzFile *file, uint64_t *size, char *error)
{
    int descriptor;
    *file = NULL;
    glcnn_status status = glcnn_file_open(path, &descriptor, size, error);
    if (status != GLCNN_SUCCESS)
        return status;
    *file = gzdopen(descriptor, "rb");
    if (*file)
        return GLCNN_SUCCESS;
    close(descriptor);
    return fail_no_memory(error, path);
}

static glcnn_status read_all(struct bytes *bytes, const char *path, bool is_text, size_t limit,
                             char *error)
{
    gzFile file;
    uint64_t size;
    *bytes = (struct bytes){0};
    glcnn_status status = open_gz(path, &file, &size, error);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct bytes_source source = {path, read_gz, gz_reason, file, is_text};
    if (size > limit)
        status =
            fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: has %llu bytes; expected %zu at most",
                      path, (unsigned long long)size, limit);
    else
        status = bytes_read(bytes, &source, limit, error);
    int closed = gzclose_r(file); /* Z_BUF_ERROR: the compressed stream lacks its end */
    if (status == GLCNN_SUCCESS && closed != Z_OK)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: is truncated: the compressed stream has no end", path);
    return status;
}

glcnn_status bytes_read_file(struct bytes *bytes, const char *path, size_t limit, char *error)
{
    return read_all(bytes, path, false, limit, error);
}

glcnn_status bytes_read_head(struct bytes *bytes, const char *path, size_t size, char *error)
{
    gzFile file;
    *bytes = (struct bytes){.data = calloc(size + 1, 1)};
    if (!bytes->data)
        return fail_no_memory(error, path);
    glcnn_status status = open_gz(path, &file, NULL, error);
    if (status != GLCNN_SUCCESS)
        return status;
    int got = gzread(file, bytes->data, (unsigned)size);
    bytes->size = got > 0 ? (size_t)got : 0;
    gzclose(file);
    return got >= 0 ? GLCNN_SUCCESS
                    : fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: cannot be read", path);
}

glcnn_status bytes_read_text(struct bytes *bytes, const char *path, size_t limit, char **text,
                             char *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    glcnn_status status = read_all(bytes, path, true, limit, error);
    if (status != GLCNN_SUCCESS)
        return status;
    *text = (char *)bytes->data;
    *text += strncmp(*text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    return GLCNN_SUCCESS;
}

char *bytes_line(char **rest)
{
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    if (end)
        *end = 0;
    *rest = end ? end + 1 : NULL;
    return line;
}
