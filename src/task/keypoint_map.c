/* Keypoints to heat maps, and back. */
#include "keypoint_map.h"

#include <math.h>

#include "detection_augment.h"
#include "window.h"

#define LONGEST                                                                                    \
    64 /* pixels of a map's longer side, unless the picture has more than 4 times as many */
#define SIGMA_SHARE 32 /* of the map's longer side: a 32nd */
#define REACH       4  /* sigmas; beyond them less than half a step of 1 / 255 is left */
#define RADIUS      2 /* sigmas: of the pixels around the hottest that tell where the keypoint is */
#define LEAST_HEAT  0.02 /* of the hottest: what less tells nothing */
#define TERMS       4

struct keypoint_map keypoint_map(const struct form *form)
{
    const uint32_t longer = form_longer(form);
    const uint32_t step = longer <= LONGEST ? 1 : longer <= 2 * LONGEST ? 2 : 4;
    const struct keypoint_map map = {(form->width + step - 1) / step,
                                     (form->height + step - 1) / step,
                                     (float)longer / (float)step / SIGMA_SHARE};
    return (struct keypoint_map){map.width, map.height, map.sigma > 1 ? map.sigma : 1};
}

uint32_t keypoint_count(const struct form *form)
{
    return form->classes / 2;
}

/* ---- Places ---- */

bool keypoint_is_in(const uint32_t size[2], const float place[2])
{
    return place[0] >= 0 && place[1] >= 0 && place[0] < (float)size[0] && place[1] < (float)size[1];
}

static void check_seen(const struct form *form, struct keypoint *k)
{
    k->is_seen = k->is_seen && k->x >= 0 && k->y >= 0 && k->x < (float)form->width &&
                 k->y < (float)form->height;
}

struct keypoint keypoint_cut(const struct form *form, const uint32_t size[2], const float place[2])
{
    const struct glcnn_data_window window = window_find(form, size);
    double at[2] = {(double)place[0], (double)place[1]};
    struct keypoint k = {.is_seen = keypoint_is_in(size, place) && window.width > 0};
    if (k.is_seen) {
        window_to_image(form, &window, at, at);
        k.x = (float)at[0];
        k.y = (float)at[1];
    }
    check_seen(form, &k);
    return k;
}

void keypoint_restore(const struct form *form, const uint32_t size[2], const struct keypoint *k,
                      double place[2])
{
    const struct glcnn_data_window window = window_find(form, size);
    window_to_picture(form, &window, (const double[2]){(double)k->x, (double)k->y}, place);
}

void keypoint_move(const struct form *form, const double matrix[6], struct keypoint *k)
{
    const struct moved_point p = detection_moved(matrix, (double)k->x, (double)k->y);
    k->x = (float)p.x;
    k->y = (float)p.y;
    check_seen(form, k);
}

/* ---- Heat ---- */

float keypoint_heat(const struct form *form, const struct keypoint_map *map,
                    const struct keypoint *k, uint32_t column, uint32_t row)
{
    const float x = k->x * (float)map->width / (float)form->width - 0.5f - (float)column,
                y = k->y * (float)map->height / (float)form->height - 0.5f - (float)row;
    const float squares = (x * x + y * y) / (map->sigma * map->sigma);
    return squares > REACH * REACH ? 0 : roundf(255 * expf(-squares / 2)) / 255;
}

double keypoint_energy(const struct keypoint_map *map)
{
    return acos(-1) * (double)map->sigma * (double)map->sigma;
}

/* ---- Finding ---- */

struct reader {
    const float *values; /* of one map */
    uint32_t width, height, stride;
};

static float heat_at(const struct reader *r, uint32_t column, uint32_t row)
{
    return r->values[((size_t)row * r->width + column) * r->stride];
}

static uint32_t hottest(const struct reader *r)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < r->width * r->height; i++)
        if (r->values[(size_t)i * r->stride] > r->values[(size_t)best * r->stride])
            best = i;
    return best;
}

/* Sums of the normal equations of log h = a + b x + c y + d (x^2 + y^2), x and y from the hottest pixel, the
 * last column the right side. Each pixel weighs h^2: an error of h is 1 / h times as large in its logarithm. */
struct parabola {
    double rows[TERMS][TERMS + 1];
};

static void add_pixel(struct parabola *parabola, double x, double y, double heat)
{
    const double values[TERMS + 1] = {1, x, y, x * x + y * y, log(heat)};
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; j <= TERMS; j++)
            parabola->rows[i][j] += heat * heat * values[i] * values[j];
}

/* By Gauss and Jordan, which is stable for a matrix of normal equations without pivots. False: there is
 * not one solution. */
static bool solve(struct parabola *parabola, double solution[TERMS])
{
    for (int k = 0; k < TERMS; k++) {
        double *row = parabola->rows[k];
        if (!(row[k] > 1e-12))
            return false;
        for (int j = TERMS; j >= k; j--)
            row[j] /= row[k];
        for (int i = 0; i < TERMS; i++)
            for (int j = TERMS; i != k && j >= k; j--)
                parabola->rows[i][j] -= parabola->rows[i][k] * row[j];
    }
    for (int k = 0; k < TERMS; k++)
        solution[k] = parabola->rows[k][TERMS];
    return true;
}

/* The top of the parabola of revolution through the logarithms of what is around the hottest pixel: of a
 * Gaussian it is the middle, of all of them and at the map's edges (after Zhang et al. 2020, DARK). The
 * middle of that pixel itself where heat has no such top nearby. */
static void find_top(const struct reader *r, double sigma, uint32_t column, uint32_t row,
                     double top[2])
{
    const int radius = (int)ceil(RADIUS * sigma);
    const double least = LEAST_HEAT * (double)heat_at(r, column, row);
    struct parabola parabola = {{{0}}};
    double s[TERMS];
    top[0] = column + 0.5;
    top[1] = row + 0.5;
    for (int y = -radius; y <= radius; y++)
        for (int x = -radius; x <= radius; x++) {
            const int64_t i = (int64_t)column + x, j = (int64_t)row + y;
            if (i < 0 || j < 0 || i >= r->width || j >= r->height)
                continue;
            const double heat = (double)heat_at(r, (uint32_t)i, (uint32_t)j);
            if (heat > least && heat > 0)
                add_pixel(&parabola, x, y, heat);
        }
    if (!solve(&parabola, s) || !(s[3] < 0))
        return;
    const double x = -s[1] / (2 * s[3]), y = -s[2] / (2 * s[3]);
    if (!(fabs(x) <= radius && fabs(y) <= radius))
        return;
    top[0] = fmin(fmax(top[0] + x, 0), r->width);
    top[1] = fmin(fmax(top[1] + y, 0), r->height);
}

struct keypoint keypoint_find(const struct form *form, const float *maps, uint32_t k,
                              float *confidence)
{
    const struct keypoint_map map = keypoint_map(form);
    const struct reader r = {maps + k, map.width, map.height, keypoint_count(form)};
    const uint32_t best = hottest(&r);
    double top[2];
    find_top(&r, (double)map.sigma, best % map.width, best / map.width, top);
    *confidence = fminf(fmaxf(heat_at(&r, best % map.width, best / map.width), 0), 1);
    return (struct keypoint){(float)(top[0] * form->width / map.width),
                             (float)(top[1] * form->height / map.height), true};
}
