/* Transposes, depth to space and back, and shuffled channels: spec 7.18. Each is a permutation of an
 * image's numbers, and its gradient the pass of the inverse one. */
#include "kernels/rearrange.h"

#include <string.h>

#include "encode/kernel.h"
#include "kernels/elements.h"

static const char *const block_families[] = {"depth_to_space", "space_to_depth"};

/* ---- Axes in another order ---- */

/* For each axis of the result that of the source. */
static const int orders[][3] = {{CHANNEL, ROW, COLUMN}, {CHANNEL, COLUMN, ROW},
                                {ROW, CHANNEL, COLUMN}, {ROW, COLUMN, CHANNEL},
                                {COLUMN, CHANNEL, ROW}, {COLUMN, ROW, CHANNEL}};

const int *transpose_order(const struct operation *o)
{
    const struct glcnn_transpose_parameters *p = o->parameters;
    return orders[p->order];
}

static void transpose_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct image_view *from = elements_source(o);
    const uint32_t extents[] = {from->channels, from->height, from->width};
    const int *order = transpose_order(o);
    result->feature_channels = extents[order[CHANNEL]];
    result->height = extents[order[ROW]];
    result->width = extents[order[COLUMN]];
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

static bool depth_to_space_check(const struct operation *o, struct validation validation)
{
    uint32_t b = block_of(o), channels = elements_source(o)->channels;
    if (channels % (b * b) == 0)
        return elements_check_size(o, validation);
    return invalid(validation,
                   "the source has %u channels; blocks of %u by %u pixels need a multiple "
                   "of %u",
                   channels, b, b, b * b);
}

static bool space_to_depth_check(const struct operation *o, struct validation validation)
{
    const struct image_view *from = elements_source(o);
    uint32_t b = block_of(o);
    if (from->width % b == 0 && from->height % b == 0)
        return elements_check_size(o, validation);
    return invalid(validation, "the source has %ux%u pixels; they must be whole blocks of %u by %u",
                   from->width, from->height, b, b);
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

static bool shuffle_check(const struct operation *o, struct validation validation)
{
    uint32_t channels = elements_source(o)->channels;
    if (channels % groups_in(o) == 0)
        return elements_check_size(o, validation);
    return invalid(validation, "the source has %u channels; %u groups must divide them", channels,
                   groups_in(o));
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
    const int *order = transpose_order(o);
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

#define FORWARD(NAME, TEXT, KIND, PARAMETERS)                                                      \
    .name = NAME, .text = TEXT, .family = NAME, .gradient = NAME "_gradient",                      \
    .flags = MAKES_STATE, .parameters_size = sizeof(struct glcnn_##PARAMETERS##_parameters),       \
    ELEMENT_ARGUMENTS, .keeps_zero = descriptor_always, .shape = KIND##_shape

#define BACKWARD(NAME, KIND, PARAMETERS)                                                           \
    .name = NAME "_gradient", .text = "gradient of " NAME, .family = NAME,                         \
    .without_gradient = "it is a gradient itself", .forward = NAME,                                \
    .flags = IS_GRADIENT | NEEDS_STATE,                                                            \
    .parameters_size = sizeof(struct glcnn_##PARAMETERS##_parameters), ELEMENT_GRADIENT_ARGUMENTS, \
    .check = elements_check_state

const struct glcnn_descriptor glcnn_kernel_transpose = {
    FORWARD("transpose", "channels, rows and columns in another order", transpose, transpose),
    .parameters = transpose_rows,
    .check = elements_check_size,
    .plan = plan_transpose,
};
const struct glcnn_descriptor glcnn_kernel_transpose_gradient = {
    BACKWARD("transpose", transpose, transpose),
    .parameters = transpose_rows,
    .plan = plan_transpose,
};
const struct glcnn_descriptor glcnn_kernel_depth_to_space = {
    FORWARD("depth_to_space", "blocks of channels as blocks of pixels", depth_to_space, block),
    .parameters = block_rows,
    .check = depth_to_space_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_depth_to_space_gradient = {
    BACKWARD("depth_to_space", depth_to_space, block),
    .parameters = block_rows,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_space_to_depth = {
    FORWARD("space_to_depth", "blocks of pixels as blocks of channels", space_to_depth, block),
    .parameters = block_rows,
    .check = space_to_depth_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_space_to_depth_gradient = {
    BACKWARD("space_to_depth", space_to_depth, block),
    .parameters = block_rows,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_channel_shuffle = {
    FORWARD("channel_shuffle", "a channel of each group by turns", shuffle, channel_shuffle),
    .parameters = shuffle_rows,
    .check = shuffle_check,
    .plan = plan_shuffle,
};
const struct glcnn_descriptor glcnn_kernel_channel_shuffle_gradient = {
    BACKWARD("channel_shuffle", shuffle, channel_shuffle),
    .parameters = shuffle_rows,
    .plan = plan_shuffle,
};

/* ---- Constructors ---- */

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

#define DECLARE(NAME)                                                                              \
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
