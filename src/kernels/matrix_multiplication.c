/* Products of matrices: spec 7.21. A result and both gradients are one sum of products, which differ
 * in what they walk along. */
#include "kernels/matrix_multiplication.h"

#include "encode/kernel.h"
#include "encode/implementation.h"
#include "encode/window.h"
#include "kernels/elements.h"

/* ---- Shape and check ---- */

bool matrix_multiplication_by_secondary(const void *parameters)
{
    const struct glcnn_matrix_multiplication_parameters *p = parameters;
    return p->is_secondary_source_filter;
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    result->height = o->images[ELEMENT_SOURCE].height;
    result->width = o->images[SECONDARY].width;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct image_view *first = &o->images[ELEMENT_SOURCE], *second = &o->images[SECONDARY];
    if (first->channels != second->channels)
        return invalid(validation,
                       "the source has %u channels and the secondary source %u; there must be as "
                       "many matrices",
                       first->channels, second->channels);
    if (first->width != second->height)
        return invalid(validation,
                       "the source has %u columns and the secondary source %u rows; they must be "
                       "equal",
                       first->width, second->height);
    return elements_check_size(o, validation);
}

static struct operands operands(const void *parameters)
{
    bool secondary = matrix_multiplication_by_secondary(parameters);
    return (struct operands){secondary ? PLACE_SECONDARY : PLACE_SOURCE,
                             secondary ? PLACE_SOURCE : PLACE_SECONDARY};
}

/* ---- Passes ---- */

void pass_product(struct pass *pass, const struct product *p)
{
    pass_texture(pass, "left", p->left);
    pass_texture(pass, "right", p->right);
    pass_image(pass, "destination", p->to);
    pass_define(pass, "PRODUCT", (int)p->form);
    pass_int(pass, "first", p->first);
    pass_int(pass, "last", p->last);
    if (p->form != RESULT)
        pass_results(pass, &p->operation->window);
    pass->work = (uint32_t)(p->last > p->first ? p->last - p->first : 1) * 8;
}

static void plan_elements_each(struct plan *plan, const struct implementation *row,
                               const void *problem)
{
    const struct product *p = problem;
    struct pass *pass = plan_pixels(plan, p->operation, row->shader, p->to);
    pass_implementation(pass, row);
    pass_product(pass, p);
}

static const struct implementation_list product_implementations = {
    "matrix_product",
    (const struct implementation[]){
        {"product_elements", "matrix/matrix_multiplication.comp", .plan = plan_elements_each},
        {0}}};

static const struct implementation_list *const implementations[] = {&product_implementations, NULL};

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct image_view *left = &o->images[ELEMENT_SOURCE];
    implementation_plan(plan, &product_implementations,
                        &(struct product){o, left, &o->images[SECONDARY],
                                          &o->images[ELEMENT_RESULT], RESULT, 0,
                                          (int32_t)left->width});
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct window *w = &o->window;
    const struct image_view *gradient = &o->images[ELEMENT_GRADIENT];
    const struct image_view *given = &o->images[ELEMENT_IMAGE];
    const struct image_view *to = &o->images[ELEMENT_DESTINATION];
    struct product by_source = {o, gradient, given, to, BY_SOURCE, w->x.begin, w->x.end},
                   by_secondary = {o, given, gradient, to, BY_SECONDARY, w->y.begin, w->y.end};
    implementation_plan(plan, &product_implementations,
                        matrix_multiplication_by_secondary(o->parameters) ? &by_secondary
                                                                          : &by_source);
}

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
    .unread = UNREAD_BOTH,
    .parameters_size = sizeof(struct glcnn_matrix_multiplication_parameters),
    .arguments = element_pair_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .implementations = implementations,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_matrix_multiplication_gradient = {
    .name = "matrix_multiplication_gradient",
    .text = "gradient of matrix_multiplication by one source",
    .family = "matrix_multiplication",
    .forward = "matrix_multiplication",
    .flags = IS_BINARY | IS_GRADIENT | NEEDS_STATE,
    .operands = operands,
    .parameters_size = sizeof(struct glcnn_matrix_multiplication_parameters),
    .parameters = gradient_rows,
    .arguments = element_pair_gradient_arguments,
    .check = elements_check_state,
    .implementations = implementations,
    .plan = plan_gradient,
};
