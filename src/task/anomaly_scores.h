/* What scores of pictures tell: a threshold from normal ones, and how well they divide normal pictures
 * from others. */
#ifndef GLCNN_TASK_ANOMALY_SCORES_H
#define GLCNN_TASK_ANOMALY_SCORES_H

#include <stdbool.h>
#include <stddef.h>

/* The threshold from scores of `count` normal pictures, 1 or more, that are not in the bank: the score of
 * rank ceil(quantile (count + 1)) from below, 1 at least, or the largest where there are fewer. A further
 * normal picture of the same kind is above rank r of n with a probability of 1 - r / (n + 1), at most.
 * Sorts the scores; *rank is r. */
double scores_threshold(double *scores, size_t count, double quantile, size_t *rank);

/* The area under the receiver operating characteristic: the share of pairs of an anomalous and a normal
 * picture of which the anomalous one has the higher score, equal scores counting half. NAN where there
 * are none of a kind, or no memory. */
double scores_auroc(const double *scores, const bool *is_anomalous, size_t count);

#endif
