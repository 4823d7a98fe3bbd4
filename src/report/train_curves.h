/* The curves of a training: loss and accuracy, of steps in training and of epochs in validation. */
#ifndef GLCNN_REPORT_TRAIN_CURVES_H
#define GLCNN_REPORT_TRAIN_CURVES_H

#include <stdbool.h>
#include <stddef.h>

#include <glcnn/status.h>

struct curve {
    double *x, *loss, *accuracy; /* x: epochs */
    size_t count, capacity;
};

struct train_curves {
    struct curve training, validation;
};

/* accuracy NAN: there is none in training. False: not enough memory, and nothing is added. */
bool curve_add(struct curve *curve, double x, double loss, double accuracy);
/* Draws both, of what is measured; path NULL: nothing. False, and a message, if it cannot be written. */
bool train_curves_write(const struct train_curves *curves, const char *measure, const char *path,
                        const char *title, char error[GLCNN_ERROR_LENGTH]);
void train_curves_free(struct train_curves *curves);

#endif
