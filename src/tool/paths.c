/* Files by their folders. What a picture's name ends with tells it from what else lies there; whether it
 * can be read is the library's to say. */
#include "paths.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FOLDERS_OPEN 16 /* of those under each other, at once */

static bool is_picture(const char *name)
{
    static const char *const ends[] = {".png",  ".jpg", ".jpeg", ".webp", ".tif",
                                       ".tiff", ".gif", ".bmp",  ".heic"};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(end, ends[i]) == 0)
            return true;
    return false;
}

static bool add(struct paths *paths, const char *path)
{
    if (paths->count == paths->capacity) {
        uint32_t capacity = 2 * paths->capacity + 64;
        char **more = realloc(paths->at, capacity * sizeof *more);
        if (!more)
            return false;
        paths->at = more;
        paths->capacity = capacity;
    }
    paths->at[paths->count] = strdup(path);
    return paths->at[paths->count++] != NULL;
}

static struct paths *walked; /* nftw hands nothing on */

/* Not 0: no more is listed. */
static int visit(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    const char *name = path + place->base;
    (void)status;
    if (kind == FTW_DNR)
        return errno = EACCES;
    if (kind != FTW_F || name[0] == '.')
        return 0;
    if (is_picture(name))
        return add(walked, path) ? 0 : (errno = ENOMEM);
    walked->ignored++;
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_folder(struct paths *paths, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t first = paths->count;
    walked = paths;
    if (nftw(path, visit, FOLDERS_OPEN, 0) != 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be listed: %s", path, strerror(errno));
        return false;
    }
    if (paths->count == first) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: no picture is in the folder or in those below it", path);
        return false;
    }
    qsort(paths->at + first, paths->count - first, sizeof *paths->at, by_bytes);
    return true;
}

bool paths_add(struct paths *paths, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return add_folder(paths, path, error);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return add(paths, path);
}

void paths_free(struct paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++)
        free(paths->at[i]);
    free(paths->at);
    *paths = (struct paths){.count = 0};
}
