/* Neurons in double precision, as the references of kernels with a fused one use them. */
#ifndef GLCNN_REFERENCE_NEURON_H
#define GLCNN_REFERENCE_NEURON_H

#include "kernels/neuron.h"
#include "reference/reference.h"

/* The slope of channel c for neuron_value and neuron_derivative, 0 for a type without; `data` may be
 * NULL. */
double neuron_slope(const struct glcnn_neuron_descriptor *neuron, const double *data, uint32_t c);
/* f'(x). */
double neuron_derivative(const struct glcnn_neuron_descriptor *neuron, double slope, double x);

#endif
