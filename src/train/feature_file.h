/* Features of pictures in a file: what frozen layers make of each, which is the same in every epoch.
 *
 * A slot has the features of one picture, by a digest of its pixels, and is believed only where its
 * own digest, of key, picture and features, says that it is whole. The key stands for all else that
 * features depend on. So what is stale, torn or damaged counts as missing, and a run that was killed
 * finds again what it had. The file is this machine's: floats as they lie in memory. */
#ifndef GLCNN_TRAIN_FEATURE_FILE_H
#define GLCNN_TRAIN_FEATURE_FILE_H

#include <glcnn/glcnn.h>

struct features;

struct features_parameters {
    const char *path; /* NULL: a file without a name, for this run only */
    uint64_t key;
    uint32_t slots, values; /* values: floats of a slot */
    uint64_t limit;         /* bytes that the file may have */
};

/* Opens or makes the file, and keeps other runs from it; what it has of another key is given up.
 * *features is the caller's. False, and a message: the file would be too long, cannot be had, is
 * another run's at the moment, or is no such file, and then it is left alone. */
bool features_open(const struct features_parameters *parameters, struct features **features,
                   char error[GLCNN_ERROR_LENGTH]);
/* *features becomes NULL. NULL does nothing. */
void features_close(struct features **features);

/* Are the features of that picture there, whole? */
bool features_have(struct features *features, uint32_t slot, uint64_t picture);
/* False, and a message, if that fails; features_read also of a slot that is not whole. */
bool features_write(struct features *features, uint32_t slot, uint64_t picture, const float *values,
                    char error[GLCNN_ERROR_LENGTH]);
bool features_read(struct features *features, uint32_t slot, float *values,
                   char error[GLCNN_ERROR_LENGTH]);
/* Of the whole file. */
uint64_t features_size(const struct features *features);

#endif
