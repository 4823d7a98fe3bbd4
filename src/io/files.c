/* Invariant: until the rename nothing under the target's own name has changed, and by then all
 * bytes are on the disk. The temporary file is locked as long as it is written, so that what a
 * killed process left can be told from what another one is writing. */
#include "base/fail.h"
#include "io/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/paths.h"
#include "platform/descriptors.h"

#define TRIES 100

struct glcnn_file {
    char *path;
    char *target;    /* path with its links followed */
    char *temporary; /* NULL: written in place, or renamed already */
    int descriptor;
    bool is_synced;
};

const char *file_fd_name(int fd, char name[FILE_FD_NAME])
{
    snprintf(name, FILE_FD_NAME, "descriptor %d", fd);
    return name;
}

/* ---- The temporary file ---- */

/* Removes what a killed process left under that name; links, and what somebody is writing, stay. */
static void remove_stale(const char *name)
{
    int descriptor =
        descriptor_above_standard(open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (descriptor < 0)
        return;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && path_is_current(descriptor, name))
        unlink(name);
    close(descriptor);
}

/* A new file of that name, locked; -1 with errno. */
static int create_locked(const char *name, mode_t mode)
{
    int descriptor = descriptor_above_standard(
        open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (descriptor < 0 ||
        (!path_is_locked_elsewhere(descriptor) && path_is_current(descriptor, name)))
        return descriptor;
    close(descriptor);
    errno = EEXIST;
    return -1;
}

/* open, not mkstemp, so that the mode obeys the umask. */
static bool open_beside(glcnn_file *file, mode_t mode)
{
    int folder = (int)path_folder_length(file->target);
    size_t size = strlen(file->target) + 32;
    char *name = malloc(size);
    for (int i = 0; name && file->descriptor < 0 && i < TRIES; i++) {
        snprintf(name, size, "%.*s%.*s.glcnn-%d.tmp", folder, file->target, PATH_MAX_BASE,
                 file->target + folder, i);
        remove_stale(name);
        file->descriptor = create_locked(name, mode);
        if (file->descriptor < 0 && errno != EEXIST)
            break;
    }
    file->temporary = name;
    return file->descriptor >= 0;
}

/* The old file's permissions and, where that is allowed, its owner. */
static void keep_identity(int descriptor, const struct stat *old)
{
    struct stat now;
    if (fstat(descriptor, &now) == 0 && (now.st_uid != old->st_uid || now.st_gid != old->st_gid))
        (void)!fchown(descriptor, old->st_uid, old->st_gid);
    (void)fchmod(descriptor, old->st_mode & 0777);
}

/* ---- Opening ---- */

/* A pipe that has a name would be waited for, first for its reader and then for each of its reads. */
static glcnn_status refuse_pipe(const char *path, char *error)
{
    return fail_with(
        error, GLCNN_IO_ERROR,
        "%.300s: is a pipe or a socket; files are written, and what is open already, as "
        "/dev/stdout is",
        path);
}

/* Without waiting, since the path may be a pipe's by now; then writing may wait. */
static glcnn_status open_device(glcnn_file *file, char *error)
{
    struct stat info;
    const char *path = file->path;
    file->descriptor =
        descriptor_above_standard(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        return errno == ENXIO ? refuse_pipe(path, error)
                              : fail_with_errno(error, path, "cannot be opened");
    if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
        return refuse_pipe(path, error);
    return fcntl(file->descriptor, F_SETFL, O_WRONLY) == 0
               ? GLCNN_SUCCESS
               : fail_with_errno(error, path, "cannot be opened");
}

static glcnn_status open_in_place(glcnn_file *file, int number, char *error)
{
    if (number < 0)
        return open_device(file, error);
    file->descriptor = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return file->descriptor >= 0 ? GLCNN_SUCCESS
                                 : fail_with_errno(error, file->path, "cannot be opened");
}

/* old: what is to be replaced; NULL: nothing is there yet. */
static glcnn_status open_new(glcnn_file *file, const struct stat *old, char *error)
{
    if (!open_beside(file, old ? old->st_mode & 0777 : 0666)) {
        int reason = errno;
        free(file->temporary); /* nothing has that name, or what has it is not ours */
        file->temporary = NULL;
        errno = reason;
        return fail_with_errno(error, file->path,
                               old ? "a new file beside it cannot be created"
                                   : "cannot be created");
    }
    if (old)
        keep_identity(file->descriptor, old);
    return GLCNN_SUCCESS;
}

static glcnn_status open_target(glcnn_file *file, char *error)
{
    struct stat old;
    int number = path_descriptor(file->target);
    bool exists = number < 0 && stat(file->path, &old) == 0;
    if (number < 0 && !exists && errno != ENOENT)
        return fail_with_errno(error, file->path, "cannot be examined");
    if ((exists && S_ISDIR(old.st_mode)) || !file->target[path_folder_length(file->target)]) {
        errno = *file->target ? EISDIR : ENOENT;
        return fail_with_errno(error, file->path, "cannot be written");
    }
    if (number >= 0 || (exists && !S_ISREG(old.st_mode)))
        return open_in_place(file, number, error);
    return open_new(file, exists ? &old : NULL, error);
}

glcnn_status glcnn_file_create(const char *path, glcnn_file **file, char error[GLCNN_ERROR_LENGTH])
{
    if (file)
        *file = NULL;
    if (!path || !file)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         path ? "a file to write: file is NULL"
                              : "a file to write: the path is NULL");
    glcnn_file *made = calloc(1, sizeof *made);
    if (!made)
        return fail_with_errno(error, path, "cannot be created");
    made->descriptor = -1;
    made->path = strdup(path);
    made->target = made->path ? path_follow_links(path) : NULL;
    glcnn_status status = made->target ? open_target(made, error)
                                       : fail_with_errno(error, path, "cannot be resolved");
    if (status != GLCNN_SUCCESS)
        glcnn_file_discard(&made);
    *file = made;
    return status;
}

/* A copy of the descriptor, on an empty file if that is a regular one. */
static glcnn_status empty(glcnn_file *file, int fd, char *error)
{
    struct stat info;
    file->descriptor = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        return fail_with_errno(error, file->path, "cannot be opened");
    if ((fcntl(file->descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EACCES;
        return fail_with_errno(error, file->path, "is not open for writing");
    }
    if (S_ISREG(info.st_mode) &&
        (ftruncate(file->descriptor, 0) != 0 || lseek(file->descriptor, 0, SEEK_SET) != 0))
        return fail_with_errno(error, file->path, "cannot be written");
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_file_create_from_fd(int fd, glcnn_file **file, char error[GLCNN_ERROR_LENGTH])
{
    char name[FILE_FD_NAME];
    file_fd_name(fd, name);
    if (!file)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "a file to write: file is NULL");
    *file = NULL;
    glcnn_file *made = calloc(1, sizeof *made);
    if (!made)
        return fail_with_errno(error, name, "cannot be created");
    made->descriptor = -1;
    made->path = strdup(name);
    glcnn_status status =
        made->path ? empty(made, fd, error) : fail_with_errno(error, name, "cannot be created");
    if (status != GLCNN_SUCCESS)
        glcnn_file_discard(&made);
    *file = made;
    return status;
}

/* ---- Writing ---- */

glcnn_status glcnn_file_write(glcnn_file *file, const void *bytes, size_t size,
                              char error[GLCNN_ERROR_LENGTH])
{
    const char *at = bytes;
    if (!file || (!bytes && size))
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "a file to write: file or bytes is NULL");
    file->is_synced = false;
    while (size > 0) {
        ssize_t written = write(file->descriptor, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail_with_errno(error, file->path, "cannot be written");
        at += written;
        size -= (size_t)written;
    }
    return GLCNN_SUCCESS;
}

/* Devices and pipes, and some file systems, know nothing of syncing. */
static bool sync_descriptor(int descriptor)
{
    int result;
    do
        result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

glcnn_status glcnn_file_sync(glcnn_file *file, char error[GLCNN_ERROR_LENGTH])
{
    if (!file)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "a file to write: file is NULL");
    if (!file->is_synced && !sync_descriptor(file->descriptor))
        return fail_with_errno(error, file->path, "cannot be flushed to disk");
    file->is_synced = true;
    return GLCNN_SUCCESS;
}

/* A folder that may be written but not read cannot be opened, and so not be synced. */
static bool sync_folder(const char *path)
{
    size_t length = path_folder_length(path);
    char *folder = length ? strndup(path, length) : strdup(".");
    int descriptor =
        folder ? descriptor_above_standard(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : -1;
    bool good = descriptor >= 0 ? sync_descriptor(descriptor) : errno == EACCES;
    int reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    free(folder);
    errno = reason;
    return good;
}

/* The lock is held until the name is the target's. */
static glcnn_status put_in_place(glcnn_file *file, char *error)
{
    if (rename(file->temporary, file->target) != 0)
        return fail_with_errno(error, file->path, "cannot be replaced");
    free(file->temporary);
    file->temporary = NULL;
    return sync_folder(file->target)
               ? GLCNN_SUCCESS
               : fail_with_errno(error, file->path,
                                 "is written, but its folder cannot be flushed to disk");
}

glcnn_status glcnn_file_commit(glcnn_file **file, char error[GLCNN_ERROR_LENGTH])
{
    if (!file || !*file)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "a file to write: file is NULL");
    bool is_in_place = !(*file)->temporary;
    glcnn_status status = glcnn_file_sync(*file, error);
    if (status == GLCNN_SUCCESS && !is_in_place)
        status = put_in_place(*file, error);
    int descriptor = (*file)->descriptor;
    (*file)->descriptor = -1;
    if (close(descriptor) != 0 && is_in_place && status == GLCNN_SUCCESS)
        status = fail_with_errno(error, (*file)->path, "cannot be written");
    glcnn_file_discard(file);
    return status;
}

void glcnn_file_discard(glcnn_file **file)
{
    glcnn_file *old = file ? *file : NULL;
    if (!old)
        return;
    *file = NULL;
    if (old->temporary)
        unlink(old->temporary);
    if (old->descriptor >= 0)
        close(old->descriptor);
    free(old->path);
    free(old->target);
    free(old->temporary);
    free(old);
}

glcnn_status glcnn_file_save(const char *path, const void *bytes, size_t size,
                             char error[GLCNN_ERROR_LENGTH])
{
    glcnn_file *file;
    glcnn_status status = glcnn_file_create(path, &file, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_write(file, bytes, size, error);
    if (status == GLCNN_SUCCESS)
        return glcnn_file_commit(&file, error);
    glcnn_file_discard(&file);
    return status;
}
