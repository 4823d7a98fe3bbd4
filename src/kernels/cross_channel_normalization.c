/* Cross-channel normalisation and its gradient: spec 7.6. Where windows are
 * small and registers many, an invocation goes through the slices of a pixel. Otherwise the gradient
 * takes two passes: the first leaves in a scratch image what every channel contributes to its
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

static bool is_near(const void *operation)
{
    return ((const numbers *)((const struct operation *)operation)->parameters)->kernel_size <= 9;
}

static bool reads_halves(const void *operation)
{
    const struct operation *o = operation;
    return is_float16(&o->images[SOURCE]);
}

/* By invocations that go through slices of a pixel, or that make one each. Read ahead of stores,
 * halves take 0.89 of the time, floats 1.01 to 1.02 (H200). */
enum { AHEAD, NEAR, EACH };
static const struct implementation_list forward_rows = {
    "cross_channel_normalization",
    (const struct implementation[]){
        [AHEAD] = {"cross_channel_ahead", .registers = 32, .width = 32, .supported.holds = is_near,
                   .profitable.holds = reads_halves},
        [NEAR] = {"cross_channel_near", .registers = 14, .supported.holds = is_near},
        [EACH] = {"cross_channel_each"},
        {0}}};
static const struct implementation_list gradient_rows = {
    "cross_channel_normalization_gradient",
    (const struct implementation[]){
        {"cross_channel_gradient_near", .registers = 32, .supported.holds = is_near},
        {"cross_channel_gradient_each"},
        {0}}};
static const struct implementation_list *const forward_implementations[] = {&forward_rows, NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows, NULL};

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

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct implementation *row = implementation_choose(plan, &forward_rows, o);
    bool near = row != &forward_rows.rows[EACH];
    struct pass *pass = plan_pixels(plan, o,
                                    near ? "normalization/cross_channel_normalization_near.comp"
                                         : "normalization/cross_channel_normalization.comp",
                                    &o->images[RESULT]);
    pass_implementation(pass, row);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_window(pass, &o->window);
    pass_numbers(pass, o->parameters);
    if (near)
        pass_runs(pass, o, &o->images[RESULT]);
    if (row == &forward_rows.rows[AHEAD])
        pass_define(pass, "TOGETHER", 4);
}

static void pass_slope(struct pass *pass, const numbers *p)
{
    pass_float(pass, "slope", 2 * p->alpha * p->beta / (float)p->kernel_size);
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
    pass_slope(pass, p);
}

static void plan_gradient_near(const struct operation *o, struct plan *plan)
{
    struct pass *pass =
        plan_pixels(plan, o, "normalization/cross_channel_normalization_gradient_near.comp",
                    &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], &o->images[IMAGE]);
    pass_numbers(pass, o->parameters);
    pass_slope(pass, o->parameters);
    pass_runs(pass, o, &o->images[DESTINATION]);
}

static void plan_gradient_each(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[IMAGE];
    struct image_view terms = plan_scratch_image(
        plan, (struct extent){o->region_width, o->region_height, source->channels, source->images});
    plan_terms(o, plan, &terms);
    struct pass *pass =
        plan_pixels(plan, o, "normalization/cross_channel_normalization_gradient.comp",
                    &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", source);
    pass_texture(pass, "terms", &terms);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], source);
    pass_terms_place(pass, o);
    pass_numbers(pass, o->parameters);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    size_t first = plan->pass_count;
    const struct implementation *row = implementation_choose(plan, &gradient_rows, o);
    (row == gradient_rows.rows ? plan_gradient_near : plan_gradient_each)(o, plan);
    plan_implementation(plan, first, row);
}

/* ---- Descriptors ---- */

#define REAL(NAME, TEXT, DEFAULT)                                                                  \
    {                                                                                              \
#NAME, TEXT, FIELD_FLOAT, offsetof(numbers, NAME), DEFAULT, -3.4e38, 3.4e38, NULL          \
    }

static const struct parameter parameters[] = {
    REAL(alpha, "factor of the mean square over the window", 1),
    REAL(beta, "exponent", 5),
    REAL(delta, "added to the mean square", 1),
    {"kernel_size", "channels in a window", FIELD_UINT32, offsetof(numbers, kernel_size), 5, 1,
     65535, NULL},
    {0}};

#define COMMON                                                                                     \
    .family = "cross_channel_normalization", .parameters_size = sizeof(numbers),                   \
    .parameters = parameters

const struct glcnn_descriptor glcnn_kernel_cross_channel_normalization = {
    .name = "cross_channel_normalization",
    .mps_class = "MPSCNNCrossChannelNormalization",
    .text = "X (delta + alpha mean square of neighbouring channels)^-beta",
    COMMON,
    .gradient = "cross_channel_normalization_gradient",
    .flags = MAKES_STATE,
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}},
    .implementations = forward_implementations,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_cross_channel_normalization_gradient = {
    .name = "cross_channel_normalization_gradient",
    .mps_class = "MPSCNNCrossChannelNormalizationGradient",
    .text = "gradient of cross_channel_normalization",
    COMMON,
    .without_gradient = "it is a gradient itself",
    .forward = "cross_channel_normalization",
    .flags = IS_GRADIENT | PIXEL_MANUAL,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},
    .implementations = gradient_implementations,
    .plan = plan_gradient,
};

/* ---- Constructors ---- */

numbers *glcnn_cross_channel_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "cross_channel_normalization");
}

static glcnn_status create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           uint32_t kernel_size, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_cross_channel_normalization(*kernel)->kernel_size = kernel_size;
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

#define DEFINE_CREATE(NAME)                                                                        \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, uint32_t kernel_size,                 \
                                       glcnn_kernel **kernel)                                      \
    {                                                                                              \
        return create(device, &glcnn_kernel_##NAME, kernel_size, kernel);                          \
    }

DEFINE_CREATE(cross_channel_normalization)
DEFINE_CREATE(cross_channel_normalization_gradient)
