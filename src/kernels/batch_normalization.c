/* Batch normalisation: spec 7.4. The four kernels share a state; the passes, which instance
 * normalisation has too, are in normalization.c. */
#include "kernels/batch_normalization.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "kernels/neuron.h"
#include "kernels/normalization.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

/* ---- Arguments ---- */

static const struct glcnn_batch_normalization_parameters *parameters_of(const struct operation *o)
{
    return o->parameters;
}

bool batch_normalization_is_fixed(const struct operation *o)
{
    return parameters_of(o)->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
}

static uint32_t channels_of(const struct operation *o)
{
    return o->images[operation_is_gradient(o) ? D_SOURCE : N_SOURCE].channels;
}

static size_t length(const struct operation *o, size_t index)
{
    bool slopes = (int)index == descriptor_argument(o->descriptor, "neuron_data");
    return slopes ? neuron_data_length(&parameters_of(o)->neuron, channels_of(o)) : channels_of(o);
}

double batch_normalization_samples(const struct operation *o)
{
    const struct image_view *source = &o->images[G_SOURCE];
    return o->samples ? (double)o->samples
                      : (double)source->width * source->height * source->images;
}

/* ---- For graphs ---- */

static bool collects(const void *parameters, bool differentiated)
{
    const struct glcnn_batch_normalization_parameters *p = parameters;
    return p->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_ALWAYS ||
           (p->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_AUTOMATIC && differentiated);
}

static struct neuron_traits neuron_of(const void *parameters)
{
    const struct glcnn_batch_normalization_parameters *p = parameters;
    return neuron_traits(&p->neuron);
}

/* ---- Checks ---- */

/* Statistics that are the kernel's own where a state should have them. */
static bool lacks_statistics(const struct operation *o, int mean)
{
    return o->with_state && !batch_normalization_is_fixed(o) && o->vectors[mean].buffer &&
           o->vectors[mean].buffer == o->kernel->vectors[mean];
}

static bool check_statistics(const struct operation *o, int mean, struct validation validation)
{
    if (lacks_statistics(o, mean) || lacks_statistics(o, mean + 1))
        return invalid(
            validation,
            "the state has no mean and variance yet; encode batch_normalization_statistics "
            "first, or set flags to never to use the kernel's own");
    return neuron_check(&parameters_of(o)->neuron, validation);
}

static bool check_normalize(const struct operation *o, struct validation validation)
{
    return check_statistics(o, N_PARAMETERS + MEAN, validation);
}

static bool check_statistics_gradient(const struct operation *o, struct validation validation)
{
    return pixel_reduction_check(o, &o->images[D_GRADIENT], validation) &&
           check_statistics(o, D_PARAMETERS + MEAN, validation);
}

static bool check_gradient(const struct operation *o, struct validation validation)
{
    if (!batch_normalization_is_fixed(o) && !(o->given[G_FOR_GAMMA] && o->given[G_FOR_BETA]))
        return invalid(validation,
                       "there are no gradient_for_gamma and gradient_for_beta yet; encode "
                       "batch_normalization_statistics_gradient first, with the same state");
    return check_statistics(o, G_PARAMETERS + MEAN, validation);
}

/* ---- Passes ---- */

/* `parameters`: index of gamma among the arguments. */
static struct normalization describe(const struct operation *o, int parameters)
{
    return (struct normalization){.groups = 1,
                                  .channels = channels_of(o),
                                  .epsilon = parameters_of(o)->epsilon,
                                  .neuron = parameters_of(o)->neuron,
                                  .gamma = o->vectors[parameters + GAMMA],
                                  .beta = o->vectors[parameters + BETA],
                                  .mean = o->vectors[parameters + MEAN],
                                  .variance = o->vectors[parameters + VARIANCE],
                                  .neuron_data = o->vectors[parameters + SLOPES]};
}

static void plan_statistics(const struct operation *o, struct plan *plan)
{
    const struct normalization n = {.groups = 1,
                                    .channels = channels_of(o),
                                    .mean = o->vectors[S_MEAN],
                                    .variance = o->vectors[S_VARIANCE]};
    normalization_statistics(plan, &n, &o->images[S_SOURCE],
                             o->accumulate ? (double)o->samples : 0);
}

static void plan_normalize(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe(o, N_PARAMETERS);
    normalization_coefficients(plan, &n);
    normalization_apply(o, plan, &n, &o->images[N_SOURCE], &o->images[N_RESULT]);
}

static enum fusion fusion(const struct operation *o, struct plan *plan)
{
    if (neuron_traits(&parameters_of(o)->neuron).has_slopes)
        return FUSION_NONE;
    return pointwise_fusion_of(o, plan, &o->images[N_SOURCE], &o->images[N_RESULT]);
}

static struct image_view prepare_fusion(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe(o, N_PARAMETERS);
    normalization_coefficients(plan, &n);
    return n.coefficients.image;
}

static void fuse(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    struct normalization n = describe(o, N_PARAMETERS);
    n.coefficients = (struct coefficients){.in_image = o->prepared.storage, .image = o->prepared};
    normalization_fuse(pass, &n, name, &o->images[N_SOURCE]);
}

static void plan_statistics_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe(o, D_PARAMETERS);
    n.for_gamma = o->vectors[D_FOR_GAMMA];
    n.for_beta = o->vectors[D_FOR_BETA];
    normalization_coefficients(plan, &n);
    normalization_sums(o, plan, &n, &o->images[D_GRADIENT], &o->images[D_SOURCE], o->accumulate);
}

static struct normalization describe_gradient(const struct operation *o)
{
    struct normalization n = describe(o, G_PARAMETERS);
    n.samples = batch_normalization_samples(o);
    n.for_gamma = o->vectors[G_FOR_GAMMA];
    n.for_beta = o->vectors[G_FOR_BETA];
    return n;
}

static enum fusion gradient_fusion(const struct operation *o, struct plan *plan)
{
    if (batch_normalization_is_fixed(o) || neuron_traits(&parameters_of(o)->neuron).has_slopes ||
        !pointwise_is_direct(o, &o->images[G_GRADIENT], &o->images[G_SOURCE]))
        return FUSION_NONE;
    return fusion_choose(plan, &normalization_gradients, NULL);
}

static struct image_view prepare_fusion_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe_gradient(o);
    return normalization_gradient_coefficients(plan, &n);
}

static void fuse_gradient(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    struct normalization n = describe_gradient(o);
    n.coefficients = (struct coefficients){.in_image = o->prepared.storage, .image = o->prepared};
    normalization_fuse_gradient(pass, &n, name, &o->images[G_GRADIENT], &o->images[G_SOURCE]);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe_gradient(o);
    normalization_coefficients(plan, &n);
    normalization_apply_gradient(o, plan, &n, &o->images[G_GRADIENT], &o->images[G_SOURCE],
                                 &o->images[G_RESULT], batch_normalization_is_fixed(o));
}

/* ---- Descriptors ---- */

static const char *const flag_names[] = {"automatic", "always", "never", NULL};

static const struct parameter parameters[] = {
    {"epsilon", "added to the variance", FIELD_FLOAT,
     offsetof(struct glcnn_batch_normalization_parameters, epsilon), (double)FLT_MIN, 0, 3.4e38,
     NULL},
    {"flags", "never: mean and variance are constants", FIELD_ENUM,
     offsetof(struct glcnn_batch_normalization_parameters, flags), 0, 0, 0, flag_names},
    NEURON_PARAMETERS(struct glcnn_batch_normalization_parameters, GLCNN_NEURON_TYPE_NONE),
    {"running_momentum", "share of a batch in running averages, in training", FIELD_FLOAT,
     offsetof(struct glcnn_batch_normalization_parameters, running_momentum), 0.1, 0, 1, NULL},
    {0}};

/* Those of the enumeration GAMMA .. SLOPES, in its order. */
#define PARAMETER_ARGUMENTS                                                                        \
    {.name = "gamma",                                                                              \
     .place = PLACE_STATE_OR_KERNEL,                                                               \
     .input = true,                                                                                \
     .optional = true,                                                                             \
     .neutral = 1},                                                                                \
        {.name = "beta", .place = PLACE_STATE_OR_KERNEL, .input = true, .optional = true},         \
        {.name = "mean",                                                                           \
         .place = PLACE_STATE_OR_KERNEL,                                                           \
         .input = true,                                                                            \
         .optional = true,                                                                         \
         .filled_by = "batch_normalization_statistics"},                                           \
        {.name = "variance",                                                                       \
         .place = PLACE_STATE_OR_KERNEL,                                                           \
         .input = true,                                                                            \
         .optional = true,                                                                         \
         .filled_by = "batch_normalization_statistics",                                            \
         .neutral = 1,                                                                             \
         .values = VALUES_POSITIVE},                                                               \
        NEURON_DATA_ARGUMENT

static const struct argument statistics_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "mean", .place = PLACE_STATE, .output = true},
    {.name = "variance", .place = PLACE_STATE, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_statistics = {
    .name = "batch_normalization_statistics",
    .mps_class = "MPSCNNBatchNormalizationStatistics",
    .text = "mean and variance of each channel over a batch, into a state",
    .family = "batch_normalization",
    .parameters_size = sizeof(struct glcnn_batch_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .without_gradient = "batch_normalization_gradient differentiates through the statistics",
    .unread = UNREAD_FIRST,
    .flags =
        NEEDS_STATE | SHARED_STATE | BATCH_BARRIER | MODIFIES_STATE | STARTS_STATE | COUNTS_SAMPLES,
    .arguments = statistics_arguments,
    .implementations = normalization_implementations,
    .plan = plan_statistics,
};

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    PARAMETER_ARGUMENTS,
    {0}};

const struct glcnn_descriptor glcnn_kernel_batch_normalization = {
    .name = "batch_normalization",
    .mps_class = "MPSCNNBatchNormalization",
    .text = "gamma (x - mean) / sqrt(variance + epsilon) + beta, then a neuron",
    .family = "batch_normalization",
    .parameters_size = sizeof(struct glcnn_batch_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .gradient = "batch_normalization_gradient",
    .flags = MAKES_STATE | SHARED_STATE,
    .collector = "batch_normalization_statistics",
    .collects = collects,
    .averager = "batch_normalization_running_statistics",
    .neuron = neuron_of,
    .keeps_zero = descriptor_always,
    .arguments = forward_arguments,
    .check = check_normalize,
    .fusion = fusion,
    .prepare_fusion = prepare_fusion,
    .fuse = fuse,
    .implementations = normalization_implementations,
    .plan = plan_normalize,
};

static const struct argument statistics_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    PARAMETER_ARGUMENTS,
    {.name = "gradient_for_gamma", .place = PLACE_STATE, .output = true},
    {.name = "gradient_for_beta", .place = PLACE_STATE, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_statistics_gradient = {
    .name = "batch_normalization_statistics_gradient",
    .mps_class = "MPSCNNBatchNormalizationStatisticsGradient",
    .text = "gradients for gamma and beta over a batch, into a state",
    .family = "batch_normalization",
    .parameters_size = sizeof(struct glcnn_batch_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .forward = "batch_normalization",
    .flags = IS_GRADIENT | NEEDS_STATE | SHARED_STATE | BATCH_BARRIER | MODIFIES_STATE |
             PIXEL_MANUAL | READS_FUSED,
    .arguments = statistics_gradient_arguments,
    .check = check_statistics_gradient,
    .implementations = normalization_implementations,
    .plan = plan_statistics_gradient,
};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    PARAMETER_ARGUMENTS,
    {.name = "gradient_for_gamma",
     .place = PLACE_STATE,
     .input = true,
     .optional = true,
     .filled_by = "batch_normalization_statistics_gradient"},
    {.name = "gradient_for_beta",
     .place = PLACE_STATE,
     .input = true,
     .optional = true,
     .filled_by = "batch_normalization_statistics_gradient"},
    {0}};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_gradient = {
    .name = "batch_normalization_gradient",
    .mps_class = "MPSCNNBatchNormalizationGradient",
    .text = "gradient of batch_normalization through its statistics",
    .family = "batch_normalization",
    .parameters_size = sizeof(struct glcnn_batch_normalization_parameters),
    .parameters = parameters,
    .length = length,
    .forward = "batch_normalization",
    .flags = IS_GRADIENT | SHARED_STATE | PIXEL_MANUAL | READS_FUSED,
    .collector = "batch_normalization_statistics_gradient",
    .arguments = gradient_arguments,
    .check = check_gradient,
    .fusion = gradient_fusion,
    .prepare_fusion = prepare_fusion_gradient,
    .fuse = fuse_gradient,
    .implementations = normalization_implementations,
    .plan = plan_gradient,
};

/* ---- Constructors ---- */

static glcnn_status create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS || !neuron)
        return status;
    return kernel_finish(kernel,
                         neuron_set(*kernel, &glcnn_batch_normalization(*kernel)->neuron, neuron));
}

glcnn_status glcnn_batch_normalization_statistics_gradient_create(
    glcnn_device *device, const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_batch_normalization_statistics_gradient, neuron, kernel);
}

glcnn_status glcnn_batch_normalization_gradient_create(glcnn_device *device,
                                                       const struct glcnn_neuron_descriptor *neuron,
                                                       glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_batch_normalization_gradient, neuron, kernel);
}

static glcnn_status load(glcnn_kernel *kernel,
                         const struct glcnn_batch_normalization_data_source *source)
{
    const struct normalization_array arrays[] = {{"gamma", source->gamma},
                                                 {"beta", source->beta},
                                                 {"mean", source->mean},
                                                 {"variance", source->variance},
                                                 {0}};
    if (source->epsilon != 0)
        glcnn_batch_normalization(kernel)->epsilon = source->epsilon;
    return normalization_load(kernel, source->number_of_feature_channels, arrays);
}

glcnn_status glcnn_batch_normalization_create(
    glcnn_device *device, const struct glcnn_batch_normalization_data_source *data_source,
    const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel)
{
    glcnn_status status = create(device, &glcnn_kernel_batch_normalization, neuron, kernel);
    if (status != GLCNN_SUCCESS || !data_source)
        return status;
    return kernel_finish(kernel, load(*kernel, data_source));
}
