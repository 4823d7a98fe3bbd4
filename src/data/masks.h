/* Masks: one by one, where they lie, and what their values mean. */
#ifndef GLCNN_DATA_MASKS_H
#define GLCNN_DATA_MASKS_H

#include "boxes_place.h"
#include "set.h"

/* Gives the picture that was added last its mask; where that is broken the picture is taken back. */
glcnn_status masks_add_file(glcnn_dataset *set, glcnn_data_part part, const char *path,
                            char *error);
/* Reads the values of a mask as picture_png_values does; they are to be released with free(), after a failure too. *file
 * gets what tells later whether the file has changed. */
glcnn_status masks_read_file(const char *path, const struct colours *colours,
                             struct picture_file *file, struct picture_values *values, char *error);
/* What a list of the folder says of the classes of masks, before these are read. */
glcnn_status masks_read_list(glcnn_dataset *set, const char *folder, char *error);

#endif
