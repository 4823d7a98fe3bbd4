/* Augmentation: what is drawn for an image, and what becomes of its pixels. Spec 7.16. */
#include "kernels/augment.h"

#include <math.h>

#include "reference/philox.h"
#include "reference/pointwise.h"

static bool is_numbered(const struct reference *r, uint32_t n)
{
    for (uint32_t c = 0; c < 8; c++) {
        double byte = *tensor_at(&r->images[NUMBERS], n, c, 0, 0);
        if (!(byte >= 0 && byte <= 1))
            return false;
    }
    return true;
}

static uint32_t number_of(const struct reference *r, uint32_t n, uint32_t first)
{
    uint32_t number = 0;
    for (uint32_t c = 0; c < 4; c++) {
        long byte = lround(255 * *tensor_at(&r->images[NUMBERS], n, first + c, 0, 0));
        number |= (uint32_t)byte << (8 * c);
    }
    return number;
}

static void draw(const struct reference *r, uint64_t seed, uint32_t n, uint32_t stream,
                 uint32_t texel, uint32_t words[4])
{
    words[0] = number_of(r, n, 0);
    words[1] = number_of(r, n, 4);
    words[2] = stream;
    words[3] = texel;
    philox(words, seed);
}

static int32_t below(uint32_t word, uint32_t count)
{
    return (int32_t)(((uint64_t)word * count) >> 32);
}

static int32_t around_zero(uint32_t word, int32_t most)
{
    return below(word, 2 * (uint32_t)most + 1) - most;
}

/* floor(a / 2^15), for any sign. */
static int64_t shifted(int64_t a)
{
    return (a - (a & 32767)) / 32768;
}

static void turn(int64_t angle, int64_t *cosine, int64_t *sine)
{
    int64_t quarter = floor_quotient((int32_t)angle + 32768, 65536);
    int64_t x = shifted((angle - quarter * 65536) * 25736), xx = shifted(x * x);
    int64_t c = 32768 - shifted(xx * (16384 - shifted(xx * (1365 - shifted(xx * 46)))));
    int64_t s = shifted(x * (32768 - shifted(xx * (5461 - shifted(xx * 273)))));
    int64_t sign = quarter & 2 ? -1 : 1;
    *cosine = sign * (quarter & 1 ? -s : c);
    *sine = sign * (quarter & 1 ? c : s);
}

/* Rows of the transform: where (dx, dy, 1) lies in 2^-15 pixels. */
struct transform {
    int64_t x[3], y[3];
};

static void mirror(int64_t row[3], uint32_t size)
{
    row[0] = -row[0];
    row[1] = -row[1];
    row[2] = (int64_t)(size - 1) * 32768 - row[2];
}

/* Of a picture of that size, by the words that are drawn for it. */
static struct transform make_transform(const struct glcnn_augment_geometry_parameters *p,
                                       const uint32_t words[4], uint32_t width, uint32_t height)
{
    struct geometry_ranges ranges = augment_ranges(p);
    int64_t c, s;
    turn(around_zero(words[3], ranges.rotation), &c, &s);
    int64_t enlarged = 16384 + around_zero(words[0] << 8, ranges.scale);
    int64_t m = ((1 << 28) + enlarged / 2) / enlarged;
    struct transform t = {
        {shifted(m * c), shifted(m * s),
         (int64_t)(width - 1) * 16384 - (int64_t)around_zero(words[1], ranges.shift) * 32768},
        {-shifted(m * s), shifted(m * c),
         (int64_t)(height - 1) * 16384 - (int64_t)around_zero(words[2], ranges.shift) * 32768}};
    if (p->flip_horizontal && words[0] & 0x80000000u)
        mirror(t.x, width);
    if (p->flip_vertical && words[0] & 0x40000000u)
        mirror(t.y, height);
    return t;
}

static struct transform draw_transform(const struct reference *r, uint32_t n)
{
    const struct glcnn_augment_geometry_parameters *p = r->operation->parameters;
    const struct tensor *source = &r->images[SOURCE];
    uint32_t words[4];
    draw(r, p->seed, n, STREAM_GEOMETRY, 0, words);
    return make_transform(p, words, source->width, source->height);
}

/* A row of the transform as factors of X, Y and 1. */
static void set_row(double to[3], const int64_t row[3], uint32_t width, uint32_t height)
{
    to[0] = 2 * (double)row[0] / 32768;
    to[1] = 2 * (double)row[1] / 32768;
    to[2] =
        ((double)row[2] - (double)row[0] * (width - 1.0) - (double)row[1] * (height - 1.0)) / 32768;
}

void glcnn_augment_geometry_matrix(const struct glcnn_augment_geometry_parameters *parameters,
                                   uint32_t number, uint32_t epoch, uint32_t width, uint32_t height,
                                   double matrix[6])
{
    uint32_t words[4] = {number, epoch, STREAM_GEOMETRY, 0};
    philox(words, parameters->seed);
    struct transform t = make_transform(parameters, words, width, height);
    set_row(matrix, t.x, width, height);
    set_row(matrix + 3, t.y, width, height);
}

static double blend(double a, double b, double f)
{
    return f > 0 ? (1 - f) * a + f * b : a;
}

static int32_t reflected(int32_t i, uint32_t size)
{
    const int32_t period = 2 * (int32_t)size, k = i - period * floor_quotient(i, period);
    return k < (int32_t)size ? k : period - 1 - k;
}

static double around(const struct reference *r, uint32_t n, uint32_t c, int32_t y, int32_t x)
{
    const struct glcnn_augment_geometry_parameters *p = r->operation->parameters;
    const struct tensor *s = &r->images[SOURCE];
    if (p->reflect)
        return *tensor_at(s, n, c, reflected(y, s->height), reflected(x, s->width));
    return pointwise_edge(s, r->operation->window.edge_mode, n, c, y, x);
}

static double geometry_pixel(const struct reference *r, const void *drawn, uint32_t n, uint32_t c,
                             int32_t Y, int32_t X)
{
    const struct transform *t = drawn;
    const struct window *w = &r->operation->window;
    const struct tensor *s = &r->images[SOURCE];
    int64_t dx = 2 * (X + w->x.first) + 1 - (int64_t)s->width;
    int64_t dy = 2 * (Y + w->y.first) + 1 - (int64_t)s->height;
    int64_t px = t->x[0] * dx + t->x[1] * dy + t->x[2];
    int64_t py = t->y[0] * dx + t->y[1] * dy + t->y[2];
    int32_t x = (int32_t)shifted(px), y = (int32_t)shifted(py);
    double rows[2];
    for (int32_t q = 0; q < 2; q++)
        rows[q] = blend(around(r, n, c, y + q, x), around(r, n, c, y + q, x + 1),
                        (double)(px & 32767) / 32768);
    return blend(rows[0], rows[1], (double)(py & 32767) / 32768);
}

static void set_image(const struct reference *r, uint32_t n, const void *drawn,
                      double (*pixel)(const struct reference *r, const void *drawn, uint32_t n,
                                      uint32_t c, int32_t Y, int32_t X))
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t c = 0; c < to->channels; c++)
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++)
                *tensor_at(to, n, c, Y, X) = drawn ? pixel(r, drawn, n, c, Y, X) : (double)NAN;
}

static void geometry_reference(const struct reference *r)
{
    for (uint32_t n = 0; n < r->images[RESULT].images; n++) {
        struct transform t = {.x = {0}};
        bool numbered = is_numbered(r, n);
        if (numbered)
            t = draw_transform(r, n);
        set_image(r, n, numbered ? &t : NULL, geometry_pixel);
    }
}

struct adjustment {
    double gain, offset;
    int32_t left, top;
    double along, across; /* factors of a colour's difference from grey, and at right angles */
    double gains[4];
};

static double sway(uint32_t word)
{
    return ((double)(word >> 8) - 0x1p23) / 0x1p23;
}

static struct adjustment draw_adjustment(const struct reference *r, uint32_t n)
{
    const struct glcnn_augment_color_parameters *p = r->operation->parameters;
    const struct tensor *source = &r->images[SOURCE];
    uint32_t words[4];
    draw(r, p->seed, n, STREAM_COLOR, 0, words);
    double change = (double)p->contrast * sway(words[1]);
    struct adjustment a = {1 + change, (double)p->brightness * sway(words[0]) - 0.5 * change,
                           below(words[2], source->width) - (int32_t)p->cutout / 2,
                           below(words[3], source->height) - (int32_t)p->cutout / 2};
    int64_t cosine, sine;
    draw(r, p->seed, n, STREAM_HUE, 0, words);
    turn(around_zero(words[0], augment_hue_range(p)), &cosine, &sine);
    a.along = (1 + (double)p->saturation * sway(words[1])) * (double)cosine / 32768;
    a.across = (1 + (double)p->saturation * sway(words[1])) * (double)sine / 32768 / sqrt(3);
    draw(r, p->seed, n, STREAM_HUE, 1, words);
    for (int c = 0; c < 4; c++)
        a.gains[c] = 1 + (double)p->gain * sway(words[c]);
    return a;
}

static int32_t inside(int32_t x, uint32_t size)
{
    return x < 0 ? 0 : x < (int32_t)size ? x : (int32_t)size - 1;
}

static double noise(const struct reference *r, uint32_t n, uint32_t c, int32_t y, int32_t x)
{
    const struct glcnn_augment_color_parameters *p = r->operation->parameters;
    const struct tensor *s = &r->images[SOURCE];
    uint32_t words[4];
    uint32_t row = c / 4 * s->height + (uint32_t)inside(y, s->height);
    draw(r, p->seed, n, STREAM_NOISE, row * s->width + (uint32_t)inside(x, s->width), words);
    uint32_t word = words[c % 4];
    uint32_t sum = (word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24);
    return augment_noise_step(p) * ((double)sum - 510);
}

static double adjusted(const struct reference *r, const struct adjustment *a, uint32_t n,
                       uint32_t c, int32_t Y, int32_t X)
{
    return a->gain * pointwise_source(&r->operation->window, &r->images[SOURCE], n, c, Y, X) +
           a->offset;
}

/* Three channels as a vector, turned about (1, 1, 1) by Rodrigues' formula and stretched away from
 * it. */
static double turned(const struct reference *r, const struct adjustment *a, uint32_t n, uint32_t c,
                     int32_t Y, int32_t X)
{
    double v[3];
    for (uint32_t k = 0; k < 3; k++)
        v[k] = adjusted(r, a, n, k, Y, X);
    const double mean = (v[0] + v[1] + v[2]) / 3;
    return mean + a->along * (v[c] - mean) + a->across * (v[(c + 2) % 3] - v[(c + 1) % 3]);
}

static double color_pixel(const struct reference *r, const void *drawn, uint32_t n, uint32_t c,
                          int32_t Y, int32_t X)
{
    const struct adjustment *a = drawn;
    const struct glcnn_augment_color_parameters *p = r->operation->parameters;
    const struct window *w = &r->operation->window;
    int32_t side = (int32_t)p->cutout, y = Y + w->y.first, x = X + w->x.first;
    if (x >= a->left && x < a->left + side && y >= a->top && y < a->top + side)
        return 0;
    double value = adjusted(r, a, n, c, Y, X);
    if (p->hue > 0 || p->saturation > 0)
        value = turned(r, a, n, c, Y, X);
    return a->gains[c % 4] * value + (p->noise > 0 ? noise(r, n, c, y, x) : 0);
}

static void color_reference(const struct reference *r)
{
    for (uint32_t n = 0; n < r->images[RESULT].images; n++) {
        struct adjustment a = {.gain = 0};
        bool numbered = is_numbered(r, n);
        if (numbered)
            a = draw_adjustment(r, n);
        set_image(r, n, numbered ? &a : NULL, color_pixel);
    }
}

#define EACH(N)                                                                                    \
    {                                                                                              \
        N, 8, 1, 1                                                                                 \
    } /* image_numbers */

static const struct check_case geometry_cases[] = {
    {"", {2, 3, 4, 5}, EACH(2)},
    {"flip_horizontal=1 seed=1", {8, 1, 3, 4}, EACH(8)},
    {"flip_vertical=1 seed=2", {8, 3, 5, 3}, EACH(8)},
    {"shift=2 seed=3", {4, 2, 6, 5}, EACH(4)},
    {"shift=4096 seed=4", {3, 1, 3, 3}, EACH(3)},
    {"rotation=15 seed=5", {3, 3, 9, 8}, EACH(3)},
    {"rotation=180 seed=18446744073709551615", {5, 4, 7, 7}, EACH(5)},
    {"scale=0.1 seed=6", {3, 5, 8, 9}, EACH(3)},
    {"scale=0.5 seed=7 primary_edge_mode=clamp", {4, 6, 7, 6}, EACH(4)},
    {"flip_horizontal=1 flip_vertical=1 shift=3 rotation=30 scale=0.2 seed=8",
     {6, 9, 11, 13},
     EACH(6)},
    {"flip_horizontal=1 shift=1 rotation=90 scale=0.3 seed=9 primary_edge_mode=clamp",
     {6, 3, 12, 5},
     EACH(6)},
    {"rotation=20 seed=10 primary_offset_x=2 primary_offset_y=-1 destination_width=7 "
     "destination_height=9",
     {2, 3, 6, 5},
     EACH(2)},
    {"rotation=40 seed=11 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7},
     EACH(2)},
    {"rotation=25 seed=12 primary_source_feature_channel_offset=4 "
     "primary_source_feature_channel_max_count=3",
     {2, 9, 5, 4},
     EACH(2)},
    {"reflect=1 shift=9 rotation=30 scale=0.3 seed=14", {6, 3, 5, 4}, EACH(6)},
    {"reflect=1 shift=4096 seed=15 primary_edge_mode=clamp", {4, 5, 1, 3}, EACH(4)},
    {"reflect=1 flip_horizontal=1 rotation=180 seed=16 primary_offset_x=-7 primary_offset_y=3 "
     "destination_width=9 destination_height=8",
     {3, 2, 4, 3},
     EACH(3)},
    {"flip_horizontal=1 shift=4 rotation=15 scale=0.1 seed=13", {16, 3, 64, 64}, EACH(16), true},
    {0}};

static const struct check_case color_cases[] = {
    {"", {2, 3, 4, 5}, EACH(2)},
    {"brightness=0.2 seed=1", {4, 1, 3, 4}, EACH(4)},
    {"contrast=0.2 seed=2", {4, 3, 5, 3}, EACH(4)},
    {"brightness=1 contrast=1 seed=3", {5, 2, 6, 5}, EACH(5)},
    {"noise=0.05 seed=4", {3, 3, 9, 8}, EACH(3)},
    {"noise=1 seed=18446744073709551615", {2, 9, 7, 7}, EACH(2)},
    {"cutout=3 seed=5", {6, 5, 8, 9}, EACH(6)},
    {"cutout=4096 seed=6", {2, 4, 3, 5}, EACH(2)},
    {"brightness=0.2 contrast=0.3 noise=0.1 cutout=4 seed=7", {5, 6, 11, 13}, EACH(5)},
    {"contrast=0.3 noise=0.1 cutout=2 seed=8 primary_edge_mode=clamp primary_offset_x=-2 "
     "primary_offset_y=1 destination_width=9 destination_height=8",
     {2, 3, 6, 5},
     EACH(2)},
    {"contrast=0.3 noise=0.1 cutout=2 seed=9 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 6, 6, 7},
     EACH(2)},
    {"brightness=0.1 noise=0.1 seed=10 primary_source_feature_channel_offset=4 "
     "primary_source_feature_channel_max_count=3",
     {2, 9, 5, 4},
     EACH(2)},
    {"hue=180 seed=12", {6, 3, 4, 5}, EACH(6)},
    {"saturation=1 seed=13", {5, 3, 3, 4}, EACH(5)},
    {"gain=0.3 seed=14", {4, 9, 5, 3}, EACH(4)},
    {"brightness=0.2 contrast=0.3 hue=20 saturation=0.4 gain=0.2 noise=0.1 cutout=2 seed=15",
     {5, 3, 7, 6},
     EACH(5)},
    {"hue=90 saturation=0.5 gain=0.1 seed=16 primary_edge_mode=clamp primary_offset_x=-2 "
     "primary_source_feature_channel_offset=4 primary_source_feature_channel_max_count=3",
     {2, 9, 5, 4},
     EACH(2)},
    {"brightness=0.2 contrast=0.2 noise=0.05 cutout=16 seed=11", {16, 3, 64, 64}, EACH(16), true},
    {0}};

const struct glcnn_reference glcnn_reference_augment_color = {color_reference, color_cases};
const struct glcnn_reference glcnn_reference_augment_geometry = {geometry_reference,
                                                                 geometry_cases};
