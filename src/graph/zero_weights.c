/* Can every layer be trained? One whose weights are all zero can, unless it reads zeros, or zeros are
 * all that reaches it of the gradient, and other layers of zeros keep it so: two in a row never
 * change. What is zero, and what becomes nonzero in a step, is followed through the graph until
 * nothing changes any more. In doubt an image counts as nonzero. */
#include <stdlib.h>

#include "glcnn/training.h"
#include "device/buffer.h"
#include "graph/graph.h"

/* A layer that the graph trains, by its filter. */
struct layer {
    bool trained;
    bool factors_zero, terms_zero; /* weights or gamma; biases or beta */
};

struct search {
    const struct glcnn_graph *graph;
    struct layer *layers; /* [filters]; those of the first with a kernel count */
    bool *zero;           /* [images]: holds nothing but zeros */
    bool changed;
};

/* ---- Vectors ---- */

/* What a pass has written counts as nonzero: reading it would wait for the device. */
static bool is_zero(const struct glcnn_kernel *kernel, const char *name)
{
    int argument = kernel_kept_argument(kernel, name);
    if (argument < 0)
        return true;
    const struct glcnn_buffer *vector = kernel->vectors[argument];
    return vector ? buffer_is_zeros(vector) : kernel->descriptor->arguments[argument].neutral == 0;
}

/* Without slopes of neurons, which do not say by themselves what is made of zeros, and without what
 * learns from zeros: values that multiply nothing. */
static struct layer layer_of(const struct glcnn_kernel *kernel)
{
    struct layer layer = {.factors_zero = true, .terms_zero = true};
    for (const struct trained_vector *v = trained_vectors; v->name; v++) {
        if (trained_argument(kernel, v->name) < 0 ||
            kernel->descriptor->flags & (IS_NEURON | IGNORES_SOURCE))
            continue;
        layer.trained = true;
        *(v->place ? &layer.terms_zero : &layer.factors_zero) &= is_zero(kernel, v->name);
    }
    return layer;
}

/* Of a forward filter: nodes that share a kernel are one layer. */
static struct layer *layer_at(const struct search *s, size_t filter)
{
    return &s->layers[s->graph->filters[filter].user];
}

/* Only what an optimizer of this library updates: another's data source may write anything. */
static void find_layers(struct search *s)
{
    for (size_t i = 0; i < s->graph->filter_count; i++) {
        const struct graph_filter *f = &s->graph->filters[i];
        const struct glcnn_filter_node *forward = f->node->forward;
        if (!f->updates || f->repeats || !glcnn_kernel_optimizer(forward->kernel) ||
            forward->style != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
            continue;
        *layer_at(s, graph_find_filter(s->graph, forward)) = layer_of(forward->kernel);
    }
}

/* ---- One step ---- */

/* Does the filter make zeros of zeros, whatever its vectors hold? A normalisation by statistics of
 * its own does not. */
static bool keeps_zero(const struct graph_filter *f)
{
    const struct glcnn_kernel *kernel = f->node->kernel;
    const struct glcnn_descriptor *d = kernel->descriptor;
    return d->keeps_zero && d->keeps_zero(kernel->parameters) &&
           (!d->neuron || d->neuron(kernel->parameters).keeps_zero) &&
           (!d->collector || f->collects);
}

static bool reads_zeros(const struct search *s, const struct glcnn_filter_node *node)
{
    size_t i = 0;
    while (i < node->source_count && s->zero[node->sources[i]->index])
        i++;
    return i == node->source_count;
}

static bool makes_zeros(const struct search *s, const struct graph_filter *f,
                        const struct layer *layer)
{
    if (!keeps_zero(f) || (filter_has_weights(f->node) && !layer->trained))
        return false;
    return layer->trained ? layer->terms_zero && (layer->factors_zero || reads_zeros(s, f->node))
                          : reads_zeros(s, f->node);
}

static void clear(struct search *s, bool *zero)
{
    s->changed |= *zero;
    *zero = false;
}

/* A gradient's first source is the gradient that arrives. */
static void follow_gradient(struct search *s, const struct graph_filter *f)
{
    const struct glcnn_filter_node *forward = f->node->forward;
    struct layer *layer = layer_at(s, graph_find_filter(s->graph, forward));
    bool arrives = !s->zero[f->node->sources[0]->index];
    s->zero[f->node->result->index] = !arrives || (layer->trained && layer->factors_zero);
    if (!layer->trained || !f->updates || !arrives)
        return;
    clear(s, &layer->terms_zero);
    if (!reads_zeros(s, forward))
        clear(s, &layer->factors_zero);
}

static void follow_step(struct search *s)
{
    s->changed = false;
    for (size_t i = 0; i < s->graph->filter_count; i++) {
        const struct graph_filter *f = &s->graph->filters[i];
        if (f->node->forward)
            follow_gradient(s, f);
        else
            s->zero[f->node->result->index] = makes_zeros(s, f, layer_at(s, i));
    }
}

/* ---- The graph ---- */

static glcnn_status refuse_zeros(const struct glcnn_graph *graph,
                                 const struct glcnn_filter_node *node)
{
    return device_fail(graph->device, GLCNN_INVALID_STATE,
                       "glcnn_graph_execute: %s (%s) can never be trained: all of its weights are "
                       "zero, and zeros of other layers keep them so; begin with other weights, "
                       "as glcnn_network_initialise draws them",
                       node->label, node->kernel->descriptor->name);
}

static glcnn_status check(struct search *s)
{
    find_layers(s);
    do
        follow_step(s);
    while (s->changed);
    for (size_t i = 0; i < s->graph->filter_count; i++)
        if (s->layers[i].trained && s->layers[i].factors_zero)
            return refuse_zeros(s->graph, s->graph->filters[i].node);
    return GLCNN_SUCCESS;
}

glcnn_status graph_check_zero_weights(const struct glcnn_graph *graph)
{
    struct search s = {.graph = graph,
                       .layers = calloc(graph->filter_count + 1, sizeof *s.layers),
                       .zero = calloc(graph->image_count + 1, sizeof *s.zero)};
    glcnn_status status = s.layers && s.zero ? check(&s)
                                             : device_fail(graph->device, GLCNN_OUT_OF_MEMORY,
                                                           "out of memory executing a graph");
    free(s.layers);
    free(s.zero);
    return status;
}
