/* What the passes and the reference of running averages share. */
#ifndef GLCNN_KERNELS_RUNNING_STATISTICS_INTERNAL_H
#define GLCNN_KERNELS_RUNNING_STATISTICS_INTERNAL_H

#include "glcnn/kernels/running_statistics.h"

#include "encode/descriptor.h"

/* Arguments. */
enum { MEAN, VARIANCE, RUNNING_MEAN, RUNNING_VARIANCE, VECTORS };

/* What makes a biased variance of M pixels unbiased; a single pixel has no other. */
double running_statistics_correction(const struct glcnn_running_statistics_parameters *p);

#endif
