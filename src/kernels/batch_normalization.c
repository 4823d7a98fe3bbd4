/* Batch normalisation: spec 7.4. The four kernels share a state; statistics and the sums for the
 * gradient are reductions over all pixels of all images, each channel apart.
 *
 * A reduction first cuts the rows of all images into runs, one invocation each, whose results are
 * the columns of a scratch image; passes then merge FAN_IN columns into one, from one scratch image
 * to the other and back; the last writes the state. The order is fixed by the shape alone. */
#include "glcnn/kernels/batch_normalization.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "kernel.h"
#include "neuron.h"
#include "pointwise.h"

#define FAN_IN 32

struct glcnn_batch_normalization *glcnn_batch_normalization(glcnn_kernel *kernel)
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
    status = neuron_set(*kernel, neuron);
    if (status != GLCNN_SUCCESS)
        glcnn_kernel_destroy(kernel);
    return status;
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
    const struct {
        const char *name;
        const float *values;
    } vectors[] = {{"gamma", source->gamma},
                   {"beta", source->beta},
                   {"mean", source->mean},
                   {"variance", source->variance}};
    glcnn_status status = GLCNN_SUCCESS;
    if (source->epsilon != 0)
        status = glcnn_kernel_set(kernel, "epsilon", (double)source->epsilon);
    for (int i = 0; i < 4 && status == GLCNN_SUCCESS; i++) {
        int index = descriptor_argument(kernel->descriptor, vectors[i].name);
        struct glcnn_buffer *made; /* with its neutral value */
        status = kernel_vector(kernel, (size_t)index, source->number_of_feature_channels, &made);
        if (status == GLCNN_SUCCESS && vectors[i].values)
            status = glcnn_kernel_set_vector(kernel, vectors[i].name, vectors[i].values,
                                             source->number_of_feature_channels);
    }
    return status;
}

glcnn_status glcnn_batch_normalization_create(
    glcnn_device *device, const struct glcnn_batch_normalization_data_source *data_source,
    const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel)
{
    glcnn_status status = create(device, &glcnn_kernel_batch_normalization, neuron, kernel);
    if (status != GLCNN_SUCCESS || !data_source)
        return status;
    status = load(*kernel, data_source);
    if (status != GLCNN_SUCCESS)
        glcnn_kernel_destroy(kernel);
    return status;
}

/* ---- Arguments ---- */

/* Index of each argument in the descriptors below. */
enum { S_SOURCE, S_MEAN, S_VARIANCE };
enum { N_SOURCE, N_RESULT, N_PARAMETERS };
enum { D_GRADIENT, D_SOURCE, D_PARAMETERS, D_FOR_GAMMA = D_PARAMETERS + 5, D_FOR_BETA };
enum { G_GRADIENT, G_SOURCE, G_RESULT, G_PARAMETERS, G_FOR_GAMMA = G_PARAMETERS + 5, G_FOR_BETA };
/* The five from *_PARAMETERS on. */
enum { GAMMA, BETA, MEAN, VARIANCE, SLOPES };

static const struct glcnn_batch_normalization *parameters_of(const struct operation *o)
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

/* ---- Checks ---- */

/* Statistics that are the kernel's own where a state should have them. */
static bool lacks_statistics(const struct operation *o, int mean)
{
    return o->with_state && !is_fixed(o) && o->vectors[mean].buffer &&
           o->vectors[mean].buffer == o->kernel->vectors[mean];
}

static bool check_statistics(const struct operation *o, int mean, char *sentence, size_t size)
{
    if (lacks_statistics(o, mean) || lacks_statistics(o, mean + 1)) {
        snprintf(sentence, size,
                 "the state has no mean and variance yet; encode batch_normalization_statistics "
                 "first, or set flags to never to use the kernel's own");
        return false;
    }
    return neuron_check(&parameters_of(o)->neuron, sentence, size);
}

static bool check_normalize(const struct operation *o, char *sentence, size_t size)
{
    return check_statistics(o, N_PARAMETERS + MEAN, sentence, size);
}

/* Results of the forward encode along an axis that take part. */
static uint32_t results_along(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 0;
}

static bool check_statistics_gradient(const struct operation *o, char *sentence, size_t size)
{
    if (!results_along(&o->window.x) || !results_along(&o->window.y)) {
        snprintf(sentence, size,
                 "primary offset and source size leave no pixel of the %ux%u source gradient",
                 o->images[D_GRADIENT].width, o->images[D_GRADIENT].height);
        return false;
    }
    return check_statistics(o, D_PARAMETERS + MEAN, sentence, size);
}

static bool check_gradient(const struct operation *o, char *sentence, size_t size)
{
    if (!is_fixed(o) && !(o->given[G_FOR_GAMMA] && o->given[G_FOR_BETA])) {
        snprintf(sentence, size,
                 "there are no gradient_for_gamma and gradient_for_beta yet; encode "
                 "batch_normalization_statistics_gradient first, with the same state");
        return false;
    }
    return check_statistics(o, G_PARAMETERS + MEAN, sentence, size);
}

/* ---- Reductions ---- */

/* The rows of all images, `rows` of them, cut into `runs` of `span` rows. */
struct reduction {
    struct image_view from, to; /* scratch: columns are runs, images the quantities reduced */
    uint32_t rows, image_rows, row_pixels, span, runs;
};

/* Runs enough to keep a GPU busy, long enough that the passes that follow stay cheap; no more than
 * a texture has columns everywhere. */
static uint32_t choose_span(uint32_t rows, uint32_t row_pixels, uint32_t slices)
{
    uint32_t wanted = 16384 / slices;
    wanted = wanted < 64 ? 64 : wanted > 2048 ? 2048 : wanted;
    uint32_t span = (rows + wanted - 1) / wanted;
    uint32_t least = (128 + row_pixels - 1) / row_pixels;
    return span > least ? span : least;
}

static struct reduction begin_reduction(struct plan *plan, uint32_t width, uint32_t height,
                                        uint32_t images, uint32_t channels)
{
    struct reduction r = {.rows = height * images, .image_rows = height, .row_pixels = width};
    r.span = choose_span(r.rows, r.row_pixels, slice_count(channels));
    r.runs = (r.rows + r.span - 1) / r.span;
    r.to = plan_scratch_image(plan, r.runs, 1, channels, 2, GLCNN_CHANNEL_FORMAT_FLOAT32);
    r.from = plan_scratch_image(plan, (r.runs + FAN_IN - 1) / FAN_IN, 1, channels, 2,
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
    pass_grid(pass, r->runs, slice_count(source->channels), 1);
    pass_texture(pass, "source", source);
    pass_image(pass, "merged", &r->to);
    pass_define(pass, "BLOCK", choose_block(r->row_pixels));
    pass_runs(pass, r);
    pass->work = r->span * r->row_pixels * 8;
    swap(r);
    return pass;
}

/* Passes until FAN_IN columns or fewer are left. `quantities`: images that a pass handles apart. */
static void plan_merges(struct plan *plan, struct reduction *r, const char *shader,
                        const char *library, uint32_t quantities)
{
    while (r->runs > FAN_IN) {
        struct pass *pass = plan_pass(plan, shader);
        uint32_t left = (r->runs + FAN_IN - 1) / FAN_IN;
        pass_grid(pass, left, slice_count(r->from.channels), quantities);
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

/* The pass that merges the last columns into two vectors. */
static struct pass *plan_finish(struct plan *plan, const struct reduction *r, const char *shader,
                                const char *library, bool accumulate)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_grid(pass, 1, slice_count(r->from.channels), 1);
    pass_library(pass, "lib/partial_statistics.glsl");
    pass_library(pass, library);
    pass_texture(pass, "partial", &r->from);
    pass_runs(pass, r);
    if (accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    return pass;
}

/* ---- Passes ---- */

static void plan_statistics(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[S_SOURCE];
    struct reduction r =
        begin_reduction(plan, source->width, source->height, source->images, source->channels);
    struct pass *pass = plan_first(plan, &r, "batch_normalization_statistics.comp", source);
    pass_library(pass, "lib/partial_statistics.glsl");
    plan_merges(plan, &r, "batch_normalization_merge.comp", "lib/merge_statistics.glsl", 1);
    pass = plan_finish(plan, &r, "batch_normalization_finish.comp", "lib/merge_statistics.glsl",
                       o->accumulate);
    pass_texture(pass, "source", source);
    pass_vector(pass, "mean", &o->vectors[S_MEAN], VECTOR_READ_WRITE);
    pass_vector(pass, "variance", &o->vectors[S_VARIANCE], VECTOR_READ_WRITE);
    pass_float(pass, "samples", (float)o->samples);
}

/* What normalising comes to for each channel, as columns of a scratch image. `first` is the index
 * of gamma among the arguments. */
static struct image_view plan_coefficients(const struct operation *o, struct plan *plan, int first)
{
    uint32_t channels = channels_of(o);
    struct image_view view =
        plan_scratch_image(plan, 6, 1, channels, 1, GLCNN_CHANNEL_FORMAT_FLOAT32);
    struct pass *pass = plan_pass(plan, "batch_normalization_coefficients.comp");
    pass_grid(pass, slice_count(channels), 1, 1);
    pass_image(pass, "coefficients", &view);
    pass_vector(pass, "gamma", &o->vectors[first + GAMMA], VECTOR_READ);
    pass_vector(pass, "beta", &o->vectors[first + BETA], VECTOR_READ);
    pass_vector(pass, "mean", &o->vectors[first + MEAN], VECTOR_READ);
    pass_vector(pass, "variance", &o->vectors[first + VARIANCE], VECTOR_READ);
    pass_float(pass, "epsilon", parameters_of(o)->epsilon);
    return view;
}

static void plan_gradient_coefficients(const struct operation *o, struct plan *plan,
                                       const struct image_view *view)
{
    struct pass *pass = plan_pass(plan, "batch_normalization_gradient_coefficients.comp");
    pass_grid(pass, slice_count(view->channels), 1, 1);
    pass_image(pass, "coefficients", view);
    pass_vector(pass, "gamma", &o->vectors[G_PARAMETERS + GAMMA], VECTOR_READ);
    pass_vector(pass, "variance", &o->vectors[G_PARAMETERS + VARIANCE], VECTOR_READ);
    pass_vector(pass, "gradient_for_gamma", &o->vectors[G_FOR_GAMMA], VECTOR_READ);
    pass_vector(pass, "gradient_for_beta", &o->vectors[G_FOR_BETA], VECTOR_READ);
    pass_float(pass, "epsilon", parameters_of(o)->epsilon);
    pass_float(pass, "samples", (float)samples_of(o));
}

static void pass_act(struct pass *pass, const struct operation *o, int first)
{
    pass_neuron(pass, &parameters_of(o)->neuron);
    pass_neuron_data(pass, &parameters_of(o)->neuron, &o->vectors[first + SLOPES]);
}

static void plan_normalize(const struct operation *o, struct plan *plan)
{
    struct image_view coefficients = plan_coefficients(o, plan, N_PARAMETERS);
    struct pass *pass = plan_pointwise(plan, o, "batch_normalization.comp", &o->images[N_RESULT]);
    pass_texture(pass, "source", &o->images[N_SOURCE]);
    pass_texture(pass, "coefficients", &coefficients);
    pass_image(pass, "destination", &o->images[N_RESULT]);
    pass_window(pass, &o->window);
    pass_act(pass, o, N_PARAMETERS);
}

static void plan_statistics_gradient(const struct operation *o, struct plan *plan)
{
    struct image_view coefficients = plan_coefficients(o, plan, D_PARAMETERS);
    const struct image_view *source = &o->images[D_SOURCE];
    struct reduction r =
        begin_reduction(plan, results_along(&o->window.x), results_along(&o->window.y),
                        source->images, source->channels);
    struct pass *pass =
        plan_first(plan, &r, "batch_normalization_statistics_gradient.comp", source);
    pass_texture(pass, "gradient", &o->images[D_GRADIENT]);
    pass_texture(pass, "coefficients", &coefficients);
    pass_window(pass, &o->window);
    pass_act(pass, o, D_PARAMETERS);
    plan_merges(plan, &r, "batch_normalization_sum.comp", "lib/sum_runs.glsl", 2);
    pass = plan_finish(plan, &r, "batch_normalization_sum_finish.comp", "lib/sum_runs.glsl",
                       o->accumulate);
    pass_vector(pass, "gradient_for_gamma", &o->vectors[D_FOR_GAMMA], VECTOR_READ_WRITE);
    pass_vector(pass, "gradient_for_beta", &o->vectors[D_FOR_BETA], VECTOR_READ_WRITE);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct image_view coefficients = plan_coefficients(o, plan, G_PARAMETERS);
    if (!is_fixed(o))
        plan_gradient_coefficients(o, plan, &coefficients);
    struct pass *pass =
        plan_pointwise(plan, o, "batch_normalization_gradient.comp", &o->images[G_RESULT]);
    pass_texture(pass, "gradient", &o->images[G_GRADIENT]);
    pass_texture(pass, "source", &o->images[G_SOURCE]);
    pass_texture(pass, "coefficients", &coefficients);
    pass_image(pass, "destination", &o->images[G_RESULT]);
    pass_gather(pass, o, &o->images[G_GRADIENT], &o->images[G_SOURCE]);
    pass_act(pass, o, G_PARAMETERS);
    if (is_fixed(o))
        pass_define(pass, "FIXED_STATISTICS", 1);
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
                tensor_get(&r->images[D_GRADIENT], n, c, Y, X) * act_derivative(r, &k, xh);
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

static double source_gradient_at(const struct reference *r, const struct channel *k, uint32_t c,
                                 double x, double g)
{
    double samples = samples_of(r->operation);
    double xh = (x - k->mean) * k->rate;
    double inner = g * act_derivative(r, k, xh);
    if (!is_fixed(r->operation))
        inner -= (r->vectors[G_FOR_BETA][c] + xh * r->vectors[G_FOR_GAMMA][c]) / samples;
    return k->gamma * k->rate * inner;
}

static void gradient_reference(const struct reference *r)
{
    const struct operation *o = r->operation;
    const struct tensor *x = &r->images[G_SOURCE], *to = &r->images[G_RESULT];
    pointwise_scatter(o, &r->images[G_GRADIENT], x, to);
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

static const struct check_case statistics_cases[] = {SHAPE_CASES, {0}};
static const struct check_case cases[] = {SHAPE_CASES, ACT_CASES, {0}};

/* ---- Descriptors ---- */

static const char *const flag_names[] = {"automatic", "always", "never", NULL};

static const struct parameter parameters[] = {
    {"epsilon", "added to the variance", FIELD_FLOAT,
     offsetof(struct glcnn_batch_normalization, epsilon), (double)FLT_MIN, 0, 3.4e38, NULL},
    {"flags", "never: mean and variance are constants", FIELD_ENUM,
     offsetof(struct glcnn_batch_normalization, flags), 0, 0, 2, flag_names},
    NEURON_PARAMETERS(struct glcnn_batch_normalization, GLCNN_NEURON_TYPE_NONE),
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
    .family = "batch_normalization", .parameters_size = sizeof(struct glcnn_batch_normalization),  \
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
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
                  PARAMETER_ARGUMENTS},
    .check = check_normalize,
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
    .flags = IS_GRADIENT | NEEDS_STATE | SHARED_STATE | BATCH_BARRIER | MODIFIES_STATE,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  PARAMETER_ARGUMENTS,
                  {.name = "gradient_for_gamma", .place = PLACE_STATE, .output = true},
                  {.name = "gradient_for_beta", .place = PLACE_STATE, .output = true}},
    .check = check_statistics_gradient,
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
    .flags = IS_GRADIENT | SHARED_STATE,
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
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = cases,
};
