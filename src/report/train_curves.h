/* The picture of a training's curves. */
#ifndef GLCNN_REPORT_TRAIN_CURVES_H
#define GLCNN_REPORT_TRAIN_CURVES_H

#include <glcnn/status.h>
#include <stdbool.h>

#include "train/curves.h"

/* Draws both, of what is measured; path NULL: nothing. False, and a message, if it cannot be written. */
bool train_curves_write(const struct train_curves *curves, const char *measure, const char *path,
                        const char *title, char error[GLCNN_ERROR_LENGTH]);

#endif
