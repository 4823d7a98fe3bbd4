/* Which pictures are normal: folders as MVTec AD (Bergmann et al. 2019) lays them out, DIR/train/good,
 * DIR/test/good and DIR/test/DEFECT, or any folder of pictures. */
#ifndef GLCNN_TRAIN_ANOMALY_PICTURES_H
#define GLCNN_TRAIN_ANOMALY_PICTURES_H

#include <glcnn/anomaly.h>

#include "task/pictures.h"

#define ANOMALY_PATH 4096

/* The struct gathers paths in the order in which they are added. */
struct anomaly_paths {
    char **items;
    uint32_t count;
    size_t room;
};

/* Adds a copy, as an anomaly_taker does whose user is a struct anomaly_paths. False: not enough memory. */
bool anomaly_add_path(void *paths, const char *path);
void anomaly_free_paths(struct anomaly_paths *paths);

/* The folder of normal pictures in `folder`: the first that there is of train/good, train and good, else
 * the folder itself; of an object of VisA its Data/Images/Normal. Good, OK, ok, Normal and the like stand for good. */
void anomaly_normal_folder(const char *folder, char path[ANOMALY_PATH]);

/* Calls for what to score of a path: its folder "test", or those of folders below it, up to three deep, as
 * a folder of several things has them; whatever is beside them, pictures that a bank is made of and masks of
 * defects, is left out. Of VisA (visa.h) the pictures that its list names, or all without a list. Where there is no such folder it does not call. False: `take` has returned false. */
typedef bool anomaly_taker(void *user, const char *path);
bool anomaly_test_folders(const char *given, anomaly_taker *take, void *user);

/* A picture's label is the name of a folder that it lies in, up to three above it and below "test", where that
 * is "good", or Good, OK, ok, Normal and the like, or is beside a folder of such a name; other pictures have
 * none. */
glcnn_anomaly_kind anomaly_label(const char *picture, char label[ANOMALY_PATH]);

/* No picture has fewer pixels than patches are to be made of it. False, with a message: one has, or there
 * is no memory. Pictures that cannot be read are passed over. */
bool anomaly_check_sizes(const struct pictures *pictures, const struct form *grid,
                         char error[GLCNN_ERROR_LENGTH]);

#endif
