/* The optimizer that the settings of glcnn train ask for. */
#ifndef GLCNN_TRAIN_TRAIN_OPTIMIZER_H
#define GLCNN_TRAIN_TRAIN_OPTIMIZER_H

#include "task/model.h"
#include "train_settings.h"

/* Lets the model's layers train with it, but for those that are frozen; the learning rate is
 * model_set_learning_rate's. False: the device has the message. */
bool train_optimizer_set(const struct settings *settings, const struct model *model);

#endif
