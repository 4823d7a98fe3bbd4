/* Files of pictures, as they were when the data was opened. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "set.h"

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
