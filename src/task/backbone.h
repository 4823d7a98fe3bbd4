/* A network of a file, a classifier mostly, as what the head of another task stands on. */
#ifndef GLCNN_TASK_BACKBONE_H
#define GLCNN_TASK_BACKBONE_H

#include "model.h"

/* Can a network of the one form be it for the other's task? */
bool backbone_serves(const struct form *own, const struct form *form);

/* As model_open, of a network that is taken over, also on failure, and that has the form `own`. The new
 * head reads, for strides of 1, 2, 4, 8, 16 and 32 pixels of the picture, the last sum of two images of
 * that many pixels, as a residual block ends with, or the last of all images where there is no sum; layers
 * that it does not need, the classifier's own among them, are left out. Maps that are less than 2 pixels
 * wide or high do not count, nor those before the first layer with weights, nor what is enlarged again.
 * False, with a message: no stride of 4, 8 or 16 has a map, or behind the last one come layers that
 * work on rows of values, as those of transformers. */
bool backbone_open(glcnn_network *network, const struct form *own, const struct form *form,
                   uint32_t batch, struct model *model, char error[GLCNN_ERROR_LENGTH]);

#endif
