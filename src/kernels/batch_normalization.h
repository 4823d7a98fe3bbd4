/* What the passes and the references of batch normalisation share. */
#ifndef GLCNN_KERNELS_BATCH_NORMALIZATION_INTERNAL_H
#define GLCNN_KERNELS_BATCH_NORMALIZATION_INTERNAL_H

#include "glcnn/kernels/batch_normalization.h"

#include "encode/descriptor.h"

/* Index of each argument in the descriptors. */
enum { S_SOURCE, S_MEAN, S_VARIANCE };
enum { N_SOURCE, N_RESULT, N_PARAMETERS };
enum { D_GRADIENT, D_SOURCE, D_PARAMETERS, D_FOR_GAMMA = D_PARAMETERS + 5, D_FOR_BETA };
enum { G_GRADIENT, G_SOURCE, G_RESULT, G_PARAMETERS, G_FOR_GAMMA = G_PARAMETERS + 5, G_FOR_BETA };

/* The five from *_PARAMETERS on. */
enum { GAMMA, BETA, MEAN, VARIANCE, SLOPES };

/* Pixels per channel that the statistics were taken over: of this encode if nobody counted. */
double batch_normalization_samples(const struct operation *operation);
/* Are mean and variance constants? */
bool batch_normalization_is_fixed(const struct operation *operation);

#endif
