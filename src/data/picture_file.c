/* Files of pictures, as they were when the data was opened. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "base/array.h"
#include "set.h"

bool picture_files_add(struct picture_file **files, uint32_t *count, size_t *capacity,
                       const struct picture_file *file)
{
    struct picture_file *more = array_grow(*files, *count, capacity, sizeof *more);
    if (!more)
        return false;
    *files = more;
    struct picture_file *added = &(*files)[*count];
    *added = *file;
    added->path = strdup(file->path);
    *count += added->path != NULL;
    return added->path;
}

FILE *open_picture(const char *path, struct picture_file *file)
{
    struct stat info;
    int descriptor;
    if (glcnn_file_open(path, &descriptor, NULL, NULL) != GLCNN_SUCCESS)
        return NULL;
    bool known = fstat(descriptor, &info) == 0;
    FILE *stream = known ? fdopen(descriptor, "rb") : NULL;
    file->bytes = known ? info.st_size : 0;
    file->changed = known ? info.st_mtim : (struct timespec){0};
    if (!stream) {
        int reason = errno;
        close(descriptor);
        errno = reason;
    }
    return stream;
}

bool picture_is_as_opened(const struct picture_file *file, FILE *stream)
{
    struct stat now;
    return fstat(fileno(stream), &now) == 0 && now.st_size == file->bytes &&
           now.st_mtim.tv_sec == file->changed.tv_sec &&
           now.st_mtim.tv_nsec == file->changed.tv_nsec;
}
