/* Ranks of scores. */
#include "anomaly_scores.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double score;
    bool is_anomalous;
};

static int by_score(const void *a, const void *b)
{
    const double x = ((const struct ranked *)a)->score, y = ((const struct ranked *)b)->score;
    return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double scores_threshold(double *scores, size_t count, double quantile, size_t *rank)
{
    const double wanted = ceil(quantile * (double)(count + 1));
    qsort(scores, count, sizeof *scores, by_value);
    *rank = wanted < 1 ? 1 : wanted > (double)count ? count : (size_t)wanted;
    return scores[*rank - 1];
}

/* Of sorted scores: groups of equal ones count half against each other. */
static double sum_pairs(const struct ranked *ranked, size_t count)
{
    double pairs = 0, below = 0;
    for (size_t i = 0, end; i < count; i = end) {
        size_t kinds[2] = {0};
        for (end = i; end < count && ranked[end].score == ranked[i].score; end++)
            kinds[ranked[end].is_anomalous]++;
        pairs += (double)kinds[true] * (below + (double)kinds[false] / 2);
        below += (double)kinds[false];
    }
    return pairs;
}

double scores_auroc(const double *scores, const bool *is_anomalous, size_t count)
{
    struct ranked *ranked = malloc((count + 1) * sizeof *ranked);
    size_t anomalous = 0;
    if (!ranked)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        ranked[i] = (struct ranked){scores[i], is_anomalous[i]};
        anomalous += is_anomalous[i];
    }
    qsort(ranked, count, sizeof *ranked, by_score);
    double pairs = sum_pairs(ranked, count);
    free(ranked);
    return anomalous > 0 && anomalous < count
               ? pairs / ((double)anomalous * (double)(count - anomalous))
               : NAN;
}
