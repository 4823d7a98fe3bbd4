/* How a failure of this room is told. */
#ifndef GLCNN_DATA_MESSAGE_H
#define GLCNN_DATA_MESSAGE_H

#include <glcnn/status.h>

/* Writes the message into `error`, unless that is NULL, and returns the status. */
glcnn_status data_fail(char *error, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "PATH: WHAT: the text of errno", and of that the status: memory, or the file. */
glcnn_status data_fail_errno(char *error, const char *path, const char *what);

/* WHAT is that a file has changed or vanished. */
glcnn_status data_tell_change(const char *path, const char *what, char *error);

glcnn_status data_no_memory(char *error, const char *path);

#endif
