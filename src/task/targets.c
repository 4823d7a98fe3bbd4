/* Rows of targets. */
#include "targets.h"

#include <stdlib.h>

void targets_free(struct targets *targets)
{
    free(targets->weights);
    targets->weights = NULL;
}

bool targets_are_plain(const struct targets *targets)
{
    return targets->smoothing == 0 && !targets->weights;
}

/* share: of the other label. */
static void write_row(const struct targets *t, uint32_t label, uint32_t other, double share,
                      float *row)
{
    for (uint32_t k = 0; k < t->classes; k++) {
        double one = (k == label ? 1 - share : 0) + (k == other ? share : 0);
        double smooth = one * (1 - t->smoothing) + t->smoothing / t->classes;
        row[k] = (float)(smooth * (t->weights ? (double)t->weights[k] : 1));
    }
}

void targets_write(const struct targets *targets, const uint32_t *labels, const float *shares,
                   uint32_t count, float *rows)
{
    for (uint32_t n = 0; n < count; n++)
        write_row(targets, labels[n], labels[count - 1 - n], shares ? (double)shares[n] : 0,
                  rows + (size_t)n * targets->classes);
}

bool targets_balance(struct targets *targets, const uint32_t *counts)
{
    double pictures = 0, classes = 0;
    targets->weights = calloc(targets->classes, sizeof *targets->weights);
    if (!targets->weights)
        return false;
    for (uint32_t k = 0; k < targets->classes; k++) {
        pictures += counts[k];
        classes += counts[k] > 0;
    }
    for (uint32_t k = 0; k < targets->classes; k++)
        targets->weights[k] = counts[k] > 0 ? (float)(pictures / (classes * counts[k])) : 0;
    return true;
}
