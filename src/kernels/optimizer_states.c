/* Optimizers' steps by states: the parameters of a layer and their gradients as states hold them.
 * Spec 9.
 */
#include "kernels/optimizer.h"

#include <string.h>

#include "encode/state.h"

#define PLACES 2

/* The parameters of one kind of layer and their gradients; NULL: it has one alone. */
struct layer_vectors {
    const char *gradients[PLACES], *values[PLACES];
};

static const struct layer_vectors layers[] = {
    {{"gradient_for_weights", "gradient_for_biases"}, {"weights", "biases"}},
    {{"gradient_for_gamma", "gradient_for_beta"}, {"gamma", "beta"}},
    {{"gradient_for_neuron_data", NULL}, {"neuron_data", NULL}},
    {{"gradient_for_values", NULL}, {"values", NULL}},
};

enum role { ROLE_GRADIENT, ROLE_SOURCE, ROLE_RESULT, ROLES };
static const char *const roles[ROLES] = {"gradient_state", "source_state", "result_state"};

/* One call on its way. */
struct state_step {
    struct glcnn_command_buffer *command_buffer;
    struct glcnn_kernel *kernel;
    struct glcnn_state *states[ROLES];
    const struct layer_vectors *layer;
    struct state_vector *vectors[PLACES][ROLES]; /* NULL: the state has none */
    struct glcnn_encode encodes[PLACES];
    size_t decayed[PLACES];      /* values of each that decay */
    size_t count;                /* of places that are updated */
    struct vector_view from, to; /* of a parameter that is copied */
};

static glcnn_status check_states(const struct state_step *s)
{
    for (int i = 0; i < ROLES; i++) {
        if (!s->states[i])
            return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                               kernel_display_name(s->kernel), roles[i]);
        glcnn_status status =
            state_check_use(s->states[i], kernel_display_name(s->kernel), s->command_buffer);
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

static const char *name_in(const struct layer_vectors *layer, int role, size_t place)
{
    return role == ROLE_GRADIENT ? layer->gradients[place] : layer->values[place];
}

static glcnn_status find_layer(struct state_step *s)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (state_filled_vector(s->states[ROLE_GRADIENT], layers[i].gradients[0]) &&
            state_filled_vector(s->states[ROLE_SOURCE], layers[i].values[0])) {
            s->layer = &layers[i];
            return GLCNN_SUCCESS;
        }
    return device_fail(
        s->kernel->device, GLCNN_INVALID_ARGUMENT,
        "%s: the states have neither gradient_for_weights and weights nor gradient_for_gamma and "
        "gamma nor gradient_for_neuron_data and neuron_data nor gradient_for_values and values; "
        "encode the gradient kernel first, and give the layer's own states",
        kernel_display_name(s->kernel));
}

static void find_vectors(struct state_step *s)
{
    for (size_t place = 0; place < PLACES && s->layer->values[place]; place++)
        for (int role = 0; role < ROLES; role++)
            s->vectors[place][role] =
                state_filled_vector(s->states[role], name_in(s->layer, role, place));
}

static glcnn_status check_result(const struct state_step *s, size_t place)
{
    if (!s->vectors[place][ROLE_RESULT]->borrowed)
        return GLCNN_SUCCESS;
    return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: %s of result_state is the kernel's own, which its encode left there; "
                       "make a state with glcnn_state_create and reload from it",
                       kernel_display_name(s->kernel), s->layer->values[place]);
}

static bool decays(const struct state_step *s, size_t place)
{
    return !s->kernel->descriptor->optimizer->decays_weights_only(s->kernel->parameters) ||
           strcmp(s->layer->values[place], "weights") == 0;
}

static glcnn_status prepare_place(struct state_step *s, size_t place, struct glcnn_buffer *first,
                                  struct glcnn_buffer *second)
{
    struct state_vector *const *vectors = s->vectors[place];
    if (!s->layer->values[place])
        return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: count is 2; a layer with %s has no other vector to step",
                           kernel_display_name(s->kernel), s->layer->values[0]);
    for (int role = 0; role < ROLES; role++)
        if (!vectors[role])
            return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s has no %s",
                               kernel_display_name(s->kernel), roles[role],
                               name_in(s->layer, role, place));
    glcnn_status status = check_result(s, place);
    s->decayed[place] = decays(s, place) ? SIZE_MAX : 0;
    s->count = place + 1;
    return status != GLCNN_SUCCESS
               ? status
               : optimizer_vectors(s->kernel, vectors[ROLE_GRADIENT]->buffer,
                                   vectors[ROLE_SOURCE]->buffer, first, second,
                                   vectors[ROLE_RESULT]->buffer, &s->encodes[place]);
}

/* The parameter that is not updated: it is in the result all the same. */
static glcnn_status prepare_copy(struct state_step *s)
{
    const struct state_vector *from = s->vectors[1][ROLE_SOURCE], *to = s->vectors[1][ROLE_RESULT];
    if (s->count == PLACES || !from || !to || from->buffer == to->buffer)
        return GLCNN_SUCCESS;
    if (from->buffer->size != to->buffer->size)
        return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: %s has %zu elements in source_state and %zu in result_state",
                           kernel_display_name(s->kernel), from->name, from->buffer->size / 4,
                           to->buffer->size / 4);
    s->from = (struct vector_view){from->buffer, 0, from->buffer->size / 4};
    s->to = (struct vector_view){to->buffer, 0, to->buffer->size / 4};
    return check_result(s, 1);
}

/* No vector may be of both places if one of them writes it: a state vector used twice. Gradient and
 * values are read alone. */
static glcnn_status check_places_apart(const struct state_step *s)
{
    const struct glcnn_encode *a = &s->encodes[0], *b = &s->encodes[1];
    for (int i = 0; i < GLCNN_CALL_VECTORS; i++)
        for (int j = 0; j < GLCNN_CALL_VECTORS; j++)
            if (a->vectors[i] && a->vectors[i] == b->vectors[j] && (i >= FIRST || j >= FIRST))
                return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT,
                                   "%s: one buffer serves %s and %s; each has vectors of its own",
                                   kernel_display_name(s->kernel), s->layer->values[0],
                                   s->layer->values[1]);
    return GLCNN_SUCCESS;
}

static glcnn_status check_count(const struct state_step *s, bool arrays, size_t count)
{
    if (!arrays || (count >= 1 && count <= PLACES))
        return GLCNN_SUCCESS;
    return device_fail(s->kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: count is %zu; there is 1 state vector, or 2",
                       kernel_display_name(s->kernel), count);
}

static glcnn_status prepare(struct state_step *s, glcnn_buffer *const *first,
                            glcnn_buffer *const *second, size_t count)
{
    glcnn_status status = check_count(s, first || second, count);
    if (status == GLCNN_SUCCESS)
        status = check_states(s);
    if (status == GLCNN_SUCCESS)
        status = find_layer(s);
    if (status != GLCNN_SUCCESS)
        return status;
    find_vectors(s);
    if (!first && !second)
        count = s->vectors[1][ROLE_SOURCE] ? 2 : 1;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = prepare_place(s, i, first ? first[i] : NULL, second ? second[i] : NULL);
    if (status == GLCNN_SUCCESS)
        status = check_places_apart(s);
    return status == GLCNN_SUCCESS ? prepare_copy(s) : status;
}

/* What was read is sealed, as by any encode: gradients encoded from now on start over. */
static void update_states(const struct state_step *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->vectors[i][ROLE_GRADIENT]->sealed = true;
        s->vectors[i][ROLE_SOURCE]->sealed = true;
        s->vectors[i][ROLE_RESULT]->sealed = false;
    }
    state_count_read(s->states[ROLE_GRADIENT]);
    if (s->states[ROLE_SOURCE] != s->states[ROLE_GRADIENT])
        state_count_read(s->states[ROLE_SOURCE]);
}

glcnn_status glcnn_optimizer_encode_states(glcnn_command_buffer *command_buffer,
                                           glcnn_kernel *kernel, glcnn_state *gradient_state,
                                           glcnn_state *source_state, glcnn_buffer *const *first,
                                           glcnn_buffer *const *second, size_t count,
                                           glcnn_state *result_state)
{
    struct state_step s = {.command_buffer = command_buffer,
                           .kernel = kernel,
                           .states = {gradient_state, source_state, result_state}};
    glcnn_status status = optimizer_check(command_buffer, kernel, "glcnn_optimizer_encode_states");
    if (status != GLCNN_SUCCESS)
        return status;
    if (!command_buffer)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: command_buffer is NULL",
                           kernel_display_name(kernel));
    status = prepare(&s, first, second, count);
    if (status == GLCNN_SUCCESS)
        status = kernel_encode_step(
            command_buffer, kernel,
            &(struct step_encodes){s.encodes, s.decayed, s.count, &s.from, &s.to});
    if (status == GLCNN_SUCCESS)
        update_states(&s);
    return status;
}
