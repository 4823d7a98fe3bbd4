/* Messages of GLCNN_ERROR_LENGTH characters at most. */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

glcnn_status fail_with(char *error, glcnn_status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, GLCNN_ERROR_LENGTH, format, arguments);
    va_end(arguments);
    return status;
}

glcnn_status fail_with_errno(char *error, const char *path, const char *what)
{
    const int reason = errno;
    return fail_with(error, reason == ENOMEM ? GLCNN_OUT_OF_MEMORY : GLCNN_IO_ERROR,
                     "%.300s: %s: %s", path, what, strerror(reason));
}

glcnn_status fail_no_memory(char *error, const char *path)
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "%.300s: not enough memory", path);
}
