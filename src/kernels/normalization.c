/* Passes of batch and instance normalisation: spec 7.4 and 7.5. Statistics and the sums for the
 * gradient are reductions over the pixels of a group of images, each channel apart.
 *
 * A reduction first cuts the rows of a group's images into runs, one invocation each, whose results
 * are the columns of a scratch image; passes then merge FAN_IN columns into one, from one scratch
 * image to the other and back; the last writes vectors. The order is fixed by the shape alone. */
#include "normalization.h"

#include <stdio.h>

#include "kernel.h"
#include "neuron.h"
#include "pointwise.h"

#define FAN_IN 32

/* ---- Data sources ---- */

glcnn_status normalization_load(glcnn_kernel *kernel, uint32_t channels, float epsilon,
                                const struct normalization_array *arrays)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (epsilon != 0)
        status = glcnn_kernel_set(kernel, "epsilon", (double)epsilon);
    for (; arrays->name && status == GLCNN_SUCCESS; arrays++) {
        int index = descriptor_argument(kernel->descriptor, arrays->name);
        struct glcnn_buffer *made; /* with its neutral value */
        status = kernel_vector(kernel, (size_t)index, channels, &made);
        if (status == GLCNN_SUCCESS && arrays->values)
            status = glcnn_kernel_set_vector(kernel, arrays->name, arrays->values, channels);
    }
    return status;
}

/* ---- Checks ---- */

/* Results of the forward encode along an axis that take part. */
static uint32_t results_along(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 0;
}

bool normalization_check_results(const struct operation *o, const struct image_view *gradient,
                                 char *sentence, size_t size)
{
    if (results_along(&o->window.x) && results_along(&o->window.y))
        return true;
    snprintf(sentence, size,
             "primary offset and source size leave no pixel of the %ux%u source gradient",
             gradient->width, gradient->height);
    return false;
}

/* ---- Reductions ---- */

/* The rows of a group's images, `rows` of them, cut into `runs` of `span` rows. */
struct reduction {
    struct image_view from, to; /* scratch: columns are runs, images two quantities a group */
    uint32_t groups, rows, image_rows, row_pixels, span, runs;
};

/* Runs enough to keep a GPU busy, long enough that the passes that follow stay cheap; no more than
 * a texture has columns everywhere. */
static uint32_t choose_span(uint32_t rows, uint32_t row_pixels, uint32_t columns_apart)
{
    uint32_t wanted = 16384 / columns_apart;
    wanted = wanted < 64 ? 64 : wanted > 2048 ? 2048 : wanted;
    uint32_t span = (rows + wanted - 1) / wanted;
    uint32_t least = (128 + row_pixels - 1) / row_pixels;
    return span > least ? span : least;
}

static struct reduction begin_reduction(struct plan *plan, const struct normalization *n,
                                        uint32_t width, uint32_t height, uint32_t images)
{
    struct reduction r = {.groups = n->groups,
                          .rows = height * (images / n->groups),
                          .image_rows = height,
                          .row_pixels = width};
    r.span = choose_span(r.rows, r.row_pixels, slice_count(n->channels) * r.groups);
    r.runs = (r.rows + r.span - 1) / r.span;
    r.to = plan_scratch_image(plan, r.runs, 1, n->channels, 2 * r.groups,
                              GLCNN_CHANNEL_FORMAT_FLOAT32);
    r.from = plan_scratch_image(plan, (r.runs + FAN_IN - 1) / FAN_IN, 1, n->channels, 2 * r.groups,
                                GLCNN_CHANNEL_FORMAT_FLOAT32);
    return r;
}

static void pass_runs(struct pass *pass, const struct reduction *r)
{
    pass_int(pass, "rows", (int32_t)r->rows);
    pass_int(pass, "image_rows", (int32_t)r->image_rows);
    pass_int(pass, "row_pixels", (int32_t)r->row_pixels);
    pass_int(pass, "span", (int32_t)r->span);
    pass_int(pass, "runs", (int32_t)r->runs);
}

static void swap(struct reduction *r)
{
    struct image_view written = r->to;
    r->to = r->from;
    r->from = written;
}

/* Pixels taken together: a divisor of the width where there is a good one. */
static int choose_block(uint32_t width)
{
    for (int block = 14; block >= 4; block--)
        if (width % (uint32_t)block == 0)
            return block;
    return width < 8 ? (int)width : 8;
}

/* The pass that reads `source` and writes a column for each run. */
static struct pass *plan_first(struct plan *plan, struct reduction *r, const char *shader,
                               const struct image_view *source)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_grid(pass, r->runs, slice_count(source->channels), r->groups);
    pass_texture(pass, "source", source);
    pass_image(pass, "merged", &r->to);
    pass_define(pass, "BLOCK", choose_block(r->row_pixels));
    pass_runs(pass, r);
    pass->work = r->span * r->row_pixels * 8;
    swap(r);
    return pass;
}

/* Passes until FAN_IN columns or fewer are left. `apart`: images, or pairs of them, in a pass. */
static void plan_merges(struct plan *plan, struct reduction *r, const char *shader,
                        const char *library, uint32_t apart)
{
    while (r->runs > FAN_IN) {
        struct pass *pass = plan_pass(plan, shader);
        uint32_t left = (r->runs + FAN_IN - 1) / FAN_IN;
        pass_grid(pass, left, slice_count(r->from.channels), apart);
        pass_library(pass, "lib/partial_statistics.glsl");
        pass_library(pass, library);
        pass_texture(pass, "partial", &r->from);
        pass_image(pass, "merged", &r->to);
        pass_define(pass, "FAN_IN", FAN_IN);
        pass_runs(pass, r);
        pass->work = FAN_IN * 16;
        r->span *= FAN_IN;
        r->runs = left;
        swap(r);
    }
}

/* The pass that merges the last columns of each group into two vectors. */
static struct pass *plan_finish(struct plan *plan, const struct reduction *r, const char *shader,
                                const char *library, bool accumulate)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_grid(pass, 1, slice_count(r->from.channels), r->groups);
    pass_library(pass, "lib/partial_statistics.glsl");
    pass_library(pass, library);
    pass_texture(pass, "partial", &r->from);
    pass_runs(pass, r);
    if (accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    return pass;
}

/* ---- Passes ---- */

void normalization_statistics(struct plan *plan, const struct normalization *n,
                              const struct image_view *source, double held)
{
    struct reduction r = begin_reduction(plan, n, source->width, source->height, source->images);
    struct pass *pass = plan_first(plan, &r, "normalization_statistics.comp", source);
    pass_library(pass, "lib/partial_statistics.glsl");
    plan_merges(plan, &r, "normalization_merge.comp", "lib/merge_statistics.glsl", r.groups);
    pass =
        plan_finish(plan, &r, "normalization_finish.comp", "lib/merge_statistics.glsl", held > 0);
    pass_texture(pass, "source", source);
    pass_vector(pass, "mean", &n->mean, VECTOR_READ_WRITE);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ_WRITE);
    pass_float(pass, "samples", (float)held);
}

struct image_view normalization_coefficients(struct plan *plan, const struct normalization *n)
{
    struct image_view view =
        plan_scratch_image(plan, 6, 1, n->channels, n->groups, GLCNN_CHANNEL_FORMAT_FLOAT32);
    struct pass *pass = plan_pass(plan, "normalization_coefficients.comp");
    pass_grid(pass, slice_count(n->channels), n->groups, 1);
    pass_image(pass, "coefficients", &view);
    pass_vector(pass, "gamma", &n->gamma, VECTOR_READ);
    pass_vector(pass, "beta", &n->beta, VECTOR_READ);
    pass_vector(pass, "mean", &n->mean, VECTOR_READ);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
    return view;
}

static void plan_gradient_coefficients(struct plan *plan, const struct normalization *n,
                                       const struct image_view *view)
{
    struct pass *pass = plan_pass(plan, "normalization_gradient_coefficients.comp");
    pass_grid(pass, slice_count(n->channels), n->groups, 1);
    pass_image(pass, "coefficients", view);
    pass_vector(pass, "variance", &n->variance, VECTOR_READ);
    pass_vector(pass, "gradient_for_gamma", &n->for_gamma, VECTOR_READ);
    pass_vector(pass, "gradient_for_beta", &n->for_beta, VECTOR_READ);
    pass_float(pass, "epsilon", n->epsilon);
    pass_float(pass, "samples", (float)n->samples);
}

/* What a pass needs to apply coefficients and neuron. */
static void pass_act(struct pass *pass, const struct normalization *n,
                     const struct image_view *coefficients)
{
    pass_texture(pass, "coefficients", coefficients);
    pass_library(pass, "lib/normalization.glsl");
    pass_neuron(pass, &n->neuron);
    pass_neuron_data(pass, &n->neuron, &n->neuron_data);
    if (n->groups > 1)
        pass_define(pass, "PER_IMAGE", 1);
}

void normalization_apply(const struct operation *o, struct plan *plan,
                         const struct normalization *n, const struct image_view *coefficients,
                         const struct image_view *source, const struct image_view *result)
{
    struct pass *pass = plan_pointwise(plan, o, "normalization.comp", result);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_window(pass, &o->window);
    pass_act(pass, n, coefficients);
}

void normalization_sums(const struct operation *o, struct plan *plan, const struct normalization *n,
                        const struct image_view *coefficients, const struct image_view *gradient,
                        const struct image_view *source, bool accumulate)
{
    struct reduction r = begin_reduction(plan, n, results_along(&o->window.x),
                                         results_along(&o->window.y), source->images);
    struct pass *pass = plan_first(plan, &r, "normalization_sums.comp", source);
    pass_texture(pass, "gradient", gradient);
    pass_window(pass, &o->window);
    pass_act(pass, n, coefficients);
    plan_merges(plan, &r, "normalization_sums_merge.comp", "lib/sum_runs.glsl", 2 * r.groups);
    pass = plan_finish(plan, &r, "normalization_sums_finish.comp", "lib/sum_runs.glsl", accumulate);
    pass_vector(pass, "gradient_for_gamma", &n->for_gamma, VECTOR_READ_WRITE);
    pass_vector(pass, "gradient_for_beta", &n->for_beta, VECTOR_READ_WRITE);
}

void normalization_apply_gradient(const struct operation *o, struct plan *plan,
                                  const struct normalization *n,
                                  const struct image_view *coefficients,
                                  const struct image_view *gradient,
                                  const struct image_view *source, const struct image_view *result,
                                  bool fixed)
{
    if (!fixed)
        plan_gradient_coefficients(plan, n, coefficients);
    struct pass *pass = plan_pointwise(plan, o, "normalization_gradient.comp", result);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_gather(pass, o, gradient, source);
    pass_act(pass, n, coefficients);
    if (fixed)
        pass_define(pass, "FIXED_STATISTICS", 1);
}

void normalization_sum_groups(struct plan *plan, const struct normalization *n,
                              const struct vector_view *part, const struct vector_view *total)
{
    struct pass *pass = plan_pass(plan, "normalization_sum_groups.comp");
    pass_grid(pass, n->channels, 1, 1);
    pass_vector(pass, "part", part, VECTOR_READ);
    pass_vector(pass, "total", total, VECTOR_WRITE);
    pass_int(pass, "groups", (int32_t)n->groups);
    pass->work = n->groups * 2;
}
