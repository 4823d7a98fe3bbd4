/* Passes of batch and instance normalisation: spec 7.4 and 7.5. Statistics and the sums for the
 * gradient are reductions over the pixels of a group of images. */
#include "kernels/normalization.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/neuron.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

/* ---- Data sources ---- */

glcnn_status normalization_load(glcnn_kernel *kernel, uint32_t channels,
                                const struct normalization_array *arrays)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (; arrays->name && status == GLCNN_SUCCESS; arrays++) {
        int index = descriptor_argument(kernel->descriptor, arrays->name);
        struct glcnn_buffer *made; /* with its neutral value */
        status = kernel_vector(kernel, (size_t)index, channels, &made);
        if (status == GLCNN_SUCCESS && arrays->values)
            status = glcnn_kernel_set_vector(kernel, arrays->name, arrays->values, channels);
    }
    return status;
}

/* ---- Passes ---- */

static const struct implementation_list statistics_implementations = {
    "normalization_statistics",
    (const struct implementation[]){
        {"statistics_tiles", "normalization/normalization_statistics_group.comp", 32,
         .shared_memory = true, .supported.holds = pixel_reduction_has_tiles,
         .profitable.holds = pixel_reduction_fills_tiles, .tiles = true, .arrives = true},
        {"statistics_arrival", "normalization/normalization_statistics_group.comp", 32,
         .shared_memory = true, .pixels = 8, .arrives = true},
        {"statistics_group", "normalization/normalization_statistics_group.comp", 32,
         .shared_memory = true, .pixels = 8},
        {"statistics_fourteen", "normalization/normalization_statistics.comp", 32, .pixels = 14},
        {"statistics_four", "normalization/normalization_statistics.comp", 12, .pixels = 4},
        {"statistics_two", "normalization/normalization_statistics.comp", 8, .pixels = 2},
        {0}}};

static const struct implementation_list sum_implementations = {
    "normalization_sums",
    (const struct implementation[]){
        {"sums_tiles", "normalization/normalization_sums_group.comp", 32, .shared_memory = true,
         .buffers = 8, .supported.holds = pixel_reduction_has_tiles,
         .profitable.holds = pixel_reduction_fills_tiles, .tiles = true, .arrives = true},
        {"sums_arrival", "normalization/normalization_sums_group.comp", 32, .shared_memory = true,
         .buffers = 8, .pixels = 4, .arrives = true},
        {"sums_group", "normalization/normalization_sums_group.comp", 32, .shared_memory = true,
         .pixels = 4},
        {"sums_fourteen", "normalization/normalization_sums.comp", 32, .pixels = 14},
        {"sums_one", "normalization/normalization_sums.comp", 8, .pixels = 1},
        {0}}};

/* Whether each pass makes what it needs of mean, variance, gamma and beta from their vectors, or a
 * pass before it leaves that in an image. llvmpipe reads vectors number by number, and a pass more
 * costs it next to nothing. */
static const struct implementation_list coefficient_implementations = {
    "normalization_coefficients",
    (const struct implementation[]){
        {"coefficients_vectors", .registers = 32, .shared_memory = true, .buffers = 7},
        {"coefficients_image"},
        {0}}};

/* A gradient is made of two images and five coefficients: only a store costs more, or a pass where a
 * reader that has room for vectors takes it once. */
const struct implementation_list normalization_gradient_rows = {
    "normalization_gradient_pixels",
    (const struct implementation[]){
        {"gradients_derived", .registers = 32, .shared_memory = true, .buffers = 16},
        {"gradients_made_again", .registers = 32, .slow_image_stores = true},
        {"gradients_stored"},
        {0}}};

const struct implementation_list *const normalization_implementations[] = {
    &statistics_implementations,
    &pixel_reduction_places,
    &sum_implementations,
    &coefficient_implementations,
    &pointwise_rows,
    &derivation_rows,
    &normalization_gradient_rows,
    NULL};

static void pass_moments(struct pass *pass, const struct normalization *n, double held)
{
    pass_vector(pass, "mean", &n->mean, VECTOR_READ_WRITE);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ_WRITE);
    pass_float(pass, "samples", (float)held);
}

/* By the pass that stores the source, if that can. */
static bool amend_statistics(struct plan *plan, const struct normalization *n,
                             const struct image_view *source, double held)
{
    const struct vector_view *const moments[] = {&n->mean, &n->variance};
    struct pass *pass =
        n->groups > 1 ? NULL
                      : pixel_reduction_epilogue(
                            plan, source, "normalization/statistics_epilogue.glsl", 13, moments, 2);
    if (!pass)
        return false;
    if (held > 0)
        pass_define(pass, "ACCUMULATE", 1);
    pass_moments(pass, n, held);
    return pixel_reduction_has_room(plan, pass);
}

void normalization_statistics(struct plan *plan, const struct normalization *n,
                              const struct image_view *source, double held)
{
    if (amend_statistics(plan, n, source, held))
        return;
    struct pixel_reduction r = pixel_reduction_begin(
        plan, &statistics_implementations,
        (struct extent){source->width, source->height, n->channels, source->images}, n->groups, 2);
    struct pass *first = pixel_reduction_first(plan, &r, source);
    if (r.row->arrives)
        pixel_reduction_take_turns(first, &r);
    pixel_reduction_merge(plan, &r, "normalization/normalization_merge.comp", r.groups);
    struct pass *pass =
        pixel_reduction_finish(plan, &r, "normalization/normalization_finish.comp", held > 0);
    if (r.row->arrives)
        pass_library(pass, "normalization/finish_statistics.glsl");
    else
        pass_texture(pass, "source", source);
    pass_moments(pass, n, held);
}

static void pass_vectors(struct pass *pass, const struct normalization *n)
{
    pass_vector(pass, "gamma", &n->gamma, VECTOR_READ);
    pass_vector(pass, "beta", &n->beta, VECTOR_READ);
    pass_vector(pass, "mean", &n->mean, VECTOR_READ);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
}

static void pass_gradient_vectors(struct pass *pass, const struct normalization *n)
{
    pass_vector(pass, "gradient_for_gamma", &n->for_gamma, VECTOR_READ);
    pass_vector(pass, "gradient_for_beta", &n->for_beta, VECTOR_READ);
    pass_float(pass, "samples", (float)n->samples);
}

static struct pass *plan_coefficient_pass(struct plan *plan, const struct normalization *n,
                                          const char *shader, const struct image_view *image)
{
    struct pass *pass = plan_pass(plan, shader);
    if (n->coefficients.row)
        pass_implementation(pass, n->coefficients.row);
    pass_grid(pass, slice_count(n->channels), n->groups, 1);
    pass_image(pass, "coefficients", image);
    return pass;
}

static void plan_coefficients(struct plan *plan, struct normalization *n)
{
    n->coefficients.image = plan_scratch_image(plan, (struct extent){6, 1, n->channels, n->groups});
    pass_vectors(plan_coefficient_pass(plan, n, "normalization/normalization_coefficients.comp",
                                       &n->coefficients.image),
                 n);
}

void normalization_coefficients(struct plan *plan, struct normalization *n)
{
    const struct implementation *row =
        implementation_choose(plan, &coefficient_implementations, NULL);
    n->coefficients = (struct coefficients){.row = row, .in_image = !row->buffers};
    if (n->coefficients.in_image)
        plan_coefficients(plan, n);
}

static void plan_gradient_coefficients(struct plan *plan, const struct normalization *n)
{
    struct pass *pass = plan_coefficient_pass(
        plan, n, "normalization/normalization_gradient_coefficients.comp", &n->coefficients.image);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
    pass_gradient_vectors(pass, n);
}

struct image_view normalization_gradient_coefficients(struct plan *plan, struct normalization *n)
{
    normalization_coefficients(plan, n);
    if (n->coefficients.in_image)
        plan_gradient_coefficients(plan, n);
    return n->coefficients.image;
}

static void pass_coefficients(struct pass *pass, const struct normalization *n)
{
    if (n->coefficients.in_image) {
        pass_texture(pass, "coefficients", &n->coefficients.image);
        return;
    }
    pass_define(pass, "VECTORS", 1);
    pass_vectors(pass, n);
}

/* What a pass needs to apply coefficients and neuron. */
static void pass_act(struct pass *pass, const struct normalization *n)
{
    pass_coefficients(pass, n);
    pass_neuron(pass, &n->neuron);
    pass_neuron_data(pass, &n->neuron, &n->neuron_data);
    if (n->groups > 1)
        pass_define(pass, "PER_IMAGE", 1);
}

/* A pass whose vectors a driver does not run is made with the image before its columns are taken
 * one by one. */
static struct pass *plan_applying(struct plan *plan, const struct operation *o,
                                  const struct normalization *n, const char *shader,
                                  const struct image_view *result)
{
    struct pass *pass = plan_pointwise(plan, o, shader, result);
    if (!n->coefficients.in_image)
        pass_implementation(pass, n->coefficients.row);
    return pass;
}

void normalization_apply(const struct operation *o, struct plan *plan,
                         const struct normalization *n, const struct image_view *source,
                         const struct image_view *result)
{
    struct pass *pass = plan_applying(plan, o, n, "normalization/normalization.comp", result);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_window(pass, &o->window);
    pass_act(pass, n);
}

static void derive_coefficients(struct pass *pass, const struct normalization *n,
                                struct derived_name *name)
{
    pass_int(pass, derived_name(name, "_first"), (int32_t)derived_channel(name));
    if (n->coefficients.in_image) {
        pass_texture(pass, derived_name(name, "_coefficients"), &n->coefficients.image);
        pass_define(pass, derived_name(name, "_in_image"), 1);
    } else {
        pass_vector(pass, derived_name(name, "_gamma"), &n->gamma, VECTOR_READ);
        pass_vector(pass, derived_name(name, "_beta"), &n->beta, VECTOR_READ);
        pass_vector(pass, derived_name(name, "_mean"), &n->mean, VECTOR_READ);
        pass_vector(pass, derived_name(name, "_variance"), &n->variance, VECTOR_READ);
        pass_float(pass, derived_name(name, "_epsilon"), n->epsilon);
    }
}

void normalization_derive(struct pass *pass, const struct normalization *n,
                          struct derived_name *name, const struct image_view *source)
{
    derived_texture(name, pass, "_source", source);
    derive_coefficients(pass, n, name);
    pass_derived_neuron(pass, name, &n->neuron);
    pass_template(pass, "normalization/normalization_derived.glsl", derived_name(name, ""));
}

void normalization_derive_gradient(struct pass *pass, const struct normalization *n,
                                   struct derived_name *name, const struct image_view *gradient,
                                   const struct image_view *source)
{
    derived_texture(name, pass, "_source", source);
    derived_texture(name, pass, "_gradient", gradient);
    derive_coefficients(pass, n, name);
    if (!n->coefficients.in_image) {
        pass_vector(pass, derived_name(name, "_gamma_gradient"), &n->for_gamma, VECTOR_READ);
        pass_vector(pass, derived_name(name, "_beta_gradient"), &n->for_beta, VECTOR_READ);
        pass_float(pass, derived_name(name, "_samples"), (float)n->samples);
    }
    pass_derived_neuron(pass, name, &n->neuron);
    pass_template(pass, "normalization/normalization_gradient_derived.glsl",
                  derived_name(name, ""));
}

static void pass_normalized(struct pass *pass, const struct normalization *n,
                            const struct image_view *source)
{
    pass_texture(pass, "normalized", source);
    pass_vector(pass, "normalized_gamma", &n->gamma, VECTOR_READ);
    pass_vector(pass, "normalized_beta", &n->beta, VECTOR_READ);
    pass_vector(pass, "normalized_mean", &n->mean, VECTOR_READ);
    pass_vector(pass, "normalized_variance", &n->variance, VECTOR_READ);
    pass_float(pass, "normalized_epsilon", n->epsilon);
    pass_normalized_neuron(pass, &n->neuron);
}

/* By the pass that stores the gradient, if that can. */
static bool amend_sums(const struct operation *o, struct plan *plan, const struct normalization *n,
                       const struct image_view *gradient, const struct image_view *source,
                       bool accumulate)
{
    const struct vector_view *const sums[] = {&n->for_beta, &n->for_gamma};
    if (n->groups > 1 || n->coefficients.in_image || neuron_traits(&n->neuron).has_slopes ||
        !pointwise_is_direct(o, gradient, source))
        return false;
    struct pass *pass =
        pixel_reduction_epilogue(plan, gradient, "normalization/sums_epilogue.glsl", 8, sums, 2);
    if (!pass)
        return false;
    pass_normalized(pass, n, source);
    pixel_reduction_results(pass, 2, sums, accumulate);
    return pixel_reduction_has_room(plan, pass);
}

void normalization_sums(const struct operation *o, struct plan *plan, const struct normalization *n,
                        const struct image_view *gradient, const struct image_view *source,
                        bool accumulate)
{
    const struct vector_view *const sums[] = {&n->for_beta, &n->for_gamma};
    if (amend_sums(o, plan, n, gradient, source, accumulate))
        return;
    struct pixel_reduction r =
        pixel_reduction_of_results(plan, &sum_implementations, o, source, n->groups, 2);
    struct pass *pass = pixel_reduction_first(plan, &r, source);
    pass_define(pass, "DIVIDES", 1);
    pass_texture(pass, "gradient", gradient);
    pass_window(pass, &o->window);
    pass_act(pass, n);
    pixel_reduction_take_turns(pass, &r);
    pixel_reduction_sums(plan, &r, sums, accumulate);
}

void normalization_apply_gradient(const struct operation *o, struct plan *plan,
                                  const struct normalization *n, const struct image_view *gradient,
                                  const struct image_view *source, const struct image_view *result,
                                  bool fixed)
{
    if (!fixed && n->coefficients.in_image)
        plan_gradient_coefficients(plan, n);
    struct pass *pass =
        plan_applying(plan, o, n, "normalization/normalization_gradient.comp", result);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_gather(pass, o, gradient, source);
    pass_act(pass, n);
    if (!fixed && !n->coefficients.in_image) {
        pass_define(pass, "GRADIENT_VECTORS", 1);
        pass_gradient_vectors(pass, n);
    }
    if (fixed)
        pass_define(pass, "FIXED_STATISTICS", 1);
}

void normalization_sum_groups(struct plan *plan, const struct normalization *n,
                              const struct vector_view *part, const struct vector_view *total)
{
    struct pass *pass = plan_pass(plan, "normalization/normalization_sum_groups.comp");
    pass_grid(pass, n->channels, 1, 1);
    pass_vector(pass, "part", part, VECTOR_READ);
    pass_vector(pass, "total", total, VECTOR_WRITE);
    pass_int(pass, "groups", (int32_t)n->groups);
    pass->work = n->groups * 2;
}
