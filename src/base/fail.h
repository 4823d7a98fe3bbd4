/* A call fails with a status, and a message if the caller asked for one. */
#ifndef GLCNN_BASE_FAIL_H
#define GLCNN_BASE_FAIL_H

#include <glcnn/status.h>

/* Writes the message into `error`, unless that is NULL, and returns the status. The message may not be made of what
 * `error` has. */
glcnn_status fail_with(char *error, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes "PATH: WHAT: the text of errno". The status is errno's: GLCNN_OUT_OF_MEMORY or GLCNN_IO_ERROR. */
glcnn_status fail_with_errno(char *error, const char *path, const char *what);

glcnn_status fail_no_memory(char *error, const char *path);

#endif
