/* Multi-tensor averages: one pass for the running averages of all layers that normalise batches. The
 * statistics of a batch lie beside each other in one buffer, their averages in another. */
#include <stdlib.h>

#include "glcnn/training.h"
#include "graph/update.h"

/* Layers of the pass, before it is recorded. */
struct group {
    struct recording *recording;
    struct multi_tensor_averages averages;
    size_t *filters;
};

static bool allocate(struct group *g)
{
    size_t filters = g->recording->graph->filter_count + 1;
    struct multi_tensor_averages *a = &g->averages;
    a->kernels = calloc(filters, sizeof(*a->kernels));
    a->batch = calloc(2 * filters, sizeof(*a->batch));
    a->running = calloc(2 * filters, sizeof(*a->running));
    g->filters = calloc(filters, sizeof *g->filters);
    return a->kernels && a->batch && a->running && g->filters;
}

static void release(struct group *g)
{
    struct multi_tensor_averages *a = &g->averages;
    for (size_t i = 0; i < a->count; i++)
        glcnn_kernel_destroy(&a->kernels[i]);
    glcnn_buffer_destroy(&a->batch_memory);
    glcnn_buffer_destroy(&a->running_memory);
    free(a->kernels);
    free(a->batch);
    free(a->running);
    free(g->filters);
}

/* The filter that gives its kernel statistics; SIZE_MAX: none does, or several, each after the
 * other. */
static size_t only_filter(const struct glcnn_graph *graph, const struct graph_filter *leader)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < graph->filter_count; i++) {
        if (!update_gives_statistics(graph, leader, i))
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

static glcnn_status add_layer(struct group *g, const struct graph_filter *leader)
{
    struct recording *r = g->recording;
    struct multi_tensor_averages *a = &g->averages;
    size_t filter = only_filter(r->graph, leader);
    if (filter == SIZE_MAX || !training_averages(leader->node->forward->kernel))
        return GLCNN_SUCCESS;
    struct average average;
    glcnn_status status =
        training_average(leader->node->forward->kernel, recording_state(r, filter, 0, 0), &average);
    if (status != GLCNN_SUCCESS)
        return status;
    g->filters[a->count] = filter;
    a->kernels[a->count] = average.kernel;
    a->batch[2 * a->count] = average.mean;
    a->batch[2 * a->count + 1] = average.variance;
    a->running[2 * a->count] = average.running_mean;
    a->running[2 * a->count + 1] = average.running_variance;
    a->count++;
    return GLCNN_SUCCESS;
}

/* Where some already lie elsewhere, each layer has a pass of its own. */
static glcnn_status record(struct group *g)
{
    struct multi_tensor_averages *a = &g->averages;
    const struct averager_methods *methods = a->kernels[0]->descriptor->averages;
    glcnn_status status = buffer_merge(a->batch, 2 * a->count, &a->batch_memory);
    if (status == GLCNN_SUCCESS)
        status = buffer_merge(a->running, 2 * a->count, &a->running_memory);
    if (status != GLCNN_SUCCESS || !a->batch_memory || !a->running_memory)
        return status;
    status = methods->encode_multi_tensor(g->recording->command_buffer, a);
    for (size_t i = 0; i < a->count; i++)
        g->recording->averaged[g->filters[i]] = status == GLCNN_SUCCESS;
    return status;
}

static bool fits(const struct multi_tensor_averages *a, const struct glcnn_limits *limits)
{
    size_t size = buffer_merged_size(a->batch, 2 * a->count);
    return 2 * size <= limits->storage_block_size; /* the pass has two numbers for each element */
}

glcnn_status multi_tensor_averages_record(struct recording *r)
{
    struct group g = {.recording = r};
    glcnn_status status = GLCNN_SUCCESS;
    if (!allocate(&g))
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        if (update_leads(r->graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
            status = add_layer(&g, f);
    }
    if (status == GLCNN_SUCCESS && g.averages.count > 1 &&
        fits(&g.averages, &r->graph->device->info.limits))
        status = record(&g);
    release(&g);
    return status;
}
