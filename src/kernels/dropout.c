/* Dropout and its gradient: spec 7.10. The mask is drawn into the state's vector, so that the
 * gradient and the program read what the forward kernel used: where each value has an element of its
 * own by the pass that uses it, else by one before that. The mask belongs to pixels of the source:
 * one that is read twice, at a clamped border, is kept or dropped once. */
#include "kernels/dropout.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/pointwise.h"

static bool check_probability(float p, struct validation validation)
{
    char text[NUMBER_TEXT];
    if (p > 0 && p < 1)
        return true;
    return invalid(validation, "keep_probability is %s; it must lie between 0 and 1, both excluded",
                   number_format(text, (double)p));
}

/* ---- The mask's extent ---- */

static const struct image_view *masked_view(const struct operation *o)
{
    return &o->images[operation_is_gradient(o) ? IMAGE : SOURCE];
}

struct extent dropout_mask_extent(const struct operation *o)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    const struct image_view *view = masked_view(o);
    return (struct extent){p->mask_stride_in_pixels_x ? view->width : 1,
                           p->mask_stride_in_pixels_y ? view->height : 1,
                           p->mask_stride_in_feature_channels ? view->channels : 1, view->images};
}

size_t dropout_mask_length(const struct operation *o)
{
    struct extent e = dropout_mask_extent(o);
    return masked_view(o)->channels ? (size_t)e.width * e.height * e.channels : 0;
}

size_t dropout_mask_words(const struct operation *o)
{
    return (dropout_mask_length(o) + 15) / 16;
}

static size_t length(const struct operation *o, size_t index)
{
    (void)index;
    return dropout_mask_words(o) * masked_view(o)->images;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    if (!check_probability(p->keep_probability, validation))
        return false;
    size_t elements = dropout_mask_length(o) * masked_view(o)->images;
    if (elements <= INT32_MAX)
        return true;
    return invalid(validation, "a mask of %zu elements is more than the %d that can be counted",
                   elements, INT32_MAX);
}

/* ---- Passes ---- */

/* Results and source are pixel by pixel the same. */
static bool is_whole(const struct axis *axis, uint32_t source, uint32_t first, uint32_t count)
{
    return axis->first == 0 && axis->begin == 0 && axis->end == (int32_t)source && first == 0 &&
           count == source;
}

/* Four slices of a pixel have a word of the mask to themselves. */
static bool are_words(const void *operation)
{
    const struct operation *o = operation;
    const struct glcnn_dropout_parameters *p = o->parameters;
    const struct image_view *view = masked_view(o);
    return p->mask_stride_in_pixels_x && p->mask_stride_in_pixels_y &&
           p->mask_stride_in_feature_channels && view->channels % 16 == 0 &&
           is_whole(&o->window.x, view->width, o->region_x, o->region_width) &&
           is_whole(&o->window.y, view->height, o->region_y, o->region_height);
}

static bool are_gradient_words(const void *operation)
{
    const struct operation *o = operation;
    return are_words(o) && pointwise_is_direct(o, &o->images[GRADIENT], &o->images[IMAGE]);
}

/* A commit that replays the encode is one more encode. */
static void redraw(struct glcnn_kernel *kernel, struct pass *pass)
{
    pass_update_int(pass, "encode_number", (int32_t)kernel->encode_count++);
}

static void pass_draw(struct pass *pass, const struct operation *o)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    pass_int(pass, "encode_number", (int32_t)o->encode_number);
    pass_int(pass, "seed_low", (int32_t)(uint32_t)p->seed);
    pass_int(pass, "seed_high", (int32_t)(uint32_t)(p->seed >> 32));
    double kept = ceil(ldexp((double)p->keep_probability, 24));
    pass_int(pass, "kept_below", (int32_t)((uint32_t)kept << 8));
    pass->work = 512;
    pass->refresh = redraw;
}

static void plan_mask(const struct operation *o, struct plan *plan, const struct vector_view *mask)
{
    struct pass *pass = plan_pass(plan, "dropout/dropout_mask.comp");
    pass_vector(pass, "mask", mask, VECTOR_WRITE);
    pass_int(pass, "length_of_image", (int32_t)dropout_mask_length(o));
    pass_draw(pass, o);
    pass_grid(pass, (uint32_t)dropout_mask_words(o), o->images[SOURCE].images, 1);
    pass_local(pass, 64, 1, 1);
}

static void pass_mask(struct pass *pass, const struct operation *o, const struct vector_view *mask)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    pass_vector(pass, "mask", mask, VECTOR_READ);
    pass_float(pass, "keep_probability", p->keep_probability);
    pass_define(pass, "MASK_STRIDE_X", (int)p->mask_stride_in_pixels_x);
    pass_define(pass, "MASK_STRIDE_Y", (int)p->mask_stride_in_pixels_y);
    pass_define(pass, "MASK_STRIDE_C", (int)p->mask_stride_in_feature_channels);
}

static void plan_masked(struct plan *plan, const struct implementation *row, const void *operation)
{
    const struct operation *o = operation;
    size_t first = plan->pass_count;
    struct vector_view mask =
        o->given[MASK] ? o->vectors[MASK] : plan_scratch_vector(plan, length(o, MASK));
    plan_mask(o, plan, &mask);
    plan_implementation(plan, first, row);
    struct pass *pass = plan_pointwise_result(plan, o, "dropout/dropout.comp");
    pass_mask(pass, o, &mask);
}

/* Of pixels that lie alike in both. */
static struct pass *plan_words(const struct operation *o, struct plan *plan,
                               const struct image_view *source, const struct image_view *to)
{
    const struct glcnn_dropout_parameters *p = o->parameters;
    struct pass *pass = plan_pass(plan, "dropout/dropout_words.comp");
    pass_grid(pass, source->width, source->height, source->images * source->channels / 16);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", to);
    pass_float(pass, "keep_probability", p->keep_probability);
    return pass;
}

static void plan_drawn(struct plan *plan, const struct implementation *row, const void *operation)
{
    const struct operation *o = operation;
    struct pass *pass = plan_words(o, plan, &o->images[SOURCE], &o->images[RESULT]);
    pass_define(pass, "DRAWN", 1);
    pass_library(pass, "dropout/drawn.glsl");
    pass_draw(pass, o);
    pass_implementation(pass, row);
    if (!o->given[MASK])
        return;
    pass_define(pass, "KEPT", 1);
    pass_vector(pass, "mask", &o->vectors[MASK], VECTOR_WRITE);
}

static void plan_gradient_words(struct plan *plan, const struct implementation *row,
                                const void *operation)
{
    const struct operation *o = operation;
    const struct image_view *to = &o->images[DESTINATION];
    struct pass *pass = plan_words(o, plan, &o->images[GRADIENT], to);
    pass_vector(pass, "mask", &o->vectors[GRADIENT_MASK], VECTOR_READ);
    pass_overwrites(pass, to, 0, 0, o->region_width, o->region_height, 4);
    pass_implementation(pass, row);
}

static void plan_gradient_masked(struct plan *plan, const struct implementation *row,
                                 const void *operation)
{
    const struct operation *o = operation;
    struct pass *pass = plan_pointwise_gradient(plan, o, "dropout/dropout_gradient.comp");
    pass_mask(pass, o, &o->vectors[GRADIENT_MASK]);
    if (are_gradient_words(o))
        pass_implementation(pass, row);
}

/* ---- Choice ---- */

#define WHOLE_IMAGES                                                                               \
    "whole images of a multiple of 16 channels, and a mask with an element for each value"

static const struct implementation_list rows = {
    "dropout",
    (const struct implementation[]){{"dropout_drawn", .registers = 12,
                                     .supported = {are_words, WHOLE_IMAGES}, .plan = plan_drawn},
                                    {"dropout_masked", .plan = plan_masked},
                                    {0}}};
static const struct implementation_list gradient_rows = {
    "dropout_gradient",
    (const struct implementation[]){{"dropout_gradient_words", .registers = 12,
                                     .supported = {are_gradient_words, WHOLE_IMAGES},
                                     .plan = plan_gradient_words},
                                    {"dropout_gradient_masked", .plan = plan_gradient_masked},
                                    {0}}};
static const struct implementation_list *const forward_implementations[] = {&rows, &pointwise_rows,
                                                                            NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows,
                                                                             &pointwise_rows, NULL};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"keep_probability", "probability that a value is kept; between 0 and 1, both excluded",
     FIELD_FLOAT, offsetof(struct glcnn_dropout_parameters, keep_probability), 0.5, 0, 1, NULL},
    {"seed", "of the generator of masks", FIELD_UINT64,
     offsetof(struct glcnn_dropout_parameters, seed), 0, 0, 0x1p64, NULL},
    {"mask_stride_in_pixels_x", "0: one mask value for all columns", FIELD_UINT32,
     offsetof(struct glcnn_dropout_parameters, mask_stride_in_pixels_x), 1, 0, 1, NULL},
    {"mask_stride_in_pixels_y", "0: one mask value for all rows", FIELD_UINT32,
     offsetof(struct glcnn_dropout_parameters, mask_stride_in_pixels_y), 1, 0, 1, NULL},
    {"mask_stride_in_feature_channels", "0: one mask value for all channels", FIELD_UINT32,
     offsetof(struct glcnn_dropout_parameters, mask_stride_in_feature_channels), 1, 0, 1, NULL},
    {0}};

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "mask", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_dropout = {
    .name = "dropout",
    .mps_class = "MPSCNNDropout",
    .text = "values at random set to 0, the others scaled so that the mean stays",
    .family = "dropout",
    .gradient = "dropout_gradient",
    .flags = MAKES_STATE | DRAWS_RANDOM,
    .keeps_zero = descriptor_always,
    .parameters_size = sizeof(struct glcnn_dropout_parameters),
    .parameters = parameters,
    .arguments = forward_arguments,
    .length = length,
    .check = check,
    .implementations = forward_implementations,
    .plan = descriptor_plan,
};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "mask", .place = PLACE_STATE, .input = true, .forward_fills = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_dropout_gradient = {
    .name = "dropout_gradient",
    .mps_class = "MPSCNNDropoutGradient",
    .text = "gradient of dropout, by the mask of its state",
    .family = "dropout",
    .forward = "dropout",
    .flags = IS_GRADIENT | NEEDS_STATE | PIXEL_MANUAL,
    .parameters_size = sizeof(struct glcnn_dropout_parameters),
    .parameters = parameters,
    .arguments = gradient_arguments,
    .length = length,
    .check = check,
    .implementations = gradient_implementations,
    .plan = descriptor_plan,
};

/* ---- Constructors ---- */

static glcnn_status create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           float keep_probability, uint64_t seed, glcnn_kernel **kernel)
{
    char message[256];
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_dropout(*kernel)->keep_probability = keep_probability;
    glcnn_dropout(*kernel)->seed = seed;
    if (!check_probability(keep_probability, (struct validation){message, sizeof message}))
        status = device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: %s", descriptor->name, message);
    return kernel_finish(kernel, status);
}

glcnn_status glcnn_dropout_create(glcnn_device *device, float keep_probability, uint64_t seed,
                                  glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_dropout, keep_probability, seed, kernel);
}

glcnn_status glcnn_dropout_gradient_create(glcnn_device *device, float keep_probability,
                                           glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_dropout_gradient, keep_probability, 0, kernel);
}
