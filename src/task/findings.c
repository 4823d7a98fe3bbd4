/* Thresholds are equally far apart by ln(p / (1 - p)), a sixteenth, so that they are dense where a network
 * that is sure of itself has its probabilities: near 0 and 1. */
#include "findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 16 /* thresholds of a unit */

bool findings_begin(struct findings *f, uint32_t classes)
{
    *f = (struct findings){.classes = classes};
    if (classes == 0 || classes > FINDINGS_CLASSES)
        return true;
    f->bins = calloc((size_t)classes * 2 * FINDINGS_BINS, sizeof *f->bins);
    return f->bins;
}

void findings_keep_values(struct findings *f, size_t values)
{
    f->values = values <= FINDINGS_MEMORY / FINDINGS_WORST / sizeof(float) ? values : 0;
}

void findings_free(struct findings *f)
{
    for (uint32_t i = 0; i < f->worst_count; i++)
        free(f->worst[i].values);
    free(f->bins);
    *f = (struct findings){.bins = NULL};
}

size_t findings_size(const struct findings *f)
{
    return f->bins ? (size_t)f->classes * 2 * FINDINGS_BINS : 0;
}

/* Where ln(p / (1 - p)) is, from -16 up; of 0 and 1 it is infinite. A sum's rounding may be above 1. */
static size_t bin_of(float probability)
{
    double p = fmin((double)probability, 1);
    double place = floor((log(p) - log1p(-p)) * STEPS) + FINDINGS_BINS / 2;
    return !(place > 0) ? 0 : place < FINDINGS_BINS - 1 ? (size_t)place : FINDINGS_BINS - 1;
}

static uint64_t *bins_of(const struct findings *f, uint32_t class, bool is_of_it)
{
    return f->bins + ((size_t) class * 2 + is_of_it) * FINDINGS_BINS;
}

/* Ties go by the number, so that the order in which they were found does not count. */
static bool is_worse(const struct mistake *a, const struct mistake *b)
{
    return a->loss > b->loss || (a->loss == b->loss && a->index < b->index);
}

/* In the room of an answer that is dropped, or in new one; NULL where there is none, or no memory for it. */
static float *keep_values(const struct findings *f, float *room, const float *values)
{
    if (f->values == 0 || !values) {
        free(room);
        return NULL;
    }
    room = room ? room : malloc(f->values * sizeof *room);
    if (room)
        memcpy(room, values, f->values * sizeof *room);
    return room;
}

void findings_add_mistake(struct findings *f, const struct mistake *mistake, const float *values)
{
    if (f->worst_count == FINDINGS_WORST && !is_worse(mistake, &f->worst[FINDINGS_WORST - 1]))
        return;
    const bool is_full = f->worst_count == FINDINGS_WORST;
    float *room = is_full ? f->worst[FINDINGS_WORST - 1].values : NULL;
    uint32_t at = is_full ? FINDINGS_WORST - 1 : f->worst_count++;
    for (; at > 0 && is_worse(mistake, &f->worst[at - 1]); at--)
        f->worst[at] = f->worst[at - 1];
    f->worst[at] = *mistake;
    f->worst[at].values = keep_values(f, room, values);
}

void findings_add(struct findings *f, const float *probabilities, uint32_t label)
{
    for (uint32_t k = 0; k < f->classes && f->bins; k++)
        bins_of(f, k, k == label)[bin_of(probabilities[k])]++;
}

size_t findings_curve(const struct findings *f, uint32_t class,
                      struct precision_recall curve[FINDINGS_BINS])
{
    const uint64_t *others = bins_of(f, class, false), *own = bins_of(f, class, true);
    uint64_t all = 0, right = 0, wrong = 0;
    size_t count = 0;
    for (size_t i = 0; i < FINDINGS_BINS; i++)
        all += own[i];
    for (size_t i = FINDINGS_BINS; i-- > 0 && all > 0;) {
        right += own[i];
        wrong += others[i];
        if (own[i] + others[i] > 0)
            curve[count++] = (struct precision_recall){(double)right / (double)(right + wrong),
                                                       (double)right / (double)all};
    }
    return count;
}

double findings_average_precision(const struct findings *f, uint32_t class)
{
    struct precision_recall curve[FINDINGS_BINS];
    double sum = 0, before = 0;
    size_t count = findings_curve(f, class, curve);
    for (size_t i = 0; i < count; i++) {
        sum += (curve[i].recall - before) * curve[i].precision;
        before = curve[i].recall;
    }
    return count > 0 ? sum : NAN;
}
