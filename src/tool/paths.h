/* Files that the command line names, by themselves or by their folder. */
#ifndef GLCNN_TOOL_PATHS_H
#define GLCNN_TOOL_PATHS_H

#include <glcnn/status.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero: none. */
struct paths {
    char **at;
    uint32_t count, capacity;
    uint32_t ignored; /* files in folders whose names are not those of pictures */
};

/* Adds a file; of a folder the pictures in it and in the folders below, in the order of their names,
 * but for hidden ones. False, and a sentence: it has none, or cannot be listed. */
bool paths_add(struct paths *paths, const char *path, char error[GLCNN_ERROR_LENGTH]);
void paths_free(struct paths *paths);

#endif
