/* Learned images and their gradient: spec 7.24. */
#include "kernels/learned_image.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/elements.h"
#include "kernels/pointwise.h"

/* ---- Sizes and checks ---- */

bool learned_image_wants(const struct operation *o, glcnn_gradient_option option)
{
    const struct glcnn_learned_image_parameters *p = o->parameters;
    return (unsigned)p->gradient_option & (unsigned)option;
}

static size_t value_count(const struct operation *o)
{
    const struct glcnn_learned_image_parameters *p = o->parameters;
    return (size_t)p->width * p->height * p->feature_channels;
}

static size_t length(const struct operation *o, size_t index)
{
    (void)index;
    return value_count(o);
}

/* An output that the option leaves out has no length: it stays as it is. */
static size_t gradient_length(const struct operation *o, size_t index)
{
    (void)index;
    return learned_image_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES) ? value_count(o) : 0;
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_learned_image_parameters *p = o->parameters;
    result->width = p->width;
    result->height = p->height;
    result->feature_channels = p->feature_channels;
}

static bool gradient_check(const struct operation *o, struct validation validation)
{
    if (!learned_image_wants(o, GLCNN_GRADIENT_OPTION_DATA) || o->given[DESTINATION])
        return elements_check_state(o, validation);
    return invalid(validation, "destination_gradient is NULL; only the option weights_and_biases "
                               "does without one");
}

/* ---- Passes ---- */

static void plan_values(const struct operation *o, struct plan *plan)
{
    struct pass *pass =
        plan_pixels(plan, o, "learned_image/learned_image.comp", &o->images[RESULT]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_vector(pass, "values", &o->vectors[VALUES], VECTOR_READ);
}

static enum fusion fusion(const struct operation *o, struct plan *plan)
{
    (void)o;
    return fusion_choose(plan, &pointwise_pixels, NULL);
}

static void fuse(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    fused_size(name, pass);
    pass_vector(pass, fused_name(name, "_values"), &o->vectors[VALUES], VECTOR_READ);
    pass_int(pass, fused_name(name, "_first"), (int32_t)fused_channel(name));
    pass_int(pass, fused_name(name, "_all_channels"), (int32_t)o->images[RESULT].channels);
    pass_template(pass, "learned_image/learned_image_fused.glsl", fused_name(name, ""));
}

static void plan_sum(const struct operation *o, struct plan *plan)
{
    const struct image_view *gradient = &o->images[GRADIENT];
    struct pass *pass = plan_pass(plan, "learned_image/learned_image_gradient.comp");
    pass_texture(pass, "gradient", gradient);
    pass_vector(pass, "gradient_for_values", &o->vectors[FOR_VALUES], VECTOR_READ_WRITE);
    if (o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_results(pass, &o->window);
    pass_grid(pass, gradient->width, gradient->height, slice_count(gradient->channels));
    pass->work = gradient->images * 8;
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    if (learned_image_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        plan_sum(o, plan);
    if (learned_image_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_fill_image(plan, &o->images[DESTINATION]);
}

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_learned_image_parameters, MEMBER)
#define SIZES                                                                                      \
    {"width", "columns of the result", FIELD_UINT32, FIELD(width), 1, 1, 65536, NULL},             \
        {"height", "rows of the result", FIELD_UINT32, FIELD(height), 1, 1, 65536, NULL},          \
    {                                                                                              \
        "feature_channels", "channels of the result", FIELD_UINT32, FIELD(feature_channels), 1, 1, \
            65536, NULL                                                                            \
    }

static const char *const option_names[] = {"none", "data", "weights_and_biases", "all", NULL};

static const struct parameter rows[] = {SIZES, {0}};
static const struct parameter gradient_rows[] = {SIZES,
                                                 {"gradient_option", "which gradients are computed",
                                                  FIELD_ENUM, FIELD(gradient_option), 3, 1, 0,
                                                  option_names},
                                                 {0}};

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "values", .place = PLACE_KERNEL, .input = true},
    {0}};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true, .optional = true},
    {.name = "gradient_for_values", .place = PLACE_STATE, .output = true},
    {0}};

static const struct implementation_list *const implementations[] = {&pointwise_pixels, NULL};

const struct glcnn_descriptor glcnn_kernel_learned_image = {
    .name = "learned_image",
    .text = "an image of numbers that train, the same for every image of the batch",
    .family = "learned_image",
    .gradient = "learned_image_gradient",
    .flags = MAKES_STATE | SHARED_STATE | READS_FUSED | IGNORES_SOURCE,
    .unread = UNREAD_FIRST,
    .fusion = fusion,
    .fuse = fuse,
    .parameters_size = sizeof(struct glcnn_learned_image_parameters),
    .parameters = rows,
    .arguments = forward_arguments,
    .shape = shape,
    .length = length,
    .check = elements_check_size,
    .implementations = implementations,
    .plan = plan_values,
};

const struct glcnn_descriptor glcnn_kernel_learned_image_gradient = {
    .name = "learned_image_gradient",
    .text = "gradient of learned_image for its values, the sum over the batch; 0 for its source",
    .family = "learned_image",
    .forward = "learned_image",
    .flags = IS_GRADIENT | NEEDS_STATE | SHARED_STATE | MODIFIES_STATE | READS_FUSED,
    .parameters_size = sizeof(struct glcnn_learned_image_parameters),
    .parameters = gradient_rows,
    .arguments = gradient_arguments,
    .length = gradient_length,
    .check = gradient_check,
    .plan = plan_gradient,
};
