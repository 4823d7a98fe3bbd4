/* Regions of images, resized, and their gradients: spec 7.26. */
#include "kernels/crop_and_resize.h"

#include <math.h>

#include "reference/reference.h"

/* Column, row, width and height. */
struct crop {
    double at[4];
};

static struct crop crop_of(const struct reference *r, uint32_t n, uint32_t number)
{
    const struct operation *o = r->operation;
    bool gradient = operation_is_gradient(o);
    struct crop crop = {{0}};
    for (uint32_t k = 0; k < 4; k++) {
        if (!crop_has_region_image(o)) {
            const double *all = r->vectors[gradient ? CROP_GRADIENT_REGIONS : CROP_REGIONS];
            crop.at[k] = all ? all[4 * number + k] : 0;
            continue;
        }
        const struct tensor *all = &r->images[gradient ? CROP_GRADIENT_REGION_IMAGE : CROP_REGIONS];
        crop.at[k] =
            *tensor_at(all, n, k, (int32_t)(number / all->width), (int32_t)(number % all->width));
    }
    return crop;
}

/* Two source pixels of one axis and their shares, NaN where the position is; -1: outside, where it
 * is 0. */
struct blend {
    int32_t from[2];
    double share[2];
};

static int32_t pixel_of(double at, uint32_t size, bool clamp)
{
    double last = (double)size - 1;
    return at >= 0 && at <= last ? (int32_t)at : !clamp ? -1 : at < 0 ? 0 : (int32_t)last;
}

static struct blend blend_of(const struct operation *o, const struct crop *crop, int axis,
                             int32_t X, uint32_t results, uint32_t size)
{
    bool clamp = o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP;
    double share = results == 1 ? 0.5 : (double)X / (results - 1);
    double at = ((double)size - 1) * (crop->at[axis] + crop->at[axis + 2] * share);
    if (isnan(at))
        return (struct blend){{0, 0}, {NAN, NAN}};
    at = fmin(fmax(at, -2), (double)size + 1);
    double low = floor(at);
    return (struct blend){{pixel_of(low, size, clamp), pixel_of(low + 1, size, clamp)},
                          {low + 1 - at, at - low}};
}

/* Calls for each source pixel that result `at` of result image m reads; row -1: the pixel is 0. */
typedef void (*visit)(const struct reference *r, struct element at, uint32_t m, struct element from,
                      uint32_t n, double share);

static void visit_pixel(const struct reference *r, const struct tensor *source, struct element at,
                        uint32_t m, visit call)
{
    const struct operation *o = r->operation;
    const struct glcnn_crop_and_resize_parameters *p = o->parameters;
    uint32_t each = crop_region_count(o), n = m / each;
    struct crop crop = crop_of(r, n, m % each);
    struct blend x = blend_of(o, &crop, 0, at.x, p->resize_width, source->width);
    struct blend y = blend_of(o, &crop, 1, at.y, p->resize_height, source->height);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            if (y.share[j] != 0 && x.share[i] != 0) {
                bool inside = y.from[j] >= 0 && x.from[i] >= 0;
                call(r, at, m, (struct element){inside ? y.from[j] : -1, x.from[i], at.c}, n,
                     y.share[j] * x.share[i]);
            }
}

static void visit_all(const struct reference *r, const struct tensor *source,
                      const struct tensor *results, visit call)
{
    const struct window *w = &r->operation->window;
    struct element at;
    for (uint32_t m = 0; m < results->images; m++)
        for (at.c = 0; at.c < (int32_t)results->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    visit_pixel(r, source, at, m, call);
}

static void add_source(const struct reference *r, struct element at, uint32_t m,
                       struct element from, uint32_t n, double share)
{
    *tensor_at(&r->images[ELEMENT_RESULT], m, (uint32_t)at.c, at.y, at.x) +=
        share * tensor_get(&r->images[ELEMENT_SOURCE], n, (uint32_t)from.c, from.y, from.x);
}

/* No pixel has a NaN of a share. */
static void add_gradient(const struct reference *r, struct element at, uint32_t m,
                         struct element from, uint32_t n, double share)
{
    if (from.y >= 0 && !isnan(share))
        *tensor_at(&r->images[ELEMENT_DESTINATION], n, (uint32_t)from.c, from.y, from.x) +=
            share * *tensor_at(&r->images[ELEMENT_GRADIENT], m, (uint32_t)at.c, at.y, at.x);
}

static void reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_SOURCE], &r->images[ELEMENT_RESULT], add_source);
}

static void gradient_reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_DESTINATION], &r->images[ELEMENT_GRADIENT], add_gradient);
}

/* Regions are drawn in -1 .. 1: some mirror, and many lie partly outside. */
static const struct check_case vector_cases[] = {
    {"", {2, 3, 4, 5}},
    {"resize_width=7 resize_height=5 number_of_regions=3", {1, 3, 4, 6}},
    {"resize_width=2 resize_height=9 number_of_regions=4", {3, 5, 7, 3}},
    {"resize_width=3 resize_height=3 number_of_regions=5 edge_mode=clamp", {2, 4, 6, 8}},
    {"resize_width=1 resize_height=6 number_of_regions=2 edge_mode=clamp", {2, 9, 5, 4}},
    {"resize_width=6 resize_height=1 number_of_regions=7", {1, 2, 3, 4}},
    {"resize_width=4 resize_height=3 number_of_regions=3", {2, 3, 1, 1}},
    {"resize_width=4 resize_height=3 number_of_regions=3 edge_mode=clamp", {2, 3, 1, 7}},
    /* Parts of the result, of images, the last without all of its regions, and of channels. */
    {"resize_width=5 resize_height=6 number_of_regions=2 clip_rect_origin_x=1 "
     "clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 3, 5, 6}},
    {"resize_width=3 resize_height=2 number_of_regions=3 offset_z=1 clip_rect_size_depth=5",
     {4, 2, 4, 4}},
    {"resize_width=2 resize_height=3 number_of_regions=2 offset_z=1 clip_rect_origin_z=1",
     {3, 3, 4, 4}},
    {"resize_width=4 resize_height=4 number_of_regions=2 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"resize_width=3 resize_height=5 number_of_regions=2 destination_feature_channel_offset=4",
     {1, 3, 4, 4}},
    /* Large. */
    {"resize_width=14 resize_height=13 number_of_regions=24", {3, 37, 28, 27}, {0}, true},
    {"resize_width=61 resize_height=47 number_of_regions=3 edge_mode=clamp",
     {2, 5, 9, 11},
     {0},
     true},
    {0}};

static const struct check_case image_cases[] = {
    {"resize_width=3 resize_height=2", {2, 3, 4, 5}, {2, 4, 1, 1}},
    {"resize_width=5 resize_height=7", {1, 3, 4, 6}, {1, 4, 1, 3}},
    {"resize_width=4 resize_height=4 primary_edge_mode=clamp", {3, 6, 7, 5}, {3, 4, 2, 3}},
    {"resize_width=1 resize_height=1", {2, 2, 6, 8}, {2, 4, 4, 3}},
    {"resize_width=3 resize_height=3 secondary_source_feature_channel_offset=4 "
     "secondary_source_feature_channel_max_count=4",
     {2, 3, 5, 5},
     {2, 9, 2, 2}},
    {"resize_width=4 resize_height=3 primary_offset_z=1 secondary_offset_z=1 "
     "clip_rect_size_depth=5 clip_rect_origin_x=1 clip_rect_size_width=2",
     {4, 3, 5, 6},
     {4, 4, 3, 1}},
    {"resize_width=6 resize_height=1", {2, 5, 1, 9}, {2, 4, 3, 2}},
    {"resize_width=1 resize_height=8 primary_edge_mode=clamp", {1, 4, 10, 1}, {1, 4, 1, 6}},
    {"resize_width=2 resize_height=2", {3, 9, 1, 1}, {3, 4, 2, 1}},
    {"resize_width=13 resize_height=11 primary_edge_mode=clamp", {1, 2, 3, 4}, {1, 4, 1, 2}},
    {"resize_width=3 resize_height=4 primary_source_feature_channel_offset=4 "
     "primary_source_feature_channel_max_count=3",
     {2, 9, 4, 5},
     {2, 4, 2, 2}},
    {"resize_width=4 resize_height=2 destination_feature_channel_offset=8",
     {1, 6, 5, 4},
     {1, 4, 1, 3}},
    {"resize_width=2 resize_height=3 clip_rect_origin_z=3 clip_rect_origin_y=1",
     {4, 2, 6, 6},
     {4, 4, 1, 3}},
    {"resize_width=7 resize_height=7", {4, 33, 14, 14}, {4, 4, 5, 5}, true},
    {0}};

const struct glcnn_reference glcnn_reference_crop_and_resize_bilinear = {reference, vector_cases};
const struct glcnn_reference glcnn_reference_crop_and_resize_bilinear_gradient = {
    gradient_reference, vector_cases};
const struct glcnn_reference glcnn_reference_crop_and_resize_bilinear_regions = {reference,
                                                                                 image_cases};
const struct glcnn_reference glcnn_reference_crop_and_resize_bilinear_regions_gradient = {
    gradient_reference, image_cases};
