/* What a network makes of a part of labelled pictures. */
#ifndef GLCNN_TASK_EVALUATE_H
#define GLCNN_TASK_EVALUATE_H

#include "flip.h"
#include "model.h"
#include "pictures.h"
#include "saved.h"
#include "score.h"

/* Runs one epoch of a loader that is not shuffled through an inference runner of its batch and
 * counts it. `values` has room for a batch. False, and a message, if that fails. */
bool evaluate_epoch(struct runner *runner, struct flip *flip, glcnn_data_loader *loader,
                    float *values, struct score *score, char error[GLCNN_ERROR_LENGTH]);

/* How many of the pictures that are measured the network of a file was trained on: 0 where the file does not
 * remember. *is_exact is false where that is estimated. */
uint32_t evaluate_count_trained(const struct saved *saved, const struct pictures *pictures,
                                bool *is_exact);

/* For programs: the score, which part of the data was measured, and how many of it were trained on. */
cJSON *evaluate_json(const struct score *score, const char *const *names, glcnn_data_part part,
                     uint32_t trained_on);

/* False, and a message that names the first, if pictures of that part had values that are not finite. */
bool evaluate_is_finite(const struct score *score, const struct pictures *pictures,
                        glcnn_data_part part, char error[GLCNN_ERROR_LENGTH]);

/* The message: of `count` pictures the first is `name`. */
void evaluate_tell_not_finite(const char *name, uint32_t count, char error[GLCNN_ERROR_LENGTH]);

#endif
