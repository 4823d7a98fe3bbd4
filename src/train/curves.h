/* The curves of a training: loss and accuracy, of steps in training and of epochs in validation. */
#ifndef GLCNN_TRAIN_CURVES_H
#define GLCNN_TRAIN_CURVES_H

#include <stdbool.h>
#include <stddef.h>

struct curve {
    double *x, *loss, *accuracy; /* x: epochs */
    size_t count, capacity;
};

struct train_curves {
    struct curve training, validation;
};

/* accuracy NAN: there is none in training. False: not enough memory, and nothing is added. */
bool curve_add(struct curve *curve, double x, double loss, double accuracy);
void train_curves_free(struct train_curves *curves);

#endif
