/* What else is asked of a classifier than how often it is right:
 *
 *   top-5      the share of pictures whose class is among the five most probable
 *   precision  of class k: of the pictures taken for k the share that are k; 0 where there are none
 *   recall     of the pictures that are k the share taken for k; 0 where there are none
 *   F1         2 precision recall / (precision + recall); 0 where both are 0
 *   calibration error   the expected calibration error of Guo et al. 2017: over the bins
 *              (b / 15, (b + 1) / 15] of the largest probability, sum of
 *              share of the pictures in the bin |share of them that are right - their mean probability|
 *
 * Means of precision, recall and F1 are over the classes that a picture has or was taken for, as
 * scikit-learn's "macro". */
#ifndef GLCNN_TASK_METRICS_H
#define GLCNN_TASK_METRICS_H

#include "confusion.h"

#define METRICS_TOP  5
#define METRICS_BINS 15

/* Sums over single pictures: how many have their class among the most probable, then of each bin how
 * many pictures, how many of them are right, and the sum of their largest probabilities. */
#define METRICS_SUMS (1 + 3 * METRICS_BINS)

void metrics_add(double sums[METRICS_SUMS], const float *probabilities, uint32_t classes,
                 uint32_t label);
/* NAN of no pictures. */
double metrics_top(const double sums[METRICS_SUMS]);
double metrics_calibration_error(const double sums[METRICS_SUMS]);

struct class_metrics {
    double precision, recall, f1;
};
struct class_metrics metrics_of_class(const struct confusion *confusion, uint32_t k);
struct class_metrics metrics_mean(const struct confusion *confusion);

/* Adds all of them to a text, for people. */
void metrics_print(const double sums[METRICS_SUMS], const struct confusion *confusion,
                   const char *const *names, struct text *text);
/* Adds them to an object, and those of classes to the objects of its array "classes". */
void metrics_add_json(const double sums[METRICS_SUMS], const struct confusion *confusion,
                      cJSON *json);

#endif
