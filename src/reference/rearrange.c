/* Transposes, depth to space and back, and shuffled channels: spec 7.18. */
#include "kernels/rearrange.h"

#include "reference/elements.h"

static bool transposed(const struct operation *o, struct element at, struct element *from)
{
    const int32_t place[] = {at.c, at.y, at.x};
    const int *order = transpose_order(o);
    int32_t there[3];
    for (int axis = 0; axis < 3; axis++)
        there[order[axis]] = place[axis];
    *from = (struct element){there[ROW], there[COLUMN], there[CHANNEL]};
    return true;
}

static int32_t block_of(const struct operation *o)
{
    return (int32_t)((const struct glcnn_block_parameters *)o->parameters)->block_size;
}

/* Channel of pixel `number` of a block that has `channels`. */
static int32_t block_channel(const struct operation *o, int32_t number, int32_t c, int32_t channels)
{
    const struct glcnn_block_parameters *p = o->parameters;
    int32_t b = block_of(o);
    return p->order == GLCNN_BLOCK_ORDER_CRD ? c * b * b + number : number * channels + c;
}

static bool in_depth(const struct operation *o, struct element at, struct element *from)
{
    int32_t b = block_of(o), channels = (int32_t)elements_result(o)->channels;
    *from = (struct element){at.y / b, at.x / b,
                             block_channel(o, at.y % b * b + at.x % b, at.c, channels)};
    return true;
}

/* The pixel and channel whose place in depth is this. */
static bool in_space(const struct operation *o, struct element at, struct element *from)
{
    int32_t b = block_of(o), channels = (int32_t)elements_source(o)->channels;
    for (int32_t number = 0; number < b * b; number++)
        for (int32_t c = 0; c < channels; c++)
            if (block_channel(o, number, c, channels) == at.c)
                *from = (struct element){at.y * b + number / b, at.x * b + number % b, c};
    return true;
}

static bool shuffled(const struct operation *o, struct element at, struct element *from)
{
    const struct glcnn_channel_shuffle_parameters *p = o->parameters;
    int32_t groups = (int32_t)p->groups, span = (int32_t)elements_source(o)->channels / groups;
    *from = (struct element){at.y, at.x, at.c % groups * span + at.c / groups};
    return true;
}

#define DEFINE_REFERENCES(NAME, SOURCE_OF)                                                         \
    static void NAME##_reference(const struct reference *r)                                        \
    {                                                                                              \
        elements_reference(r, SOURCE_OF, 0);                                                       \
    }                                                                                              \
    static void NAME##_gradient_reference(const struct reference *r)                               \
    {                                                                                              \
        elements_gradient_reference(r, SOURCE_OF);                                                 \
    }

DEFINE_REFERENCES(transpose, transposed)
DEFINE_REFERENCES(depth_to_space, in_depth)
DEFINE_REFERENCES(space_to_depth, in_space)
DEFINE_REFERENCES(shuffle, shuffled)

static const struct check_case transpose_cases[] = {
    {"", {1, 3, 4, 5}},
    {"axis_order=cwh", {2, 5, 3, 4}},
    {"axis_order=hcw", {1, 2, 6, 3}},
    {"axis_order=hwc", {2, 3, 4, 5}},
    {"axis_order=wch", {1, 6, 2, 9}},
    {"axis_order=whc", {2, 9, 3, 5}},
    {"axis_order=hwc", {1, 1, 1, 7}},
    {"axis_order=wch", {3, 8, 5, 4}},
    {"axis_order=hwc clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=2 "
     "clip_rect_size_height=2",
     {2, 4, 3, 6}},
    {"axis_order=cwh source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 3, 4}},
    {"axis_order=wch destination_feature_channel_offset=4", {1, 3, 2, 5}},
    {"axis_order=whc", {2, 37, 28, 27}, {0}, true},
    {0}};

#define BLOCK_CASES                                                                                \
    {"block_size=1", {1, 3, 4, 2}}, {"block_size=2", {2, 8, 4, 6}},                                \
        {"block_size=2", {1, 16, 2, 4}}, {"block_size=2 block_order=crd", {2, 12, 6, 2}},          \
        {"block_size=3", {1, 18, 3, 6}}, {"block_size=3 block_order=crd", {2, 9, 6, 3}},           \
        {"block_size=2 block_order=crd", {1, 16, 4, 4}}, {"block_size=4", {1, 16, 4, 8}},          \
        {"block_size=2 clip_rect_origin_x=1 clip_rect_size_width=1 clip_rect_size_height=1",       \
         {2, 12, 4, 6}},                                                                           \
        {"block_size=2 source_feature_channel_offset=4 source_feature_channel_max_count=4",        \
         {2, 9, 4, 4}},                                                                            \
        {"block_size=2 destination_feature_channel_offset=4", {1, 20, 4, 6}},                      \
    {                                                                                              \
        "block_size=2", {4, 32, 28, 30}, {0}, true                                                 \
    }

static const struct check_case block_cases[] = {BLOCK_CASES, {0}};

static const struct check_case shuffle_cases[] = {
    {"groups=1", {1, 3, 3, 3}},
    {"groups=2", {2, 6, 4, 3}},
    {"groups=3", {1, 12, 2, 5}},
    {"groups=4", {2, 8, 3, 2}},
    {"groups=5", {1, 5, 3, 4}},
    {"groups=2", {3, 10, 2, 2}},
    {"groups=7", {1, 35, 2, 3}},
    {"groups=3 clip_rect_origin_x=1 clip_rect_size_height=2", {2, 9, 3, 4}},
    {"groups=2 source_feature_channel_offset=4 source_feature_channel_max_count=4", {2, 9, 3, 4}},
    {"groups=2 destination_feature_channel_offset=8", {1, 6, 3, 2}},
    {"groups=8", {4, 48, 28, 28}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_channel_shuffle = {shuffle_reference, shuffle_cases};
const struct glcnn_reference glcnn_reference_channel_shuffle_gradient = {shuffle_gradient_reference,
                                                                         shuffle_cases};
const struct glcnn_reference glcnn_reference_depth_to_space = {depth_to_space_reference,
                                                               block_cases};
const struct glcnn_reference glcnn_reference_depth_to_space_gradient = {
    depth_to_space_gradient_reference, block_cases};
const struct glcnn_reference glcnn_reference_space_to_depth = {space_to_depth_reference,
                                                               block_cases};
const struct glcnn_reference glcnn_reference_space_to_depth_gradient = {
    space_to_depth_gradient_reference, block_cases};
const struct glcnn_reference glcnn_reference_transpose = {transpose_reference, transpose_cases};
const struct glcnn_reference glcnn_reference_transpose_gradient = {transpose_gradient_reference,
                                                                   transpose_cases};
