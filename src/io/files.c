/* Invariant: until the first rename nothing under a target's own name has changed, and by then all
 * bytes are on the disk. */
#include "io/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pending {
    const struct file_content *file;
    char *target;    /* path with its links followed */
    char *temporary; /* NULL: written directly, or renamed already */
};

static glcnn_status fail(char error[512], const char *path, const char *what)
{
    if (error)
        snprintf(error, 512, "%.300s: %s: %s", path, what, strerror(errno));
    return GLCNN_IO_ERROR;
}

static bool write_bytes(int descriptor, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(descriptor, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Opens a new file beside `target`. open, not mkstemp, so that the mode obeys the umask. */
static int open_beside(const char *target, char **temporary)
{
    size_t size = strlen(target) + 48;
    char *name = malloc(size);
    int descriptor = -1;
    for (unsigned i = 0; name && descriptor < 0 && i < 100; i++) {
        snprintf(name, size, "%s.%ld-%u.tmp", target, (long)getpid(), i);
        descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0) {
        int reason = errno;
        free(name);
        errno = reason;
        return -1;
    }
    *temporary = name;
    return descriptor;
}

/* A file system may not know how to sync; only a failing write or close counts. */
static bool fill(int descriptor, const struct file_content *file)
{
    bool good = write_bytes(descriptor, file->bytes, file->size);
    int reason = errno;
    if (good)
        fsync(descriptor);
    if (close(descriptor) != 0 && good)
        return false;
    errno = reason;
    return good;
}

static glcnn_status write_beside(struct pending *p, const struct stat *old, char error[512])
{
    int descriptor = open_beside(p->target, &p->temporary);
    if (descriptor < 0)
        return fail(error, p->file->path, "cannot be created");
    if (old)
        (void)fchmod(descriptor, old->st_mode & 0777);
    if (!fill(descriptor, p->file))
        return fail(error, p->file->path, "cannot be written");
    return GLCNN_SUCCESS;
}

static glcnn_status write_directly(const struct pending *p, char error[512])
{
    int descriptor = open(p->file->path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail(error, p->file->path, "cannot be opened");
    if (!fill(descriptor, p->file))
        return fail(error, p->file->path, "cannot be written");
    return GLCNN_SUCCESS;
}

static glcnn_status prepare(struct pending *p, char error[512])
{
    struct stat old;
    bool exists = stat(p->file->path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return fail(error, p->file->path, "cannot be written");
    }
    p->target = exists ? realpath(p->file->path, NULL) : strdup(p->file->path);
    if (!p->target)
        return fail(error, p->file->path, "cannot be resolved");
    if (exists && !S_ISREG(old.st_mode))
        return write_directly(p, error);
    return write_beside(p, exists ? &old : NULL, error);
}

static glcnn_status commit(struct pending *p, char error[512])
{
    if (!p->temporary)
        return GLCNN_SUCCESS;
    if (rename(p->temporary, p->target) != 0)
        return fail(error, p->file->path, "cannot be replaced");
    free(p->temporary);
    p->temporary = NULL;
    return GLCNN_SUCCESS;
}

static void clean_up(struct pending *pending, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pending[i].temporary)
            unlink(pending[i].temporary);
        free(pending[i].temporary);
        free(pending[i].target);
    }
    free(pending);
}

static glcnn_status check_distinct(const struct file_content *files, size_t count, char error[512])
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(files[i].path, files[j].path) == 0) {
                if (error)
                    snprintf(error, 512,
                             "%.300s: is named twice; each output needs a file of its own",
                             files[i].path);
                return GLCNN_INVALID_ARGUMENT;
            }
    return GLCNN_SUCCESS;
}

glcnn_status files_write(const struct file_content *files, size_t count, char error[512])
{
    glcnn_status status = check_distinct(files, count, error);
    struct pending *pending = calloc(count + 1, sizeof *pending);
    if (!pending)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        pending[i].file = &files[i];
        status = prepare(&pending[i], error);
    }
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = commit(&pending[i], error);
    clean_up(pending, count);
    return status;
}
