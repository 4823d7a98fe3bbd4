/* What the passes and the references of instance normalisation share. */
#ifndef GLCNN_KERNELS_INSTANCE_NORMALIZATION_INTERNAL_H
#define GLCNN_KERNELS_INSTANCE_NORMALIZATION_INTERNAL_H

#include "glcnn/kernels/instance_normalization.h"

#include "encode/descriptor.h"

/* Index of each argument in the descriptors. */
enum { SOURCE, RESULT, GAMMA, BETA, MEAN, VARIANCE };
enum {
    G_GRADIENT,
    G_SOURCE,
    G_RESULT,
    G_GAMMA,
    G_BETA,
    G_FOR_GAMMA,
    G_FOR_BETA,
    G_MEAN,
    G_VARIANCE
};

/* Where either kernel has them; beta follows gamma, and variance the mean. */
struct places {
    int source, gamma, mean;
};

struct places instance_normalization_places(const struct operation *operation);

/* Has the forward encode left them in the state? */
bool instance_normalization_has_statistics(const struct operation *operation);
float instance_normalization_epsilon(const struct operation *operation);

#endif
