/* Normalisation of a pixel by neighbouring channels, and its gradient: spec 7.6. */
#include "kernels/cross_channel_normalization.h"

#include <math.h>

#include "reference/pointwise.h"

typedef struct glcnn_cross_channel_normalization_parameters numbers;

struct pixel {
    const struct reference *r;
    const struct tensor *source;
    uint32_t n;
    int32_t Y, X; /* of the result */
};

static double value(const struct pixel *p, uint32_t c)
{
    return pointwise_source(&p->r->operation->window, p->source, p->n, c, p->Y, p->X);
}

/* First channel of the window of channel k, and the one after its last. */
static void window_of(const numbers *p, uint32_t k, uint32_t channels, uint32_t range[2])
{
    uint32_t before = p->kernel_size / 2, after = (p->kernel_size - 1) / 2;
    range[0] = k > before ? k - before : 0;
    range[1] = channels - k > after ? k + after + 1 : channels;
}

static double scale(const struct pixel *p, uint32_t k)
{
    const numbers *of = p->r->operation->parameters;
    uint32_t range[2];
    double sum = 0;
    window_of(of, k, p->source->channels, range);
    for (uint32_t q = range[0]; q < range[1]; q++)
        sum += pow(value(p, q), 2);
    return (double)of->delta + (double)of->alpha / of->kernel_size * sum;
}

typedef void (*visit_pixel)(const struct pixel *p);

/* Visits every pixel of the result. */
static void for_each_pixel(const struct reference *r, const struct tensor *source,
                           visit_pixel visit)
{
    const struct window *w = &r->operation->window;
    struct pixel p = {.r = r, .source = source};
    for (p.n = 0; p.n < source->images; p.n++)
        for (p.Y = w->y.begin; p.Y < w->y.end; p.Y++)
            for (p.X = w->x.begin; p.X < w->x.end; p.X++)
                visit(&p);
}

static void normalise_pixel(const struct pixel *p)
{
    const numbers *of = p->r->operation->parameters;
    for (uint32_t k = 0; k < p->source->channels; k++)
        *tensor_at(&p->r->images[RESULT], p->n, k, p->Y, p->X) =
            value(p, k) * pow(scale(p, k), -(double)of->beta);
}

/* d Y(r) / d X(k) over the window of r, row by row of the Jacobian. */
static void add_row(const struct pixel *p, uint32_t row, double g, int32_t y, int32_t x)
{
    const numbers *of = p->r->operation->parameters;
    double beta = (double)of->beta, l = scale(p, row);
    double slope = -beta * pow(l, -beta - 1) * 2 * (double)of->alpha / of->kernel_size;
    uint32_t range[2];
    window_of(of, row, p->source->channels, range);
    for (uint32_t k = range[0]; k < range[1]; k++)
        *tensor_at(&p->r->images[DESTINATION], p->n, k, y, x) +=
            g * (value(p, row) * slope * value(p, k) + (k == row ? pow(l, -beta) : 0));
}

static void differentiate_pixel(const struct pixel *p)
{
    const struct tensor *to = &p->r->images[DESTINATION];
    int32_t at[2];
    if (!pointwise_target(p->r->operation, p->source, to, p->Y, p->X, at))
        return;
    for (uint32_t row = 0; row < p->source->channels; row++)
        add_row(p, row, tensor_get(&p->r->images[GRADIENT], p->n, row, p->Y, p->X), at[0], at[1]);
}

static void reference(const struct reference *r)
{
    for_each_pixel(r, &r->images[SOURCE], normalise_pixel);
}

static void gradient_reference(const struct reference *r)
{
    for_each_pixel(r, &r->images[IMAGE], differentiate_pixel);
}

static const struct check_case cases[] = {
    {"", {1, 1, 3, 3}},
    {"kernel_size=3", {2, 2, 4, 3}},
    {"kernel_size=3 beta=1", {1, 3, 5, 2}},
    {"kernel_size=4 beta=0.75", {3, 4, 2, 5}},
    {"kernel_size=2 alpha=0.5 beta=-0.5 delta=2", {1, 5, 7, 6}},
    {"alpha=3 beta=0.5 delta=0.25", {2, 6, 3, 3}},
    {"kernel_size=1 beta=1.5", {1, 7, 5, 2}},
    {"kernel_size=8 alpha=-0.5 delta=1.5 beta=0.75", {9, 8, 1, 1}},
    {"kernel_size=25 beta=0.75", {2, 9, 4, 4}},
    {"kernel_size=7 alpha=0.0001 beta=0.75 delta=2", {2, 10, 3, 5}},
    {"kernel_size=6 beta=2.5", {1, 21, 4, 3}},
    {"kernel_size=9 beta=0.75 alpha=0.5", {1, 41, 3, 2}},
    {"kernel_size=3 beta=0", {2, 6, 3, 2}},
    {"kernel_size=3 offset_x=1 offset_y=-2", {2, 3, 6, 5}},
    {"kernel_size=4 beta=0.5 offset_x=-3 offset_y=2 edge_mode=clamp", {1, 6, 6, 7}},
    {"offset_x=-1 offset_y=1 destination_width=7 destination_height=3 edge_mode=clamp",
     {1, 5, 4, 4}},
    {"kernel_size=3 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 5, 5, 6}},
    {"kernel_size=3 source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"beta=0.75", {4, 37, 14, 14}, {0}, true},
    {"kernel_size=64 alpha=2 beta=0.75", {1, 96, 6, 5}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_cross_channel_normalization = {reference, cases};
const struct glcnn_reference glcnn_reference_cross_channel_normalization_gradient = {
    gradient_reference, cases};
