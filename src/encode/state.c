/* States: what a forward encode leaves for its gradient. */
#include "encode/state.h"

#include <stdlib.h>
#include <string.h>

#include "image/image.h"

glcnn_status state_create(struct glcnn_device *device, struct glcnn_command_buffer *command_buffer,
                          glcnn_state **state)
{
    glcnn_state *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a state");
    made->device = device_retain(device);
    made->references = 1;
    if (command_buffer) {
        made->command_buffer = command_buffer_retain(command_buffer);
        made->read_count = 1;
    }
    *state = made;
    return GLCNN_SUCCESS;
}

struct glcnn_state *state_retain(struct glcnn_state *state)
{
    state->references++;
    return state;
}

void state_capture(struct glcnn_state *state, const struct operation *forward,
                   const struct glcnn_image_descriptor *source,
                   const struct glcnn_image_descriptor *secondary,
                   const struct glcnn_image_descriptor *destination)
{
    memcpy(state->parameters, forward->parameters, forward->descriptor->parameters_size);
    state->forward = *forward;
    state->forward.parameters = state->parameters;
    state->forward.kernel = NULL;
    if (source)
        state->source = *source;
    if (secondary)
        state->secondary = *secondary;
    if (destination)
        state->destination = *destination;
}

/* ---- Vectors ---- */

static struct state_vector *find(struct glcnn_state *state, const char *name)
{
    for (size_t i = 0; i < state->vector_count; i++)
        if (strcmp(state->vectors[i].name, name) == 0)
            return &state->vectors[i];
    return NULL;
}

static glcnn_status check_length(const struct glcnn_state *state, const struct state_vector *vector,
                                 size_t length)
{
    if (vector->buffer->size == length * 4)
        return GLCNN_SUCCESS;
    return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                       "the state's %s has %zu elements; %zu are needed: it is another kernel's "
                       "state",
                       vector->name, vector->buffer->size / 4, length);
}

/* Gives the vector of that name, a new one if need be, `buffer`, which the state takes over. */
static glcnn_status place_vector(struct glcnn_state *state, const char *name,
                                 struct glcnn_buffer *buffer, struct state_vector **vector)
{
    struct state_vector *place = find(state, name);
    if (!place && state->vector_count == STATE_VECTORS) {
        glcnn_buffer_destroy(&buffer);
        return device_fail(state->device, GLCNN_INVALID_STATE, "the state has no room for %s",
                           name);
    }
    if (!place)
        place = &state->vectors[state->vector_count++];
    glcnn_buffer_destroy(&place->buffer);
    *place = (struct state_vector){.name = name, .buffer = buffer};
    *vector = place;
    return GLCNN_SUCCESS;
}

static glcnn_status make_vector(struct glcnn_state *state, const char *name, size_t length,
                                struct state_vector **vector)
{
    glcnn_buffer *buffer;
    glcnn_status status = glcnn_buffer_create(state->device, length * 4, &buffer);
    return status == GLCNN_SUCCESS ? place_vector(state, name, buffer, vector) : status;
}

glcnn_status state_vector(struct glcnn_state *state, const char *name, size_t length,
                          bool replaceable, struct state_vector **vector)
{
    struct state_vector *found = *vector = find(state, name);
    if (!length)
        return GLCNN_SUCCESS;
    bool fits = found && found->buffer->size == length * 4;
    bool stays = found && (replaceable ? found->made || fits : !found->borrowed);
    return stays ? check_length(state, found, length) : make_vector(state, name, length, vector);
}

glcnn_status state_borrow(struct glcnn_state *state, const char *name, struct glcnn_buffer *buffer)
{
    struct state_vector *vector = find(state, name);
    if (vector && vector->buffer == buffer) {
        vector->filled = true;
        return GLCNN_SUCCESS;
    }
    glcnn_status status = place_vector(state, name, buffer_retain(buffer), &vector);
    if (status == GLCNN_SUCCESS)
        vector->filled = vector->borrowed = true;
    return status;
}

glcnn_status state_branch(struct glcnn_state *state, struct glcnn_state **branch)
{
    glcnn_status status = state_create(state->device, NULL, branch);
    if (status == GLCNN_SUCCESS)
        state_capture(*branch, &state->forward, &state->source, &state->secondary,
                      &state->destination);
    for (size_t i = 0; i < state->vector_count && status == GLCNN_SUCCESS; i++)
        if (state->vectors[i].filled)
            status = state_borrow(*branch, state->vectors[i].name, state->vectors[i].buffer);
    if (status == GLCNN_SUCCESS)
        (*branch)->samples = state->samples;
    else
        glcnn_state_destroy(branch);
    return status;
}

struct state_vector *state_filled_vector(struct glcnn_state *state, const char *name)
{
    struct state_vector *vector = find(state, name);
    return vector && vector->filled ? vector : NULL;
}

static bool is_spent(const struct glcnn_state *state)
{
    return state->command_buffer && state->read_count == 0;
}

glcnn_buffer *glcnn_state_vector(const glcnn_state *state, const char *name)
{
    if (state && is_spent(state)) {
        device_explain(state->device,
                       "glcnn_state_vector: the state is a temporary one whose read count has come "
                       "to 0; set the count to the number of its readers before the first of them");
        return NULL;
    }
    for (size_t i = 0; state && name && i < state->vector_count; i++)
        if (strcmp(state->vectors[i].name, name) == 0)
            return state->vectors[i].filled ? state->vectors[i].buffer : NULL;
    return NULL;
}

glcnn_status glcnn_state_set_vector(glcnn_state *state, const char *name, const float *values,
                                    size_t count)
{
    if (!state)
        return GLCNN_INVALID_ARGUMENT;
    struct state_vector *vector = name ? find(state, name) : NULL;
    if (!vector || !values)
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT, "glcnn_state_set_vector: %s %s",
                           vector ? "values is NULL for" : "the state has no vector",
                           name ? name : "(NULL)");
    if (vector->borrowed)
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_set_vector: %s is a kernel's own vector, which its encode "
                           "left in the state; use glcnn_kernel_set_vector",
                           name);
    if (vector->buffer->size / 4 != count)
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_set_vector: %s has %zu elements; %zu are given", name,
                           vector->buffer->size / 4, count);
    glcnn_status status = glcnn_buffer_write(vector->buffer, 0, count * 4, values);
    vector->filled |= status == GLCNN_SUCCESS;
    return status;
}

/* ---- States of named vectors ---- */

static glcnn_status add_vector(struct glcnn_state *state, const char *name, size_t length)
{
    struct state_vector *vector;
    if (!name || !name[0] || find(state, name))
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_create: vector %zu is \"%s\"; each has a name of its own",
                           state->vector_count, name ? name : "(NULL)");
    if (length == 0 || length > SIZE_MAX / 4)
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_create: %s is to have %zu elements", name, length);
    char *copy = strdup(name);
    if (!copy)
        return device_fail(state->device, GLCNN_OUT_OF_MEMORY, "out of memory making a state");
    state->names[state->vector_count] = copy;
    glcnn_status status = state_vector(state, copy, length, false, &vector);
    if (status == GLCNN_SUCCESS)
        vector->filled = vector->made = true;
    return status;
}

glcnn_status glcnn_state_create(glcnn_device *device, glcnn_command_buffer *command_buffer,
                                const char *const *names, const size_t *lengths, size_t count,
                                glcnn_state **state)
{
    if (!state)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "glcnn_state_create: state is NULL");
    *state = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!names || !lengths || count == 0 || count > STATE_VECTORS)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_create: %zu vectors with %s and %s; 1 to %d must be named",
                           count, names ? "names" : "no names", lengths ? "lengths" : "no lengths",
                           STATE_VECTORS);
    if (command_buffer && command_buffer->device != device)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_create: the command buffer is another device's");
    status = state_create(device, command_buffer, state);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = add_vector(*state, names[i], lengths[i]);
    if (status != GLCNN_SUCCESS)
        glcnn_state_destroy(state);
    return status;
}

glcnn_status glcnn_state_reset(glcnn_state *state)
{
    if (!state)
        return GLCNN_INVALID_ARGUMENT;
    for (size_t i = 0; i < state->vector_count; i++) {
        state->vectors[i].filled = state->vectors[i].made;
        state->vectors[i].sealed = false;
    }
    state->samples = 0;
    return GLCNN_SUCCESS;
}

/* ---- Read counts ---- */

bool glcnn_state_is_temporary(const glcnn_state *state)
{
    return state && state->command_buffer;
}

uint32_t glcnn_state_read_count(const glcnn_state *state)
{
    return state ? state->read_count : 0;
}

glcnn_status glcnn_state_set_read_count(glcnn_state *state, uint32_t count)
{
    if (!state)
        return GLCNN_INVALID_ARGUMENT;
    if (!state->command_buffer)
        return device_fail(state->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_state_set_read_count: the state is not temporary");
    if (is_spent(state))
        return device_fail(state->device, GLCNN_INVALID_STATE,
                           "glcnn_state_set_read_count: the read count has come to 0 before");
    state->read_count = count;
    return GLCNN_SUCCESS;
}

static bool appeared_before(glcnn_state *const *states, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (states[i] == states[index])
            return true;
    return false;
}

size_t glcnn_state_batch_increment_read_count(glcnn_state *const *states, size_t count,
                                              int32_t amount)
{
    size_t distinct = 0;
    for (size_t i = 0; states && i < count; i++) {
        if (!states[i] || appeared_before(states, i))
            continue;
        distinct++;
        if (states[i]->command_buffer && states[i]->read_count)
            states[i]->read_count = adjusted_read_count(states[i]->read_count, amount);
    }
    return distinct;
}

void state_count_read(struct glcnn_state *state)
{
    if (state->command_buffer && state->read_count)
        state->read_count--;
}

glcnn_status state_check_use(const struct glcnn_state *state, const char *where,
                             const struct glcnn_command_buffer *command_buffer)
{
    if (state->device != command_buffer->device)
        return device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the state belongs to another device than the command buffer",
                           where);
    if (!state->command_buffer)
        return GLCNN_SUCCESS;
    if (state->command_buffer != command_buffer)
        return device_fail(state->device, GLCNN_INVALID_STATE,
                           "%s: the state is a temporary one of another command buffer", where);
    if (is_spent(state))
        return device_fail(state->device, GLCNN_INVALID_STATE,
                           "%s: the state is a temporary one whose read count has come to 0",
                           where);
    return GLCNN_SUCCESS;
}

/* ---- The rest ---- */

void glcnn_state_destroy(glcnn_state **state)
{
    if (!state || !*state)
        return;
    glcnn_state *old = *state;
    *state = NULL;
    if (--old->references > 0)
        return;
    for (size_t i = 0; i < old->vector_count; i++)
        glcnn_buffer_destroy(&old->vectors[i].buffer);
    for (size_t i = 0; i < STATE_VECTORS; i++)
        free(old->names[i]);
    if (old->command_buffer)
        command_buffer_release(old->command_buffer);
    device_unreference(old->device);
    free(old);
}

uint32_t glcnn_state_source_width(const glcnn_state *state)
{
    return state ? state->source.width : 0;
}

uint32_t glcnn_state_source_height(const glcnn_state *state)
{
    return state ? state->source.height : 0;
}
