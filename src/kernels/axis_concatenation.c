/* Two images joined along an axis: spec 7.20. */
#include "glcnn/kernels/axis_concatenation.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/elements.h"

struct glcnn_axis_concatenation_parameters *glcnn_axis_concatenation(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "axis_concatenation");
}

/* ---- Constructors ---- */

extern const struct glcnn_descriptor glcnn_kernel_axis_concatenation,
    glcnn_kernel_axis_concatenation_gradient;

glcnn_status glcnn_axis_concatenation_create(glcnn_device *device, glcnn_axis axis,
                                             glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_axis_concatenation, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_axis_concatenation(*kernel)->axis = axis;
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

glcnn_status glcnn_axis_concatenation_gradient_create(glcnn_device *device,
                                                      bool is_secondary_source_filter,
                                                      glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_axis_concatenation_gradient, kernel);
    if (status == GLCNN_SUCCESS)
        glcnn_axis_concatenation(*kernel)->is_secondary_source_filter = is_secondary_source_filter;
    return status;
}

/* ---- Shape and check ---- */

enum { SECONDARY = ELEMENT_RESULT + 1 }; /* argument of the forward kernel */

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

static bool check(const struct operation *o, struct refusal refusal)
{
    static const char *const names[] = {"channels", "rows", "columns"};
    struct sizes first = sizes_of(&o->images[ELEMENT_SOURCE]);
    struct sizes second = sizes_of(&o->images[SECONDARY]);
    for (unsigned axis = 0; axis < 3; axis++)
        if (axis != parameters_of(o)->axis && first.of[axis] != second.of[axis])
            return refuse(refusal,
                          "the source has %u %s and the secondary source %u; joined along %s they "
                          "must agree in the others",
                          first.of[axis], names[axis], second.of[axis],
                          names[parameters_of(o)->axis]);
    return elements_check_size(o, refusal);
}

static struct operands operands(const void *parameters)
{
    const struct glcnn_axis_concatenation_parameters *p = parameters;
    enum argument_place of = p->is_secondary_source_filter ? PLACE_SECONDARY : PLACE_SOURCE;
    return (struct operands){of, of};
}

/* ---- Passes ---- */

static uint32_t size_along(const struct operation *o, int argument)
{
    return sizes_of(&o->images[argument]).of[parameters_of(o)->axis];
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    uint32_t first = size_along(o, ELEMENT_SOURCE);
    struct pass *pass = plan_elements(o, plan, "slice/joined.comp");
    pass_texture(pass, "secondary", &o->images[SECONDARY]);
    pass_define(pass, "AXIS", (int)parameters_of(o)->axis);
    pass_int(pass, "first", (int32_t)first);
    if (first % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
}

/* Elements of the result before those of the source that the gradient is by. */
static uint32_t start_of(const struct operation *o)
{
    return parameters_of(o)->is_secondary_source_filter
               ? size_along(o, ELEMENT_GRADIENT) - size_along(o, ELEMENT_IMAGE)
               : 0;
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    uint32_t start = start_of(o);
    struct pass *pass = plan_rearranged(o, plan, "slice/place_shifted.glsl");
    pass_define(pass, "AXIS", (int)parameters_of(o)->axis);
    pass_int(pass, "start", (int32_t)start);
    if (parameters_of(o)->axis != GLCNN_AXIS_CHANNELS || start % 4 == 0)
        pass_define(pass, "WHOLE_SLICES", 1);
}

/* ---- References ---- */

static int32_t *along(struct element *at, glcnn_axis axis)
{
    int32_t *const places[] = {&at->c, &at->y, &at->x};
    return places[axis];
}

/* Of the source or, beyond it, of the secondary source. */
static double joined_at(const struct reference *r, uint32_t n, struct element at)
{
    const struct operation *o = r->operation;
    int32_t *place = along(&at, parameters_of(o)->axis);
    int32_t first = (int32_t)size_along(o, ELEMENT_SOURCE);
    bool second = *place >= first;
    if (second)
        *place -= first;
    return *tensor_at(&r->images[second ? SECONDARY : ELEMENT_SOURCE], n, (uint32_t)at.c, at.y,
                      at.x);
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[ELEMENT_RESULT];
    struct element at;
    for (uint32_t n = 0; n < to->images; n++)
        for (at.c = 0; at.c < (int32_t)to->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    *tensor_at(to, n, (uint32_t)at.c, at.y, at.x) = joined_at(r, n, at);
}

static bool part_of_source(const struct operation *o, struct element at, struct element *from)
{
    *from = at;
    int32_t *place = along(from, parameters_of(o)->axis);
    *place -= (int32_t)start_of(o);
    return *place >= 0 && *place < (int32_t)size_along(o, ELEMENT_IMAGE);
}

static void gradient_reference(const struct reference *r)
{
    elements_gradient_reference(r, part_of_source);
}

/* ---- Cases ---- */

#define CASES(FILTER)                                                                              \
    {FILTER "", {1, 1, 3, 4}}, {FILTER "", {2, 3, 2, 4}, {2, 5, 2, 4}},                            \
        {FILTER "", {1, 4, 3, 2}, {1, 6, 3, 2}}, {FILTER "", {1, 9, 2, 2}, {1, 2, 2, 2}},          \
        {FILTER "axis=rows", {2, 5, 3, 4}, {2, 5, 2, 4}},                                          \
        {FILTER "axis=rows", {1, 3, 1, 6}, {1, 3, 4, 6}},                                          \
        {FILTER "axis=columns", {2, 6, 3, 4}, {2, 6, 3, 5}},                                       \
        {FILTER "axis=columns", {1, 2, 4, 7}, {1, 2, 4, 1}},                                       \
        {FILTER "clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_size_height=2",             \
         {2, 3, 4, 5},                                                                             \
         {2, 2, 4, 5}},                                                                            \
        {FILTER "axis=rows clip_rect_origin_y=2 clip_rect_size_height=3",                          \
         {1, 6, 4, 3},                                                                             \
         {1, 6, 3, 3}},                                                                            \
        {FILTER "primary_source_feature_channel_offset=4 "                                         \
                "primary_source_feature_channel_max_count=3",                                      \
         {2, 9, 3, 3},                                                                             \
         {2, 5, 3, 3}},                                                                            \
        {FILTER "destination_feature_channel_offset=4", {1, 3, 2, 3}, {1, 3, 2, 3}},               \
    {                                                                                              \
        FILTER "", {4, 37, 28, 27}, {4, 26, 28, 27}, true                                          \
    }

static const struct check_case cases[] = {CASES(""), {0}};
static const struct check_case gradient_cases[] = {
    CASES(""), CASES("is_secondary_source_filter=1 "), {0}};

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
    .parameters_size = sizeof(struct glcnn_axis_concatenation_parameters),
    .parameters = rows,
    ELEMENT_PAIR_ARGUMENTS,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_forward,
    .reference = reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_axis_concatenation_gradient = {
    .name = "axis_concatenation_gradient",
    .text = "gradient of axis_concatenation by one source",
    .family = "axis_concatenation",
    .without_gradient = "it is a gradient itself",
    .forward = "axis_concatenation",
    .flags = IS_BINARY | IS_GRADIENT | NEEDS_STATE,
    .operands = operands,
    .parameters_size = sizeof(struct glcnn_axis_concatenation_parameters),
    .parameters = gradient_rows,
    ELEMENT_PAIR_GRADIENT_ARGUMENTS,
    .check = elements_check_state,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = gradient_cases,
};
