/* Passes of spatial and local contrast normalisation: spec 7.7 and 7.8.
 *
 * The gradient takes two passes. The first computes, for every result, the terms that all pixels of its
 * window take from it, into a scratch image; the second gathers them, one invocation a source pixel. A
 * window's statistics and its power are so computed once, not once for each of its pixels. */
#include "kernels/local_normalization.h"

#include "device/device.h"
#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/scale_power.h"

/* ---- Parameters ---- */

/* A parameter by its name; `otherwise` in the family that does not have it. */
static float number(const struct operation *o, const char *name, float otherwise)
{
    double value;
    return parameter_get(o->descriptor, &o->properties, o->parameters, name, &value) ? (float)value
                                                                                     : otherwise;
}

struct numbers local_normalization_numbers(const struct operation *o)
{
    double p0;
    return (struct numbers){
        .alpha = number(o, "alpha", 0),
        .beta = number(o, "beta", 0),
        .delta = number(o, "delta", 0),
        .p0 = number(o, "p0", 0),
        .pm = number(o, "pm", 0),
        .ps = number(o, "ps", 1),
        .about_mean = parameter_get(o->descriptor, &o->properties, o->parameters, "p0", &p0)};
}

/* ---- Passes ---- */

static uint32_t taps_of(const struct operation *o)
{
    return (uint32_t)(o->window.x.size * o->window.y.size);
}

void pass_local_numbers(struct pass *pass, const struct operation *o, const struct numbers *l)
{
    pass_window(pass, &o->window);
    pass_float(pass, "alpha", l->alpha);
    pass_scale_power(pass, l->beta, 0);
    pass_float(pass, "delta", l->delta);
    pass_float(pass, "p0", l->p0);
    pass_float(pass, "pm", l->pm);
    pass_float(pass, "ps", l->ps);
    if (l->about_mean)
        pass_define(pass, "ABOUT_MEAN", 1);
    pass->work = taps_of(o) * 16 + 128;
}

void pass_local_decline(struct pass *pass, const struct operation *o, const struct numbers *l)
{
    pass_float(pass, "decline", 2 * l->alpha * l->beta / (float)taps_of(o));
}

static void plan_forward(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct local_normalization *l = problem;
    const struct operation *o = l->operation;
    struct pass *pass =
        plan_pixels(plan, o, "normalization/local_normalization.comp", &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_implementation(pass, row);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_local_numbers(pass, o, &l->numbers);
}

/* Results along an axis; where there are none, one that nobody reads. */
static uint32_t results_of(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 1;
}

static struct image_view plan_terms(const struct operation *o, struct plan *plan,
                                    const struct numbers *l)
{
    const struct image_view *gradient = &o->images[GRADIENT];
    const struct extent quantities = {results_of(&o->window.x), results_of(&o->window.y),
                                      o->images[IMAGE].channels,
                                      gradient->images * (l->about_mean ? 3 : 2)};
    struct image_view terms = plan_scratch_image(plan, quantities);
    struct pass *pass = plan_pass(plan, "normalization/local_normalization_terms.comp");
    pass_grid_over(pass, terms.width, terms.height, "gradient", gradient);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "terms", &terms);
    pass_local_numbers(pass, o, l);
    pass_local_decline(pass, o, l);
    return terms;
}

static void plan_gradient(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct local_normalization *l = problem;
    const struct operation *o = l->operation;
    size_t first = plan->pass_count;
    struct image_view terms = plan_terms(o, plan, &l->numbers);
    struct pass *pass = plan_pixels(plan, o, "normalization/local_normalization_gradient.comp",
                                    &o->images[DESTINATION]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_texture(pass, "terms", &terms);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_local_numbers(pass, o, &l->numbers);
    pass_int(pass, "gradient_images", (int32_t)o->images[GRADIENT].images);
    plan_implementation(plan, first, row);
}

/* ---- Choice ---- */

static void plan_pixels_each(struct plan *plan, const struct implementation *row,
                             const void *problem)
{
    const struct local_normalization *l = problem;
    (l->is_gradient ? plan_gradient : plan_forward)(plan, row, problem);
}

static const struct implementation_list rows = {
    "local_normalization",
    (const struct implementation[]){{"local_pixels", .plan = plan_pixels_each}, {0}}};
const struct implementation_list *const local_normalization_implementations[] = {&rows, NULL};

void local_normalization_plan(const struct operation *o, struct plan *plan)
{
    const struct local_normalization l = {o, local_normalization_numbers(o),
                                          o->descriptor->flags & IS_GRADIENT};
    implementation_plan(plan, &rows, &l);
}

/* ---- For descriptors ---- */

void local_normalization_node_defaults(struct glcnn_addressing *properties, void *parameters)
{
    (void)parameters;
    properties->primary.kernel_width = properties->primary.kernel_height = 5;
}
