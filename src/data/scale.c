/* Only whole numbers, so that every machine gives the same bytes.
 *
 * One step from target to target is num / den of the source's pixels, the same for both extents and
 * the largest by which the source covers the target. Places are counted in units of 1 / (2 den) of
 * a pixel, in which all of them are whole. */
#include "scale.h"

#include <stdlib.h>
#include <string.h>

#define ONE 65536 /* the weights of a target add up to it */

struct step {
    uint64_t num, den;
};

/* How many of the source's pixels a target may touch. */
static uint64_t reach(struct step s)
{
    return s.num / s.den + 2;
}

static bool axis_allocate(struct axis *a, uint32_t count, struct step s)
{
    a->count = count;
    a->begin = malloc(count * sizeof *a->begin);
    a->first = malloc((count + (size_t)1) * sizeof *a->first);
    a->weights = malloc(count * reach(s) * sizeof *a->weights);
    return a->begin && a->first && a->weights;
}

static void axis_free(struct axis *a)
{
    free(a->begin);
    free(a->first);
    free(a->weights);
}

/* The mean over [low, low + 2 num): each weight is the step of a rounded sum, so that all of them
 * add up to ONE. Returns how many there are. */
static uint32_t area_weights(struct step s, uint64_t low, uint32_t *begin, uint32_t *weights)
{
    uint64_t unit = 2 * s.den, total = 2 * s.num, high = low + total, done = 0;
    uint32_t count = 0;
    *begin = (uint32_t)(low / unit);
    for (uint64_t pixel = *begin; pixel * unit < high; pixel++) {
        uint64_t end = (pixel + 1) * unit < high ? (pixel + 1) * unit : high;
        uint64_t sum = ((end - low) * ONE + s.num) / total;
        weights[count++] = (uint32_t)(sum - done);
        done = sum;
    }
    return count;
}

/* Between the two pixels whose middles are next to `middle`. */
static uint32_t linear_weights(struct step s, uint32_t source, int64_t middle, uint32_t *begin,
                               uint32_t *weights)
{
    int64_t unit = 2 * (int64_t)s.den, place = middle - (int64_t)s.den;
    if (place < 0)
        place = 0;
    if (place > (int64_t)(source - 1) * unit)
        place = (int64_t)(source - 1) * unit;
    *begin = (uint32_t)(place / unit);
    uint32_t behind = (uint32_t)((place % unit * ONE + (int64_t)s.den) / unit);
    weights[0] = ONE - behind;
    weights[1] = behind;
    return behind ? 2 : 1;
}

/* What is cut off before the first target. At the size that it has a picture is cut at whole pixels,
 * and stays as it is. */
static uint64_t margin_of(uint32_t source, uint32_t target, struct step s)
{
    uint64_t unit = 2 * s.den, margin = source * s.den - target * s.num;
    return s.num == s.den ? margin - margin % unit : margin;
}

static bool axis_create(struct axis *a, uint32_t source, uint32_t target, struct step s)
{
    if (!axis_allocate(a, target, s))
        return false;
    const uint64_t margin = margin_of(source, target, s);
    uint32_t used = 0;
    for (uint32_t i = 0; i < target; i++) {
        uint64_t low = margin + 2 * i * s.num;
        a->first[i] = used;
        used += s.num >= s.den ? area_weights(s, low, &a->begin[i], a->weights + used)
                               : linear_weights(s, source, (int64_t)(low + s.num), &a->begin[i],
                                                a->weights + used);
    }
    a->first[target] = used;
    return true;
}

/* The largest step by which the source covers the target. */
static struct step covering(uint32_t source_width, uint32_t source_height, uint32_t width,
                            uint32_t height)
{
    bool by_width = (uint64_t)source_width * height <= (uint64_t)source_height * width;
    return by_width ? (struct step){source_width, width} : (struct step){source_height, height};
}

static void find_nearest(uint32_t source, uint32_t target, struct step s, uint32_t *places)
{
    const uint64_t margin = margin_of(source, target, s);
    for (uint32_t i = 0; i < target; i++)
        places[i] = (uint32_t)((margin + (2 * (uint64_t)i + 1) * s.num) / (2 * s.den));
}

void scale_nearest(uint32_t source_width, uint32_t source_height, uint32_t width, uint32_t height,
                   uint32_t *x, uint32_t *y)
{
    const struct step s = covering(source_width, source_height, width, height);
    find_nearest(source_width, width, s, x);
    find_nearest(source_height, height, s, y);
}

struct middle scale_middle(uint32_t source_width, uint32_t source_height, uint32_t width,
                           uint32_t height)
{
    const struct step s = covering(source_width, source_height, width, height);
    const double unit = 2 * (double)s.den, step = (double)s.num / (double)s.den;
    return (struct middle){.left = (double)margin_of(source_width, width, s) / unit,
                           .top = (double)margin_of(source_height, height, s) / unit,
                           .width = width * step,
                           .height = height * step};
}

bool scaler_create(struct scaler *scaler, uint32_t source_width, uint32_t source_height,
                   uint32_t width, uint32_t height, uint32_t channels)
{
    const struct step s = covering(source_width, source_height, width, height);
    *scaler = (struct scaler){.channels = channels};
    scaler->row = malloc((size_t)width * channels * sizeof *scaler->row);
    scaler->sums = calloc((size_t)width * height * channels, sizeof *scaler->sums);
    if (scaler->row && scaler->sums && axis_create(&scaler->x, source_width, width, s) &&
        axis_create(&scaler->y, source_height, height, s))
        return true;
    scaler_destroy(scaler);
    return false;
}

void scaler_destroy(struct scaler *scaler)
{
    axis_free(&scaler->x);
    axis_free(&scaler->y);
    free(scaler->row);
    free(scaler->sums);
    *scaler = (struct scaler){0};
}

static void scale_row(struct scaler *scaler, const uint8_t *source)
{
    const struct axis *x = &scaler->x;
    uint32_t channels = scaler->channels;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t c = 0; c < channels; c++) {
            const uint8_t *from = source + (size_t)x->begin[i] * channels + c;
            uint32_t sum = 128;
            for (uint32_t k = x->first[i]; k < x->first[i + 1]; k++, from += channels)
                sum += x->weights[k] * *from;
            scaler->row[i * channels + c] = (uint16_t)(sum >> 8);
        }
}

static uint32_t axis_end(const struct axis *a, uint32_t i)
{
    return a->begin[i] + (a->first[i + 1] - a->first[i]);
}

void scaler_row(struct scaler *scaler, const uint8_t *row)
{
    const struct axis *y = &scaler->y;
    size_t length = (size_t)scaler->x.count * scaler->channels;
    uint32_t at = scaler->source_y++;
    while (scaler->target_y < y->count && axis_end(y, scaler->target_y) <= at)
        scaler->target_y++;
    if (scaler->target_y == y->count || y->begin[scaler->target_y] > at)
        return;
    scale_row(scaler, row);
    for (uint32_t i = scaler->target_y; i < y->count && y->begin[i] <= at; i++) {
        uint32_t weight = at < axis_end(y, i) ? y->weights[y->first[i] + (at - y->begin[i])] : 0;
        uint32_t *sums = scaler->sums + i * length;
        for (size_t k = 0; k < length; k++)
            sums[k] += weight * scaler->row[k];
    }
}

/* Where EXIF's orientations take the pixel (0, 0) and its neighbours from: whether columns and rows
 * change places, and which of them run backwards in the source. */
static const struct {
    bool transposed, x_backwards, y_backwards;
} orientations[9] = {{false, false, false}, {false, false, false}, {false, true, false},
                     {false, true, true},   {false, false, true},  {true, false, false},
                     {true, false, true},   {true, true, true},    {true, true, false}};

void scaler_finish(const struct scaler *scaler, uint32_t orientation, uint8_t *image)
{
    uint32_t width = scaler->x.count, height = scaler->y.count, channels = scaler->channels;
    bool transposed = orientations[orientation].transposed;
    uint32_t columns = transposed ? height : width, rows = transposed ? width : height;
    for (uint32_t Y = 0; Y < rows; Y++)
        for (uint32_t X = 0; X < columns; X++) {
            uint32_t x = transposed ? Y : X, y = transposed ? X : Y;
            x = orientations[orientation].x_backwards ? width - 1 - x : x;
            y = orientations[orientation].y_backwards ? height - 1 - y : y;
            const uint32_t *from = scaler->sums + ((size_t)y * width + x) * channels;
            for (uint32_t c = 0; c < channels; c++)
                *image++ = (uint8_t)((from[c] + (1 << 23)) >> 24);
        }
}
