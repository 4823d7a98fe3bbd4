/* Neurons, their gradient, and the gradient of their slopes: spec 7.3. */
#include "reference/neuron.h"

#include "kernels/neuron_types.h"
#include "reference/pointwise.h"

#define DERIVATIVE_OF(NAME, ENUM, a, b, c, VALUE, DERIVATIVE)                                      \
    FUNCTION(NAME##_derivative, DERIVATIVE)

NEURON_TYPES(DERIVATIVE_OF)

#define TYPE(NAME, ENUM, ...) [GLCNN_NEURON_TYPE_##ENUM] = NAME##_derivative,

double neuron_derivative(const struct glcnn_neuron_descriptor *n, double slope, double x)
{
    static double (*const derivatives[])(const struct glcnn_neuron_descriptor *n, double slope,
                                         double x) = {NEURON_TYPES(TYPE)};
    return derivatives[n->type](n, slope, x);
}

double neuron_slope(const struct glcnn_neuron_descriptor *neuron, const double *data, uint32_t c)
{
    return glcnn_neuron_has_slopes(neuron->type) && data ? data[c] : 0;
}

/* g df/dslope(x). Where PReLU does not read its slope a gradient has no part, whatever it is. */
static double by_slope(const struct glcnn_neuron_descriptor *neuron, double x, double g)
{
    if (neuron->type == GLCNN_NEURON_TYPE_SHIFT)
        return g;
    return neuron->type == GLCNN_NEURON_TYPE_SCALE || !(x >= 0) ? g * x : 0;
}

static double slope_of(const struct reference *r, int argument, uint32_t c)
{
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    return neuron_slope(&p->neuron, r->vectors[argument], p->shares_data ? 0 : c);
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    const struct tensor *from = &r->images[SOURCE], *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) = neuron_value(
                        &p->neuron, slope_of(r, SLOPES, c), pointwise_source(w, from, n, c, Y, X));
}

static double derivative_at(const struct reference *r, uint32_t c, double x)
{
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    return neuron_derivative(&p->neuron, slope_of(r, GRADIENT_SLOPES, c), x);
}

static void gradient_reference(const struct reference *r)
{
    pointwise_scatter(r, &r->images[GRADIENT], &r->images[IMAGE], &r->images[DESTINATION],
                      derivative_at);
}

static void slope_gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    const struct tensor *from = &r->images[IMAGE];
    for (uint32_t n = 0; n < from->images; n++)
        for (uint32_t c = 0; c < from->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, from, n, c, Y, X);
                    r->vectors[FOR_SLOPES][p->shares_data ? 0 : c] +=
                        by_slope(&p->neuron, x, tensor_get(&r->images[GRADIENT], n, c, Y, X));
                }
}

/* Each type with its default numbers. */
#define TYPE_CASE(NAME, ENUM, a, b, c, ...)                                                        \
    {"neuron_type=" #NAME " neuron_a=" #a " neuron_b=" #b " neuron_c=" #c, {1, 5, 4, 3}},

/* Of power and logarithm only those whose base stays positive, |x| <= 1. */
/* clang-format off */
#define NUMBER_CASES                                                                               \
    {"neuron_type=relu neuron_a=0.1", {1, 2, 7, 9}},                                               \
    {"neuron_type=linear neuron_a=-1.5 neuron_b=0.25", {3, 3, 4, 4}},                              \
    {"neuron_type=hard_sigmoid neuron_a=0.75 neuron_b=0.5", {1, 5, 6, 7}},                         \
    {"neuron_type=tanh neuron_a=1.7 neuron_b=0.6", {2, 6, 5, 5}},                                  \
    {"neuron_type=soft_plus neuron_a=0.5 neuron_b=8", {1, 8, 4, 6}},                               \
    {"neuron_type=elu neuron_a=1.2", {1, 5, 9, 2}},                                                \
    {"neuron_type=prelu", {2, 11, 4, 3}},                                                          \
    {"neuron_type=relun neuron_a=0.2 neuron_b=0.4", {1, 3, 8, 8}},                                 \
    {"neuron_type=power neuron_a=0.5 neuron_b=1.5 neuron_c=-2.3", {1, 3, 6, 5}},                   \
    {"neuron_type=power neuron_a=2 neuron_b=0 neuron_c=3", {1, 6, 5, 5}},                          \
    {"neuron_type=exponential neuron_a=3 neuron_b=-1 neuron_c=-1", {1, 2, 6, 6}},                  \
    {"neuron_type=exponential neuron_a=2 neuron_b=0.5 neuron_c=2.5", {1, 2, 6, 6}},                \
    {"neuron_type=logarithm neuron_a=0.5 neuron_b=1 neuron_c=-1", {1, 4, 6, 6}},                   \
    {"neuron_type=logarithm neuron_a=0.5 neuron_b=2 neuron_c=10", {1, 4, 6, 6}},                   \
    {"neuron_type=swish neuron_a=-2.5", {2, 5, 3, 4}},                                             \
    {"neuron_type=clip neuron_a=-0.6 neuron_b=0.35", {1, 3, 5, 4}},                                \
    {"neuron_type=hard_swish neuron_a=1.5 neuron_b=0.5", {2, 4, 4, 3}},                            \
    {"neuron_type=fake_quantization neuron_a=0.125 neuron_b=-3 neuron_c=6", {2, 6, 5, 3}},         \
    {"neuron_type=celu neuron_a=0.5", {2, 2, 5, 3}},                                               \
    {"neuron_type=thresholded_relu neuron_a=0.25", {1, 7, 3, 4}},                                  \
    {"neuron_type=scale shares_data=true", {2, 9, 4, 3}},                                          \
    {"neuron_type=prelu shares_data=true", {2, 7, 3, 3}}
/* clang-format on */

#define TYPE_CASES TYPES_TO_EXPONENTIAL(TYPE_CASE) TYPES_FROM_GELU(TYPE_CASE) NUMBER_CASES

#define PLACE_CASES                                                                                \
    {"neuron_type=sigmoid offset_x=2 offset_y=-1 destination_width=6 destination_height=7",        \
     {2, 3, 5, 6}},                                                                                \
        {"neuron_type=tanh neuron_a=1 neuron_b=1 edge_mode=clamp offset_x=-3 offset_y=2 "          \
         "destination_width=9 destination_height=5",                                               \
         {2, 5, 4, 5}},                                                                            \
        {"neuron_type=elu neuron_a=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "                   \
         "clip_rect_size_width=3 clip_rect_size_height=2",                                         \
         {2, 6, 6, 7}},                                                                            \
        {"neuron_type=soft_sign source_feature_channel_offset=4 "                                  \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 5, 4}},                                                                            \
        {"neuron_type=relu neuron_a=0.01", {1, 70, 4, 1}},                                         \
        {"neuron_type=relu", {16, 37, 28, 28}, {0}, true},                                         \
    {                                                                                              \
        "neuron_type=sigmoid", {8, 33, 31, 17}, {0}, true                                          \
    }

static const struct check_case cases[] = {TYPE_CASES, PLACE_CASES, {0}};
static const struct check_case gradient_cases[] = {
    TYPE_CASES,
    PLACE_CASES,
    {"neuron_type=sigmoid primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1",
     {2, 5, 5, 6}},
    {"neuron_type=sigmoid primary_offset_x=-1 secondary_offset_x=-1 edge_mode=clamp", {1, 3, 4, 5}},
    {0}};

static const struct check_case slope_cases[] = {
    {"neuron_type=prelu", {1, 1, 1, 1}},
    {"neuron_type=prelu", {2, 2, 3, 5}},
    {"neuron_type=prelu", {1, 3, 7, 9}},
    {"neuron_type=prelu", {3, 4, 14, 14}},
    {"neuron_type=prelu", {1, 5, 1, 131}},
    {"neuron_type=prelu", {2, 6, 37, 1}},
    {"neuron_type=prelu", {5, 7, 4, 8}},
    {"neuron_type=prelu", {1, 8, 5, 5}},
    {"neuron_type=prelu", {9, 9, 2, 3}},
    {"neuron_type=prelu", {1, 70, 4, 3}},
    {"neuron_type=prelu", {1, 1, 65, 131}},
    {"neuron_type=prelu offset_x=2 offset_y=-1 destination_width=6 destination_height=7",
     {2, 3, 5, 6}},
    {"neuron_type=prelu edge_mode=clamp offset_x=-3 offset_y=2 destination_width=9 "
     "destination_height=5",
     {2, 5, 4, 5}},
    {"neuron_type=prelu clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"neuron_type=prelu source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 5, 4}},
    {"neuron_type=scale", {2, 6, 5, 7}},
    {"neuron_type=shift", {3, 5, 9, 4}},
    {"neuron_type=scale shares_data=true", {2, 9, 4, 3}},
    {"neuron_type=shift shares_data=true", {2, 70, 3, 3}},
    {"neuron_type=prelu shares_data=true", {3, 1, 14, 9}},
    {"neuron_type=shift offset_x=2 offset_y=-1 destination_width=6 destination_height=7",
     {2, 3, 5, 6}},
    {"neuron_type=prelu", {16, 37, 28, 28}, {0}, true},
    {"neuron_type=prelu", {2, 3, 300, 257}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_neuron = {reference, cases};
const struct glcnn_reference glcnn_reference_neuron_gradient = {gradient_reference, gradient_cases};
const struct glcnn_reference glcnn_reference_neuron_slope_gradient = {slope_gradient_reference,
                                                                      slope_cases};
