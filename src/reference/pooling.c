/* Pooling and its gradients: spec 7.1. Every window hands its gradient to the pixels that it read. */
#include "kernels/pooling.h"

#include <math.h>

#include "kernels/numbers.h"
#include "reference/reference.h"

/* Calls `visit` for every channel and window of the forward kernel. */
typedef void (*visit_window)(const struct reference *r, uint32_t n, uint32_t c, int32_t Y,
                             int32_t X);

static void for_each_window(const struct reference *r, const struct tensor *over,
                            visit_window visit)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < over->images; n++)
        for (uint32_t c = 0; c < over->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    visit(r, n, c, Y, X);
}

/* Position that tap (q, p) of window (Y, X) reads; false: an outside zero. */
static bool tap(const struct reference *r, const struct tensor *source, int32_t Y, int32_t X,
                int32_t q, int32_t p, int32_t at[2])
{
    const struct window *w = &r->operation->window;
    at[0] = axis_tap(&w->y, w->edge_mode, (int32_t)source->height, Y, q);
    at[1] = axis_tap(&w->x, w->edge_mode, (int32_t)source->width, X, p);
    return at[0] >= 0 && at[1] >= 0;
}

/* Adds to the gradient of source pixel (y, x). */
static void add(const struct reference *r, uint32_t n, uint32_t c, int32_t y, int32_t x, double v)
{
    const struct tensor *to = &r->images[DESTINATION];
    y -= r->operation->window.y.shift;
    x -= r->operation->window.x.shift;
    if (y >= 0 && x >= 0 && y < (int32_t)to->height && x < (int32_t)to->width)
        *tensor_at(to, n, c, y, x) += v;
}

static int32_t counted(const struct axis *axis, int32_t size, int32_t X, int32_t pad)
{
    int32_t count = 0;
    for (int32_t p = 0; p < axis->size; p++) {
        int32_t t = axis->first + axis->stride * X + axis->dilation * p;
        count += t >= -pad && t <= size - 1 + pad;
    }
    return count;
}

static double average_count(const struct reference *r, const struct tensor *source, int32_t Y,
                            int32_t X)
{
    const struct window *w = &r->operation->window;
    int32_t pad[2];
    if (pooling_counts_whole_window(r->operation))
        return (double)w->x.size * w->y.size;
    pooling_counted_padding(r->operation, pad);
    return (double)counted(&w->x, (int32_t)source->width, X, pad[0]) *
           counted(&w->y, (int32_t)source->height, Y, pad[1]);
}

/* Averages never repeat edge pixels: taps outside are left out whatever the edge mode. */
static bool average_tap(const struct reference *r, const struct tensor *source, int32_t Y,
                        int32_t X, int32_t q, int32_t p, int32_t at[2])
{
    const struct window *w = &r->operation->window;
    at[0] = axis_tap(&w->y, GLCNN_EDGE_MODE_ZERO, (int32_t)source->height, Y, q);
    at[1] = axis_tap(&w->x, GLCNN_EDGE_MODE_ZERO, (int32_t)source->width, X, p);
    return at[0] >= 0 && at[1] >= 0;
}

static void average_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct tensor *source = &r->images[SOURCE];
    const struct window *w = &r->operation->window;
    double sum = 0, count = average_count(r, source, Y, X);
    int32_t at[2];
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            if (average_tap(r, source, Y, X, q, p, at))
                sum += *tensor_at(source, n, c, at[0], at[1]);
    *tensor_at(&r->images[RESULT], n, c, Y, X) = count > 0 ? sum / count : 0;
}

static void average_gradient_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y,
                                    int32_t X)
{
    const struct tensor *source = &r->images[IMAGE];
    const struct window *w = &r->operation->window;
    double count = average_count(r, source, Y, X);
    double g = tensor_get(&r->images[GRADIENT], n, c, Y, X);
    int32_t at[2];
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            if (count > 0 && average_tap(r, source, Y, X, q, p, at))
                add(r, n, c, at[0], at[1], g / count);
}

static double l2_norm(const struct reference *r, const struct tensor *source, uint32_t n,
                      uint32_t c, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    double sum = 0;
    int32_t at[2];
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            if (tap(r, source, Y, X, q, p, at))
                sum += pow(*tensor_at(source, n, c, at[0], at[1]), 2);
    return sqrt(sum);
}

static void l2_norm_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    *tensor_at(&r->images[RESULT], n, c, Y, X) = l2_norm(r, &r->images[SOURCE], n, c, Y, X);
}

static void l2_norm_gradient_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y,
                                    int32_t X)
{
    const struct tensor *source = &r->images[IMAGE];
    const struct window *w = &r->operation->window;
    double norm = l2_norm(r, source, n, c, Y, X);
    double g = tensor_get(&r->images[GRADIENT], n, c, Y, X);
    int32_t at[2];
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            if (norm != 0 && tap(r, source, Y, X, q, p, at))
                add(r, n, c, at[0], at[1], g * *tensor_at(source, n, c, at[0], at[1]) / norm);
}

struct argmax {
    double value;
    int32_t y, x;        /* pixel; -1: outside */
    int32_t row, column; /* of the window: the tap that reads that pixel */
};

static struct argmax tap_of(const struct reference *r, const struct tensor *source, uint32_t n,
                            uint32_t c, int32_t Y, int32_t X, int32_t q, int32_t p)
{
    const struct axis *x = &r->operation->window.x, *y = &r->operation->window.y;
    int32_t at[2];
    if (!tap(r, source, Y, X, q, p, at))
        return (struct argmax){0, -1, -1, q, p};
    return (struct argmax){*tensor_at(source, n, c, at[0], at[1]), at[0], at[1],
                           (at[0] - y->first - y->stride * Y) / y->dilation,
                           (at[1] - x->first - x->stride * X) / x->dilation};
}

static struct argmax largest(const struct reference *r, const struct tensor *source, uint32_t n,
                             uint32_t c, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    struct argmax best = tap_of(r, source, n, c, Y, X, 0, 0);
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++) {
            struct argmax other = tap_of(r, source, n, c, Y, X, q, p);
            if (other.value > best.value || (isnan(other.value) && !isnan(best.value)))
                best = other;
        }
    return best;
}

/* The element of a result's channel. */
static size_t index_element(const struct tensor *result, uint32_t image, uint32_t channel,
                            int32_t y, int32_t x)
{
    size_t slice = (size_t)image * slice_count(result->channels) + channel / 4;
    return (slice * result->height + (size_t)y) * result->width + (size_t)x;
}

/* What its largest tap, at that row and column of the window, adds to it. */
static double index_number(uint32_t channel, int32_t row, int32_t column)
{
    return ldexp(row * POOLING_INDEX_SIDE + column, 6 * (int)(channel % 4));
}

/* The row and column again, of an element. */
static void index_place(double indices, uint32_t channel, int32_t *row, int32_t *column)
{
    int32_t place = bits_of(indices, 6 * (channel % 4), 6);
    *row = place / POOLING_INDEX_SIDE;
    *column = place % POOLING_INDEX_SIDE;
}

static void keep_index(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X,
                       const struct argmax *argmax)
{
    if (r->vectors[INDICES])
        r->vectors[INDICES][index_element(&r->images[RESULT], n, c, Y, X)] +=
            index_number(c, argmax->row, argmax->column);
}

/* All taps of the channels that a last slice is filled up with are 0: the first is taken. */
static void max_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct tensor *result = &r->images[RESULT], *source = &r->images[SOURCE];
    const struct argmax best = largest(r, source, n, c, Y, X);
    const struct argmax first = tap_of(r, source, n, c, Y, X, 0, 0);
    *tensor_at(result, n, c, Y, X) = best.value;
    keep_index(r, n, c, Y, X, &best);
    for (uint32_t more = c + 1; c + 1 == result->channels && more % 4 != 0; more++)
        keep_index(r, n, more, Y, X, &first);
}

/* By what the state keeps: then the source is not read, and may be another by now. */
static struct argmax kept_argmax(const struct reference *r, uint32_t n, uint32_t c, int32_t Y,
                                 int32_t X)
{
    const struct axis *x = &r->operation->window.x, *y = &r->operation->window.y;
    const struct tensor *source = &r->images[IMAGE];
    size_t at = index_element(&r->images[GRADIENT], n, c, Y, X);
    struct argmax argmax = {.value = 0};
    index_place(r->vectors[GRADIENT_INDICES][at], c, &argmax.row, &argmax.column);
    argmax.y = y->first + y->stride * Y + y->dilation * argmax.row;
    argmax.x = x->first + x->stride * X + x->dilation * argmax.column;
    if (argmax.x < 0 || argmax.x >= (int32_t)source->width || argmax.y >= (int32_t)source->height)
        argmax.y = -1;
    return argmax;
}

static void max_gradient_window(const struct reference *r, uint32_t n, uint32_t c, int32_t Y,
                                int32_t X)
{
    struct argmax best = r->vectors[GRADIENT_INDICES] ? kept_argmax(r, n, c, Y, X)
                                                      : largest(r, &r->images[IMAGE], n, c, Y, X);
    if (best.y >= 0)
        add(r, n, c, best.y, best.x, tensor_get(&r->images[GRADIENT], n, c, Y, X));
}

static void average_reference(const struct reference *r)
{
    for_each_window(r, &r->images[RESULT], average_window);
}

static void average_gradient_reference(const struct reference *r)
{
    for_each_window(r, &r->images[DESTINATION], average_gradient_window);
}

static void l2_norm_reference(const struct reference *r)
{
    for_each_window(r, &r->images[RESULT], l2_norm_window);
}

static void l2_norm_gradient_reference(const struct reference *r)
{
    for_each_window(r, &r->images[DESTINATION], l2_norm_gradient_window);
}

static void max_reference(const struct reference *r)
{
    for_each_window(r, &r->images[RESULT], max_window);
}

static void max_gradient_reference(const struct reference *r)
{
    for_each_window(r, &r->images[DESTINATION], max_gradient_window);
}

#define WINDOW_CASES                                                                               \
    {"kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2", {2, 5, 6, 8}},    \
        {"kernel_width=3 kernel_height=3", {1, 1, 5, 5}},                                          \
        {"kernel_width=3 kernel_height=2 stride_in_pixels_x=2 edge_mode=clamp", {3, 2, 7, 9}},     \
        {"kernel_width=4 kernel_height=5 offset_x=-2 offset_y=3 destination_width=7 "              \
         "destination_height=6",                                                                   \
         {2, 3, 8, 6}},                                                                            \
        {"kernel_width=5 kernel_height=3 edge_mode=clamp offset_x=4 offset_y=-1 "                  \
         "destination_width=9 destination_height=4",                                               \
         {1, 7, 5, 6}},                                                                            \
        {"kernel_width=2 kernel_height=2 stride_in_pixels_x=5 stride_in_pixels_y=3 padding=full",  \
         {2, 9, 11, 13}},                                                                          \
        {"kernel_width=3 kernel_height=3 padding=valid align=top_left", {1, 4, 9, 7}},             \
        {"kernel_width=3 kernel_height=3 clip_rect_origin_x=1 clip_rect_origin_y=2 "               \
         "clip_rect_size_width=3 clip_rect_size_height=2 edge_mode=clamp",                         \
         {2, 6, 6, 7}},                                                                            \
        {"kernel_width=3 kernel_height=3 source_feature_channel_offset=4 "                         \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 5, 4}},                                                                            \
        {"kernel_width=1 kernel_height=7 edge_mode=clamp", {1, 5, 3, 3}},                          \
        {"kernel_width=2 kernel_height=3 stride_in_pixels_x=2 stride_in_pixels_y=3 padding=valid", \
         {2, 6, 8, 9}},                                                                            \
        {"kernel_width=3 kernel_height=2 stride_in_pixels_x=3 stride_in_pixels_y=2 offset_x=2 "    \
         "offset_y=2 destination_width=2 destination_height=2",                                    \
         {1, 5, 8, 9}},                                                                            \
        {"kernel_width=9 kernel_height=11 padding=valid edge_mode=clamp", {2, 5, 11, 9}},          \
        {"kernel_width=7 kernel_height=7 padding=valid edge_mode=clamp", {1, 6, 7, 7}},            \
        {"kernel_width=75 kernel_height=90 padding=valid edge_mode=clamp",                         \
         {2, 6, 90, 75},                                                                           \
         {0},                                                                                      \
         true},                                                                                    \
        {"kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2",               \
         {9, 125, 6, 7},                                                                           \
         {0},                                                                                      \
         true},                                                                                    \
    {                                                                                              \
        "kernel_width=3 kernel_height=3 stride_in_pixels_x=2 stride_in_pixels_y=2",                \
            {16, 37, 28, 28}, {0}, true                                                            \
    }

static const struct check_case window_cases[] = {WINDOW_CASES, {0}};

static const struct check_case average_cases[] = {
    WINDOW_CASES,
    {"kernel_width=3 kernel_height=3 edge_mode=clamp zero_pad_size_x=1 zero_pad_size_y=2",
     {2, 4, 6, 5}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp zero_pad_size_x=1 offset_x=-6 "
     "destination_width=3 destination_height=3",
     {1, 2, 4, 4}},
    {"kernel_width=3 kernel_height=3 stride_in_pixels_x=2 padding=same exclude_edges=1",
     {1, 5, 6, 6}},
    {0}};

static const struct check_case dilated_cases[] = {
    WINDOW_CASES,
    {"kernel_width=2 kernel_height=3 dilation_rate_x=3 dilation_rate_y=2", {2, 3, 9, 8}},
    {"kernel_width=3 kernel_height=3 dilation_rate_x=2 dilation_rate_y=2 edge_mode=clamp "
     "stride_in_pixels_x=2",
     {1, 5, 8, 9}},
    {0}};

const struct glcnn_reference glcnn_reference_dilated_pooling_max = {max_reference, dilated_cases};
const struct glcnn_reference glcnn_reference_dilated_pooling_max_gradient = {max_gradient_reference,
                                                                             dilated_cases};
const struct glcnn_reference glcnn_reference_pooling_average = {average_reference, average_cases};
const struct glcnn_reference glcnn_reference_pooling_average_gradient = {average_gradient_reference,
                                                                         average_cases};
const struct glcnn_reference glcnn_reference_pooling_l2_norm = {l2_norm_reference, window_cases};
const struct glcnn_reference glcnn_reference_pooling_l2_norm_gradient = {l2_norm_gradient_reference,
                                                                         window_cases};
const struct glcnn_reference glcnn_reference_pooling_max = {max_reference, window_cases};
const struct glcnn_reference glcnn_reference_pooling_max_gradient = {max_gradient_reference,
                                                                     window_cases};
