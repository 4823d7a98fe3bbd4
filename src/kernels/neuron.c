/* Neurons, their gradient, and what kernels with a fused neuron share: spec 7.3. */
#include "kernels/neuron.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/numbers.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

struct glcnn_neuron_parameters *glcnn_neuron(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "neuron");
}

/* ---- Types ---- */

static double affine(const struct glcnn_neuron_descriptor *n, double x)
{
    return (double)n->a * x + (double)n->b;
}

static double base_log(const struct glcnn_neuron_descriptor *n)
{
    return n->c == -1 ? 1 : log((double)n->c);
}

/* A NaN is on neither side of 0. */
static double by_sign(double x, double below, double above)
{
    return isnan(x) ? x : x >= 0 ? above : below;
}

static double relun_inner(const struct glcnn_neuron_descriptor *n, double x)
{
    return x >= 0 ? x : times((double)n->a, x);
}

static double relun_slope(const struct glcnn_neuron_descriptor *n, double x)
{
    return by_sign(x, relun_inner(n, x) < (double)n->b ? (double)n->a : 0, x < (double)n->b);
}

/* 1^x is 1 for all x, as C's pow has it. */
static double base_power(const struct glcnn_neuron_descriptor *n, double x)
{
    return n->c == -1 ? exp(affine(n, x)) : pow((double)n->c, affine(n, x));
}

static double within(double v, double low, double high, double slope)
{
    return isnan(v) ? v : v >= low && v <= high ? slope : 0;
}

static double softened(double v)
{
    return v > 700 ? v : log1p(exp(v));
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static double logistic_slope(double x)
{
    return 1 / (2 + exp(x) + exp(-x));
}

static double mish_share(double x)
{
    return tanh(softened(x));
}

static double mish_slope(double x)
{
    return logistic(x) / pow(cosh(softened(x)), 2);
}

/* At the kinks the branch for greater x. */
static double hard_swish_slope(double v, double ax)
{
    return isnan(v) ? v : v < 0 ? 0 : v >= 1 ? 1 : v + ax;
}

/* s(u) = (1 + tanh(u / 2)) / 2 is the logistic function of u. */
static double tanh_argument(double x)
{
    return 2 * M_SQRT1_2 * M_2_SQRTPI * (x + 0.044715 * x * x * x);
}

static double tanh_argument_slope(double x)
{
    return 2 * M_SQRT1_2 * M_2_SQRTPI * (1 + 3 * 0.044715 * x * x);
}

static double beyond(double x, double threshold, double value)
{
    return isnan(x) ? x : x > threshold ? value : 0;
}

/* The share of a normal distribution that lies below x, and its density at x. */
static double normal_share(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static double normal_density(double x)
{
    return 0.5 * M_SQRT1_2 * M_2_SQRTPI * exp(-0.5 * x * x);
}

/* A row is a type: its name; the numbers a, b and c that a graph's node starts from, of which the check
 * makes a case; f(x) and f'(x) in double precision, of x, A, B, C and `slope`, the channel's number of
 * neuron_data. The shader is neuron/neuron_NAME.glsl.
 * Rows stand in the order of glcnn_neuron_type, so a new one is the last. The logarithm stands by itself:
 * with its default numbers it has no value for the check's pixels below 0. */
/* clang-format off */
#define NEURON_TYPES(ROW) TYPES_TO_EXPONENTIAL(ROW) TYPE_LOGARITHM(ROW) TYPES_FROM_GELU(ROW)

#define TYPES_TO_EXPONENTIAL(ROW)                                                                  \
    ROW(none, 0, 0, 0, x, 1)                                                                       \
    ROW(relu, 0, 0, 0, x >= 0 ? x : times(A, x), by_sign(x, A, 1))                                 \
    ROW(linear, 1, 0, 0, affine(n, x), A)                                                          \
    ROW(sigmoid, 0, 0, 0, logistic(x), logistic_slope(x))                                          \
    ROW(hard_sigmoid, 0.2, 0.5, 0, held(affine(n, x), 0, 1), within(affine(n, x), 0, 1, A))      \
    ROW(tanh, 1, 1, 0, A * tanh(B * x), A * B / pow(cosh(B * x), 2))                               \
    ROW(absolute, 0, 0, 0, fabs(x), sign_of(x))                                                    \
    ROW(soft_plus, 1, 1, 0, A * softened(B * x), A * B / (1 + exp(-B * x)))                        \
    ROW(soft_sign, 0, 0, 0, x / (1 + fabs(x)), 1 / pow(1 + fabs(x), 2))                            \
    ROW(elu, 1, 0, 0, x >= 0 ? x : A * expm1(x), by_sign(x, A * exp(x), 1))                        \
    ROW(prelu, 0, 0, 0, x >= 0 ? x : times(slope, x), by_sign(x, slope, 1))                        \
    ROW(relun, 1, 6, 0, at_most(relun_inner(n, x), B), relun_slope(n, x))                          \
    ROW(power, 1, 0, 1, pow(affine(n, x), C), A * C * pow(affine(n, x), C - 1))                    \
    ROW(exponential, 1, 0, -1, base_power(n, x), A * base_log(n) * base_power(n, x))

#define TYPE_LOGARITHM(ROW)                                                                        \
    ROW(logarithm, 1, 0, -1, log(affine(n, x)) / base_log(n), A / (base_log(n) * affine(n, x)))

#define TYPES_FROM_GELU(ROW)                                                                       \
    ROW(gelu, 0, 0, 0, times(normal_share(x), x), normal_share(x) + times(normal_density(x), x))   \
    ROW(swish, 1, 0, 0, times(logistic(A * x), x),                                                 \
        logistic(A * x) + times(logistic_slope(A * x), A * x))                                     \
    ROW(clip, 0, 1, 0, held(x, A, B), within(x, A, B, 1))                                          \
    ROW(hard_swish, 0.16666667, 0.5, 0, times(held(affine(n, x), 0, 1), x),                         \
        hard_swish_slope(affine(n, x), A * x))                                                     \
    ROW(gelu_tanh, 0, 0, 0, times(logistic(tanh_argument(x)), x), logistic(tanh_argument(x)) +     \
        times(logistic_slope(tanh_argument(x)), x * tanh_argument_slope(x)))                       \
    ROW(mish, 0, 0, 0, times(mish_share(x), x), mish_share(x) + times(mish_slope(x), x))           \
    ROW(selu, 1.67326324, 1.05070099, 0, B * (x >= 0 ? x : A * expm1(x)),                        \
        B * by_sign(x, A * exp(x), 1))                                                             \
    ROW(celu, 1, 0, 0, x >= 0 ? x : A * expm1(x / A), by_sign(x, exp(x / A), 1))                   \
    ROW(thresholded_relu, 1, 0, 0, beyond(x, A, x), beyond(x, A, 1))                               \
    ROW(erf, 0, 0, 0, erf(x), M_2_SQRTPI * exp(-x * x))                                            \
    ROW(floor, 0, 0, 0, floor(x), 0)                                                               \
    ROW(ceiling, 0, 0, 0, ceil(x), 0)                                                              \
    ROW(round, 0, 0, 0, nearbyint(x), 0)                                                           \
    ROW(sign, 0, 0, 0, sign_of(x), 0)                                                              \
    ROW(scale, 0, 0, 0, slope * x, slope)                                                          \
    ROW(shift, 0, 0, 0, x + slope, 1)
/* clang-format on */

#define A ((double)n->a)
#define B ((double)n->b)
#define C ((double)n->c)

#define FUNCTION(NAME, VALUE)                                                                      \
    static double NAME(const struct glcnn_neuron_descriptor *n, double slope, double x)            \
    {                                                                                              \
        (void)n, (void)slope, (void)x;                                                             \
        return VALUE;                                                                              \
    }
#define FUNCTIONS(NAME, a, b, c, VALUE, DERIVATIVE)                                                \
    FUNCTION(NAME##_value, VALUE)                                                                  \
    FUNCTION(NAME##_derivative, DERIVATIVE)

NEURON_TYPES(FUNCTIONS)

#undef A
#undef B
#undef C

#define TYPE(NAME, a, b, c, VALUE, DERIVATIVE)                                                     \
    {"neuron/neuron_" #NAME ".glsl",                                                               \
     {(float)a, (float)b, (float)c},                                                               \
     NAME##_value,                                                                                 \
     NAME##_derivative},

static const struct neuron_type {
    const char *shader;
    float numbers[3];
    double (*value)(const struct glcnn_neuron_descriptor *n, double slope, double x);
    double (*derivative)(const struct glcnn_neuron_descriptor *n, double slope, double x);
} types[] = {NEURON_TYPES(TYPE)};
#define TYPES (sizeof types / sizeof *types)

#define TYPE_NAME(NAME, ...) #NAME,

const char *const neuron_type_names[] = {NEURON_TYPES(TYPE_NAME) NULL};

struct glcnn_neuron_descriptor glcnn_neuron_descriptor_default(glcnn_neuron_type type)
{
    struct glcnn_neuron_descriptor neuron = {.type = type};
    if ((unsigned)type >= TYPES)
        return neuron;
    neuron.a = types[type].numbers[0];
    neuron.b = types[type].numbers[1];
    neuron.c = types[type].numbers[2];
    return neuron;
}

double neuron_value(const struct glcnn_neuron_descriptor *n, double slope, double x)
{
    return types[n->type].value(n, slope, x);
}

double neuron_derivative(const struct glcnn_neuron_descriptor *n, double slope, double x)
{
    return types[n->type].derivative(n, slope, x);
}

bool glcnn_neuron_has_slopes(glcnn_neuron_type type)
{
    return type == GLCNN_NEURON_TYPE_PRELU || type == GLCNN_NEURON_TYPE_SCALE ||
           type == GLCNN_NEURON_TYPE_SHIFT;
}

/* g df/dslope(x). Where PReLU does not read its slope a gradient has no part, whatever it is. */
static double by_slope(const struct glcnn_neuron_descriptor *neuron, double x, double g)
{
    if (neuron->type == GLCNN_NEURON_TYPE_SHIFT)
        return g;
    return neuron->type == GLCNN_NEURON_TYPE_SCALE || !(x >= 0) ? g * x : 0;
}

/* ---- Fused neurons ---- */

static void pass_type(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                      const char *name, const char *const numbers[3])
{
    pass_library(pass, "neuron/neuron.glsl");
    pass_template(pass, types[neuron->type].shader, name);
    pass_float(pass, numbers[0], neuron->a);
    pass_float(pass, numbers[1], neuron->b);
    pass_float(pass, numbers[2], neuron->c);
}

void pass_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron)
{
    static const char *const numbers[] = {"neuron_a", "neuron_b", "neuron_c"};
    pass_type(pass, neuron, "neuron", numbers);
}

void pass_normalized_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron)
{
    static const char *const numbers[] = {"normalized_neuron_a", "normalized_neuron_b",
                                          "normalized_neuron_c"};
    pass_type(pass, neuron, "normalized_neuron", numbers);
}

void pass_derived_neuron(struct pass *pass, struct derived_name *name,
                         const struct glcnn_neuron_descriptor *neuron)
{
    const char *const numbers[] = {derived_name(name, "_neuron_a"), derived_name(name, "_neuron_b"),
                                   derived_name(name, "_neuron_c")};
    pass_type(pass, neuron, derived_name(name, "_neuron"), numbers);
}

void pass_neuron_data(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                      const struct vector_view *data)
{
    if (!glcnn_neuron_has_slopes(neuron->type))
        return;
    pass_define(pass, "NEURON_DATA", 1);
    pass_int(pass, "neuron_channels", (int32_t)data->count);
    pass_vector(pass, "neuron_data", data, VECTOR_READ);
}

size_t neuron_data_length(const struct glcnn_neuron_descriptor *neuron, uint32_t channels)
{
    return glcnn_neuron_has_slopes(neuron->type) ? channels : 0;
}

double neuron_slope(const struct glcnn_neuron_descriptor *neuron, const double *data, uint32_t c)
{
    return glcnn_neuron_has_slopes(neuron->type) && data ? data[c] : 0;
}

/* Numbers that no function goes with. */
static bool check_numbers(const struct glcnn_neuron_descriptor *neuron, struct refusal refusal)
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    if (neuron->type == GLCNN_NEURON_TYPE_CELU && neuron->a == 0)
        return refuse(refusal, "neuron_a is 0, by which neuron_type celu divides");
    if (neuron->type == GLCNN_NEURON_TYPE_CLIP && neuron->a > neuron->b)
        return refuse(refusal,
                      "neuron_a is %s, more than neuron_b, %s: neuron_type clip holds "
                      "values between the two",
                      number_format(low, (double)neuron->a),
                      number_format(high, (double)neuron->b));
    return true;
}

bool neuron_check(const struct glcnn_neuron_descriptor *neuron, struct refusal refusal)
{
    bool based = neuron->type == GLCNN_NEURON_TYPE_EXPONENTIAL ||
                 neuron->type == GLCNN_NEURON_TYPE_LOGARITHM;
    float c = neuron->c;
    bool one_allowed = neuron->type == GLCNN_NEURON_TYPE_EXPONENTIAL;
    char base[NUMBER_TEXT];
    if (!based || c == -1 || (c > 0 && (c != 1 || one_allowed)))
        return check_numbers(neuron, refusal);
    return refuse(refusal,
                  "neuron_c is %s, the base of neuron_type %s; it must be positive%s, or -1 for e",
                  number_format(base, (double)c), neuron_type_names[neuron->type],
                  one_allowed ? "" : " and not 1");
}

glcnn_status neuron_set(glcnn_kernel *kernel, struct glcnn_neuron_descriptor *to,
                        const struct glcnn_neuron_descriptor *from)
{
    char sentence[256];
    *to = *from;
    return neuron_check(from, (struct refusal){sentence, sizeof sentence})
               ? GLCNN_SUCCESS
               : device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s",
                             kernel->descriptor->name, sentence);
}

static bool is_type(glcnn_neuron_type type)
{
    unsigned count = 0;
    while (neuron_type_names[count])
        count++;
    return (unsigned)type < count;
}

/* A type that there is not is left to the neuron's own kernel, which refuses it. */
struct neuron_traits neuron_traits(const struct glcnn_neuron_descriptor *n)
{
    if (!is_type(n->type))
        return (struct neuron_traits){.present = true, .has_slopes = true};
    double far = neuron_value(n, 0, 4);
    return (struct neuron_traits){.present = n->type != GLCNN_NEURON_TYPE_NONE,
                                  .has_slopes = glcnn_neuron_has_slopes(n->type),
                                  .rectifies = far > 2 * neuron_value(n, 0, 1) &&
                                               fabs(neuron_value(n, 0, -4)) < far / 2,
                                  .keeps_zero = neuron_value(n, 1, 0) == 0};
}

/* ---- Constructors ---- */

static glcnn_status create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           const struct glcnn_neuron_descriptor *neuron, const float *data,
                           size_t count, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    if (neuron)
        status = neuron_set(*kernel, &glcnn_neuron(*kernel)->neuron, neuron);
    if (status == GLCNN_SUCCESS && data)
        status = glcnn_kernel_set_vector(*kernel, "neuron_data", data, count);
    return kernel_finish(kernel, status);
}

extern const struct glcnn_descriptor glcnn_kernel_neuron, glcnn_kernel_neuron_gradient,
    glcnn_kernel_neuron_slope_gradient;

glcnn_status glcnn_neuron_create(glcnn_device *device, const struct glcnn_neuron_descriptor *neuron,
                                 const float *data, size_t count, glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_neuron, neuron, data, count, kernel);
}

glcnn_status glcnn_neuron_gradient_create(glcnn_device *device,
                                          const struct glcnn_neuron_descriptor *neuron,
                                          const float *data, size_t count, glcnn_kernel **kernel)
{
    return create(device, &glcnn_kernel_neuron_gradient, neuron, data, count, kernel);
}

glcnn_status glcnn_neuron_slope_gradient_create(glcnn_device *device, glcnn_kernel **kernel)
{
    return kernel_create(device, &glcnn_kernel_neuron_slope_gradient, kernel);
}

/* ---- Passes ---- */

enum { SOURCE, RESULT, SLOPES };                        /* arguments of the forward kernel */
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_SLOPES }; /* of the gradient kernel */
enum { FOR_SLOPES = DESTINATION };                      /* of the gradient for the slopes */

static bool is_gradient(const struct operation *o)
{
    return o->descriptor->flags & IS_GRADIENT;
}

static size_t length(const struct operation *o, size_t index)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    uint32_t channels = o->images[is_gradient(o) ? IMAGE : SOURCE].channels;
    (void)index;
    return neuron_data_length(&p->neuron, p->shares_data ? 1 : channels);
}

static bool check(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    return neuron_check(&p->neuron, refusal);
}

static bool check_slopes(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    if (glcnn_neuron_has_slopes(p->neuron.type))
        return pixel_reduction_check(o, &o->images[GRADIENT], refusal);
    return refuse(refusal,
                  "neuron_type is %s, which has no slopes; prelu, scale and shift have them",
                  neuron_type_names[p->neuron.type]);
}

/* Of a pass that does nothing else, whose exponentials need be no better than what it stores. */
static void pass_neuron_alone(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                              const struct image_view *destination)
{
    if (has_halves(destination))
        pass_define(pass, "STORES_HALVES", 1);
    pass_neuron(pass, neuron);
}

static void plan_neuron(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    struct pass *pass = plan_pointwise(plan, o, "neuron/neuron.comp", &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_window(pass, &o->window);
    pass_neuron_alone(pass, &p->neuron, &o->images[RESULT]);
    pass_neuron_data(pass, &p->neuron, &o->vectors[SLOPES]);
}

static void plan_neuron_gradient(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    struct pass *pass =
        plan_pointwise(plan, o, "neuron/neuron_gradient.comp", &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_gather(pass, o, &o->images[GRADIENT], &o->images[IMAGE]);
    pass_neuron_alone(pass, &p->neuron, &o->images[DESTINATION]);
    pass_neuron_data(pass, &p->neuron, &o->vectors[GRADIENT_SLOPES]);
}

static enum derivative derivative(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    if (neuron_traits(&p->neuron).has_slopes)
        return DERIVATIVE_NONE;
    return pointwise_derivative_of(o, plan, &o->images[is_gradient(o) ? IMAGE : SOURCE],
                                   &o->images[is_gradient(o) ? GRADIENT : RESULT]);
}

static void derive(const struct operation *o, struct pass *pass, struct derived_name *name)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    derived_texture(name, pass, "_source", &o->images[is_gradient(o) ? IMAGE : SOURCE]);
    if (is_gradient(o))
        derived_texture(name, pass, "_gradient", &o->images[GRADIENT]);
    pass_derived_neuron(pass, name, &p->neuron);
    pass_template(pass,
                  is_gradient(o) ? "neuron/gradient_derived.glsl" : "neuron/value_derived.glsl",
                  derived_name(name, ""));
}

static const struct implementation_list slope_implementations = {
    "neuron_slopes",
    (const struct implementation[]){
        {"slopes_tiles", "neuron/neuron_slope_gradient_group.comp", 32, .shared_memory = true,
         .supported.holds = pixel_reduction_has_tiles,
         .profitable.holds = pixel_reduction_fills_tiles, .tiles = true, .arrives = true},
        {"slopes_arrival", "neuron/neuron_slope_gradient_group.comp", 32, .shared_memory = true,
         .pixels = 4, .arrives = true},
        {"slopes_group", "neuron/neuron_slope_gradient_group.comp", 32, .shared_memory = true,
         .pixels = 4},
        {"slopes_fourteen", "neuron/neuron_slope_gradient.comp", 32, .pixels = 14},
        {"slopes_one", "neuron/neuron_slope_gradient.comp", 8, .pixels = 1},
        {0}}};
static const struct implementation_list *const slope_tables[] = {&slope_implementations, NULL};

/* The sum over channels of what each gives for the one slope that they share. */
static void plan_shared_slope(const struct operation *o, struct plan *plan,
                              const struct vector_view *channels)
{
    struct pass *pass = plan_pass(plan, "neuron/neuron_shared_slope.comp");
    pass_vector(pass, "channels", channels, VECTOR_READ);
    pass_vector(pass, "slope", &o->vectors[FOR_SLOPES], VECTOR_READ_WRITE);
    pass_int(pass, "channel_count", (int32_t)channels->count);
    if (o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_grid(pass, 1, 1, 1);
}

static void plan_slope_gradient(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    const struct image_view *source = &o->images[IMAGE];
    struct vector_view channels =
        p->shares_data ? plan_scratch_vector(plan, source->channels) : o->vectors[FOR_SLOPES];
    const struct vector_view *const sums[] = {&channels};
    struct pixel_reduction r =
        pixel_reduction_of_results(plan, &slope_implementations, o, source, 1, 1);
    struct pass *pass = pixel_reduction_first(plan, &r, source);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_window(pass, &o->window);
    pass_neuron(pass, &p->neuron);
    pass_define(pass, "DIVIDES", 1);
    pixel_reduction_take_turns(pass, &r);
    pixel_reduction_sums(plan, &r, sums, o->accumulate && !p->shares_data);
    if (p->shares_data)
        plan_shared_slope(o, plan, &channels);
}

/* ---- References ---- */

static double slope_of(const struct reference *r, int argument, uint32_t c)
{
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    return neuron_slope(&p->neuron, r->vectors[argument], p->shares_data ? 0 : c);
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    const struct tensor *from = &r->images[SOURCE], *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) = neuron_value(
                        &p->neuron, slope_of(r, SLOPES, c), pointwise_source(w, from, n, c, Y, X));
}

static double derivative_at(const struct reference *r, uint32_t c, double x)
{
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    return neuron_derivative(&p->neuron, slope_of(r, GRADIENT_SLOPES, c), x);
}

static void gradient_reference(const struct reference *r)
{
    pointwise_scatter(r, &r->images[GRADIENT], &r->images[IMAGE], &r->images[DESTINATION],
                      derivative_at);
}

static void slope_gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct glcnn_neuron_parameters *p = r->operation->parameters;
    const struct tensor *from = &r->images[IMAGE];
    for (uint32_t n = 0; n < from->images; n++)
        for (uint32_t c = 0; c < from->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, from, n, c, Y, X);
                    r->vectors[FOR_SLOPES][p->shares_data ? 0 : c] +=
                        by_slope(&p->neuron, x, tensor_get(&r->images[GRADIENT], n, c, Y, X));
                }
}

/* ---- Cases ---- */

/* Each type with its default numbers. */
#define TYPE_CASE(NAME, a, b, c, ...)                                                              \
    {"neuron_type=" #NAME " neuron_a=" #a " neuron_b=" #b " neuron_c=" #c, {1, 5, 4, 3}},

/* Of power and logarithm only those whose base stays positive, |x| <= 1. */
/* clang-format off */
#define NUMBER_CASES                                                                               \
    {"neuron_type=relu neuron_a=0.1", {1, 2, 7, 9}},                                               \
    {"neuron_type=linear neuron_a=-1.5 neuron_b=0.25", {3, 3, 4, 4}},                              \
    {"neuron_type=hard_sigmoid neuron_a=0.75 neuron_b=0.5", {1, 5, 6, 7}},                         \
    {"neuron_type=tanh neuron_a=1.7 neuron_b=0.6", {2, 6, 5, 5}},                                  \
    {"neuron_type=soft_plus neuron_a=0.5 neuron_b=8", {1, 8, 4, 6}},                               \
    {"neuron_type=elu neuron_a=1.2", {1, 5, 9, 2}},                                                \
    {"neuron_type=prelu", {2, 11, 4, 3}},                                                          \
    {"neuron_type=relun neuron_a=0.2 neuron_b=0.4", {1, 3, 8, 8}},                                 \
    {"neuron_type=power neuron_a=0.5 neuron_b=1.5 neuron_c=-2.3", {1, 3, 6, 5}},                   \
    {"neuron_type=power neuron_a=2 neuron_b=0 neuron_c=3", {1, 6, 5, 5}},                          \
    {"neuron_type=exponential neuron_a=3 neuron_b=-1 neuron_c=-1", {1, 2, 6, 6}},                  \
    {"neuron_type=exponential neuron_a=2 neuron_b=0.5 neuron_c=2.5", {1, 2, 6, 6}},                \
    {"neuron_type=logarithm neuron_a=0.5 neuron_b=1 neuron_c=-1", {1, 4, 6, 6}},                   \
    {"neuron_type=logarithm neuron_a=0.5 neuron_b=2 neuron_c=10", {1, 4, 6, 6}},                   \
    {"neuron_type=swish neuron_a=-2.5", {2, 5, 3, 4}},                                             \
    {"neuron_type=clip neuron_a=-0.6 neuron_b=0.35", {1, 3, 5, 4}},                                \
    {"neuron_type=hard_swish neuron_a=1.5 neuron_b=0.5", {2, 4, 4, 3}},                            \
    {"neuron_type=celu neuron_a=0.5", {2, 2, 5, 3}},                                               \
    {"neuron_type=thresholded_relu neuron_a=0.25", {1, 7, 3, 4}},                                  \
    {"neuron_type=scale shares_data=true", {2, 9, 4, 3}},                                          \
    {"neuron_type=prelu shares_data=true", {2, 7, 3, 3}}
/* clang-format on */

#define TYPE_CASES TYPES_TO_EXPONENTIAL(TYPE_CASE) TYPES_FROM_GELU(TYPE_CASE) NUMBER_CASES

#define PLACE_CASES                                                                                \
    {"neuron_type=sigmoid offset_x=2 offset_y=-1 destination_width=6 destination_height=7",        \
     {2, 3, 5, 6}},                                                                                \
        {"neuron_type=tanh neuron_a=1 neuron_b=1 edge_mode=clamp offset_x=-3 offset_y=2 "          \
         "destination_width=9 destination_height=5",                                               \
         {2, 5, 4, 5}},                                                                            \
        {"neuron_type=elu neuron_a=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "                   \
         "clip_rect_size_width=3 clip_rect_size_height=2",                                         \
         {2, 6, 6, 7}},                                                                            \
        {"neuron_type=soft_sign source_feature_channel_offset=4 "                                  \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 5, 4}},                                                                            \
        {"neuron_type=relu neuron_a=0.01", {1, 70, 4, 1}},                                         \
        {"neuron_type=relu", {16, 37, 28, 28}, {0}, true},                                         \
    {                                                                                              \
        "neuron_type=sigmoid", {8, 33, 31, 17}, {0}, true                                          \
    }

static const struct check_case cases[] = {TYPE_CASES, PLACE_CASES, {0}};
static const struct check_case gradient_cases[] = {
    TYPE_CASES,
    PLACE_CASES,
    {"neuron_type=sigmoid primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1",
     {2, 5, 5, 6}},
    {"neuron_type=sigmoid primary_offset_x=-1 secondary_offset_x=-1 edge_mode=clamp", {1, 3, 4, 5}},
    {0}};

static const struct check_case slope_cases[] = {
    {"neuron_type=prelu", {1, 1, 1, 1}},
    {"neuron_type=prelu", {2, 2, 3, 5}},
    {"neuron_type=prelu", {1, 3, 7, 9}},
    {"neuron_type=prelu", {3, 4, 14, 14}},
    {"neuron_type=prelu", {1, 5, 1, 131}},
    {"neuron_type=prelu", {2, 6, 37, 1}},
    {"neuron_type=prelu", {5, 7, 4, 8}},
    {"neuron_type=prelu", {1, 8, 5, 5}},
    {"neuron_type=prelu", {9, 9, 2, 3}},
    {"neuron_type=prelu", {1, 70, 4, 3}},
    {"neuron_type=prelu", {1, 1, 65, 131}},
    {"neuron_type=prelu offset_x=2 offset_y=-1 destination_width=6 destination_height=7",
     {2, 3, 5, 6}},
    {"neuron_type=prelu edge_mode=clamp offset_x=-3 offset_y=2 destination_width=9 "
     "destination_height=5",
     {2, 5, 4, 5}},
    {"neuron_type=prelu clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"neuron_type=prelu source_feature_channel_offset=4 source_feature_channel_max_count=3",
     {2, 9, 5, 4}},
    {"neuron_type=scale", {2, 6, 5, 7}},
    {"neuron_type=shift", {3, 5, 9, 4}},
    {"neuron_type=scale shares_data=true", {2, 9, 4, 3}},
    {"neuron_type=shift shares_data=true", {2, 70, 3, 3}},
    {"neuron_type=prelu shares_data=true", {3, 1, 14, 9}},
    {"neuron_type=shift offset_x=2 offset_y=-1 destination_width=6 destination_height=7",
     {2, 3, 5, 6}},
    {"neuron_type=prelu", {16, 37, 28, 28}, {0}, true},
    {"neuron_type=prelu", {2, 3, 300, 257}, {0}, true},
    {0}};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    NEURON_PARAMETERS(struct glcnn_neuron_parameters, GLCNN_NEURON_TYPE_NONE),
    {"shares_data", "one number of neuron_data for all channels", FIELD_BOOL,
     offsetof(struct glcnn_neuron_parameters, shares_data), 0, 0, 0, NULL},
    {0}};

/* The numbers of a graph's node, by the type that was set. */
static void node_defaults(struct glcnn_addressing *properties, void *kernel_parameters)
{
    (void)properties;
    struct glcnn_neuron_parameters *p = kernel_parameters;
    p->neuron = glcnn_neuron_descriptor_default(p->neuron.type);
}

static bool collects_slopes(const void *kernel_parameters, bool differentiated)
{
    const struct glcnn_neuron_parameters *p = kernel_parameters;
    return differentiated && glcnn_neuron_has_slopes(p->neuron.type);
}

static struct neuron_traits neuron_of(const void *kernel_parameters)
{
    const struct glcnn_neuron_parameters *p = kernel_parameters;
    return neuron_traits(&p->neuron);
}

const struct glcnn_descriptor glcnn_kernel_neuron = {
    .name = "neuron",
    .mps_class = "MPSCNNNeuron",
    .text = "a function applied to every value",
    .family = "neuron",
    .gradient = "neuron_gradient",
    .node_defaults = node_defaults,
    .neuron = neuron_of,
    .keeps_zero = descriptor_always,
    .flags = MAKES_STATE | IS_NEURON | READS_DERIVED,
    .derivative = derivative,
    .derive = derive,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
                  NEURON_DATA_ARGUMENT},
    .length = length,
    .check = check,
    .implementations = pointwise_implementations,
    .plan = plan_neuron,
    .reference = reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_neuron_gradient = {
    .name = "neuron_gradient",
    .mps_class = "MPSCNNNeuronGradient",
    .text = "gradient of neuron",
    .family = "neuron",
    .without_gradient = "it is a gradient itself",
    .forward = "neuron",
    .flags = IS_GRADIENT | PIXEL_MANUAL | READS_DERIVED,
    .collector = "neuron_slope_gradient",
    .collects = collects_slopes,
    .derivative = derivative,
    .derive = derive,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
                  NEURON_DATA_ARGUMENT},
    .length = length,
    .check = check,
    .implementations = pointwise_implementations,
    .plan = plan_neuron_gradient,
    .reference = gradient_reference,
    .cases = gradient_cases,
};

const struct glcnn_descriptor glcnn_kernel_neuron_slope_gradient = {
    .name = "neuron_slope_gradient",
    .text = "gradient for the slopes of a neuron of type prelu, scale or shift, into a state",
    .family = "neuron",
    .without_gradient = "it is a gradient itself",
    .forward = "neuron",
    .flags = IS_GRADIENT | NEEDS_STATE | MODIFIES_STATE | PIXEL_MANUAL,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
                  {.name = "gradient_for_neuron_data", .place = PLACE_STATE, .output = true}},
    .length = length,
    .check = check_slopes,
    .implementations = slope_tables,
    .plan = plan_slope_gradient,
    .reference = slope_gradient_reference,
    .cases = slope_cases,
};
