/* Objects to pixels, by the rule of pycocotools' rleFrPoly. */
#include "drawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FINE 5 /* places to a pixel */

/* ---- Keeping ---- */

static bool add_word(struct objects *o, int64_t value)
{
    int32_t *words = array_grow(o->words, o->count, &o->capacity, sizeof *words);
    if (!words)
        return false;
    o->words = words;
    o->words[o->count++] = (int32_t)value;
    return true;
}

void objects_free(struct objects *objects)
{
    free(objects->words);
    *objects = (struct objects){.words = NULL};
}

/* Points far outside of the picture, and outlines that cross it very often, take very long to draw. */
static const char *check_ring(const int32_t *points, size_t count, uint32_t width, uint32_t height)
{
    const int64_t w = (int64_t)width * FINE, h = (int64_t)height * FINE,
                  most = 64 * (int64_t)width * height + 65536;
    int64_t length = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t *at = points + 2 * i, *next = points + 2 * ((i + 1) % count);
        const int64_t x = llabs((int64_t)next[0] - at[0]), y = llabs((int64_t)next[1] - at[1]);
        if (at[0] < -w || at[0] > 2 * w || at[1] < -h || at[1] > 2 * h)
            return "has a point that lies farther outside of its picture than that is large";
        length += x > y ? x : y;
    }
    return length <= most ? NULL : "has an outline that is too long for its picture";
}

/* False: the place is beyond all pictures. */
static bool add_place(struct objects *o, double value, bool *good)
{
    const double place = value * FINE + 0.5;
    *good = *good && fabs(place) < INT32_MAX;
    return add_word(o, *good ? (int32_t)place : 0);
}

static bool add_ring(struct objects *o, const double *points, size_t count, const double scale[2],
                     uint32_t width, uint32_t height, const char **reason)
{
    bool good = true, has_room = add_word(o, (int64_t)count);
    const size_t first = o->count;
    for (size_t i = 0; i < count && has_room; i++)
        has_room = add_place(o, points[2 * i] * scale[0], &good) &&
                   add_place(o, points[2 * i + 1] * scale[1], &good);
    if (has_room && !*reason)
        *reason = good ? check_ring(o->words + first, count, width, height)
                       : "has a point beyond all pictures";
    return has_room;
}

static bool add_rings(struct objects *o, const struct outline *outline, const double scale[2],
                      uint32_t width, uint32_t height, const char **reason)
{
    bool has_room = add_word(o, (int64_t)outline->ring_count);
    for (size_t i = 0, at = 0; i < outline->ring_count && has_room; at = outline->ends[i++])
        has_room = add_ring(o, outline->points + at, (outline->ends[i] - at) / 2, scale, width,
                            height, reason);
    return has_room;
}

static bool add_runs(struct objects *o, const struct outline *outline)
{
    bool has_room = add_word(o, 0) && add_word(o, (int64_t)outline->run_count);
    for (size_t i = 0; i < outline->run_count && has_room; i++)
        has_room = add_word(o, outline->runs[i]);
    return has_room;
}

bool objects_add(struct objects *objects, const struct outline *outline, const double scale[2],
                 uint32_t width, uint32_t height, uint8_t value, const char **reason)
{
    const size_t before = objects->count;
    *reason = NULL;
    bool has_room = add_word(objects, value);
    if (has_room && outline->width == 0)
        has_room = add_rings(objects, outline, scale, width, height, reason);
    else if (has_room && (outline->width != width || outline->height != height))
        *reason = "has runs of pixels of a picture of another size";
    else if (has_room)
        has_room = add_runs(objects, outline);
    if (has_room && !*reason)
        return true;
    objects->count = before;
    return false;
}

/* ---- Drawing ---- */

/* A ring is the pixels between its places down the columns: each place turns the ones below it over. */
struct canvas {
    uint32_t width, height;
    uint8_t *turns; /* [width * height + 1], column by column */
    size_t first, last;
    uint8_t *values;
};

/* A step of the boundary from one column of places to another. */
static void turn(struct canvas *c, int64_t u, int64_t v, int64_t last_u, int64_t last_v)
{
    const double x = ((double)(u < last_u ? u : u - 1) + 0.5) / FINE - 0.5;
    double y = ((double)(v < last_v ? v : last_v) + 0.5) / FINE - 0.5;
    if (floor(x) != x || x < 0 || x > (double)c->width - 1)
        return;
    y = ceil(y < 0 ? 0 : y > c->height ? c->height : y);
    const size_t at = (size_t)x * c->height + (size_t)y;
    c->turns[at] ^= 1;
    c->first = at < c->first ? at : c->first;
    c->last = at > c->last ? at : c->last;
}

/* Places along the boundary, from which the steps are taken. */
struct pen {
    int64_t u, v;
    bool is_down;
};

static void move_pen(struct canvas *c, struct pen *pen, int64_t u, int64_t v)
{
    if (pen->is_down && u != pen->u)
        turn(c, u, v, pen->u, pen->v);
    *pen = (struct pen){u, v, true};
}

/* Goes along the edge by steps of one in its longer direction, from the end at which that is smaller, so that
 * both directions of an edge have the same places. */
static void draw_edge(struct canvas *c, struct pen *pen, const int32_t *from, const int32_t *to)
{
    const int64_t dx = llabs((int64_t)to[0] - from[0]), dy = llabs((int64_t)to[1] - from[1]);
    const bool is_wide = dx >= dy, flips = is_wide ? from[0] > to[0] : from[1] > to[1];
    const int32_t *low = flips ? to : from, *high = flips ? from : to;
    const int64_t steps = is_wide ? dx : dy;
    const double slope = steps == 0 ? 0
                         : is_wide  ? (double)((int64_t)high[1] - low[1]) / (double)dx
                                    : (double)((int64_t)high[0] - low[0]) / (double)dy;
    for (int64_t i = 0; i <= steps; i++) {
        const int64_t t = flips ? steps - i : i;
        if (is_wide)
            move_pen(c, pen, low[0] + t, (int64_t)(low[1] + slope * (double)t + 0.5));
        else
            move_pen(c, pen, (int64_t)(low[0] + slope * (double)t + 0.5), low[1] + t);
    }
}

static void set_value(const struct canvas *c, size_t at, uint8_t value)
{
    c->values[at % c->height * c->width + at / c->height] = value;
}

/* Fills between the turns, and takes these back. */
static void fill(struct canvas *c, uint8_t value)
{
    const size_t end = (size_t)c->width * c->height;
    uint8_t is_in = 0;
    for (size_t at = c->first; at <= c->last; at++) {
        is_in ^= c->turns[at];
        c->turns[at] = 0;
        if (is_in && at < end)
            set_value(c, at, value);
    }
    for (size_t at = c->last + 1; is_in && at < end; at++)
        set_value(c, at, value);
}

static void draw_ring(struct canvas *c, const int32_t *points, size_t count, uint8_t value)
{
    struct pen pen = {.is_down = false};
    c->first = SIZE_MAX;
    c->last = 0;
    for (size_t i = 0; i < count; i++)
        draw_edge(c, &pen, points + 2 * i, points + 2 * ((i + 1) % count));
    if (c->first <= c->last)
        fill(c, value);
}

static void draw_runs(const struct canvas *c, const int32_t *runs, size_t count, uint8_t value)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = (uint32_t)runs[i]; k > 0; k--, at++)
            if (i % 2 == 1)
                set_value(c, at, value);
}

/* The word behind the object. */
static const int32_t *draw_object(struct canvas *c, const int32_t *words)
{
    const uint8_t value = (uint8_t)*words++;
    const size_t rings = (size_t)*words++;
    for (size_t i = 0; i < rings; i++) {
        const size_t count = (size_t)*words++;
        draw_ring(c, words, count, value);
        words += 2 * count;
    }
    if (rings > 0)
        return words;
    const size_t count = (size_t)*words++;
    draw_runs(c, words, count, value);
    return words + count;
}

bool drawing_draw(const struct objects *objects, const struct drawing *drawing, uint8_t *values)
{
    struct canvas c = {.width = drawing->width, .height = drawing->height, .values = values};
    const size_t pixels = (size_t)c.width * c.height;
    c.turns = calloc(pixels + 1, 1);
    if (!c.turns)
        return false;
    memset(values, 0, pixels);
    for (const int32_t *at = objects->words + drawing->first; at < objects->words + drawing->end;)
        at = draw_object(&c, at);
    free(c.turns);
    return true;
}
