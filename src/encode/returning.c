/* Returning encodes, and the calls that tell or make beforehand what they return: the size of a
 * result by padding or state, its image, its state. */
#include <string.h>

#include "encode/encode.h"
#include "image/image.h"

/* ---- What the result is like ---- */

/* The result has the size of the mirrored kernel's source, and its pixels meet the same taps. */
static void follow_mirrored(struct call *call, struct glcnn_image_descriptor *result)
{
    const struct glcnn_state *state = call->arguments.state;
    const struct glcnn_offset *offset = &state->forward.properties.primary.offset;
    struct glcnn_addressing *p = &call->operation.properties;
    const struct glcnn_source_properties *window = &p->primary;
    bool even_x = (window->kernel_width - 1) * window->dilation_rate_x % 2;
    bool even_y = (window->kernel_height - 1) * window->dilation_rate_y % 2;
    result->width = state->source.width;
    result->height = state->source.height;
    p->primary.offset.x = p->primary.offset.y = 0;
    p->kernel_offset_x = -offset->x + even_x;
    p->kernel_offset_y = -offset->y + even_y;
}

/* What the gradient is the gradient of, as the state has it. */
static void follow_state(const struct call *call, struct glcnn_image_descriptor *result)
{
    const struct glcnn_state *state = call->arguments.state;
    glcnn_channel_format format = result->channel_format;
    bool secondary = operation_operands(&call->operation).of == PLACE_SECONDARY;
    *result = secondary ? state->secondary : state->source;
    result->channel_format = format;
}

/* A forward kernel keeps the offset that padding gave it. */
static void keep_offset(struct call *call)
{
    const struct glcnn_addressing *used = &call->operation.properties;
    call->settings->properties.primary.offset = used->primary.offset;
    call->settings->properties.kernel_offset_x = used->kernel_offset_x;
    call->settings->properties.kernel_offset_y = used->kernel_offset_y;
}

/* What the result is like; addresses the settings by padding or state. */
static glcnn_status describe(struct call *call, struct glcnn_image_descriptor *result)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct glcnn_kernel *kernel = call->kernel;
    const struct glcnn_state *state = call->arguments.state;
    bool gradient = kernel->descriptor->flags & IS_GRADIENT;
    if (descriptor_place(kernel->descriptor, PLACE_DESTINATION) < 0)
        return call_fail(call, GLCNN_UNSUPPORTED, "it makes no image");
    if (gradient && state && state->forward.descriptor)
        encode_settings_adopt(kernel, &state->forward, call->settings);
    glcnn_status status = call_begin(call, false);
    if (status == GLCNN_SUCCESS &&
        !geometry_result(&call->operation, &call->shapes, result,
                         (struct validation){message, GLCNN_ERROR_LENGTH}))
        status = call_fail(call, GLCNN_INVALID_ARGUMENT, message);
    if (status != GLCNN_SUCCESS)
        return status;
    if (gradient && state && state->source.width)
        follow_state(call, result);
    if (call_mirrors_state(call))
        follow_mirrored(call, result);
    if (!gradient)
        keep_offset(call);
    return image_complete_descriptor(kernel->device, kernel_display_name(kernel), result);
}

glcnn_status encode_describe(struct glcnn_command_buffer *command_buffer,
                             struct glcnn_kernel *kernel, struct encode_settings *settings,
                             const struct glcnn_encode *arguments,
                             struct glcnn_image_descriptor *result)
{
    struct call call = {.command_buffer = command_buffer,
                        .kernel = kernel,
                        .settings = settings,
                        .arguments = *arguments};
    return describe(&call, result);
}

/* The kernel keeps the addressing that was used. */
static void keep_addressing(struct glcnn_kernel *kernel, const struct encode_settings *settings)
{
    kernel->properties = settings->properties;
    kernel->adopted = settings->adopted;
}

glcnn_status glcnn_kernel_prepare_destination(glcnn_kernel *kernel,
                                              const struct glcnn_encode *arguments,
                                              struct glcnn_image_descriptor *result)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!arguments || !result)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                           kernel_display_name(kernel), arguments ? "result" : "arguments");
    struct encode_settings settings = encode_settings_of(kernel);
    glcnn_status status = encode_describe(NULL, kernel, &settings, arguments, result);
    if (status == GLCNN_SUCCESS)
        keep_addressing(kernel, &settings);
    return status;
}

/* ---- States ---- */

static glcnn_status check_state_making(const struct glcnn_kernel *kernel,
                                       const struct glcnn_command_buffer *command_buffer,
                                       const void *states)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!states)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: where the state is to go is NULL", kernel_display_name(kernel));
    glcnn_status status = device_enter(kernel->device);
    if (status == GLCNN_SUCCESS && command_buffer && command_buffer->device != kernel->device)
        status =
            device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                        "%s: the command buffer is another device's", kernel_display_name(kernel));
    return status;
}

static bool makes_states(const struct glcnn_kernel *kernel)
{
    return kernel->descriptor->flags & MAKES_STATE;
}

/* The state of one of a batch: a new one, or one more reference to `*shared`, where the whole batch
 * has the one that is made first. */
static glcnn_status make_state(const struct glcnn_kernel *kernel,
                               struct glcnn_command_buffer *command_buffer,
                               struct glcnn_state **shared, glcnn_state **state)
{
    if (*shared) {
        *state = state_retain(*shared);
        return GLCNN_SUCCESS;
    }
    glcnn_status status = state_create(kernel->device, command_buffer, state);
    if (status == GLCNN_SUCCESS && kernel->descriptor->flags & SHARED_STATE)
        *shared = *state;
    return status;
}

static void destroy_states(glcnn_state **states, size_t count)
{
    for (size_t i = 0; states && i < count; i++)
        glcnn_state_destroy(&states[i]);
}

static void clear(void *pointers, size_t count)
{
    if (pointers)
        memset(pointers, 0, count * sizeof(void *));
}

glcnn_status glcnn_kernel_result_state_batch(glcnn_command_buffer *command_buffer,
                                             glcnn_kernel *kernel,
                                             const struct glcnn_encode *arguments, size_t count,
                                             glcnn_state **states)
{
    (void)arguments;
    struct glcnn_state *shared = NULL;
    clear(states, count);
    glcnn_status status = check_state_making(kernel, command_buffer, states);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS && makes_states(kernel); i++)
        status = make_state(kernel, command_buffer, &shared, &states[i]);
    if (status != GLCNN_SUCCESS)
        destroy_states(states, count);
    return status;
}

glcnn_status glcnn_kernel_result_state(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                       const struct glcnn_encode *arguments, glcnn_state **state)
{
    return glcnn_kernel_result_state_batch(command_buffer, kernel, arguments, 1, state);
}

/* ---- Returning encodes ---- */

static glcnn_status make_destination(const struct call *call,
                                     const struct glcnn_image_descriptor *descriptor,
                                     glcnn_image **image)
{
    return call->settings->properties.result_is_ordinary
               ? glcnn_image_create(call->kernel->device, descriptor, image)
               : glcnn_temporary_image_create(call->command_buffer, descriptor, image);
}

/* What a returning encode makes, by its place in the batch. */
struct returned {
    glcnn_image **destinations;
    glcnn_state **states; /* NULL: none are wanted */
    struct glcnn_state *shared;
};

static glcnn_status make_returned(const struct call *call, size_t index, struct returned *r)
{
    struct glcnn_image_descriptor descriptor;
    const struct glcnn_kernel *kernel = call->kernel;
    bool ordinary = call->settings->properties.result_is_ordinary;
    glcnn_status status = encode_describe(call->command_buffer, call->kernel, call->settings,
                                          &call->arguments, &descriptor);
    if (status == GLCNN_SUCCESS)
        status = make_destination(call, &descriptor, &r->destinations[index]);
    if (status == GLCNN_SUCCESS && r->states && !call->arguments.state && makes_states(kernel))
        status = make_state(kernel, ordinary ? NULL : call->command_buffer, &r->shared,
                            &r->states[index]);
    return status;
}

/* Makes what one of the batch returns, and begins its encode. */
static glcnn_status begin_returning(struct call *call, size_t index, struct returned *r)
{
    if (call->arguments.destination)
        return call_fail(call, GLCNN_INVALID_ARGUMENT,
                         "a returning encode makes its destination itself");
    glcnn_status status = make_returned(call, index, r);
    if (status != GLCNN_SUCCESS)
        return status;
    call->arguments.destination = r->destinations[index];
    if (r->states && r->states[index])
        call->arguments.state = r->states[index];
    status = call_begin(call, true);
    call->operation.encode_number += (uint32_t)index;
    return status;
}

static void drop_returned(const struct returned *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        glcnn_image *image = r->destinations[i];
        if (image && image->command_buffer)
            glcnn_image_set_read_count(image, 0);
        glcnn_image_destroy(&r->destinations[i]);
    }
    destroy_states(r->states, count);
}

glcnn_status glcnn_kernel_encode_batch_returning(glcnn_command_buffer *command_buffer,
                                                 glcnn_kernel *kernel,
                                                 const struct glcnn_encode *arguments, size_t count,
                                                 glcnn_image **destinations, glcnn_state **states)
{
    struct transaction t;
    struct returned returned = {destinations, states, NULL};
    clear(destinations, count);
    clear(states, count);
    glcnn_status status = transaction_begin(&t, command_buffer, kernel, NULL, arguments, count);
    if (status == GLCNN_SUCCESS && !destinations)
        status = device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: destination is NULL",
                             kernel_display_name(kernel));
    bool begun = status == GLCNN_SUCCESS;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = begin_returning(&t.calls[i], i, &returned);
    if (status == GLCNN_SUCCESS)
        status = transaction_record(&t);
    if (status == GLCNN_SUCCESS)
        keep_addressing(kernel, &t.settings);
    else if (begun)
        drop_returned(&returned, count);
    transaction_free(&t);
    return status;
}

glcnn_status glcnn_kernel_encode_returning(glcnn_command_buffer *command_buffer,
                                           glcnn_kernel *kernel,
                                           const struct glcnn_encode *arguments,
                                           glcnn_image **destination, glcnn_state **state)
{
    return glcnn_kernel_encode_batch_returning(command_buffer, kernel, arguments, 1, destination,
                                               state);
}
