/* What the tensors of another program's file are here: the text of --names. */
#ifndef GLCNN_TRAIN_NAME_MAP_H
#define GLCNN_TRAIN_NAME_MAP_H

#include <glcnn/checkpoint.h>

struct name_map {
    struct glcnn_checkpoint_name *names;
    size_t count;
    char *text; /* that they are in */
};

/* Reads lines "TENSOR LABEL.VECTOR", with spaces between; what follows a # is passed over. False, and
 * a message with the line's number: it is no such file. Release with name_map_free. */
bool name_map_read(const char *path, struct name_map *map, char error[GLCNN_ERROR_LENGTH]);
void name_map_free(struct name_map *map);

#endif
