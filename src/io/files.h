/* Writing whole files so that all of them appear, or none. */
#ifndef GLCNN_FILES_H
#define GLCNN_FILES_H

#include <glcnn/status.h>

struct file_content {
    const char *path;
    void *bytes;
    size_t size;
};

/* Writes each file beside its path and renames them at the end. A symbolic link keeps pointing to
 * the file that is replaced; what is not a regular file (a pipe, /dev/stdout) is written directly,
 * before any rename. */
glcnn_status files_write(const struct file_content *files, size_t count, char error[512]);

#endif
