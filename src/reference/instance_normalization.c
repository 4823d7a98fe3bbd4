/* Instance normalisation and its gradient: spec 7.5. */
#include "kernels/instance_normalization.h"

#include <math.h>

#include "reference/pointwise.h"

/* One channel of one image. */
struct instance {
    double gamma, beta, mean, variance, rate; /* rate = 1 / sqrt(variance + epsilon) */
    double for_beta, for_gamma;               /* Sb, Sg */
};

static double mean_power(const struct tensor *x, uint32_t n, uint32_t c, double around, int power)
{
    const double *at = tensor_at(x, n, c, 0, 0);
    size_t count = (size_t)x->width * x->height;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pow(at[i] - around, power);
    return sum / (double)count;
}

static struct instance measure(const struct reference *r, uint32_t n, uint32_t c)
{
    const struct places at = instance_normalization_places(r->operation);
    const struct tensor *x = &r->images[at.source];
    double *const *v = &r->vectors[at.gamma], *const *held = &r->vectors[at.mean];
    size_t index = (size_t)n * x->channels + c;
    bool has = instance_normalization_has_statistics(r->operation);
    struct instance k = {.gamma = v[0] ? v[0][c] : 1, .beta = v[1] ? v[1][c] : 0};
    k.mean = has ? held[0][index] : mean_power(x, n, c, 0, 1);
    k.variance = has ? held[1][index] : mean_power(x, n, c, k.mean, 2);
    k.rate = 1 / sqrt(k.variance + (double)instance_normalization_epsilon(r->operation));
    return k;
}

static void keep_statistics(const struct reference *r, const struct instance *k, size_t index)
{
    if (r->vectors[MEAN])
        r->vectors[MEAN][index] = k->mean;
    if (r->vectors[VARIANCE])
        r->vectors[VARIANCE][index] = k->variance;
}

static void normalize_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *x = &r->images[SOURCE], *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct instance k = measure(r, n, c);
            keep_statistics(r, &k, (size_t)n * x->channels + c);
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) =
                        k.gamma * (pointwise_source(w, x, n, c, Y, X) - k.mean) * k.rate + k.beta;
        }
}

static void sum_results(const struct reference *r, struct instance *k, uint32_t n, uint32_t c)
{
    const struct window *w = &r->operation->window;
    for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
        for (int32_t X = w->x.begin; X < w->x.end; X++) {
            double g = tensor_get(&r->images[G_GRADIENT], n, c, Y, X);
            double x = pointwise_source(w, &r->images[G_SOURCE], n, c, Y, X);
            k->for_beta += g;
            k->for_gamma += g * (x - k->mean) * k->rate;
        }
}

/* `to` holds what of G arrives at each pixel. */
static void finish_channel(const struct reference *r, const struct instance *k, uint32_t n,
                           uint32_t c)
{
    const struct operation *o = r->operation;
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    double samples = (double)x->width * x->height;
    for (int32_t row = 0; row < (int32_t)to->height; row++)
        for (int32_t column = 0; column < (int32_t)to->width; column++) {
            double *at = tensor_at(to, n, c, row, column);
            double xh = (pointwise_seen(o, x, n, c, row, column) - k->mean) * k->rate;
            double inner = *at - k->for_beta / samples - xh * k->for_gamma / samples;
            *at = pointwise_is_seen(o, x, row, column) ? k->gamma * k->rate * inner : 0;
        }
}

static void gradient_reference(const struct reference *r)
{
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    pointwise_scatter(r, &r->images[G_GRADIENT], x, to, NULL);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct instance k = measure(r, n, c);
            sum_results(r, &k, n, c);
            finish_channel(r, &k, n, c);
            r->vectors[G_FOR_GAMMA][c] += k.for_gamma;
            r->vectors[G_FOR_BETA][c] += k.for_beta;
        }
}

static const struct check_case cases[] = {
    {"", {1, 1, 2, 2}},
    {"epsilon=1e-5", {2, 2, 5, 7}},
    {"epsilon=0.001", {3, 3, 4, 4}},
    {"epsilon=1e-5", {4, 4, 3, 9}},
    {"epsilon=1e-5", {1, 5, 8, 8}},
    {"epsilon=0.01", {5, 6, 1, 13}},
    {"epsilon=1e-5", {1, 7, 17, 1}},
    {"epsilon=1e-5", {3, 8, 6, 5}},
    {"epsilon=1e-5", {9, 9, 2, 1}},
    {"epsilon=0.25", {3, 5, 1, 1}},
    {"epsilon=1e-5 source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 5, 4}},
    {"epsilon=1e-5 offset_x=1 offset_y=-1 destination_width=6 destination_height=7", {2, 5, 6, 5}},
    {"epsilon=1e-5 edge_mode=clamp offset_x=-2 offset_y=1 destination_width=8 "
     "destination_height=5",
     {2, 3, 4, 5}},
    {"epsilon=1e-5 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"epsilon=1e-5 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1", {4, 3, 4, 5}},
    {"epsilon=1e-5", {2, 70, 4, 6}},
    {"epsilon=1e-5", {2, 1, 33, 128}},
    {"epsilon=1e-5", {2, 3, 150, 129}, {0}, true},
    {"epsilon=1e-5", {8, 37, 28, 28}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_instance_normalization = {normalize_reference, cases};
const struct glcnn_reference glcnn_reference_instance_normalization_gradient = {gradient_reference,
                                                                                cases};
