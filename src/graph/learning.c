/* Can every layer learn? One whose weights are all zero does, unless it reads zeros, or zeros are
 * all that reaches it of the gradient, and other layers of zeros keep it so: two in a row never
 * change. What is zero, and what becomes something else in a step, is followed through the graph
 * until nothing changes any more. In doubt an image counts as something else than zero. */
#include <stdlib.h>

#include "glcnn/training.h"
#include "device/buffer.h"
#include "graph/graph.h"

/* A layer that the graph trains, by its filter. */
struct layer {
    bool trained;
    bool no_factor, no_term; /* weights or gamma, biases or beta: are all zero */
};

struct learning {
    const struct glcnn_graph *graph;
    struct layer *layers; /* [filters]; those of the first with a kernel count */
    bool *zero;           /* [images]: holds nothing but zeros */
    bool changed;
};

/* ---- Vectors ---- */

/* What a pass has written may be anything, and is not read: that would wait for the device. */
static bool is_zero(const struct glcnn_kernel *kernel, const char *name)
{
    int argument = kernel_kept_argument(kernel, name);
    if (argument < 0)
        return true;
    const struct glcnn_buffer *vector = kernel->vectors[argument];
    return vector ? buffer_is_zeros(vector) : kernel->descriptor->arguments[argument].neutral == 0;
}

/* Slopes of neurons are left alone: what they make of zeros or not is in no vector by itself. */
static struct layer layer_of(const struct glcnn_kernel *kernel)
{
    struct layer layer = {.no_factor = true, .no_term = true};
    for (const struct trained_vector *v = trained_vectors; v->name; v++) {
        if (trained_argument(kernel, v->name) < 0 || kernel->descriptor->flags & IS_NEURON)
            continue;
        layer.trained = true;
        *(v->place ? &layer.no_term : &layer.no_factor) &= is_zero(kernel, v->name);
    }
    return layer;
}

/* Of a forward filter: nodes that share a kernel are one layer. */
static struct layer *layer_at(const struct learning *l, size_t filter)
{
    return &l->layers[l->graph->filters[filter].user];
}

/* What another's data source, or nobody, updates may become anything. */
static void look_at_layers(struct learning *l)
{
    for (size_t i = 0; i < l->graph->filter_count; i++) {
        const struct graph_filter *f = &l->graph->filters[i];
        const struct glcnn_filter_node *forward = f->node->forward;
        if (!f->updates || f->repeats || !glcnn_kernel_optimizer(forward->kernel) ||
            forward->style != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
            continue;
        *layer_at(l, graph_find_filter(l->graph, forward)) = layer_of(forward->kernel);
    }
}

/* ---- One step ---- */

/* Does the filter make zeros of zeros, its vectors apart? A normalisation by statistics of its own
 * does not. */
static bool keeps_zero(const struct graph_filter *f)
{
    const struct glcnn_kernel *kernel = f->node->kernel;
    const struct glcnn_descriptor *d = kernel->descriptor;
    return d->keeps_zero && d->keeps_zero(kernel->parameters) &&
           (!d->neuron || d->neuron(kernel->parameters).keeps_zero) &&
           (!d->collector || f->collects);
}

static bool reads_zeros(const struct learning *l, const struct glcnn_filter_node *node)
{
    size_t i = 0;
    while (i < node->source_count && l->zero[node->sources[i]->index])
        i++;
    return i == node->source_count;
}

static bool makes_zeros(const struct learning *l, const struct graph_filter *f,
                        const struct layer *layer)
{
    if (!keeps_zero(f) || (filter_has_weights(f->node) && !layer->trained))
        return false;
    return layer->trained ? layer->no_term && (layer->no_factor || reads_zeros(l, f->node))
                          : reads_zeros(l, f->node);
}

static void clear(struct learning *l, bool *zero)
{
    l->changed |= *zero;
    *zero = false;
}

/* A gradient's first source is the gradient that arrives. */
static void learn(struct learning *l, const struct graph_filter *f)
{
    const struct glcnn_filter_node *forward = f->node->forward;
    struct layer *layer = layer_at(l, graph_find_filter(l->graph, forward));
    bool arrives = !l->zero[f->node->sources[0]->index];
    l->zero[f->node->result->index] = !arrives || (layer->trained && layer->no_factor);
    if (!layer->trained || !f->updates || !arrives)
        return;
    clear(l, &layer->no_term);
    if (!reads_zeros(l, forward))
        clear(l, &layer->no_factor);
}

static void step(struct learning *l)
{
    l->changed = false;
    for (size_t i = 0; i < l->graph->filter_count; i++) {
        const struct graph_filter *f = &l->graph->filters[i];
        if (f->node->forward)
            learn(l, f);
        else
            l->zero[f->node->result->index] = makes_zeros(l, f, layer_at(l, i));
    }
}

/* ---- The graph ---- */

static glcnn_status refuse_zeros(const struct glcnn_graph *graph,
                                 const struct glcnn_filter_node *node)
{
    return device_fail(graph->device, GLCNN_INVALID_STATE,
                       "glcnn_graph_execute: %s (%s) could never learn: all of its weights are "
                       "zero, and zeros of other layers keep them so; begin with other weights, "
                       "as glcnn_network_initialise draws them",
                       node->label, node->kernel->descriptor->name);
}

static glcnn_status check(struct learning *l)
{
    look_at_layers(l);
    do
        step(l);
    while (l->changed);
    for (size_t i = 0; i < l->graph->filter_count; i++)
        if (l->layers[i].trained && l->layers[i].no_factor)
            return refuse_zeros(l->graph, l->graph->filters[i].node);
    return GLCNN_SUCCESS;
}

glcnn_status graph_check_learning(const struct glcnn_graph *graph)
{
    struct learning l = {.graph = graph,
                         .layers = calloc(graph->filter_count + 1, sizeof *l.layers),
                         .zero = calloc(graph->image_count + 1, sizeof *l.zero)};
    glcnn_status status = l.layers && l.zero ? check(&l)
                                             : device_fail(graph->device, GLCNN_OUT_OF_MEMORY,
                                                           "out of memory executing a graph");
    free(l.layers);
    free(l.zero);
    return status;
}
