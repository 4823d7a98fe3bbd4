/* The bootstrap over pictures. */
#include "interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define WORK        3e8 /* numbers that all draws go through */
#define DRAWS_MOST  1000
#define DRAWS_LEAST 50
#define THREE       3.0 /* of the rule */

static uint32_t count_draws(uint32_t pictures, size_t work)
{
    const double draws = fmin(WORK / ((double)work + pictures), DRAWS_MOST);
    return draws < DRAWS_LEAST ? 0 : (uint32_t)draws;
}

static void draw(uint64_t *random, uint32_t pictures, uint32_t *times)
{
    memset(times, 0, pictures * sizeof *times);
    for (uint32_t i = 0; i < pictures; i++)
        times[((random_next(random) >> 32) * pictures) >> 32]++;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct interval interval_of(double *values, uint32_t count, uint32_t pictures)
{
    const double beside = (1 - INTERVAL_SHARE) / 2;
    qsort(values, count, sizeof *values, compare);
    struct interval interval = {.low = values[(uint32_t)(beside * count)],
                                .high = values[count - 1 - (uint32_t)(beside * count)],
                                .draws = count};
    if (values[0] >= 1)
        interval.low = fmax(1 - THREE / pictures, 0);
    if (values[0] == 0 && values[count - 1] == 0)
        interval.high = fmin(THREE / pictures, 1);
    return interval;
}

bool interval_find(uint32_t pictures, size_t work, uint64_t seed, interval_measure measure,
                   void *context, struct interval *interval)
{
    const uint32_t draws = pictures < 2 ? 0 : count_draws(pictures, work);
    *interval = (struct interval){.draws = 0};
    if (draws == 0)
        return true;
    uint32_t *times = malloc(pictures * sizeof *times), count = 0;
    double *values = malloc(draws * sizeof *values);
    for (uint32_t i = 0; times && values && i < draws; i++) {
        draw(&seed, pictures, times);
        values[count] = measure(context, times);
        count += isnan(values[count]) ? 0 : 1;
    }
    const bool good = times && values;
    if (good && 2 * count > draws)
        *interval = interval_of(values, count, pictures);
    free(times);
    free(values);
    return good;
}
