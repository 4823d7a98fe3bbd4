/* What the references of losses share. */
#ifndef GLCNN_REFERENCE_LOSS_H
#define GLCNN_REFERENCE_LOSS_H

#include "kernels/loss.h"
#include "reference/reference.h"

/* Loss of an element and its derivative by y, of any type but those over channels; t is smoothed. */
double loss_of_element(double y, double t, const struct glcnn_loss_parameters *parameters);
double loss_gradient_of_element(double y, double t, const struct glcnn_loss_parameters *parameters);

/* A pixel that the loss is computed for: position in the sources after the edge mode, -1 for
 * outside, and in the destination. */
struct loss_pixel {
    uint32_t n;
    int32_t y, x, Y, X;
};

/* The label weight of an element; 1 without any. */
double loss_weight(const struct reference *reference, const struct loss_pixel *pixel, uint32_t c);

/* Stores the gradient of an element and returns its weighted loss. */
typedef double (*loss_visitor)(const struct reference *reference, const struct loss_pixel *pixel,
                               uint32_t c);
/* Visits all elements and stores the loss. */
void loss_reference_of(const struct reference *reference, loss_visitor visit);

#endif
