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

static const struct pixel_block one = {1}, two = {2}, four = {4}, fourteen = {14};

#define STATISTICS "normalization/normalization_statistics.comp"
#define SUMS       "normalization/normalization_sums.comp"

static const struct implementation_list statistics_implementations = {
    "normalization_statistics",
    (const struct implementation[]){
        {"statistics_fourteen", STATISTICS, 32, .plan = pixel_reduction_plan, .form = &fourteen},
        {"statistics_four", STATISTICS, 12, .plan = pixel_reduction_plan, .form = &four},
        {"statistics_two", STATISTICS, 8, .plan = pixel_reduction_plan, .form = &two},
        {0}}};

static const struct implementation_list sum_implementations = {
    "normalization_sums",
    (const struct implementation[]){
        {"sums_fourteen", SUMS, 32, .plan = pixel_reduction_plan, .form = &fourteen},
        {"sums_one", SUMS, 8, .plan = pixel_reduction_plan, .form = &one},
        {0}}};

/* Whether each pass makes what it needs of mean, variance, gamma and beta from their vectors, or has it
 * from an image: one that was made of the same before, else where that can be by the pass that finishes
 * mean and variance, or by a pass before each. Vectors stay with the portable rows because fused passes
 * need them: sums of an epilogue read no image that would be written between the two passes. */
struct source_of_coefficients {
    bool in_image, kept;
};
static const struct source_of_coefficients from_vectors = {false, false}, from_kept = {true, true},
                                           from_image = {true, false};

static const struct implementation_list coefficient_implementations = {
    "normalization_coefficients",
    (const struct implementation[]){{"coefficients_vectors", .registers = 32, .shared_memory = true,
                                     .buffers = 7, .form = &from_vectors},
                                    {"coefficients_kept", .form = &from_kept},
                                    {"coefficients_image", .form = &from_image},
                                    {0}}};

const struct implementation_list normalization_gradients = {
    "normalization_gradient_pixels",
    (const struct implementation[]){
        {"gradients_recomputed", .recomputes_pixels = true, .form = &fusion_forms[FUSION_PIXELS]},
        {"gradients_recomputed_once", .submits_dispatches = true,
         .form = &fusion_forms[FUSION_ONCE]},
        {"gradients_stored", .form = &fusion_forms[FUSION_NONE]},
        {0}}};

const struct implementation_list *const normalization_implementations[] = {
    &statistics_implementations, &pixel_reduction_merges,      &pixel_reduction_places,
    &sum_implementations,        &coefficient_implementations, &pointwise_rows,
    &pointwise_pixels,           &normalization_gradients,     NULL};

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

struct statistics {
    const struct normalization *n;
    double held;
};

static void write_statistics(struct pass *pass, const void *of)
{
    const struct statistics *s = of;
    if (s->held > 0)
        pass_define(pass, "ACCUMULATE", 1);
    pass_moments(pass, s->n, s->held);
}

static const struct reduction_kind statistics_kind = {
    .quantities = 2,
    .merge = "normalization/normalization_merge.comp",
    .merges_quantities = true,
    .finish = "normalization/normalization_finish.comp",
    .finish_reads_source = true,
    .library = "normalization/finish_statistics.glsl"};

void normalization_statistics(struct plan *plan, const struct normalization *n,
                              const struct image_view *source, double held)
{
    const struct statistics of = {n, held};
    if (amend_statistics(plan, n, source, held))
        return;
    struct pixel_reduction r = pixel_reduction_of_images(source, n->groups);
    r.kind = &statistics_kind;
    r.write = write_statistics;
    r.of = &of;
    implementation_plan(plan, &statistics_implementations, &r);
}

/* ---- Coefficients in images ---- */

/* What a pass has that makes coefficients: the vectors that the passes before it finish, and the rest. */
struct maker {
    const char *shader, *finish; /* of a pass by itself, and of the one that writes the vectors */
    const char *library, *image;
    uint32_t columns;
    void (*finished)(struct pass *pass, const struct normalization *n, enum vector_access access);
    void (*rest)(struct pass *pass, const struct normalization *n);
};

static void pass_finished_statistics(struct pass *pass, const struct normalization *n,
                                     enum vector_access access)
{
    pass_vector(pass, "mean", &n->mean, access);
    pass_vector(pass, "variance", &n->variance, access);
}

static void pass_scales(struct pass *pass, const struct normalization *n)
{
    pass_vector(pass, "gamma", &n->gamma, VECTOR_READ);
    pass_vector(pass, "beta", &n->beta, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
}

static const struct maker of_statistics = {"normalization/normalization_coefficients.comp",
                                           "normalization/normalization_finish.comp",
                                           "normalization/coefficients.glsl",
                                           "coefficients",
                                           4,
                                           pass_finished_statistics,
                                           pass_scales};

static void pass_finished_sums(struct pass *pass, const struct normalization *n,
                               enum vector_access access)
{
    pass_vector(pass, "first_sum", &n->for_beta, access);
    pass_vector(pass, "second_sum", &n->for_gamma, access);
}

static void pass_deviations(struct pass *pass, const struct normalization *n)
{
    pass_texture(pass, "coefficients", &n->coefficients.image);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
    pass_float(pass, "samples", (float)n->samples);
}

static const struct maker of_sums = {"normalization/normalization_gradient_coefficients.comp",
                                     "pixel_reduction/pixel_sums_finish.comp",
                                     "normalization/gradient_coefficients.glsl",
                                     "gradient_coefficients",
                                     6,
                                     pass_finished_sums,
                                     pass_deviations};

static struct pass *plan_maker(struct plan *plan, const struct normalization *n,
                               const struct maker *maker)
{
    struct pass *pass = plan_pass(plan, maker->shader);
    pass_grid(pass, slice_count(n->channels), n->groups, 1);
    maker->finished(pass, n, VECTOR_READ);
    return pass;
}

static struct pass *amend_finish(struct plan *plan, const struct maker *maker,
                                 const struct pass *like)
{
    struct pass *pass = plan_amend_writer(plan, maker->finish, like);
    if (pass) {
        pass_define(pass, "COEFFICIENTS", 1);
        pass_library(pass, maker->library);
    }
    return pass;
}

/* Four vectors and an image are more than some devices have together: beta's column, which needs no other
 * vector, is then stored by a pass of its own. */
static bool is_beta_apart(const struct plan *plan, const struct maker *maker,
                          const struct pass *like)
{
    return maker == &of_statistics &&
           like->buffer_count + 1 > plan->device->info.limits.output_resources;
}

static void store_beta(struct plan *plan, const struct normalization *n,
                       const struct image_view *image)
{
    struct pass *pass = plan_pass(plan, "normalization/normalization_beta.comp");
    pass_grid(pass, slice_count(n->channels), n->groups, 1);
    pass_vector(pass, "beta", &n->beta, VECTOR_READ);
    pass_image(pass, "coefficients", image);
}

static void plan_in_parts(struct plan *plan, const struct normalization *n,
                          const struct maker *maker, const struct image_view *image)
{
    struct pass *pass = plan_maker(plan, n, maker);
    pass_implementation(pass, n->coefficients.row);
    pass_define(pass, "BETA_APART", 1);
    pass_vector(pass, "gamma", &n->gamma, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
    pass_image(pass, maker->image, image);
    store_beta(plan, n, image);
}

static struct image_view make_coefficients(struct plan *plan, const struct normalization *n,
                                           const struct maker *maker)
{
    const struct source_of_coefficients *from = n->coefficients.row->form;
    struct pass like = {0}, *pass;
    maker->finished(&like, n, VECTOR_WRITE);
    maker->rest(&like, n);
    struct image_view image = {0};
    if (from->kept)
        image = plan_find_made(plan, maker->image, &like);
    if (image.storage)
        return image;
    image = plan_scratch_image(plan, (struct extent){maker->columns, 1, n->channels, n->groups});
    if (is_beta_apart(plan, maker, &like)) {
        plan_in_parts(plan, n, maker, &image);
        return image;
    }
    pass = from->kept ? amend_finish(plan, maker, &like) : NULL;
    if (!pass)
        pass = plan_maker(plan, n, maker);
    pass_implementation(pass, n->coefficients.row);
    maker->rest(pass, n);
    pass_image(pass, maker->image, &image);
    return image;
}

void normalization_coefficients(struct plan *plan, struct normalization *n)
{
    const struct implementation *row =
        implementation_choose(plan, &coefficient_implementations, NULL);
    const struct source_of_coefficients *from = row->form;
    n->coefficients = (struct coefficients){.row = row, .in_image = from->in_image};
    if (from->in_image)
        n->coefficients.image = make_coefficients(plan, n, &of_statistics);
}

struct image_view normalization_gradient_coefficients(struct plan *plan, struct normalization *n)
{
    normalization_coefficients(plan, n);
    return n->coefficients.in_image ? make_coefficients(plan, n, &of_sums) : n->coefficients.image;
}

/* ---- Passes that take them ---- */

static void pass_coefficients(struct pass *pass, const struct normalization *n)
{
    if (n->coefficients.in_image) {
        pass_texture(pass, "coefficients", &n->coefficients.image);
        return;
    }
    pass_define(pass, "VECTORS", 1);
    pass_finished_statistics(pass, n, VECTOR_READ);
    pass_scales(pass, n);
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

static void fuse_coefficients(struct pass *pass, const struct normalization *n,
                              struct fused_name *name)
{
    pass_int(pass, fused_name(name, "_first"), (int32_t)fused_channel(name));
    if (n->coefficients.in_image) {
        pass_texture(pass, fused_name(name, "_coefficients"), &n->coefficients.image);
        pass_define(pass, fused_name(name, "_in_image"), 1);
    } else {
        pass_vector(pass, fused_name(name, "_gamma"), &n->gamma, VECTOR_READ);
        pass_vector(pass, fused_name(name, "_beta"), &n->beta, VECTOR_READ);
        pass_vector(pass, fused_name(name, "_mean"), &n->mean, VECTOR_READ);
        pass_vector(pass, fused_name(name, "_variance"), &n->variance, VECTOR_READ);
        pass_float(pass, fused_name(name, "_epsilon"), n->epsilon);
    }
}

void normalization_fuse(struct pass *pass, const struct normalization *n, struct fused_name *name,
                        const struct image_view *source)
{
    fused_texture(name, pass, "_source", source);
    fuse_coefficients(pass, n, name);
    pass_fused_neuron(pass, name, &n->neuron);
    pass_template(pass, "normalization/normalization_fused.glsl", fused_name(name, ""));
}

void normalization_fuse_gradient(struct pass *pass, const struct normalization *n,
                                 struct fused_name *name, const struct image_view *gradient,
                                 const struct image_view *source)
{
    fused_texture(name, pass, "_source", source);
    fused_texture(name, pass, "_gradient", gradient);
    fuse_coefficients(pass, n, name);
    if (!n->coefficients.in_image) {
        pass_vector(pass, fused_name(name, "_gamma_gradient"), &n->for_gamma, VECTOR_READ);
        pass_vector(pass, fused_name(name, "_beta_gradient"), &n->for_beta, VECTOR_READ);
        pass_float(pass, fused_name(name, "_samples"), (float)n->samples);
    }
    pass_fused_neuron(pass, name, &n->neuron);
    pass_template(pass, "normalization/normalization_gradient_fused.glsl", fused_name(name, ""));
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

struct sums {
    const struct operation *operation;
    const struct normalization *n;
    const struct image_view *gradient;
    bool accumulate;
};

static void read_gradient(struct pass *pass, const void *of)
{
    const struct sums *s = of;
    pass_texture(pass, "gradient", s->gradient);
    pass_window(pass, &s->operation->window);
    pass_act(pass, s->n);
}

static void write_sums(struct pass *pass, const void *of)
{
    const struct sums *s = of;
    const struct vector_view *const sums[] = {&s->n->for_beta, &s->n->for_gamma};
    pixel_reduction_results(pass, 2, sums, s->accumulate);
}

void normalization_sums(const struct operation *o, struct plan *plan, const struct normalization *n,
                        const struct image_view *gradient, const struct image_view *source,
                        bool accumulate)
{
    const struct sums of = {o, n, gradient, accumulate};
    if (amend_sums(o, plan, n, gradient, source, accumulate))
        return;
    struct pixel_reduction r = pixel_reduction_of_results(o, source, n->groups);
    r.kind = &pixel_reduction_two_sums;
    r.read = read_gradient;
    r.write = write_sums;
    r.of = &of;
    implementation_plan(plan, &sum_implementations, &r);
}

void normalization_apply_gradient(const struct operation *o, struct plan *plan,
                                  const struct normalization *n, const struct image_view *gradient,
                                  const struct image_view *source, const struct image_view *result,
                                  bool fixed)
{
    struct normalization with = *n;
    if (!fixed && n->coefficients.in_image)
        with.coefficients.image = make_coefficients(plan, n, &of_sums);
    struct pass *pass =
        plan_applying(plan, o, n, "normalization/normalization_gradient.comp", result);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_gather(pass, o, gradient, source);
    pass_act(pass, &with);
    if (!fixed && !n->coefficients.in_image) {
        pass_define(pass, "GRADIENT_VECTORS", 1);
        pass_vector(pass, "gradient_for_gamma", &n->for_gamma, VECTOR_READ);
        pass_vector(pass, "gradient_for_beta", &n->for_beta, VECTOR_READ);
        pass_float(pass, "samples", (float)n->samples);
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
