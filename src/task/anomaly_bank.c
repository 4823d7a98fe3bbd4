/* Coresets, and scores by the neighbours of a patch. */
#include "anomaly_bank.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

void bank_free(struct bank *bank)
{
    free(bank->values);
    *bank = (struct bank){.values = NULL};
}

/* ---- Coreset ---- */

#define LANES 8 /* sums side by side, in which compilers find vectors; a fixed order */

static float squared_distance(const float *a, const float *b, uint32_t channels)
{
    float sums[LANES] = {0}, total = 0;
    uint32_t i = 0;
    for (; i + LANES <= channels; i += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            sums[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
    for (; i < channels; i++)
        total += (a[i] - b[i]) * (a[i] - b[i]);
    for (uint32_t k = 0; k < LANES; k++)
        total += sums[k];
    return total;
}

/* Lets `least`, distances from what was chosen before, be those from point `last` too. The farthest. */
static size_t take_farther(const float *points, size_t count, uint32_t channels, size_t last,
                           float *least)
{
    size_t farthest = 0;
    for (size_t i = 0; i < count; i++) {
        float distance =
            squared_distance(points + i * channels, points + last * channels, channels);
        if (distance < least[i])
            least[i] = distance;
        if (least[i] > least[farthest])
            farthest = i;
    }
    return farthest;
}

uint32_t bank_select(const float *points, size_t count, uint32_t channels, uint32_t wanted,
                     uint64_t seed, size_t *chosen)
{
    float *least = count > 0 ? malloc(count * sizeof *least) : NULL;
    uint32_t found = 0;
    if (!least)
        return 0;
    for (size_t i = 0; i < count; i++)
        least[i] = INFINITY;
    size_t next = (size_t)(random_next(&seed) % count);
    while (found < wanted && least[next] > 0) {
        chosen[found++] = next;
        next = take_farther(points, count, channels, next, least);
    }
    free(least);
    return found;
}

/* ---- Scores ---- */

double bank_distance(const float *a, const float *b, uint32_t channels)
{
    double sum = 0;
    for (uint32_t i = 0; i < channels; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

/* The patches of a bank that lie next to one of them, nearest first. */
struct neighbours {
    uint32_t count, at[BANK_NEIGHBOURS];
    double distance[BANK_NEIGHBOURS];
};

/* Patches come in their order: of equals the first stays before the later. */
static void insert_neighbour(struct neighbours *n, uint32_t at, double distance)
{
    uint32_t i = n->count < BANK_NEIGHBOURS ? n->count++ : BANK_NEIGHBOURS;
    for (; i > 0 && n->distance[i - 1] > distance; i--)
        if (i < BANK_NEIGHBOURS) {
            n->at[i] = n->at[i - 1];
            n->distance[i] = n->distance[i - 1];
        }
    if (i < BANK_NEIGHBOURS) {
        n->at[i] = at;
        n->distance[i] = distance;
    }
}

static const float *patch_of(const struct bank *bank, uint32_t i)
{
    return bank->values + (size_t)i * bank->channels;
}

static struct neighbours find_neighbours(const struct bank *bank, uint32_t of)
{
    struct neighbours n = {.count = 0};
    for (uint32_t i = 0; i < bank->count; i++)
        insert_neighbour(&n, i,
                         bank_distance(patch_of(bank, i), patch_of(bank, of), bank->channels));
    return n;
}

double bank_score(const struct bank *bank, const float *patch, uint32_t nearest, double distance)
{
    const struct neighbours n = find_neighbours(bank, nearest);
    double sum = 0; /* may be infinite: the share is 0 then, as it should */
    for (uint32_t i = 0; i < n.count; i++)
        sum += exp(bank_distance(patch, patch_of(bank, n.at[i]), bank->channels) - distance);
    return n.count > 1 ? distance * (1 - 1 / sum) : distance;
}
