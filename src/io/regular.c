/* Regular files, opened without waiting and read whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/files.h"
#include "platform/descriptors.h"

static glcnn_status fail(char *error, const char *path, const char *what, const char *reason)
{
    if (error)
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s%s", path, what, reason);
    return errno == ENOMEM ? GLCNN_OUT_OF_MEMORY : GLCNN_IO_ERROR;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* The size of what is open, -1 too, if it is regular. */
static glcnn_status examine(int descriptor, const char *path, uint64_t *size, char *error)
{
    struct stat info;
    if (descriptor < 0 || fstat(descriptor, &info) != 0)
        return fail(error, path, "cannot be opened: ", strerror(errno));
    *size = (uint64_t)info.st_size;
    if (S_ISREG(info.st_mode))
        return GLCNN_SUCCESS;
    errno = 0;
    return fail(error, path, "is not a regular file but ", kind_of(info.st_mode));
}

static void close_failed(int *descriptor)
{
    int reason = errno;
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
    errno = reason;
}

static glcnn_status refuse_null(char *error, const char *what)
{
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "a file to read: %s is NULL", what);
}

glcnn_status glcnn_file_open(const char *path, int *descriptor, uint64_t *size,
                             char error[GLCNN_ERROR_LENGTH])
{
    uint64_t unused;
    if (descriptor)
        *descriptor = -1;
    if (!path || !descriptor)
        return refuse_null(error, path ? "descriptor" : "the path");
    *descriptor =
        descriptor_above_standard(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    glcnn_status status = examine(*descriptor, path, size ? size : &unused, error);
    if (status != GLCNN_SUCCESS)
        close_failed(descriptor);
    return status;
}

/* *size: the file's, and then the range's. */
static glcnn_status check_range(const struct glcnn_file_range *range, const char *name,
                                uint64_t *size, char *error)
{
    const uint64_t left = range->offset <= *size ? *size - range->offset : 0;
    if (range->offset <= *size && range->size <= left) {
        *size = range->size ? range->size : left;
        return GLCNN_SUCCESS;
    }
    return fail_with(error, GLCNN_IO_ERROR,
                     "%s: has %llu bytes; from byte %llu on %llu are asked for", name,
                     (unsigned long long)*size, (unsigned long long)range->offset,
                     (unsigned long long)range->size);
}

glcnn_status glcnn_file_open_from_fd(const struct glcnn_file_range *range, int *descriptor,
                                     uint64_t *size, char error[GLCNN_ERROR_LENGTH])
{
    char name[FILE_FD_NAME];
    uint64_t found = 0;
    if (descriptor)
        *descriptor = -1;
    if (!range || !descriptor)
        return refuse_null(error, range ? "descriptor" : "the range");
    *descriptor = fcntl(range->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    glcnn_status status = examine(*descriptor, file_fd_name(range->fd, name), &found, error);
    if (status == GLCNN_SUCCESS)
        status = check_range(range, name, &found, error);
    if (status != GLCNN_SUCCESS)
        close_failed(descriptor);
    else if (size)
        *size = found;
    return status;
}

glcnn_status glcnn_file_read(int descriptor, const char *path, uint64_t offset, void *bytes,
                             size_t size, char error[GLCNN_ERROR_LENGTH])
{
    char *at = bytes;
    while (size > 0) {
        ssize_t got = pread(descriptor, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(error, path, "cannot be read: ", strerror(errno));
        if (got == 0) {
            errno = 0;
            return fail(error, path, "cannot be read: ", "it became shorter meanwhile");
        }
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return GLCNN_SUCCESS;
}

/* What is read whole, and where it goes. */
struct whole {
    const char *path;
    uint64_t offset, size, limit;
    void **bytes;
    size_t *length;
};

static glcnn_status read_whole(int descriptor, const struct whole *w, char **bytes, char *error)
{
    const char *path = w->path;
    const uint64_t size = w->size;
    if (!w->bytes || !w->length)
        return refuse_null(error, "bytes or size");
    if (size > w->limit)
        return fail_with(error, GLCNN_LIMIT_EXCEEDED,
                         "%.300s: has %llu bytes; at most %llu are read", path,
                         (unsigned long long)size, (unsigned long long)w->limit);
    *bytes = malloc((size_t)size + 1);
    if (!*bytes)
        return fail(error, path, "cannot be read: ", strerror(errno));
    (*bytes)[size] = 0;
    return glcnn_file_read(descriptor, path, w->offset, *bytes, (size_t)size, error);
}

/* Closes the descriptor. */
static glcnn_status load(int descriptor, const struct whole *w, char *error)
{
    char *made = NULL;
    glcnn_status status = read_whole(descriptor, w, &made, error);
    close(descriptor);
    if (status != GLCNN_SUCCESS) {
        free(made);
        return status;
    }
    *w->bytes = made;
    *w->length = (size_t)w->size;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_file_load(const char *path, size_t limit, void **bytes, size_t *size,
                             char error[GLCNN_ERROR_LENGTH])
{
    struct whole w = {.path = path, .limit = limit, .bytes = bytes, .length = size};
    int descriptor;
    if (bytes)
        *bytes = NULL;
    glcnn_status status = glcnn_file_open(path, &descriptor, &w.size, error);
    return status == GLCNN_SUCCESS ? load(descriptor, &w, error) : status;
}

glcnn_status glcnn_file_load_from_fd(const struct glcnn_file_range *range, size_t limit,
                                     void **bytes, size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    char name[FILE_FD_NAME];
    struct whole w = {.path = name, .limit = limit, .bytes = bytes, .length = size};
    int descriptor;
    if (bytes)
        *bytes = NULL;
    glcnn_status status = glcnn_file_open_from_fd(range, &descriptor, &w.size, error);
    if (status != GLCNN_SUCCESS)
        return status;
    file_fd_name(range->fd, name);
    w.offset = range->offset;
    return load(descriptor, &w, error);
}
