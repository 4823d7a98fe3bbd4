/* One step for many kernels: where optimizers are set alike, the vectors that they step lie beside
 * each other in four buffers, of gradients, values and the two kinds of state, and one pass goes
 * over all of it. A GPU takes some microseconds for a pass, and most vectors are short.
 *
 * Optimizers are the kernels' own and may be set otherwise at any time. So a joint step is recorded
 * for executions alone, which look first whether its optimizers are still alike; if not, the graph
 * is recorded anew with a step for each kernel. The joint step moves the first optimizer on, and
 * the others follow it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glcnn/training.h"
#include "graph/graph.h"

/* A kernel that is stepped. */
struct layer {
    size_t filter; /* whose update it is: a gradient node */
    struct glcnn_kernel *optimizer;
    struct glcnn_buffer *vectors[STEP_ROLES][PLACES]; /* NULL: the optimizer keeps none */
    struct state_vector *gradients[PLACES];
    size_t count;
    bool taken;
};

/* ---- What can be stepped ---- */

static unsigned states_kept(const struct glcnn_kernel *optimizer)
{
    return optimizer->descriptor->optimizer->state_vectors(optimizer->parameters);
}

/* Adds one vector of the kernel. False: its update is better left to the plain form, which has
 * sentences for what is missing. */
static bool add_vector(struct layer *layer, const struct glcnn_kernel *kernel,
                       struct glcnn_state *gradients, const char *name)
{
    char gradient[32];
    size_t place = layer->count;
    int argument = trained_argument(kernel, name);
    if (argument < 0 || !kernel->vectors[argument])
        return true;
    snprintf(gradient, sizeof gradient, "gradient_for_%s", name);
    layer->gradients[place] = state_filled_vector(gradients, gradient);
    if (!layer->gradients[place])
        return false;
    layer->vectors[STEP_VALUES][place] = kernel->vectors[argument];
    layer->vectors[STEP_GRADIENTS][place] = layer->gradients[place]->buffer;
    for (unsigned i = 0; i < states_kept(layer->optimizer); i++) {
        struct glcnn_buffer *state = glcnn_kernel_optimizer_vector(kernel, name, i);
        if (!state)
            return false;
        layer->vectors[STEP_FIRST + i][place] = state;
    }
    for (int role = 0; role < STEP_ROLES; role++) {
        const struct glcnn_buffer *vector = layer->vectors[role][place];
        if (vector && vector->size != layer->vectors[STEP_VALUES][place]->size)
            return false;
    }
    layer->count++;
    return true;
}

/* The vectors that one gradient node's update steps; none: it is not for a joint step. */
static struct layer look_at(const struct recording *r, size_t filter)
{
    const struct graph_filter *f = &r->graph->filters[filter];
    struct layer layer = {.filter = filter};
    if (!update_leads(r->graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
        return layer;
    const struct glcnn_kernel *kernel = f->node->forward->kernel;
    layer.optimizer = glcnn_kernel_optimizer(kernel);
    bool good = layer.optimizer;
    for (const struct trained_vector *v = trained_vectors; good && v->name; v++)
        good = add_vector(&layer, kernel, update_state(r, f), v->name);
    layer.count = good ? layer.count : 0;
    return layer;
}

static bool are_alike(const struct glcnn_kernel *a, const struct glcnn_kernel *b)
{
    return a->descriptor == b->descriptor &&
           memcmp(a->parameters, b->parameters, a->descriptor->parameters_size) == 0;
}

/* ---- One joint step ---- */

/* The layers of a joint step on their way into a recording. */
struct joining {
    struct recording *recording;
    struct layer **layers;
    size_t layer_count;
    struct glcnn_buffer **vectors[STEP_ROLES]; /* of all layers */
    size_t vector_count;
    struct glcnn_buffer *joined[STEP_ROLES];
};

static bool allocate(struct joining *j, size_t layers)
{
    bool good = (j->layers = calloc(layers, sizeof(*j->layers))) != NULL;
    for (int role = 0; role < STEP_ROLES; role++)
        good = (j->vectors[role] = calloc(layers * PLACES, sizeof(*j->vectors[role]))) && good;
    return good;
}

static void release(struct joining *j)
{
    for (int role = 0; role < STEP_ROLES; role++) {
        free(j->vectors[role]);
        glcnn_buffer_destroy(&j->joined[role]);
    }
    free(j->layers);
}

/* Takes the layer in unless the vectors would be longer than the device lets one be. */
static void take_in(struct joining *j, struct layer *layer)
{
    const struct glcnn_device *device = j->recording->graph->device;
    for (int role = 0; role < STEP_ROLES; role++)
        memcpy(j->vectors[role] + j->vector_count, layer->vectors[role],
               layer->count * sizeof(*j->vectors[role]));
    size_t size = buffer_merged_size(j->vectors[STEP_VALUES], j->vector_count + layer->count);
    if (size > device->info.limits.storage_block_size)
        return;
    j->vector_count += layer->count;
    j->layers[j->layer_count++] = layer;
}

/* *done: the vectors of every kind lie beside each other. */
static glcnn_status join(struct joining *j, bool *done)
{
    glcnn_status status = GLCNN_SUCCESS;
    *done = true;
    for (int role = 0; role < STEP_ROLES && *done && status == GLCNN_SUCCESS; role++) {
        if (!j->vectors[role][0])
            continue;
        status = buffer_merge(j->vectors[role], j->vector_count, &j->joined[role]);
        *done = j->joined[role];
    }
    return status;
}

/* What will be read is sealed, as by any step: gradients encoded from then on start over. */
static void keep(struct joining *j, struct glcnn_kernel **optimizers)
{
    struct recording *r = j->recording;
    struct joint_step *step = &r->joint_steps[r->joint_step_count++];
    for (size_t i = 0; i < j->layer_count; i++) {
        struct layer *layer = j->layers[i];
        layer->taken = r->stepped[layer->filter] = true;
        optimizers[i] = kernel_retain(layer->optimizer);
        for (size_t p = 0; p < layer->count; p++)
            layer->gradients[p]->sealed = true;
    }
    *step = (struct joint_step){.optimizers = optimizers, .count = j->layer_count};
    memcpy(step->vectors, j->joined, sizeof step->vectors);
    memset(j->joined, 0, sizeof j->joined);
}

static glcnn_status lay(struct joining *j)
{
    bool done;
    glcnn_status status = join(j, &done);
    if (status != GLCNN_SUCCESS || !done)
        return status;
    struct glcnn_kernel **optimizers = calloc(j->layer_count, sizeof(*optimizers));
    if (!optimizers)
        return device_fail(j->recording->graph->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory recording a step");
    keep(j, optimizers);
    return GLCNN_SUCCESS;
}

/* The first layer and all behind it whose optimizers are set alike. One vector alone is stepped as
 * well by itself. */
static glcnn_status lay_together(struct recording *r, struct layer *first, size_t count)
{
    struct joining j = {.recording = r};
    glcnn_status status = GLCNN_SUCCESS;
    if (!allocate(&j, count))
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        if (!first[i].taken && are_alike(first->optimizer, first[i].optimizer))
            take_in(&j, &first[i]);
    if (status == GLCNN_SUCCESS && j.vector_count > 1)
        status = lay(&j);
    release(&j);
    return status;
}

/* ---- All of them ---- */

glcnn_status joint_steps_lay(struct recording *r)
{
    size_t filters = r->graph->filter_count, count = 0;
    struct layer *layers = calloc(filters + 1, sizeof *layers);
    glcnn_status status = GLCNN_SUCCESS;
    r->joint_steps = calloc(filters + 1, sizeof *r->joint_steps);
    if (!layers || !r->joint_steps)
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < filters && status == GLCNN_SUCCESS; i++) {
        layers[count] = look_at(r, i);
        count += layers[count].count > 0;
    }
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        if (!layers[i].taken)
            status = lay_together(r, &layers[i], count - i);
    free(layers);
    return status;
}

glcnn_status joint_steps_record(const struct recording *r)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->joint_step_count && status == GLCNN_SUCCESS; i++) {
        const struct joint_step *step = &r->joint_steps[i];
        struct glcnn_kernel *first = step->optimizers[0];
        status = first->descriptor->optimizer->encode_vectors(
            r->command_buffer, first, step->vectors[STEP_GRADIENTS], step->vectors[STEP_VALUES],
            step->vectors[STEP_FIRST], step->vectors[STEP_SECOND], step->vectors[STEP_VALUES]);
    }
    return status;
}

bool joint_steps_are_alike(const struct recording *r)
{
    for (size_t i = 0; i < r->joint_step_count; i++)
        for (size_t k = 1; k < r->joint_steps[i].count; k++)
            if (!are_alike(r->joint_steps[i].optimizers[0], r->joint_steps[i].optimizers[k]))
                return false;
    return true;
}

void joint_steps_follow(const struct recording *r)
{
    for (size_t i = 0; i < r->joint_step_count; i++) {
        const struct glcnn_kernel *first = r->joint_steps[i].optimizers[0];
        for (size_t k = 1; k < r->joint_steps[i].count; k++)
            memcpy(r->joint_steps[i].optimizers[k]->parameters, first->parameters,
                   first->descriptor->parameters_size);
    }
}

static glcnn_status clear(struct glcnn_buffer *vector)
{
    void *zeros = calloc(1, vector->size);
    glcnn_status status =
        zeros ? glcnn_buffer_write(vector, 0, vector->size, zeros)
              : device_fail(vector->device, GLCNN_OUT_OF_MEMORY, "out of memory executing a graph");
    free(zeros);
    return status;
}

glcnn_status joint_steps_clear(const struct recording *r)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < r->joint_step_count && status == GLCNN_SUCCESS; i++)
        status = clear(r->joint_steps[i].vectors[STEP_GRADIENTS]);
    return status;
}

static void release_step(struct joint_step *step)
{
    for (size_t i = 0; i < step->count; i++)
        glcnn_kernel_destroy(&step->optimizers[i]);
    free(step->optimizers);
    for (int role = 0; role < STEP_ROLES; role++)
        glcnn_buffer_destroy(&step->vectors[role]);
}

void joint_steps_free(struct recording *r)
{
    for (size_t i = 0; i < r->joint_step_count; i++)
        release_step(&r->joint_steps[i]);
    free(r->joint_steps);
}
