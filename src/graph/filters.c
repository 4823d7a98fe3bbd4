/* From nodes to the filters that a graph runs: what is reached, what is needed, what is fused. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

/* ---- What results depend on ---- */

/* A filter whose dependences are being walked, and which of them is next. */
struct visit {
    struct glcnn_filter_node *filter;
    size_t next;
};

/* Depth first with a stack of its own: networks may be deeper than the thread's. */
struct walk {
    bool *filters, *images; /* of the network, by index: reached */
    struct glcnn_image_node **sources;
    size_t source_count;
    struct visit *stack; /* [filters of the network] */
    size_t depth;
};

static void enter_filter(struct walk *walk, struct glcnn_filter_node *filter)
{
    if (walk->filters[filter->index])
        return;
    walk->filters[filter->index] = true;
    walk->stack[walk->depth++] = (struct visit){filter, 0};
}

static void enter_image(struct walk *walk, struct glcnn_image_node *image)
{
    if (walk->images[image->index])
        return;
    walk->images[image->index] = true;
    if (image->filter)
        enter_filter(walk, image->filter);
    else
        walk->sources[walk->source_count++] = image;
}

/* A filter's dependences are its sources, then the filters whose states it takes. */
static void walk_from(struct walk *walk, struct glcnn_image_node *image)
{
    enter_image(walk, image);
    while (walk->depth) {
        struct visit *at = &walk->stack[walk->depth - 1];
        struct glcnn_filter_node *filter = at->filter;
        size_t next = at->next++;
        if (next < filter->source_count)
            enter_image(walk, filter->sources[next]);
        else if (next == filter->source_count && filter->forward)
            enter_filter(walk, filter->forward);
        else if (next == filter->source_count + 1 && filter->source_state)
            enter_filter(walk, filter->source_state->filter);
        else if (next > filter->source_count + 1)
            walk->depth--;
    }
}

static bool list_filters(struct glcnn_graph *graph, const struct walk *walk)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->network->filter_count; i++)
        count += walk->filters[i];
    graph->filters = calloc(count + 1, sizeof *graph->filters);
    if (!graph->filters)
        return false;
    for (struct glcnn_filter_node *n = graph->network->filters; n; n = n->next)
        if (walk->filters[n->index])
            graph->filters[graph->filter_count++].node = n;
    return true;
}

static bool walk_all(struct glcnn_graph *graph)
{
    const struct glcnn_network *network = graph->network;
    struct walk walk = {.filters = calloc(network->filter_count + 1, sizeof *walk.filters),
                        .images = calloc(network->image_count + 1, sizeof *walk.images),
                        .sources = calloc(network->image_count + 1, sizeof(*walk.sources)),
                        .stack = calloc(network->filter_count + 1, sizeof *walk.stack)};
    bool good = walk.filters && walk.images && walk.sources && walk.stack;
    for (size_t i = 0; good && i < graph->result_count; i++)
        walk_from(&walk, graph->results[i]);
    good = good && list_filters(graph, &walk);
    free(walk.filters);
    free(walk.images);
    free(walk.stack);
    graph->sources = walk.sources;
    graph->source_count = walk.source_count;
    graph->source_descriptors = calloc(walk.source_count + 1, sizeof *graph->source_descriptors);
    return good && graph->source_descriptors;
}

size_t graph_find_filter(const struct glcnn_graph *graph, const struct glcnn_filter_node *node)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (graph->filters[i].node == node)
            return i;
    return SIZE_MAX;
}

const struct glcnn_image_node *graph_filter_result(const struct graph_filter *f)
{
    return f->fused ? f->fused->result : f->node->result;
}

/* ---- What is needed ---- */

/* A gradient node updates weights if its data source has a callback for that. */
static bool updates(const struct glcnn_filter_node *node)
{
    const struct glcnn_filter_node *forward = node->forward;
    const struct glcnn_data_source *source =
        forward ? glcnn_kernel_data_source(forward->kernel) : NULL;
    if (!source || !filter_has_weights(forward))
        return false;
    if (forward->style == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
        return source->update || source->update_statistics;
    return forward->style == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU &&
           (source->update_cpu || source->update_statistics_cpu);
}

/* Exported gradients of weights are as good a reason as an update. */
static bool wants_weights(const struct glcnn_filter_node *node)
{
    const struct glcnn_filter_node *forward = node->forward;
    return updates(node) || (forward && filter_has_weights(forward) &&
                             forward->style != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE &&
                             forward->state.export_from_graph);
}

static bool collects(const struct graph_filter *filter)
{
    const struct glcnn_kernel *kernel = filter->node->kernel;
    const struct glcnn_descriptor *d = kernel->descriptor;
    bool wanted = d->flags & IS_GRADIENT ? filter->updates : filter->makes_state;
    return filter->node->collector && (!d->collects || d->collects(kernel->parameters, wanted));
}

/* From the last filter to the first: a filter runs if its image is read by one that runs, or is
 * wanted, or if it updates weights. */
static void find_needs(struct glcnn_graph *graph)
{
    bool *read = graph->wanted; /* grows to what is read; restored to what is wanted below */
    for (size_t i = graph->filter_count; i-- > 0;) {
        struct graph_filter *f = &graph->filters[i];
        f->makes_result = read[f->node->result->index];
        f->makes_loss = f->node->loss && read[f->node->loss->index];
        f->updates = wants_weights(f->node);
        f->makes_state |= f->node->state.export_from_graph;
        f->skipped = !f->makes_result && !f->makes_loss && !f->updates && !f->makes_state;
        if (f->skipped)
            continue;
        for (size_t s = 0; s < f->node->source_count; s++)
            read[f->node->sources[s]->index] = true;
        if (f->node->forward)
            graph->filters[graph_find_filter(graph, f->node->forward)].makes_state = true;
        if (f->node->source_state)
            graph->filters[graph_find_filter(graph, f->node->source_state->filter)].makes_state =
                true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < graph->filter_count; i++) {
        struct graph_filter f = graph->filters[i];
        if (f.skipped)
            continue;
        if (!(f.node->kernel->descriptor->flags & MAKES_STATE))
            f.makes_state = false;
        f.collects = collects(&f);
        if (f.collects && !(f.node->kernel->descriptor->flags & IS_GRADIENT))
            f.makes_state = true; /* where the collector leaves what it finds */
        graph->filters[kept++] = f;
    }
    graph->filter_count = kept;
}

/* Losses that share a filter have a gradient node of it each. */
static void mark_repeats(struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        struct graph_filter *f = &graph->filters[i];
        if (!f->node->forward)
            continue;
        struct graph_filter *forward = &graph->filters[graph_find_filter(graph, f->node->forward)];
        f->repeats = forward->has_gradient;
        forward->has_gradient = true;
    }
}

/* Nodes that share a kernel are few: most have one of their own, and look no further. */
static void find_users(struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        struct graph_filter *f = &graph->filters[i];
        f->user = i;
        for (size_t k = 0; f->node->shared_with && k < i && f->user == i; k++)
            if (graph->filters[k].node->kernel == f->node->kernel)
                f->user = k;
        f->shares = f->user != i;
        graph->filters[f->user].shares |= f->shares;
    }
}

static void mark_wanted(struct glcnn_graph *graph)
{
    memset(graph->wanted, 0, graph->image_count * sizeof *graph->wanted);
    for (const struct glcnn_image_node *n = graph->network->images; n; n = n->next)
        graph->wanted[n->index] = n->export_from_graph && n->filter;
    for (size_t i = 0; i < graph->result_count; i++)
        if (graph->result_is_needed[i])
            graph->wanted[graph->results[i]->index] = true;
}

/* Sources that only dropped filters read are no sources. */
static void keep_read_sources(struct glcnn_graph *graph, const bool *read)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->source_count; i++)
        if (read[graph->sources[i]->index])
            graph->sources[kept++] = graph->sources[i];
    graph->source_count = kept;
}

/* ---- Fusion ---- */

/* The one filter of the graph that reads the image; NULL: none or several. */
static struct graph_filter *only_reader(struct glcnn_graph *graph,
                                        const struct glcnn_image_node *image)
{
    struct graph_filter *reader = NULL;
    for (size_t i = 0; i < graph->filter_count; i++)
        for (size_t s = 0; s < graph->filters[i].node->source_count; s++)
            if (graph->filters[i].node->sources[s] == image) {
                if (reader)
                    return NULL;
                reader = &graph->filters[i];
            }
    return reader;
}

/* Is the neuron one that another kernel can compute, and applied to the whole image, pixel for
 * pixel? */
static bool is_plain_neuron(const struct glcnn_filter_node *node)
{
    const struct glcnn_kernel *kernel = node->kernel;
    const struct glcnn_descriptor *d = kernel->descriptor;
    struct glcnn_addressing defaults;
    double unused[MAX_PARAMETER_BYTES / sizeof(double)];
    if (!(d->flags & IS_NEURON) || d->neuron(kernel->parameters).has_slopes)
        return false;
    properties_set_defaults(d, &defaults, unused);
    return memcmp(&defaults, &kernel->properties, sizeof defaults) == 0;
}

/* Can the kernel compute a neuron behind what it does? */
static bool has_room_for_neuron(const struct glcnn_kernel *kernel)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    return d->neuron && !(d->flags & IS_NEURON) && !d->neuron(kernel->parameters).present;
}

/* Only rounding to the storage between the two is left out. A filter with a state has a gradient,
 * which wants the image between. */
static void fuse_neurons(struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        struct graph_filter *f = &graph->filters[i];
        if (f->makes_state || graph->wanted[f->node->result->index] ||
            !has_room_for_neuron(f->node->kernel))
            continue;
        struct graph_filter *reader = only_reader(graph, f->node->result);
        if (!reader || reader->makes_state || !is_plain_neuron(reader->node))
            continue;
        f->fused = reader->node;
        reader->skipped = true;
    }
}

/* ---- The whole ---- */

bool graph_list_filters(struct glcnn_graph *graph)
{
    if (!walk_all(graph))
        return false;
    mark_wanted(graph);
    find_needs(graph);
    mark_repeats(graph);
    find_users(graph);
    keep_read_sources(graph, graph->wanted);
    mark_wanted(graph);
    fuse_neurons(graph);
    return true;
}

/* Gradients of weights are added up over the parts only in a state that is one for the whole
 * batch. */
static bool filter_can_be_split(const struct graph_filter *filter)
{
    const struct glcnn_filter_node *forward = filter->node->forward;
    bool sums = !filter->updates || forward->kernel->descriptor->flags & SHARED_STATE;
    return sums && !(filter->node->kernel->descriptor->flags & DRAWS_RANDOM);
}

bool graph_keeps_images(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (graph->filters[i].node->kernel->descriptor->results)
            return false;
    return true;
}

bool graph_can_be_split(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (!filter_can_be_split(&graph->filters[i]))
            return false;
    return graph_keeps_images(graph);
}
