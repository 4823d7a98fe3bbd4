/* Writing a file so that a crash at any time leaves the old one or the new one.
 *
 * What is written stands beside the target as TARGET.tmp, locked, so that two processes do not
 * write into one another's and that what a killed one left is taken over by the next. */
#include "checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    const char *path;
    char *target;    /* path with its links followed */
    char *temporary; /* its name */
    char *folder;
    int descriptor;
    bool is_made, has_mode;
    mode_t mode; /* of the file that is replaced */
    char *error;
};

static glcnn_status fail(const struct output *o, const char *what)
{
    glcnn_status status = errno == ENOMEM ? GLCNN_OUT_OF_MEMORY : GLCNN_IO_ERROR;
    return checkpoint_fail(o->error, status, "%.300s: %s: %s", o->path, what, strerror(errno));
}

static char *join(const char *text, size_t length, const char *end)
{
    char *joined = malloc(length + strlen(end) + 1);
    if (joined) {
        memcpy(joined, text, length);
        strcpy(joined + length, end);
    }
    return joined;
}

/* The folder part of a path, "." if there is none, "/" of "/file". */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? join(path, slash == path ? 1 : (size_t)(slash - path), "") : join(".", 1, "");
}

static glcnn_status find_target(struct output *o)
{
    struct stat old;
    bool exists = stat(o->path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return checkpoint_fail(o->error, GLCNN_IO_ERROR,
                               "%.300s: is there and no regular file; a checkpoint replaces files "
                               "alone",
                               o->path);
    o->has_mode = exists;
    o->mode = exists ? old.st_mode & 0777 : 0;
    o->target = exists ? realpath(o->path, NULL) : strdup(o->path);
    o->temporary = o->target ? join(o->target, strlen(o->target), ".tmp") : NULL;
    o->folder = o->target ? folder_of(o->target) : NULL;
    return o->temporary && o->folder ? GLCNN_SUCCESS : fail(o, "cannot be resolved");
}

/* Whether the name still is that of the open file: another process may have renamed it away
 * between opening and locking. */
static bool is_current(const struct output *o)
{
    struct stat open_file, named;
    return fstat(o->descriptor, &open_file) == 0 && lstat(o->temporary, &named) == 0 &&
           open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

static bool is_locked_elsewhere(int descriptor)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN);
}

static glcnn_status open_temporary(struct output *o)
{
    for (int i = 0; i < 100; i++) {
        o->descriptor = open(o->temporary, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (o->descriptor < 0)
            return fail(o, "its .tmp file cannot be created");
        if (is_locked_elsewhere(o->descriptor))
            return fail(o, "is being written by another process");
        o->is_made = is_current(o);
        if (o->is_made && ftruncate(o->descriptor, 0) != 0)
            return fail(o, "cannot be written");
        if (o->is_made && o->has_mode)
            (void)fchmod(o->descriptor, o->mode);
        if (o->is_made)
            return GLCNN_SUCCESS;
        close(o->descriptor);
        o->descriptor = -1;
    }
    errno = EBUSY;
    return fail(o, "cannot be created");
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

/* A file system that knows nothing of syncing does what it can. */
static bool sync_descriptor(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

static glcnn_status fill(struct output *o, const struct checkpoint_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const void *bytes = NULL;
        size_t size = 0;
        glcnn_status status = parts->next(parts->context, i, &bytes, &size, o->error);
        if (status != GLCNN_SUCCESS)
            return status;
        if (!write_bytes(o->descriptor, bytes, size))
            return fail(o, "cannot be written");
    }
    return sync_descriptor(o->descriptor) ? GLCNN_SUCCESS
                                          : fail(o, "cannot be brought to the disk");
}

/* The lock is held until the name is the target's. */
static glcnn_status replace(struct output *o)
{
    if (rename(o->temporary, o->target) != 0)
        return fail(o, "cannot be replaced");
    o->is_made = false;
    int folder = open(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder < 0 || sync_descriptor(folder);
    if (folder >= 0)
        close(folder);
    return good ? GLCNN_SUCCESS : fail(o, "its folder cannot be brought to the disk");
}

glcnn_status checkpoint_file_write(const char *path, const struct checkpoint_parts *parts,
                                   char *error)
{
    struct output o = {.path = path, .descriptor = -1, .error = error};
    glcnn_status status = find_target(&o);
    if (status == GLCNN_SUCCESS)
        status = open_temporary(&o);
    if (status == GLCNN_SUCCESS)
        status = fill(&o, parts);
    if (status == GLCNN_SUCCESS)
        status = replace(&o);
    if (o.is_made)
        unlink(o.temporary);
    if (o.descriptor >= 0)
        close(o.descriptor);
    free(o.target);
    free(o.temporary);
    free(o.folder);
    return status;
}
