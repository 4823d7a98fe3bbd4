/* Cross-channel normalisation and its gradient: spec 7.6. Where windows are small and registers many,
 * an invocation goes through the slices of a pixel. Otherwise the gradient takes two passes: the first leaves in a scratch image what every channel contributes to its
 * neighbours, so that the second has one power to compute a texel, not one for each neighbour. */
#include "kernels/cross_channel_normalization.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/pointwise.h"
#include "kernels/scale_power.h"

typedef struct glcnn_cross_channel_normalization_parameters numbers;

/* ---- Passes ---- */

static void pass_numbers(struct pass *pass, const numbers *p)
{
    pass_define(pass, "KERNEL_SIZE", (int)p->kernel_size);
    pass_float(pass, "alpha_over_n", p->alpha / (float)p->kernel_size);
    pass_scale_power(pass, p->beta, p->alpha >= 0 ? p->delta : 0);
    pass_float(pass, "delta", p->delta);
    pass->work = p->kernel_size * 8 + 128;
}

/* Slices that an invocation goes through: those beside a run are read twice, but a few long runs
 * would leave a GPU idle. */
static void pass_runs(struct pass *pass, const struct operation *o,
                      const struct image_view *destination)
{
    uint32_t slices = slice_count(destination->channels);
    uint64_t pixels = (uint64_t)o->region_width * o->region_height * destination->images;
    uint32_t run = least(slices, pixels >= 1u << 16 ? 16 : 4), runs = groups_of(slices, run);
    pass_grid(pass, o->region_width, o->region_height, destination->images * runs);
    pass_batch_axis(pass, 2);
    pass_int(pass, "run", (int32_t)run);
    pass_int(pass, "runs", (int32_t)runs);
    pass->work *= run;
}

static struct pass *plan_forward_pass(struct plan *plan, const struct implementation *row,
                                      const struct operation *o)
{
    struct pass *pass = plan_pixels(plan, o, row->shader, &o->images[RESULT]);
    pass_implementation(pass, row);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_window(pass, &o->window);
    pass_numbers(pass, o->parameters);
    return pass;
}

static void plan_forward_near(struct plan *plan, const struct implementation *row,
                              const void *operation)
{
    const struct operation *o = operation;
    pass_runs(plan_forward_pass(plan, row, o), o, &o->images[RESULT]);
}

static void plan_forward_each(struct plan *plan, const struct implementation *row,
                              const void *operation)
{
    plan_forward_pass(plan, row, operation);
}

static void pass_decline(struct pass *pass, const numbers *p)
{
    pass_float(pass, "decline", 2 * p->alpha * p->beta / (float)p->kernel_size);
}

/* Terms of the pixels that the region stands for. */
static void pass_terms_place(struct pass *pass, const struct operation *o)
{
    pass_int(pass, "terms_x", (int32_t)o->region_x + o->window.x.shift);
    pass_int(pass, "terms_y", (int32_t)o->region_y + o->window.y.shift);
}

static void plan_terms(const struct operation *o, struct plan *plan, const struct image_view *terms)
{
    const numbers *p = o->parameters;
    struct pass *pass = plan_pass(plan, "normalization/cross_channel_normalization_terms.comp");
    pass_grid_over(pass, terms->width, terms->height, "terms", terms);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "terms", terms);
    pass_gather(pass, o, &o->images[GRADIENT], &o->images[IMAGE]);
    pass_terms_place(pass, o);
    pass_numbers(pass, p);
    pass_decline(pass, p);
}

static void plan_gradient_near(struct plan *plan, const struct implementation *row,
                               const void *operation)
{
    const struct operation *o = operation;
    struct pass *pass = plan_pixels(plan, o, row->shader, &o->images[DESTINATION]);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], &o->images[IMAGE]);
    pass_numbers(pass, o->parameters);
    pass_decline(pass, o->parameters);
    pass_runs(pass, o, &o->images[DESTINATION]);
}

static void plan_gradient_each(struct plan *plan, const struct implementation *row,
                               const void *operation)
{
    const struct operation *o = operation;
    const struct image_view *source = &o->images[IMAGE];
    size_t first = plan->pass_count;
    struct image_view terms = plan_scratch_image(
        plan, (struct extent){o->region_width, o->region_height, source->channels, source->images});
    plan_terms(o, plan, &terms);
    struct pass *pass = plan_pixels(plan, o, row->shader, &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", source);
    pass_texture(pass, "terms", &terms);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], source);
    pass_terms_place(pass, o);
    pass_numbers(pass, o->parameters);
    plan_implementation(plan, first, row);
}

/* ---- Choice ---- */

static bool is_near(const void *operation)
{
    const numbers *p = ((const struct operation *)operation)->parameters;
    return p->kernel_size <= 9;
}

#define NEAR_WINDOWS                                                                               \
    {                                                                                              \
        is_near, "windows of at most 9 channels, which reach no slice but the next"                \
    }

static const struct implementation_list forward_rows = {
    "cross_channel_normalization",
    (const struct implementation[]){
        {"cross_channel_near", "normalization/cross_channel_normalization_near.comp", 14,
         .supported = NEAR_WINDOWS, .plan = plan_forward_near},
        {"cross_channel_each", "normalization/cross_channel_normalization.comp",
         .plan = plan_forward_each},
        {0}}};
static const struct implementation_list gradient_rows = {
    "cross_channel_normalization_gradient",
    (const struct implementation[]){{"cross_channel_gradient_near",
                                     "normalization/cross_channel_normalization_gradient_near.comp",
                                     32, .supported = NEAR_WINDOWS, .plan = plan_gradient_near},
                                    {"cross_channel_gradient_each",
                                     "normalization/cross_channel_normalization_gradient.comp",
                                     .plan = plan_gradient_each},
                                    {0}}};
static const struct implementation_list *const forward_implementations[] = {&forward_rows, NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows, NULL};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"alpha", "factor of the mean square over the window", FIELD_FLOAT, offsetof(numbers, alpha), 1,
     -3.4e38, 3.4e38, NULL},
    {"beta", "exponent", FIELD_FLOAT, offsetof(numbers, beta), 5, -3.4e38, 3.4e38, NULL},
    {"delta", "added to the mean square", FIELD_FLOAT, offsetof(numbers, delta), 1, -3.4e38, 3.4e38,
     NULL},
    {"kernel_size", "channels in a window", FIELD_UINT32, offsetof(numbers, kernel_size), 5, 1,
     65535, NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_cross_channel_normalization = {
    .name = "cross_channel_normalization",
    .mps_class = "MPSCNNCrossChannelNormalization",
    .text = "X (delta + alpha mean square of neighbouring channels)^-beta",
    .family = "cross_channel_normalization",
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .gradient = "cross_channel_normalization_gradient",
    .flags = MAKES_STATE,
    .arguments = descriptor_image_arguments,
    .implementations = forward_implementations,
    .plan = descriptor_plan,
};

const struct glcnn_descriptor glcnn_kernel_cross_channel_normalization_gradient = {
    .name = "cross_channel_normalization_gradient",
    .mps_class = "MPSCNNCrossChannelNormalizationGradient",
    .text = "gradient of cross_channel_normalization",
    .family = "cross_channel_normalization",
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .forward = "cross_channel_normalization",
    .flags = IS_GRADIENT | PIXEL_MANUAL,
    .arguments = descriptor_gradient_arguments,
    .implementations = gradient_implementations,
    .plan = descriptor_plan,
};
