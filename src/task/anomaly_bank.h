/* A memory bank: patches of normal pictures, numbers in `channels` dimensions each, and what PatchCore
 * (Roth et al. 2022, "Towards Total Recall in Industrial Anomaly Detection") does with them on the
 * processor. The nearest of a patch is found on the GPU (anomaly_nearest.h). */
#ifndef GLCNN_TASK_ANOMALY_BANK_H
#define GLCNN_TASK_ANOMALY_BANK_H

#include <stddef.h>
#include <stdint.h>

/* Neighbours that weigh a score, the nearest among them. */
#define BANK_NEIGHBOURS 9

struct bank {
    uint32_t count, channels;
    float *values; /* [count][channels] */
};
void bank_free(struct bank *bank);

/* The Euclidean distance, in double precision. */
double bank_distance(const float *a, const float *b, uint32_t channels);

/* Chooses a coreset of points [count][channels] by greedy k-centre selection (Sener and Savarese 2018):
 * the first is drawn by the seed, each further one is the point that is farthest from those chosen, of
 * equals the first. Stores up to `wanted` indices. Returns how many: fewer where all other points are
 * copies of these; 0 where there is no memory. */
uint32_t bank_select(const float *points, size_t count, uint32_t channels, uint32_t wanted,
                     uint64_t seed, size_t *chosen);

/* The score of a picture by its worst patch, whose nearest in the bank is number `nearest`, at `distance`:
 *
 *   distance * (1 - exp(distance) / sum of exp(distance to m) over the neighbours m)
 *
 * over BANK_NEIGHBOURS patches of the bank, or all of a smaller one, that lie next to number `nearest`,
 * itself included: where these lie scattered, the patch counts as more unusual. The distance itself for a
 * bank of one patch. */
double bank_score(const struct bank *bank, const float *patch, uint32_t nearest, double distance);

#endif
