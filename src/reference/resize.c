/* Resizing and its gradients: spec 7.19. */
#include "kernels/resize.h"

#include <math.h>

#include "kernels/elements.h"
#include "reference/reference.h"

/* Two source pixels of one axis and their shares. */
struct blend {
    int32_t from[2];
    double share[2];
};

static int32_t inside(double position, uint32_t size)
{
    return (int32_t)fmin(fmax(position, 0), (double)size - 1);
}

static double round_position(double at, glcnn_resize_rounding rounding)
{
    const double numbers[] = {ceil(at - 0.5), floor(at + 0.5), floor(at), ceil(at)};
    return numbers[rounding];
}

static struct blend blend_of(const struct operation *o, const struct positions *p, uint32_t size,
                             int32_t X)
{
    const struct glcnn_resize_parameters *parameters = o->parameters;
    double at = ((double)p->factor * X + p->shift) / p->divisor, low = floor(at);
    if (resize_is_linear(o))
        return (struct blend){{inside(low, size), inside(low + 1, size)}, {low + 1 - at, at - low}};
    int32_t nearest = inside(round_position(at, parameters->rounding), size);
    return (struct blend){{nearest, nearest}, {1, 0}};
}

/* Calls for each of the four source pixels of a result pixel. */
typedef void (*visit)(const struct reference *r, struct element at, uint32_t n, struct element from,
                      double share);

static void visit_pixel(const struct reference *r, struct element at, uint32_t n, visit call)
{
    struct both_positions p = resize_positions(r->operation);
    struct blend y = blend_of(r->operation, &p.y, elements_source(r->operation)->height, at.y);
    struct blend x = blend_of(r->operation, &p.x, elements_source(r->operation)->width, at.x);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            if (y.share[j] != 0 && x.share[i] != 0)
                call(r, at, n, (struct element){y.from[j], x.from[i], at.c},
                     y.share[j] * x.share[i]);
}

static void visit_all(const struct reference *r, const struct tensor *results, visit call)
{
    const struct window *w = &r->operation->window;
    struct element at;
    for (uint32_t n = 0; n < results->images; n++)
        for (at.c = 0; at.c < (int32_t)results->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    visit_pixel(r, at, n, call);
}

static void add_source(const struct reference *r, struct element at, uint32_t n,
                       struct element from, double share)
{
    *tensor_at(&r->images[ELEMENT_RESULT], n, (uint32_t)at.c, at.y, at.x) +=
        share * *tensor_at(&r->images[ELEMENT_SOURCE], n, (uint32_t)from.c, from.y, from.x);
}

static void add_gradient(const struct reference *r, struct element at, uint32_t n,
                         struct element from, double share)
{
    *tensor_at(&r->images[ELEMENT_DESTINATION], n, (uint32_t)from.c, from.y, from.x) +=
        share * *tensor_at(&r->images[ELEMENT_GRADIENT], n, (uint32_t)at.c, at.y, at.x);
}

static void reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_RESULT], add_source);
}

static void gradient_reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_GRADIENT], add_gradient);
}

#define CASES                                                                                      \
    {"resized_width=7 resized_height=5", {1, 3, 3, 4}},                                            \
        {"resized_width=3 resized_height=2", {2, 5, 5, 7}},                                        \
        {"resized_width=8 resized_height=6 resize_position=asymmetric", {2, 4, 3, 4}},             \
        {"resized_width=5 resized_height=4 resize_position=asymmetric", {1, 6, 7, 8}},             \
        {"resized_width=9 resized_height=3 resize_position=align_corners", {1, 2, 6, 5}},          \
        {"resized_width=1 resized_height=8 resize_position=align_corners", {2, 3, 4, 3}},          \
        {"resized_width=1 resized_height=6 resize_position=pytorch_half_pixel", {1, 7, 3, 5}},     \
        {"resized_width=1 resized_height=1", {2, 2, 4, 5}},                                        \
        {"scale_x=1.5 scale_y=0.6", {1, 3, 5, 4}}, {"scale_x=0.6 scale_y=2.5", {2, 2, 3, 4}},      \
        {"scale_x=2 resized_height=5 resize_position=asymmetric", {1, 5, 3, 3}},                   \
        {"resized_width=4 resized_height=3", {3, 9, 1, 1}},                                        \
        {"resized_width=7 resized_height=8 clip_rect_origin_x=1 clip_rect_origin_y=2 "             \
         "clip_rect_size_width=4 clip_rect_size_height=5",                                         \
         {2, 2, 4, 4}},                                                                            \
        {"resized_width=6 resized_height=2 source_feature_channel_offset=4 "                       \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 3, 4}},                                                                            \
        {"resized_width=3 resized_height=5 destination_feature_channel_offset=4", {1, 3, 4, 4}},   \
    {                                                                                              \
        "resized_width=41 resized_height=17", {3, 37, 28, 27}, {0}, true                           \
    }

#define ROUNDINGS                                                                                  \
    {"resized_width=6 resized_height=2 resize_rounding=prefer_ceil", {1, 3, 4, 4}},                \
        {"resized_width=6 resized_height=3 resize_rounding=floor", {1, 3, 4, 5}},                  \
        {"resized_width=6 resized_height=3 resize_rounding=ceil resize_position=asymmetric",       \
         {2, 3, 4, 5}},                                                                            \
    {                                                                                              \
        "scale_x=2 scale_y=3 resize_rounding=floor resize_position=asymmetric",                    \
        {                                                                                          \
            1, 4, 3, 5                                                                             \
        }                                                                                          \
    }

static const struct check_case nearest_cases[] = {CASES, ROUNDINGS, {0}};
static const struct check_case linear_cases[] = {CASES, {0}};

const struct glcnn_reference glcnn_reference_resize_linear = {reference, linear_cases};
const struct glcnn_reference glcnn_reference_resize_linear_gradient = {gradient_reference,
                                                                       linear_cases};
const struct glcnn_reference glcnn_reference_resize_nearest = {reference, nearest_cases};
const struct glcnn_reference glcnn_reference_resize_nearest_gradient = {gradient_reference,
                                                                        nearest_cases};
