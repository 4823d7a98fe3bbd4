/* Soft-max, log-soft-max and their gradients: spec 7.9. One invocation owns a pixel. Few channels it
 * keeps in registers; many it walks two or three times. */
#include "kernels/soft_max.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"

/* ---- Passes ---- */

struct channels {
    uint32_t slices;
    bool logarithm, halves; /* of a gradient: both images that it reads are of float16 */
};

/* The gradient by the logarithm has an exponential for each slice that it stores: sixteen slices of
 * it take longer than walking them does (NVIDIA). */
static bool are_sixteen(const void *shape)
{
    const struct channels *c = shape;
    return c->slices <= 16 && !c->logarithm;
}

static bool are_sixteen_halves(const void *shape)
{
    return are_sixteen(shape) && ((const struct channels *)shape)->halves;
}

/* In fours, and back from those that were read last, which lie near, it takes 0.91 of the time of
 * walking them one by one (H200). */
static bool are_fours(const void *shape)
{
    const struct channels *c = shape;
    return c->slices % 4 == 0 && c->logarithm;
}

static bool are_kept(const void *shape)
{
    return ((const struct channels *)shape)->slices <= 16;
}

static bool are_four(const void *shape)
{
    return ((const struct channels *)shape)->slices <= 4;
}

/* Slices of a pixel that are kept at once; a gradient has them of two images. Those of float16 as
 * they are take 0.76 of the time (H200). */
static const struct implementation_list forward_rows = {
    "soft_max", (const struct implementation[]){{"soft_max_sixteen", "soft_max/soft_max_kept.comp",
                                                 32, .supported.holds = are_kept, .slices = 16},
                                                {"soft_max_four", "soft_max/soft_max_kept.comp", 14,
                                                 .supported.holds = are_four, .slices = 4},
                                                {"soft_max_walk", "soft_max/soft_max.comp", 8},
                                                {0}}};
static const struct implementation_list gradient_rows = {
    "soft_max_gradient",
    (const struct implementation[]){
        {"soft_max_gradient_halves", NULL, 32, .width = 32, .supported.holds = are_sixteen_halves,
         .slices = 16, .packs = true},
        {"soft_max_gradient_sixteen", NULL, 48, .supported.holds = are_sixteen, .slices = 16},
        {"soft_max_gradient_four", NULL, 24, .supported.holds = are_four, .slices = 4},
        {"soft_max_gradient_by_fours", NULL, 48, .width = 32, .supported.holds = are_fours,
         .fours = true},
        {"soft_max_gradient_walk", NULL, 8},
        {0}}};
static const struct implementation_list *const forward_implementations[] = {&forward_rows, NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows, NULL};

static struct pass *plan_channels(const struct operation *o, struct plan *plan, const char *shader,
                                  const struct implementation *row,
                                  const struct image_view *destination)
{
    struct pass *pass = plan_pixels(plan, o, shader, destination);
    uint32_t slices = slice_count(destination->channels);
    pass_implementation(pass, row);
    if (row->slices)
        pass_define(pass, "SLICES", (int)slices);
    if (destination->channels % 4 == 0)
        pass_define(pass, "FULL_SLICES", 1);
    pass_grid(pass, o->region_width, o->region_height, destination->images);
    pass_batch_axis(pass, 2);
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass->work = slices * 160;
    return pass;
}

static struct pass *plan_forward(const struct operation *o, struct plan *plan, bool logarithm)
{
    const struct image_view *result = &o->images[RESULT];
    const struct channels channels = {slice_count(result->channels), logarithm, false};
    const struct implementation *row = implementation_choose(plan, &forward_rows, &channels);
    struct pass *pass = plan_channels(o, plan, row->shader, row, result);
    pass_texture(pass, "source", &o->images[SOURCE]);
    return pass;
}

/* A gradient that follows its state reads the result where it reads G, since both have the forward
 * result's addressing; one addressed by hand has an offset for each. */
static struct pass *plan_gradient(const struct operation *o, struct plan *plan, bool logarithm)
{
    const struct image_view *destination = &o->images[DESTINATION];
    const struct channels channels = {slice_count(destination->channels), logarithm,
                                      is_float16(&o->images[GRADIENT]) &&
                                          is_float16(&o->images[FORWARD_RESULT])};
    const struct implementation *row = implementation_choose(plan, &gradient_rows, &channels);
    struct pass *pass = plan_channels(o, plan, "soft_max/soft_max_gradient.comp", row, destination);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "result", &o->images[FORWARD_RESULT]);
    pass_int(pass, "source_width", (int32_t)o->images[DESTINATION].width);
    pass_int(pass, "source_height", (int32_t)o->images[DESTINATION].height);
    if (row->packs)
        pass_define(pass, "HALVES", 1);
    if (row->fours)
        pass_define(pass, "BY_FOURS", 1);
    pass->prefers_large_groups = row->fours || row->slices == 16;
    if (!o->state_driven)
        pass_define(pass, "BY_HAND", 1);
    return pass;
}

static void plan_soft_max(const struct operation *o, struct plan *plan)
{
    plan_forward(o, plan, false);
}

static void plan_log_soft_max(const struct operation *o, struct plan *plan)
{
    pass_define(plan_forward(o, plan, true), "LOGARITHM", 1);
}

static void plan_soft_max_gradient(const struct operation *o, struct plan *plan)
{
    plan_gradient(o, plan, false);
}

static void plan_log_soft_max_gradient(const struct operation *o, struct plan *plan)
{
    pass_define(plan_gradient(o, plan, true), "LOGARITHM", 1);
}

/* ---- Descriptors ---- */

#define FORWARD(NAME, MPS, TEXT)                                                                   \
    .name = #NAME, .mps_class = MPS, .text = TEXT, .family = "soft_max",                           \
    .gradient = #NAME "_gradient", .flags = MAKES_STATE,                                           \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}},      \
    .implementations = forward_implementations, .plan = plan_##NAME

#define BACKWARD(NAME, MPS, VALUES)                                                                \
    .name = #NAME "_gradient", .mps_class = MPS "Gradient",                                        \
    .text = "gradient of " #NAME "; source_image is the forward result", .family = "soft_max",     \
    .without_gradient = "it is a gradient itself", .forward = #NAME,                               \
    .flags = IS_GRADIENT | NEEDS_RESULT | PIXEL_MANUAL,                                            \
    .arguments =                                                                                   \
        {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},                        \
         {.name = "source_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES},      \
         {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},            \
    .implementations = gradient_implementations, .plan = plan_##NAME##_gradient

const struct glcnn_descriptor glcnn_kernel_soft_max = {FORWARD(
    soft_max, "MPSCNNSoftMax", "exponentials over the channels of a pixel, scaled to sum 1")};
const struct glcnn_descriptor glcnn_kernel_soft_max_gradient = {
    BACKWARD(soft_max, "MPSCNNSoftMax", VALUES_PROBABILITY)};
const struct glcnn_descriptor glcnn_kernel_log_soft_max = {
    FORWARD(log_soft_max, "MPSCNNLogSoftMax", "logarithm of soft-max")};
const struct glcnn_descriptor glcnn_kernel_log_soft_max_gradient = {
    BACKWARD(log_soft_max, "MPSCNNLogSoftMax", VALUES_SYMMETRIC)};

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, glcnn_kernel **kernel)                \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME, kernel);                                \
    }

DEFINE_CREATE(soft_max)
DEFINE_CREATE(soft_max_gradient)
DEFINE_CREATE(log_soft_max)
DEFINE_CREATE(log_soft_max_gradient)
