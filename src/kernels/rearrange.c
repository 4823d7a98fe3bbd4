/* Transposes, depth to space and back, and shuffled channels: spec 7.18. Each is a permutation of an
 * image's numbers, and its gradient the pass of the inverse one. */
#include "kernels/rearrange.h"

#include "encode/kernel.h"
#include "kernels/elements.h"

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

static void plan_transpose(const struct operation *o, struct plan *plan)
{
    static const char *const names[] = {"FROM_C", "FROM_Y", "FROM_X"};
    struct pass *pass = plan_rearranged(o, plan, "slice/place_transposed.glsl");
    const int *order = transpose_order(o);
    for (int axis = 0; axis < 3; axis++)
        if (operation_is_gradient(o))
            pass_define(pass, names[axis], order[axis]);
        else
            pass_define(pass, names[order[axis]], axis);
    if (order[CHANNEL] == CHANNEL)
        pass_define(pass, "WHOLE_SLICES", 1);
}

/* Plans depth of space, or the way back: the one does it forwards, the other in its gradient. */
static void plan_blocks(const struct operation *o, struct plan *plan)
{
    bool deepens = *(const bool *)o->descriptor->form;
    bool to_space = deepens == operation_is_gradient(o);
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
    pass_define(pass, "GROUPS", (int)(operation_is_gradient(o) ? others : groups));
    pass_int(pass, "span", (int32_t)(operation_is_gradient(o) ? groups : others));
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

static const bool deepens = true, spreads = false;

const struct glcnn_descriptor glcnn_kernel_transpose = {
    .name = "transpose",
    .text = "channels, rows and columns in another order",
    .family = "transpose",
    .gradient = "transpose_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_transpose_parameters),
    .parameters = transpose_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = transpose_shape,
    .check = elements_check_size,
    .plan = plan_transpose,
};
const struct glcnn_descriptor glcnn_kernel_transpose_gradient = {
    .name = "transpose_gradient",
    .text = "gradient of transpose",
    .family = "transpose",
    .forward = "transpose",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_transpose_parameters),
    .parameters = transpose_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_transpose,
};

const struct glcnn_descriptor glcnn_kernel_depth_to_space = {
    .name = "depth_to_space",
    .form = &spreads,
    .text = "blocks of channels as blocks of pixels",
    .family = "depth_to_space",
    .gradient = "depth_to_space_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_block_parameters),
    .parameters = block_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = depth_to_space_shape,
    .check = depth_to_space_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_depth_to_space_gradient = {
    .name = "depth_to_space_gradient",
    .form = &spreads,
    .text = "gradient of depth_to_space",
    .family = "depth_to_space",
    .forward = "depth_to_space",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_block_parameters),
    .parameters = block_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_blocks,
};

const struct glcnn_descriptor glcnn_kernel_space_to_depth = {
    .name = "space_to_depth",
    .form = &deepens,
    .text = "blocks of pixels as blocks of channels",
    .family = "space_to_depth",
    .gradient = "space_to_depth_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_block_parameters),
    .parameters = block_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = space_to_depth_shape,
    .check = space_to_depth_check,
    .plan = plan_blocks,
};
const struct glcnn_descriptor glcnn_kernel_space_to_depth_gradient = {
    .name = "space_to_depth_gradient",
    .form = &deepens,
    .text = "gradient of space_to_depth",
    .family = "space_to_depth",
    .forward = "space_to_depth",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_block_parameters),
    .parameters = block_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_blocks,
};

const struct glcnn_descriptor glcnn_kernel_channel_shuffle = {
    .name = "channel_shuffle",
    .text = "a channel of each group by turns",
    .family = "channel_shuffle",
    .gradient = "channel_shuffle_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_channel_shuffle_parameters),
    .parameters = shuffle_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shuffle_shape,
    .check = shuffle_check,
    .plan = plan_shuffle,
};
const struct glcnn_descriptor glcnn_kernel_channel_shuffle_gradient = {
    .name = "channel_shuffle_gradient",
    .text = "gradient of channel_shuffle",
    .family = "channel_shuffle",
    .forward = "channel_shuffle",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_channel_shuffle_parameters),
    .parameters = shuffle_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_shuffle,
};

/* ---- Typed access ---- */

struct glcnn_block_parameters *glcnn_block(glcnn_kernel *kernel)
{
    struct glcnn_block_parameters *parameters = kernel_parameters(kernel, "depth_to_space");
    return parameters ? parameters : kernel_parameters(kernel, "space_to_depth");
}
