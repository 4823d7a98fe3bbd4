/* Soft-max, log-soft-max and their gradients: spec 7.9. One invocation owns a pixel. Few channels it
 * keeps in registers; many it walks two or three times. */
#include "kernels/soft_max.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"

/* ---- Passes ---- */

static bool are_at_most(const void *slices, uint32_t most)
{
    return *(const uint32_t *)slices <= most;
}

static bool are_four(const void *slices)
{
    return are_at_most(slices, 4);
}

static bool are_sixteen(const void *slices)
{
    return are_at_most(slices, 16);
}

/* What a row does with the slices of a pixel; those of a gradient are of two images. */
struct form {
    bool keeps_slices; /* all of them, in registers */
    bool is_light;     /* gains by large work groups */
};
static const struct form keeps = {true, false}, keeps_in_large_groups = {true, true},
                         walks = {false, false};

#define FOUR_SLICES                                                                                \
    {                                                                                              \
        are_four, "at most 16 channels"                                                            \
    }
#define SIXTEEN_SLICES                                                                             \
    {                                                                                              \
        are_sixteen, "at most 64 channels"                                                         \
    }

static const struct implementation_list forward_rows = {
    "soft_max",
    (const struct implementation[]){{"soft_max_sixteen", "soft_max/soft_max_kept.comp", 32,
                                     .supported = SIXTEEN_SLICES, .form = &keeps},
                                    {"soft_max_four", "soft_max/soft_max_kept.comp", 14,
                                     .supported = FOUR_SLICES, .form = &keeps},
                                    {"soft_max_walk", "soft_max/soft_max.comp", 8, .form = &walks},
                                    {0}}};

#define GRADIENT_SHADER "soft_max/soft_max_gradient.comp"

static const struct implementation_list gradient_rows = {
    "soft_max_gradient",
    (const struct implementation[]){
        {"soft_max_gradient_sixteen", GRADIENT_SHADER, 48, .supported = SIXTEEN_SLICES,
         .form = &keeps_in_large_groups},
        {"soft_max_gradient_four", GRADIENT_SHADER, 24, .supported = FOUR_SLICES, .form = &keeps},
        {"soft_max_gradient_walk", GRADIENT_SHADER, 8, .form = &walks},
        {0}}};

/* The gradient of a logarithm has an exponential for each slice that it stores, which takes registers
 * of its own. */
static const struct implementation_list log_gradient_rows = {
    "log_soft_max_gradient", (const struct implementation[]){
                                 {"log_soft_max_gradient_four", GRADIENT_SHADER, 24,
                                  .supported = FOUR_SLICES, .form = &keeps},
                                 {"log_soft_max_gradient_walk", GRADIENT_SHADER, 8, .form = &walks},
                                 {0}}};

static const struct implementation_list *const forward_implementations[] = {&forward_rows, NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows, NULL};
static const struct implementation_list *const log_gradient_implementations[] = {&log_gradient_rows,
                                                                                 NULL};

static struct pass *plan_channels(const struct operation *o, struct plan *plan,
                                  const struct image_view *destination)
{
    uint32_t slices = slice_count(destination->channels);
    const struct implementation *row =
        implementation_choose(plan, o->descriptor->implementations[0], &slices);
    const struct form *form = row->form;
    struct pass *pass = plan_pixels(plan, o, row->shader, destination);
    pass_implementation(pass, row);
    if (form->keeps_slices)
        pass_define(pass, "SLICES", (int)slices);
    if (destination->channels % 4 == 0)
        pass_define(pass, "FULL_SLICES", 1);
    pass_grid(pass, o->region_width, o->region_height, destination->images);
    pass_batch_axis(pass, 2);
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass->work = slices * 160;
    pass->prefers_large_groups = form->is_light;
    return pass;
}

static void pass_kind(struct pass *pass, const struct operation *o)
{
    const bool *is_logarithm = o->descriptor->form;
    if (*is_logarithm)
        pass_define(pass, "LOGARITHM", 1);
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_channels(o, plan, &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_kind(pass, o);
}

/* A gradient that follows its state reads the result where it reads G, since both have the forward
 * result's addressing; one addressed by hand has an offset for each. */
static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_channels(o, plan, &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "result", &o->images[FORWARD_RESULT]);
    pass_source_size(pass, &o->images[DESTINATION]);
    if (!o->state_driven)
        pass_define(pass, "BY_HAND", 1);
    pass_kind(pass, o);
}

/* ---- Descriptors ---- */

static const bool plain = false, logarithm = true;

const struct glcnn_descriptor glcnn_kernel_soft_max = {
    .name = "soft_max",
    .mps_class = "MPSCNNSoftMax",
    .text = "exponentials over the channels of a pixel, scaled to sum 1",
    .family = "soft_max",
    .gradient = "soft_max_gradient",
    .flags = MAKES_STATE,
    .arguments = descriptor_image_arguments,
    .implementations = forward_implementations,
    .plan = plan_forward,
    .form = &plain,
};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_PROBABILITY},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_soft_max_gradient = {
    .name = "soft_max_gradient",
    .mps_class = "MPSCNNSoftMaxGradient",
    .text = "gradient of soft_max; source_image is the forward result",
    .family = "soft_max",
    .forward = "soft_max",
    .flags = IS_GRADIENT | NEEDS_RESULT | PIXEL_MANUAL,
    .arguments = gradient_arguments,
    .implementations = gradient_implementations,
    .plan = plan_gradient,
    .form = &plain,
};

const struct glcnn_descriptor glcnn_kernel_log_soft_max = {
    .name = "log_soft_max",
    .mps_class = "MPSCNNLogSoftMax",
    .text = "logarithm of soft-max",
    .family = "soft_max",
    .gradient = "log_soft_max_gradient",
    .flags = MAKES_STATE,
    .arguments = descriptor_image_arguments,
    .implementations = forward_implementations,
    .plan = plan_forward,
    .form = &logarithm,
};

static const struct argument log_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_SYMMETRIC},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_log_soft_max_gradient = {
    .name = "log_soft_max_gradient",
    .mps_class = "MPSCNNLogSoftMaxGradient",
    .text = "gradient of log_soft_max; source_image is the forward result",
    .family = "soft_max",
    .forward = "log_soft_max",
    .flags = IS_GRADIENT | NEEDS_RESULT | PIXEL_MANUAL,
    .arguments = log_gradient_arguments,
    .implementations = log_gradient_implementations,
    .plan = plan_gradient,
    .form = &logarithm,
};
