/* From an image's values to bytes. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is black and what is white. */
struct scale {
    float low, high;
};

static struct scale find_scale(const float *values, size_t count)
{
    struct scale s = {INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            s.low = fminf(s.low, values[i]);
            s.high = fmaxf(s.high, values[i]);
        }
    return s.low < s.high ? s : (struct scale){0, 1};
}

static uint8_t byte_of(double value, const struct scale *s)
{
    double part = (value - (double)s->low) / ((double)s->high - (double)s->low);
    return (uint8_t)(!(part > 0) ? 0 : part < 1 ? 255 * part + 0.5 : 255);
}

/* An image, and the square of its pixels that becomes one. */
struct source {
    const float *values;
    uint32_t width, height, channels, side;
};

/* The last square of a row or column may be cut. */
static double mean_of(const struct source *s, uint32_t x, uint32_t y, uint32_t c)
{
    double sum = 0;
    unsigned count = 0;
    for (uint32_t j = y * s->side; j < (y + 1) * s->side && j < s->height; j++)
        for (uint32_t i = x * s->side; i < (x + 1) * s->side && i < s->width; i++, count++)
            sum += (double)s->values[((size_t)j * s->width + i) * s->channels + c];
    return sum / count;
}

bool shown_blank(uint32_t width, uint32_t height, uint32_t channels, struct shown *shown)
{
    *shown = (struct shown){width, height, channels, calloc((size_t)width * height, channels)};
    return shown->bytes;
}

static uint32_t divide_up(uint32_t number, uint32_t by)
{
    return (number + by - 1) / by;
}

bool shown_make(const float *values, uint32_t width, uint32_t height, uint32_t channels,
                bool normal, struct shown *shown)
{
    const uint32_t longer = width > height ? width : height, side = divide_up(longer, SHOWN_SIDE);
    const struct source from = {values, width, height, channels, side};
    const struct scale scale =
        normal ? (struct scale){0, 1} : find_scale(values, (size_t)width * height * channels);
    if (!shown_blank(divide_up(width, side), divide_up(height, side), channels < 3 ? 1 : 3, shown))
        return false;
    uint8_t *at = shown->bytes;
    for (uint32_t y = 0; y < shown->height; y++)
        for (uint32_t x = 0; x < shown->width; x++)
            for (uint32_t c = 0; c < shown->channels; c++)
                *at++ = byte_of(mean_of(&from, x, y, c), &scale);
    return true;
}

void shown_free(struct shown *shown)
{
    free(shown->bytes);
    *shown = (struct shown){.bytes = NULL};
}

bool shown_sheet(const struct shown *pictures, uint32_t count, struct shown *sheet)
{
    uint32_t columns = (uint32_t)ceil(sqrt(count)), rows = divide_up(count, columns);
    const size_t row = (size_t)pictures->width * pictures->channels;
    if (!shown_blank(columns * pictures->width, rows * pictures->height, pictures->channels, sheet))
        return false;
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t y = 0; y < pictures->height; y++) {
            size_t line = (size_t)(n / columns) * pictures->height + y;
            memcpy(sheet->bytes + (line * columns + n % columns) * row, pictures[n].bytes + y * row,
                   row);
        }
    return true;
}
