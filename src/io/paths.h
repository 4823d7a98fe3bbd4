/* Names of files. */
#ifndef GLCNN_PATHS_H
#define GLCNN_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_MAX_BASE 220 /* of a name's bytes, so that there is room for what is added */

/* Bytes of a path up to its last part, the slash with them. */
size_t path_folder_length(const char *path);

/* The descriptor of this process that a path names, as /dev/stdout does at the end of its links; -1
 * for other paths. Opening such a path again would begin at the start of a regular file. */
int path_descriptor(const char *path);

/* The path behind the links of its last part, which need not lead to anything; to be released with
 * free. NULL with errno. */
char *path_follow_links(const char *path);

/* True if the name still is that of the open file: another process may have removed or renamed it
 * before it was locked here. */
bool path_is_current(int descriptor, const char *name);

/* Locks an open file, unless another holds it. On a file system without locks nobody can. */
bool path_is_locked_elsewhere(int descriptor);

#endif
