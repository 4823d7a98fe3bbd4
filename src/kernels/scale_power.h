/* The power of a normalisation, L^-beta. */
#ifndef GLCNN_KERNELS_SCALE_POWER_H
#define GLCNN_KERNELS_SCALE_POWER_H

#include "record/pass.h"

/* For normalization/scale_power.glsl: uniform beta, and define QUARTERS where few products and a
 * root make the power. L is never below `least`; 0: that is not known. With ROOTS_ALONE roots make
 * the power of every L. */
void pass_scale_power(struct pass *pass, float beta, float least);

#endif
