/* Optimizers: spec 9. A step updates the result in place, from values copied there first where
 * that is another buffer: four vectors are bound at most. Every parameter is a uniform, set again
 * before a command buffer is committed again. */
#include "kernels/optimizer.h"

#include <float.h>
#include <math.h>

#include "encode/number.h"
#include "record/command_buffer.h"

/* ---- Vectors ---- */

int optimizer_result_index(const struct operation *o)
{
    return descriptor_argument(o->descriptor, "result");
}

static const struct argument *argument_of(const struct operation *o, int index)
{
    return descriptor_argument_at(o->descriptor, (size_t)index);
}

/* Of all pairs of arguments only values and result may be one buffer, if one of them is written. */
static bool clash(const struct operation *o, int i, int j)
{
    const struct argument *a = argument_of(o, i), *b = argument_of(o, j);
    return o->vectors[i].buffer && o->vectors[i].buffer == o->vectors[j].buffer &&
           (a->output || b->output) && !(i == VALUES && j == optimizer_result_index(o));
}

static bool check_distinct(const struct operation *o, int i, struct validation validation)
{
    const struct argument *other;
    for (int j = i + 1; (other = argument_of(o, j)); j++)
        if (clash(o, i, j))
            return invalid(validation, "%s and %s are one buffer; only values and result may be",
                           argument_of(o, i)->name, other->name);
    return true;
}

static bool check_vectors(const struct operation *o, struct validation validation)
{
    const struct argument *argument;
    size_t count = o->vectors[VALUES].count;
    for (int i = 0; (argument = argument_of(o, i)); i++) {
        if (o->given[i] && o->vectors[i].count != count)
            return invalid(
                validation,
                "%s has %zu elements and values have %zu; all vectors of a step are of one "
                "length",
                argument->name, o->vectors[i].count, count);
        if (!check_distinct(o, i, validation))
            return false;
    }
    return true;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_optimizer_parameters *p = o->parameters;
    bool has_beta = descriptor_argument(o->descriptor, "first_moment") >= 0;
    char low[NUMBER_TEXT], high[NUMBER_TEXT], beta[NUMBER_TEXT];
    if (p->apply_gradient_clipping && p->gradient_clip_min > p->gradient_clip_max)
        return invalid(validation, "gradient_clip_min is %s, more than gradient_clip_max, %s",
                       number_format(low, (double)p->gradient_clip_min),
                       number_format(high, (double)p->gradient_clip_max));
    if (has_beta && p->beta1 >= 1)
        return invalid(validation, "beta1 is %s; it must be below 1, or no gradient ever counts",
                       number_format(beta, p->beta1));
    return check_vectors(o, validation);
}

/* ---- Encodes ---- */

glcnn_status optimizer_check(const struct glcnn_command_buffer *command_buffer,
                             glcnn_kernel *kernel, const char *where)
{
    if (!kernel)
        return command_buffer ? device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                                            "%s: kernel is NULL", where)
                              : GLCNN_INVALID_ARGUMENT;
    if (!glcnn_optimizer(kernel))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is no optimizer", where,
                           kernel_display_name(kernel));
    return GLCNN_SUCCESS;
}

static bool has_second(const glcnn_kernel *kernel)
{
    return descriptor_argument(kernel->descriptor, "second_moment") >= 0;
}

glcnn_status optimizer_vectors(const glcnn_kernel *kernel, struct glcnn_buffer *gradient,
                               struct glcnn_buffer *values, struct glcnn_buffer *first,
                               struct glcnn_buffer *second, struct glcnn_buffer *result,
                               struct glcnn_encode *arguments)
{
    bool two = has_second(kernel);
    if (second && !two)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: there is no second state vector; second must be NULL",
                           kernel_display_name(kernel));
    *arguments = (struct glcnn_encode){.vectors = {gradient, values, first}};
    if (two)
        arguments->vectors[FIRST + 1] = second;
    arguments->vectors[FIRST + 1 + two] = result;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_optimizer_encode(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                    glcnn_buffer *gradient, glcnn_buffer *values,
                                    glcnn_buffer *first, glcnn_buffer *second, glcnn_buffer *result)
{
    struct glcnn_encode arguments;
    glcnn_status status = optimizer_check(command_buffer, kernel, "glcnn_optimizer_encode");
    if (status == GLCNN_SUCCESS)
        status = optimizer_vectors(kernel, gradient, values, first, second, result, &arguments);
    return status == GLCNN_SUCCESS ? glcnn_kernel_encode(command_buffer, kernel, &arguments)
                                   : status;
}

glcnn_status optimizer_encode_vectors(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                      glcnn_buffer *gradient, glcnn_buffer *values,
                                      glcnn_buffer *first, glcnn_buffer *second, size_t decayed)
{
    struct glcnn_encode arguments;
    const struct step_encodes step = {.arguments = &arguments, .decayed = &decayed, .count = 1};
    glcnn_status status =
        optimizer_vectors(kernel, gradient, values, first, second, values, &arguments);
    return status == GLCNN_SUCCESS ? kernel_encode_step(command_buffer, kernel, &step) : status;
}

/* ---- Uniforms ---- */

/* A uniform as a function of the parameters. */
struct scalar {
    const char *name;
    double (*value)(const struct glcnn_optimizer_parameters *p);
};

#define SCALAR(NAME, VALUE)                                                                        \
    static double NAME(const struct glcnn_optimizer_parameters *p)                                 \
    {                                                                                              \
        return (double)(VALUE);                                                                    \
    }

static double regularization(const struct glcnn_optimizer_parameters *p,
                             glcnn_regularization_type type)
{
    return p->regularization_type == type ? (double)p->regularization_scale : 0;
}

double optimizer_adam_rate(const struct glcnn_optimizer_parameters *p, double t)
{
    return (double)p->learning_rate * sqrt(1 - pow(p->beta2, t)) / (1 - pow(p->beta1, t));
}

SCALAR(rescale, p->gradient_rescale)
SCALAR(clip_min, p->gradient_clip_min)
SCALAR(clip_max, p->gradient_clip_max)
SCALAR(l1, regularization(p, GLCNN_REGULARIZATION_TYPE_L1))
SCALAR(l2, regularization(p, GLCNN_REGULARIZATION_TYPE_L2))
SCALAR(rate, p->learning_rate)
SCALAR(kept, 1 - (double)p->learning_rate * (double)p->weight_decay)
SCALAR(momentum_scale, p->momentum_scale)
SCALAR(decay, p->decay)
SCALAR(one_minus_decay, 1 - p->decay)
SCALAR(epsilon, p->epsilon)
SCALAR(beta1, p->beta1)
SCALAR(beta2, p->beta2)
SCALAR(one_minus_beta1, 1 - p->beta1)
SCALAR(one_minus_beta2, 1 - p->beta2)
SCALAR(adam_rate, optimizer_adam_rate(p, p->time_step))

#define SHARED_SCALARS                                                                             \
    {"gradient_rescale", rescale}, {"clip_min", clip_min}, {"clip_max", clip_max}, {"kept", kept}, \
        {"l1", l1},                                                                                \
    {                                                                                              \
        "l2", l2                                                                                   \
    }

static const struct scalar descent_scalars[] = {
    SHARED_SCALARS, {"rate", rate}, {"momentum_scale", momentum_scale}, {0}};
static const struct scalar rms_prop_scalars[] = {
    SHARED_SCALARS,       {"rate", rate},
    {"decay", decay},     {"one_minus_decay", one_minus_decay},
    {"epsilon", epsilon}, {0}};
static const struct scalar adam_scalars[] = {SHARED_SCALARS,
                                             {"rate", adam_rate},
                                             {"beta1", beta1},
                                             {"beta2", beta2},
                                             {"one_minus_beta1", one_minus_beta1},
                                             {"one_minus_beta2", one_minus_beta2},
                                             {"epsilon", epsilon},
                                             {0}};

/* How an optimizer updates: its descriptor's form. */
struct update {
    const char *shader;
    const struct scalar *scalars;
    bool counts_steps; /* in time_step */
};

static void refresh(struct glcnn_kernel *kernel, struct pass *pass)
{
    const struct glcnn_optimizer_parameters *p = kernel->parameters;
    const struct update *update = kernel->descriptor->form;
    for (const struct scalar *s = update->scalars; s->name; s++)
        pass_update_float(pass, s->name, (float)s->value(p));
    pass_update_int(pass, "apply_clipping", p->apply_gradient_clipping);
    pass_update_int(pass, "nesterov", p->use_nesterov_momentum);
}

static void begin_step(struct glcnn_kernel *kernel, struct pass *pass)
{
    struct glcnn_optimizer_parameters *p = kernel->parameters;
    p->time_step++;
    refresh(kernel, pass);
}

/* ---- Passes ---- */

/* Four elements an invocation where the vectors divide by four. */
#define WIDTH 4

/* Vectors lie at multiples of 16 bytes, and so do the first that does not decay and a part. */
static void limit_decay(const struct operation *o, struct pass *pass, uint32_t width)
{
    if (!o->decays_in_part || o->decayed >= o->vectors[VALUES].count)
        return;
    pass_define(pass, "DECAYS_IN_PART", 1);
    pass_int(pass, "decayed", (int32_t)(o->decayed / width));
}

static struct pass *plan_update(const struct operation *o, struct plan *plan)
{
    const struct update *update = o->descriptor->form;
    const struct vector_view *values = &o->vectors[VALUES],
                             *result = &o->vectors[optimizer_result_index(o)];
    if (values->buffer != result->buffer)
        plan_copy_vector(plan, values, result);
    struct pass *pass = plan_pass(plan, update->shader);
    bool wide = values->count % WIDTH == 0;
    const char *type = wide ? "vec4" : "float";
    pass_vector_of(pass, type, "gradient", &o->vectors[GRADIENT], VECTOR_READ);
    pass_vector_of(pass, type, "values", result, VECTOR_READ_WRITE);
    for (int i = FIRST; i < optimizer_result_index(o); i++)
        if (o->given[i])
            pass_vector_of(pass, type, argument_of(o, i)->name, &o->vectors[i], VECTOR_READ_WRITE);
    if (wide)
        pass_define(pass, "WIDE", 1);
    if (plan->command_buffer->skips_nan)
        pass_define(pass, "SKIPS_NAN", 1);
    for (const struct scalar *s = update->scalars; s->name; s++)
        pass_float(pass, s->name, 0);
    pass_int(pass, "apply_clipping", 0);
    pass_int(pass, "nesterov", 0);
    limit_decay(o, pass, wide ? WIDTH : 1);
    pass_grid(pass, (uint32_t)(wide ? values->count / WIDTH : values->count), 1, 1);
    pass_local(pass, 64, 1, 1);
    pass->refresh = update->counts_steps && !o->continues_step ? begin_step : refresh;
    return pass;
}

static void plan_part(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_update(o, plan);
    if (argument_of(o, FIRST)->optional && o->given[FIRST])
        pass_define(pass, "MOMENTUM", 1);
    if (plan->status == GLCNN_SUCCESS)
        pass->refresh(o->kernel, pass);
}

/* Vectors longer than a storage block take a step in parts. */
static void plan_step(const struct operation *o, struct plan *plan)
{
    struct operation part = *o;
    size_t count = o->vectors[VALUES].count, most = plan_part_elements(plan);
    if (plan_fits_block(plan, count)) {
        plan_part(o, plan);
        return;
    }
    for (size_t first = 0; first < count; first += most) {
        for (int i = 0; argument_of(o, i); i++)
            if (o->vectors[i].buffer)
                part.vectors[i] =
                    vector_part(&o->vectors[i], first, count - first < most ? count - first : most);
        plan_part(&part, plan);
        part.continues_step = true;
        part.decayed -= part.decayed < most ? part.decayed : most;
    }
}

/* ---- Descriptors ---- */

static const char *const regularization_types[] = {[GLCNN_REGULARIZATION_TYPE_NONE] = "none",
                                                   [GLCNN_REGULARIZATION_TYPE_L1] = "l1",
                                                   [GLCNN_REGULARIZATION_TYPE_L2] = "l2",
                                                   NULL};

#define LARGEST     (double)FLT_MAX
#define FIELD(NAME) offsetof(struct glcnn_optimizer_parameters, NAME)

/* clang-format off */
#define SHARED_PARAMETERS                                                                          \
    {"learning_rate", "size of a step", FIELD_FLOAT, FIELD(learning_rate),                         \
     0.001, -LARGEST, LARGEST, NULL},                                                              \
    {"gradient_rescale", "factor of the gradient, after clipping", FIELD_FLOAT,                    \
     FIELD(gradient_rescale), 1, -LARGEST, LARGEST, NULL},                                         \
    {"apply_gradient_clipping", "whether gradients are clipped", FIELD_BOOL,                       \
     FIELD(apply_gradient_clipping), 0, 0, 1, NULL},                                               \
    {"gradient_clip_max", "largest gradient kept", FIELD_FLOAT, FIELD(gradient_clip_max),          \
     LARGEST, -LARGEST, LARGEST, NULL},                                                            \
    {"gradient_clip_min", "least gradient kept", FIELD_FLOAT, FIELD(gradient_clip_min),            \
     -LARGEST, -LARGEST, LARGEST, NULL},                                                           \
    {"regularization_type",                                                                        \
     "what is added to gradients: nothing, the sign of the value or the value", FIELD_ENUM,        \
     FIELD(regularization_type), 0, 0, 0, regularization_types},                                   \
    {"regularization_scale", "factor of what is added", FIELD_FLOAT, FIELD(regularization_scale),  \
     0, -LARGEST, LARGEST, NULL},                                                                  \
    {"weight_decay", "part of the value, times the learning rate, taken off before the step",      \
     FIELD_FLOAT, FIELD(weight_decay), 0, 0, LARGEST, NULL},                                       \
    {"decays_weights_only", "whether of a layer only the weights decay", FIELD_BOOL,               \
     FIELD(decays_weights_only), 0, 0, 1, NULL}
/* clang-format on */

static const struct parameter descent_parameters[] = {
    SHARED_PARAMETERS,
    {"momentum_scale", "share of the momentum kept", FIELD_FLOAT, FIELD(momentum_scale), 0,
     -LARGEST, LARGEST, NULL},
    {"use_nesterov_momentum", "look ahead along the momentum", FIELD_BOOL,
     FIELD(use_nesterov_momentum), 0, 0, 1, NULL},
    {0}};
static const struct parameter rms_prop_parameters[] = {
    SHARED_PARAMETERS,
    {"decay", "share of the sum of squares kept", FIELD_DOUBLE, FIELD(decay), 0.9, 0, 1, NULL},
    {"epsilon", "added to the square root", FIELD_FLOAT, FIELD(epsilon), 1e-8, 0, LARGEST, NULL},
    {0}};
static const struct parameter adam_parameters[] = {
    SHARED_PARAMETERS,
    {"beta1", "share of the first moment kept", FIELD_DOUBLE, FIELD(beta1), 0.9, 0, 1, NULL},
    {"beta2", "share of the second moment kept", FIELD_DOUBLE, FIELD(beta2), 0.999, 0, 1, NULL},
    {"epsilon", "added to the square root", FIELD_FLOAT, FIELD(epsilon), 1e-8, 0, LARGEST, NULL},
    {"time_step", "steps made before this one", FIELD_UINT32, FIELD(time_step), 0, 0, 4294967294.0,
     NULL},
    {0}};

static unsigned descent_vectors(const void *parameters)
{
    const struct glcnn_optimizer_parameters *p = parameters;
    return p->momentum_scale != 0;
}

static unsigned one_vector(const void *parameters)
{
    (void)parameters;
    return 1;
}

static unsigned two_vectors(const void *parameters)
{
    (void)parameters;
    return 2;
}

static bool decays_weights_only(const void *parameters)
{
    const struct glcnn_optimizer_parameters *p = parameters;
    return p->decays_weights_only;
}

static void adam_step_back(void *parameters)
{
    struct glcnn_optimizer_parameters *p = parameters;
    p->time_step--;
}

static const struct optimizer_methods descent_methods = {.state_vectors = descent_vectors,
                                                         .encode = glcnn_optimizer_encode_states,
                                                         .encode_vectors = optimizer_encode_vectors,
                                                         .decays_weights_only =
                                                             decays_weights_only};
static const struct optimizer_methods rms_prop_methods = {
    .state_vectors = one_vector,
    .encode = glcnn_optimizer_encode_states,
    .encode_vectors = optimizer_encode_vectors,
    .decays_weights_only = decays_weights_only};
static const struct optimizer_methods adam_methods = {.state_vectors = two_vectors,
                                                      .step_back = adam_step_back,
                                                      .encode = glcnn_optimizer_encode_states,
                                                      .encode_vectors = optimizer_encode_vectors,
                                                      .decays_weights_only = decays_weights_only};

#define ENDS_BACKWARD_PASS "it ends the backward pass"

static const struct argument descent_arguments[] = {
    {.name = "gradient", .place = PLACE_CALL, .input = true},
    {.name = "values", .place = PLACE_CALL, .input = true},
    {.name = "momentum",
     .place = PLACE_CALL,
     .input = true,
     .output = true,
     .optional = true,
     .values = VALUES_SYMMETRIC},
    {.name = "result", .place = PLACE_CALL, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_optimizer_stochastic_gradient_descent = {
    .name = "optimizer_stochastic_gradient_descent",
    .mps_class = "MPSNNOptimizerStochasticGradientDescent",
    .text = "step against the gradient, with or without momentum",
    .family = "optimizer",
    .without_gradient = ENDS_BACKWARD_PASS,
    .flags = WITHOUT_PIXELS,
    .form = &(const struct update){.shader = "optimizer/optimizer_stochastic_gradient_descent.comp",
                                   .scalars = descent_scalars},
    .parameters_size = sizeof(struct glcnn_optimizer_parameters),
    .parameters = descent_parameters,
    .arguments = descent_arguments,
    .optimizer = &descent_methods,
    .check = check,
    .plan = plan_step,
};

static const struct argument rms_prop_arguments[] = {
    {.name = "gradient", .place = PLACE_CALL, .input = true},
    {.name = "values", .place = PLACE_CALL, .input = true},
    {.name = "sum_of_squares",
     .place = PLACE_CALL,
     .input = true,
     .output = true,
     .values = VALUES_POSITIVE},
    {.name = "result", .place = PLACE_CALL, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_optimizer_rms_prop = {
    .name = "optimizer_rms_prop",
    .mps_class = "MPSNNOptimizerRMSProp",
    .text = "step scaled by the running size of the gradient",
    .family = "optimizer",
    .without_gradient = ENDS_BACKWARD_PASS,
    .flags = WITHOUT_PIXELS,
    .form = &(const struct update){.shader = "optimizer/optimizer_rms_prop.comp",
                                   .scalars = rms_prop_scalars},
    .parameters_size = sizeof(struct glcnn_optimizer_parameters),
    .parameters = rms_prop_parameters,
    .arguments = rms_prop_arguments,
    .optimizer = &rms_prop_methods,
    .check = check,
    .plan = plan_step,
};

static const struct argument adam_arguments[] = {
    {.name = "gradient", .place = PLACE_CALL, .input = true},
    {.name = "values", .place = PLACE_CALL, .input = true},
    {.name = "first_moment",
     .place = PLACE_CALL,
     .input = true,
     .output = true,
     .values = VALUES_SYMMETRIC},
    {.name = "second_moment",
     .place = PLACE_CALL,
     .input = true,
     .output = true,
     .values = VALUES_POSITIVE},
    {.name = "result", .place = PLACE_CALL, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_optimizer_adam = {
    .name = "optimizer_adam",
    .mps_class = "MPSNNOptimizerAdam",
    .text = "step along running means of the gradient and its square",
    .family = "optimizer",
    .without_gradient = ENDS_BACKWARD_PASS,
    .flags = WITHOUT_PIXELS,
    .form = &(const struct update){.shader = "optimizer/optimizer_adam.comp",
                                   .scalars = adam_scalars,
                                   .counts_steps = true},
    .parameters_size = sizeof(struct glcnn_optimizer_parameters),
    .parameters = adam_parameters,
    .arguments = adam_arguments,
    .optimizer = &adam_methods,
    .check = check,
    .plan = plan_step,
};
