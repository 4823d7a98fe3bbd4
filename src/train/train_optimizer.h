/* The optimizer that the settings of glcnn train ask for. */
#ifndef GLCNN_TRAIN_TRAIN_OPTIMIZER_H
#define GLCNN_TRAIN_TRAIN_OPTIMIZER_H

#include "layers.h"
#include "task/model.h"
#include "train_settings.h"

/* Lets the model's layers train with it, but for those that are frozen. Learning rates are those of the
 * settings until train_optimizer_set_rate; layers of two rates have them before the first graph is made, which
 * steps together those that are set alike. False: the device has the message. */
bool train_optimizer_set(const glcnn_train_settings *settings, const struct model *model,
                         const struct layers *layers);

/* The learning rate from the next step on: of the layers before the head a share of it. */
void train_optimizer_set_rate(const glcnn_train_settings *settings, const struct model *model,
                              const struct layers *layers, float rate);

#endif
