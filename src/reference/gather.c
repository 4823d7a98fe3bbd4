/* Numbers by constant indices: spec 7.25. */
#include "kernels/gather.h"

#include "reference/reference.h"

#include <math.h>

/* Of an image, counted channels first. */
static size_t number_of(const struct tensor *t, uint32_t c, int32_t y, int32_t x)
{
    return ((size_t)c * t->height + (size_t)y) * t->width + (size_t)x;
}

/* Where image n has number `index`; NULL: nowhere. */
static double *number_at(const struct tensor *t, uint32_t n, double index)
{
    size_t count = (size_t)t->channels * t->height * t->width;
    return index >= 0 && index < (double)count ? t->data + n * count + (size_t)index : NULL;
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[ELEMENT_SOURCE], *to = &r->images[ELEMENT_RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    const double *read =
                        number_at(from, n, r->vectors[GATHER_INDICES][number_of(to, c, Y, X)]);
                    *tensor_at(to, n, c, Y, X) = read ? *read : NAN;
                }
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *g = &r->images[ELEMENT_GRADIENT], *to = &r->images[ELEMENT_DESTINATION];
    const double *indices = r->vectors[GATHER_GRADIENT_INDICES];
    for (uint32_t n = 0; n < g->images; n++)
        for (uint32_t c = 0; c < g->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double *read =
                        indices ? number_at(to, n, indices[number_of(g, c, Y, X)]) : NULL;
                    if (read)
                        *read += tensor_get(g, n, c, Y, X);
                }
}

static const struct check_case cases[] = {
    /* One number, the defaults. */
    {"", {2, 3, 4, 5}},
    /* As many numbers as there are, fewer, and more. */
    {"feature_channels=3 height=4 width=5", {2, 3, 4, 5}},
    {"feature_channels=2 height=3 width=2", {2, 5, 4, 3}},
    {"feature_channels=9 height=7 width=5", {1, 2, 3, 2}},
    /* A single number that all read. */
    {"feature_channels=5 height=6 width=7", {3, 1, 1, 1}},
    /* Channels alone, and those of slices. */
    {"feature_channels=8", {2, 8, 1, 1}},
    {"feature_channels=70 height=1 width=2", {1, 13, 1, 1}},
    {"feature_channels=16 height=2 width=2", {2, 4, 4, 4}},
    /* Rows of a table: relative positions of 4 by 4 tokens and 3 heads. */
    {"feature_channels=3 height=16 width=16", {1, 3, 1, 49}},
    {"feature_channels=3 height=16 width=16", {2, 49, 1, 3}},
    {"feature_channels=1 height=1 width=64", {5, 1, 64, 1}},
    /* Parts of the result, of images and of channels. */
    {"feature_channels=4 height=5 width=3 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=2 clip_rect_size_height=2",
     {2, 5, 3, 4}},
    {"feature_channels=5 height=4 width=3 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1",
     {4, 2, 3, 3}},
    {"feature_channels=4 height=3 width=3 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"feature_channels=6 height=2 width=5 destination_feature_channel_offset=4", {1, 3, 2, 5}},
    /* Large. */
    {"feature_channels=12 height=49 width=49", {1, 12, 1, 169}, {0}, true},
    {"feature_channels=37 height=28 width=27", {3, 27, 28, 37}, {0}, true},
    /* Beyond what floats divide. */
    {"feature_channels=66 height=256 width=256", {1, 70, 256, 256}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_gather = {reference, cases};
const struct glcnn_reference glcnn_reference_gather_gradient = {gradient_reference, cases};
