/* Masks: one by one, where they lie, and what their values mean. */
#ifndef GLCNN_DATA_MASKS_H
#define GLCNN_DATA_MASKS_H

#include "boxes_place.h"
#include "set.h"

/* Gives the picture that was added last its mask; where that is broken the picture is taken back. */
glcnn_status masks_add_file(glcnn_dataset *set, glcnn_data_part part, const char *path,
                            char *error);
/* What a list of the folder says of the classes of masks, before these are read. */
glcnn_status masks_read_list(glcnn_dataset *set, const char *folder, char *error);

#endif
