/* Encoding: from the user's arguments to passes in a command buffer.
 *
 * Order: gather the arguments, resolve geometry, check, find vectors, plan, append. State and read
 * counts change only once the passes are appended; a failure leaves everything as it was. */
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "encode/kernel.h"
#include "encode/geometry.h"
#include "record/program.h"
#include "encode/state.h"

#define SENTENCE 512

/* A vector that is copied along with encodes. */
struct copy {
    const struct vector_view *from, *to; /* NULL: nothing */
};

/* One encode on its way. */
struct call {
    struct glcnn_command_buffer *command_buffer;
    struct glcnn_kernel *kernel;
    struct glcnn_encode arguments;
    struct operation operation;
    struct shapes shapes;
    struct state_vector *state_vectors[MAX_ARGUMENTS];
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)]; /* aligned for anything */
};

static glcnn_image *image_at(const struct glcnn_encode *a, enum argument_place place)
{
    switch (place) {
    case PLACE_SOURCE:
        return a->source;
    case PLACE_SECONDARY:
        return a->secondary;
    case PLACE_DESTINATION:
        return a->destination;
    case PLACE_LABELS:
        return a->labels;
    case PLACE_LABEL_WEIGHTS:
        return a->label_weights;
    case PLACE_LOSS:
        return a->loss;
    default:
        return NULL;
    }
}

static const struct argument *argument_of(const struct call *call, int index)
{
    const struct argument *argument = &call->kernel->descriptor->arguments[index];
    return index < MAX_ARGUMENTS && argument->name ? argument : NULL;
}

static const char *name_of(const struct call *call)
{
    return kernel_title(call->kernel);
}

static glcnn_status fail(const struct call *call, glcnn_status status, const char *sentence)
{
    return device_fail(call->kernel->device, status, "%s: %s", name_of(call), sentence);
}

/* ---- Arguments ---- */

static glcnn_status gather_images(struct call *call, bool with_destination)
{
    const struct argument *argument;
    for (int i = 0; (argument = argument_of(call, i)); i++) {
        if (!argument_is_image(argument))
            continue;
        if (argument->place == PLACE_DESTINATION && !with_destination)
            continue;
        glcnn_image *image = image_at(&call->arguments, argument->place);
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
        call->shapes.images[i] = image->descriptor;
        call->operation.given[i] = true;
    }
    return GLCNN_SUCCESS;
}

/* Whether every property is as the state has it, still at its default, or what a constructor or an
 * earlier state left there. All properties that a state brings are words of 4 bytes. */
static bool agrees(const struct glcnn_kernel *kernel, const struct glcnn_kernel_properties *adopted)
{
    struct glcnn_kernel_properties defaults;
    double unused[MAX_PARAMETER_BYTES / sizeof(double)];
    properties_set_defaults(kernel->descriptor, &defaults, unused);
    for (size_t at = 0; at + 4 <= sizeof *adopted; at += 4) {
        const char *now = (const char *)&kernel->properties + at;
        if (memcmp(now, (const char *)adopted + at, 4) != 0 &&
            memcmp(now, (const char *)&defaults + at, 4) != 0 &&
            memcmp(now, (const char *)&kernel->adopted + at, 4) != 0)
            return false;
    }
    return true;
}

/* The forward encode that a gradient kernel follows: the state's, unless its addressing was set by
 * hand to something else. A clip rectangle or a range that no state brings is such a thing. */
static const struct operation *followed(const struct call *call)
{
    static const glcnn_region no_clip = GLCNN_NO_CLIP;
    struct glcnn_kernel_properties adopted;
    const struct glcnn_state *state = call->arguments.state;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    if (!state || !state->forward.descriptor || !(d->flags & IS_GRADIENT))
        return NULL;
    memcpy(&adopted, &call->kernel->properties, sizeof adopted);
    adopted.clip_rect = no_clip;
    adopted.source_size = no_clip.size;
    adopted.primary.feature_channel_max_count = UINT32_MAX;
    adopted.destination_feature_channel_offset = 0;
    geometry_adopt(d, call->kernel->parameters, &state->forward, &adopted);
    return agrees(call->kernel, &adopted) ? &state->forward : NULL;
}

/* A backwards kernel may be given the state of the forward kernel that it mirrors: it takes sizes
 * from it and leaves it as it is (spec 4, image size encoding states). */
static bool mirrors_state(const struct call *call)
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
        return fail(call, GLCNN_INVALID_ARGUMENT, "state is NULL; this kernel needs one");
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
    if (d->parameters_size)
        memcpy(call->parameters, call->kernel->parameters, d->parameters_size);
    if (call->operation.state_driven && d->family)
        parameters_adopt(state->forward.descriptor, state->parameters, call->parameters);
    call->operation.parameters = call->parameters;
}

static glcnn_status begin(struct call *call, bool with_destination)
{
    char sentence[SENTENCE];
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct operation *o = &call->operation;
    *o = (struct operation){.descriptor = d,
                            .device = call->kernel->device,
                            .kernel = call->kernel,
                            .properties = call->kernel->properties,
                            .with_state = call->arguments.state != NULL,
                            .encode_number = call->kernel->encode_count};
    glcnn_status status = device_enter(call->kernel->device);
    if (status == GLCNN_SUCCESS && call->command_buffer &&
        call->command_buffer->device != call->kernel->device)
        return fail(call, GLCNN_INVALID_ARGUMENT, "the command buffer is another device's");
    if (status == GLCNN_SUCCESS)
        status = gather_images(call, with_destination);
    if (status == GLCNN_SUCCESS)
        status = check_state(call);
    if (status == GLCNN_SUCCESS && !parameters_check(d, &o->properties, call->kernel->parameters,
                                                     (struct refusal){sentence, SENTENCE}))
        status = fail(call, GLCNN_INVALID_ARGUMENT, sentence);
    o->state_driven = status == GLCNN_SUCCESS && followed(call);
    if (o->state_driven)
        geometry_adopt(d, call->kernel->parameters, &call->arguments.state->forward,
                       &o->properties);
    set_parameters(call);
    return status;
}

/* ---- Views and vectors ---- */

/* The geometry has left extents and starts; here they become layers. */
static void place_views(struct call *call)
{
    const struct argument *argument;
    for (int i = 0; (argument = argument_of(call, i)); i++) {
        glcnn_image *image = image_at(&call->arguments, argument->place);
        struct image_view *view = &call->operation.images[i];
        if (image && call->operation.given[i])
            *view = image_view(image, call->operation.starts[i].image, view->images,
                               call->operation.starts[i].channel, view->channels);
    }
}

static glcnn_status find_call_vector(struct call *call, int index, size_t position)
{
    glcnn_buffer *buffer = position < GLCNN_CALL_VECTORS ? call->arguments.vectors[position] : NULL;
    const struct argument *argument = argument_of(call, index);
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

static glcnn_status find_state_vector(struct call *call, int index, size_t length)
{
    const struct argument *argument = argument_of(call, index);
    struct state_vector *vector;
    if (length == 0 && (argument->output || argument->optional)) /* of no use to this encode */
        return GLCNN_SUCCESS;
    glcnn_status status =
        state_vector(call->arguments.state, argument->name, argument->output ? length : 0, &vector);
    if (status != GLCNN_SUCCESS)
        return status;
    call->state_vectors[index] = vector;
    bool ready = vector && (argument->output || vector->filled);
    if (!ready && argument->optional)
        return GLCNN_SUCCESS;
    if (!ready)
        return device_fail(call->kernel->device, GLCNN_INVALID_STATE,
                           "%s: the state has no %s yet; encode %s first", name_of(call),
                           argument->name,
                           argument->filled_by ? argument->filled_by : "the kernel that fills it");
    if (vector->buffer->size != length * 4)
        return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the state's %s has %zu elements; %zu are needed", name_of(call),
                           argument->name, vector->buffer->size / 4, length);
    call->operation.given[index] = true;
    call->operation.vectors[index] = (struct vector_view){vector->buffer, 0, length};
    return GLCNN_SUCCESS;
}

static glcnn_status find_kernel_vector(struct call *call, int index, size_t length)
{
    glcnn_buffer *buffer;
    if (length == 0 && argument_of(call, index)->optional)
        return GLCNN_SUCCESS; /* of no use to this encode */
    glcnn_status status = kernel_vector(call->kernel, (size_t)index, length, &buffer);
    call->operation.given[index] = status == GLCNN_SUCCESS;
    call->operation.vectors[index] = (struct vector_view){buffer, 0, length};
    return status;
}

static glcnn_status find_vectors(struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    size_t position = 0;
    for (int i = 0; status == GLCNN_SUCCESS && (argument = argument_of(call, i)); i++) {
        if (argument_is_image(argument))
            continue;
        size_t length = d->length ? d->length(&call->operation, (size_t)i) : 0;
        bool in_state = argument->place == PLACE_STATE ||
                        (argument->place == PLACE_STATE_OR_KERNEL && call->arguments.state);
        if (argument->place == PLACE_CALL)
            status = find_call_vector(call, i, position++);
        else if (argument->output && length == 0)
            continue; /* this encode leaves it as it is */
        else if (in_state && call->arguments.state)
            status = find_state_vector(call, i, length);
        else if (argument->place != PLACE_STATE)
            status = find_kernel_vector(call, i, length);
        else if (!argument->optional)
            status = fail(call, GLCNN_INVALID_ARGUMENT, "state is NULL; this kernel needs one");
        /* Parameters given to the kernel stand in where the state was not given any. */
        if (status == GLCNN_SUCCESS && argument->place == PLACE_STATE_OR_KERNEL &&
            !call->operation.given[i] && !argument->output)
            status = find_kernel_vector(call, i, length);
    }
    return status;
}

/* Whether the outputs in the state are added to, and what they start from (state.h). */
static void set_accumulation(struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct glcnn_state *state = call->arguments.state;
    const struct argument *argument;
    bool accumulate = false;
    for (int i = 0; (argument = argument_of(call, i)); i++) {
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
    for (int i = 0; (written = argument_of(call, i)); i++)
        for (int j = 0; (read = argument_of(call, j)); j++)
            if (i != j && argument_is_image(written) && argument_is_image(read) &&
                written->output && o->given[i] && o->given[j] &&
                image_views_overlap(&o->images[i], &o->images[j]))
                return device_fail(call->kernel->device, GLCNN_INVALID_ARGUMENT,
                                   "%s: %s and %s share storage; a kernel cannot write what it "
                                   "reads",
                                   name_of(call), written->name, read->name);
    return GLCNN_SUCCESS;
}

static glcnn_status resolve(struct call *call)
{
    char sentence[SENTENCE];
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct operation *o = &call->operation;
    const struct operation *forward = followed(call);
    struct refusal refusal = {sentence, SENTENCE};
    if (!geometry_resolve(o, &call->shapes, forward, refusal))
        return fail(call, GLCNN_INVALID_ARGUMENT, sentence);
    place_views(call);
    glcnn_status status = check_aliasing(call);
    if (status == GLCNN_SUCCESS)
        status = find_vectors(call);
    if (status != GLCNN_SUCCESS)
        return status;
    set_accumulation(call);
    if (d->check && !d->check(o, refusal))
        return fail(call, GLCNN_INVALID_ARGUMENT, sentence);
    return GLCNN_SUCCESS;
}

/* ---- Planning ---- */

static bool covers(const struct operation *o, const struct image_view *view,
                   const struct glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = &image->descriptor;
    return o->region_x == 0 && o->region_y == 0 && o->region_width == d->width &&
           o->region_height == d->height && view->images == d->number_of_images &&
           slice_count(view->channels) == slice_count(d->feature_channels);
}

/* What an encode leaves out of a gradient image, or of a temporary image that holds nothing yet,
 * is 0. */
static void plan_fill(struct call *call, struct plan *plan)
{
    const struct operation *o = &call->operation;
    int index = descriptor_place(o->descriptor, PLACE_DESTINATION);
    struct glcnn_image *image = call->arguments.destination;
    if (index < 0 || !image)
        return;
    bool unset = image_is_unset(image);
    bool covered = covers(o, &o->images[index], image) && !(unset && image->parent);
    if (covered || !(o->state_driven || unset))
        return;
    struct image_view whole = image_whole_view(unset ? image_root(image) : image);
    plan_fill_image(plan, &whole);
}

static void release_kernel(void *object)
{
    glcnn_kernel *kernel = object;
    glcnn_kernel_destroy(&kernel);
}

static void plan_call(struct call *call, struct plan *plan)
{
    plan_fill(call, plan);
    size_t first = plan->pass_count;
    plan->kernel = kernel_title(call->kernel);
    if (plan->status == GLCNN_SUCCESS)
        call->kernel->descriptor->plan(&call->operation, plan);
    for (size_t i = first; i < plan->pass_count; i++)
        plan->passes[i].kernel = call->kernel;
    plan_retain(plan, kernel_retain(call->kernel), release_kernel);
    plan_release_scratch(plan);
}

/* ---- What changes once the passes are appended ---- */

static void update_state(struct call *call)
{
    struct glcnn_state *state = call->arguments.state;
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    const struct operation *o = &call->operation;
    const struct argument *argument;
    if (d->flags & STARTS_STATE && !o->accumulate)
        glcnn_state_reset(state);
    for (int i = 0; (argument = argument_of(call, i)); i++) {
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

/* Vectors of its own that a forward kernel used go along in the state: its gradient uses the same.
 */
static glcnn_status lend_vectors(struct call *call)
{
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; status == GLCNN_SUCCESS && (argument = argument_of(call, i)); i++) {
        struct glcnn_buffer *own = call->kernel->vectors[i];
        if (argument->place == PLACE_STATE_OR_KERNEL && own && call->operation.given[i] &&
            call->operation.vectors[i].buffer == own)
            status = state_lend(call->arguments.state, argument->name, own);
    }
    return status;
}

static glcnn_status capture(struct call *call)
{
    const struct glcnn_descriptor *d = call->kernel->descriptor;
    struct glcnn_state *state = call->arguments.state;
    int source = descriptor_place(d, PLACE_SOURCE);
    int secondary = descriptor_place(d, PLACE_SECONDARY);
    int destination = descriptor_place(d, PLACE_DESTINATION);
    if (!(d->flags & MAKES_STATE) || !state || mirrors_state(call))
        return GLCNN_SUCCESS;
    struct operation forward = call->operation;
    for (int i = 0; i < MAX_ARGUMENTS; i++) {
        forward.images[i].storage = NULL;
        forward.vectors[i].buffer = NULL;
    }
    glcnn_status status = lend_vectors(call);
    if (status != GLCNN_SUCCESS)
        return status;
    return state_capture(state, &forward, source < 0 ? NULL : &call->shapes.images[source],
                         secondary < 0 ? NULL : &call->shapes.images[secondary],
                         destination < 0 ? NULL : &call->shapes.images[destination]);
}

static bool read_before(const struct call *calls, size_t index, const glcnn_image *image,
                        enum argument_place place)
{
    for (size_t i = 0; i <= index; i++)
        for (int p = 0; p < PLACE_IMAGES; p++) {
            if (i == index && p >= (int)place)
                return false;
            if (p != PLACE_DESTINATION && p != PLACE_LOSS &&
                image_at(&calls[i].arguments, (enum argument_place)p) == image)
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
    if (!(call->kernel->descriptor->flags & MAKES_STATE) || mirrors_state(call))
        return true;
    for (int i = 0; (argument = argument_of(call, i)); i++)
        if (call->state_vectors[i] && argument->input && call->operation.given[i])
            return true;
    return false;
}

/* Each distinct temporary image that was read loses one read, however often it appears. */
static void count_reads(const struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct glcnn_descriptor *d = calls[i].kernel->descriptor;
        for (int p = 0; p < PLACE_IMAGES; p++) {
            int index = descriptor_place(d, (enum argument_place)p);
            glcnn_image *image = image_at(&calls[i].arguments, (enum argument_place)p);
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

/* ---- Encodes ---- */

/* What planning moves on, to be put back by a failure. */
struct kept {
    struct state_vector vectors[STATE_VECTORS];
    size_t vector_count;
    uint64_t samples;
    bool written; /* the destination */
};

static void keep(const struct call *call, struct kept *kept)
{
    const struct glcnn_state *state = call->arguments.state;
    if (call->arguments.destination)
        kept->written = image_root(call->arguments.destination)->written;
    if (!state)
        return;
    memcpy(kept->vectors, state->vectors, sizeof state->vectors);
    kept->vector_count = state->vector_count;
    kept->samples = state->samples;
}

/* Vectors that the failed encode made go too: their length may be a wrong one. */
static void put_back(const struct call *call, const struct kept *kept)
{
    struct glcnn_state *state = call->arguments.state;
    if (call->arguments.destination)
        image_root(call->arguments.destination)->written = kept->written;
    if (!state)
        return;
    while (state->vector_count > kept->vector_count)
        glcnn_buffer_destroy(&state->vectors[--state->vector_count].buffer);
    memcpy(state->vectors, kept->vectors, sizeof state->vectors);
    state->samples = kept->samples;
}

static glcnn_status plan_one(struct call *call, struct plan *plan)
{
    glcnn_status status = resolve(call);
    if (status == GLCNN_SUCCESS)
        plan_call(call, plan);
    else
        plan->status = status;
    if (plan->status != GLCNN_SUCCESS)
        return plan->status;
    if (call->arguments.state)
        update_state(call);
    if (call->arguments.destination)
        image_root(call->arguments.destination)->written = true;
    call->kernel->encode_count++;
    return GLCNN_SUCCESS;
}

/* Plans call after call, since a shared state moves with each; on failure the states are put back
 * as they were, and what was recorded goes. */
static glcnn_status encode_all(struct glcnn_command_buffer *command_buffer, struct call *calls,
                               size_t count, struct copy copy)
{
    struct plan plan;
    struct kept *kept = calloc(count, sizeof *kept);
    if (!kept)
        return device_fail(command_buffer->device, GLCNN_OUT_OF_MEMORY, "out of memory encoding");
    size_t passes = command_buffer->pass_count, retained = command_buffer->retained_count;
    plan_begin(&plan, command_buffer);
    size_t done = 0;
    for (; done < count && plan.status == GLCNN_SUCCESS; done++) {
        keep(&calls[done], &kept[done]);
        plan_one(&calls[done], &plan);
    }
    if (copy.from && copy.from->buffer)
        plan_copy_vector(&plan, copy.from, copy.to);
    glcnn_status status = plan_end(&plan);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = capture(&calls[i]);
    if (status == GLCNN_SUCCESS)
        count_reads(calls, count);
    else
        command_buffer_cut(command_buffer, passes, retained);
    for (size_t i = done; status != GLCNN_SUCCESS && i-- > 0;)
        put_back(&calls[i], &kept[i]);
    free(kept);
    return status;
}

/* Planning moves the kernel on: the number of its encodes, an optimizer's time step, vectors made
 * at their first need. A failure puts it back. So does a planned command buffer, but for the vectors:
 * each of its commits, the first too, moves the kernel on. */
static glcnn_status encode_or_put_back(struct glcnn_command_buffer *command_buffer,
                                       struct glcnn_kernel *kernel, struct call *calls,
                                       size_t count, struct copy copy)
{
    struct glcnn_buffer *vectors[MAX_ARGUMENTS];
    size_t size = kernel->descriptor->parameters_size;
    uint32_t encode_count = kernel->encode_count;
    void *kept = malloc(size + 1);
    if (!kept)
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "out of memory encoding");
    memcpy(kept, kernel->parameters, size);
    memcpy(vectors, kernel->vectors, sizeof vectors);
    glcnn_status status;
    size_t refusals;
    do { /* with smaller variants where the driver does not run the larger */
        refusals = program_refusals(kernel->device);
        status = encode_all(command_buffer, calls, count, copy);
        if (status != GLCNN_SUCCESS || command_buffer->planned) {
            memcpy(kernel->parameters, kept, size);
            kernel->encode_count = encode_count;
        }
    } while (status == GLCNN_SHADER_ERROR && program_refusals(kernel->device) > refusals);
    for (int i = 0; i < MAX_ARGUMENTS && status != GLCNN_SUCCESS; i++)
        if (!vectors[i])
            glcnn_buffer_destroy(&kernel->vectors[i]);
    free(kept);
    return status;
}

static glcnn_status check_handles(const struct glcnn_command_buffer *command_buffer,
                                  const struct glcnn_kernel *kernel, const void *arguments)
{
    if (!kernel)
        return command_buffer ? device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                                            "encode: kernel is NULL")
                              : GLCNN_INVALID_ARGUMENT;
    if (!command_buffer || !arguments)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                           kernel_title(kernel), command_buffer ? "arguments" : "command_buffer");
    return GLCNN_SUCCESS;
}

/* One call for each of the arguments, to be freed; NULL, with a sentence: out of memory. */
static struct call *make_calls(struct glcnn_command_buffer *command_buffer,
                               struct glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                               size_t count)
{
    struct call *calls = count < SIZE_MAX / sizeof *calls ? calloc(count, sizeof *calls) : NULL;
    if (!calls)
        device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "out of memory encoding");
    for (size_t i = 0; calls && i < count; i++)
        calls[i] = (struct call){
            .command_buffer = command_buffer, .kernel = kernel, .arguments = arguments[i]};
    return calls;
}

static glcnn_status encode_each(struct glcnn_command_buffer *command_buffer,
                                struct glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                                size_t count, bool one_step, struct copy copy)
{
    glcnn_status status = check_handles(command_buffer, kernel, arguments);
    if (status != GLCNN_SUCCESS)
        return status;
    if (count == 0)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: the batch is empty",
                           kernel_title(kernel));
    struct call *calls = make_calls(command_buffer, kernel, arguments, count);
    if (!calls)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        status = begin(&calls[i], true);
        calls[i].operation.encode_number += (uint32_t)i;
        calls[i].operation.continues_step = one_step && i > 0;
    }
    if (status == GLCNN_SUCCESS)
        status = encode_or_put_back(command_buffer, kernel, calls, count, copy);
    free(calls);
    return status;
}

glcnn_status glcnn_kernel_encode_batch(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                       const struct glcnn_encode *arguments, size_t count)
{
    return encode_each(command_buffer, kernel, arguments, count, false, (struct copy){NULL, NULL});
}

glcnn_status kernel_encode_step(struct glcnn_command_buffer *command_buffer,
                                struct glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                                size_t count, const struct vector_view *from,
                                const struct vector_view *to)
{
    return encode_each(command_buffer, kernel, arguments, count, true, (struct copy){from, to});
}

glcnn_status glcnn_kernel_encode(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                 const struct glcnn_encode *arguments)
{
    return glcnn_kernel_encode_batch(command_buffer, kernel, arguments, 1);
}

/* ---- Returning encodes ---- */

/* What a returning encode sets in its kernel, to be put back by a failure. */
struct addressing {
    struct glcnn_kernel_properties properties, adopted;
};

static struct addressing addressing_of(const struct glcnn_kernel *kernel)
{
    return (struct addressing){kernel->properties, kernel->adopted};
}

static void put_addressing_back(struct glcnn_kernel *kernel, const struct addressing *addressing)
{
    kernel->properties = addressing->properties;
    kernel->adopted = addressing->adopted;
}

/* The result has the size of the mirrored kernel's source, and its pixels meet the same taps. */
static void follow_mirrored(struct call *call, struct glcnn_image_descriptor *result)
{
    const struct glcnn_state *state = call->arguments.state;
    const struct glcnn_offset *offset = &state->forward.properties.primary.offset;
    struct glcnn_kernel_properties *p = &call->operation.properties;
    const struct glcnn_source_properties *window = &p->primary;
    bool even_x = (window->kernel_width - 1) * window->dilation_rate_x % 2;
    bool even_y = (window->kernel_height - 1) * window->dilation_rate_y % 2;
    result->width = state->source.width;
    result->height = state->source.height;
    p->primary.offset.x = p->primary.offset.y = 0;
    p->kernel_offset_x = -offset->x + even_x;
    p->kernel_offset_y = -offset->y + even_y;
}

/* What the result is like; sets the kernel's addressing from padding or state. */
static glcnn_status describe_call(struct call *call, struct glcnn_image_descriptor *result)
{
    char sentence[SENTENCE];
    struct glcnn_kernel *kernel = call->kernel;
    bool gradient = kernel->descriptor->flags & IS_GRADIENT;
    const struct glcnn_state *state = call->arguments.state;
    if (gradient && state && state->forward.descriptor)
        kernel_adopt(kernel, &state->forward);
    glcnn_status status = begin(call, false);
    if (status == GLCNN_SUCCESS && !geometry_result(&call->operation, &call->shapes, result,
                                                    (struct refusal){sentence, SENTENCE}))
        status = fail(call, GLCNN_INVALID_ARGUMENT, sentence);
    if (status != GLCNN_SUCCESS)
        return status;
    if (gradient && state && state->source.width) {
        glcnn_channel_format format = result->channel_format;
        bool secondary = operation_operands(&call->operation).of == PLACE_SECONDARY;
        *result = secondary ? state->secondary : state->source;
        result->channel_format = format;
    }
    if (mirrors_state(call))
        follow_mirrored(call, result);
    if (!gradient) {
        kernel->properties.primary.offset = call->operation.properties.primary.offset;
        kernel->properties.kernel_offset_x = call->operation.properties.kernel_offset_x;
        kernel->properties.kernel_offset_y = call->operation.properties.kernel_offset_y;
    }
    return image_complete_descriptor(kernel->device, kernel_title(kernel), result);
}

/* The same for these arguments; a failure leaves the kernel as it was. */
static glcnn_status describe(struct glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                             const struct glcnn_encode *arguments,
                             struct glcnn_image_descriptor *result)
{
    struct call call = {
        .command_buffer = command_buffer, .kernel = kernel, .arguments = *arguments};
    struct addressing kept = addressing_of(kernel);
    if (descriptor_place(kernel->descriptor, PLACE_DESTINATION) < 0)
        return device_fail(kernel->device, GLCNN_UNSUPPORTED, "%s makes no image",
                           kernel_title(kernel));
    glcnn_status status = describe_call(&call, result);
    if (status != GLCNN_SUCCESS)
        put_addressing_back(kernel, &kept);
    return status;
}

glcnn_status glcnn_kernel_destination_descriptor(glcnn_kernel *kernel,
                                                 const struct glcnn_encode *arguments,
                                                 struct glcnn_image_descriptor *result)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!arguments || !result)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL",
                           kernel_title(kernel), arguments ? "result" : "arguments");
    return describe(NULL, kernel, arguments, result);
}

static glcnn_status check_state_making(const struct glcnn_kernel *kernel,
                                       const struct glcnn_command_buffer *command_buffer,
                                       const void *states)
{
    if (!kernel)
        return GLCNN_INVALID_ARGUMENT;
    if (!states)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: where the state is to go is NULL", kernel_title(kernel));
    glcnn_status status = device_enter(kernel->device);
    if (status == GLCNN_SUCCESS && command_buffer && command_buffer->device != kernel->device)
        status = device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                             "%s: the command buffer is another device's", kernel_title(kernel));
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

glcnn_status glcnn_kernel_result_state_batch(glcnn_kernel *kernel,
                                             glcnn_command_buffer *command_buffer,
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

glcnn_status glcnn_kernel_result_state(glcnn_kernel *kernel, glcnn_command_buffer *command_buffer,
                                       const struct glcnn_encode *arguments, glcnn_state **state)
{
    return glcnn_kernel_result_state_batch(kernel, command_buffer, arguments, 1, state);
}

static glcnn_status make_destination(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                     const struct glcnn_image_descriptor *descriptor,
                                     glcnn_image **image)
{
    return kernel->properties.result_is_ordinary
               ? glcnn_image_create(kernel->device, descriptor, image)
               : glcnn_temporary_image_create(command_buffer, descriptor, image);
}

/* What a returning encode makes, by its place in the batch. */
struct returned {
    glcnn_image **destinations;
    glcnn_state **states; /* NULL: none are wanted */
    struct glcnn_state *shared;
};

/* Makes what one of the batch returns, and begins its encode. */
static glcnn_status begin_returning(struct call *call, size_t index, struct returned *r)
{
    struct glcnn_image_descriptor descriptor;
    struct glcnn_kernel *kernel = call->kernel;
    bool ordinary = kernel->properties.result_is_ordinary;
    if (call->arguments.destination)
        return fail(call, GLCNN_INVALID_ARGUMENT,
                    "a returning encode makes its destination itself");
    glcnn_status status = describe(call->command_buffer, kernel, &call->arguments, &descriptor);
    if (status == GLCNN_SUCCESS)
        status =
            make_destination(call->command_buffer, kernel, &descriptor, &r->destinations[index]);
    if (status == GLCNN_SUCCESS && r->states && !call->arguments.state && makes_states(kernel))
        status = make_state(kernel, ordinary ? NULL : call->command_buffer, &r->shared,
                            &r->states[index]);
    if (status != GLCNN_SUCCESS)
        return status;
    call->arguments.destination = r->destinations[index];
    if (r->states && r->states[index])
        call->arguments.state = r->states[index];
    status = begin(call, true);
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

static glcnn_status check_returning(const struct glcnn_command_buffer *command_buffer,
                                    const struct glcnn_kernel *kernel, const void *arguments,
                                    size_t count, const void *destinations)
{
    glcnn_status status = check_handles(command_buffer, kernel, arguments);
    if (status == GLCNN_SUCCESS && (!destinations || count == 0))
        status = device_fail(kernel->device, GLCNN_INVALID_ARGUMENT, "%s: %s", kernel_title(kernel),
                             destinations ? "the batch is empty" : "destination is NULL");
    return status;
}

glcnn_status glcnn_kernel_encode_batch_returning(glcnn_command_buffer *command_buffer,
                                                 glcnn_kernel *kernel,
                                                 const struct glcnn_encode *arguments, size_t count,
                                                 glcnn_image **destinations, glcnn_state **states)
{
    clear(destinations, count);
    clear(states, count);
    glcnn_status status = check_returning(command_buffer, kernel, arguments, count, destinations);
    if (status != GLCNN_SUCCESS)
        return status;
    struct returned returned = {destinations, states, NULL};
    struct addressing kept = addressing_of(kernel);
    struct call *calls = make_calls(command_buffer, kernel, arguments, count);
    if (!calls)
        return GLCNN_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = begin_returning(&calls[i], i, &returned);
    if (status == GLCNN_SUCCESS)
        status =
            encode_or_put_back(command_buffer, kernel, calls, count, (struct copy){NULL, NULL});
    free(calls);
    if (status == GLCNN_SUCCESS)
        return status;
    put_addressing_back(kernel, &kept);
    drop_returned(&returned, count);
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
