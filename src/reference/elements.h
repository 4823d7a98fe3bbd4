/* References of kernels whose results are numbers of the source in other places. */
#ifndef GLCNN_REFERENCE_ELEMENTS_H
#define GLCNN_REFERENCE_ELEMENTS_H

#include "kernels/elements.h"
#include "reference/reference.h"

/* Results that are no element of the source are `otherwise`. */
void elements_reference(const struct reference *r, element_source source, double otherwise);
/* Each element of the gradient goes to where it came from. */
void elements_gradient_reference(const struct reference *r, element_source source);

#endif
