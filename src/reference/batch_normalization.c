/* Batch normalisation, its statistics and its gradients: spec 7.4. */
#include "kernels/batch_normalization.h"

#include <math.h>

#include "kernels/numbers.h"
#include "reference/neuron.h"
#include "reference/pointwise.h"

/* One channel's numbers; what is not given is neutral. */
struct channel {
    double gamma, beta, mean, rate, slope;
};

static const struct glcnn_batch_normalization_parameters *parameters_of(const struct operation *o)
{
    return o->parameters;
}

static double vector_or(const struct reference *r, int index, uint32_t c, double neutral)
{
    return r->vectors[index] ? r->vectors[index][c] : neutral;
}

static struct channel channel_at(const struct reference *r, int first, uint32_t c)
{
    double epsilon = (double)parameters_of(r->operation)->epsilon;
    return (struct channel){
        .gamma = vector_or(r, first + GAMMA, c, 1),
        .beta = vector_or(r, first + BETA, c, 0),
        .mean = vector_or(r, first + MEAN, c, 0),
        .rate = 1 / sqrt(vector_or(r, first + VARIANCE, c, 1) + epsilon),
        .slope = neuron_slope(&parameters_of(r->operation)->neuron, r->vectors[first + SLOPES], c),
    };
}

/* Sum over a channel of (x - around)^power. */
static double moment(const struct tensor *x, uint32_t c, double around, int power)
{
    double sum = 0;
    for (uint32_t n = 0; n < x->images; n++)
        for (uint32_t i = 0; i < x->height * x->width; i++)
            sum += pow(tensor_at(x, n, c, 0, 0)[i] - around, power);
    return sum;
}

static void statistics_reference(const struct reference *r)
{
    const struct tensor *x = &r->images[S_SOURCE];
    double count = (double)x->images * x->height * x->width;
    for (uint32_t c = 0; c < x->channels; c++) {
        r->vectors[S_MEAN][c] = moment(x, c, 0, 1) / count;
        r->vectors[S_VARIANCE][c] = moment(x, c, r->vectors[S_MEAN][c], 2) / count;
    }
}

static void normalize_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[N_RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct channel k = channel_at(r, N_PARAMETERS, c);
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, &r->images[N_SOURCE], n, c, Y, X);
                    *tensor_at(to, n, c, Y, X) =
                        neuron_value(&parameters_of(r->operation)->neuron, k.slope,
                                     k.gamma * (x - k.mean) * k.rate + k.beta);
                }
        }
}

static double act_derivative(const struct reference *r, const struct channel *k, double xh)
{
    return neuron_derivative(&parameters_of(r->operation)->neuron, k->slope,
                             k->gamma * xh + k->beta);
}

static void sum_channel(const struct reference *r, uint32_t n, uint32_t c)
{
    const struct window *w = &r->operation->window;
    struct channel k = channel_at(r, D_PARAMETERS, c);
    for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
        for (int32_t X = w->x.begin; X < w->x.end; X++) {
            double xh = (pointwise_source(w, &r->images[D_SOURCE], n, c, Y, X) - k.mean) * k.rate;
            double inner =
                times(act_derivative(r, &k, xh), tensor_get(&r->images[D_GRADIENT], n, c, Y, X));
            r->vectors[D_FOR_BETA][c] += inner;
            r->vectors[D_FOR_GAMMA][c] += inner * xh;
        }
}

static void statistics_gradient_reference(const struct reference *r)
{
    for (uint32_t n = 0; n < r->images[D_SOURCE].images; n++)
        for (uint32_t c = 0; c < r->images[D_SOURCE].channels; c++)
            sum_channel(r, n, c);
}

static double derivative_at(const struct reference *r, uint32_t c, double x)
{
    struct channel k = channel_at(r, G_PARAMETERS, c);
    return act_derivative(r, &k, (x - k.mean) * k.rate);
}

/* `inner` is what of G arrives at the pixel, through the neuron. */
static double source_gradient_at(const struct reference *r, const struct channel *k, uint32_t c,
                                 double x, double inner)
{
    double samples = batch_normalization_samples(r->operation);
    double xh = (x - k->mean) * k->rate;
    if (!batch_normalization_is_fixed(r->operation))
        inner -= (r->vectors[G_FOR_BETA][c] + xh * r->vectors[G_FOR_GAMMA][c]) / samples;
    return k->gamma * k->rate * inner;
}

static void gradient_reference(const struct reference *r)
{
    const struct operation *o = r->operation;
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    pointwise_scatter(r, &r->images[G_GRADIENT], x, to, derivative_at);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct channel k = channel_at(r, G_PARAMETERS, c);
            for (int32_t y = 0; y < (int32_t)to->height; y++)
                for (int32_t i = 0; i < (int32_t)to->width; i++) {
                    double *at = tensor_at(to, n, c, y, i);
                    *at = pointwise_is_seen(o, x, y, i)
                              ? source_gradient_at(r, &k, c, pointwise_seen(o, x, n, c, y, i), *at)
                              : 0;
                }
        }
}

#define SHAPE_CASES                                                                                \
    {"", {1, 1, 2, 2}}, {"epsilon=1e-5", {2, 2, 5, 7}}, {"epsilon=0.001", {3, 3, 4, 4}},           \
        {"epsilon=1e-5", {4, 4, 3, 9}}, {"epsilon=1e-5", {2, 5, 8, 8}},                            \
        {"epsilon=0.01", {5, 6, 1, 13}}, {"epsilon=1e-5", {1, 7, 17, 1}},                          \
        {"epsilon=1e-5", {3, 8, 6, 5}}, {"epsilon=1e-5", {64, 9, 1, 1}},                           \
        {"epsilon=1e-5 source_feature_channel_offset=4 source_feature_channel_max_count=3",        \
         {2, 9, 5, 4}},                                                                            \
        {"epsilon=1e-5", {7, 3, 31, 33}}, {"epsilon=1e-5", {2, 70, 4, 6}},                         \
        {"epsilon=1e-5", {3, 5, 19, 32}}, {"epsilon=1e-5", {70, 1, 30, 32}},                       \
    {                                                                                              \
        "epsilon=1e-5", {16, 37, 28, 28}, {0}, true                                                \
    }

#define ACT_CASES                                                                                  \
    {"epsilon=1e-5 neuron_type=relu neuron_a=0.1", {2, 5, 6, 7}},                                  \
        {"epsilon=1e-5 neuron_type=sigmoid", {3, 3, 5, 5}},                                        \
        {"epsilon=1e-5 neuron_type=elu neuron_a=1.5", {1, 6, 7, 4}},                               \
        {"epsilon=1e-5 neuron_type=prelu", {2, 11, 4, 3}},                                         \
        {"epsilon=1e-5 flags=never", {2, 4, 5, 6}},                                                \
        {"epsilon=1e-5 flags=never neuron_type=tanh neuron_a=1 neuron_b=1", {2, 3, 5, 6}},         \
        {"epsilon=1e-5 offset_x=1 offset_y=-1 destination_width=6 destination_height=7",           \
         {2, 5, 6, 5}},                                                                            \
        {"epsilon=1e-5 neuron_type=soft_sign edge_mode=clamp offset_x=-2 offset_y=1 "              \
         "destination_width=8 destination_height=5",                                               \
         {2, 3, 4, 5}},                                                                            \
    {                                                                                              \
        "epsilon=1e-5 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "           \
        "clip_rect_size_height=2",                                                                 \
        {                                                                                          \
            2, 6, 6, 7                                                                             \
        }                                                                                          \
    }

static const struct check_case statistics_cases[] = {
    SHAPE_CASES, {"flags=always", {2, 3, 4, 5}}, {"flags=never", {2, 3, 4, 5}}, {0}};
static const struct check_case cases[] = {
    SHAPE_CASES, ACT_CASES, {"epsilon=1e-5 flags=always", {2, 3, 4, 5}}, {0}};

const struct glcnn_reference glcnn_reference_batch_normalization = {normalize_reference, cases};
const struct glcnn_reference glcnn_reference_batch_normalization_gradient = {gradient_reference,
                                                                             cases};
const struct glcnn_reference glcnn_reference_batch_normalization_statistics = {statistics_reference,
                                                                               statistics_cases};
const struct glcnn_reference glcnn_reference_batch_normalization_statistics_gradient = {
    statistics_gradient_reference, cases};
