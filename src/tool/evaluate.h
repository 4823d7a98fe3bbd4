/* Classifying a part of labelled pictures. */
#ifndef GLCNN_TOOL_EVALUATE_H
#define GLCNN_TOOL_EVALUATE_H

#include "model.h"
#include "pictures.h"
#include "score.h"

/* Runs one epoch of a loader that is not shuffled through an inference runner of its batch and
 * counts it. `probabilities` has room for a batch. False, and a sentence, if that fails. */
bool evaluate_epoch(struct runner *runner, glcnn_data_loader *loader, float *probabilities,
                    struct score *score, char error[GLCNN_ERROR_LENGTH]);

#endif
