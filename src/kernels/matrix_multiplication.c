/* Products of matrices: spec 7.21. A result and both gradients are one sum of products, which differ
 * in what they walk along. */
#include "glcnn/kernels/matrix_multiplication.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/elements.h"

struct glcnn_matrix_multiplication_parameters *glcnn_matrix_multiplication(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "matrix_multiplication");
}

/* ---- Constructors ---- */

extern const struct glcnn_descriptor glcnn_kernel_matrix_multiplication,
    glcnn_kernel_matrix_multiplication_gradient;

glcnn_status glcnn_matrix_multiplication_create(glcnn_device *device, glcnn_kernel **kernel)
{
    return kernel_create(device, &glcnn_kernel_matrix_multiplication, kernel);
}

glcnn_status glcnn_matrix_multiplication_gradient_create(glcnn_device *device,
                                                         bool is_secondary_source_filter,
                                                         glcnn_kernel **kernel)
{
    glcnn_status status =
        kernel_create(device, &glcnn_kernel_matrix_multiplication_gradient, kernel);
    if (status == GLCNN_SUCCESS)
        glcnn_matrix_multiplication(*kernel)->is_secondary_source_filter =
            is_secondary_source_filter;
    return status;
}

/* ---- Shape and check ---- */

enum { SECONDARY = ELEMENT_RESULT + 1 }; /* argument of the forward kernel */

static bool is_by_secondary(const void *parameters)
{
    const struct glcnn_matrix_multiplication_parameters *p = parameters;
    return p->is_secondary_source_filter;
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    result->height = o->images[ELEMENT_SOURCE].height;
    result->width = o->images[SECONDARY].width;
}

static bool check(const struct operation *o, struct refusal refusal)
{
    const struct image_view *first = &o->images[ELEMENT_SOURCE], *second = &o->images[SECONDARY];
    if (first->channels != second->channels)
        return refuse(refusal,
                      "the source has %u channels and the secondary source %u; there must be as "
                      "many matrices",
                      first->channels, second->channels);
    if (first->width != second->height)
        return refuse(refusal,
                      "the source has %u columns and the secondary source %u rows; they must be "
                      "equal",
                      first->width, second->height);
    return elements_check_size(o, refusal);
}

static struct operands operands(const void *parameters)
{
    bool secondary = is_by_secondary(parameters);
    return (struct operands){secondary ? PLACE_SECONDARY : PLACE_SOURCE,
                             secondary ? PLACE_SOURCE : PLACE_SECONDARY};
}

/* ---- Passes ---- */

enum product { RESULT, BY_SOURCE, BY_SECONDARY }; /* matrix/matrix_multiplication.comp */

static struct pass *plan_product(const struct operation *o, struct plan *plan, enum product product,
                                 int32_t first, int32_t last)
{
    const struct image_view *to =
        &o->images[product == RESULT ? ELEMENT_RESULT : ELEMENT_DESTINATION];
    struct pass *pass = plan_pixels(plan, o, "matrix/matrix_multiplication.comp", to);
    pass_image(pass, "destination", to);
    pass_define(pass, "PRODUCT", (int)product);
    pass_int(pass, "first", first);
    pass_int(pass, "last", last);
    pass->work = (uint32_t)(last > first ? last - first : 1) * 8;
    return pass;
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct image_view *left = &o->images[ELEMENT_SOURCE];
    struct pass *pass = plan_product(o, plan, RESULT, 0, (int32_t)left->width);
    pass_texture(pass, "left", left);
    pass_texture(pass, "right", &o->images[SECONDARY]);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct window *w = &o->window;
    bool secondary = is_by_secondary(o->parameters);
    struct pass *pass = secondary ? plan_product(o, plan, BY_SECONDARY, w->y.begin, w->y.end)
                                  : plan_product(o, plan, BY_SOURCE, w->x.begin, w->x.end);
    pass_texture(pass, secondary ? "right" : "left", &o->images[ELEMENT_GRADIENT]);
    pass_texture(pass, secondary ? "left" : "right", &o->images[ELEMENT_IMAGE]);
    pass_results(pass, o);
}

/* ---- References ---- */

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *a = &r->images[ELEMENT_SOURCE], *b = &r->images[SECONDARY];
    const struct tensor *to = &r->images[ELEMENT_RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t y = w->y.begin; y < w->y.end; y++)
                for (int32_t x = w->x.begin; x < w->x.end; x++)
                    for (int32_t k = 0; k < (int32_t)a->width; k++)
                        *tensor_at(to, n, c, y, x) +=
                            *tensor_at(a, n, c, y, k) * *tensor_at(b, n, c, k, x);
}

/* What G(y, x) adds by the chain rule. */
static void add_term(const struct reference *r, uint32_t n, struct element at)
{
    const struct tensor *given = &r->images[ELEMENT_IMAGE], *to = &r->images[ELEMENT_DESTINATION];
    uint32_t c = (uint32_t)at.c;
    bool secondary = is_by_secondary(r->operation->parameters);
    double g = *tensor_at(&r->images[ELEMENT_GRADIENT], n, c, at.y, at.x);
    for (int32_t k = 0; k < (int32_t)(secondary ? to->height : to->width); k++)
        if (secondary)
            *tensor_at(to, n, c, k, at.x) += g * *tensor_at(given, n, c, at.y, k);
        else
            *tensor_at(to, n, c, at.y, k) += g * *tensor_at(given, n, c, k, at.x);
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *g = &r->images[ELEMENT_GRADIENT];
    struct element at;
    for (uint32_t n = 0; n < g->images; n++)
        for (at.c = 0; at.c < (int32_t)g->channels; at.c++)
            for (at.y = w->y.begin; at.y < w->y.end; at.y++)
                for (at.x = w->x.begin; at.x < w->x.end; at.x++)
                    add_term(r, n, at);
}

/* ---- Cases ---- */

#define CASES(FILTER)                                                                              \
    {FILTER "", {1, 1, 3, 4}, {1, 1, 4, 5}}, {FILTER "", {2, 3, 2, 5}, {2, 3, 5, 3}},              \
        {FILTER "", {1, 4, 6, 1}, {1, 4, 1, 7}}, {FILTER "", {3, 5, 1, 8}, {3, 5, 8, 1}},          \
        {FILTER "", {2, 9, 4, 4}, {2, 9, 4, 4}}, {FILTER "", {1, 2, 5, 70}, {1, 2, 70, 6}},        \
        {FILTER "", {1, 6, 1, 1}, {1, 6, 1, 1}},                                                   \
        {FILTER "clip_rect_origin_x=1 clip_rect_origin_y=1 clip_rect_size_width=3 "                \
                "clip_rect_size_height=2",                                                         \
         {2, 3, 4, 3},                                                                             \
         {2, 3, 3, 5}},                                                                            \
        {FILTER "primary_source_feature_channel_offset=4 "                                         \
                "primary_source_feature_channel_max_count=3",                                      \
         {2, 9, 2, 4},                                                                             \
         {2, 3, 4, 3}},                                                                            \
        {FILTER "destination_feature_channel_offset=4", {1, 3, 2, 3}, {1, 3, 3, 2}},               \
    {                                                                                              \
        FILTER "", {2, 8, 49, 300}, {2, 8, 300, 33}, true                                          \
    }

static const struct check_case cases[] = {CASES(""), {0}};
static const struct check_case gradient_cases[] = {
    CASES(""), CASES("is_secondary_source_filter=1 "), {0}};

/* ---- Descriptors ---- */

static const struct parameter gradient_rows[] = {
    {"is_secondary_source_filter", "the gradient is by the secondary source", FIELD_BOOL,
     offsetof(struct glcnn_matrix_multiplication_parameters, is_secondary_source_filter), 0, 0, 1,
     NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_matrix_multiplication = {
    .name = "matrix_multiplication",
    .text = "product of two matrices for each channel of each image",
    .family = "matrix_multiplication",
    .gradient = "matrix_multiplication_gradient",
    .flags = IS_BINARY | MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_matrix_multiplication_parameters),
    ELEMENT_PAIR_ARGUMENTS,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_forward,
    .reference = reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_matrix_multiplication_gradient = {
    .name = "matrix_multiplication_gradient",
    .text = "gradient of matrix_multiplication by one source",
    .family = "matrix_multiplication",
    .without_gradient = "it is a gradient itself",
    .forward = "matrix_multiplication",
    .flags = IS_BINARY | IS_GRADIENT | NEEDS_STATE,
    .operands = operands,
    .parameters_size = sizeof(struct glcnn_matrix_multiplication_parameters),
    .parameters = gradient_rows,
    ELEMENT_PAIR_GRADIENT_ARGUMENTS,
    .check = elements_check_state,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = gradient_cases,
};
