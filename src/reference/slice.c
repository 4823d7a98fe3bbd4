/* Slices, concatenations, reshapes and their gradients: spec 7.13. */
#include "kernels/slice.h"

#include "reference/pointwise.h"

static void copy_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) =
                        pointwise_source(w, &r->images[SOURCE], n, c, Y, X);
}

static void copy_gradient_reference(const struct reference *r)
{
    pointwise_scatter(r, &r->images[GRADIENT], &r->images[IMAGE], &r->images[DESTINATION], NULL);
}

/* Place of a number in the order row, column, channel, or with the channels first, and back. */
struct place {
    int32_t y, x;
    uint32_t c;
};

static size_t place_number(const struct operation *o, const struct tensor *t, struct place p)
{
    if (reshape_is_channels_first(o))
        return ((size_t)p.c * t->height + (size_t)p.y) * t->width + (size_t)p.x;
    return ((size_t)p.y * t->width + (size_t)p.x) * t->channels + p.c;
}

static struct place numbered_place(const struct operation *o, const struct tensor *t, size_t number)
{
    size_t pixel = number / t->channels, row = number / t->width;
    if (reshape_is_channels_first(o))
        return (struct place){(int32_t)(row % t->height), (int32_t)(number % t->width),
                              (uint32_t)(row / t->height)};
    return (struct place){(int32_t)(pixel / t->width), (int32_t)(pixel % t->width),
                          (uint32_t)(number % t->channels)};
}

static void reshape_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[SOURCE], *to = &r->images[RESULT];
    struct place p;
    for (uint32_t n = 0; n < to->images; n++)
        for (p.y = w->y.begin; p.y < w->y.end; p.y++)
            for (p.x = w->x.begin; p.x < w->x.end; p.x++)
                for (p.c = 0; p.c < to->channels; p.c++) {
                    struct place q =
                        numbered_place(r->operation, from, place_number(r->operation, to, p));
                    *tensor_at(to, n, p.c, p.y, p.x) = tensor_get(from, n, q.c, q.y, q.x);
                }
}

/* Each number of the gradient goes to where it came from. */
static void reshape_gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *from = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    struct place p;
    for (uint32_t n = 0; n < to->images; n++)
        for (p.y = w->y.begin; p.y < w->y.end; p.y++)
            for (p.x = w->x.begin; p.x < w->x.end; p.x++)
                for (p.c = 0; p.c < from->channels; p.c++) {
                    struct place q = numbered_place(r->operation, &r->images[IMAGE],
                                                    place_number(r->operation, from, p));
                    int32_t y = q.y - w->y.shift, x = q.x - w->x.shift;
                    if (y >= 0 && y < (int32_t)to->height && x >= 0 && x < (int32_t)to->width)
                        *tensor_at(to, n, q.c, y, x) = tensor_get(from, n, p.c, p.y, p.x);
                }
}

/* ---- Cases ---- */

#define COPY_CASES                                                                                 \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 14}}, {"offset_x=1 offset_y=-2", {2, 3, 6, 5}},                             \
        {"offset_x=-3 offset_y=2 edge_mode=clamp", {1, 6, 6, 7}},                                  \
        {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},      \
        {"offset_x=2 offset_y=1 destination_width=3 destination_height=2 "                         \
         "source_feature_channel_offset=4 source_feature_channel_max_count=2",                     \
         {2, 11, 5, 6}},                                                                           \
        {"clip_rect_origin_z=1 clip_rect_size_depth=2", {4, 5, 3, 4}},                             \
        {"destination_feature_channel_offset=24", {2, 5, 3, 4}},                                   \
        {"destination_feature_channel_offset=4 source_feature_channel_offset=8", {1, 35, 3, 4}},   \
    {                                                                                              \
        "", {4, 37, 14, 14}, {0}, true                                                             \
    }
#define CLIPPED                                                                                    \
    {                                                                                              \
        "clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "                        \
        "clip_rect_size_height=2 offset_x=1 offset_y=3",                                           \
        {                                                                                          \
            2, 5, 5, 6                                                                             \
        }                                                                                          \
    }

static const struct check_case copy_cases[] = {COPY_CASES, CLIPPED, {0}};
static const struct check_case copy_gradient_cases[] = {
    COPY_CASES,
    CLIPPED,
    {"primary_offset_x=1 primary_offset_y=1 secondary_offset_x=2", {2, 5, 5, 6}},
    {"primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1", {2, 5, 5, 6}},
    {0}};
static const struct check_case reshape_cases[] = {
    {"", {1, 1, 3, 3}},
    {"reshaped_width=6 reshaped_height=4 reshaped_feature_channels=1", {2, 2, 4, 3}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=12", {1, 3, 2, 2}},
    {"reshaped_width=2 reshaped_height=4 reshaped_feature_channels=5", {3, 4, 2, 5}},
    {"reshaped_width=5 reshaped_height=6 reshaped_feature_channels=7", {1, 5, 7, 6}},
    {"reshaped_width=3 reshaped_height=3 reshaped_feature_channels=6", {2, 6, 3, 3}},
    {"reshaped_width=2 reshaped_height=7 reshaped_feature_channels=5", {1, 7, 5, 2}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=72", {2, 8, 3, 3}},
    {"reshaped_width=2 reshaped_height=3 reshaped_feature_channels=12", {3, 8, 3, 3}},
    {"reshaped_width=9 reshaped_height=8 reshaped_feature_channels=1", {2, 36, 2, 1}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=33", {2, 1, 11, 3}},
    {"reshaped_width=3 reshaped_height=4 reshaped_feature_channels=3 "
     "source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"reshaped_width=4 reshaped_height=5 reshaped_feature_channels=6 clip_rect_origin_x=1 "
     "clip_rect_size_width=2 clip_rect_size_height=4",
     {2, 5, 4, 6}},
    {"reshaped_width=5 reshaped_height=2 reshaped_feature_channels=4 "
     "destination_feature_channel_offset=8",
     {2, 10, 2, 2}},
    {"channels_first=true reshaped_width=6 reshaped_height=4 reshaped_feature_channels=1",
     {2, 2, 4, 3}},
    {"channels_first=true reshaped_width=2 reshaped_height=7 reshaped_feature_channels=15",
     {1, 6, 5, 7}},
    {"channels_first=true reshaped_width=1 reshaped_height=1 reshaped_feature_channels=72",
     {2, 8, 3, 3}},
    {"channels_first=true reshaped_width=4 reshaped_height=5 reshaped_feature_channels=6 "
     "clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_size_height=4",
     {2, 5, 4, 6}},
    {"reshaped_width=1 reshaped_height=1 reshaped_feature_channels=980", {4, 20, 7, 7}, {0}, true},
    {"reshaped_width=14 reshaped_height=21 reshaped_feature_channels=37",
     {2, 42, 37, 7},
     {0},
     true},
    {0}};

const struct glcnn_reference glcnn_reference_concatenation = {copy_reference, copy_cases};
const struct glcnn_reference glcnn_reference_concatenation_gradient = {copy_gradient_reference,
                                                                       copy_gradient_cases};
const struct glcnn_reference glcnn_reference_reshape = {reshape_reference, reshape_cases};
const struct glcnn_reference glcnn_reference_reshape_gradient = {reshape_gradient_reference,
                                                                 reshape_cases};
const struct glcnn_reference glcnn_reference_slice = {copy_reference, copy_cases};
const struct glcnn_reference glcnn_reference_slice_gradient = {copy_gradient_reference,
                                                               copy_gradient_cases};
