/* VisA (Zou et al. 2022) as it is distributed: OBJECT/Data/Images/Normal and Anomaly, OBJECT/Data/Masks, and beside the
 * objects split_csv/1cls.csv, which says which pictures are to learn from and which to test with:
 * https://github.com/amazon-science/spot-diff, prepare_data.py. */
#ifndef GLCNN_TRAIN_VISA_H
#define GLCNN_TRAIN_VISA_H

#include <stdbool.h>

#define VISA_PICTURES "Data/Images"

/* True if the folder is that of an object. */
bool visa_is_object(const char *folder);

/* True if the list is beside the folder, an object, or in it, a folder of objects. */
bool visa_has_split(const char *folder);

/* Calls for each picture of an object that the list names for "train" or "test". False: `take` has returned false, or there
 * is no memory; *found is false where there is no list, or it names none. */
bool visa_list(const char *folder, const char *split, bool (*take)(void *user, const char *path),
               void *user, bool *found);

#endif
