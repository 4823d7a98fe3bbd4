/* From losses to a graph that trains: the gradient nodes, the optimizers and the graph in one. */
#include <stdlib.h>

#include "glcnn/training.h"
#include "graph/graph.h"

/* What is made on the way, to be taken back when it comes to nothing. */
struct making {
    struct glcnn_filter_node *const *losses;
    size_t loss_count;
    struct glcnn_network *network;
    struct network_mark mark;
    struct glcnn_kernel **trained; /* those that this call lets train */
    size_t trained_count;
    struct glcnn_filter_node **ends; /* of the gradient nodes */
    size_t end_count;
    struct glcnn_image_node **results; /* the losses, the user's, those of the ends */
    bool *needed;
    size_t result_count; /* of the first two kinds */
};

/* About one of the losses. */
static glcnn_status fail_at(const struct making *m, size_t loss, const char *text)
{
    return device_fail(m->network->device, GLCNN_INVALID_ARGUMENT,
                       "glcnn_training_graph_create: %s (%s): %s", m->losses[loss]->label,
                       m->losses[loss]->kernel->descriptor->name, text);
}

static glcnn_status fail(const struct making *m, const char *text)
{
    return fail_at(m, 0, text);
}

/* Every source has a gradient node at most, and a node that adds its gradient to others. A loss has
 * the latter alone. */
static size_t most_ends(const struct glcnn_network *network)
{
    size_t sources = 0;
    for (const struct glcnn_filter_node *n = network->filters; n; n = n->next)
        sources += n->source_count;
    return 2 * sources;
}

static bool allocate(struct making *m, const struct glcnn_graph_descriptor *descriptor)
{
    size_t ends = most_ends(m->network);
    m->result_count = m->loss_count + (descriptor ? descriptor->result_count : 0);
    m->trained = calloc(m->network->filter_count, sizeof(*m->trained));
    m->ends = calloc(ends, sizeof(*m->ends));
    m->results = calloc(m->result_count + ends, sizeof(*m->results));
    m->needed = calloc(m->result_count + ends, sizeof *m->needed);
    return m->trained && m->ends && m->results && m->needed;
}

static glcnn_status make_gradients(struct making *m)
{
    const struct training_ends losses = {m->losses, m->loss_count, NULL};
    m->end_count = training_graph_make(&losses, NULL, NULL, m->ends, most_ends(m->network));
    if (m->end_count)
        return GLCNN_SUCCESS;
    return m->network->status != GLCNN_SUCCESS ? m->network->status : GLCNN_INVALID_ARGUMENT;
}

/* Layers that have a gradient node of these losses and nobody yet who updates them. */
static glcnn_status train_layers(struct making *m, struct glcnn_kernel *optimizer)
{
    const struct glcnn_training_descriptor descriptor = {.optimizer = optimizer};
    uint32_t *channels = NULL;
    glcnn_status status = network_channels(m->network, &channels);
    for (struct glcnn_filter_node *n = *m->mark.last_filter;
         optimizer && n && status == GLCNN_SUCCESS; n = n->next) {
        struct glcnn_filter_node *layer = n->forward;
        if (!layer || !filter_has_weights(layer) || glcnn_kernel_data_source(layer->kernel) ||
            layer->style != GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
            continue;
        status = filter_train(layer, &descriptor, channels);
        if (status == GLCNN_SUCCESS)
            m->trained[m->trained_count++] = layer->kernel;
    }
    free(channels);
    return status;
}

static void list_results(struct making *m, const struct glcnn_graph_descriptor *descriptor)
{
    for (size_t i = 0; i < m->loss_count; i++) {
        m->results[i] = m->losses[i]->loss;
        m->needed[i] = true;
    }
    for (size_t i = m->loss_count, own = 0; i < m->result_count; i++, own++) {
        m->results[i] = descriptor->results[own];
        m->needed[i] = !descriptor->result_is_needed || descriptor->result_is_needed[own];
    }
    for (size_t i = 0; i < m->end_count; i++)
        m->results[m->result_count + i] = m->ends[i]->result;
}

static bool updates_weights(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (graph->filters[i].updates)
            return true;
    return false;
}

/* The ends serve to reach what updates weights; they are no results that the user knows. */
static glcnn_status make_graph(struct making *m, const struct glcnn_graph_descriptor *descriptor,
                               glcnn_graph **graph)
{
    struct glcnn_graph_descriptor all =
        descriptor ? *descriptor : (struct glcnn_graph_descriptor){0};
    list_results(m, descriptor);
    all.results = m->results;
    all.result_is_needed = m->needed;
    all.result_count = m->result_count + m->end_count;
    glcnn_status status = glcnn_graph_create(m->network, &all, graph);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!updates_weights(*graph)) {
        glcnn_graph_destroy(graph);
        return fail(m, "no layer that it depends on would be trained: none has weights, or none "
                       "has a data source where there is no optimizer");
    }
    (*graph)->result_count = m->result_count;
    return GLCNN_SUCCESS;
}

static glcnn_status check_losses(const struct making *m)
{
    for (size_t i = 0; i < m->loss_count; i++) {
        if (!m->losses[i]->loss)
            return fail_at(m, i, "it is no loss");
        if (m->losses[i]->network != m->network)
            return fail_at(m, i, "it is a node of another network than the first loss");
        for (size_t k = 0; k < i; k++)
            if (m->losses[k] == m->losses[i])
                return fail_at(m, i, "it is given twice; set the weight of its kernel instead");
    }
    return GLCNN_SUCCESS;
}

static glcnn_status make(struct making *m, struct glcnn_kernel *optimizer,
                         const struct glcnn_graph_descriptor *descriptor, glcnn_graph **graph)
{
    glcnn_status status = check_losses(m);
    if (status != GLCNN_SUCCESS)
        return status;
    if (optimizer && !optimizer->descriptor->optimizer)
        return fail(m, "the optimizer is another kernel; glcnn/kernels/optimizer.h has those "
                       "that serve");
    if (descriptor && descriptor->result_count && !descriptor->results)
        return fail(m, "the descriptor counts results and has none");
    if (!allocate(m, descriptor))
        return device_fail(m->network->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory making a training graph");
    status = make_gradients(m);
    if (status == GLCNN_SUCCESS)
        status = train_layers(m, optimizer);
    return status == GLCNN_SUCCESS ? make_graph(m, descriptor, graph) : status;
}

static void take_back(struct making *m)
{
    for (size_t i = 0; i < m->trained_count; i++)
        glcnn_kernel_set_data_source(m->trained[i], NULL);
    network_cut(m->network, &m->mark);
}

static bool all_given(glcnn_filter_node *const *losses, size_t count)
{
    size_t given = 0;
    while (losses && given < count && losses[given])
        given++;
    return given && given == count;
}

glcnn_status glcnn_training_graph_create_with_losses(
    glcnn_filter_node *const *losses, size_t loss_count, glcnn_kernel *optimizer,
    const struct glcnn_graph_descriptor *descriptor, glcnn_graph **graph)
{
    if (graph)
        *graph = NULL;
    if (!all_given(losses, loss_count))
        return GLCNN_INVALID_ARGUMENT;
    struct glcnn_network *network = losses[0]->network;
    struct making m = {.losses = losses,
                       .loss_count = loss_count,
                       .network = network,
                       .mark = network_mark(network)};
    if (!graph)
        return fail(&m, "graph is NULL");
    glcnn_status status = glcnn_network_status(network);
    if (status != GLCNN_SUCCESS)
        return status;
    status = make(&m, optimizer, descriptor, graph);
    if (status != GLCNN_SUCCESS)
        take_back(&m);
    free(m.trained);
    free(m.ends);
    free(m.results);
    free(m.needed);
    return status;
}

glcnn_status glcnn_training_graph_create(glcnn_filter_node *loss, glcnn_kernel *optimizer,
                                         const struct glcnn_graph_descriptor *descriptor,
                                         glcnn_graph **graph)
{
    return glcnn_training_graph_create_with_losses(&loss, 1, optimizer, descriptor, graph);
}
