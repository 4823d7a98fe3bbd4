/* Kernel objects: life, properties and vectors. */
#include "encode/kernel.h"
#include "encode/geometry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/data_source.h"
#include "base/text.h"

/* ---- Life ---- */

glcnn_status kernel_create(struct glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           glcnn_kernel **kernel)
{
    if (!kernel)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: kernel is NULL", descriptor->name);
    *kernel = NULL;
    glcnn_status status = device_enter(device);
    if (status == GLCNN_SUCCESS)
        status = implementations_check(device);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_kernel *made = calloc(1, sizeof *made);
    void *parameters = calloc(1, descriptor->parameters_size ? descriptor->parameters_size : 1);
    if (!made || !parameters) {
        free(made);
        free(parameters);
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "%s: out of memory", descriptor->name);
    }
    made->device = device_retain(device);
    made->references = 1;
    made->descriptor = descriptor;
    made->parameters = parameters;
    properties_set_defaults(descriptor, &made->properties, made->parameters);
    made->adopted = made->properties;
    *kernel = made;
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_kernel_create(glcnn_device *device, const char *name, glcnn_kernel **kernel)
{
    const struct glcnn_descriptor *descriptor = descriptor_find(name);
    if (kernel)
        *kernel = NULL;
    if (!descriptor) {
        char text[SUGGESTION];
        descriptor_suggest(name, text);
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "there is no kernel named \"%s\"; glcnn_kernel_info lists all of them%s",
                           name ? name : "(NULL)", text);
    }
    return kernel_create(device, descriptor, kernel);
}

struct glcnn_kernel *kernel_retain(struct glcnn_kernel *kernel)
{
    kernel->references++;
    return kernel;
}

void glcnn_kernel_destroy(glcnn_kernel **kernel)
{
    if (!kernel || !*kernel)
        return;
    glcnn_kernel *old = *kernel;
    *kernel = NULL;
    if (--old->references > 0)
        return;
    for (size_t i = 0; i < MAX_ARGUMENTS; i++)
        glcnn_buffer_destroy(&old->vectors[i]);
    data_source_release(&old->data_source);
    device_unreference(old->device);
    free(old->parameters);
    free(old->label);
    free(old->display_name);
    free(old);
}

static glcnn_status copy_vectors(struct glcnn_kernel *from, struct glcnn_kernel *to)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < MAX_ARGUMENTS && status == GLCNN_SUCCESS; i++) {
        if (!from->vectors[i])
            continue;
        size_t size = from->vectors[i]->size;
        void *values = malloc(size);
        if (!values)
            return device_fail(to->device, GLCNN_OUT_OF_MEMORY, "glcnn_kernel_copy: out of memory");
        status = glcnn_buffer_read(from->vectors[i], 0, size, values);
        if (status == GLCNN_SUCCESS)
            status = glcnn_buffer_create(to->device, size, &to->vectors[i]);
        if (status == GLCNN_SUCCESS)
            status = glcnn_buffer_write(to->vectors[i], 0, size, values);
        free(values);
    }
    return status;
}

glcnn_status glcnn_kernel_copy(glcnn_kernel *kernel, glcnn_device *device, glcnn_kernel **copy)
{
    if (copy)
        *copy = NULL;
    if (!kernel)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "glcnn_kernel_copy: kernel is NULL");
    glcnn_status status = kernel_create(device, kernel->descriptor, copy);
    if (status != GLCNN_SUCCESS)
        return status;
    (*copy)->properties = kernel->properties;
    (*copy)->adopted = kernel->adopted;
    (*copy)->encode_count = kernel->encode_count;
    if (kernel->descriptor->parameters_size)
        memcpy((*copy)->parameters, kernel->parameters, kernel->descriptor->parameters_size);
    status = copy_vectors(kernel, *copy);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_set_label(*copy, kernel->label);
    if (status == GLCNN_SUCCESS && kernel->data_source)
        status = data_source_copy(kernel->data_source, device, &(*copy)->data_source);
    if (status != GLCNN_SUCCESS)
        glcnn_kernel_destroy(copy);
    return status;
}

/* ---- Properties ---- */

const char *glcnn_kernel_name(const glcnn_kernel *kernel)
{
    return kernel ? kernel->descriptor->name : "";
}

const char *glcnn_kernel_label(const glcnn_kernel *kernel)
{
    return kernel ? kernel->label : NULL;
}

const char *kernel_display_name(const struct glcnn_kernel *kernel)
{
    return kernel->display_name ? kernel->display_name : kernel->descriptor->name;
}

glcnn_status glcnn_kernel_set_label(glcnn_kernel *kernel, const char *label)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    struct text display_name = {0};
    char *copy = label ? strdup(label) : NULL;
    if (label)
        text_format(&display_name, "%s \"%s\"", kernel->descriptor->name, label);
    if ((label && !copy) || display_name.failed) {
        free(copy);
        text_free(&display_name);
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "%s: out of memory for a label",
                           kernel->descriptor->name);
    }
    free(kernel->label);
    free(kernel->display_name);
    kernel->label = copy;
    kernel->display_name = display_name.bytes;
    return GLCNN_SUCCESS;
}

struct glcnn_addressing *glcnn_kernel_properties(glcnn_kernel *kernel)
{
    return kernel ? &kernel->properties : NULL;
}

glcnn_status kernel_check(const struct glcnn_kernel *kernel)
{
    char message[256];
    if (parameters_check(kernel->descriptor, &kernel->properties, kernel->parameters,
                         (struct validation){message, sizeof message}))
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s",
                       kernel_display_name(kernel), message);
}

void kernel_set_window(struct glcnn_kernel *kernel, const uint32_t window[6])
{
    struct glcnn_source_properties *source = kernel->descriptor->flags & IS_GRADIENT
                                                 ? &kernel->properties.secondary
                                                 : &kernel->properties.primary;
    source->kernel_width = window[0];
    source->kernel_height = window[1];
    source->stride_in_pixels_x = window[2];
    source->stride_in_pixels_y = window[3];
    source->dilation_rate_x = window[4];
    source->dilation_rate_y = window[5];
}

glcnn_status kernel_finish(glcnn_kernel **kernel, glcnn_status status)
{
    if (status == GLCNN_SUCCESS)
        status = kernel_check(*kernel);
    if (status == GLCNN_SUCCESS)
        (*kernel)->adopted = (*kernel)->properties;
    else
        glcnn_kernel_destroy(kernel);
    return status;
}

void *kernel_parameters(const struct glcnn_kernel *kernel, const char *family)
{
    if (!kernel || !kernel->descriptor->family || strcmp(kernel->descriptor->family, family) != 0)
        return NULL;
    return kernel->parameters;
}

static glcnn_status refuse_name(const struct glcnn_kernel *kernel, const char *name)
{
    char text[SUGGESTION];
    parameter_suggest(kernel->descriptor, name, text);
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: there is no parameter \"%s\"; glcnn_kernel_info lists them%s",
                       kernel_display_name(kernel), name, text);
}

glcnn_status kernel_set(struct glcnn_kernel *kernel, const struct glcnn_setting *setting)
{
    char message[256];
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!setting->name)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the name of the parameter to set is NULL",
                           kernel_display_name(kernel));
    if (parameter_set(kernel->descriptor, &kernel->properties, kernel->parameters, setting,
                      (struct validation){message, sizeof message}))
        return GLCNN_SUCCESS;
    if (!message[0])
        return refuse_name(kernel, setting->name);
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s",
                       kernel_display_name(kernel), message);
}

/* A gradient kernel has the window of its forward kernel under names of its secondary source. */
static glcnn_status set_named(struct glcnn_kernel *kernel, const struct kernel_value *value)
{
    char secondary[64];
    double found;
    struct glcnn_setting setting = {value->name, value->number, value->whole};
    if (kernel->descriptor->flags & IS_GRADIENT &&
        !parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters, value->name,
                       &found)) {
        snprintf(secondary, sizeof secondary, "secondary_%s", value->name);
        setting.name = secondary;
    }
    return kernel_set(kernel, &setting);
}

static glcnn_status set_all(struct glcnn_kernel *kernel, const void *parameters)
{
    if (!parameters)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: parameters is NULL",
                           kernel->descriptor->name);
    memcpy(kernel->parameters, parameters, kernel->descriptor->parameters_size);
    return GLCNN_SUCCESS;
}

glcnn_status kernel_set_values(struct glcnn_kernel *kernel, const struct kernel_value *values)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (; values && (values->name || values->all) && status == GLCNN_SUCCESS; values++) {
        int argument = values->all ? -1 : kernel_kept_argument(kernel, values->name);
        if (values->all)
            status = set_all(kernel, values->parameters);
        else if (argument < 0)
            status = set_named(kernel, values);
        else if (values->vector || values->count)
            status = glcnn_kernel_set_vector(kernel, values->name, values->vector, values->count);
    }
    return status;
}

glcnn_status kernel_create_of(struct glcnn_device *device,
                              const struct glcnn_descriptor *descriptor,
                              const struct kernel_value *values, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS || !values)
        return status;
    return kernel_finish(kernel, kernel_set_values(*kernel, values));
}

glcnn_status glcnn_kernel_set(glcnn_kernel *kernel, const char *name, double value)
{
    return kernel_set(kernel, &(struct glcnn_setting){.name = name, .value = value});
}

glcnn_status glcnn_kernel_get(glcnn_kernel *kernel, const char *name, double *value)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!name || !value)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reading a parameter: %s is NULL", kernel_display_name(kernel),
                           name ? "value" : "name");
    if (parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters, name, value))
        return GLCNN_SUCCESS;
    return refuse_name(kernel, name);
}

/* The parameter of 64 bits in the kernel's parameters; NULL, with a message, if that is none. */
static uint64_t *find_uint64(glcnn_kernel *kernel, const char *name)
{
    uint64_t *at = kernel && name ? parameter_uint64(kernel, name) : NULL;
    if (kernel && !at)
        device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                    "%s: there is no parameter \"%s\" of 64 bits", kernel_display_name(kernel),
                    name ? name : "(NULL)");
    return at;
}

glcnn_status glcnn_kernel_set_uint64(glcnn_kernel *kernel, const char *name, uint64_t value)
{
    return find_uint64(kernel, name)
               ? kernel_set(kernel, &(struct glcnn_setting){name, (double)value, value})
               : GLCNN_INVALID_ARGUMENT;
}

glcnn_status glcnn_kernel_get_uint64(glcnn_kernel *kernel, const char *name, uint64_t *value)
{
    const uint64_t *at = find_uint64(kernel, name);
    if (at && !value)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reading a parameter: value is NULL", kernel_display_name(kernel));
    if (at)
        *value = *at;
    return at ? GLCNN_SUCCESS : GLCNN_INVALID_ARGUMENT;
}

uint32_t glcnn_kernel_encode_count(const glcnn_kernel *kernel)
{
    return kernel ? kernel->encode_count : 0;
}

void glcnn_kernel_set_encode_count(glcnn_kernel *kernel, uint32_t count)
{
    if (kernel)
        kernel->encode_count = count;
}

glcnn_device *glcnn_kernel_device(const glcnn_kernel *kernel)
{
    return kernel ? kernel->device : NULL;
}

static bool has_flag(const glcnn_kernel *kernel, unsigned flag)
{
    return kernel && kernel->descriptor->flags & flag;
}

bool glcnn_kernel_is_result_state_reused_across_batch(const glcnn_kernel *kernel)
{
    return has_flag(kernel, SHARED_STATE);
}

bool glcnn_kernel_append_batch_barrier(const glcnn_kernel *kernel)
{
    return has_flag(kernel, BATCH_BARRIER);
}

bool glcnn_kernel_is_state_modified(const glcnn_kernel *kernel)
{
    return has_flag(kernel, MODIFIES_STATE);
}

/* ---- Vectors ---- */

static bool is_kept(const struct argument *argument)
{
    return argument->place == PLACE_KERNEL || argument->place == PLACE_STATE_OR_KERNEL;
}

int kernel_kept_argument(const struct glcnn_kernel *kernel, const char *name)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    int index = name ? descriptor_argument(d, name) : -1;
    bool lacks = index >= 0 && d->lacks && d->lacks(kernel->parameters, (size_t)index);
    return index >= 0 && !lacks && is_kept(&d->arguments[index]) ? index : -1;
}

static glcnn_status fill_neutral(struct glcnn_buffer *buffer, float value)
{
    size_t count = buffer->size / 4;
    float *values = malloc(buffer->size);
    if (!values)
        return device_fail(buffer->device, GLCNN_OUT_OF_MEMORY, "out of memory making a vector");
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    glcnn_status status = glcnn_buffer_write(buffer, 0, buffer->size, values);
    free(values);
    return status;
}

glcnn_status kernel_check_vector(const struct glcnn_kernel *kernel, size_t index, size_t length,
                                 const struct glcnn_buffer *buffer)
{
    if (buffer->size == length * 4)
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: %s has %zu elements; %zu are needed", kernel_display_name(kernel),
                       kernel->descriptor->arguments[index].name, buffer->size / 4, length);
}

glcnn_status kernel_vector(struct glcnn_kernel *kernel, size_t index, size_t length,
                           struct glcnn_buffer **buffer)
{
    const struct argument *argument = &kernel->descriptor->arguments[index];
    *buffer = kernel->vectors[index];
    if (*buffer)
        return kernel_check_vector(kernel, index, length, *buffer);
    glcnn_status status = glcnn_buffer_create(kernel->device, length * 4, &kernel->vectors[index]);
    if (status == GLCNN_SUCCESS && argument->neutral != 0)
        status = fill_neutral(kernel->vectors[index], (float)argument->neutral);
    if (status != GLCNN_SUCCESS)
        glcnn_buffer_destroy(&kernel->vectors[index]);
    *buffer = kernel->vectors[index];
    return status;
}

size_t kernel_vector_length(const struct glcnn_kernel *kernel, size_t index, uint32_t channels)
{
    struct operation operation = {.descriptor = kernel->descriptor,
                                  .properties = kernel->properties,
                                  .parameters = kernel->parameters};
    for (size_t i = 0; i < MAX_ARGUMENTS; i++)
        operation.images[i].channels = channels;
    size_t length = kernel->descriptor->length ? kernel->descriptor->length(&operation, index) : 0;
    return length || !kernel->vectors[index] ? length : kernel->vectors[index]->size / 4;
}

bool glcnn_kernel_has_vector(const glcnn_kernel *kernel, const char *name)
{
    int index = kernel ? kernel_kept_argument(kernel, name) : -1;
    return index >= 0 && kernel->vectors[index];
}

size_t glcnn_kernel_vector_length(const glcnn_kernel *kernel, const char *name)
{
    int index = kernel ? kernel_kept_argument(kernel, name) : -1;
    return index >= 0 ? kernel_vector_length(kernel, (size_t)index, 0) : 0;
}

#define NO_VECTOR "%s: the kernel has no vector \"%s\""

glcnn_buffer *glcnn_kernel_vector(const glcnn_kernel *kernel, const char *name)
{
    if (!kernel)
        return NULL;
    int index = kernel_kept_argument(kernel, name);
    if (index < 0) {
        device_explain(kernel->device, NO_VECTOR, kernel_display_name(kernel),
                       name ? name : "(NULL)");
        return NULL;
    }
    size_t length = kernel_vector_length(kernel, (size_t)index, 0);
    glcnn_buffer *buffer = kernel->vectors[index];
    if (!buffer && !length)
        device_explain(kernel->device,
                       "%s: the length of %s is not known before the first encode; give it with "
                       "glcnn_kernel_set_vector",
                       kernel_display_name(kernel), name);
    else if (!buffer && device_enter(kernel->device) == GLCNN_SUCCESS)
        kernel_vector((glcnn_kernel *)(uintptr_t)kernel, (size_t)index, length, &buffer);
    return buffer;
}

/* The vector by name with `count` elements, made if there is none yet. */
static glcnn_status reach_vector(glcnn_kernel *kernel, const char *name, size_t count,
                                 struct glcnn_buffer **buffer)
{
    glcnn_status status = device_enter(kernel->device);
    if (status != GLCNN_SUCCESS)
        return status;
    int index = kernel_kept_argument(kernel, name);
    if (index < 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, NO_VECTOR,
                           kernel_display_name(kernel), name ? name : "(NULL)");
    size_t length = kernel_vector_length(kernel, (size_t)index, 0);
    if (count == 0 || (length && count != length))
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: %s has %zu elements; %zu are given", kernel_display_name(kernel),
                           name, length, count);
    return kernel_vector(kernel, (size_t)index, count, buffer);
}

/* Constants are numbers, indices whole ones. */
static glcnn_status check_constants(const glcnn_kernel *kernel, const char *name,
                                    const float *values, size_t count)
{
    const char *expected;
    int index = kernel_kept_argument(kernel, name);
    if (index < 0 || !kernel->descriptor->arguments[index].constant)
        return GLCNN_SUCCESS;
    size_t at = glcnn_kernel_wrong_value(name, values, count, &expected);
    if (at == count)
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s[%zu] is %g; %s",
                       kernel_display_name(kernel), name, at, (double)values[at], expected);
}

glcnn_status glcnn_kernel_set_vector(glcnn_kernel *kernel, const char *name, const float *values,
                                     size_t count)
{
    glcnn_buffer *buffer;
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!values)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: values of %s is NULL",
                           kernel_display_name(kernel), name ? name : "(NULL)");
    glcnn_status status = check_constants(kernel, name, values, count);
    if (status == GLCNN_SUCCESS)
        status = reach_vector(kernel, name, count, &buffer);
    return status == GLCNN_SUCCESS ? glcnn_buffer_write(buffer, 0, count * 4, values) : status;
}

glcnn_status glcnn_kernel_encode_reload(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                        const char *name, glcnn_buffer *source)
{
    struct plan plan;
    glcnn_buffer *buffer;
    if (!command_buffer || !kernel)
        return device_fail(command_buffer ? command_buffer->device
                           : kernel       ? kernel->device
                                          : NULL,
                           GLCNN_INVALID_ARGUMENT, "glcnn_kernel_encode_reload: %s is NULL",
                           kernel ? "command_buffer" : "kernel");
    if (!source || source->device != kernel->device || command_buffer->device != kernel->device)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reload of %s: the source is NULL or on another device",
                           kernel_display_name(kernel), name ? name : "(NULL)");
    glcnn_status status = reach_vector(kernel, name, source->size / 4, &buffer);
    if (status != GLCNN_SUCCESS || buffer == source)
        return status;
    const struct argument *argument =
        &kernel->descriptor->arguments[kernel_kept_argument(kernel, name)];
    if (argument->values == VALUES_INDEX)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: reload of %s: they are constants, which the processor looks at; "
                           "give them with glcnn_kernel_set_vector",
                           kernel_display_name(kernel), name);
    plan_begin(&plan, command_buffer);
    plan_copy_vector(&plan, &(struct vector_view){source, 0, source->size / 4},
                     &(struct vector_view){buffer, 0, source->size / 4});
    return plan_end(&plan);
}
