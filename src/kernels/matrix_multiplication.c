/* Products of matrices: spec 7.21. A result and both gradients are one sum of products, which differ
 * in what they walk along. */
#include "glcnn/kernels/matrix_multiplication.h"

#include "encode/kernel.h"
#include "encode/implementation.h"
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

/* Of matrix_multiplication_tiled.comp. */
#define GROUP_SIZE 128u
#define DEPTH      8

/* As matrix/factors.glsl tells them apart. */
enum form { RESULT, BY_SOURCE, BY_SECONDARY };

/* A sum of products, over k from first to last - 1. */
struct product {
    const struct operation *operation;
    const struct image_view *left, *right, *to;
    enum form form;
    int32_t first, last;
};

struct tile {
    uint32_t rows, columns;
};
static const struct tile wide = {32, 64}, tall = {64, 32};

static uint32_t tile_count(const struct operation *o, const struct tile *t)
{
    return groups_of(o->region_height, t->rows) * groups_of(o->region_width, t->columns);
}

static const struct tile *tile_of(const struct operation *o)
{
    return tile_count(o, &tall) < tile_count(o, &wide) ? &tall : &wide;
}

/* A tile that is mostly empty is no gain. */
static bool fills_tiles(const void *shape)
{
    const struct product *p = shape;
    const struct operation *o = p->operation;
    const struct tile *t = tile_of(o);
    uint64_t covered = (uint64_t)tile_count(o, t) * t->rows * t->columns;
    return p->last - p->first >= DEPTH && 2ull * o->region_width * o->region_height >= covered;
}

static const struct implementation_list product_implementations = {
    "matrix_product",
    (const struct implementation[]){{"product_tiled", "matrix/matrix_multiplication_tiled.comp", 32,
                                     .shared_memory = true, .profitable.holds = fills_tiles},
                                    {"product_alone", "matrix/matrix_multiplication.comp"},
                                    {0}}};

static const struct implementation_list *const implementations[] = {&product_implementations, NULL};

static void share_tiles(struct pass *pass, const struct product *p)
{
    const struct operation *o = p->operation;
    const struct tile *t = tile_of(o);
    pass_define(pass, "ROWS", (int)t->rows);
    pass_define(pass, "COLUMNS", (int)t->columns);
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
    pass_grid(pass, groups_of(o->region_width, t->columns) * GROUP_SIZE,
              groups_of(o->region_height, t->rows), slice_count(p->to->channels) * p->to->images);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work *= 16;
}

static void plan_product(struct plan *plan, const struct product *p)
{
    const struct operation *o = p->operation;
    const struct implementation *row = implementation_choose(plan, &product_implementations, p);
    struct pass *pass = row->shared_memory ? plan_pass(plan, row->shader)
                                           : plan_pixels(plan, o, row->shader, p->to);
    pass_implementation(pass, row);
    pass_texture(pass, "left", p->left);
    pass_texture(pass, "right", p->right);
    pass_image(pass, "destination", p->to);
    pass_define(pass, "PRODUCT", (int)p->form);
    pass_int(pass, "first", p->first);
    pass_int(pass, "last", p->last);
    if (p->form != RESULT)
        pass_results(pass, o);
    pass->work = (uint32_t)(p->last > p->first ? p->last - p->first : 1) * 8;
    if (row->shared_memory)
        share_tiles(pass, p);
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct image_view *left = &o->images[ELEMENT_SOURCE];
    plan_product(plan, &(struct product){o, left, &o->images[SECONDARY], &o->images[ELEMENT_RESULT],
                                         RESULT, 0, (int32_t)left->width});
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct window *w = &o->window;
    const struct image_view *gradient = &o->images[ELEMENT_GRADIENT];
    const struct image_view *given = &o->images[ELEMENT_IMAGE];
    const struct image_view *to = &o->images[ELEMENT_DESTINATION];
    struct product by_source = {o, gradient, given, to, BY_SOURCE, w->x.begin, w->x.end},
                   by_secondary = {o, given, gradient, to, BY_SECONDARY, w->y.begin, w->y.end};
    plan_product(plan, is_by_secondary(o->parameters) ? &by_secondary : &by_source);
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
        {FILTER "clip_rect_origin_x=1 clip_rect_origin_y=2", {1, 2, 35, 19}, {1, 2, 19, 67}},      \
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
    .implementations = implementations,
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
    .implementations = implementations,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = gradient_cases,
};
