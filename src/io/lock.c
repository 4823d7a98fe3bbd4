/* Locks of paths. What is written whole is renamed, and a lock on the file itself would go with the
 * old one; so a lock is a file of its own beside it, which stays where its holder is killed and can
 * be taken by the next one then. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "io/files.h"
#include "io/paths.h"
#include "platform/descriptors.h"

#define TRIES 100

struct glcnn_file_lock {
    char *name;
    int descriptor;
};

static glcnn_status refuse(char *error, glcnn_status status, const char *path, const char *what)
{
    return fail_with(error, status, "%.300s: %s", path, what);
}

/* Refuses a path that no file can be renamed over. */
static glcnn_status check_target(const char *path, const char *target, char *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT)
        return fail_with_errno(error, path, "cannot be examined");
    if (path_descriptor(target) >= 0 || (exists && !S_ISREG(old.st_mode)))
        return refuse(error, GLCNN_INVALID_ARGUMENT, path,
                      "is not a regular file, and cannot be replaced");
    return GLCNN_SUCCESS;
}

/* Opens and locks the lock's file; -1 with errno, EWOULDBLOCK where another holds it. What its
 * holder has removed before it was locked here is opened again. */
static int take(const char *name)
{
    for (int i = 0; i < TRIES; i++) {
        int descriptor = descriptor_above_standard(
            open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
        if (descriptor < 0)
            return -1;
        bool is_held = path_is_locked_elsewhere(descriptor);
        if (!is_held && path_is_current(descriptor, name))
            return descriptor;
        close(descriptor);
        errno = EWOULDBLOCK;
        if (is_held)
            return -1;
    }
    return -1;
}

static glcnn_status take_beside(glcnn_file_lock *lock, const char *path, const char *target,
                                char *error)
{
    int folder = (int)path_folder_length(target);
    size_t size = strlen(target) + 32;
    lock->name = malloc(size);
    if (!lock->name)
        return fail_with_errno(error, path, "cannot be locked");
    snprintf(lock->name, size, "%.*s.%.*s.glcnn-lock", folder, target, PATH_MAX_BASE,
             target + folder);
    lock->descriptor = take(lock->name);
    if (lock->descriptor >= 0)
        return GLCNN_SUCCESS;
    int reason = errno;
    const char *what =
        access(path, F_OK) == 0 ? "a lock beside it cannot be created" : "cannot be created";
    errno = reason;
    return errno == EWOULDBLOCK
               ? refuse(error, GLCNN_INVALID_STATE, path,
                        "is being written already, by another process or by this one")
               : fail_with_errno(error, path, what);
}

glcnn_status glcnn_file_lock_take(const char *path, glcnn_file_lock **lock,
                                  char error[GLCNN_ERROR_LENGTH])
{
    if (lock)
        *lock = NULL;
    if (!path || !lock)
        return refuse(error, GLCNN_INVALID_ARGUMENT, "a lock",
                      path ? "lock is NULL" : "the path is NULL");
    glcnn_file_lock *made = calloc(1, sizeof *made);
    char *target = made ? path_follow_links(path) : NULL;
    glcnn_status status = target ? check_target(path, target, error)
                                 : fail_with_errno(error, path, "cannot be resolved");
    if (made)
        made->descriptor = -1;
    if (status == GLCNN_SUCCESS)
        status = take_beside(made, path, target, error);
    free(target);
    if (status != GLCNN_SUCCESS)
        glcnn_file_lock_destroy(&made);
    *lock = made;
    return status;
}

/* Its name goes while it is held: who opened it meanwhile finds that it is gone. */
void glcnn_file_lock_destroy(glcnn_file_lock **lock)
{
    glcnn_file_lock *old = lock ? *lock : NULL;
    if (!old)
        return;
    *lock = NULL;
    if (old->descriptor >= 0) {
        unlink(old->name);
        close(old->descriptor);
    }
    free(old->name);
    free(old);
}
