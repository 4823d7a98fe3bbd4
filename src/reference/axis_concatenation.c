/* Two images joined along an axis: spec 7.20. */
#include "kernels/axis_concatenation.h"

#include "reference/elements.h"

/* The place along the axis that is joined. */
static int32_t *along(struct element *at, const struct operation *o)
{
    const struct glcnn_axis_concatenation_parameters *p = o->parameters;
    int32_t *const places[] = {&at->c, &at->y, &at->x};
    return places[p->axis];
}

/* Of the source or, beyond it, of the secondary source. */
static double joined_at(const struct reference *r, uint32_t n, struct element at)
{
    const struct operation *o = r->operation;
    int32_t *place = along(&at, o);
    int32_t first = (int32_t)axis_concatenation_size(o, ELEMENT_SOURCE);
    bool second = *place >= first;
    if (second)
        *place -= first;
    return *tensor_at(&r->images[second ? SECONDARY : ELEMENT_SOURCE], n, (uint32_t)at.c, at.y,
                      at.x);
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[ELEMENT_RESULT];
    struct element at;
    for (uint32_t n = 0; n < to->images; n++)
        for (at.c = 0; at.c < (int32_t)to->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    *tensor_at(to, n, (uint32_t)at.c, at.y, at.x) = joined_at(r, n, at);
}

static bool part_of_source(const struct operation *o, struct element at, struct element *from)
{
    *from = at;
    int32_t *place = along(from, o);
    *place -= (int32_t)axis_concatenation_start(o);
    return *place >= 0 && *place < (int32_t)axis_concatenation_size(o, ELEMENT_IMAGE);
}

static void gradient_reference(const struct reference *r)
{
    elements_gradient_reference(r, part_of_source);
}

#define CASES(FILTER)                                                                              \
    {FILTER "", {1, 1, 3, 4}}, {FILTER "", {2, 3, 2, 4}, {2, 5, 2, 4}},                            \
        {FILTER "", {1, 4, 3, 2}, {1, 6, 3, 2}}, {FILTER "", {1, 9, 2, 2}, {1, 2, 2, 2}},          \
        {FILTER "axis=rows", {2, 5, 3, 4}, {2, 5, 2, 4}},                                          \
        {FILTER "axis=rows", {1, 3, 1, 6}, {1, 3, 4, 6}},                                          \
        {FILTER "axis=columns", {2, 6, 3, 4}, {2, 6, 3, 5}},                                       \
        {FILTER "axis=columns", {1, 2, 4, 7}, {1, 2, 4, 1}},                                       \
        {FILTER "clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_size_height=2",             \
         {2, 3, 4, 5},                                                                             \
         {2, 2, 4, 5}},                                                                            \
        {FILTER "axis=rows clip_rect_origin_y=2 clip_rect_size_height=3",                          \
         {1, 6, 4, 3},                                                                             \
         {1, 6, 3, 3}},                                                                            \
        {FILTER "primary_source_feature_channel_offset=4 "                                         \
                "primary_source_feature_channel_max_count=3",                                      \
         {2, 9, 3, 3},                                                                             \
         {2, 5, 3, 3}},                                                                            \
        {FILTER "destination_feature_channel_offset=4", {1, 3, 2, 3}, {1, 3, 2, 3}},               \
    {                                                                                              \
        FILTER "", {4, 37, 28, 27}, {4, 26, 28, 27}, true                                          \
    }

static const struct check_case cases[] = {CASES(""), {0}};
static const struct check_case gradient_cases[] = {
    CASES(""), CASES("is_secondary_source_filter=1 "), {0}};

const struct glcnn_reference glcnn_reference_axis_concatenation = {reference, cases};
const struct glcnn_reference glcnn_reference_axis_concatenation_gradient = {gradient_reference,
                                                                            gradient_cases};
