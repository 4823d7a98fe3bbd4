/* Predictions to boxes, and greedy non-maximum suppression. */
#include "detection_decode.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define MOST_CANDIDATES 10000 /* that are compared with each other */

struct candidate {
    struct glcnn_detection detection;
    size_t order; /* among equals */
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static bool add_candidate(struct candidates *candidates, const struct glcnn_detection *detection)
{
    struct candidate *items =
        array_grow(candidates->items, candidates->count, &candidates->capacity, sizeof *items);
    if (!items)
        return false;
    candidates->items = items;
    candidates->items[candidates->count] = (struct candidate){*detection, candidates->count};
    candidates->count++;
    return true;
}

static struct glcnn_box box_at(const struct detection_layout *layout,
                               const struct detection_grid *grid, uint32_t location,
                               const float *distances)
{
    float stride = (float)grid->stride;
    float x = (float)(location % grid->columns) + 0.5f;
    float y = (float)(location / grid->columns) + 0.5f;
    struct glcnn_box picture = {0, 0, (float)layout->width, (float)layout->height};
    struct glcnn_box box = {(x - distances[0]) * stride, (y - distances[1]) * stride,
                            (x + distances[2]) * stride, (y + distances[3]) * stride};
    return box_intersection(&box, &picture);
}

static bool are_finite(const float *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* Of one location. False: not enough memory. */
static bool collect_location(const struct detection_layout *layout,
                             const struct detection_grid *grid, uint32_t location,
                             const float *values, float least, struct candidates *candidates)
{
    if (!are_finite(values, 4))
        return true;
    struct glcnn_detection d = {.box = box_at(layout, grid, location, values)};
    bool good = true;
    for (uint32_t c = 0; good && glcnn_box_area(&d.box) > 0 && c < layout->classes; c++) {
        d.label = c;
        d.score = values[4 + c];
        if (isfinite(d.score) && d.score >= least)
            good = add_candidate(candidates, &d);
    }
    return good;
}

static bool collect(const struct detection_layout *layout, const float *const predictions[],
                    float least, struct candidates *candidates)
{
    bool good = true;
    for (uint32_t i = 0; i < layout->scales; i++) {
        const struct detection_grid *grid = &layout->grids[i];
        for (uint32_t at = 0; good && at < detection_locations(grid); at++)
            good = collect_location(layout, grid, at,
                                    predictions[i] + (size_t)at * (4 + layout->classes), least,
                                    candidates);
    }
    return good;
}

static int likelier_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->detection.score != y->detection.score)
        return x->detection.score > y->detection.score ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static bool is_suppressed(const struct glcnn_detection *d, const struct glcnn_detection *kept,
                          uint32_t count, const struct glcnn_detection_limits *limits)
{
    for (uint32_t i = 0; i < count; i++)
        if ((limits->across_classes || kept[i].label == d->label) &&
            glcnn_box_overlap(&kept[i].box, &d->box) > (double)limits->overlap)
            return true;
    return false;
}

/* Takes one more, unless it is suppressed by one that was taken. */
static uint32_t keep_detection(const struct glcnn_detection *d, struct glcnn_detection *kept,
                               uint32_t count, const struct glcnn_detection_limits *limits)
{
    if (is_suppressed(d, kept, count, limits))
        return count;
    kept[count] = *d;
    return count + 1;
}

uint32_t glcnn_detections_suppress(struct glcnn_detection *detections, uint32_t count,
                                   float overlap, uint32_t most)
{
    const struct glcnn_detection_limits limits = {.overlap = overlap, .most = most};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < most; i++) {
        const struct glcnn_detection d = detections[i];
        kept = keep_detection(&d, detections, kept, &limits);
    }
    return kept;
}

static uint32_t suppress(const struct candidates *candidates,
                         const struct glcnn_detection_limits *limits, struct glcnn_detection *found)
{
    uint32_t count = 0;
    size_t compared = candidates->count < MOST_CANDIDATES ? candidates->count : MOST_CANDIDATES;
    for (size_t i = 0; i < compared && count < limits->most; i++)
        count = keep_detection(&candidates->items[i].detection, found, count, limits);
    return count;
}

uint32_t detection_decode(const struct detection_layout *layout, const float *const predictions[],
                          const struct glcnn_detection_limits *limits,
                          struct glcnn_detection *found)
{
    struct candidates candidates = {NULL, 0, 0};
    uint32_t count = UINT32_MAX;
    if (collect(layout, predictions, limits->score, &candidates)) {
        if (candidates.count > 1)
            qsort(candidates.items, candidates.count, sizeof *candidates.items, likelier_first);
        count = suppress(&candidates, limits, found);
    }
    free(candidates.items);
    return count;
}
