/* Arithmetic of two images, and what its gradients make of each result: spec 7.11. */
#include "kernels/arithmetic.h"

#include <math.h>

#include "kernels/numbers.h"
#include "reference/pointwise.h"

/* What result (Y, X, k) reads of a source. */
static double operand(const struct tensor *source, const struct window *w, uint32_t n, uint32_t k,
                      int32_t Y, int32_t X)
{
    int32_t y = axis_tap(&w->y, w->edge_mode, (int32_t)source->height, Y, 0);
    int32_t x = axis_tap(&w->x, w->edge_mode, (int32_t)source->width, X, 0);
    return tensor_get(source, n, k * w->channel_stride, y, x);
}

static double combine(enum operation_kind kind, double x, double y)
{
    switch (kind) {
    case ADD:
        return x + y;
    case SUBTRACT:
        return x - y;
    case MULTIPLY:
        return x * y;
    case DIVIDE:
        return x / y;
    case MAXIMUM:
        return isnan(x) || x > y ? x : y;
    case MINIMUM:
        return isnan(x) || x < y ? x : y;
    case POWER:
        return pow(x, y);
    }
    return 0;
}

/* The primary source's share, in halves; of equals each has half. */
static int share_of(enum operation_kind kind, double x, double y)
{
    int share = x > y ? 2 : x < y ? 0 : 1;
    return kind == MAXIMUM ? share : 2 - share;
}

/* Index of a slice of four channels in the vectors of a state. */
static size_t slice_index(const struct tensor *result, uint32_t n, uint32_t k, int32_t Y, int32_t X)
{
    size_t layer = (size_t)n * slice_count(result->channels) + k / 4;
    return (layer * result->height + (size_t)Y) * result->width + (size_t)X;
}

static void reference_at(const struct reference *r, uint32_t n, uint32_t k, int32_t Y, int32_t X)
{
    const struct operation *o = r->operation;
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    const struct tensor *to = &r->images[RESULT];
    double x = operand(&r->images[PRIMARY], &o->window, n, k, Y, X);
    double y = operand(&r->images[SECONDARY], &o->secondary_window, n, k, Y, X);
    x *= (double)p->primary_scale;
    y *= (double)p->secondary_scale;
    double value = combine(arithmetic_kind(o), x, y);
    double low = (double)p->minimum_value, high = (double)p->maximum_value;
    double sum = value + (double)p->bias;
    size_t index = slice_index(to, n, k, Y, X);
    *tensor_at(to, n, k, Y, X) = held(sum, low, high);
    if (r->vectors[MASK] && sum >= low && sum <= high)
        r->vectors[MASK][index] += 1 << k % 4;
    if (r->vectors[KEPT] && arithmetic_has_shares(o))
        r->vectors[KEPT][index] += share_of(arithmetic_kind(o), x, y) << 2 * (k % 4);
    else if (r->vectors[KEPT])
        r->vectors[KEPT][index * 4 + k % 4] = arithmetic_kind(o) == POWER ? x : x / y;
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t k = 0; k < to->channels; k++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    reference_at(r, n, k, Y, X);
}

/* What the state kept of a result. */
static double kept_at(const struct reference *r, size_t index, uint32_t k)
{
    const double *kept = r->vectors[G_KEPT];
    if (!kept)
        return 0;
    return arithmetic_has_shares(r->operation) ? bits_of(kept[index], 2 * (k % 4), 2) / 2.0
                                               : kept[index * 4 + k % 4];
}

/* d r / d v of the source v that the kernel differentiates by. */
static double rate_at(const struct reference *r, uint32_t n, uint32_t k, int32_t Y, int32_t X)
{
    const struct operation *o = r->operation;
    size_t index = slice_index(&r->images[GRADIENT], n, k, Y, X);
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    double given = operand(&r->images[GIVEN], &o->secondary_window, n, k, Y, X);
    double kept = kept_at(r, index, k);
    double y = (double)p->secondary_scale * given;
    switch (arithmetic_term(o)) {
    case SCALED:
        return arithmetic_scale(o);
    case PRODUCT:
        return arithmetic_scale(o) * given;
    case BY_DIVIDEND:
        return arithmetic_scale(o) / given;
    case BY_DIVISOR:
        return -kept / given;
    case SHARED:
        return arithmetic_scale(o) * kept;
    case REST:
        return arithmetic_scale(o) * (1 - kept);
    case BY_BASE:
        return arithmetic_scale(o) * times(y, pow(kept, y - 1));
    case BY_EXPONENT:
        return kept == 0 && y >= 0 ? 0 : arithmetic_scale(o) * times(pow(kept, y), log(kept));
    }
    return 0;
}

static double reference_term(const struct reference *r, uint32_t n, uint32_t k, int32_t Y,
                             int32_t X)
{
    const struct tensor *g = &r->images[GRADIENT];
    const double *mask = r->vectors[G_MASK];
    double rate = rate_at(r, n, k, Y, X), value = tensor_get(g, n, k, Y, X);
    if (!mask)
        return value * rate;
    bool within = bits_of(mask[slice_index(g, n, k, Y, X)], k % 4, 1);
    return times(within ? value : 0, rate);
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *g = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    for (uint32_t n = 0; n < g->images; n++)
        for (uint32_t k = 0; k < g->channels; k++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    int32_t at[2];
                    if (pointwise_target(r->operation, to, to, Y, X, at))
                        *tensor_at(to, n, k * w->channel_stride, at[0], at[1]) +=
                            reference_term(r, n, k, Y, X);
                }
}

#define STRIDES(WHICH, X, Y, C)                                                                    \
    WHICH "_stride_in_pixels_x=" #X " " WHICH "_stride_in_pixels_y=" #Y " " WHICH                  \
          "_stride_in_feature_channels=" #C

#define SCALES "primary_scale=0.75 secondary_scale=-1.25 bias=0.5 "
#define BOUNDS "minimum_value=-0.37 maximum_value=0.57 "

#define CASES(FILTER)                                                                              \
    {FILTER "", {1, 1, 3, 4}}, {FILTER SCALES, {2, 5, 4, 3}}, {FILTER BOUNDS, {2, 3, 5, 5}},       \
        {FILTER SCALES BOUNDS, {1, 9, 6, 7}},                                                      \
        {FILTER SCALES STRIDES("secondary", 0, 0, 1), {2, 6, 5, 7}, {2, 6, 1, 1}},                 \
        {FILTER SCALES BOUNDS STRIDES("secondary", 0, 0, 0), {3, 7, 4, 6}, {3, 1, 1, 1}},          \
        {FILTER SCALES STRIDES("secondary", 1, 1, 0), {2, 8, 3, 5}, {2, 1, 3, 5}},                 \
        {FILTER STRIDES("primary", 0, 1, 1), {2, 2, 6, 1}, {2, 2, 6, 9}},                          \
        {FILTER SCALES STRIDES("primary", 1, 0, 0), {1, 1, 1, 5}, {1, 10, 4, 5}},                  \
        {FILTER BOUNDS STRIDES("primary", 0, 1, 1) " " STRIDES("secondary", 1, 0, 1),              \
         {2, 4, 5, 1},                                                                             \
         {2, 4, 1, 6}},                                                                            \
        {FILTER STRIDES("secondary", 0, 0, 1) " secondary_offset_x=2 secondary_offset_y=1",        \
         {2, 3, 4, 5},                                                                             \
         {2, 3, 3, 4}},                                                                            \
        {FILTER BOUNDS "primary_edge_mode=clamp primary_offset_x=-2 secondary_edge_mode=clamp "    \
                       "secondary_offset_y=-1 destination_width=9 destination_height=6",           \
         {1, 6, 4, 5},                                                                             \
         {1, 6, 5, 6}},                                                                            \
        {FILTER SCALES BOUNDS "clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "  \
                              "clip_rect_size_height=2",                                           \
         {2, 6, 6, 7}},                                                                            \
        {FILTER "clip_rect_origin_x=1 clip_rect_size_height=3 " STRIDES("secondary", 0, 0, 0),     \
         {2, 3, 5, 6},                                                                             \
         {2, 5, 2, 2}},                                                                            \
        {FILTER BOUNDS "primary_source_feature_channel_offset=4 "                                  \
                       "primary_source_feature_channel_max_count=3",                               \
         {2, 9, 4, 4},                                                                             \
         {2, 3, 4, 4}},                                                                            \
    {                                                                                              \
        FILTER SCALES                                                                              \
            "secondary_edge_mode=clamp secondary_offset_x=9 secondary_offset_y=-3 " STRIDES(       \
                "secondary", 0, 0, 1),                                                             \
            {1, 4, 3, 3},                                                                          \
        {                                                                                          \
            1, 4, 2, 2                                                                             \
        }                                                                                          \
    }

/* Reads outside a source: 0, or for a divisor the nearest pixel. */
#define OUTSIDE_CASES(FILTER)                                                                      \
    {FILTER SCALES "primary_offset_x=1 primary_offset_y=-1 secondary_offset_x=-1 "                 \
                   "secondary_offset_y=2 destination_width=7 destination_height=6",                \
     {2, 5, 6, 6},                                                                                 \
     {2, 5, 8, 7}},                                                                                \
    {                                                                                              \
        FILTER STRIDES("secondary", 0, 1, 1) " secondary_offset_x=-1", {1, 2, 3, 4},               \
        {                                                                                          \
            1, 2, 3, 1                                                                             \
        }                                                                                          \
    }

#define DIVISOR_CASES(FILTER)                                                                      \
    {                                                                                              \
        FILTER SCALES "primary_offset_x=1 primary_offset_y=-1 secondary_offset_x=-1 "              \
                      "secondary_edge_mode=clamp destination_width=7 destination_height=6",        \
            {2, 5, 6, 6},                                                                          \
        {                                                                                          \
            2, 5, 8, 7                                                                             \
        }                                                                                          \
    }

#define LARGE_CASES(FILTER)                                                                        \
    {FILTER SCALES STRIDES("secondary", 0, 0, 1), {3, 37, 61, 83}, {3, 37, 1, 1}, true},           \
        {FILTER BOUNDS STRIDES("secondary", 0, 1, 0), {2, 130, 9, 71}, {2, 1, 9, 1}, true},        \
    {                                                                                              \
        FILTER BOUNDS, {9, 37, 14, 13}, {0}, true                                                  \
    }

static const struct check_case forward_cases[] = {
    CASES(""), OUTSIDE_CASES(""), LARGE_CASES(""), {0}};
static const struct check_case divide_cases[] = {
    CASES(""), DIVISOR_CASES(""), LARGE_CASES(""), {0}};

#define BY_SECONDARY "is_secondary_source_filter=1 "

static const struct check_case gradient_cases[] = {CASES(""),
                                                   OUTSIDE_CASES(""),
                                                   LARGE_CASES(""),
                                                   CASES(BY_SECONDARY),
                                                   OUTSIDE_CASES(BY_SECONDARY),
                                                   LARGE_CASES(BY_SECONDARY),
                                                   {0}};
static const struct check_case divide_gradient_cases[] = {CASES(""),
                                                          DIVISOR_CASES(""),
                                                          LARGE_CASES(""),
                                                          CASES(BY_SECONDARY),
                                                          DIVISOR_CASES(BY_SECONDARY),
                                                          LARGE_CASES(BY_SECONDARY),
                                                          {0}};

/* Sources that differ where they are equally drawn, and no result on a bound: neither has a
 * difference quotient. */
#define UNEQUAL "secondary_scale=0.875 bias=0.0625 "

static const struct check_case extreme_cases[] = {
    CASES(UNEQUAL), OUTSIDE_CASES(UNEQUAL), LARGE_CASES(UNEQUAL), {0}};
static const struct check_case extreme_gradient_cases[] = {CASES(UNEQUAL),
                                                           OUTSIDE_CASES(UNEQUAL),
                                                           LARGE_CASES(UNEQUAL),
                                                           CASES(UNEQUAL BY_SECONDARY),
                                                           OUTSIDE_CASES(UNEQUAL BY_SECONDARY),
                                                           LARGE_CASES(UNEQUAL BY_SECONDARY),
                                                           {0}};

/* Nothing is read outside of a base, where it would be 0. */
static const struct check_case power_cases[] = {CASES(""), LARGE_CASES(""), {0}};
static const struct check_case power_gradient_cases[] = {
    CASES(""), LARGE_CASES(""), CASES(BY_SECONDARY), LARGE_CASES(BY_SECONDARY), {0}};

const struct glcnn_reference glcnn_reference_add = {reference, forward_cases};
const struct glcnn_reference glcnn_reference_add_gradient = {gradient_reference, gradient_cases};
const struct glcnn_reference glcnn_reference_divide = {reference, divide_cases};
const struct glcnn_reference glcnn_reference_divide_gradient = {gradient_reference,
                                                                divide_gradient_cases};
const struct glcnn_reference glcnn_reference_maximum = {reference, extreme_cases};
const struct glcnn_reference glcnn_reference_maximum_gradient = {gradient_reference,
                                                                 extreme_gradient_cases};
const struct glcnn_reference glcnn_reference_minimum = {reference, extreme_cases};
const struct glcnn_reference glcnn_reference_minimum_gradient = {gradient_reference,
                                                                 extreme_gradient_cases};
const struct glcnn_reference glcnn_reference_multiply = {reference, forward_cases};
const struct glcnn_reference glcnn_reference_multiply_gradient = {gradient_reference,
                                                                  gradient_cases};
const struct glcnn_reference glcnn_reference_power = {reference, power_cases};
const struct glcnn_reference glcnn_reference_power_gradient = {gradient_reference,
                                                               power_gradient_cases};
const struct glcnn_reference glcnn_reference_subtract = {reference, forward_cases};
const struct glcnn_reference glcnn_reference_subtract_gradient = {gradient_reference,
                                                                  gradient_cases};
