/* What a network that classifies is to give: of a picture of class y one row of shares t of the
 * classes,
 *   t_k = weight_k ((1 - smoothing) [k = y] + smoothing / classes)
 * and of one that is mixed with another the same of both, each with its share,
 * whose soft-max cross entropy is that of PyTorch's `weight` and `label_smoothing`. */
#ifndef GLCNN_TASK_TARGETS_H
#define GLCNN_TASK_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

struct targets {
    uint32_t classes;
    double smoothing; /* 0 .. 1 */
    float *weights;   /* [classes], NULL: 1; of targets_free */
};

void targets_free(struct targets *targets);

/* Are rows those of the labels, a 1 and zeros? */
bool targets_are_plain(const struct targets *targets);

/* Writes rows [count][classes]. shares [count], or NULL: of the label of picture count - 1 - n in row
 * n. */
void targets_write(const struct targets *targets, const uint32_t *labels, const float *shares,
                   uint32_t count, float *rows);

/* weight_k = N / (K n_k), N pictures of K classes that have any, n_k of class k; of a class without a
 * picture 0. counts: [classes]. False: not enough memory. */
bool targets_balance(struct targets *targets, const uint32_t *counts);

#endif
