/* Running averages of batch statistics: spec 7.4 and PyTorch's unbiased variance. Works on vectors
 * alone, as optimizers do; momentum and samples are uniforms, set again before a command buffer is
 * committed again. */
#include "kernels/running_statistics.h"

#include <stdlib.h>

#include "encode/kernel.h"

/* ---- Passes ---- */

double running_statistics_correction(const struct glcnn_running_statistics_parameters *p)
{
    return p->samples > 1 ? (double)p->samples / (double)(p->samples - 1) : 1;
}

/* The running vectors may stand nowhere else; mean and variance may be one buffer. */
static bool check_distinct(const struct operation *o, int running, struct validation validation)
{
    const struct argument *arguments = o->descriptor->arguments;
    for (int i = 0; i < running; i++)
        if (o->vectors[i].buffer && o->vectors[i].buffer == o->vectors[running].buffer)
            return invalid(validation,
                           "%s and %s are one buffer; %s is updated and must be its own",
                           arguments[i].name, arguments[running].name, arguments[running].name);
    return true;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct argument *arguments = o->descriptor->arguments;
    for (int i = 1; i < VECTORS; i++)
        if (o->vectors[i].count != o->vectors[MEAN].count)
            return invalid(validation,
                           "%s has %zu elements and %s has %zu; give all four one length",
                           arguments[MEAN].name, o->vectors[MEAN].count, arguments[i].name,
                           o->vectors[i].count);
    return check_distinct(o, RUNNING_MEAN, validation) &&
           check_distinct(o, RUNNING_VARIANCE, validation);
}

static void refresh(struct glcnn_kernel *kernel, struct pass *pass)
{
    const struct glcnn_running_statistics_parameters *p = kernel->parameters;
    pass_update_float(pass, "kept", (float)(1 - p->momentum));
    pass_update_float(pass, "mean_share", (float)p->momentum);
    pass_update_float(pass, "variance_share",
                      (float)(p->momentum * running_statistics_correction(p)));
}

static void plan(const struct operation *o, struct plan *plan)
{
    static const char *const uniforms[] = {"kept", "mean_share", "variance_share"};
    struct pass *pass = plan_pass(plan, "normalization/running_statistics.comp");
    for (int i = 0; i < VECTORS; i++)
        pass_vector(pass, o->descriptor->arguments[i].name, &o->vectors[i],
                    i < RUNNING_MEAN ? VECTOR_READ : VECTOR_READ_WRITE);
    for (int i = 0; i < 3; i++)
        pass_float(pass, uniforms[i], 0);
    if (plan->command_buffer->skips_nan)
        pass_define(pass, "KEEPS_FINITE", 1);
    pass_grid(pass, (uint32_t)o->vectors[MEAN].count, 1, 1);
    pass_local(pass, 64, 1, 1);
    pass->refresh = refresh;
    refresh(o->kernel, pass);
}

/* ---- Many layers in one pass ---- */

struct weights {
    float kept, share;
};

/* Of each element in a joined buffer; 0 in the gaps. */
static void write_weights(const struct multi_tensor_averages *a, struct weights *weights)
{
    for (size_t i = 0; i < 2 * a->count; i++) {
        const struct glcnn_running_statistics_parameters *p = a->kernels[i / 2]->parameters;
        double share = i % 2 ? p->momentum * running_statistics_correction(p) : p->momentum;
        for (size_t c = 0; c < a->batch[i]->size / 4; c++)
            weights[a->batch[i]->offset / 4 + c] =
                (struct weights){(float)(1 - p->momentum), (float)share};
    }
}

static struct vector_view plan_weights(struct plan *plan, const struct multi_tensor_averages *a)
{
    size_t size = a->batch_memory->size / 4 * sizeof(struct weights);
    struct weights *weights = calloc(1, size);
    struct vector_view table = {NULL};
    if (weights) {
        write_weights(a, weights);
        table = plan_table(plan, weights, size / 4);
    } else {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    }
    free(weights);
    return table;
}

static void describe_multi_tensor(struct pass *pass, const struct multi_tensor_averages *a,
                                  const struct vector_view *weights)
{
    size_t count = a->batch_memory->size / 4;
    pass_vector_of(pass, "vec2", "weights", weights, VECTOR_READ);
    pass_vector(pass, "batch", &(struct vector_view){a->batch_memory, 0, count}, VECTOR_READ);
    pass_vector(pass, "running", &(struct vector_view){a->running_memory, 0, count},
                VECTOR_READ_WRITE);
    pass_grid(pass, (uint32_t)count, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static glcnn_status encode_multi_tensor(glcnn_command_buffer *command_buffer,
                                        const struct multi_tensor_averages *averages)
{
    struct plan plan;
    plan_begin(&plan, command_buffer);
    plan.kernel = kernel_display_name(averages->kernels[0]);
    struct vector_view weights = plan_weights(&plan, averages);
    struct pass *pass = plan_pass(&plan, "normalization/running_statistics_joint.comp");
    describe_multi_tensor(pass, averages, &weights);
    if (command_buffer->skips_nan)
        pass_define(pass, "KEEPS_FINITE", 1);
    return plan_end(&plan);
}

static const struct averager_methods averages = {encode_multi_tensor};

/* ---- Descriptor ---- */

static const struct parameter parameters[] = {
    {"momentum", "share of the batch in the new average", FIELD_DOUBLE,
     offsetof(struct glcnn_running_statistics_parameters, momentum), 0.1, 0, 1, NULL},
    {"samples", "pixels per channel that the variance was taken over; 1: take it as it is",
     FIELD_UINT64, offsetof(struct glcnn_running_statistics_parameters, samples), 1, 1,
     9007199254740992.0, NULL},
    {0}};

static const struct argument vector_arguments[] = {
    {.name = "mean", .place = PLACE_CALL, .input = true},
    {.name = "variance", .place = PLACE_CALL, .input = true, .values = VALUES_POSITIVE},
    {.name = "running_mean", .place = PLACE_CALL, .input = true, .output = true},
    {.name = "running_variance",
     .place = PLACE_CALL,
     .input = true,
     .output = true,
     .values = VALUES_POSITIVE},
    {0}};

const struct glcnn_descriptor glcnn_kernel_batch_normalization_running_statistics = {
    .name = "batch_normalization_running_statistics",
    .text = "running averages of a batch's means and unbiased variances",
    .family = "running_statistics",
    .without_gradient = "its results serve inference alone",
    .flags = WITHOUT_PIXELS,
    .parameters_size = sizeof(struct glcnn_running_statistics_parameters),
    .parameters = parameters,
    .averages = &averages,
    .arguments = vector_arguments,
    .check = check,
    .plan = plan,
};

/* ---- Constructor and encode ---- */

glcnn_status glcnn_batch_normalization_running_statistics_encode(
    glcnn_command_buffer *command_buffer, glcnn_kernel *kernel, glcnn_buffer *mean,
    glcnn_buffer *variance, glcnn_buffer *running_mean, glcnn_buffer *running_variance)
{
    const struct glcnn_encode arguments = {
        .vectors = {mean, variance, running_mean, running_variance}};
    if (kernel && !glcnn_running_statistics(kernel))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_batch_normalization_running_statistics_encode: %s keeps no "
                           "running statistics",
                           kernel->descriptor->name);
    return glcnn_kernel_encode(command_buffer, kernel, &arguments);
}
