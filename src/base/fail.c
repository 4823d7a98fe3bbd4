/* Messages. */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

glcnn_status data_fail(char *error, glcnn_status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, GLCNN_ERROR_LENGTH, format, arguments);
    va_end(arguments);
    return status;
}

glcnn_status data_fail_errno(char *error, const char *path, const char *what)
{
    glcnn_status status = errno == ENOMEM ? GLCNN_OUT_OF_MEMORY : GLCNN_IO_ERROR;
    return data_fail(error, status, "%.300s: %s: %s", path, what, strerror(errno));
}

glcnn_status data_no_memory(char *error, const char *path)
{
    return data_fail(error, GLCNN_OUT_OF_MEMORY, "%.300s: not enough memory", path);
}

glcnn_status data_tell_change(const char *path, const char *what, char *error)
{
    return data_fail(error, GLCNN_IO_ERROR,
                     "%.300s: %s since the data was opened; training can go on from its checkpoint "
                     "once the data is as it was",
                     path, what);
}
