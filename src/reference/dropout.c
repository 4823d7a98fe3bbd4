/* Dropout and its gradient, by the mask that the kernel has drawn: spec 7.10. */
#include "kernels/dropout.h"

#include "kernels/numbers.h"
#include "reference/philox.h"
#include "reference/pointwise.h"

static double drawn(const struct operation *o, uint32_t image, size_t i)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    uint32_t counter[4] = {(uint32_t)(i / 4), image, o->encode_number, 0};
    philox(counter, p->seed);
    double u = (counter[i % 4] >> 8) / 16777216.0;
    return u < (double)p->keep_probability;
}

static double masked(const struct operation *o, const double *mask, double value, uint32_t n,
                     uint32_t c, int32_t y, int32_t x)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    struct extent e = dropout_mask_extent(o);
    size_t row = (size_t)y * p->mask_stride_in_pixels_y;
    size_t column = (size_t)x * p->mask_stride_in_pixels_x;
    size_t channel = c * p->mask_stride_in_feature_channels;
    size_t i = (row * e.width + column) * e.channels + channel;
    bool keeps = bits_of(mask[n * dropout_mask_words(o) + i / 16], i % 16, 1);
    return keeps ? value / (double)p->keep_probability : 0;
}

static void drop_result(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct operation *o = r->operation;
    const struct tensor *from = &r->images[SOURCE];
    int32_t y = axis_tap(&o->window.y, o->window.edge_mode, (int32_t)from->height, Y, 0);
    int32_t x = axis_tap(&o->window.x, o->window.edge_mode, (int32_t)from->width, X, 0);
    *tensor_at(&r->images[RESULT], n, c, Y, X) =
        y < 0 || x < 0 ? 0 : masked(o, r->vectors[MASK], *tensor_at(from, n, c, y, x), n, c, y, x);
}

static void dropout_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    size_t count = dropout_mask_length(r->operation), words = dropout_mask_words(r->operation);
    for (uint32_t n = 0; n < to->images; n++)
        for (size_t i = 0; i < count; i++)
            r->vectors[MASK][n * words + i / 16] += drawn(r->operation, n, i) * (1 << i % 16);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    drop_result(r, n, c, Y, X);
}

static void dropout_gradient_reference(const struct reference *r)
{
    const struct operation *o = r->operation;
    const struct tensor *source = &r->images[IMAGE], *to = &r->images[DESTINATION];
    pointwise_scatter(r, &r->images[GRADIENT], source, to, NULL);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t y = 0; y < (int32_t)to->height; y++)
                for (int32_t x = 0; x < (int32_t)to->width; x++) {
                    double *at = tensor_at(to, n, c, y, x);
                    int32_t of[2];
                    *at = pointwise_position(o, source, y, x, of)
                              ? masked(o, r->vectors[GRADIENT_MASK], *at, n, c, of[0], of[1])
                              : 0;
                }
}

static const struct check_case cases[] = {
    {"", {1, 1, 3, 3}},
    {"keep_probability=0.8 seed=42", {2, 2, 4, 5}},
    {"keep_probability=0.25 seed=9007199254740992", {1, 3, 7, 6}},
    {"seed=4294967296", {3, 4, 5, 5}},
    {"seed=1 mask_stride_in_pixels_x=0", {2, 5, 4, 7}},
    {"seed=2 mask_stride_in_pixels_y=0", {2, 6, 5, 3}},
    {"seed=3 mask_stride_in_feature_channels=0", {2, 7, 4, 4}},
    {"seed=4 mask_stride_in_pixels_x=0 mask_stride_in_pixels_y=0", {5, 8, 3, 4}},
    {"seed=5 mask_stride_in_pixels_x=0 mask_stride_in_pixels_y=0 "
     "mask_stride_in_feature_channels=0",
     {9, 9, 2, 3}},
    {"keep_probability=0.001 seed=6", {1, 9, 8, 8}},
    {"keep_probability=0.999 seed=7", {1, 6, 9, 8}},
    {"seed=8 offset_x=1 offset_y=-2 destination_width=6 destination_height=7", {2, 3, 5, 6}},
    {"seed=9 edge_mode=clamp offset_x=-3 offset_y=2 destination_width=9 destination_height=5",
     {2, 5, 4, 5}},
    {"seed=10 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"seed=11 source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 5, 4}},
    {"seed=12 mask_stride_in_feature_channels=0 source_feature_channel_offset=4", {2, 10, 5, 4}},
    {"keep_probability=1e-30 seed=16", {1, 16, 4, 4}},
    {"keep_probability=0.99999994 seed=17", {1, 16, 4, 4}},
    {"keep_probability=0.6 seed=14", {2, 16, 5, 3}},
    {"keep_probability=0.3 seed=15", {3, 48, 2, 4}},
    {"keep_probability=0.7 seed=13", {16, 37, 28, 28}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_dropout = {dropout_reference, cases};
const struct glcnn_reference glcnn_reference_dropout_gradient = {dropout_gradient_reference, cases};
