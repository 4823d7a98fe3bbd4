/* Up-sampling and its gradients: spec 7.12. */
#include "kernels/upsampling.h"

#include <math.h>

#include "reference/reference.h"

/* What one result column is made of: two source columns and the share of the second. */
struct blend {
    int32_t from[2];
    double share[2];
};

/* Source position of result X: the formulas of spec 7.12 as they stand there. */
typedef double (*position)(const struct glcnn_upsampling_parameters *p, double X, double factor,
                           double size);

static double bilinear_position(const struct glcnn_upsampling_parameters *p, double X,
                                double factor, double size)
{
    if (p->align_corners)
        return size * factor == 1 ? 0 : X * (size - 1) / (size * factor - 1);
    return p->asymmetric ? X / factor : fmax((X + 0.5) / factor - 0.5, 0);
}

static double nearest_position(const struct glcnn_upsampling_parameters *p, double X, double factor,
                               double size)
{
    (void)p;
    (void)size;
    return floor(X / factor);
}

/* False: outside, where zeros are read. */
static bool blend_of(const struct operation *o, position at, bool vertical, int32_t X,
                     struct blend *blend)
{
    struct mapping m[2];
    const struct glcnn_upsampling_parameters *p = o->parameters;
    upsampling_map(o, m);
    int32_t last = m[vertical].size - 1, U = X + m[vertical].base;
    int32_t inside = U < 0 ? 0 : U >= m[vertical].extent ? m[vertical].extent - 1 : U;
    if (inside != U && o->window.edge_mode == GLCNN_EDGE_MODE_ZERO)
        return false;
    double s = at(p, inside, vertical ? p->scale_factor_y : p->scale_factor_x, m[vertical].size);
    blend->from[0] = (int32_t)fmin(floor(s), last);
    blend->from[1] = blend->from[0] < last ? blend->from[0] + 1 : last;
    blend->share[1] = s - blend->from[0];
    blend->share[0] = 1 - blend->share[1];
    return true;
}

/* Calls for each of the four source pixels that a result pixel has a share of. */
typedef void (*visit_pixel)(const struct reference *r, uint32_t n, uint32_t c, const int32_t at[2],
                            const int32_t from[2], double share);

static void visit_one(const struct reference *r, uint32_t n, uint32_t c, const int32_t at[2],
                      position where, visit_pixel visit)
{
    struct blend row, column;
    if (!blend_of(r->operation, where, true, at[0], &row) ||
        !blend_of(r->operation, where, false, at[1], &column))
        return;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            if (row.share[j] != 0 && column.share[i] != 0)
                visit(r, n, c, at, (const int32_t[]){row.from[j], column.from[i]},
                      row.share[j] * column.share[i]);
}

static void visit_all(const struct reference *r, const struct tensor *over, position where,
                      visit_pixel visit)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < over->images; n++)
        for (uint32_t c = 0; c < over->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    visit_one(r, n, c, (const int32_t[]){Y, X}, where, visit);
}

static void add_source(const struct reference *r, uint32_t n, uint32_t c, const int32_t at[2],
                       const int32_t from[2], double share)
{
    *tensor_at(&r->images[RESULT], n, c, at[0], at[1]) +=
        share * *tensor_at(&r->images[SOURCE], n, c, from[0], from[1]);
}

static void add_gradient(const struct reference *r, uint32_t n, uint32_t c, const int32_t at[2],
                         const int32_t from[2], double share)
{
    const struct tensor *to = &r->images[DESTINATION];
    int32_t y = from[0] - r->operation->window.y.shift;
    int32_t x = from[1] - r->operation->window.x.shift;
    if (y >= 0 && x >= 0 && y < (int32_t)to->height && x < (int32_t)to->width)
        *tensor_at(to, n, c, y, x) += share * tensor_get(&r->images[GRADIENT], n, c, at[0], at[1]);
}

static void nearest_reference(const struct reference *r)
{
    visit_all(r, &r->images[RESULT], nearest_position, add_source);
}

static void nearest_gradient_reference(const struct reference *r)
{
    visit_all(r, &r->images[DESTINATION], nearest_position, add_gradient);
}

static void bilinear_reference(const struct reference *r)
{
    visit_all(r, &r->images[RESULT], bilinear_position, add_source);
}

static void bilinear_gradient_reference(const struct reference *r)
{
    visit_all(r, &r->images[DESTINATION], bilinear_position, add_gradient);
}

#define CASES                                                                                      \
    {"scale_factor_x=2 scale_factor_y=2", {2, 5, 4, 3}}, {"", {1, 3, 4, 5}},                       \
        {"scale_factor_x=3 scale_factor_y=1", {1, 1, 5, 4}},                                       \
        {"scale_factor_x=1 scale_factor_y=4", {3, 2, 3, 6}},                                       \
        {"scale_factor_x=2 scale_factor_y=3", {1, 4, 1, 7}},                                       \
        {"scale_factor_x=5 scale_factor_y=2", {2, 6, 3, 1}},                                       \
        {"scale_factor_x=7 scale_factor_y=7", {1, 7, 1, 1}},                                       \
        {"scale_factor_x=4 scale_factor_y=4", {1, 8, 3, 3}},                                       \
        {"scale_factor_x=2 scale_factor_y=2 offset_x=1 offset_y=-1 destination_width=7 "           \
         "destination_height=9",                                                                   \
         {2, 9, 4, 5}},                                                                            \
        {"scale_factor_x=3 scale_factor_y=2 offset_x=-2 offset_y=2 edge_mode=clamp "               \
         "destination_width=23 destination_height=8",                                              \
         {1, 6, 4, 5}},                                                                            \
        {"scale_factor_x=2 scale_factor_y=3 clip_rect_origin_x=1 clip_rect_origin_y=2 "            \
         "clip_rect_size_width=4 clip_rect_size_height=5",                                         \
         {2, 2, 3, 4}},                                                                            \
        {"scale_factor_x=3 scale_factor_y=3 clip_rect_origin_x=2 clip_rect_origin_y=1 "            \
         "offset_x=1 edge_mode=clamp",                                                             \
         {1, 5, 3, 3}},                                                                            \
        {"scale_factor_x=2 scale_factor_y=2 source_feature_channel_offset=4 "                      \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 3, 4}},                                                                            \
    {                                                                                              \
        "scale_factor_x=2 scale_factor_y=2", {9, 37, 14, 13}, {0}, true                            \
    }

#define POSITION_CASES                                                                             \
    {"align_corners=1 scale_factor_x=2 scale_factor_y=2", {2, 3, 4, 5}},                           \
        {"align_corners=1 scale_factor_x=3 scale_factor_y=5", {1, 5, 7, 2}},                       \
        {"align_corners=1 scale_factor_x=4 scale_factor_y=1", {2, 4, 1, 1}},                       \
        {"align_corners=1", {1, 2, 1, 6}},                                                         \
        {"align_corners=1 scale_factor_x=3 scale_factor_y=2 offset_x=-1 offset_y=1 "               \
         "edge_mode=clamp destination_width=17 destination_height=9",                              \
         {1, 6, 4, 4}},                                                                            \
        {"align_corners=1 scale_factor_x=2 scale_factor_y=2 offset_x=1 clip_rect_origin_x=2 "      \
         "clip_rect_size_height=3",                                                                \
         {1, 1, 4, 4}},                                                                            \
        {"asymmetric=1 scale_factor_x=2 scale_factor_y=3", {2, 5, 4, 3}},                          \
        {"asymmetric=1 scale_factor_x=4 scale_factor_y=2 offset_y=-1 edge_mode=clamp "             \
         "destination_width=9 destination_height=11",                                              \
         {1, 3, 4, 3}},                                                                            \
    {                                                                                              \
        "align_corners=1 scale_factor_x=3 scale_factor_y=2", {4, 33, 9, 11}, {0}, true             \
    }

static const struct check_case nearest_cases[] = {CASES, {0}};
static const struct check_case bilinear_cases[] = {CASES, POSITION_CASES, {0}};

const struct glcnn_reference glcnn_reference_upsampling_bilinear = {bilinear_reference,
                                                                    bilinear_cases};
const struct glcnn_reference glcnn_reference_upsampling_bilinear_gradient = {
    bilinear_gradient_reference, bilinear_cases};
const struct glcnn_reference glcnn_reference_upsampling_nearest = {nearest_reference,
                                                                   nearest_cases};
const struct glcnn_reference glcnn_reference_upsampling_nearest_gradient = {
    nearest_gradient_reference, nearest_cases};
