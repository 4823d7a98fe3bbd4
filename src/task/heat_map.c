/* Heat maps. */
#include "heat_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "png_file.h"

#define HIDES 0.75 /* of the picture, where there is most colour */

static double limited(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Where pixel `at` of `pixels` lies between the centres of `patches`: the lower one and the share of the
 * next. */
static uint32_t position(uint32_t at, uint32_t pixels, uint32_t patches, double *share)
{
    double x = (at + 0.5) * patches / pixels - 0.5;
    x = x < 0 ? 0 : x > patches - 1 ? patches - 1 : x;
    uint32_t lower = (uint32_t)x;
    lower = lower + 1 < patches ? lower : patches - (patches > 1 ? 2 : 1);
    *share = x - lower;
    return lower;
}

static double distance_at(const struct heat_map *m, uint32_t x, uint32_t y)
{
    double right, below;
    const uint32_t column = position(x, m->width, m->columns, &right),
                   row = position(y, m->height, m->rows, &below);
    const uint32_t next = m->columns > 1, down = m->rows > 1 ? m->columns : 0;
    const double *d = m->distances + (size_t)row * m->columns + column;
    return (1 - below) * ((1 - right) * d[0] + right * d[next]) +
           below * ((1 - right) * d[down] + right * d[down + next]);
}

/* 0 up to the threshold, 1 from three times of it on. */
static double heat_of(const struct heat_map *m, double distance)
{
    if (!(m->threshold > 0))
        return distance > 0;
    return limited((distance / m->threshold - 1) / 2);
}

static double grey_at(const struct heat_map *m, uint32_t x, uint32_t y)
{
    const uint32_t counted = m->channels < 3 ? 1 : 3;
    double sum = 0;
    for (uint32_t c = 0; m->bytes && c < counted; c++)
        sum += m->bytes[((size_t)y * m->width + x) * m->channels + c];
    return sum / counted;
}

/* Red, then yellow, then white, over the grey of the picture, which shows through. */
static void draw_pixel(const struct heat_map *m, uint32_t x, uint32_t y, uint8_t *pixel)
{
    const double heat = heat_of(m, distance_at(m, x, y)), cover = HIDES * limited(4 * heat);
    const double colour[] = {1, limited(2 * heat), limited(2 * heat - 1)};
    for (int c = 0; c < 3; c++)
        pixel[c] = (uint8_t)lround((1 - cover) * grey_at(m, x, y) + cover * UINT8_MAX * colour[c]);
}

bool heat_map_write(const char *path, const struct heat_map *map, char error[GLCNN_ERROR_LENGTH])
{
    uint8_t *pixels = malloc((size_t)map->width * map->height * 3);
    if (!pixels) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        return false;
    }
    for (uint32_t y = 0; y < map->height; y++)
        for (uint32_t x = 0; x < map->width; x++)
            draw_pixel(map, x, y, pixels + ((size_t)y * map->width + x) * 3);
    bool written = png_file_write(path, pixels, map->width, map->height, 3, error);
    free(pixels);
    return written;
}
