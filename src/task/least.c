/* The part of a task that a network has learned least. */
#include "least.h"

#include <math.h>

bool least_find(const double *measures, const double *counts, size_t count, size_t *least)
{
    double lowest = INFINITY, highest = -INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(measures[i]))
            continue;
        highest = fmax(highest, measures[i]);
        if (measures[i] > lowest || (measures[i] == lowest && counts[i] <= most))
            continue;
        lowest = measures[i];
        most = counts[i];
        *least = i;
    }
    return lowest < highest;
}
