/* Outlines of objects. */
#include "outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char blanks[] = " \t\r\n";

/* ---- Growing ---- */

static bool make_room(void **items, size_t count, size_t *capacity, size_t size)
{
    void *grown = array_grow(*items, count, capacity, size);
    if (grown)
        *items = grown;
    return grown;
}

static bool add_number(struct outline *o, double value)
{
    if (!make_room((void **)&o->points, o->count, &o->capacity, sizeof *o->points))
        return false;
    o->points[o->count++] = value;
    return true;
}

bool outline_add_point(struct outline *o, double x, double y)
{
    return add_number(o, x) && add_number(o, y);
}

bool outline_end_ring(struct outline *o)
{
    const size_t first = o->ring_count > 0 ? o->ends[o->ring_count - 1] : 0;
    if (o->count == first)
        return true;
    if (o->count % 2 != 0 ||
        !make_room((void **)&o->ends, o->ring_count, &o->ring_capacity, sizeof *o->ends))
        return false;
    o->ends[o->ring_count++] = o->count;
    return true;
}

bool outline_add_run(struct outline *o, double length)
{
    if (!(length >= 0 && length <= UINT32_MAX) || length != floor(length) ||
        !make_room((void **)&o->runs, o->run_count, &o->run_capacity, sizeof *o->runs))
        return false;
    o->runs[o->run_count++] = (uint32_t)length;
    return true;
}

bool outline_add_values(struct outline *o, const struct outline_values *v)
{
    uint32_t length = 0;
    bool was_in = false;
    for (int64_t x = -v->left; x < o->width - v->left; x++)
        for (int64_t y = -v->top; y < o->height - v->top; y++) {
            const bool is_in = x >= 0 && y >= 0 && x < v->width && y < v->height &&
                               v->values[(size_t)y * v->width + (size_t)x] != 0;
            if (is_in != was_in) {
                if (!outline_add_run(o, length))
                    return false;
                length = 0;
            }
            was_in = is_in;
            length++;
        }
    return outline_add_run(o, length);
}

bool outline_unite(struct outline *to, const struct outline *from)
{
    for (size_t i = 0, at = 0; i < from->ring_count; i++) {
        for (; at < from->ends[i]; at += 2)
            if (!outline_add_point(to, from->points[at], from->points[at + 1]))
                return false;
        if (!outline_end_ring(to))
            return false;
    }
    return true;
}

/* ---- Reading ---- */

/* A number that may stand in quotes; NULL: there is none. */
static const char *read_number(const char *at, double *value)
{
    char *end;
    at += *at == '\'';
    *value = strtod(at, &end);
    return end != at && isfinite(*value) ? end + (*end == '\'') : NULL;
}

/* "[1, 2, 3, 4, 5, 6], [..]", or the numbers of one ring without brackets. */
static bool read_rings(const char *at, struct outline *o)
{
    double value;
    for (at += strspn(at, blanks); *at; at += strspn(at, blanks)) {
        if (*at == '[' || *at == ']') {
            if (!outline_end_ring(o))
                return false;
            at++;
        } else if (*at == ',') {
            at++;
        } else if (!(at = read_number(at, &value)) || !add_number(o, value)) {
            return false;
        }
    }
    return outline_end_ring(o) && o->ring_count > 0;
}

/* Runs in pycocotools' letters, of five bits each; from the third run on each is the difference from
 * that before the last. rleFrString of pycocotools. */
static bool read_letters(const char *at, struct outline *o)
{
    while (*at && *at != '\'') {
        int64_t value = 0;
        int bits = 0;
        bool more = true;
        for (; more; bits += 5, at++) {
            const int letter = *at - 48;
            if (letter < 0 || letter > 63 || bits > 30)
                return false;
            value |= (int64_t)(letter & 31) << bits;
            more = (letter & 32) != 0;
            if (!more && (letter & 16))
                value |= -((int64_t)1 << (bits + 5));
        }
        value += o->run_count > 2 ? (int64_t)o->runs[o->run_count - 2] : 0;
        if (!outline_add_run(o, (double)value))
            return false;
    }
    return *at == '\'';
}

static bool read_counts(const char *at, struct outline *o)
{
    double value;
    if (*at == '\'')
        return read_letters(at + 1, o);
    if (*at != '[')
        return false;
    for (at++; *at && *at != ']'; at += strspn(at, ", \t\r\n")) {
        at += strspn(at, blanks);
        if (*at == ']')
            break;
        if (!(at = read_number(at, &value)) || !outline_add_run(o, value))
            return false;
    }
    return *at == ']';
}

/* Behind the colon of a key; NULL: it is not there. */
static const char *find_key(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    at = at ? at + strlen(key) : NULL;
    at = at ? at + strspn(at, blanks) : NULL;
    return at && *at == ':' ? at + 1 + strspn(at + 1, blanks) : NULL;
}

static bool read_size(const char *at, struct outline *o)
{
    double height, width;
    if (!at || *at != '[' || !(at = read_number(at + 1 + strspn(at + 1, blanks), &height)))
        return false;
    at += strspn(at, ", \t\r\n");
    if (!read_number(at, &width) || !(height >= 1 && height <= 1 << 26) ||
        !(width >= 1 && width <= 1 << 26) || width * height > 1 << 26)
        return false;
    o->height = (uint32_t)height;
    o->width = (uint32_t)width;
    return true;
}

static bool read_runs(const char *text, struct outline *o)
{
    uint64_t all = 0;
    const char *counts = find_key(text, "'counts'");
    if (!read_size(find_key(text, "'size'"), o) || !counts || !read_counts(counts, o))
        return false;
    for (size_t i = 0; i < o->run_count; i++)
        all += o->runs[i];
    return all <= (uint64_t)o->width * o->height;
}

bool outline_read(const char *text, struct outline *outline)
{
    *outline = (struct outline){.points = NULL};
    text += strspn(text, blanks);
    return *text == '\'' && strstr(text, "'counts'") ? read_runs(text, outline)
                                                     : read_rings(text, outline);
}

void outline_free(struct outline *outline)
{
    free(outline->points);
    free(outline->ends);
    free(outline->runs);
    *outline = (struct outline){.points = NULL};
}

bool outline_is(const struct outline *outline)
{
    return outline->ring_count > 0 || outline->run_count > 0;
}

/* ---- Boxes ---- */

static void stretch(double box[4], double x, double y, double right, double bottom)
{
    box[0] = fmin(box[0], x);
    box[1] = fmin(box[1], y);
    box[2] = fmax(box[2], right);
    box[3] = fmax(box[3], bottom);
}

/* A run may go on in the next column: it has that one whole then, as far as a box knows. */
static void stretch_over_runs(const struct outline *o, double box[4])
{
    uint64_t at = 0;
    for (size_t i = 0; i < o->run_count; at += o->runs[i++]) {
        const uint64_t last = at + o->runs[i];
        if (i % 2 == 0 || o->runs[i] == 0)
            continue;
        const uint64_t first_column = at / o->height, last_column = (last - 1) / o->height;
        const bool is_one = first_column == last_column;
        stretch(box, (double)first_column, is_one ? (double)(at % o->height) : 0,
                (double)last_column + 1, is_one ? (double)((last - 1) % o->height) + 1 : o->height);
    }
}

bool outline_box(const struct outline *outline, double box[4])
{
    box[0] = box[1] = INFINITY;
    box[2] = box[3] = -INFINITY;
    for (size_t i = 0; i + 1 < outline->count; i += 2)
        stretch(box, outline->points[i], outline->points[i + 1], outline->points[i],
                outline->points[i + 1]);
    stretch_over_runs(outline, box);
    return box[2] > box[0] && box[3] > box[1];
}
