/* The path of --data as a text of a checkpoint's metadata, which are UTF-8; a path is any bytes. */
#ifndef GLCNN_TRAIN_DATA_PATH_H
#define GLCNN_TRAIN_DATA_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define DATA_PATH_MAX  4096                /* with the 0 at its end */
#define DATA_PATH_TEXT (3 * DATA_PATH_MAX) /* of its text */

/* Writes the text: "%" and two digits for "%" itself and for bytes that are not ASCII. False: the
 * path is too long. */
bool data_path_write(const char *path, char text[DATA_PATH_TEXT]);
/* The path of a text. False: it is none, or too long. */
bool data_path_read(const char *text, char path[DATA_PATH_MAX]);

#endif
