/* Instance normalisation: spec 7.5. The passes are those of batch normalisation, with each image a
 * group of its own; the statistics live in the state for the gradient, or in scratch vectors, group
 * after group. */
#include "kernels/instance_normalization.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "kernels/normalization.h"
#include "kernels/pixel_reduction.h"

extern const struct glcnn_descriptor glcnn_kernel_instance_normalization,
    glcnn_kernel_instance_normalization_gradient;

/* ---- Arguments ---- */

float instance_normalization_epsilon(const struct operation *o)
{
    const struct glcnn_instance_normalization_parameters *p = o->parameters;
    return p->epsilon;
}

struct places instance_normalization_places(const struct operation *o)
{
    return operation_is_gradient(o) ? (struct places){G_SOURCE, G_GAMMA, G_MEAN}
                                    : (struct places){SOURCE, GAMMA, MEAN};
}

static size_t length(const struct operation *o, size_t index)
{
    const struct places at = instance_normalization_places(o);
    const struct image_view *source = &o->images[at.source];
    return (size_t)source->channels * ((int)index >= at.mean ? source->images : 1);
}

bool instance_normalization_has_statistics(const struct operation *o)
{
    return operation_is_gradient(o) && o->given[G_MEAN] && o->given[G_VARIANCE];
}

static bool check_gradient(const struct operation *o, struct validation validation)
{
    return pixel_reduction_check(o, &o->images[G_GRADIENT], validation);
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
    const struct places at = instance_normalization_places(o);
    const struct image_view *source = &o->images[at.source];
    *n = (struct normalization){.groups = source->images,
                                .channels = source->channels,
                                .epsilon = instance_normalization_epsilon(o),
                                .samples = (double)source->width * source->height,
                                .gamma = o->vectors[at.gamma],
                                .beta = o->vectors[at.gamma + 1],
                                .mean = kept_or_scratch(o, plan, at.mean),
                                .variance = kept_or_scratch(o, plan, at.mean + 1)};
    if (!instance_normalization_has_statistics(o))
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

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"epsilon", "added to the variance", FIELD_FLOAT,
     offsetof(struct glcnn_instance_normalization_parameters, epsilon), (double)FLT_MIN, 0, 3.4e38,
     NULL},
    {0}};

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "gamma",
     .place = PLACE_STATE_OR_KERNEL,
     .input = true,
     .optional = true,
     .neutral = 1},
    {.name = "beta", .place = PLACE_STATE_OR_KERNEL, .input = true, .optional = true},
    {.name = "mean", .place = PLACE_STATE, .output = true, .optional = true},
    {.name = "variance", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_instance_normalization = {
    .name = "instance_normalization",
    .mps_class = "MPSCNNInstanceNormalization",
    .text = "gamma (x - mean) / sqrt(variance + epsilon) + beta, each image by itself",
    .family = "instance_normalization",
    .parameters_size = sizeof(struct glcnn_instance_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .gradient = "instance_normalization_gradient",
    .keeps_zero = descriptor_always,
    .flags = MAKES_STATE,
    .arguments = forward_arguments,
    .implementations = normalization_implementations,
    .plan = plan_normalize,
};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "gamma",
     .place = PLACE_STATE_OR_KERNEL,
     .input = true,
     .optional = true,
     .neutral = 1},
    {.name = "beta", .place = PLACE_STATE_OR_KERNEL, .input = true, .optional = true},
    {.name = "gradient_for_gamma", .place = PLACE_STATE, .output = true},
    {.name = "gradient_for_beta", .place = PLACE_STATE, .output = true},
    {.name = "mean", .place = PLACE_STATE, .input = true, .optional = true, .forward_fills = true},
    {.name = "variance",
     .place = PLACE_STATE,
     .input = true,
     .optional = true,
     .forward_fills = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_instance_normalization_gradient = {
    .name = "instance_normalization_gradient",
    .mps_class = "MPSCNNInstanceNormalizationGradient",
    .text = "gradient of instance_normalization, and for gamma and beta",
    .family = "instance_normalization",
    .parameters_size = sizeof(struct glcnn_instance_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .forward = "instance_normalization",
    .flags = IS_GRADIENT | NEEDS_STATE | MODIFIES_STATE | PIXEL_MANUAL,
    .arguments = gradient_arguments,
    .check = check_gradient,
    .implementations = normalization_implementations,
    .plan = plan_gradient,
};

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
