/* Regular files, opened without waiting and read whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static glcnn_status open_regular(const char *path, int *descriptor, uint64_t *size, char *error)
{
    struct stat info;
    *descriptor =
        descriptor_above_standard(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (*descriptor < 0 || fstat(*descriptor, &info) != 0)
        return fail(error, path, "cannot be opened: ", strerror(errno));
    *size = (uint64_t)info.st_size;
    if (S_ISREG(info.st_mode))
        return GLCNN_SUCCESS;
    errno = 0;
    return fail(error, path, "is not a regular file but ", kind_of(info.st_mode));
}

glcnn_status glcnn_file_open(const char *path, int *descriptor, uint64_t *size,
                             char error[GLCNN_ERROR_LENGTH])
{
    uint64_t unused;
    if (descriptor)
        *descriptor = -1;
    if (!path || !descriptor) {
        if (error)
            snprintf(error, GLCNN_ERROR_LENGTH, "a file to read: %s is NULL",
                     path ? "descriptor" : "the path");
        return GLCNN_INVALID_ARGUMENT;
    }
    glcnn_status status = open_regular(path, descriptor, size ? size : &unused, error);
    if (status != GLCNN_SUCCESS && *descriptor >= 0) {
        int reason = errno;
        close(*descriptor);
        *descriptor = -1;
        errno = reason;
    }
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

static glcnn_status read_whole(int descriptor, const char *path, uint64_t size, size_t limit,
                               char **bytes, char *error)
{
    if (size > limit) {
        if (error)
            snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: has %llu bytes; at most %zu are read",
                     path, (unsigned long long)size, limit);
        return GLCNN_LIMIT_EXCEEDED;
    }
    *bytes = malloc((size_t)size + 1);
    if (!*bytes)
        return fail(error, path, "cannot be read: ", strerror(errno));
    (*bytes)[size] = 0;
    return glcnn_file_read(descriptor, path, 0, *bytes, (size_t)size, error);
}

glcnn_status glcnn_file_load(const char *path, size_t limit, void **bytes, size_t *size,
                             char error[GLCNN_ERROR_LENGTH])
{
    int descriptor;
    uint64_t length = 0;
    char *made = NULL;
    if (bytes)
        *bytes = NULL;
    glcnn_status status = glcnn_file_open(path, &descriptor, &length, error);
    if (status != GLCNN_SUCCESS)
        return status;
    status = bytes && size ? read_whole(descriptor, path, length, limit, &made, error)
                           : GLCNN_INVALID_ARGUMENT;
    if (!bytes || !size)
        fail(error, path, "cannot be read: ", "bytes or size is NULL");
    close(descriptor);
    if (status != GLCNN_SUCCESS) {
        free(made);
        return status;
    }
    *bytes = made;
    *size = (size_t)length;
    return GLCNN_SUCCESS;
}
