/* Batch normalisation: spec 7.4. The four kernels share a state; the passes, which instance
 * normalisation has too, are in normalization.c. */
#include "glcnn/kernels/batch_normalization.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "kernels/neuron.h"
#include "kernels/normalization.h"
#include "kernels/numbers.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

struct glcnn_batch_normalization_parameters *glcnn_batch_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "batch_normalization");
}

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

extern const struct glcnn_descriptor glcnn_kernel_batch_normalization,
    glcnn_kernel_batch_normalization_statistics,
    glcnn_kernel_batch_normalization_statistics_gradient, glcnn_kernel_batch_normalization_gradient;

glcnn_status glcnn_batch_normalization_statistics_create(glcnn_device *device,
                                                         glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_batch_normalization_statistics, NULL, kernel);
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

/* ---- Arguments ---- */

/* Index of each argument in the descriptors below. */
enum { S_SOURCE, S_MEAN, S_VARIANCE };
enum { N_SOURCE, N_RESULT, N_PARAMETERS };
enum { D_GRADIENT, D_SOURCE, D_PARAMETERS, D_FOR_GAMMA = D_PARAMETERS + 5, D_FOR_BETA };
enum { G_GRADIENT, G_SOURCE, G_RESULT, G_PARAMETERS, G_FOR_GAMMA = G_PARAMETERS + 5, G_FOR_BETA };
/* The five from *_PARAMETERS on. */
enum { GAMMA, BETA, MEAN, VARIANCE, SLOPES };

static const struct glcnn_batch_normalization_parameters *parameters_of(const struct operation *o)
{
    return o->parameters;
}

static bool is_fixed(const struct operation *o)
{
    return parameters_of(o)->flags == GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
}

static uint32_t channels_of(const struct operation *o)
{
    return o->images[o->descriptor->flags & IS_GRADIENT ? D_SOURCE : N_SOURCE].channels;
}

static size_t length(const struct operation *o, size_t index)
{
    bool slopes = (int)index == descriptor_argument(o->descriptor, "neuron_data");
    return slopes ? neuron_data_length(&parameters_of(o)->neuron, channels_of(o)) : channels_of(o);
}

/* Pixels per channel that the statistics were taken over: of this encode if nobody counted. */
static double samples_of(const struct operation *o)
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
    return o->with_state && !is_fixed(o) && o->vectors[mean].buffer &&
           o->vectors[mean].buffer == o->kernel->vectors[mean];
}

static bool check_statistics(const struct operation *o, int mean, struct refusal refusal)
{
    if (lacks_statistics(o, mean) || lacks_statistics(o, mean + 1))
        return refuse(
            refusal,
            "the state has no mean and variance yet; encode batch_normalization_statistics "
            "first, or set flags to never to use the kernel's own");
    return neuron_check(&parameters_of(o)->neuron, refusal);
}

static bool check_normalize(const struct operation *o, struct refusal refusal)
{
    return check_statistics(o, N_PARAMETERS + MEAN, refusal);
}

static bool check_statistics_gradient(const struct operation *o, struct refusal refusal)
{
    return pixel_reduction_check(o, &o->images[D_GRADIENT], refusal) &&
           check_statistics(o, D_PARAMETERS + MEAN, refusal);
}

static bool check_gradient(const struct operation *o, struct refusal refusal)
{
    if (!is_fixed(o) && !(o->given[G_FOR_GAMMA] && o->given[G_FOR_BETA]))
        return refuse(refusal,
                      "there are no gradient_for_gamma and gradient_for_beta yet; encode "
                      "batch_normalization_statistics_gradient first, with the same state");
    return check_statistics(o, G_PARAMETERS + MEAN, refusal);
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

static enum derivative derivative(const struct operation *o, struct plan *plan)
{
    if (neuron_traits(&parameters_of(o)->neuron).has_slopes)
        return DERIVATIVE_NONE;
    return pointwise_derivative_of(o, plan, &o->images[N_SOURCE], &o->images[N_RESULT]);
}

static struct image_view prepare_derived(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe(o, N_PARAMETERS);
    normalization_coefficients(plan, &n);
    return n.coefficients.image;
}

static void derive(const struct operation *o, struct pass *pass, struct derived_name *name)
{
    struct normalization n = describe(o, N_PARAMETERS);
    n.coefficients = (struct coefficients){.in_image = o->prepared.storage, .image = o->prepared};
    normalization_derive(pass, &n, name, &o->images[N_SOURCE]);
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
    n.samples = samples_of(o);
    n.for_gamma = o->vectors[G_FOR_GAMMA];
    n.for_beta = o->vectors[G_FOR_BETA];
    return n;
}

static enum derivative gradient_derivative(const struct operation *o, struct plan *plan)
{
    if (is_fixed(o) || neuron_traits(&parameters_of(o)->neuron).has_slopes ||
        !pointwise_is_direct(o, &o->images[G_GRADIENT], &o->images[G_SOURCE]))
        return DERIVATIVE_NONE;
    const struct implementation *row =
        implementation_choose(plan, &normalization_gradient_rows, NULL);
    return row->dear_stores || row->shared_memory ? DERIVATIVE_PIXELS : DERIVATIVE_NONE;
}

static struct image_view prepare_derived_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe_gradient(o);
    return normalization_gradient_coefficients(plan, &n);
}

static void derive_gradient(const struct operation *o, struct pass *pass, struct derived_name *name)
{
    struct normalization n = describe_gradient(o);
    n.coefficients = (struct coefficients){.in_image = o->prepared.storage, .image = o->prepared};
    normalization_derive_gradient(pass, &n, name, &o->images[G_GRADIENT], &o->images[G_SOURCE]);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct normalization n = describe_gradient(o);
    normalization_coefficients(plan, &n);
    normalization_apply_gradient(o, plan, &n, &o->images[G_GRADIENT], &o->images[G_SOURCE],
                                 &o->images[G_RESULT], is_fixed(o));
}

/* ---- References ---- */

/* One channel's numbers; what is not given is neutral. */
struct channel {
    double gamma, beta, mean, rate, slope;
};

static double vector_or(const struct reference *r, int index, uint32_t c, double neutral)
{
    return r->vectors[index] ? r->vectors[index][c] : neutral;
}

static struct channel channel_at(const struct reference *r, int first, uint32_t c)
{
    double epsilon = (double)parameters_of(r->operation)->epsilon;
    return (struct channel){
        .gamma = vector_or(r, first + GAMMA, c, 1),
        .beta = vector_or(r, first + BETA, c, 0),
        .mean = vector_or(r, first + MEAN, c, 0),
        .rate = 1 / sqrt(vector_or(r, first + VARIANCE, c, 1) + epsilon),
        .slope = neuron_slope(&parameters_of(r->operation)->neuron, r->vectors[first + SLOPES], c),
    };
}

/* Sum over a channel of (x - around)^power. */
static double moment(const struct tensor *x, uint32_t c, double around, int power)
{
    double sum = 0;
    for (uint32_t n = 0; n < x->images; n++)
        for (uint32_t i = 0; i < x->height * x->width; i++)
            sum += pow(tensor_at(x, n, c, 0, 0)[i] - around, power);
    return sum;
}

static void statistics_reference(const struct reference *r)
{
    const struct tensor *x = &r->images[S_SOURCE];
    double count = (double)x->images * x->height * x->width;
    for (uint32_t c = 0; c < x->channels; c++) {
        r->vectors[S_MEAN][c] = moment(x, c, 0, 1) / count;
        r->vectors[S_VARIANCE][c] = moment(x, c, r->vectors[S_MEAN][c], 2) / count;
    }
}

static void normalize_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[N_RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct channel k = channel_at(r, N_PARAMETERS, c);
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, &r->images[N_SOURCE], n, c, Y, X);
                    *tensor_at(to, n, c, Y, X) =
                        neuron_value(&parameters_of(r->operation)->neuron, k.slope,
                                     k.gamma * (x - k.mean) * k.rate + k.beta);
                }
        }
}

static double act_derivative(const struct reference *r, const struct channel *k, double xh)
{
    return neuron_derivative(&parameters_of(r->operation)->neuron, k->slope,
                             k->gamma * xh + k->beta);
}

static void sum_channel(const struct reference *r, uint32_t n, uint32_t c)
{
    const struct window *w = &r->operation->window;
    struct channel k = channel_at(r, D_PARAMETERS, c);
    for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
        for (int32_t X = w->x.begin; X < w->x.end; X++) {
            double xh = (pointwise_source(w, &r->images[D_SOURCE], n, c, Y, X) - k.mean) * k.rate;
            double inner =
                times(act_derivative(r, &k, xh), tensor_get(&r->images[D_GRADIENT], n, c, Y, X));
            r->vectors[D_FOR_BETA][c] += inner;
            r->vectors[D_FOR_GAMMA][c] += inner * xh;
        }
}

static void statistics_gradient_reference(const struct reference *r)
{
    for (uint32_t n = 0; n < r->images[D_SOURCE].images; n++)
        for (uint32_t c = 0; c < r->images[D_SOURCE].channels; c++)
            sum_channel(r, n, c);
}

static double derivative_at(const struct reference *r, uint32_t c, double x)
{
    struct channel k = channel_at(r, G_PARAMETERS, c);
    return act_derivative(r, &k, (x - k.mean) * k.rate);
}

/* `inner` is what of G arrives at the pixel, through the neuron. */
static double source_gradient_at(const struct reference *r, const struct channel *k, uint32_t c,
                                 double x, double inner)
{
    double samples = samples_of(r->operation);
    double xh = (x - k->mean) * k->rate;
    if (!is_fixed(r->operation))
        inner -= (r->vectors[G_FOR_BETA][c] + xh * r->vectors[G_FOR_GAMMA][c]) / samples;
    return k->gamma * k->rate * inner;
}

static void gradient_reference(const struct reference *r)
{
    const struct operation *o = r->operation;
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    pointwise_scatter(r, &r->images[G_GRADIENT], x, to, derivative_at);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++) {
            struct channel k = channel_at(r, G_PARAMETERS, c);
            for (int32_t y = 0; y < (int32_t)to->height; y++)
                for (int32_t i = 0; i < (int32_t)to->width; i++) {
                    double *at = tensor_at(to, n, c, y, i);
                    *at = pointwise_is_seen(o, x, y, i)
                              ? source_gradient_at(r, &k, c, pointwise_seen(o, x, n, c, y, i), *at)
                              : 0;
                }
        }
}

/* ---- Cases ---- */

#define SHAPE_CASES                                                                                \
    {"", {1, 1, 2, 2}}, {"epsilon=1e-5", {2, 2, 5, 7}}, {"epsilon=0.001", {3, 3, 4, 4}},           \
        {"epsilon=1e-5", {4, 4, 3, 9}}, {"epsilon=1e-5", {2, 5, 8, 8}},                            \
        {"epsilon=0.01", {5, 6, 1, 13}}, {"epsilon=1e-5", {1, 7, 17, 1}},                          \
        {"epsilon=1e-5", {3, 8, 6, 5}}, {"epsilon=1e-5", {64, 9, 1, 1}},                           \
        {"epsilon=1e-5 source_feature_channel_offset=4 source_feature_channel_max_count=3",        \
         {2, 9, 5, 4}},                                                                            \
        {"epsilon=1e-5", {7, 3, 31, 33}}, {"epsilon=1e-5", {2, 70, 4, 6}},                         \
        {"epsilon=1e-5", {3, 5, 19, 32}}, {"epsilon=1e-5", {70, 1, 30, 32}},                       \
    {                                                                                              \
        "epsilon=1e-5", {16, 37, 28, 28}, {0}, true                                                \
    }

#define ACT_CASES                                                                                  \
    {"epsilon=1e-5 neuron_type=relu neuron_a=0.1", {2, 5, 6, 7}},                                  \
        {"epsilon=1e-5 neuron_type=sigmoid", {3, 3, 5, 5}},                                        \
        {"epsilon=1e-5 neuron_type=elu neuron_a=1.5", {1, 6, 7, 4}},                               \
        {"epsilon=1e-5 neuron_type=prelu", {2, 11, 4, 3}},                                         \
        {"epsilon=1e-5 flags=never", {2, 4, 5, 6}},                                                \
        {"epsilon=1e-5 flags=never neuron_type=tanh neuron_a=1 neuron_b=1", {2, 3, 5, 6}},         \
        {"epsilon=1e-5 offset_x=1 offset_y=-1 destination_width=6 destination_height=7",           \
         {2, 5, 6, 5}},                                                                            \
        {"epsilon=1e-5 neuron_type=soft_sign edge_mode=clamp offset_x=-2 offset_y=1 "              \
         "destination_width=8 destination_height=5",                                               \
         {2, 3, 4, 5}},                                                                            \
    {                                                                                              \
        "epsilon=1e-5 clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "           \
        "clip_rect_size_height=2",                                                                 \
        {                                                                                          \
            2, 6, 6, 7                                                                             \
        }                                                                                          \
    }

static const struct check_case statistics_cases[] = {
    SHAPE_CASES, {"flags=always", {2, 3, 4, 5}}, {"flags=never", {2, 3, 4, 5}}, {0}};
static const struct check_case cases[] = {
    SHAPE_CASES, ACT_CASES, {"epsilon=1e-5 flags=always", {2, 3, 4, 5}}, {0}};

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

#define COMMON                                                                                     \
    .family = "batch_normalization",                                                               \
    .parameters_size = sizeof(struct glcnn_batch_normalization_parameters),                        \
    .parameters = parameters, .length = length

const struct glcnn_descriptor glcnn_kernel_batch_normalization_statistics = {
    .name = "batch_normalization_statistics",
    .mps_class = "MPSCNNBatchNormalizationStatistics",
    .text = "mean and variance of each channel over a batch, into a state",
    COMMON,
    .without_gradient = "batch_normalization_gradient differentiates through the statistics",
    .flags =
        NEEDS_STATE | SHARED_STATE | BATCH_BARRIER | MODIFIES_STATE | STARTS_STATE | COUNTS_SAMPLES,
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "mean", .place = PLACE_STATE, .output = true},
                  {.name = "variance", .place = PLACE_STATE, .output = true}},
    .implementations = normalization_implementations,
    .plan = plan_statistics,
    .reference = statistics_reference,
    .cases = statistics_cases,
};

const struct glcnn_descriptor glcnn_kernel_batch_normalization = {
    .name = "batch_normalization",
    .mps_class = "MPSCNNBatchNormalization",
    .text = "gamma (x - mean) / sqrt(variance + epsilon) + beta, then a neuron",
    COMMON,
    .gradient = "batch_normalization_gradient",
    .flags = MAKES_STATE | SHARED_STATE,
    .collector = "batch_normalization_statistics",
    .collects = collects,
    .averager = "batch_normalization_running_statistics",
    .neuron = neuron_of,
    .keeps_zero = descriptor_always,
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
                  PARAMETER_ARGUMENTS},
    .check = check_normalize,
    .derivative = derivative,
    .prepare_derived = prepare_derived,
    .derive = derive,
    .implementations = normalization_implementations,
    .plan = plan_normalize,
    .reference = normalize_reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_statistics_gradient = {
    .name = "batch_normalization_statistics_gradient",
    .mps_class = "MPSCNNBatchNormalizationStatisticsGradient",
    .text = "gradients for gamma and beta over a batch, into a state",
    COMMON,
    .without_gradient = "it is a gradient itself",
    .forward = "batch_normalization",
    .flags = IS_GRADIENT | NEEDS_STATE | SHARED_STATE | BATCH_BARRIER | MODIFIES_STATE |
             PIXEL_MANUAL | READS_DERIVED,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  PARAMETER_ARGUMENTS,
                  {.name = "gradient_for_gamma", .place = PLACE_STATE, .output = true},
                  {.name = "gradient_for_beta", .place = PLACE_STATE, .output = true}},
    .check = check_statistics_gradient,
    .implementations = normalization_implementations,
    .plan = plan_statistics_gradient,
    .reference = statistics_gradient_reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_gradient = {
    .name = "batch_normalization_gradient",
    .mps_class = "MPSCNNBatchNormalizationGradient",
    .text = "gradient of batch_normalization through its statistics",
    COMMON,
    .without_gradient = "it is a gradient itself",
    .forward = "batch_normalization",
    .flags = IS_GRADIENT | SHARED_STATE | PIXEL_MANUAL | READS_DERIVED,
    .collector = "batch_normalization_statistics_gradient",
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
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
                   .filled_by = "batch_normalization_statistics_gradient"}},
    .check = check_gradient,
    .derivative = gradient_derivative,
    .prepare_derived = prepare_derived_gradient,
    .derive = derive_gradient,
    .implementations = normalization_implementations,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = cases,
};
