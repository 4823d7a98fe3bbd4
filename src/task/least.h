/* Which part of what a network learns, a class or a keypoint, it has learned least. */
#ifndef GLCNN_TASK_LEAST_H
#define GLCNN_TASK_LEAST_H

#include <stdbool.h>
#include <stddef.h>

/* The part of the lowest measure; of equal ones that which is measured on the most, then the first. NaN is
 * no measure. False: all that are measured are learned alike, or fewer than two are. */
bool least_find(const double *measures, const double *counts, size_t count, size_t *least);

#endif
