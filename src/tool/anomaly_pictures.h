/* Which pictures are normal: folders as MVTec AD (Bergmann et al. 2019) lays them out, DIR/train/good,
 * DIR/test/good and DIR/test/DEFECT, or any folder of pictures. */
#ifndef GLCNN_TOOL_ANOMALY_PICTURES_H
#define GLCNN_TOOL_ANOMALY_PICTURES_H

#include "pictures.h"

#define ANOMALY_PATH 4096

/* The folder of normal pictures in `folder`: the first that there is of train/good, train and good, else
 * the folder itself. */
void anomaly_normal_folder(const char *folder, char path[ANOMALY_PATH]);
/* What to score of a path: its folder "test", where it has one. */
void anomaly_test_folder(const char *given, char path[ANOMALY_PATH]);

/* A picture's label is the name of its folder, where that is "good" or beside a folder "good"; other
 * pictures have none. */
enum anomaly_kind { ANOMALY_UNLABELLED, ANOMALY_NORMAL, ANOMALY_DEFECT };
enum anomaly_kind anomaly_label(const char *picture, char label[ANOMALY_PATH]);

/* No picture has fewer pixels than patches are to be made of it. False, with a message: one has, or there
 * is no memory. Pictures that cannot be read are passed over. */
bool anomaly_check_sizes(const struct pictures *pictures, const struct form *grid,
                         char error[GLCNN_ERROR_LENGTH]);

#endif
