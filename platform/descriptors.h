/* Descriptors of the library's own files. A process may have been started with standard input,
 * output or error closed: a file that took one of these numbers would be read by what reads standard
 * input, and get what others print. */
#ifndef GLCNN_DESCRIPTORS_H
#define GLCNN_DESCRIPTORS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What open gave, -1 too, or a copy of it with a number above those of the standard streams. -1 with
 * errno where there is none left. */
static inline int descriptor_above_standard(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), reason = errno;
    close(descriptor);
    errno = reason;
    return copy;
}

/* The same of what fopen gave in that mode; NULL for NULL. */
static inline FILE *stream_above_standard(FILE *stream, const char *mode)
{
    if (!stream || fileno(stream) > STDERR_FILENO)
        return stream;
    int copy = fcntl(fileno(stream), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *above = copy >= 0 ? fdopen(copy, mode) : NULL;
    int reason = errno;
    if (copy >= 0 && !above)
        close(copy);
    fclose(stream);
    errno = reason;
    return above;
}

#endif
