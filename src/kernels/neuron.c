/* Neurons, their gradient, and what kernels with a fused neuron share: spec 7.3. */
#include "kernels/neuron_types.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/pixel_reduction.h"
#include "kernels/pointwise.h"

/* ---- Types ---- */

#define VALUE_OF(NAME, ENUM, a, b, c, VALUE, DERIVATIVE) FUNCTION(NAME##_value, VALUE)

NEURON_TYPES(VALUE_OF)

/* clang-format off */
#define TYPE(NAME, ENUM, a, b, c, VALUE, DERIVATIVE)                                               \
    [GLCNN_NEURON_TYPE_##ENUM] = {                                                                 \
        "neuron/neuron_" #NAME ".glsl", {(float)a, (float)b, (float)c}, NAME##_value},
/* clang-format on */

static const struct neuron_type {
    const char *shader;
    float numbers[3];
    double (*value)(const struct glcnn_neuron_descriptor *n, double slope, double x);
} types[] = {NEURON_TYPES(TYPE)};
#define TYPES (sizeof types / sizeof *types)

#define COUNT(...) +1
_Static_assert(TYPES == NEURON_TYPES(COUNT), "each type has a row and an enumerator of its own");

#define TYPE_NAME(NAME, ENUM, ...) [GLCNN_NEURON_TYPE_##ENUM] = #NAME,

const char *const neuron_type_names[TYPES + 1] = {NEURON_TYPES(TYPE_NAME)};

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

bool glcnn_neuron_has_slopes(glcnn_neuron_type type)
{
    return type == GLCNN_NEURON_TYPE_PRELU || type == GLCNN_NEURON_TYPE_SCALE ||
           type == GLCNN_NEURON_TYPE_SHIFT;
}

/* ---- Fused neurons ---- */

static void pass_type(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                      const char *name, const char *const numbers[4])
{
    pass_library(pass, "neuron/neuron.glsl");
    pass_template(pass, types[neuron->type].shader, name);
    pass_float(pass, numbers[0], neuron->a);
    pass_float(pass, numbers[1], neuron->b);
    pass_float(pass, numbers[2], neuron->c);
    pass_define(pass, numbers[3], neuron_takes_left(neuron));
}

void pass_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron)
{
    static const char *const numbers[] = {"neuron_a", "neuron_b", "neuron_c", "neuron_left"};
    pass_type(pass, neuron, "neuron", numbers);
}

void pass_normalized_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron)
{
    static const char *const numbers[] = {"normalized_neuron_a", "normalized_neuron_b",
                                          "normalized_neuron_c", "normalized_neuron_left"};
    pass_type(pass, neuron, "normalized_neuron", numbers);
}

void pass_fused_neuron(struct pass *pass, struct fused_name *name,
                       const struct glcnn_neuron_descriptor *neuron)
{
    const char *const numbers[] = {fused_name(name, "_neuron_a"), fused_name(name, "_neuron_b"),
                                   fused_name(name, "_neuron_c"), fused_name(name, "_neuron_left")};
    pass_type(pass, neuron, fused_name(name, "_neuron"), numbers);
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

/* Numbers that no function goes with. */
static bool check_numbers(const struct glcnn_neuron_descriptor *neuron,
                          struct validation validation)
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    if (neuron->type == GLCNN_NEURON_TYPE_CELU && neuron->a == 0)
        return invalid(validation, "neuron_a is 0, by which neuron_type celu divides");
    if (neuron->type == GLCNN_NEURON_TYPE_CLIP && neuron->a > neuron->b)
        return invalid(validation,
                       "neuron_a is %s, more than neuron_b, %s: neuron_type clip holds "
                       "values between the two",
                       number_format(low, (double)neuron->a),
                       number_format(high, (double)neuron->b));
    if (neuron->type == GLCNN_NEURON_TYPE_FAKE_QUANTIZATION && !(neuron->a > 0))
        return invalid(validation,
                       "neuron_a is %s; neuron_type fake_quantization rounds to multiples of a "
                       "number above 0",
                       number_format(low, (double)neuron->a));
    if (neuron->type == GLCNN_NEURON_TYPE_FAKE_QUANTIZATION && neuron->b > neuron->c)
        return invalid(validation,
                       "neuron_b is %s, more than neuron_c, %s: neuron_type fake_quantization "
                       "holds multiples between the two",
                       number_format(low, (double)neuron->b),
                       number_format(high, (double)neuron->c));
    return true;
}

bool neuron_check(const struct glcnn_neuron_descriptor *neuron, struct validation validation)
{
    bool based = neuron->type == GLCNN_NEURON_TYPE_EXPONENTIAL ||
                 neuron->type == GLCNN_NEURON_TYPE_LOGARITHM;
    float c = neuron->c;
    bool one_allowed = neuron->type == GLCNN_NEURON_TYPE_EXPONENTIAL;
    char base[NUMBER_TEXT];
    if (!based || c == -1 || (c > 0 && (c != 1 || one_allowed)))
        return check_numbers(neuron, validation);
    return invalid(validation,
                   "neuron_c is %s, the base of neuron_type %s; it must be positive%s, or -1 for e",
                   number_format(base, (double)c), neuron_type_names[neuron->type],
                   one_allowed ? "" : " and not 1");
}

glcnn_status neuron_set(glcnn_kernel *kernel, struct glcnn_neuron_descriptor *to,
                        const struct glcnn_neuron_descriptor *from)
{
    char message[256];
    *to = *from;
    return neuron_check(from, (struct validation){message, sizeof message})
               ? GLCNN_SUCCESS
               : device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s",
                             kernel->descriptor->name, message);
}

/* A type that there is not is left to the neuron's own kernel, which refuses it. */
struct neuron_traits neuron_traits(const struct glcnn_neuron_descriptor *n)
{
    if ((unsigned)n->type >= TYPES)
        return (struct neuron_traits){.present = true, .has_slopes = true};
    double far = neuron_value(n, 0, 4);
    return (struct neuron_traits){.present = n->type != GLCNN_NEURON_TYPE_NONE,
                                  .has_slopes = glcnn_neuron_has_slopes(n->type),
                                  .rectifies = far > 2 * neuron_value(n, 0, 1) &&
                                               fabs(neuron_value(n, 0, -4)) < far / 2,
                                  .keeps_zero = neuron_value(n, 1, 0) == 0};
}

/* ---- Passes ---- */

static size_t length(const struct operation *o, size_t index)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    uint32_t channels = o->images[operation_is_gradient(o) ? IMAGE : SOURCE].channels;
    (void)index;
    return neuron_data_length(&p->neuron, p->shares_data ? 1 : channels);
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    return neuron_check(&p->neuron, validation);
}

static bool check_slopes(const struct operation *o, struct validation validation)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    if (glcnn_neuron_has_slopes(p->neuron.type))
        return pixel_reduction_check(o, &o->images[GRADIENT], validation);
    return invalid(validation,
                   "neuron_type is %s, which has no slopes; prelu, scale and shift have them",
                   neuron_type_names[p->neuron.type]);
}

/* Of a pass that does nothing else, whose exponentials need be no better than what it stores. */
static void pass_neuron_alone(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                              const struct image_view *destination)
{
    if (is_float16(destination))
        pass_define(pass, "STORES_FLOAT16", 1);
    pass_neuron(pass, neuron);
}

static void plan_neuron(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    struct pass *pass = plan_pointwise_result(plan, o, "neuron/neuron.comp");
    pass_neuron_alone(pass, &p->neuron, &o->images[RESULT]);
    pass_neuron_data(pass, &p->neuron, &o->vectors[SLOPES]);
}

static void plan_neuron_gradient(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    struct pass *pass = plan_pointwise_gradient(plan, o, "neuron/neuron_gradient.comp");
    pass_neuron_alone(pass, &p->neuron, &o->images[DESTINATION]);
    pass_neuron_data(pass, &p->neuron, &o->vectors[GRADIENT_SLOPES]);
}

static enum fusion fusion(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    if (neuron_traits(&p->neuron).has_slopes)
        return FUSION_NONE;
    return pointwise_fusion_of(o, plan, &o->images[operation_is_gradient(o) ? IMAGE : SOURCE],
                               &o->images[operation_is_gradient(o) ? GRADIENT : RESULT]);
}

static void fuse(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    fused_texture(name, pass, "_source", &o->images[operation_is_gradient(o) ? IMAGE : SOURCE]);
    if (operation_is_gradient(o))
        fused_texture(name, pass, "_gradient", &o->images[GRADIENT]);
    pass_fused_neuron(pass, name, &p->neuron);
    pass_template(
        pass, operation_is_gradient(o) ? "neuron/gradient_fused.glsl" : "neuron/value_fused.glsl",
        fused_name(name, ""));
}

static const struct pixel_block one = {1}, fourteen = {14};

static const struct implementation_list slope_implementations = {
    "neuron_slopes",
    (const struct implementation[]){{"slopes_fourteen", "neuron/neuron_slope_gradient.comp", 32,
                                     .plan = pixel_reduction_plan, .form = &fourteen},
                                    {"slopes_one", "neuron/neuron_slope_gradient.comp", 8,
                                     .plan = pixel_reduction_plan, .form = &one},
                                    {0}}};
static const struct implementation_list *const slope_tables[] = {&slope_implementations,
                                                                 &pixel_reduction_merges, NULL};

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

struct slope_sum {
    const struct operation *operation;
    const struct vector_view *channels;
};

static void read_gradient(struct pass *pass, const void *of)
{
    const struct operation *o = ((const struct slope_sum *)of)->operation;
    const struct glcnn_neuron_parameters *p = o->parameters;
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_window(pass, &o->window);
    pass_neuron(pass, &p->neuron);
}

static void write_slopes(struct pass *pass, const void *of)
{
    const struct slope_sum *s = of;
    const struct glcnn_neuron_parameters *p = s->operation->parameters;
    pixel_reduction_results(pass, 1, &s->channels, s->operation->accumulate && !p->shares_data);
}

static void plan_slope_gradient(const struct operation *o, struct plan *plan)
{
    const struct glcnn_neuron_parameters *p = o->parameters;
    const struct image_view *source = &o->images[IMAGE];
    struct vector_view channels =
        p->shares_data ? plan_scratch_vector(plan, source->channels) : o->vectors[FOR_SLOPES];
    const struct slope_sum sum = {o, &channels};
    struct pixel_reduction r = pixel_reduction_of_results(o, source, 1);
    r.kind = &pixel_reduction_sum;
    r.read = read_gradient;
    r.write = write_slopes;
    r.of = &sum;
    implementation_plan(plan, &slope_implementations, &r);
    if (p->shares_data)
        plan_shared_slope(o, plan, &channels);
}

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

static const struct argument forward_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    NEURON_DATA_ARGUMENT,
    {0}};

const struct glcnn_descriptor glcnn_kernel_neuron = {
    .name = "neuron",
    .mps_class = "MPSCNNNeuron",
    .text = "a function applied to every value",
    .family = "neuron",
    .gradient = "neuron_gradient",
    .node_defaults = node_defaults,
    .neuron = neuron_of,
    .keeps_zero = descriptor_always,
    .flags = MAKES_STATE | IS_NEURON | READS_FUSED,
    .fusion = fusion,
    .fuse = fuse,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = forward_arguments,
    .length = length,
    .check = check,
    .implementations = pointwise_implementations,
    .plan = plan_neuron,
};

static const struct argument gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    NEURON_DATA_ARGUMENT,
    {0}};

const struct glcnn_descriptor glcnn_kernel_neuron_gradient = {
    .name = "neuron_gradient",
    .mps_class = "MPSCNNNeuronGradient",
    .text = "gradient of neuron",
    .family = "neuron",
    .forward = "neuron",
    .flags = IS_GRADIENT | PIXEL_MANUAL | READS_FUSED,
    .collector = "neuron_slope_gradient",
    .collects = collects_slopes,
    .fusion = fusion,
    .fuse = fuse,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = gradient_arguments,
    .length = length,
    .check = check,
    .implementations = pointwise_implementations,
    .plan = plan_neuron_gradient,
};

static const struct argument slope_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "gradient_for_neuron_data", .place = PLACE_STATE, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_neuron_slope_gradient = {
    .name = "neuron_slope_gradient",
    .text = "gradient for the slopes of a neuron of type prelu, scale or shift, into a state",
    .family = "neuron",
    .forward = "neuron",
    .flags = IS_GRADIENT | NEEDS_STATE | MODIFIES_STATE | PIXEL_MANUAL,
    .parameters_size = sizeof(struct glcnn_neuron_parameters),
    .parameters = parameters,
    .arguments = slope_arguments,
    .length = length,
    .check = check_slopes,
    .implementations = slope_tables,
    .plan = plan_slope_gradient,
};

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
