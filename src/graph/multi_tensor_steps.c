/* Multi-tensor steps of optimizers: where these are set alike, the vectors that they step lie beside
 * each other in four buffers, of gradients, values and the two kinds of state, and one pass goes
 * over all of it.
 *
 * Optimizers are the kernels' own and may be set differently at any time. So a multi-tensor step is
 * recorded for executions only, which look first whether its optimizers are still alike; if not, the
 * graph is recorded again with a step for each kernel. The pass advances the parameters of the first
 * optimizer, which are then copied to the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glcnn/training.h"
#include "graph/update.h"

/* A kernel that is stepped. */
struct layer {
    size_t filter; /* whose update it is: a gradient node */
    struct glcnn_kernel *optimizer;
    struct glcnn_buffer *vectors[STEP_ROLES][PLACES]; /* NULL: the optimizer keeps none */
    struct state_vector *gradients[PLACES];
    bool decays[PLACES];
    size_t count;
    bool taken;
};

/* ---- What can be stepped ---- */

static unsigned states_kept(const struct glcnn_kernel *optimizer)
{
    return optimizer->descriptor->optimizer->state_vectors(optimizer->parameters);
}

static bool decays_weights_only(const struct glcnn_kernel *optimizer)
{
    return optimizer->descriptor->optimizer->decays_weights_only(optimizer->parameters);
}

/* Adds one vector of the kernel. False: something is missing or does not fit; the kernel has a step
 * of its own, which says so. */
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
    layer->decays[place] = strcmp(name, "weights") == 0 || !decays_weights_only(layer->optimizer);
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

/* The vectors that one gradient node's update steps; none: it has a step of its own. */
static struct layer layer_of(const struct recording *r, size_t filter)
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

/* ---- One step ---- */

/* The layers of one step, before it is recorded. */
struct group {
    struct recording *recording;
    struct layer **layers;
    size_t layer_count;
    struct glcnn_buffer **vectors[STEP_ROLES]; /* of all layers */
    size_t vector_count;
    size_t size, decayed; /* bytes of the values, and of those that decay */
    struct glcnn_buffer *memory[STEP_ROLES];
};

static bool allocate(struct group *g, size_t layers)
{
    bool good = (g->layers = calloc(layers, sizeof(*g->layers))) != NULL;
    for (int role = 0; role < STEP_ROLES; role++)
        good = (g->vectors[role] = calloc(layers * PLACES, sizeof(*g->vectors[role]))) && good;
    return good;
}

static void release(struct group *g)
{
    for (int role = 0; role < STEP_ROLES; role++) {
        free(g->vectors[role]);
        glcnn_buffer_destroy(&g->memory[role]);
    }
    free(g->layers);
}

/* Adds the layer unless the vectors would be longer than the device lets one be. */
static void add_layer(struct group *g, struct layer *layer)
{
    const struct glcnn_device *device = g->recording->graph->device;
    size_t size = g->size + buffer_merged_size(layer->vectors[STEP_VALUES], layer->count);
    if (size > device->info.limits.storage_block_size)
        return;
    g->size = size;
    g->layers[g->layer_count++] = layer;
}

static void add_vectors(struct group *g, bool decays)
{
    for (size_t i = 0; i < g->layer_count; i++)
        for (size_t p = 0; p < g->layers[i]->count; p++) {
            if (g->layers[i]->decays[p] != decays)
                continue;
            for (int role = 0; role < STEP_ROLES; role++)
                g->vectors[role][g->vector_count] = g->layers[i]->vectors[role][p];
            g->vector_count++;
        }
}

/* The vectors of all layers, first those that decay. */
static void gather_vectors(struct group *g)
{
    add_vectors(g, true);
    g->decayed = buffer_merged_size(g->vectors[STEP_VALUES], g->vector_count);
    add_vectors(g, false);
}

/* *done: the vectors of every kind lie beside each other. */
static glcnn_status lay_vectors(struct group *g, bool *done)
{
    glcnn_status status = GLCNN_SUCCESS;
    *done = true;
    for (int role = 0; role < STEP_ROLES && *done && status == GLCNN_SUCCESS; role++) {
        if (!g->vectors[role][0])
            continue;
        status = buffer_merge(g->vectors[role], g->vector_count, &g->memory[role]);
        *done = g->memory[role];
    }
    return status;
}

/* What will be read is sealed, as by any step: gradients encoded from then on start over. */
static void add_step(struct group *g, struct glcnn_kernel **optimizers)
{
    struct recording *r = g->recording;
    struct multi_tensor_steps *steps = &r->multi_tensor_steps;
    struct multi_tensor_step *step = &steps->items[steps->count++];
    for (size_t i = 0; i < g->layer_count; i++) {
        struct layer *layer = g->layers[i];
        layer->taken = r->stepped[layer->filter] = true;
        optimizers[i] = kernel_retain(layer->optimizer);
        for (size_t p = 0; p < layer->count; p++)
            layer->gradients[p]->sealed = true;
    }
    *step = (struct multi_tensor_step){.optimizers = optimizers,
                                       .count = g->layer_count,
                                       .decays_weights_only = decays_weights_only(optimizers[0]),
                                       .decayed = g->decayed / sizeof(float)};
    memcpy(step->vectors, g->memory, sizeof step->vectors);
    memset(g->memory, 0, sizeof g->memory);
}

static glcnn_status make_step(struct group *g)
{
    bool done;
    glcnn_status status = lay_vectors(g, &done);
    if (status != GLCNN_SUCCESS || !done)
        return status;
    struct glcnn_kernel **optimizers = calloc(g->layer_count, sizeof(*optimizers));
    if (!optimizers)
        return device_fail(g->recording->graph->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory recording a step");
    add_step(g, optimizers);
    return GLCNN_SUCCESS;
}

/* The first layer and all behind it whose optimizers are set alike. A single vector needs no
 * multi-tensor step. */
static glcnn_status group_layers(struct recording *r, struct layer *first, size_t count)
{
    struct group g = {.recording = r};
    glcnn_status status = GLCNN_SUCCESS;
    if (!allocate(&g, count))
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        if (!first[i].taken && are_alike(first->optimizer, first[i].optimizer))
            add_layer(&g, &first[i]);
    gather_vectors(&g);
    if (status == GLCNN_SUCCESS && g.vector_count > 1)
        status = make_step(&g);
    release(&g);
    return status;
}

/* ---- All of them ---- */

glcnn_status multi_tensor_steps_find(struct recording *r)
{
    size_t filters = r->graph->filter_count, count = 0;
    struct layer *layers = calloc(filters + 1, sizeof *layers);
    glcnn_status status = GLCNN_SUCCESS;
    r->multi_tensor_steps.items = calloc(filters + 1, sizeof *r->multi_tensor_steps.items);
    if (!layers || !r->multi_tensor_steps.items)
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < filters && status == GLCNN_SUCCESS; i++) {
        layers[count] = layer_of(r, i);
        count += layers[count].count > 0;
    }
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        if (!layers[i].taken)
            status = group_layers(r, &layers[i], count - i);
    free(layers);
    return status;
}

glcnn_status multi_tensor_steps_record(const struct multi_tensor_steps *steps,
                                       struct glcnn_command_buffer *command_buffer)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < steps->count && status == GLCNN_SUCCESS; i++) {
        const struct multi_tensor_step *step = &steps->items[i];
        struct glcnn_kernel *first = step->optimizers[0];
        status = first->descriptor->optimizer->encode_vectors(
            command_buffer, first, step->vectors[STEP_GRADIENTS], step->vectors[STEP_VALUES],
            step->vectors[STEP_FIRST], step->vectors[STEP_SECOND], step->decayed);
    }
    return status;
}

bool multi_tensor_steps_are_alike(const struct multi_tensor_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct multi_tensor_step *step = &steps->items[i];
        if (decays_weights_only(step->optimizers[0]) != step->decays_weights_only)
            return false;
        for (size_t k = 1; k < step->count; k++)
            if (!are_alike(step->optimizers[0], step->optimizers[k]))
                return false;
    }
    return true;
}

void multi_tensor_steps_advance(const struct multi_tensor_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct glcnn_kernel *first = steps->items[i].optimizers[0];
        for (size_t k = 1; k < steps->items[i].count; k++)
            memcpy(steps->items[i].optimizers[k]->parameters, first->parameters,
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

glcnn_status multi_tensor_steps_clear(const struct multi_tensor_steps *steps)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < steps->count && status == GLCNN_SUCCESS; i++)
        status = clear(steps->items[i].vectors[STEP_GRADIENTS]);
    return status;
}

static void release_step(struct multi_tensor_step *step)
{
    for (size_t i = 0; i < step->count; i++)
        glcnn_kernel_destroy(&step->optimizers[i]);
    free(step->optimizers);
    for (int role = 0; role < STEP_ROLES; role++)
        glcnn_buffer_destroy(&step->vectors[role]);
}

void multi_tensor_steps_free(struct multi_tensor_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++)
        release_step(&steps->items[i]);
    free(steps->items);
}
