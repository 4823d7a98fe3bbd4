/* What the references of convolutions and transposed convolutions share. */
#ifndef GLCNN_REFERENCE_CONVOLUTION_H
#define GLCNN_REFERENCE_CONVOLUTION_H

#include "kernels/convolution.h"
#include "reference/reference.h"

/* Biases and neuron of the region of a forward kernel's result, whose sums are made. */
void convolution_reference_finish(const struct reference *reference);
/* Sums of the gradient into gradient_for_biases. */
void convolution_reference_biases(const struct reference *reference);

#endif
