/* Slice, concatenation, reshape and their gradients: spec 7.13. A slice and a concatenation copy
 * pixels, which is what a neuron does that computes nothing; they differ in what their addressing
 * is for. Reshape counts in the order row, column, channel. */
#include "kernels/slice.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/elements.h"
#include "kernels/neuron.h"
#include "kernels/pointwise.h"

/* ---- Copies ---- */

static const struct glcnn_neuron_descriptor unchanged = {.type = GLCNN_NEURON_TYPE_NONE};

static uint32_t end_of_clip(uint32_t origin, uint32_t size, uint32_t source)
{
    return size < UINT32_MAX - origin ? origin + size : source;
}

static void slice_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_region *clip = &o->properties.clip_rect;
    result->width = end_of_clip(clip->origin.x, clip->size.width, result->width);
    result->height = end_of_clip(clip->origin.y, clip->size.height, result->height);
}

static bool slice_gradient_check(const struct operation *o, struct validation validation)
{
    uint32_t read = o->images[GRADIENT].channels, wanted = o->images[IMAGE].channels;
    if (read >= wanted)
        return true;
    return invalid(validation,
                   "%u channels of the source gradient are read; the source image needs %u", read,
                   wanted);
}

static void plan_copy(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_pointwise_result(plan, o, "neuron/neuron.comp");
    pass_neuron(pass, &unchanged);
}

static void plan_copy_gradient(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_pointwise_gradient(plan, o, "neuron/neuron_gradient.comp");
    pass_neuron(pass, &unchanged);
}

/* ---- Reshape ---- */

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

bool reshape_is_channels_first(const struct operation *o)
{
    return ((const struct glcnn_reshape_parameters *)o->parameters)->channels_first;
}

static void reshape_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_reshape_parameters *p = o->parameters;
    const struct image_view *source = &o->images[SOURCE];
    result->width = or_else(p->reshaped_width, source->width);
    result->height = or_else(p->reshaped_height, source->height);
    result->feature_channels = or_else(p->reshaped_feature_channels, source->channels);
}

/* Numbers are counted in 32 bits. */
static bool check_counts(const struct image_view *from, struct extent to,
                         struct validation validation)
{
    uint64_t there = elements_in(from);
    uint64_t wanted = (uint64_t)to.width * to.height * to.channels;
    if (there == wanted && there <= INT32_MAX)
        return true;
    return invalid(validation,
                   "%ux%u pixels of %u channels cannot become %ux%u of %u; there must be as many "
                   "numbers, and at most %d",
                   from->width, from->height, from->channels, to.width, to.height, to.channels,
                   INT32_MAX);
}

static bool reshape_check(const struct operation *o, struct validation validation)
{
    struct glcnn_image_descriptor result;
    reshape_shape(o, &result);
    struct extent wanted = {result.width, result.height, result.feature_channels, 1};
    if (!check_counts(&o->images[SOURCE], wanted, validation))
        return false;
    return check_result_size(&o->images[RESULT], &result, validation);
}

static bool reshape_gradient_check(const struct operation *o, struct validation validation)
{
    return check_counts(&o->images[GRADIENT], view_extent(&o->images[IMAGE]), validation);
}

/* Rows and columns `of` the source that count; destination pixel X stands for pixel X + shift of an
 * image of the size of `like`. */
static struct pass *plan_reshaped(const struct operation *o, struct plan *plan,
                                  const struct image_view *source,
                                  const struct image_view *destination,
                                  const struct image_view *like)
{
    struct pass *pass = plan_pixels(plan, o, "slice/reshape.comp", destination);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", destination);
    if (reshape_is_channels_first(o))
        pass_define(pass, "CHANNELS_FIRST", 1);
    else if (source->channels % 4 == 0 && destination->channels % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
    pass_int(pass, "to_width", (int32_t)like->width);
    pass_int(pass, "to_height", (int32_t)like->height);
    pass->work = 128;
    return pass;
}

/* An offset or a clip rectangle chooses a part; without them source and result agree. */
static bool concatenation_check(const struct operation *o, struct validation validation)
{
    const struct image_view *source = &o->images[SOURCE], *to = &o->images[RESULT];
    bool whole = o->window.x.first == 0 && o->window.y.first == 0 && o->region_width == to->width &&
                 o->region_height == to->height;
    if (!whole || (source->width == to->width && source->height == to->height))
        return true;
    return invalid(validation,
                   "the source has %ux%u pixels and the destination %ux%u; they must agree, unless "
                   "an offset or a clip rectangle chooses a part",
                   source->width, source->height, to->width, to->height);
}

static void pass_part(struct pass *pass, struct axis x, struct axis y)
{
    pass_int(pass, "begin_x", x.begin);
    pass_int(pass, "begin_y", y.begin);
    pass_int(pass, "end_x", x.end);
    pass_int(pass, "end_y", y.end);
    pass_int(pass, "shift_x", x.shift);
    pass_int(pass, "shift_y", y.shift);
}

static void plan_reshape(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[SOURCE], *result = &o->images[RESULT];
    pass_part(plan_reshaped(o, plan, source, result, result),
              (struct axis){.end = (int32_t)source->width},
              (struct axis){.end = (int32_t)source->height});
}

static void plan_reshape_gradient(const struct operation *o, struct plan *plan)
{
    pass_part(
        plan_reshaped(o, plan, &o->images[GRADIENT], &o->images[DESTINATION], &o->images[IMAGE]),
        o->window.x, o->window.y);
}

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_reshape_parameters, MEMBER)

static const struct parameter reshape_rows[] = {
    {"reshaped_width", "columns of the result; 0: of the source", FIELD_UINT32,
     FIELD(reshaped_width), 0, 0, 65536, NULL},
    {"reshaped_height", "rows of the result; 0: of the source", FIELD_UINT32,
     FIELD(reshaped_height), 0, 0, 65536, NULL},
    {"reshaped_feature_channels", "channels of the result; 0: those read of the source",
     FIELD_UINT32, FIELD(reshaped_feature_channels), 0, 0, 65536, NULL},
    {"channels_first", "numbers are in the order channel, row, column", FIELD_BOOL,
     FIELD(channels_first), 0, 0, 1, NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_slice = {
    .name = "slice",
    .mps_class = "MPSNNSlice",
    .text = "some pixels and channels of an image",
    .family = "slice",
    .gradient = "slice_gradient",
    .shape = slice_shape,
    .flags = MAKES_STATE,
    .arguments = descriptor_image_arguments,
    .implementations = pointwise_implementations,
    .plan = plan_copy,
    .keeps_zero = descriptor_always,
};

const struct glcnn_descriptor glcnn_kernel_slice_gradient = {
    .name = "slice_gradient",
    .text = "gradient of slice; MPS has none",
    .family = "slice",
    .forward = "slice",
    .flags = IS_GRADIENT | PIXEL_MANUAL,
    .arguments = descriptor_gradient_arguments,
    .check = slice_gradient_check,
    .implementations = pointwise_implementations,
    .plan = plan_copy_gradient,
};

const struct glcnn_descriptor glcnn_kernel_concatenation = {
    .name = "concatenation",
    .mps_class = "MPSNNConcatenationNode",
    .text = "writes one source at a destination feature channel offset, beside others",
    .family = "concatenation",
    .gradient = "concatenation_gradient",
    .flags = MAKES_STATE | GATHERS,
    .arguments = descriptor_image_arguments,
    .check = concatenation_check,
    .implementations = pointwise_implementations,
    .plan = plan_copy,
    .keeps_zero = descriptor_always,
};

const struct glcnn_descriptor glcnn_kernel_concatenation_gradient = {
    .name = "concatenation_gradient",
    .mps_class = "MPSNNConcatenationGradientNode",
    .text = "the slice of the gradient that belongs to one source of a concatenation",
    .family = "concatenation",
    .forward = "concatenation",
    .flags = IS_GRADIENT | PIXEL_MANUAL,
    .arguments = descriptor_gradient_arguments,
    .check = slice_gradient_check,
    .implementations = pointwise_implementations,
    .plan = plan_copy_gradient,
};

const struct glcnn_descriptor glcnn_kernel_reshape = {
    .name = "reshape",
    .mps_class = "MPSNNReshape",
    .text = "the same numbers, in the same order, in another shape",
    .family = "reshape",
    .gradient = "reshape_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_reshape_parameters),
    .parameters = reshape_rows,
    .arguments = descriptor_image_arguments,
    .shape = reshape_shape,
    .check = reshape_check,
    .plan = plan_reshape,
};

const struct glcnn_descriptor glcnn_kernel_reshape_gradient = {
    .name = "reshape_gradient",
    .text = "gradient of reshape; MPS has none",
    .family = "reshape",
    .forward = "reshape",
    .flags = IS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_reshape_parameters),
    .parameters = reshape_rows,
    .arguments = descriptor_gradient_arguments,
    .check = reshape_gradient_check,
    .plan = plan_reshape_gradient,
};
