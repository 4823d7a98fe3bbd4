/* What a run of glcnn train begins with. */
#ifndef GLCNN_TRAIN_TRAIN_START_H
#define GLCNN_TRAIN_TRAIN_START_H

#include "train_session.h"

/* Gives a model its weights: drawn by the seed, then those of --model but for a head that is
 * replaced, then those of --load-matching; `tells` has it print what became of them. False, and a
 * message, if a file does not serve. */
bool start_weights(const glcnn_trainer *s, struct model *model, bool tells,
                   char error[GLCNN_ERROR_LENGTH]);

#endif
