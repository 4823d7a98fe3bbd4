/* Reductions along rows, columns and channels, and their gradients: spec 7.14. */
#include "kernels/reduce.h"

#include <math.h>

#include "reference/reference.h"

/* All that any reduction wants to know of the values seen so far. */
struct tally {
    double sum, smallest, largest;
    uint32_t count, non_zero, smallest_at, largest_at;
};

static bool wins(double value, double best)
{
    return value > best || (isnan(value) && !isnan(best));
}

static void tally_add(struct tally *t, double value, double weight)
{
    t->sum += value * weight;
    t->non_zero += weight != 0;
    if (t->count == 0 || wins(value, t->largest)) {
        t->largest = value;
        t->largest_at = t->count;
    }
    if (t->count == 0 || wins(-value, -t->smallest)) {
        t->smallest = value;
        t->smallest_at = t->count;
    }
    t->count++;
}

static double tally_result(const struct tally *t, const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    double sum = (double)reduce_scale(o) * t->sum;
    const double results[] = {
        [SUM] =
            p->do_weighted_sum_by_non_zero_weights ? sum / (t->non_zero ? t->non_zero : 1) : sum,
        [MEAN] = sum / t->count,
        [MINIMUM] = t->smallest,
        [MAXIMUM] = t->largest,
        [ARGUMENT_MINIMUM] = t->smallest_at,
        [ARGUMENT_MAXIMUM] = t->largest_at,
    };
    return results[reduction_of(o)->quantity];
}

/* Number, among what result (Y, X) was made of, of its extreme. */
static double *index_at(double *indices, const struct tensor *result, const struct operation *o,
                        uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    bool all = reduction_of(o)->axis == CHANNELS;
    size_t layer = all ? n : (size_t)n * slice_count(result->channels) + c / 4;
    size_t pixel = (layer * result->height + (size_t)Y) * result->width + (size_t)X;
    return &indices[all ? pixel : pixel * 4 + c % 4];
}

static double weight_at(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct glcnn_reduce_parameters *p = r->operation->parameters;
    const struct window *w = &r->operation->window;
    if (!(r->operation->descriptor->flags & IS_BINARY))
        return 1;
    return tensor_get(&r->images[WEIGHTS], n, c,
                      Y - w->y.begin + (int32_t)p->secondary_source_clip_rect.origin_y,
                      X - w->x.begin + (int32_t)p->secondary_source_clip_rect.origin_x);
}

static void reduce_pixel(const struct reference *r, uint32_t n, uint32_t channel, int32_t Y,
                         int32_t X)
{
    const struct window *w = &r->operation->window;
    const struct tensor *source = &r->images[SOURCE];
    bool all = reduction_of(r->operation)->axis == CHANNELS;
    struct tally tally = {0};
    for (uint32_t c = all ? 0 : channel; c < (all ? source->channels : channel + 1); c++)
        for (int32_t q = 0; q < w->y.size; q++)
            for (int32_t p = 0; p < w->x.size; p++)
                tally_add(&tally, tensor_get(source, n, c, w->y.first + Y + q, w->x.first + X + p),
                          weight_at(r, n, c, Y, X));
    *tensor_at(&r->images[RESULT], n, channel, Y, X) = tally_result(&tally, r->operation);
    if (r->vectors[INDICES])
        *index_at(r->vectors[INDICES], &r->images[RESULT], r->operation, n, channel, Y, X) =
            reduction_of(r->operation)->quantity == MINIMUM ? tally.smallest_at : tally.largest_at;
}

static void forward_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < r->images[RESULT].images; n++)
        for (uint32_t c = 0; c < r->images[RESULT].channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    reduce_pixel(r, n, c, Y, X);
}

/* What value i of those that a result was made of gets of the result's gradient, g. */
static double share_of(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X,
                       int32_t i, double g)
{
    const struct operation *o = r->operation;
    double *indices = r->vectors[GRADIENT_INDICES];
    if (indices)
        return *index_at(indices, &r->images[GRADIENT], o, n, c, Y, X) == i ? g : 0;
    double sum = (double)reduce_scale(o) * g;
    return reduction_of(o)->quantity == MEAN ? sum / reduce_mean_count(o) : sum;
}

/* Every result hands its gradient to what it was made of. */
static void scatter_pixel(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    bool all = reduction_of(r->operation)->axis == CHANNELS;
    double g = tensor_get(&r->images[GRADIENT], n, all ? 0 : c, Y, X);
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            *tensor_at(&r->images[DESTINATION], n, c, w->y.first + Y + q, w->x.first + X + p) +=
                share_of(r, n, c, Y, X, all ? (int32_t)c : p + q, g);
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < r->images[DESTINATION].images; n++)
        for (uint32_t c = 0; c < r->images[DESTINATION].channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    scatter_pixel(r, n, c, Y, X);
}

#define PLAIN_CASES                                                                                \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 4}}, {"", {1, 37, 5, 6}}, {"", {1, 2, 3, 67}}, {"", {1, 2, 66, 2}},         \
    {                                                                                              \
        "source_feature_channel_offset=4 source_feature_channel_max_count=3",                      \
        {                                                                                          \
            2, 9, 3, 4                                                                             \
        }                                                                                          \
    }
#define RECTANGLE_CASES                                                                            \
    {"clip_rect_source_origin_x=1 clip_rect_source_origin_y=2", {2, 5, 6, 7}},                     \
        {"clip_rect_source_origin_x=2 clip_rect_source_size_width=3 "                              \
         "clip_rect_source_size_height=4",                                                         \
         {1, 3, 5, 9}},                                                                            \
        {"clip_rect_source_origin_y=3 clip_rect_source_size_width=100 "                            \
         "clip_rect_source_size_height=100 clip_rect_size_width=1 clip_rect_size_height=1",        \
         {2, 6, 5, 4}},                                                                            \
        {"", {2, 300, 9, 130}, {0}, true}, {"", {1, 3, 2000, 5}, {0}, true},                       \
    {                                                                                              \
        "", {1, 3, 5, 2000}, {0}, true                                                             \
    }

static const struct check_case row_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_y=1 clip_rect_size_height=2 clip_rect_source_origin_x=1", {2, 5, 4, 5}},
    {0}};
static const struct check_case column_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_source_origin_x=1", {2, 5, 4, 5}},
    {0}};
static const struct check_case channel_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_origin_y=1 "
     "clip_rect_source_origin_y=1",
     {2, 5, 4, 5}},
    {0}};
static const struct check_case sum_cases[] = {
    PLAIN_CASES, RECTANGLE_CASES, {"weight=-2.5", {2, 6, 3, 4}}, {0}};
#define WEIGHTS_CASES                                                                              \
    {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}}, {"", {1, 37, 5, 6}},               \
        {"primary_source_clip_rect_origin_x=1 primary_source_clip_rect_size_height=2 "             \
         "secondary_source_clip_rect_origin_x=2 secondary_source_clip_rect_origin_y=1",            \
         {2, 5, 4, 5},                                                                             \
         {2, 5, 3, 6}},                                                                            \
        {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=2", {2, 5, 4, 5}},        \
        {"primary_source_feature_channel_offset=4 secondary_source_feature_channel_offset=8 "      \
         "primary_source_feature_channel_max_count=3",                                             \
         {2, 9, 3, 4},                                                                             \
         {2, 11, 3, 4}},                                                                           \
    {                                                                                              \
        "", {2, 300, 9, 13}, {0}, true                                                             \
    }
static const struct check_case weights_cases[] = {WEIGHTS_CASES,
                                                  {"", {1, 1, 3, 3}},
                                                  {"", {2, 2, 4, 3}},
                                                  {"", {1, 3, 1, 1}},
                                                  {"", {3, 4, 2, 5}},
                                                  {"", {1, 5, 7, 6}},
                                                  {0}};
static const struct check_case weights_sum_cases[] = {
    WEIGHTS_CASES,
    {"", {1, 3, 4, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {1, 1, 3, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 2, 4, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {1, 5, 7, 6}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 8, 3, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 35, 3, 3}},
    {0}};

const struct glcnn_reference glcnn_reference_reduce_column_max = {forward_reference, column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_max_gradient = {gradient_reference,
                                                                           column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_mean = {forward_reference, column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_mean_gradient = {gradient_reference,
                                                                            column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_min = {forward_reference, column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_min_gradient = {gradient_reference,
                                                                           column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_sum = {forward_reference, column_cases};
const struct glcnn_reference glcnn_reference_reduce_column_sum_gradient = {gradient_reference,
                                                                           column_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_and_weights_mean = {
    forward_reference, weights_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_and_weights_sum = {
    forward_reference, weights_sum_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_argument_max = {
    forward_reference, channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_argument_min = {
    forward_reference, channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_max = {forward_reference,
                                                                            channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_max_gradient = {
    gradient_reference, channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_mean = {forward_reference,
                                                                             channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_mean_gradient = {
    gradient_reference, channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_min = {forward_reference,
                                                                            channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_min_gradient = {
    gradient_reference, channel_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_sum = {forward_reference,
                                                                            sum_cases};
const struct glcnn_reference glcnn_reference_reduce_feature_channels_sum_gradient = {
    gradient_reference, sum_cases};
const struct glcnn_reference glcnn_reference_reduce_row_max = {forward_reference, row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_max_gradient = {gradient_reference,
                                                                        row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_mean = {forward_reference, row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_mean_gradient = {gradient_reference,
                                                                         row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_min = {forward_reference, row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_min_gradient = {gradient_reference,
                                                                        row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_sum = {forward_reference, row_cases};
const struct glcnn_reference glcnn_reference_reduce_row_sum_gradient = {gradient_reference,
                                                                        row_cases};
