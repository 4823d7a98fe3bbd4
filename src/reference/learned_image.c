/* Learned images and their gradient: spec 7.24. */
#include "kernels/learned_image.h"

#include "reference/reference.h"

/* Of a pixel's channel, in an image of the size of `like`. */
static size_t number_of(const struct tensor *like, uint32_t c, int32_t y, int32_t x)
{
    return ((size_t)y * like->width + (size_t)x) * like->channels + c;
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) = r->vectors[VALUES][number_of(to, c, Y, X)];
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    if (to->data && learned_image_wants(r->operation, GLCNN_GRADIENT_OPTION_DATA))
        for (size_t i = 0; i < (size_t)to->images * to->channels * to->height * to->width; i++)
            to->data[i] = 0;
    if (!learned_image_wants(r->operation, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        return;
    for (uint32_t n = 0; n < from->images; n++)
        for (uint32_t c = 0; c < from->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    r->vectors[FOR_VALUES][number_of(from, c, Y, X)] +=
                        tensor_get(from, n, c, Y, X);
}

/* clang-format off */
#define CASES                                                                                      \
    {"", {1, 1, 1, 1}},                                                                            \
    {"width=3 height=2 feature_channels=2", {2, 3, 4, 5}},                                         \
    {"width=5 height=4 feature_channels=3", {3, 1, 1, 1}},                                         \
    {"width=4 height=3 feature_channels=4", {1, 2, 6, 2}},                                         \
    {"width=1 height=1 feature_channels=7", {5, 3, 7, 7}},                                         \
    {"width=1 height=9 feature_channels=5", {4, 8, 2, 1}},                                         \
    {"width=7 height=1 feature_channels=16", {2, 5, 3, 3}},                                        \
    {"width=2 height=2 feature_channels=70", {33, 1, 2, 2}},                                       \
    {"width=3 height=2 feature_channels=5", {70, 2, 1, 3}},                                        \
    {"width=5 height=4 feature_channels=6 clip_rect_origin_x=1 clip_rect_origin_y=2 "              \
     "clip_rect_size_width=3 clip_rect_size_height=1", {2, 3, 3, 3}},                              \
    {"width=4 height=5 feature_channels=3 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1", \
     {4, 2, 3, 3}},                                                                                \
    {"width=3 height=3 feature_channels=5 source_feature_channel_offset=4", {2, 9, 2, 2}},         \
    {"width=3 height=2 feature_channels=6 destination_feature_channel_offset=4", {2, 3, 2, 2}},    \
    {"width=28 height=27 feature_channels=37", {8, 3, 5, 5}, {0}, true},                           \
    {"width=3 height=2 feature_channels=9", {700, 1, 1, 1}, {0}, true}
/* clang-format on */

static const struct check_case cases[] = {CASES, {0}};
static const struct check_case gradient_cases[] = {
    CASES,
    {"width=3 height=4 feature_channels=5 gradient_option=data", {3, 6, 4, 2}},
    {"width=3 height=4 feature_channels=5 gradient_option=weights_and_biases", {3, 6, 4, 2}},
    {0}};

const struct glcnn_reference glcnn_reference_learned_image = {reference, cases};
const struct glcnn_reference glcnn_reference_learned_image_gradient = {gradient_reference,
                                                                       gradient_cases};
