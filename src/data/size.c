/* The size of images that are pictures, where it is not asked for: that of the pictures where most
 * of them have the same. Otherwise one of them, however small, says nothing about the others: the
 * longer side is the median of theirs, and the other stands to it as the medians of widths and
 * heights stand to each other. Convolutions halve sides, so these are multiples of 8. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "set.h"

#define MAX_DEFAULT_SIDE 256
#define MULTIPLE         8

/* ---- Pictures of one size ---- */

static int by_size(const void *a, const void *b)
{
    const struct picture *x = a, *y = b;
    uint64_t p = (uint64_t)x->width * x->height, q = (uint64_t)y->width * y->height;
    return p != q ? (p < q ? -1 : 1) : x->width < y->width ? -1 : x->width > y->width;
}

/* Of heads in their order; how many have it. */
static uint32_t most_common(const struct picture *heads, uint32_t count, struct picture *size)
{
    uint32_t most = 0;
    for (uint32_t i = 0, begin = 0; i < count; i++) {
        if (by_size(&heads[i], &heads[begin]) != 0)
            begin = i;
        if (i - begin + 1 > most) {
            most = i - begin + 1;
            *size = heads[i];
        }
    }
    return most;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* value * part / whole, rounded, and 1 at least. */
static uint32_t scaled(uint32_t value, uint32_t part, uint32_t whole)
{
    uint64_t result = ((uint64_t)value * part * 2 + whole) / ((uint64_t)whole * 2);
    return result ? (uint32_t)result : 1;
}

static void take_common(glcnn_dataset *set, const struct picture *size, uint32_t most,
                        uint32_t count)
{
    char message[GLCNN_ERROR_LENGTH];
    struct glcnn_data_info *info = &set->info;
    uint32_t longer = larger(size->width, size->height);
    bool shrinks = longer > MAX_DEFAULT_SIDE;
    info->width = shrinks ? scaled(size->width, MAX_DEFAULT_SIDE, longer) : size->width;
    info->height = shrinks ? scaled(size->height, MAX_DEFAULT_SIDE, longer) : size->height;
    if (most == count && !shrinks)
        return;
    snprintf(message, sizeof message, "%.250s: %u of %u pictures are %ux%u, so images are %ux%u%s",
             set->path, most, count, size->width, size->height, info->width, info->height,
             shrinks ? ", of a longer side of at most 256" : "");
    set_decide(set, message);
}

/* ---- Pictures of many sizes ---- */

static uint32_t width_of(const struct picture *picture)
{
    return picture->width;
}

static uint32_t height_of(const struct picture *picture)
{
    return picture->height;
}

static uint32_t longer_of(const struct picture *picture)
{
    return larger(picture->width, picture->height);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of an even count the smaller of two. */
static uint32_t median(const struct picture *heads, uint32_t count, uint32_t *numbers,
                       uint32_t (*side)(const struct picture *))
{
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = side(&heads[i]);
    qsort(numbers, count, sizeof *numbers, by_number);
    return numbers[(count - 1) / 2];
}

static uint32_t to_multiple(uint32_t side)
{
    return larger((side + MULTIPLE / 2) / MULTIPLE, 1) * MULTIPLE;
}

/* Heads in their order; `numbers` has room for as many. */
static void take_median(glcnn_dataset *set, const struct picture *heads, uint32_t count,
                        uint32_t *numbers)
{
    char message[GLCNN_ERROR_LENGTH];
    struct glcnn_data_info *info = &set->info;
    uint32_t width = median(heads, count, numbers, width_of),
             height = median(heads, count, numbers, height_of),
             longer = median(heads, count, numbers, longer_of);
    uint32_t side = to_multiple(longer < MAX_DEFAULT_SIDE ? longer : MAX_DEFAULT_SIDE);
    info->width = to_multiple(scaled(side, width, larger(width, height)));
    info->height = to_multiple(scaled(side, height, larger(width, height)));
    snprintf(
        message, sizeof message,
        "%.250s: pictures are of many sizes, %ux%u to %ux%u, so images are %ux%u: the median of "
        "their longer sides is %u; sides are multiples of 8, 256 at most",
        set->path, heads[0].width, heads[0].height, heads[count - 1].width, heads[count - 1].height,
        info->width, info->height, longer);
    set_decide(set, message);
}

/* ---- All ---- */

/* The heads of the first part that has pictures; a width of 0 is that of a broken one. */
static uint32_t collect_heads(const glcnn_dataset *set, struct picture *heads, bool *has_colour)
{
    uint32_t count = 0;
    *has_colour = false;
    for (uint32_t i = 0; i < set->file_count; i++)
        *has_colour |= set->files[i].head.width > 0 && set->files[i].head.has_colour;
    for (int p = 0; p < GLCNN_DATA_PARTS && count == 0; p++)
        for (uint32_t i = 0; i < set->parts[p].count; i++) {
            const struct picture *head = &set->files[set->parts[p].items[i].index].head;
            if (head->width > 0)
                heads[count++] = *head;
        }
    return count;
}

/* One side that is asked for is the other's too. */
static void take_size(glcnn_dataset *set, struct picture *heads, uint32_t count, uint32_t *numbers)
{
    const struct glcnn_data_parameters *p = &set->parameters;
    struct picture size;
    set->info.width = p->width ? p->width : p->height;
    set->info.height = p->height ? p->height : p->width;
    if (set->info.width || count == 0)
        return;
    qsort(heads, count, sizeof *heads, by_size);
    uint32_t most = most_common(heads, count, &size);
    if (most > count / 2)
        take_common(set, &size, most, count);
    else
        take_median(set, heads, count, numbers);
}

glcnn_status set_size_pictures(glcnn_dataset *set, char *error)
{
    bool has_colour;
    uint32_t asked = set->parameters.channels, count = 0;
    struct picture *heads = malloc(set->file_count * sizeof *heads);
    uint32_t *numbers = malloc(set->file_count * sizeof *numbers);
    bool good = heads && numbers;
    if (good) {
        count = collect_heads(set, heads, &has_colour);
        take_size(set, heads, count, numbers);
        set->info.channels = asked ? asked : has_colour ? 3 : 1;
        set->info.bytes = true;
    }
    free(heads);
    free(numbers);
    if (!good)
        return fail_no_memory(error, set->path);
    if (count == 0)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%s",
                         set->notes.count ? set->notes.texts[0] : "no picture is whole");
    if (set->info.channels == 1 || set->info.channels == 3 || set->info.channels == 4)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_UNSUPPORTED,
                     "%.300s: pictures have 1, 3 or 4 channels, and %u are requested", set->path,
                     asked);
}
