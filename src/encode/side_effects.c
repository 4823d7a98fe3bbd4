/* Side effects of encodes on states and images: planning marks what is written, and a failure rolls
 * that back; once the passes are appended the rest is committed, which cannot fail. */
#include <string.h>

#include "encode/encode.h"
#include "image/image.h"

/* ---- Marks ---- */

static void mark_state(struct call *call)
{
    struct glcnn_state *state = call->arguments.state;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct operation *o = &call->operation;
    const struct argument *argument;
    if (d->flags & STARTS_STATE && !o->accumulate)
        glcnn_state_reset(state);
    for (int i = 0; (argument = call_argument(call, i)); i++) {
        struct state_vector *vector = call->state_vectors[i];
        if (vector && argument->output) {
            vector->filled = true;
            vector->sealed = false;
        } else if (vector && o->given[i]) {
            vector->sealed = true;
        }
    }
    int source = descriptor_place(d, PLACE_SOURCE);
    if (d->flags & COUNTS_SAMPLES)
        state->samples = o->samples + (uint64_t)o->images[source].width * o->images[source].height *
                                          o->images[source].images;
}

void effects_mark(struct call *call)
{
    if (call->arguments.state)
        mark_state(call);
    if (call->arguments.destination)
        image_root(call->arguments.destination)->written = true;
}

void effects_save(const struct call *call, struct saved_effects *saved)
{
    const struct glcnn_state *state = call->arguments.state;
    *saved = (struct saved_effects){.vector_count = 0};
    if (call->arguments.destination)
        saved->written = image_root(call->arguments.destination)->written;
    if (!state)
        return;
    memcpy(saved->vectors, state->vectors, sizeof saved->vectors);
    saved->vector_count = state->vector_count;
    saved->samples = state->samples;
    for (size_t i = 0; i < saved->vector_count; i++)
        buffer_retain(saved->vectors[i].buffer);
}

void effects_roll_back(const struct call *call, struct saved_effects *saved)
{
    struct glcnn_state *state = call->arguments.state;
    if (call->arguments.destination)
        image_root(call->arguments.destination)->written = saved->written;
    if (!state)
        return;
    for (size_t i = 0; i < state->vector_count; i++)
        glcnn_buffer_destroy(&state->vectors[i].buffer);
    memcpy(state->vectors, saved->vectors, sizeof state->vectors);
    state->vector_count = saved->vector_count;
    state->samples = saved->samples;
    saved->vector_count = 0; /* the references are the state's again */
}

void effects_release(struct saved_effects *saved)
{
    for (size_t i = 0; i < saved->vector_count; i++)
        glcnn_buffer_destroy(&saved->vectors[i].buffer);
    saved->vector_count = 0;
}

/* ---- The state that a forward encode makes ---- */

static bool makes_state(const struct call *call)
{
    return call->kernel->descriptor->flags & MAKES_STATE && call->arguments.state &&
           !call_mirrors_state(call);
}

static bool goes_along(const struct call *call, int index)
{
    const struct argument *argument = call_argument(call, index);
    const struct glcnn_buffer *used = call->operation.vectors[index].buffer;
    if (!call->operation.given[index] || !used)
        return false;
    return argument->constant ||
           (argument->place == PLACE_STATE_OR_KERNEL && call->kernel->vectors[index] == used);
}

/* Vectors of its own that a forward kernel used go along in the state: its gradient uses the same.
 */
glcnn_status effects_share_vectors(struct call *call)
{
    const struct argument *argument;
    if (!makes_state(call))
        return GLCNN_SUCCESS;
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; status == GLCNN_SUCCESS && (argument = call_argument(call, i)); i++)
        if (goes_along(call, i))
            status = state_borrow(call->arguments.state, argument->name,
                                  call->operation.vectors[i].buffer);
    return status;
}

void effects_commit(struct call *call)
{
    const struct glcnn_image_descriptor *shapes = call->shapes.images;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    int source = descriptor_place(d, PLACE_SOURCE);
    int secondary = descriptor_place(d, PLACE_SECONDARY);
    int destination = descriptor_place(d, PLACE_DESTINATION);
    if (!makes_state(call))
        return;
    struct operation forward = call->operation;
    for (int i = 0; i < MAX_ARGUMENTS; i++) {
        forward.images[i].storage = NULL;
        forward.vectors[i].buffer = NULL;
    }
    state_capture(call->arguments.state, &forward, source < 0 ? NULL : &shapes[source],
                  secondary < 0 ? NULL : &shapes[secondary],
                  destination < 0 ? NULL : &shapes[destination]);
}

/* ---- Reads ---- */

static bool read_before(const struct call *calls, size_t index, const glcnn_image *image,
                        enum argument_place place)
{
    for (size_t i = 0; i <= index; i++)
        for (int p = 0; p < PLACE_IMAGES; p++) {
            if (i == index && p >= (int)place)
                return false;
            if (p != PLACE_DESTINATION && p != PLACE_LOSS &&
                call_image(&calls[i], (enum argument_place)p) == image)
                return true;
        }
    return false;
}

/* A kernel that makes a state reads it only where it took a vector from it; one that starts a state
 * does not read it. */
static bool reads_state(const struct call *call)
{
    const struct argument *argument;
    if (!call->arguments.state || call->kernel->descriptor->flags & STARTS_STATE)
        return false;
    if (!(call->kernel->descriptor->flags & MAKES_STATE) || call_mirrors_state(call))
        return true;
    for (int i = 0; (argument = call_argument(call, i)); i++)
        if (call->state_vectors[i] && argument->input && call->operation.given[i])
            return true;
    return false;
}

void effects_count_reads(const struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct glcnn_descriptor *d = calls[i].kernel->descriptor;
        for (int p = 0; p < PLACE_IMAGES; p++) {
            int index = descriptor_place(d, (enum argument_place)p);
            glcnn_image *image = call_image(&calls[i], (enum argument_place)p);
            if (index < 0 || !image || d->arguments[index].output ||
                read_before(calls, i, image, (enum argument_place)p))
                continue;
            image_count_read(image);
        }
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= calls[j].arguments.state == calls[i].arguments.state;
        if (!again && reads_state(&calls[i]))
            state_count_read(calls[i].arguments.state);
    }
}
