/* Transposes, depth to space and back, and shuffled channels: spec 7.18. Each is a permutation of an
 * image's numbers, and its gradient the pass of the inverse one. */
#include "glcnn/kernels/rearrange.h"

#include <string.h>

#include "encode/kernel.h"
#include "kernels/elements.h"

static const char *const block_families[] = {"depth_to_space", "space_to_depth"};

struct glcnn_transpose_parameters *glcnn_transpose(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "transpose");
}

struct glcnn_block_parameters *glcnn_block(glcnn_kernel *kernel)
{
    struct glcnn_block_parameters *parameters = kernel_parameters(kernel, block_families[0]);
    return parameters ? parameters : kernel_parameters(kernel, block_families[1]);
}

struct glcnn_channel_shuffle_parameters *glcnn_channel_shuffle(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "channel_shuffle");
}

/* ---- Constructors ---- */

#define DECLARE(NAME)                                                                              \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME, glcnn_kernel_##NAME##_gradient;      \
    glcnn_status glcnn_##NAME##_gradient_create(glcnn_device *device, glcnn_kernel **kernel)       \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME##_gradient, kernel);                     \
    }

DECLARE(transpose)
DECLARE(depth_to_space)
DECLARE(space_to_depth)
DECLARE(channel_shuffle)

glcnn_status glcnn_transpose_create(glcnn_device *device, glcnn_axis_order order,
                                    glcnn_kernel **kernel)
{
    const struct glcnn_transpose_parameters parameters = {order};
    return kernel_create_with(device, &glcnn_kernel_transpose, &parameters, kernel);
}

glcnn_status glcnn_depth_to_space_create(glcnn_device *device, uint32_t block_size,
                                         glcnn_block_order order, glcnn_kernel **kernel)
{
    const struct glcnn_block_parameters parameters = {block_size, order};
    return kernel_create_with(device, &glcnn_kernel_depth_to_space, &parameters, kernel);
}

glcnn_status glcnn_space_to_depth_create(glcnn_device *device, uint32_t block_size,
                                         glcnn_block_order order, glcnn_kernel **kernel)
{
    const struct glcnn_block_parameters parameters = {block_size, order};
    return kernel_create_with(device, &glcnn_kernel_space_to_depth, &parameters, kernel);
}

glcnn_status glcnn_channel_shuffle_create(glcnn_device *device, uint32_t groups,
                                          glcnn_kernel **kernel)
{
    const struct glcnn_channel_shuffle_parameters parameters = {groups};
    return kernel_create_with(device, &glcnn_kernel_channel_shuffle, &parameters, kernel);
}

/* ---- Axes in another order ---- */

enum { CHANNEL, ROW, COLUMN };

/* For each axis of the result that of the source. */
static const int orders[][3] = {{CHANNEL, ROW, COLUMN}, {CHANNEL, COLUMN, ROW},
                                {ROW, CHANNEL, COLUMN}, {ROW, COLUMN, CHANNEL},
                                {COLUMN, CHANNEL, ROW}, {COLUMN, ROW, CHANNEL}};

static const int *order_of(const struct operation *o)
{
    const struct glcnn_transpose_parameters *p = o->parameters;
    return orders[p->order];
}

static void transpose_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct image_view *from = elements_source(o);
    const uint32_t extents[] = {from->channels, from->height, from->width};
    const int *order = order_of(o);
    result->feature_channels = extents[order[CHANNEL]];
    result->height = extents[order[ROW]];
    result->width = extents[order[COLUMN]];
}

static bool transposed(const struct operation *o, struct element at, struct element *from)
{
    const int32_t place[] = {at.c, at.y, at.x};
    const int *order = order_of(o);
    int32_t there[3];
    for (int axis = 0; axis < 3; axis++)
        there[order[axis]] = place[axis];
    *from = (struct element){there[ROW], there[COLUMN], there[CHANNEL]};
    return true;
}

/* ---- Blocks ---- */

static uint32_t block_of(const struct operation *o)
{
    return ((const struct glcnn_block_parameters *)o->parameters)->block_size;
}

static bool is_crd(const struct operation *o)
{
    return ((const struct glcnn_block_parameters *)o->parameters)->order == GLCNN_BLOCK_ORDER_CRD;
}

static void depth_to_space_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    uint32_t b = block_of(o);
    result->width = elements_source(o)->width * b;
    result->height = elements_source(o)->height * b;
    result->feature_channels = (elements_source(o)->channels + b * b - 1) / (b * b);
}

static void space_to_depth_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    uint32_t b = block_of(o);
    result->width = (elements_source(o)->width + b - 1) / b;
    result->height = (elements_source(o)->height + b - 1) / b;
    result->feature_channels = elements_source(o)->channels * b * b;
}

static bool depth_to_space_check(const struct operation *o, struct refusal refusal)
{
    uint32_t b = block_of(o), channels = elements_source(o)->channels;
    if (channels % (b * b) == 0)
        return elements_check_size(o, refusal);
    return refuse(refusal,
                  "the source has %u channels; blocks of %u by %u pixels need a multiple "
                  "of %u",
                  channels, b, b, b * b);
}

static bool space_to_depth_check(const struct operation *o, struct refusal refusal)
{
    const struct image_view *from = elements_source(o);
    uint32_t b = block_of(o);
    if (from->width % b == 0 && from->height % b == 0)
        return elements_check_size(o, refusal);
    return refuse(refusal, "the source has %ux%u pixels; they must be whole blocks of %u by %u",
                  from->width, from->height, b, b);
}

/* Channel of pixel `number` of a block that has `channels`. */
static int32_t block_channel(const struct operation *o, int32_t number, int32_t c, int32_t channels)
{
    int32_t b = (int32_t)block_of(o);
    return is_crd(o) ? c * b * b + number : number * channels + c;
}

static bool in_depth(const struct operation *o, struct element at, struct element *from)
{
    int32_t b = (int32_t)block_of(o), channels = (int32_t)elements_result(o)->channels;
    *from = (struct element){at.y / b, at.x / b,
                             block_channel(o, at.y % b * b + at.x % b, at.c, channels)};
    return true;
}

/* The pixel and channel whose place in depth is this. */
static bool in_space(const struct operation *o, struct element at, struct element *from)
{
    int32_t b = (int32_t)block_of(o), channels = (int32_t)elements_source(o)->channels;
    for (int32_t number = 0; number < b * b; number++)
        for (int32_t c = 0; c < channels; c++)
            if (block_channel(o, number, c, channels) == at.c)
                *from = (struct element){at.y * b + number / b, at.x * b + number % b, c};
    return true;
}

/* ---- Shuffled channels ---- */

static uint32_t groups_in(const struct operation *o)
{
    return ((const struct glcnn_channel_shuffle_parameters *)o->parameters)->groups;
}

static void shuffle_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    result->width = elements_source(o)->width;
    result->height = elements_source(o)->height;
}

static bool shuffle_check(const struct operation *o, struct refusal refusal)
{
    uint32_t channels = elements_source(o)->channels;
    if (channels % groups_in(o) == 0)
        return elements_check_size(o, refusal);
    return refuse(refusal, "the source has %u channels; %u groups must divide them", channels,
                  groups_in(o));
}

static bool shuffled(const struct operation *o, struct element at, struct element *from)
{
    int32_t groups = (int32_t)groups_in(o), span = (int32_t)elements_source(o)->channels / groups;
    *from = (struct element){at.y, at.x, at.c % groups * span + at.c / groups};
    return true;
}

/* ---- Passes ---- */

static bool is_gradient(const struct operation *o)
{
    return o->descriptor->flags & IS_GRADIENT;
}

static void plan_transpose(const struct operation *o, struct plan *plan)
{
    static const char *const names[] = {"FROM_C", "FROM_Y", "FROM_X"};
    struct pass *pass = plan_rearranged(o, plan, "slice/place_transposed.glsl");
    const int *order = order_of(o);
    for (int axis = 0; axis < 3; axis++)
        if (is_gradient(o))
            pass_define(pass, names[axis], order[axis]);
        else
            pass_define(pass, names[order[axis]], axis);
    if (order[CHANNEL] == CHANNEL)
        pass_define(pass, "WHOLE_SLICES", 1);
}

/* Whether the kernel makes depth of space: the one does it forwards, the other in its gradient. */
static void plan_blocks(const struct operation *o, struct plan *plan)
{
    bool deepens = strcmp(o->descriptor->family, "space_to_depth") == 0;
    bool to_space = deepens == is_gradient(o);
    struct pass *pass = plan_rearranged(
        o, plan, to_space ? "slice/place_in_depth.glsl" : "slice/place_in_space.glsl");
    uint32_t pixel_channels = deepens ? elements_source(o)->channels : elements_result(o)->channels;
    pass_define(pass, "BLOCK", (int)block_of(o));
    if (is_crd(o))
        pass_define(pass, "CRD", 1);
    else if (pixel_channels % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
}

static void plan_shuffle(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_rearranged(o, plan, "slice/place_shuffled.glsl");
    uint32_t groups = groups_in(o), others = elements_source(o)->channels / groups;
    pass_define(pass, "GROUPS", (int)(is_gradient(o) ? others : groups));
    pass_int(pass, "span", (int32_t)(is_gradient(o) ? groups : others));
}

/* ---- References ---- */

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

/* ---- Cases ---- */

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

/* ---- Descriptors ---- */

static const char *const order_names[] = {"chw", "cwh", "hcw", "hwc", "wch", "whc", NULL};
static const char *const block_order_names[] = {"dcr", "crd", NULL};

static const struct parameter transpose_rows[] = {
    {"axis_order", "for the channels, rows and columns of the result: those of the source",
     FIELD_ENUM, offsetof(struct glcnn_transpose_parameters, order), 0, 0, 0, order_names},
    {0}};
static const struct parameter block_rows[] = {
    {"block_size", "rows and columns of a block", FIELD_UINT32,
     offsetof(struct glcnn_block_parameters, block_size), 1, 1, 64, NULL},
    {"block_order", "of channels: dcr, pixel by pixel, or crd, channel by channel", FIELD_ENUM,
     offsetof(struct glcnn_block_parameters, order), 0, 0, 0, block_order_names},
    {0}};
static const struct parameter shuffle_rows[] = {
    {"groups", "that channels are in, and are taken from by turns", FIELD_UINT32,
     offsetof(struct glcnn_channel_shuffle_parameters, groups), 1, 1, 65536, NULL},
    {0}};

#define FORWARD(NAME, TEXT, KIND, PARAMETERS, CASES)                                               \
    .name = NAME, .text = TEXT, .family = NAME, .gradient = NAME "_gradient",                      \
    .flags = MAKES_STATE, .parameters_size = sizeof(struct glcnn_##PARAMETERS##_parameters),       \
    ELEMENT_ARGUMENTS, .keeps_zero = descriptor_always, .shape = KIND##_shape,                     \
    .reference = KIND##_reference, .cases = CASES

#define BACKWARD(NAME, KIND, PARAMETERS, CASES)                                                    \
    .name = NAME "_gradient", .text = "gradient of " NAME, .family = NAME,                         \
    .without_gradient = "it is a gradient itself", .forward = NAME,                                \
    .flags = IS_GRADIENT | NEEDS_STATE,                                                            \
    .parameters_size = sizeof(struct glcnn_##PARAMETERS##_parameters), ELEMENT_GRADIENT_ARGUMENTS, \
    .check = elements_check_state, .reference = KIND##_gradient_reference, .cases = CASES

const struct glcnn_descriptor glcnn_kernel_transpose = {
    FORWARD("transpose", "channels, rows and columns in another order", transpose, transpose,
            transpose_cases),
    .parameters = transpose_rows,
    .check = elements_check_size,
    .plan = plan_transpose,
};
const struct glcnn_descriptor glcnn_kernel_transpose_gradient = {
    BACKWARD("transpose", transpose, transpose, transpose_cases),
    .parameters = transpose_rows,
    .plan = plan_transpose,
};
const struct glcnn_descriptor glcnn_kernel_depth_to_space = {
    FORWARD("depth_to_space", "blocks of channels as blocks of pixels", depth_to_space, block,
            block_cases),
    .parameters = block_rows,
    .check = depth_to_space_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_depth_to_space_gradient = {
    BACKWARD("depth_to_space", depth_to_space, block, block_cases),
    .parameters = block_rows,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_space_to_depth = {
    FORWARD("space_to_depth", "blocks of pixels as blocks of channels", space_to_depth, block,
            block_cases),
    .parameters = block_rows,
    .check = space_to_depth_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_space_to_depth_gradient = {
    BACKWARD("space_to_depth", space_to_depth, block, block_cases),
    .parameters = block_rows,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_channel_shuffle = {
    FORWARD("channel_shuffle", "a channel of each group by turns", shuffle, channel_shuffle,
            shuffle_cases),
    .parameters = shuffle_rows,
    .check = shuffle_check,
    .plan = plan_shuffle,
};
const struct glcnn_descriptor glcnn_kernel_channel_shuffle_gradient = {
    BACKWARD("channel_shuffle", shuffle, channel_shuffle, shuffle_cases),
    .parameters = shuffle_rows,
    .plan = plan_shuffle,
};
