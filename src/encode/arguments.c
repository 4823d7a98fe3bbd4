/* The arguments of an encode: gathered, checked, and resolved to views and vectors. */
#include <string.h>

#include "encode/encode.h"
#include "image/image.h"

struct encode_settings encode_settings_of(const struct glcnn_kernel *kernel)
{
    struct encode_settings settings = {.properties = kernel->properties,
                                       .adopted = kernel->adopted};
    memcpy(settings.parameters, kernel->parameters, kernel->descriptor->parameters_size);
    return settings;
}

glcnn_status encode_settings_set(const struct glcnn_kernel *kernel,
                                 struct encode_settings *settings, const char *name, double value)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct glcnn_setting setting = {.name = name, .value = value};
    if (parameter_set(kernel->descriptor, &settings->properties, settings->parameters, &setting,
                      (struct validation){message, GLCNN_ERROR_LENGTH}))
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s: %s",
                       kernel_display_name(kernel), name,
                       message[0] ? message : "there is no such parameter");
}

void encode_settings_adopt(const struct glcnn_kernel *kernel, const struct operation *forward,
                           struct encode_settings *settings)
{
    geometry_adopt(kernel->descriptor, settings->parameters, forward, &settings->properties);
    geometry_adopt(kernel->descriptor, settings->parameters, forward, &settings->adopted);
}

/* ---- Images ---- */

glcnn_image *call_image(const struct call *call, enum argument_place place)
{
    const struct glcnn_encode *a = &call->arguments;
    glcnn_image *const images[PLACE_IMAGES] = {[PLACE_SOURCE] = a->source,
                                               [PLACE_SECONDARY] = a->secondary,
                                               [PLACE_DESTINATION] = a->destination,
                                               [PLACE_LABELS] = a->labels,
                                               [PLACE_LABEL_WEIGHTS] = a->label_weights,
                                               [PLACE_LOSS] = a->loss};
    return images[place];
}

static const char *name_of(const struct call *call)
{
    return kernel_display_name(call->kernel);
}

glcnn_status call_fail(const struct call *call, glcnn_status status, const char *message)
{
    return device_fail(call->kernel->device, status, "%s: %s", name_of(call), message);
}

glcnn_status call_check_handles(const struct glcnn_command_buffer *command_buffer,
                                const struct glcnn_kernel *kernel, const void *arguments)
{
    if (!kernel)
        return command_buffer ? device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                                            "encode: kernel is NULL")
                              : GLCNN_INVALID_ARGUMENT;
    if (!command_buffer || !arguments)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                           kernel_display_name(kernel),
                           command_buffer ? "arguments" : "command_buffer");
    return GLCNN_SUCCESS;
}

static glcnn_status gather_images(struct call *call, bool with_destination)
{
    const struct argument *argument;
    for (int i = 0; (argument = call_argument(call, i)); i++) {
        if (!argument_is_image(argument))
            continue;
        if (argument->place == PLACE_DESTINATION && !with_destination)
            continue;
        glcnn_image *image = call_image(call, argument->place);
        if (!image && argument->optional)
            continue;
        if (!image)
            return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                               name_of(call), argument->name);
        if (call->command_buffer) {
            glcnn_status status =
                image_check_use(image, name_of(call), argument->name, call->command_buffer);
            if (status != GLCNN_SUCCESS)
                return status;
        }
        if (argument->output && image->descriptor.channel_format == GLCNN_CHANNEL_FORMAT_UNORM8)
            return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                               "%s: %s is stored as unorm8, which kernels read and none writes; "
                               "store it as float16 or float32",
                               name_of(call), argument->name);
        glcnn_status status = argument->output
                                  ? image_check_write(image, name_of(call), argument->name)
                                  : GLCNN_SUCCESS;
        if (status != GLCNN_SUCCESS)
            return status;
        call->shapes.images[i] = image->descriptor;
        call->operation.given[i] = true;
    }
    return GLCNN_SUCCESS;
}

/* True if every property is as the state has it, still at its default, or what a constructor or an
 * earlier state left there. All properties that a state brings are words of 4 bytes. */
static bool agrees(const struct call *call, const struct glcnn_addressing *adopted)
{
    struct glcnn_addressing defaults;
    double unused[MAX_PARAMETER_BYTES / sizeof(double)];
    properties_set_defaults(call->kernel->descriptor, &defaults, unused);
    for (size_t at = 0; at + 4 <= sizeof *adopted; at += 4) {
        const char *now = (const char *)&call->settings->properties + at;
        if (memcmp(now, (const char *)adopted + at, 4) != 0 &&
            memcmp(now, (const char *)&defaults + at, 4) != 0 &&
            memcmp(now, (const char *)&call->settings->adopted + at, 4) != 0)
            return false;
    }
    return true;
}

/* The forward encode that a gradient kernel follows: the state's, unless its addressing was set by
 * hand to something else. A clip rectangle or a range that no state brings is such a thing. */
static const struct operation *followed(const struct call *call)
{
    static const struct glcnn_region no_clip = GLCNN_NO_CLIP;
    struct glcnn_addressing adopted;
    const struct glcnn_state *state = call->arguments.state;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    if (!state || !state->forward.descriptor || !(d->flags & IS_GRADIENT))
        return NULL;
    memcpy(&adopted, &call->settings->properties, sizeof adopted);
    adopted.clip_rect = no_clip;
    adopted.source_size = no_clip.size;
    adopted.primary.feature_channel_max_count = UINT32_MAX;
    adopted.destination_feature_channel_offset = 0;
    geometry_adopt(d, call->settings->parameters, &state->forward, &adopted);
    return agrees(call, &adopted) ? &state->forward : NULL;
}

bool call_mirrors_state(const struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct glcnn_state *state = call->arguments.state;
    return state && d->flags & IS_BACKWARDS && state->forward.descriptor &&
           state->forward.descriptor != d;
}

/* A gradient kernel follows its own forward kernel alone; another one that needs a state shares
 * that of its family. One that makes its state overwrites what is there. */
static bool accepts_state_of(const struct glcnn_descriptor *d,
                             const struct glcnn_descriptor *forward)
{
    if (d->flags & IS_GRADIENT && d->forward)
        return strcmp(d->forward, forward->name) == 0;
    return !(d->flags & (IS_GRADIENT | NEEDS_STATE)) || !d->family ||
           (forward->family && strcmp(d->family, forward->family) == 0);
}

static glcnn_status check_state(const struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct glcnn_state *state = call->arguments.state;
    if (!state && d->flags & NEEDS_STATE)
        return call_fail(call, GLCNN_INVALID_ARGUMENT, "state is NULL; this kernel needs one");
    if (!state)
        return GLCNN_SUCCESS;
    const struct glcnn_descriptor *forward = state->forward.descriptor;
    if (forward && !accepts_state_of(d, forward))
        return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the state was made by %s; it must be one that %s made",
                           name_of(call), forward->name,
                           d->forward ? d->forward : "a kernel of the same family");
    return call->command_buffer ? state_check_use(state, name_of(call), call->command_buffer)
                                : GLCNN_SUCCESS;
}

/* Parameters of the forward encode hold for its gradient: the state brings them (spec 7, "state
 * data"). */
static void set_parameters(struct call *call)
{
    const struct glcnn_state *state = call->arguments.state;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    memcpy(call->parameters, call->settings->parameters, d->parameters_size);
    if (call->operation.state_driven && d->family)
        parameters_adopt(state->forward.descriptor, state->parameters, call->parameters);
    call->operation.parameters = call->parameters;
}

glcnn_status call_begin(struct call *call, bool with_destination)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct operation *o = &call->operation;
    *o = (struct operation){.descriptor = d,
                            .device = call->kernel->device,
                            .kernel = call->kernel,
                            .properties = call->settings->properties,
                            .with_state = call->arguments.state != NULL,
                            .trainable = call->settings->trainable,
                            .gradient_scale = call->settings->gradient_scale,
                            .follows_kernel = call->settings->follows_kernel,
                            .encode_number = call->kernel->encode_count};
    glcnn_status status = device_enter(call->kernel->device);
    if (status == GLCNN_SUCCESS && call->command_buffer &&
        call->command_buffer->device != call->kernel->device)
        return call_fail(call, GLCNN_INVALID_ARGUMENT, "the command buffer is another device's");
    if (status == GLCNN_SUCCESS)
        status = gather_images(call, with_destination);
    if (status == GLCNN_SUCCESS)
        status = check_state(call);
    if (status == GLCNN_SUCCESS &&
        !parameters_check(d, &o->properties, call->settings->parameters,
                          (struct validation){message, GLCNN_ERROR_LENGTH}))
        status = call_fail(call, GLCNN_INVALID_ARGUMENT, message);
    o->state_driven = status == GLCNN_SUCCESS && followed(call);
    if (o->state_driven)
        geometry_adopt(d, call->settings->parameters, &call->arguments.state->forward,
                       &o->properties);
    set_parameters(call);
    return status;
}

/* ---- Views and vectors ---- */

/* The geometry has left extents and starts; here they become layers. */
static void place_views(struct call *call)
{
    const struct argument *argument;
    for (int i = 0; (argument = call_argument(call, i)); i++) {
        const glcnn_image *image =
            argument_is_image(argument) ? call_image(call, argument->place) : NULL;
        struct image_view *view = &call->operation.images[i];
        if (image && call->operation.given[i])
            *view = image_view(image, call->operation.starts[i].image, view->images,
                               call->operation.starts[i].channel, view->channels);
    }
}

static glcnn_status find_call_vector(struct call *call, int index, size_t position)
{
    glcnn_buffer *buffer = position < GLCNN_CALL_VECTORS ? call->arguments.vectors[position] : NULL;
    const struct argument *argument = call_argument(call, index);
    if (!buffer && argument->optional)
        return GLCNN_SUCCESS;
    if (!buffer)
        return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                           name_of(call), argument->name);
    if (buffer->device != call->kernel->device)
        return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: %s is on another device", name_of(call), argument->name);
    call->operation.given[index] = true;
    call->operation.vectors[index] = (struct vector_view){buffer, 0, buffer->size / 4};
    return GLCNN_SUCCESS;
}

/* An encode that makes a result again has a branch of the state: what the first one left there need
 * not be left again. */
static bool is_left_already(const struct call *call, const struct argument *argument)
{
    const struct state_vector *vector = state_filled_vector(call->arguments.state, argument->name);
    return argument->output && argument->optional && vector && vector->borrowed;
}

static glcnn_status find_state_vector(struct call *call, int index, size_t length)
{
    const struct argument *argument = call_argument(call, index);
    struct state_vector *vector;
    if (length == 0 && (argument->output || argument->optional)) /* of no use to this encode */
        return GLCNN_SUCCESS;
    if (is_left_already(call, argument))
        return GLCNN_SUCCESS;
    bool replaceable = argument->output && argument->optional;
    glcnn_status status = state_vector(call->arguments.state, argument->name,
                                       argument->output ? length : 0, replaceable, &vector);
    if (status != GLCNN_SUCCESS)
        return status;
    call->state_vectors[index] = vector;
    bool ready = vector && (argument->output || vector->filled);
    if (!ready && argument->optional)
        return GLCNN_SUCCESS;
    const char *filler = descriptor_filler(call->kernel->descriptor, argument);
    if (!ready)
        return device_fail(call->kernel->device, GLCNN_INVALID_STATE,
                           "%s: the state has no %s yet; encode %s first", name_of(call),
                           argument->name, filler ? filler : "the kernel that fills it");
    if (vector->buffer->size != length * 4)
        return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the state's %s has %zu elements; %zu are needed", name_of(call),
                           argument->name, vector->buffer->size / 4, length);
    call->operation.given[index] = true;
    call->operation.vectors[index] = (struct vector_view){vector->buffer, 0, length};
    return GLCNN_SUCCESS;
}

/* The vector of `vectors_of` that is read in place of the kernel's own; NULL: there is none. */
static struct glcnn_buffer *borrowed_vector(const struct call *call,
                                            const struct argument *argument)
{
    const struct glcnn_kernel *owner = call->settings->vectors_of;
    int index =
        owner && !argument->output ? descriptor_argument(owner->descriptor, argument->name) : -1;
    return index < 0 ? NULL : owner->vectors[index];
}

static glcnn_status find_kernel_vector(struct call *call, int index, size_t length)
{
    const struct argument *argument = call_argument(call, index);
    if (length == 0 && argument->optional)
        return GLCNN_SUCCESS; /* of no use to this encode */
    glcnn_buffer *buffer = borrowed_vector(call, argument);
    glcnn_status status = buffer ? kernel_check_vector(call->kernel, (size_t)index, length, buffer)
                                 : kernel_vector(call->kernel, (size_t)index, length, &buffer);
    call->operation.given[index] = status == GLCNN_SUCCESS;
    call->operation.vectors[index] = (struct vector_view){buffer, 0, length};
    return status;
}

/* This encode leaves nothing there. What an earlier one left that had no need to is of that one. */
static void forget_vector(const struct call *call, const struct argument *argument)
{
    struct glcnn_state *state = call->arguments.state;
    struct state_vector *vector = state && argument->place == PLACE_STATE && argument->optional
                                      ? state_filled_vector(state, argument->name)
                                      : NULL;
    if (vector && !vector->made && !vector->borrowed)
        vector->filled = false;
}

static glcnn_status find_vectors(struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    size_t position = 0;
    for (int i = 0; status == GLCNN_SUCCESS && (argument = call_argument(call, i)); i++) {
        if (argument_is_image(argument))
            continue;
        size_t length = d->length ? d->length(&call->operation, (size_t)i) : 0;
        bool in_state = argument->place == PLACE_STATE ||
                        (argument->place == PLACE_STATE_OR_KERNEL && call->arguments.state);
        if (argument->place == PLACE_CALL)
            status = find_call_vector(call, i, position++);
        else if (argument->output && length == 0)
            forget_vector(call, argument);
        else if (in_state && call->arguments.state)
            status = find_state_vector(call, i, length);
        else if (argument->place != PLACE_STATE)
            status = find_kernel_vector(call, i, length);
        else if (!argument->optional)
            status =
                call_fail(call, GLCNN_INVALID_ARGUMENT, "state is NULL; this kernel needs one");
        /* Parameters given to the kernel stand in where the state was not given any. */
        if (status == GLCNN_SUCCESS && argument->place == PLACE_STATE_OR_KERNEL &&
            !call->operation.given[i] && !argument->output)
            status = find_kernel_vector(call, i, length);
    }
    return status;
}

/* Notes if the outputs in the state are added to, and what they start from (state.h). */
static void set_accumulation(struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct glcnn_state *state = call->arguments.state;
    const struct argument *argument;
    bool accumulate = false;
    for (int i = 0; (argument = call_argument(call, i)); i++) {
        const struct state_vector *vector = call->state_vectors[i];
        if (vector && argument->output)
            accumulate = vector->filled && !vector->sealed;
    }
    call->operation.accumulate = accumulate;
    call->operation.samples = state ? state->samples : 0;
    if (d->flags & STARTS_STATE && !accumulate)
        call->operation.samples = 0;
}

/* ---- Resolving ---- */

static glcnn_status check_aliasing(const struct call *call)
{
    const struct operation *o = &call->operation;
    const struct argument *written, *read;
    for (int i = 0; (written = call_argument(call, i)); i++)
        for (int j = 0; (read = call_argument(call, j)); j++)
            if (i != j && argument_is_image(written) && argument_is_image(read) &&
                written->output && o->given[i] && o->given[j] &&
                image_views_overlap(&o->images[i], &o->images[j]))
                return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                                   "%s: %s and %s share storage; a kernel cannot write what it "
                                   "reads",
                                   name_of(call), written->name, read->name);
    return GLCNN_SUCCESS;
}

glcnn_status call_resolve(struct call *call)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct operation *o = &call->operation;
    const struct operation *forward = followed(call);
    if (!geometry_resolve(o, &call->shapes, forward,
                          (struct validation){message, GLCNN_ERROR_LENGTH}))
        return call_fail(call, GLCNN_INVALID_ARGUMENT, message);
    place_views(call);
    glcnn_status status = check_aliasing(call);
    if (status == GLCNN_SUCCESS)
        status = find_vectors(call);
    if (status != GLCNN_SUCCESS)
        return status;
    set_accumulation(call);
    if (d->check && !d->check(o, (struct validation){message, GLCNN_ERROR_LENGTH}))
        return call_fail(call, GLCNN_INVALID_ARGUMENT, message);
    return GLCNN_SUCCESS;
}
