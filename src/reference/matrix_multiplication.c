/* Products of matrices and their gradients: spec 7.21. */
#include "kernels/matrix_multiplication.h"

#include "reference/reference.h"

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *a = &r->images[ELEMENT_SOURCE], *b = &r->images[SECONDARY];
    const struct tensor *to = &r->images[ELEMENT_RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t y = w->y.begin; y < w->y.end; y++)
                for (int32_t x = w->x.begin; x < w->x.end; x++)
                    for (int32_t k = 0; k < (int32_t)a->width; k++)
                        *tensor_at(to, n, c, y, x) +=
                            *tensor_at(a, n, c, y, k) * *tensor_at(b, n, c, k, x);
}

/* What G(y, x) adds by the chain rule. */
static void add_term(const struct reference *r, uint32_t n, struct element at)
{
    const struct tensor *given = &r->images[ELEMENT_IMAGE], *to = &r->images[ELEMENT_DESTINATION];
    uint32_t c = (uint32_t)at.c;
    bool secondary = matrix_multiplication_by_secondary(r->operation->parameters);
    double g = *tensor_at(&r->images[ELEMENT_GRADIENT], n, c, at.y, at.x);
    for (int32_t k = 0; k < (int32_t)(secondary ? to->height : to->width); k++)
        if (secondary)
            *tensor_at(to, n, c, k, at.x) += g * *tensor_at(given, n, c, at.y, k);
        else
            *tensor_at(to, n, c, at.y, k) += g * *tensor_at(given, n, c, k, at.x);
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *g = &r->images[ELEMENT_GRADIENT];
    struct element at;
    for (uint32_t n = 0; n < g->images; n++)
        for (at.c = 0; at.c < (int32_t)g->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    add_term(r, n, at);
}

#define CASES(FILTER)                                                                              \
    {FILTER "", {1, 1, 3, 4}, {1, 1, 4, 5}}, {FILTER "", {2, 3, 2, 5}, {2, 3, 5, 3}},              \
        {FILTER "", {1, 4, 6, 1}, {1, 4, 1, 7}}, {FILTER "", {3, 5, 1, 8}, {3, 5, 8, 1}},          \
        {FILTER "", {2, 9, 4, 4}, {2, 9, 4, 4}}, {FILTER "", {1, 2, 5, 70}, {1, 2, 70, 6}},        \
        {FILTER "", {1, 6, 1, 1}, {1, 6, 1, 1}},                                                   \
        {FILTER "clip_rect_origin_x=1 clip_rect_origin_y=1 clip_rect_size_width=3 "                \
                "clip_rect_size_height=2",                                                         \
         {2, 3, 4, 3},                                                                             \
         {2, 3, 3, 5}},                                                                            \
        {FILTER "primary_source_feature_channel_offset=4 "                                         \
                "primary_source_feature_channel_max_count=3",                                      \
         {2, 9, 2, 4},                                                                             \
         {2, 3, 4, 3}},                                                                            \
        {FILTER "destination_feature_channel_offset=4", {1, 3, 2, 3}, {1, 3, 3, 2}},               \
        {FILTER "clip_rect_origin_x=1 clip_rect_origin_y=2", {1, 2, 35, 19}, {1, 2, 19, 67}},      \
    {                                                                                              \
        FILTER "", {2, 8, 49, 300}, {2, 8, 300, 33}, true                                          \
    }

static const struct check_case cases[] = {CASES(""), {0}};
static const struct check_case gradient_cases[] = {
    CASES(""), CASES("is_secondary_source_filter=1 "), {0}};

const struct glcnn_reference glcnn_reference_matrix_multiplication = {reference, cases};
const struct glcnn_reference glcnn_reference_matrix_multiplication_gradient = {gradient_reference,
                                                                               gradient_cases};
