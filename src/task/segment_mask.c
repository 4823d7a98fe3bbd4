/* Masks by bilinear interpolation of probabilities. */
#include "segment_mask.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "network.h"
#include "window.h"

/* Two neighbours of a place along one extent of the image, and how much the second weighs. */
struct between {
    uint32_t first, second;
    float second_weight;
    bool is_seen;
};

/* Those around `at`, in pixels from the image's edge; of `count`, of which those from low to high show the
 * picture, so that no border is mixed in. */
static struct between find_between(double at, uint32_t low, uint32_t high, uint32_t count)
{
    const double place = fmin(fmax(at - 0.5, low), high - 1.0);
    const uint32_t first = (uint32_t)place;
    return (struct between){first, first + 1 < high ? first + 1 : first, (float)(place - first),
                            at >= 0 && at < count};
}

/* The image's pixels whose middles lie from one place to another; at least one. */
static void find_range(double from, double to, uint32_t count, uint32_t range[2])
{
    const double low = ceil(fmax(from, 0) - 0.5), high = ceil(fmin(to, count) - 0.5);
    range[0] = (uint32_t)fmin(fmax(low, 0), count - 1.0);
    range[1] = high > range[0] ? (uint32_t)high : range[0] + 1;
}

static uint8_t likeliest(const float *const corners[4], const float weights[4], uint32_t classes)
{
    uint32_t best = 0;
    float most = -1;
    for (uint32_t k = 0; k < classes; k++) {
        float p = 0;
        for (int i = 0; i < 4; i++)
            p += weights[i] * corners[i][k];
        if (p > most) {
            most = p;
            best = k;
        }
    }
    return (uint8_t)best;
}

/* The probabilities of four pixels around a place. */
struct corners {
    const float *at[4];
    bool agree; /* the same class is the likeliest of each, and so it is between them */
    uint32_t best;
};

static void find_corners(const struct form *form, const float *values, const struct between *x,
                         const struct between *y, struct corners *c)
{
    const size_t classes = form->classes, row = form->width * classes;
    const float *const at[4] = {values + y->first * row + x->first * classes,
                                values + y->first * row + x->second * classes,
                                values + y->second * row + x->first * classes,
                                values + y->second * row + x->second * classes};
    if (memcmp(at, c->at, sizeof at) == 0)
        return;
    memcpy(c->at, at, sizeof at);
    c->best = network_best(at[0], form->classes);
    c->agree = true;
    for (int i = 1; i < 4 && c->agree; i++)
        c->agree = network_best(at[i], form->classes) == c->best;
}

static uint8_t class_at(const struct form *form, const struct corners *c, const struct between *x,
                        const struct between *y)
{
    const float weights[4] = {
        (1 - x->second_weight) * (1 - y->second_weight), x->second_weight * (1 - y->second_weight),
        (1 - x->second_weight) * y->second_weight, x->second_weight * y->second_weight};
    return c->agree ? (uint8_t)c->best : likeliest(c->at, weights, form->classes);
}

void segment_mask(const struct form *form, const float *values, const uint32_t size[2],
                  uint8_t *classes)
{
    const struct glcnn_data_window window = window_find(form, size);
    struct corners corners = {{NULL}, false, 0};
    uint32_t columns[2], rows[2];
    double low[2], high[2];
    window_to_image(form, &window, (const double[2]){0, 0}, low);
    window_to_image(form, &window, (const double[2]){size[0], size[1]}, high);
    find_range(low[0], high[0], form->width, columns);
    find_range(low[1], high[1], form->height, rows);
    for (uint32_t Y = 0; Y < size[1]; Y++)
        for (uint32_t X = 0; X < size[0]; X++) {
            double at[2];
            window_to_image(form, &window, (const double[2]){X + 0.5, Y + 0.5}, at);
            const struct between x = find_between(at[0], columns[0], columns[1], form->width),
                                 y = find_between(at[1], rows[0], rows[1], form->height);
            find_corners(form, values, &x, &y, &corners);
            *classes++ =
                x.is_seen && y.is_seen ? class_at(form, &corners, &x, &y) : GLCNN_DATA_NO_CLASS;
        }
}
