/* Soft-max, log-soft-max and their gradients: spec 7.9. */
#include "kernels/soft_max.h"

#include <math.h>

#include "reference/pointwise.h"

/* log(sum_i exp(x(i))) of the pixel that result pixel (Y, X) reads. */
static double log_sum(const struct reference *r, uint32_t n, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    const struct tensor *x = &r->images[SOURCE];
    double largest = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < x->channels; c++)
        largest =
            fmax(largest, pointwise_edge(x, w->edge_mode, n, c, w->y.first + Y, w->x.first + X));
    for (uint32_t c = 0; c < x->channels; c++)
        sum += exp(pointwise_edge(x, w->edge_mode, n, c, w->y.first + Y, w->x.first + X) - largest);
    return largest + log(sum);
}

static void log_soft_max_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                double shift = log_sum(r, n, Y, X);
                for (uint32_t c = 0; c < to->channels; c++)
                    *tensor_at(to, n, c, Y, X) = pointwise_edge(&r->images[SOURCE], w->edge_mode, n,
                                                                c, w->y.first + Y, w->x.first + X) -
                                                 shift;
            }
}

static void soft_max_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    log_soft_max_reference(r);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) = exp(*tensor_at(to, n, c, Y, X));
}

/* d y(i) / d x(k) given the results y(i) and y(k) of one pixel. */
typedef double (*jacobian)(double yi, double yk, bool same);

static double soft_max_jacobian(double yi, double yk, bool same)
{
    return yi * (same - yk);
}

static double log_soft_max_jacobian(double yi, double yk, bool same)
{
    (void)yi;
    return same - exp(yk);
}

/* A source pixel and the pixels of the result and of its gradient that go with it. */
struct pixels {
    uint32_t n;
    int32_t destination[2], result[2], gradient[2]; /* y, x */
};

/* dX(k) += sum_i G(i) * d y(i) / d x(k), row by row of the Jacobian. */
static void add_pixel(const struct reference *r, const struct pixels *p, jacobian derivative)
{
    const struct tensor *g = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    const struct tensor *y = &r->images[FORWARD_RESULT];
    glcnn_edge_mode mode = r->operation->window.edge_mode;
    for (uint32_t i = 0; i < g->channels; i++)
        for (uint32_t k = 0; k < to->channels; k++)
            *tensor_at(to, p->n, k, p->destination[0], p->destination[1]) +=
                tensor_get(g, p->n, i, p->gradient[0], p->gradient[1]) *
                derivative(pointwise_edge(y, mode, p->n, i, p->result[0], p->result[1]),
                           pointwise_edge(y, mode, p->n, k, p->result[0], p->result[1]), i == k);
}

/* Source pixel that result pixel X was made from; by hand, the pixel at the secondary offset. */
static int32_t source_of(const struct reference *r, const struct axis *axis, int32_t size,
                         int32_t X)
{
    if (!r->operation->state_driven)
        return axis->first + X;
    return axis_tap(axis, r->operation->window.edge_mode, size, X, 0);
}

static void scatter(const struct reference *r, jacobian derivative)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[DESTINATION];
    struct pixels p;
    for (p.n = 0; p.n < to->images; p.n++)
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                int32_t v = source_of(r, &w->y, (int32_t)to->height, Y);
                int32_t u = source_of(r, &w->x, (int32_t)to->width, X);
                bool follows = r->operation->state_driven;
                p.destination[0] = v - w->y.shift;
                p.destination[1] = u - w->x.shift;
                p.result[0] = follows ? Y : v;
                p.result[1] = follows ? X : u;
                p.gradient[0] = Y;
                p.gradient[1] = X;
                if (p.destination[0] >= 0 && p.destination[1] >= 0 &&
                    p.destination[0] < (int32_t)to->height && p.destination[1] < (int32_t)to->width)
                    add_pixel(r, &p, derivative);
            }
}

static void soft_max_gradient_reference(const struct reference *r)
{
    scatter(r, soft_max_jacobian);
}

static void log_soft_max_gradient_reference(const struct reference *r)
{
    scatter(r, log_soft_max_jacobian);
}

#define CASES                                                                                      \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 4}}, {"", {5, 10, 1, 1}}, {"offset_x=1 offset_y=-2", {2, 3, 6, 5}},         \
        {"offset_x=-3 offset_y=2 edge_mode=clamp", {1, 6, 6, 7}},                                  \
        {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "                       \
         "clip_rect_size_height=2",                                                                \
         {2, 5, 5, 6}},                                                                            \
        {"clip_rect_origin_x=2 clip_rect_size_width=2 offset_x=1 edge_mode=clamp", {1, 4, 3, 4}},  \
        {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},      \
    {                                                                                              \
        "", {4, 37, 14, 14}, {0}, true                                                             \
    }

static const struct check_case forward_cases[] = {
    CASES,
    {"offset_x=-1 offset_y=1 destination_width=7 destination_height=3 edge_mode=clamp",
     {1, 5, 4, 4}},
    {"", {2, 1001, 1, 1}, {0}, true},
    {0}};
static const struct check_case gradient_cases[] = {
    CASES,
    {"", {2, 31, 3, 4}},
    {"primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1", {2, 5, 5, 6}},
    {"primary_offset_x=-1 secondary_offset_x=-1 edge_mode=clamp", {1, 3, 4, 5}},
    {0}};

const struct glcnn_reference glcnn_reference_log_soft_max = {log_soft_max_reference, forward_cases};
const struct glcnn_reference glcnn_reference_log_soft_max_gradient = {
    log_soft_max_gradient_reference, gradient_cases};
const struct glcnn_reference glcnn_reference_soft_max = {soft_max_reference, forward_cases};
const struct glcnn_reference glcnn_reference_soft_max_gradient = {soft_max_gradient_reference,
                                                                  gradient_cases};
