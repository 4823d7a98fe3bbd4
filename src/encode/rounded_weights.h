/* Weights that a layer reads rounded, as a runtime of int8 has them. */
#ifndef GLCNN_ROUNDED_WEIGHTS_H
#define GLCNN_ROUNDED_WEIGHTS_H

#include "encode/kernel.h"

/* The operation reads rounded weights if `owner`, the kernel whose vectors it reads, is to have them: passes that
 * make them into a vector of the plan are planned. */
void plan_rounded_weights(struct plan *plan, const struct glcnn_kernel *owner,
                          struct operation *operation);

#endif
