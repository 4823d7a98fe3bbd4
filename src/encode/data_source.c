/* Data sources: values by callback, for any kernel that owns vectors. All values are staged and
 * looked at before the first is written, so a failure leaves the kernel as it was. */
#include "encode/data_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"

const char *const value_vectors[] = {"weights",  "biases",      "gamma",  "beta", "mean",
                                     "variance", "neuron_data", "values", NULL};

/* Slopes of a fused neuron are set by hand: a data source is that of the layer. */
int value_argument(const struct glcnn_kernel *kernel, size_t i)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    bool is_slopes = strcmp(value_vectors[i], "neuron_data") == 0;
    bool has_slopes = d->flags & IS_NEURON && d->neuron(kernel->parameters).has_slopes;
    return is_slopes && !has_slopes ? -1 : kernel_kept_argument(kernel, value_vectors[i]);
}

static const char *label_of(const struct glcnn_data_source *source)
{
    return source->label ? source->label : "";
}

/* ---- Life ---- */

static glcnn_status data_source_create(struct glcnn_device *device,
                                       const struct glcnn_data_source *callbacks,
                                       struct data_source **source)
{
    struct data_source *made = calloc(1, sizeof *made);
    char *label = callbacks->label ? strdup(callbacks->label) : NULL;
    if (!made || (callbacks->label && !label)) {
        free(made);
        free(label);
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a data source");
    }
    made->callbacks = *callbacks;
    made->callbacks.label = label;
    made->references = 1;
    *source = made;
    return GLCNN_SUCCESS;
}

struct data_source *data_source_retain(struct data_source *source)
{
    source->references++;
    return source;
}

static void data_source_free(struct data_source *source)
{
    free((char *)(uintptr_t)source->callbacks.label);
    free(source);
}

void data_source_release(struct data_source **source)
{
    struct data_source *old = *source;
    *source = NULL;
    if (!old || --old->references > 0)
        return;
    if (old->callbacks.destroy)
        old->callbacks.destroy(old->callbacks.context);
    data_source_free(old);
}

glcnn_status data_source_copy(struct data_source *source, struct glcnn_device *device,
                              struct data_source **copy)
{
    struct glcnn_data_source callbacks = source->callbacks;
    if (!callbacks.copy) {
        *copy = data_source_retain(source);
        return GLCNN_SUCCESS;
    }
    callbacks.context = callbacks.copy(callbacks.context, device);
    if (!callbacks.context)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_kernel_copy: data source \"%s\" could not be copied",
                           label_of(&callbacks));
    glcnn_status status = data_source_create(device, &callbacks, copy);
    if (status != GLCNN_SUCCESS && callbacks.destroy)
        callbacks.destroy(callbacks.context);
    return status;
}

/* ---- Values ---- */

/* One vector on its way from the data source to the kernel. */
struct staged {
    const char *name;
    size_t count;
    float *values;
};

static glcnn_status fail(const struct glcnn_kernel *kernel, const struct glcnn_data_source *source,
                         const char *message)
{
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: data source \"%s\": %s",
                       kernel_display_name(kernel), label_of(source), message);
}

static void fill(float *to, const float *from, size_t count, float neutral)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from ? from[i] : neutral;
}

static glcnn_status check_numbers(const struct glcnn_kernel *kernel,
                                  const struct glcnn_data_source *source, const struct staged *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (isnan(s->values[i]))
            return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                               "%s: data source \"%s\": element %zu of %s is not a number",
                               kernel_display_name(kernel), label_of(source), i, s->name);
    return GLCNN_SUCCESS;
}

static glcnn_status check_length(const struct glcnn_kernel *kernel,
                                 const struct glcnn_data_source *source, int index,
                                 const struct staged *s)
{
    const struct glcnn_buffer *own = kernel->vectors[index];
    if (!s->count)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: data source \"%s\": the length of %s is not known yet; set its "
                           "feature_channels, or the kernel's numbers of channels",
                           kernel_display_name(kernel), label_of(source), s->name);
    if (own && own->size != s->count * 4)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: data source \"%s\": it would give %zu elements of %s; the kernel "
                           "has %zu",
                           kernel_display_name(kernel), label_of(source), s->count, s->name,
                           own->size / 4);
    return GLCNN_SUCCESS;
}

static glcnn_status stage_vector(const struct glcnn_kernel *kernel,
                                 const struct glcnn_data_source *source, int index,
                                 struct staged *s)
{
    glcnn_status status;
    const struct argument *argument = &kernel->descriptor->arguments[index];
    s->name = argument->name;
    s->count = kernel_vector_length(kernel, (size_t)index, source->feature_channels);
    status = check_length(kernel, source, index, s);
    if (status != GLCNN_SUCCESS)
        return status;
    s->values = malloc(s->count * sizeof *s->values);
    if (!s->values)
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "%s: out of memory loading %s",
                           kernel_display_name(kernel), s->name);
    fill(s->values, source->values(source->context, s->name, s->count), s->count,
         (float)argument->neutral);
    return check_numbers(kernel, source, s);
}

static glcnn_status stage_all(const struct glcnn_kernel *kernel,
                              const struct glcnn_data_source *source,
                              struct staged staged[MAX_ARGUMENTS])
{
    glcnn_status status = GLCNN_SUCCESS;
    size_t count = 0;
    for (size_t i = 0; value_vectors[i] && status == GLCNN_SUCCESS; i++) {
        int index = value_argument(kernel, i);
        if (index >= 0)
            status = stage_vector(kernel, source, index, &staged[count++]);
    }
    return status;
}

static glcnn_status write_all(struct glcnn_kernel *kernel, const struct staged *staged)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (; staged->name && status == GLCNN_SUCCESS; staged++)
        status = glcnn_kernel_set_vector(kernel, staged->name, staged->values, staged->count);
    return status;
}

static bool takes_values(const struct glcnn_kernel *kernel)
{
    for (size_t i = 0; value_vectors[i]; i++)
        if (value_argument(kernel, i) >= 0)
            return true;
    return false;
}

static glcnn_status load(struct glcnn_kernel *kernel, const struct glcnn_data_source *source)
{
    struct staged staged[MAX_ARGUMENTS + 1] = {{0}};
    if (!takes_values(kernel))
        return fail(kernel, source, "the kernel owns no weights, gamma or statistics");
    if (!source->values)
        return GLCNN_SUCCESS;
    if (source->load && !source->load(source->context))
        return fail(kernel, source, "its values could not be loaded");
    glcnn_status status = stage_all(kernel, source, staged);
    if (source->purge)
        source->purge(source->context);
    if (status == GLCNN_SUCCESS)
        status = write_all(kernel, staged);
    for (size_t i = 0; i < MAX_ARGUMENTS; i++)
        free(staged[i].values);
    return status;
}

/* ---- Kernels ---- */

/* Takes the reference over unless it fails. */
static glcnn_status set_and_load(struct glcnn_kernel *kernel, struct data_source *source)
{
    glcnn_status status = device_enter(kernel->device);
    if (status == GLCNN_SUCCESS)
        status = load(kernel, &source->callbacks);
    if (status != GLCNN_SUCCESS)
        return status;
    struct data_source *old = kernel->data_source;
    kernel->data_source = source;
    data_source_release(&old);
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_kernel_set_data_source(glcnn_kernel *kernel,
                                          const struct glcnn_data_source *source)
{
    struct data_source *made;
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!source) {
        data_source_release(&kernel->data_source);
        return GLCNN_SUCCESS;
    }
    glcnn_status status = data_source_create(kernel->device, source, &made);
    if (status != GLCNN_SUCCESS)
        return status;
    status = set_and_load(kernel, made);
    if (status != GLCNN_SUCCESS)
        data_source_free(made); /* the context stays with the caller */
    return status;
}

glcnn_status glcnn_kernel_share_data_source(glcnn_kernel *kernel, const glcnn_kernel *with)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!with || !with->data_source)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: sharing a data source: %s",
                           kernel_display_name(kernel),
                           with ? "the other kernel has none" : "the other kernel is NULL");
    struct data_source *shared = data_source_retain(with->data_source);
    glcnn_status status = set_and_load(kernel, shared);
    if (status != GLCNN_SUCCESS)
        data_source_release(&shared);
    return status;
}

const struct glcnn_data_source *glcnn_kernel_data_source(const glcnn_kernel *kernel)
{
    return kernel && kernel->data_source ? &kernel->data_source->callbacks : NULL;
}

glcnn_status glcnn_kernel_reload_from_data_source(glcnn_kernel *kernel)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!kernel->data_source)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reload from data source: the kernel has none",
                           kernel_display_name(kernel));
    glcnn_status status = device_enter(kernel->device);
    return status == GLCNN_SUCCESS ? load(kernel, &kernel->data_source->callbacks) : status;
}
