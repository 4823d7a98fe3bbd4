/* Reads what an encode computes, at each commit, and looks whether it is finite (GLCNN_DEBUG=nan)
 * and what the reference makes of the same inputs (GLCNN_DEBUG=verify).
 *
 * Inputs are read before the first pass. An output is read after the last pass that writes it:
 * textures of temporary images are shared, so that a later pass may write another image there.
 * Graphs exchange the storages that passes use, so storages are those of the passes as they are
 * issued, not of the encode. */
#include "encode/observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/debug.h"
#include "encode/bound.h"
#include "encode/reference.h"
#include "image/image.h"

#define NEVER UINT32_MAX

/* Where an argument's storage is bound. */
struct binding {
    uint32_t step, index; /* of the pass, and of its textures or images; step NEVER: nowhere */
    bool is_image;
};

struct observer {
    struct pass_observer base;
    struct glcnn_device *device;
    struct operation operation;
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)]; /* the operation's */
    char kernel[96];                                         /* in words */
    struct binding bindings[MAX_ARGUMENTS];
    uint32_t complete[MAX_ARGUMENTS]; /* step after which an output is; NEVER: not written */
    uint32_t steps;
    bool verifies;                  /* the reference can tell what comes out */
    bool moves;                     /* its numbers do with each step: only the first is known */
    double *inputs[MAX_ARGUMENTS];  /* read before, for the reference; NULL: not given */
    double *outputs[MAX_ARGUMENTS]; /* read after */
};

static const struct argument *argument_of(const struct observer *o, size_t index)
{
    return descriptor_argument_at(o->operation.descriptor, index);
}

static void forget(struct observer *o)
{
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        free(o->inputs[i]);
        free(o->outputs[i]);
        o->inputs[i] = o->outputs[i] = NULL;
    }
}

static void release(void *object)
{
    forget(object);
    free(object);
}

/* ---- Reading ---- */

static size_t element_count(const struct observer *o, size_t index)
{
    const struct image_view *view = &o->operation.images[index];
    if (!argument_is_image(argument_of(o, index)))
        return o->operation.vectors[index].count;
    return (size_t)view->images * view->channels * view->height * view->width;
}

/* As float32, whatever the format: shaders read numbers so, and what is not stored is not rounded to
 * float16. Images go one by one: together they may be more than the host can hold as float32 too. */
static glcnn_status read_image(struct glcnn_device *device, const struct image_view *view,
                               double *values)
{
    size_t count = (size_t)view->channels * view->height * view->width;
    const struct glcnn_image_transfer planes = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};
    float *floats = malloc(count * sizeof *floats);
    if (!floats)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "GLCNN_DEBUG: out of memory");
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t n = 0; n < view->images && status == GLCNN_SUCCESS; n++) {
        struct glcnn_image image = {.device = device,
                                    .references = 1,
                                    .descriptor = {view->width, view->height, view->channels, 1,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT32},
                                    .storage = view->storage,
                                    .first_layer = view->first_layer + n * view->layer_stride,
                                    .layer_stride = view->layer_stride,
                                    .channels_behind =
                                        view->masked ? view->channels + 1 : view->channels};
        status = glcnn_image_read_bytes(&image, &planes, floats, count * sizeof *floats);
        for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
            values[n * count + i] = floats[i];
    }
    free(floats);
    return status;
}

static glcnn_status read_vector(struct glcnn_device *device, const struct vector_view *view,
                                double *values)
{
    float *floats = malloc(view->count * sizeof *floats);
    if (!floats)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "GLCNN_DEBUG: out of memory");
    glcnn_status status =
        glcnn_buffer_read(view->buffer, view->offset * 4, view->count * 4, floats);
    for (size_t i = 0; i < view->count && status == GLCNN_SUCCESS; i++)
        values[i] = floats[i];
    free(floats);
    return status;
}

/* The storage of an argument, as `pass` and those beside it have it now. What is not stored is made
 * for this reader too, by the images that it was recorded with. */
static struct storage *storage_now(const struct observer *o, size_t index, const struct pass *pass)
{
    const struct binding *b = &o->bindings[index];
    if (o->operation.images[index].storage->producer)
        return o->operation.images[index].storage;
    const struct pass *bound = pass - pass->debug.index + b->step;
    return b->is_image ? bound->images[b->index].view.storage
                       : bound->textures[b->index].view.storage;
}

/* What no pass reads is of no effect: the reference gets zeros. */
static glcnn_status read_argument(struct observer *o, size_t index, const struct pass *pass,
                                  double **values)
{
    const struct vector_view *vector = &o->operation.vectors[index];
    size_t count = element_count(o, index);
    *values = calloc(count ? count : 1, sizeof **values);
    if (!*values)
        return device_fail(o->device, GLCNN_OUT_OF_MEMORY, "GLCNN_DEBUG: out of memory");
    if (argument_is_image(argument_of(o, index))) {
        struct image_view view = o->operation.images[index];
        if (o->bindings[index].step == NEVER)
            return GLCNN_SUCCESS;
        view.storage = storage_now(o, index, pass);
        return read_image(o->device, &view, *values);
    }
    if (vector->buffer)
        return read_vector(o->device, vector, *values);
    for (size_t i = 0; i < count; i++)
        (*values)[i] = argument_of(o, index)->neutral;
    return GLCNN_SUCCESS;
}

/* ---- Finding ---- */

/* "destination_image, image 0, channel 2, row 1, column 7", or "gamma, element 3". */
static void name_element(const struct observer *o, size_t index, size_t element, char text[160])
{
    const struct argument *argument = argument_of(o, index);
    const struct image_view *view = &o->operation.images[index];
    if (!argument_is_image(argument)) {
        snprintf(text, 160, "%s, element %zu", argument->name, element);
        return;
    }
    size_t row = element / view->width, channel = row / view->height;
    snprintf(text, 160, "%s, image %zu, channel %zu, row %zu, column %zu", argument->name,
             channel / view->channels, channel % view->channels, row % view->height,
             element % view->width);
}

static glcnn_status find_not_finite(const struct observer *o, size_t index)
{
    char place[160];
    size_t count = element_count(o, index), i = 0;
    while (i < count && isfinite(o->outputs[index][i]))
        i++;
    if (i == count)
        return GLCNN_SUCCESS;
    name_element(o, index, i, place);
    return device_fail(o->device, GLCNN_CHECK_FAILED, "GLCNN_DEBUG=nan: %s makes %s of %s",
                       o->kernel, isnan(o->outputs[index][i]) ? "a NaN" : "an infinity", place);
}

/* Pixels outside of the region keep what they held, which the reference does not know. */
static bool is_written(const struct observer *o, size_t index, size_t element)
{
    const struct operation *op = &o->operation;
    const struct image_view *view = &op->images[index];
    if (argument_of(o, index)->place != PLACE_DESTINATION)
        return true;
    size_t x = element % view->width, y = element / view->width % view->height;
    return x >= op->region_x && x - op->region_x < op->region_width && y >= op->region_y &&
           y - op->region_y < op->region_height;
}

/* A gradient's vectors are sums over pixels, whose terms may cancel. */
static bool is_sum(const struct observer *o, size_t index)
{
    return o->operation.descriptor->flags & IS_GRADIENT && o->outputs[index] &&
           !argument_is_image(argument_of(o, index));
}

/* Compares one output with the reference's; `sums` of its terms' magnitudes may be NULL. */
static glcnn_status compare(const struct observer *o, size_t index, const double *wanted,
                            const double *sums)
{
    const struct storage *storage = o->operation.images[index].storage;
    const double *found = o->outputs[index];
    bool float16 =
        argument_is_image(argument_of(o, index)) && storage->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
    size_t count = element_count(o, index);
    double norm = bound_norm(wanted, count);
    for (size_t i = 0; i < count; i++) {
        double error = bound_error(found[i], wanted[i], sums ? fmax(norm, sums[i]) : norm, float16);
        char place[160];
        if (error <= 1 || !is_written(o, index, i))
            continue;
        name_element(o, index, i, place);
        return device_fail(o->device, GLCNN_CHECK_FAILED,
                           "GLCNN_DEBUG=verify: %s makes %.9g of %s; its reference %.9g, which is "
                           "%.3g times as far as may be",
                           o->kernel, found[i], place, wanted[i], error);
    }
    return GLCNN_SUCCESS;
}

static double *copy_input(const struct observer *o, size_t index, bool magnitudes)
{
    const double *input = o->inputs[index];
    size_t count = element_count(o, index);
    double *copy = calloc(count ? count : 1, sizeof *copy);
    for (size_t i = 0; copy && input && i < count; i++)
        copy[i] = magnitudes ? fabs(input[i]) : input[i];
    return copy;
}

/* The reference's arguments: inputs, or their magnitudes, and outputs of zeros. */
static bool set_reference(const struct observer *o, bool magnitudes, struct reference *r)
{
    const struct argument *argument;
    bool good = true;
    for (size_t i = 0; good && (argument = argument_of(o, i)); i++) {
        const struct image_view *view = &o->operation.images[i];
        double *data = o->operation.given[i] ? copy_input(o, i, magnitudes) : NULL;
        good = data || !o->operation.given[i];
        if (argument_is_image(argument))
            r->images[i] =
                (struct tensor){data, view->images, view->channels, view->height, view->width};
        else
            r->vectors[i] = data;
    }
    return good;
}

static void free_reference(struct reference *r)
{
    for (size_t i = 0; i < MAX_ARGUMENTS; i++) {
        free(r->images[i].data);
        free(r->vectors[i]);
    }
}

static bool run_reference(const struct observer *o, bool magnitudes, struct reference *r)
{
    bool good = set_reference(o, magnitudes, r);
    if (good)
        reference_of(o->operation.descriptor)->compute(r);
    return good;
}

/* Magnitudes of inputs make the sums of the terms' magnitudes of what is linear in each of them. */
static glcnn_status verify(struct observer *o)
{
    struct reference exact = {.operation = &o->operation}, sums = exact;
    glcnn_status status = GLCNN_SUCCESS;
    bool has_sums = false;
    for (size_t i = 0; argument_of(o, i); i++)
        has_sums = has_sums || is_sum(o, i);
    if (!run_reference(o, false, &exact) || (has_sums && !run_reference(o, true, &sums)))
        status = device_fail(o->device, GLCNN_OUT_OF_MEMORY, "GLCNN_DEBUG: out of memory");
    for (size_t i = 0; argument_of(o, i) && status == GLCNN_SUCCESS; i++) {
        const double *wanted = exact.images[i].data ? exact.images[i].data : exact.vectors[i];
        if (o->outputs[i] && wanted)
            status = compare(o, i, wanted, is_sum(o, i) ? sums.vectors[i] : NULL);
    }
    free_reference(&exact);
    free_reference(&sums);
    o->verifies = o->verifies && !o->moves;
    return status;
}

/* ---- Observing ---- */

static glcnn_status before(struct pass_observer *observer, const struct pass *pass)
{
    struct observer *o = (struct observer *)observer;
    const struct argument *argument;
    glcnn_status status = GLCNN_SUCCESS;
    if (pass->debug.index > 0)
        return status;
    forget(o); /* of a commit that failed */
    for (size_t i = 0; o->verifies && (argument = argument_of(o, i)); i++)
        if (status == GLCNN_SUCCESS && argument->input && o->operation.given[i])
            status = read_argument(o, i, pass, &o->inputs[i]);
    return status;
}

static glcnn_status after(struct pass_observer *observer, const struct pass *pass)
{
    struct observer *o = (struct observer *)observer;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; argument_of(o, i) && status == GLCNN_SUCCESS; i++) {
        if (o->complete[i] != pass->debug.index)
            continue;
        status = read_argument(o, i, pass, &o->outputs[i]);
        if (status == GLCNN_SUCCESS && o->device->checks & DEBUG_NAN)
            status = find_not_finite(o, i);
    }
    if (pass->debug.index + 1 < o->steps || status != GLCNN_SUCCESS)
        return status;
    status = o->verifies ? verify(o) : GLCNN_SUCCESS;
    forget(o);
    return status;
}

/* ---- Recording ---- */

/* What a pass that reads the view has among its textures: the image, or the first of those that it
 * is made of. */
static const struct storage *bound_storage(const struct image_view *view)
{
    struct pass reader = {.shader = ""};
    pass_texture(&reader, "", view);
    return reader.texture_count ? reader.textures[0].view.storage : view->storage;
}

static void bind_images(struct observer *o, size_t index, const struct pass *pass, uint32_t step)
{
    const struct storage *storage = bound_storage(&o->operation.images[index]);
    for (uint32_t i = 0; i < pass->texture_count; i++)
        if (pass->textures[i].view.storage == storage)
            o->bindings[index] = (struct binding){step, i, false};
    for (uint32_t i = 0; i < pass->image_count; i++)
        if (pass->images[i].view.storage == storage) {
            o->bindings[index] = (struct binding){step, i, true};
            o->complete[index] = step;
        }
}

/* Masks are bits and no numbers: one that is written is passed over, and one that is read is more
 * than a reference can take. */
static void bind_vectors(struct observer *o, size_t index, const struct pass *pass, uint32_t step)
{
    const struct glcnn_buffer *buffer = o->operation.vectors[index].buffer;
    for (uint32_t i = 0; i < pass->buffer_count && o->operation.given[index]; i++) {
        const struct pass_buffer *item = &pass->buffers[i];
        bool bits = strstr(item->type, "uint") != NULL;
        if (!buffer || item->view.buffer != buffer)
            continue;
        if (item->access & VECTOR_WRITE)
            o->complete[index] = step;
        else if (bits)
            o->verifies = false;
        o->operation.given[index] = !bits;
    }
}

static void bind_arguments(struct observer *o, const struct pass *passes)
{
    const struct argument *argument;
    for (size_t i = 0; (argument = argument_of(o, i)); i++) {
        o->bindings[i].step = o->complete[i] = NEVER;
        for (uint32_t step = 0; step < o->steps && o->operation.given[i]; step++)
            (argument_is_image(argument) ? bind_images : bind_vectors)(o, i, &passes[step], step);
        if (!argument->output || !o->operation.given[i])
            o->complete[i] = NEVER;
    }
}

static bool any_moves(const struct pass *passes, uint32_t count)
{
    bool moves = false;
    for (uint32_t i = 0; i < count; i++)
        moves = moves || pass_has_moving_uniforms(&passes[i]);
    return moves;
}

static struct observer *make_observer(const struct operation *operation, const struct plan *plan,
                                      size_t first)
{
    struct observer *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->base = (struct pass_observer){before, after};
    o->device = plan->device;
    o->operation = *operation;
    o->operation.device = NULL;
    o->operation.kernel = NULL;
    if (operation->descriptor->parameters_size)
        memcpy(o->parameters, operation->parameters, operation->descriptor->parameters_size);
    o->operation.parameters = o->parameters;
    snprintf(o->kernel, sizeof o->kernel, "%s", plan_display_name(plan));
    o->steps = (uint32_t)(plan->pass_count - first);
    o->moves = any_moves(plan->passes + first, o->steps);
    /* The first commit of a planned buffer moves already. */
    o->verifies = plan->device->checks & DEBUG_VERIFY && !operation->accumulate &&
                  !(o->moves && plan->command_buffer->deferred);
    bind_arguments(o, plan->passes + first);
    return o;
}

void observe(const struct operation *operation, struct plan *plan, size_t first)
{
    if (!(plan->device->checks & (DEBUG_NAN | DEBUG_VERIFY)) || plan->pass_count == first ||
        plan->status != GLCNN_SUCCESS)
        return;
    struct observer *o = make_observer(operation, plan, first);
    if (!o) {
        plan_fail(plan, GLCNN_OUT_OF_MEMORY, "GLCNN_DEBUG: out of memory");
        return;
    }
    operation_retain(operation, plan); /* no pass has what is not stored, or not read */
    for (uint32_t step = 0; step < o->steps; step++) {
        plan->passes[first + step].debug.observer = &o->base;
        plan->passes[first + step].debug.index = step;
    }
    plan_retain(plan, o, release);
}
