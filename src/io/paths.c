/* Names of files: where links lead, what is a descriptor, whose a name is. */
#include "io/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40
#define MAX_PATH  4096 /* bytes that a link may hold */

size_t path_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

int path_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0)
            continue;
        size_t digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 8 && !path[length + digits])
            return (int)strtol(path + length, NULL, 10);
    }
    return -1;
}

/* Where a link points to, as seen from where the link's path is seen; NULL with errno. */
static char *read_link(const char *path)
{
    char text[MAX_PATH];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = 0;
    size_t folder = text[0] == '/' ? 0 : path_folder_length(path);
    char *target = malloc(folder + (size_t)length + 1);
    if (target) {
        memcpy(target, path, folder);
        memcpy(target + folder, text, (size_t)length + 1);
    }
    return target;
}

char *path_follow_links(const char *path)
{
    char *at = strdup(path);
    for (int i = 0; at && path_descriptor(at) < 0; i++) {
        char *next = read_link(at);
        if (!next && (errno == EINVAL || errno == ENOENT)) /* no link; nothing there */
            return at;
        free(at);
        at = next;
        if (i == MAX_LINKS) {
            free(at);
            errno = ELOOP;
            return NULL;
        }
    }
    return at;
}

bool path_is_current(int descriptor, const char *name)
{
    struct stat open_file, named;
    return fstat(descriptor, &open_file) == 0 && lstat(name, &named) == 0 &&
           S_ISREG(named.st_mode) && open_file.st_ino == named.st_ino &&
           open_file.st_dev == named.st_dev;
}

bool path_is_locked_elsewhere(int descriptor)
{
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}
