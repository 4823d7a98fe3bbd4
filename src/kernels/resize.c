/* Resizing: spec 7.19. Positions are fractions of whole numbers, so that what is nearest does not
 * depend on rounding, and a gradient finds the results that read a pixel exactly. */
#include "kernels/resize.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "kernels/elements.h"

#define MOST_PIXELS 16384 /* a side */
#define MOST_TERM   4096  /* of a scale's fraction */

bool resize_is_linear(const struct operation *o)
{
    return *(const bool *)o->descriptor->form;
}

/* ---- Positions ---- */

struct fraction {
    int32_t p, q;
};

/* The last convergent of its continued fraction with terms up to MOST_TERM: float32 has the scale to
 * 6e-8 of itself. */
static struct fraction fraction_of(double value)
{
    double rest = value;
    int64_t p = 1, q = 0, last_p = 0, last_q = 1;
    while (rest <= MOST_TERM) {
        int64_t whole = (int64_t)floor(rest);
        int64_t next_p = whole * p + last_p, next_q = whole * q + last_q;
        if (next_p > MOST_TERM || next_q > MOST_TERM)
            break;
        last_p = p, last_q = q;
        p = next_p, q = next_q;
        if (fabs((double)p / (double)q - value) <= 1e-7 * value)
            break;
        rest = 1 / (rest - (double)whole);
    }
    return (struct fraction){(int32_t)p, (int32_t)q};
}

static struct fraction scale_of(float scale, uint32_t size, uint32_t resized)
{
    return scale != 0 ? fraction_of((double)scale)
                      : (struct fraction){(int32_t)resized, (int32_t)size};
}

static struct positions positions_of(glcnn_resize_position position, float scale, uint32_t size,
                                     uint32_t resized)
{
    struct fraction s = scale_of(scale, size, resized);
    const struct positions first = {0, 0, 1}, half = {2 * s.q, s.q - s.p, 2 * s.p};
    switch (position) {
    case GLCNN_RESIZE_POSITION_ASYMMETRIC:
        return (struct positions){s.q, 0, s.p};
    case GLCNN_RESIZE_POSITION_ALIGN_CORNERS:
        return resized == 1 ? first
                            : (struct positions){(int32_t)size - 1, 0, (int32_t)resized - 1};
    case GLCNN_RESIZE_POSITION_PYTORCH_HALF_PIXEL:
        return resized == 1 ? first : half;
    default:
        return half;
    }
}

/* What the whole part of is the number that a position is rounded to. */
static struct positions rounded(struct positions p, glcnn_resize_rounding rounding)
{
    const struct positions twice = {2 * p.factor, 2 * p.shift, 2 * p.divisor};
    switch (rounding) {
    case GLCNN_RESIZE_ROUNDING_PREFER_FLOOR:
        return (struct positions){twice.factor, twice.shift + p.divisor - 1, twice.divisor};
    case GLCNN_RESIZE_ROUNDING_PREFER_CEIL:
        return (struct positions){twice.factor, twice.shift + p.divisor, twice.divisor};
    case GLCNN_RESIZE_ROUNDING_CEIL:
        return (struct positions){p.factor, p.shift + p.divisor - 1, p.divisor};
    default:
        return p;
    }
}

struct both_positions resize_positions(const struct operation *o)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    const struct image_view *from = elements_source(o), *to = elements_result(o);
    return (struct both_positions){positions_of(p->position, p->scale_x, from->width, to->width),
                                   positions_of(p->position, p->scale_y, from->height, to->height)};
}

/* ---- Shape and check ---- */

/* Scales whose product with the size is whole up to a float's rounding count as such. */
static uint32_t resized(uint32_t wanted, float scale, uint32_t size)
{
    if (wanted || scale == 0)
        return wanted ? wanted : size;
    struct fraction s = fraction_of((double)scale);
    uint64_t whole = (uint64_t)size * (uint32_t)s.p / (uint32_t)s.q;
    return whole < 1 ? 1 : whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    result->width = resized(p->resized_width, p->scale_x, elements_source(o)->width);
    result->height = resized(p->resized_height, p->scale_y, elements_source(o)->height);
}

static bool check_axis(const char *what, uint32_t wanted, float scale, uint32_t size,
                       struct validation validation)
{
    char text[NUMBER_TEXT];
    if (scale != 0 && !((double)scale >= 1.0 / MOST_TERM))
        return invalid(validation, "the scale of the %s is %s; it must be 1/%d at least", what,
                       number_format(text, (double)scale), MOST_TERM);
    uint32_t made = resized(wanted, scale, size);
    if (wanted == 0 && scale != 0 && (double)size * (double)scale < 1 - 1e-6)
        return invalid(validation, "%u %s by a scale of %s are none", size, what,
                       number_format(text, (double)scale));
    if (size <= MOST_PIXELS && made <= MOST_PIXELS)
        return true;
    return invalid(validation, "%u %s become %u; there may be %d of either", size, what, made,
                   MOST_PIXELS);
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    const struct image_view *from = elements_source(o);
    return check_axis("columns", p->resized_width, p->scale_x, from->width, validation) &&
           check_axis("rows", p->resized_height, p->scale_y, from->height, validation) &&
           elements_check_size(o, validation);
}

/* ---- Passes ---- */

static void plan_resize(const struct operation *o, struct plan *plan)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    bool gradient = operation_is_gradient(o);
    struct pass *pass = plan_elements(
        o, plan, gradient ? "upsampling/resize_gradient.comp" : "upsampling/resize.comp");
    struct both_positions at = resize_positions(o);
    if (resize_is_linear(o)) {
        pass_define(pass, "LINEAR", 1);
    } else {
        at.x = rounded(at.x, p->rounding);
        at.y = rounded(at.y, p->rounding);
    }
    pass_int(pass, "factor_x", at.x.factor);
    pass_int(pass, "factor_y", at.y.factor);
    pass_int(pass, "shift_x", at.x.shift);
    pass_int(pass, "shift_y", at.y.shift);
    pass_int(pass, "divisor_x", at.x.divisor);
    pass_int(pass, "divisor_y", at.y.divisor);
}

/* ---- Descriptors ---- */

static const char *const position_names[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                             "align_corners", NULL};
static const char *const rounding_names[] = {"prefer_floor", "prefer_ceil", "floor", "ceil", NULL};

#define FIELD(MEMBER) offsetof(struct glcnn_resize_parameters, MEMBER)
#define SIZES                                                                                      \
    {"resized_width",                                                                              \
     "columns of the result; 0: by scale_x",                                                       \
     FIELD_UINT32,                                                                                 \
     FIELD(resized_width),                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     MOST_PIXELS,                                                                                  \
     NULL},                                                                                        \
        {"resized_height",                                                                         \
         "rows of the result; 0: by scale_y",                                                      \
         FIELD_UINT32,                                                                             \
         FIELD(resized_height),                                                                    \
         0,                                                                                        \
         0,                                                                                        \
         MOST_PIXELS,                                                                              \
         NULL},                                                                                    \
        {"scale_x",   "result by source columns; 0: as the sizes are",                             \
         FIELD_FLOAT, FIELD(scale_x),                                                              \
         0,           0,                                                                           \
         MOST_TERM,   NULL},                                                                       \
        {"scale_y",   "result by source rows; 0: as the sizes are",                                \
         FIELD_FLOAT, FIELD(scale_y),                                                              \
         0,           0,                                                                           \
         MOST_TERM,   NULL},                                                                       \
    {                                                                                              \
        "resize_position", "where results lie in the source", FIELD_ENUM, FIELD(position), 0, 0,   \
            0, position_names                                                                      \
    }

static const struct parameter nearest_rows[] = {SIZES,
                                                {"resize_rounding",
                                                 "which pixel is next to a position", FIELD_ENUM,
                                                 FIELD(rounding), 0, 0, 0, rounding_names},
                                                {0}};
static const struct parameter linear_rows[] = {SIZES, {0}};

static const bool linear = true, nearest = false;

const struct glcnn_descriptor glcnn_kernel_resize_nearest = {
    .name = "resize_nearest",
    .form = &nearest,
    .text = "another size, each pixel the nearest of the source",
    .family = "resize_nearest",
    .gradient = "resize_nearest_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_resize_parameters),
    .parameters = nearest_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_resize,
};
const struct glcnn_descriptor glcnn_kernel_resize_nearest_gradient = {
    .name = "resize_nearest_gradient",
    .form = &nearest,
    .text = "gradient of resize_nearest",
    .family = "resize_nearest",
    .forward = "resize_nearest",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_resize_parameters),
    .parameters = nearest_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_resize,
};

const struct glcnn_descriptor glcnn_kernel_resize_linear = {
    .name = "resize_linear",
    .form = &linear,
    .text = "another size, with linear interpolation between pixels",
    .family = "resize_linear",
    .gradient = "resize_linear_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_resize_parameters),
    .parameters = linear_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_resize,
};
const struct glcnn_descriptor glcnn_kernel_resize_linear_gradient = {
    .name = "resize_linear_gradient",
    .form = &linear,
    .text = "gradient of resize_linear",
    .family = "resize_linear",
    .forward = "resize_linear",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_resize_parameters),
    .parameters = linear_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_resize,
};

/* ---- Typed access ---- */

struct glcnn_resize_parameters *glcnn_resize(glcnn_kernel *kernel)
{
    struct glcnn_resize_parameters *parameters = kernel_parameters(kernel, "resize_nearest");
    return parameters ? parameters : kernel_parameters(kernel, "resize_linear");
}
