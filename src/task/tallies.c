/* The tallies of a score: a picture adds one for each sum. */
#include "tallies.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MERGED 64 /* tallies that one of the same sum is looked for among */

void tallies_clear(struct tallies *t)
{
    t->count = 0;
    t->pictures = 0;
    t->lacks_memory = false;
}

void tallies_free(struct tallies *t)
{
    free(t->items);
    *t = (struct tallies){.items = NULL};
}

void tallies_begin_picture(struct tallies *t)
{
    t->pictures++;
}

static bool make_room(struct tallies *t)
{
    struct tally *items = array_grow(t->items, t->count, &t->capacity, sizeof *items);
    if (items)
        t->items = items;
    return items;
}

/* The tally of the picture under way and that sum, among the latest; NULL: none is. */
static struct tally *find(const struct tallies *t, size_t index)
{
    const size_t first = t->count > MERGED ? t->count - MERGED : 0;
    for (size_t i = t->count; i > first && t->items[i - 1].picture == t->pictures - 1; i--)
        if (t->items[i - 1].index == index)
            return &t->items[i - 1];
    return NULL;
}

void tallies_add(struct tallies *t, size_t index, double value)
{
    if (value == 0)
        return;
    struct tally *same = find(t, index);
    if (same)
        same->value += value;
    else if (make_room(t))
        t->items[t->count++] = (struct tally){t->pictures - 1, (uint32_t)index, value};
    else
        t->lacks_memory = true;
}

void tallies_sum(const struct tallies *t, const uint32_t *times, double *sums, size_t sum_count)
{
    memset(sums, 0, sum_count * sizeof *sums);
    for (size_t i = 0; i < t->count; i++)
        sums[t->items[i].index] += times[t->items[i].picture] * t->items[i].value;
}

/* ---- Numbers ---- */

enum { HEAD = 2, TALLY = 3 }; /* pictures and how many tallies; numbers of one */

size_t tallies_numbers(const struct tallies *t)
{
    return HEAD + TALLY * t->count;
}

void tallies_write(const struct tallies *t, double *numbers)
{
    *numbers++ = t->pictures;
    *numbers++ = (double)t->count;
    for (size_t i = 0; i < t->count; i++) {
        *numbers++ = t->items[i].picture;
        *numbers++ = t->items[i].index;
        *numbers++ = t->items[i].value;
    }
}

/* A row behind those that are there: how long it is, of `count` numbers; 0: it is none. */
static size_t read_row(struct tallies *t, const double *numbers, size_t count)
{
    if (count < HEAD || numbers[1] > (double)((count - HEAD) / TALLY))
        return 0;
    const uint32_t before = t->pictures;
    const size_t length = HEAD + TALLY * (size_t)numbers[1];
    for (const double *n = numbers + HEAD; n < numbers + length; n += TALLY) {
        t->pictures = before + (uint32_t)n[0] + 1;
        tallies_add(t, (size_t)n[1], n[2]);
    }
    t->pictures = before + (uint32_t)numbers[0];
    return t->lacks_memory ? 0 : length;
}

bool tallies_read(struct tallies *t, const double *numbers, size_t count)
{
    size_t at = 0, row = 1;
    tallies_clear(t);
    while (at < count && (row = read_row(t, numbers + at, count - at)) > 0)
        at += row;
    return row > 0;
}
