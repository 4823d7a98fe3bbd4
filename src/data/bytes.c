/* Reading to the end. zlib passes on what is not compressed. */
#include "bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <glcnn/io.h>

#include "message.h"

#define CHUNK ((size_t)1 << 16)

static glcnn_status grow(struct bytes *bytes, const char *path, char *error)
{
    if (bytes->size + 1 < bytes->capacity)
        return GLCNN_SUCCESS;
    size_t capacity = bytes->capacity ? bytes->capacity * 2 : CHUNK;
    uint8_t *data = bytes->capacity <= SIZE_MAX / 2 ? realloc(bytes->data, capacity) : NULL;
    if (!data)
        return data_no_memory(error, path);
    bytes->data = data;
    bytes->capacity = capacity;
    return GLCNN_SUCCESS;
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
            return data_fail(error, errno == EIO ? GLCNN_IO_ERROR : GLCNN_MALFORMED_DATA,
                             "%.300s: cannot be read: %s", source->path,
                             source->reason(source->from));
        bytes->size += (size_t)got;
        bytes->data[bytes->size] = 0;
        if (got == 0)
            return GLCNN_SUCCESS;
        if (bytes->size > limit)
            return data_fail(error, GLCNN_MALFORMED_DATA,
                             "%.300s: goes on after %zu bytes unpacked; expected no more",
                             source->path, limit);
    }
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
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

static glcnn_status read_open(struct bytes *bytes, const char *path, int descriptor, size_t limit,
                              char *error)
{
    gzFile file = gzdopen(descriptor, "rb");
    if (!file) {
        close(descriptor);
        return data_no_memory(error, path);
    }
    glcnn_status status =
        bytes_read(bytes, &(struct bytes_source){path, read_gz, gz_reason, file}, limit, error);
    int closed = gzclose_r(file); /* Z_BUF_ERROR: the compressed stream lacks its end */
    if (status == GLCNN_SUCCESS && closed != Z_OK)
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: is truncated: the compressed stream has no end", path);
    return status;
}

glcnn_status bytes_read_file(struct bytes *bytes, const char *path, size_t limit, char *error)
{
    int descriptor;
    *bytes = (struct bytes){0};
    glcnn_status status = glcnn_file_open(path, &descriptor, NULL, error);
    return status == GLCNN_SUCCESS ? read_open(bytes, path, descriptor, limit, error) : status;
}

glcnn_status bytes_read_head(struct bytes *bytes, const char *path, size_t size, char *error)
{
    *bytes = (struct bytes){.data = calloc(size + 1, 1)};
    errno = 0;
    gzFile file = gzopen(path, "rb");
    int got = file && bytes->data ? gzread(file, bytes->data, (unsigned)size) : 0;
    bytes->size = got > 0 ? (size_t)got : 0;
    if (file)
        gzclose(file);
    if (file && bytes->data && got >= 0)
        return GLCNN_SUCCESS;
    return !bytes->data || (!file && !errno) ? data_no_memory(error, path)
                                             : data_fail_errno(error, path, "cannot be read");
}

glcnn_status bytes_read_text(struct bytes *bytes, const char *path, size_t limit, char **text,
                             char *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    glcnn_status status = bytes_read_file(bytes, path, limit, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (memchr(bytes->data, 0, bytes->size))
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not text: it has a zero byte; expected lines of text", path);
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
