/* Instance normalisation: spec 7.5. The passes are those of batch normalisation, with each image a
 * group of its own; the statistics live in the state for the gradient, or in scratch vectors, group
 * after group. */
#include "glcnn/kernels/instance_normalization.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "kernels/normalization.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

extern const struct glcnn_descriptor glcnn_kernel_instance_normalization,
    glcnn_kernel_instance_normalization_gradient;

struct glcnn_instance_normalization_parameters *glcnn_instance_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "instance_normalization");
}

/* ---- Constructors ---- */

glcnn_status glcnn_instance_normalization_create(
    glcnn_device *device, const struct glcnn_instance_normalization_data_source *data_source,
    glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_instance_normalization, kernel);
    if (status != GLCNN_SUCCESS || !data_source)
        return status;
    const struct normalization_array arrays[] = {
        {"gamma", data_source->gamma}, {"beta", data_source->beta}, {0}};
    if (data_source->epsilon != 0)
        glcnn_instance_normalization(*kernel)->epsilon = data_source->epsilon;
    return kernel_finish(
        kernel, normalization_load(*kernel, data_source->number_of_feature_channels, arrays));
}

glcnn_status glcnn_instance_normalization_gradient_create(glcnn_device *device,
                                                          glcnn_kernel **kernel)
{
    return kernel_create(device, &glcnn_kernel_instance_normalization_gradient, kernel);
}

/* ---- Arguments ---- */

/* Index of each argument in the descriptors below. */
enum { SOURCE, RESULT, GAMMA, BETA, MEAN, VARIANCE };
enum {
    G_GRADIENT,
    G_SOURCE,
    G_RESULT,
    G_GAMMA,
    G_BETA,
    G_FOR_GAMMA,
    G_FOR_BETA,
    G_MEAN,
    G_VARIANCE
};

static float epsilon_of(const struct operation *o)
{
    const struct glcnn_instance_normalization_parameters *p = o->parameters;
    return p->epsilon;
}

static bool is_gradient(const struct operation *o)
{
    return o->descriptor->flags & IS_GRADIENT;
}

/* Where either kernel has them; beta follows gamma, and variance the mean. */
struct places {
    int source, gamma, mean;
};

static struct places places_of(const struct operation *o)
{
    return is_gradient(o) ? (struct places){G_SOURCE, G_GAMMA, G_MEAN}
                          : (struct places){SOURCE, GAMMA, MEAN};
}

static size_t length(const struct operation *o, size_t index)
{
    const struct places at = places_of(o);
    const struct image_view *source = &o->images[at.source];
    return (size_t)source->channels * ((int)index >= at.mean ? source->images : 1);
}

/* Has the forward encode left them in the state? */
static bool has_statistics(const struct operation *o)
{
    return is_gradient(o) && o->given[G_MEAN] && o->given[G_VARIANCE];
}

static bool check_gradient(const struct operation *o, struct refusal refusal)
{
    return pixel_reduction_check(o, &o->images[G_GRADIENT], refusal);
}

/* ---- Passes ---- */

static struct vector_view kept_or_scratch(const struct operation *o, struct plan *plan, int index)
{
    return o->given[index] ? o->vectors[index]
                           : plan_scratch_vector(plan, length(o, (size_t)index));
}

/* Statistics of every image of the source, and the coefficients that they make with gamma and beta.
 */
static void plan_statistics(const struct operation *o, struct plan *plan, struct normalization *n)
{
    const struct places at = places_of(o);
    const struct image_view *source = &o->images[at.source];
    *n = (struct normalization){.groups = source->images,
                                .channels = source->channels,
                                .epsilon = epsilon_of(o),
                                .samples = (double)source->width * source->height,
                                .gamma = o->vectors[at.gamma],
                                .beta = o->vectors[at.gamma + 1],
                                .mean = kept_or_scratch(o, plan, at.mean),
                                .variance = kept_or_scratch(o, plan, at.mean + 1)};
    if (!has_statistics(o))
        normalization_statistics(plan, n, source, 0);
    normalization_coefficients(plan, n);
}

static void plan_normalize(const struct operation *o, struct plan *plan)
{
    struct normalization n;
    plan_statistics(o, plan, &n);
    normalization_apply(o, plan, &n, &o->images[SOURCE], &o->images[RESULT]);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n;
    const struct image_view *gradient = &o->images[G_GRADIENT], *source = &o->images[G_SOURCE];
    plan_statistics(o, plan, &n);
    const struct vector_view *for_gamma = &o->vectors[G_FOR_GAMMA];
    const struct vector_view *for_beta = &o->vectors[G_FOR_BETA];
    bool one = n.groups == 1;
    n.for_gamma = one ? *for_gamma : plan_scratch_vector(plan, n.mean.count);
    n.for_beta = one ? *for_beta : plan_scratch_vector(plan, n.mean.count);
    normalization_sums(o, plan, &n, gradient, source, false);
    normalization_apply_gradient(o, plan, &n, gradient, source, &o->images[G_RESULT], false);
    if (one)
        return;
    normalization_sum_groups(plan, &n, &n.for_gamma, for_gamma);
    normalization_sum_groups(plan, &n, &n.for_beta, for_beta);
}

/* ---- References ---- */

/* One channel of one image. */
struct instance {
    double gamma, beta, mean, variance, rate; /* rate = 1 / sqrt(variance + epsilon) */
    double for_beta, for_gamma;               /* Sb, Sg */
};

static double mean_power(const struct tensor *x, uint32_t n, uint32_t c, double around, int power)
{
    const double *at = tensor_at(x, n, c, 0, 0);
    size_t count = (size_t)x->width * x->height;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pow(at[i] - around, power);
    return sum / (double)count;
}

static struct instance measure(const struct reference *r, uint32_t n, uint32_t c)
{
    const struct places at = places_of(r->operation);
    const struct tensor *x = &r->images[at.source];
    double *const *v = &r->vectors[at.gamma], *const *held = &r->vectors[at.mean];
    size_t index = (size_t)n * x->channels + c;
    bool has = has_statistics(r->operation);
    struct instance k = {.gamma = v[0] ? v[0][c] : 1, .beta = v[1] ? v[1][c] : 0};
    k.mean = has ? held[0][index] : mean_power(x, n, c, 0, 1);
    k.variance = has ? held[1][index] : mean_power(x, n, c, k.mean, 2);
    k.rate = 1 / sqrt(k.variance + (double)epsilon_of(r->operation));
    return k;
}

static void keep_statistics(const struct reference *r, const struct instance *k, size_t index)
{
    if (r->vectors[MEAN])
        r->vectors[MEAN][index] = k->mean;
    if (r->vectors[VARIANCE])
        r->vectors[VARIANCE][index] = k->variance;
}

static void normalize_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *x = &r->images[SOURCE], *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct instance k = measure(r, n, c);
            keep_statistics(r, &k, (size_t)n * x->channels + c);
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) =
                        k.gamma * (pointwise_source(w, x, n, c, Y, X) - k.mean) * k.rate + k.beta;
        }
}

static void sum_results(const struct reference *r, struct instance *k, uint32_t n, uint32_t c)
{
    const struct window *w = &r->operation->window;
    for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
        for (int32_t X = w->x.begin; X < w->x.end; X++) {
            double g = tensor_get(&r->images[G_GRADIENT], n, c, Y, X);
            double x = pointwise_source(w, &r->images[G_SOURCE], n, c, Y, X);
            k->for_beta += g;
            k->for_gamma += g * (x - k->mean) * k->rate;
        }
}

/* `to` holds what of G arrives at each pixel. */
static void finish_channel(const struct reference *r, const struct instance *k, uint32_t n,
                           uint32_t c)
{
    const struct operation *o = r->operation;
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    double samples = (double)x->width * x->height;
    for (int32_t row = 0; row < (int32_t)to->height; row++)
        for (int32_t column = 0; column < (int32_t)to->width; column++) {
            double *at = tensor_at(to, n, c, row, column);
            double xh = (pointwise_seen(o, x, n, c, row, column) - k->mean) * k->rate;
            double inner = *at - k->for_beta / samples - xh * k->for_gamma / samples;
            *at = pointwise_is_seen(o, x, row, column) ? k->gamma * k->rate * inner : 0;
        }
}

static void gradient_reference(const struct reference *r)
{
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    pointwise_scatter(r, &r->images[G_GRADIENT], x, to, NULL);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct instance k = measure(r, n, c);
            sum_results(r, &k, n, c);
            finish_channel(r, &k, n, c);
            r->vectors[G_FOR_GAMMA][c] += k.for_gamma;
            r->vectors[G_FOR_BETA][c] += k.for_beta;
        }
}

/* ---- Cases ---- */

static const struct check_case cases[] = {
    {"", {1, 1, 2, 2}},
    {"epsilon=1e-5", {2, 2, 5, 7}},
    {"epsilon=0.001", {3, 3, 4, 4}},
    {"epsilon=1e-5", {4, 4, 3, 9}},
    {"epsilon=1e-5", {1, 5, 8, 8}},
    {"epsilon=0.01", {5, 6, 1, 13}},
    {"epsilon=1e-5", {1, 7, 17, 1}},
    {"epsilon=1e-5", {3, 8, 6, 5}},
    {"epsilon=1e-5", {9, 9, 2, 1}},
    {"epsilon=0.25", {3, 5, 1, 1}},
    {"epsilon=1e-5 source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 5, 4}},
    {"epsilon=1e-5 offset_x=1 offset_y=-1 destination_width=6 destination_height=7", {2, 5, 6, 5}},
    {"epsilon=1e-5 edge_mode=clamp offset_x=-2 offset_y=1 destination_width=8 "
     "destination_height=5",
     {2, 3, 4, 5}},
    {"epsilon=1e-5 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"epsilon=1e-5 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1", {4, 3, 4, 5}},
    {"epsilon=1e-5", {2, 70, 4, 6}},
    {"epsilon=1e-5", {2, 1, 33, 128}},
    {"epsilon=1e-5", {2, 3, 150, 129}, {0}, true},
    {"epsilon=1e-5", {8, 37, 28, 28}, {0}, true},
    {0}};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"epsilon", "added to the variance", FIELD_FLOAT,
     offsetof(struct glcnn_instance_normalization_parameters, epsilon), (double)FLT_MIN, 0, 3.4e38,
     NULL},
    {0}};

#define GAMMA_AND_BETA                                                                             \
    {.name = "gamma",                                                                              \
     .place = PLACE_STATE_OR_KERNEL,                                                               \
     .input = true,                                                                                \
     .optional = true,                                                                             \
     .neutral = 1},                                                                                \
    {                                                                                              \
        .name = "beta", .place = PLACE_STATE_OR_KERNEL, .input = true, .optional = true            \
    }

#define STATISTIC(NAME)                                                                            \
    {                                                                                              \
        .name = NAME, .place = PLACE_STATE, .input = true, .optional = true,                       \
        .filled_by = "instance_normalization"                                                      \
    }

#define COMMON                                                                                     \
    .family = "instance_normalization",                                                            \
    .parameters_size = sizeof(struct glcnn_instance_normalization_parameters),                     \
    .parameters = parameters, .length = length, .cases = cases

const struct glcnn_descriptor glcnn_kernel_instance_normalization = {
    .name = "instance_normalization",
    .mps_class = "MPSCNNInstanceNormalization",
    .text = "gamma (x - mean) / sqrt(variance + epsilon) + beta, each image by itself",
    COMMON,
    .gradient = "instance_normalization_gradient",
    .keeps_zero = descriptor_always,
    .flags = MAKES_STATE,
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
                  GAMMA_AND_BETA,
                  {.name = "mean", .place = PLACE_STATE, .output = true, .optional = true},
                  {.name = "variance", .place = PLACE_STATE, .output = true, .optional = true}},
    .implementations = normalization_implementations,
    .plan = plan_normalize,
    .reference = normalize_reference,
};

const struct glcnn_descriptor glcnn_kernel_instance_normalization_gradient = {
    .name = "instance_normalization_gradient",
    .mps_class = "MPSCNNInstanceNormalizationGradient",
    .text = "gradient of instance_normalization, and for gamma and beta",
    COMMON,
    .without_gradient = "it is a gradient itself",
    .forward = "instance_normalization",
    .flags = IS_GRADIENT | NEEDS_STATE | MODIFIES_STATE | PIXEL_MANUAL,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
                  GAMMA_AND_BETA,
                  {.name = "gradient_for_gamma", .place = PLACE_STATE, .output = true},
                  {.name = "gradient_for_beta", .place = PLACE_STATE, .output = true},
                  STATISTIC("mean"),
                  STATISTIC("variance")},
    .check = check_gradient,
    .implementations = normalization_implementations,
    .plan = plan_gradient,
    .reference = gradient_reference,
};
