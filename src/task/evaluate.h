/* What a network makes of a part of labelled pictures. */
#ifndef GLCNN_TASK_EVALUATE_H
#define GLCNN_TASK_EVALUATE_H

#include "flip.h"
#include "model.h"
#include "pictures.h"
#include "score.h"

/* Runs one epoch of a loader that is not shuffled through an inference runner of its batch and
 * counts it. `values` has room for a batch. False, and a message, if that fails. */
bool evaluate_epoch(struct runner *runner, struct flip *flip, glcnn_data_loader *loader,
                    float *values, struct score *score, char error[GLCNN_ERROR_LENGTH]);

/* False, and a message that names the first, if pictures of that part had values that are not finite. */
bool evaluate_is_finite(const struct score *score, const struct pictures *pictures,
                        glcnn_data_part part, char error[GLCNN_ERROR_LENGTH]);

/* The message: of `count` pictures the first is `name`. */
void evaluate_tell_not_finite(const char *name, uint32_t count, char error[GLCNN_ERROR_LENGTH]);

#endif
