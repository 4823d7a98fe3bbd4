/* Resizing: spec 7.19. Positions are fractions of whole numbers, so that what is nearest does not
 * depend on rounding, and a gradient finds the results that read a pixel exactly. */
#include "glcnn/kernels/resize.h"

#include <math.h>
#include <string.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "kernels/elements.h"

#define MOST_PIXELS 16384 /* a side */
#define MOST_TERM   4096  /* of a scale's fraction */

static const char *const families[] = {"resize_nearest", "resize_linear"};

struct glcnn_resize_parameters *glcnn_resize(glcnn_kernel *kernel)
{
    struct glcnn_resize_parameters *parameters = kernel_parameters(kernel, families[0]);
    return parameters ? parameters : kernel_parameters(kernel, families[1]);
}

static bool is_linear(const struct operation *o)
{
    return strcmp(o->descriptor->family, families[1]) == 0;
}

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME, glcnn_kernel_##NAME##_gradient;      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device,                                       \
                                       const struct glcnn_resize_parameters *parameters,           \
                                       glcnn_kernel **kernel)                                      \
    {                                                                                              \
        return kernel_create_with(device, &glcnn_kernel_##NAME, parameters, kernel);               \
    }                                                                                              \
    glcnn_status glcnn_##NAME##_gradient_create(glcnn_device *device, glcnn_kernel **kernel)       \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME##_gradient, kernel);                     \
    }

DEFINE_CREATE(resize_nearest)
DEFINE_CREATE(resize_linear)

/* ---- Positions ---- */

/* Of result X: (factor X + shift) / divisor. */
struct positions {
    int32_t factor, shift, divisor;
};

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

struct both_positions {
    struct positions x, y;
};

static struct both_positions positions(const struct operation *o)
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
                       struct refusal refusal)
{
    char text[NUMBER_TEXT];
    if (scale != 0 && !((double)scale >= 1.0 / MOST_TERM))
        return refuse(refusal, "the scale of the %s is %s; it must be 1/%d at least", what,
                      number_format(text, (double)scale), MOST_TERM);
    uint32_t made = resized(wanted, scale, size);
    if (wanted == 0 && scale != 0 && (double)size * (double)scale < 1 - 1e-6)
        return refuse(refusal, "%u %s by a scale of %s are none", size, what,
                      number_format(text, (double)scale));
    if (size <= MOST_PIXELS && made <= MOST_PIXELS)
        return true;
    return refuse(refusal, "%u %s become %u; there may be %d of either", size, what, made,
                  MOST_PIXELS);
}

static bool check(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    const struct image_view *from = elements_source(o);
    return check_axis("columns", p->resized_width, p->scale_x, from->width, refusal) &&
           check_axis("rows", p->resized_height, p->scale_y, from->height, refusal) &&
           elements_check_size(o, refusal);
}

/* ---- Passes ---- */

static void plan_resize(const struct operation *o, struct plan *plan)
{
    const struct glcnn_resize_parameters *p = o->parameters;
    bool gradient = o->descriptor->flags & IS_GRADIENT;
    struct pass *pass = plan_elements(
        o, plan, gradient ? "upsampling/resize_gradient.comp" : "upsampling/resize.comp");
    struct both_positions at = positions(o);
    if (is_linear(o)) {
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

/* ---- References ---- */

/* Two source pixels of one axis and their shares. */
struct blend {
    int32_t from[2];
    double share[2];
};

static int32_t inside(double position, uint32_t size)
{
    return (int32_t)fmin(fmax(position, 0), (double)size - 1);
}

static double round_position(double at, glcnn_resize_rounding rounding)
{
    const double numbers[] = {ceil(at - 0.5), floor(at + 0.5), floor(at), ceil(at)};
    return numbers[rounding];
}

static struct blend blend_of(const struct operation *o, const struct positions *p, uint32_t size,
                             int32_t X)
{
    const struct glcnn_resize_parameters *parameters = o->parameters;
    double at = ((double)p->factor * X + p->shift) / p->divisor, low = floor(at);
    if (is_linear(o))
        return (struct blend){{inside(low, size), inside(low + 1, size)}, {low + 1 - at, at - low}};
    int32_t nearest = inside(round_position(at, parameters->rounding), size);
    return (struct blend){{nearest, nearest}, {1, 0}};
}

/* Calls for each of the four source pixels of a result pixel. */
typedef void (*visit)(const struct reference *r, struct element at, uint32_t n, struct element from,
                      double share);

static void visit_pixel(const struct reference *r, struct element at, uint32_t n, visit call)
{
    struct both_positions p = positions(r->operation);
    struct blend y = blend_of(r->operation, &p.y, elements_source(r->operation)->height, at.y);
    struct blend x = blend_of(r->operation, &p.x, elements_source(r->operation)->width, at.x);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            if (y.share[j] != 0 && x.share[i] != 0)
                call(r, at, n, (struct element){y.from[j], x.from[i], at.c},
                     y.share[j] * x.share[i]);
}

static void visit_all(const struct reference *r, const struct tensor *results, visit call)
{
    const struct window *w = &r->operation->window;
    struct element at;
    for (uint32_t n = 0; n < results->images; n++)
        for (at.c = 0; at.c < (int32_t)results->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    visit_pixel(r, at, n, call);
}

static void add_source(const struct reference *r, struct element at, uint32_t n,
                       struct element from, double share)
{
    *tensor_at(&r->images[ELEMENT_RESULT], n, (uint32_t)at.c, at.y, at.x) +=
        share * *tensor_at(&r->images[ELEMENT_SOURCE], n, (uint32_t)from.c, from.y, from.x);
}

static void add_gradient(const struct reference *r, struct element at, uint32_t n,
                         struct element from, double share)
{
    *tensor_at(&r->images[ELEMENT_DESTINATION], n, (uint32_t)from.c, from.y, from.x) +=
        share * *tensor_at(&r->images[ELEMENT_GRADIENT], n, (uint32_t)at.c, at.y, at.x);
}

static void reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_RESULT], add_source);
}

static void gradient_reference(const struct reference *r)
{
    visit_all(r, &r->images[ELEMENT_GRADIENT], add_gradient);
}

/* ---- Cases ---- */

#define CASES                                                                                      \
    {"resized_width=7 resized_height=5", {1, 3, 3, 4}},                                            \
        {"resized_width=3 resized_height=2", {2, 5, 5, 7}},                                        \
        {"resized_width=8 resized_height=6 resize_position=asymmetric", {2, 4, 3, 4}},             \
        {"resized_width=5 resized_height=4 resize_position=asymmetric", {1, 6, 7, 8}},             \
        {"resized_width=9 resized_height=3 resize_position=align_corners", {1, 2, 6, 5}},          \
        {"resized_width=1 resized_height=8 resize_position=align_corners", {2, 3, 4, 3}},          \
        {"resized_width=1 resized_height=6 resize_position=pytorch_half_pixel", {1, 7, 3, 5}},     \
        {"resized_width=1 resized_height=1", {2, 2, 4, 5}},                                        \
        {"scale_x=1.5 scale_y=0.6", {1, 3, 5, 4}}, {"scale_x=0.6 scale_y=2.5", {2, 2, 3, 4}},      \
        {"scale_x=2 resized_height=5 resize_position=asymmetric", {1, 5, 3, 3}},                   \
        {"resized_width=4 resized_height=3", {3, 9, 1, 1}},                                        \
        {"resized_width=7 resized_height=8 clip_rect_origin_x=1 clip_rect_origin_y=2 "             \
         "clip_rect_size_width=4 clip_rect_size_height=5",                                         \
         {2, 2, 4, 4}},                                                                            \
        {"resized_width=6 resized_height=2 source_feature_channel_offset=4 "                       \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 3, 4}},                                                                            \
        {"resized_width=3 resized_height=5 destination_feature_channel_offset=4", {1, 3, 4, 4}},   \
    {                                                                                              \
        "resized_width=41 resized_height=17", {3, 37, 28, 27}, {0}, true                           \
    }

#define ROUNDINGS                                                                                  \
    {"resized_width=6 resized_height=2 resize_rounding=prefer_ceil", {1, 3, 4, 4}},                \
        {"resized_width=6 resized_height=3 resize_rounding=floor", {1, 3, 4, 5}},                  \
        {"resized_width=6 resized_height=3 resize_rounding=ceil resize_position=asymmetric",       \
         {2, 3, 4, 5}},                                                                            \
    {                                                                                              \
        "scale_x=2 scale_y=3 resize_rounding=floor resize_position=asymmetric",                    \
        {                                                                                          \
            1, 4, 3, 5                                                                             \
        }                                                                                          \
    }

static const struct check_case nearest_cases[] = {CASES, ROUNDINGS, {0}};
static const struct check_case linear_cases[] = {CASES, {0}};

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

#define FORWARD(NAME, TEXT, KIND)                                                                  \
    .name = NAME, .text = TEXT, .family = NAME, .gradient = NAME "_gradient",                      \
    .flags = MAKES_STATE, .parameters_size = sizeof(struct glcnn_resize_parameters),               \
    .parameters = KIND##_rows, ELEMENT_ARGUMENTS, .keeps_zero = descriptor_always, .shape = shape, \
    .check = check, .plan = plan_resize, .reference = reference, .cases = KIND##_cases

#define BACKWARD(NAME, KIND)                                                                       \
    .name = NAME "_gradient", .text = "gradient of " NAME, .family = NAME,                         \
    .without_gradient = "it is a gradient itself", .forward = NAME,                                \
    .flags = IS_GRADIENT | NEEDS_STATE, .parameters_size = sizeof(struct glcnn_resize_parameters), \
    .parameters = KIND##_rows, ELEMENT_GRADIENT_ARGUMENTS, .check = elements_check_state,          \
    .plan = plan_resize, .reference = gradient_reference, .cases = KIND##_cases

const struct glcnn_descriptor glcnn_kernel_resize_nearest = {
    FORWARD("resize_nearest", "another size, each pixel the nearest of the source", nearest)};
const struct glcnn_descriptor glcnn_kernel_resize_nearest_gradient = {
    BACKWARD("resize_nearest", nearest)};
const struct glcnn_descriptor glcnn_kernel_resize_linear = {
    FORWARD("resize_linear", "another size, with linear interpolation between pixels", linear)};
const struct glcnn_descriptor glcnn_kernel_resize_linear_gradient = {
    BACKWARD("resize_linear", linear)};
