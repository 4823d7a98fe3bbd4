/* Two images joined along an axis: spec 7.20. */
#include "kernels/axis_concatenation.h"

#include "encode/kernel.h"
#include "kernels/elements.h"

/* ---- Shape and check ---- */

static const struct glcnn_axis_concatenation_parameters *parameters_of(const struct operation *o)
{
    return o->parameters;
}

/* Channels, rows and columns, by axis. */
struct sizes {
    uint32_t of[3];
};

static struct sizes sizes_of(const struct image_view *view)
{
    return (struct sizes){{view->channels, view->height, view->width}};
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    struct sizes sizes = sizes_of(&o->images[ELEMENT_SOURCE]);
    glcnn_axis axis = parameters_of(o)->axis;
    sizes.of[axis] += sizes_of(&o->images[SECONDARY]).of[axis];
    result->feature_channels = sizes.of[GLCNN_AXIS_CHANNELS];
    result->height = sizes.of[GLCNN_AXIS_ROWS];
    result->width = sizes.of[GLCNN_AXIS_COLUMNS];
}

static bool check(const struct operation *o, struct validation validation)
{
    static const char *const names[] = {"channels", "rows", "columns"};
    struct sizes first = sizes_of(&o->images[ELEMENT_SOURCE]);
    struct sizes second = sizes_of(&o->images[SECONDARY]);
    for (unsigned axis = 0; axis < 3; axis++)
        if (axis != parameters_of(o)->axis && first.of[axis] != second.of[axis])
            return invalid(validation,
                           "the source has %u %s and the secondary source %u; joined along %s they "
                           "must agree in the others",
                           first.of[axis], names[axis], second.of[axis],
                           names[parameters_of(o)->axis]);
    return elements_check_size(o, validation);
}

static struct operands operands(const void *parameters)
{
    const struct glcnn_axis_concatenation_parameters *p = parameters;
    enum argument_place of = p->is_secondary_source_filter ? PLACE_SECONDARY : PLACE_SOURCE;
    return (struct operands){of, of};
}

/* ---- Passes ---- */

uint32_t axis_concatenation_size(const struct operation *o, int argument)
{
    return sizes_of(&o->images[argument]).of[parameters_of(o)->axis];
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    uint32_t first = axis_concatenation_size(o, ELEMENT_SOURCE);
    struct pass *pass = plan_elements(o, plan, "slice/joined.comp");
    pass_texture(pass, "secondary", &o->images[SECONDARY]);
    pass_define(pass, "AXIS", (int)parameters_of(o)->axis);
    pass_int(pass, "first", (int32_t)first);
    if (first % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
}

uint32_t axis_concatenation_start(const struct operation *o)
{
    return parameters_of(o)->is_secondary_source_filter
               ? axis_concatenation_size(o, ELEMENT_GRADIENT) -
                     axis_concatenation_size(o, ELEMENT_IMAGE)
               : 0;
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    uint32_t start = axis_concatenation_start(o);
    struct pass *pass = plan_rearranged(o, plan, "slice/place_shifted.glsl");
    pass_define(pass, "AXIS", (int)parameters_of(o)->axis);
    pass_int(pass, "start", (int32_t)start);
    if (parameters_of(o)->axis != GLCNN_AXIS_CHANNELS || start % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
}

/* ---- Descriptors ---- */

static const char *const axis_names[] = {"channels", "rows", "columns", NULL};

#define AXIS                                                                                       \
    {                                                                                              \
        "axis", "along which the secondary source follows", FIELD_ENUM,                            \
            offsetof(struct glcnn_axis_concatenation_parameters, axis), 0, 0, 0, axis_names        \
    }

static const struct parameter rows[] = {AXIS, {0}};
static const struct parameter gradient_rows[] = {
    AXIS,
    {"is_secondary_source_filter", "the gradient is by the secondary source", FIELD_BOOL,
     offsetof(struct glcnn_axis_concatenation_parameters, is_secondary_source_filter), 0, 0, 1,
     NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_axis_concatenation = {
    .name = "axis_concatenation",
    .text = "two images joined along channels, rows or columns, without a gap",
    .family = "axis_concatenation",
    .gradient = "axis_concatenation_gradient",
    .flags = IS_BINARY | MAKES_STATE,
    .unread = UNREAD_BOTH,
    .parameters_size = sizeof(struct glcnn_axis_concatenation_parameters),
    .parameters = rows,
    .arguments = element_pair_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_axis_concatenation_gradient = {
    .name = "axis_concatenation_gradient",
    .text = "gradient of axis_concatenation by one source",
    .family = "axis_concatenation",
    .forward = "axis_concatenation",
    .flags = IS_BINARY | IS_GRADIENT | NEEDS_STATE,
    .operands = operands,
    .parameters_size = sizeof(struct glcnn_axis_concatenation_parameters),
    .parameters = gradient_rows,
    .arguments = element_pair_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_gradient,
};
