/* One pass for the running averages of all layers that normalise batches. What a batch gave them
 * lies together in one buffer, their averages in another. */
#include <stdlib.h>

#include "glcnn/training.h"
#include "graph/graph.h"

/* Layers on their way into one pass. */
struct joining {
    struct recording *recording;
    struct joint_averages averages;
    size_t *filters;
};

static bool allocate(struct joining *j)
{
    size_t filters = j->recording->graph->filter_count + 1;
    struct joint_averages *a = &j->averages;
    a->kernels = calloc(filters, sizeof(*a->kernels));
    a->batch = calloc(2 * filters, sizeof(*a->batch));
    a->running = calloc(2 * filters, sizeof(*a->running));
    j->filters = calloc(filters, sizeof *j->filters);
    return a->kernels && a->batch && a->running && j->filters;
}

static void release(struct joining *j)
{
    struct joint_averages *a = &j->averages;
    for (size_t i = 0; i < a->count; i++)
        glcnn_kernel_destroy(&a->kernels[i]);
    glcnn_buffer_destroy(&a->joined_batch);
    glcnn_buffer_destroy(&a->joined_running);
    free(a->kernels);
    free(a->batch);
    free(a->running);
    free(j->filters);
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

static glcnn_status take_in(struct joining *j, const struct graph_filter *leader)
{
    struct recording *r = j->recording;
    struct joint_averages *a = &j->averages;
    size_t filter = only_filter(r->graph, leader);
    if (filter == SIZE_MAX || !training_averages(leader->node->forward->kernel))
        return GLCNN_SUCCESS;
    struct average average;
    glcnn_status status =
        training_average(leader->node->forward->kernel, recording_state(r, filter, 0, 0), &average);
    if (status != GLCNN_SUCCESS)
        return status;
    j->filters[a->count] = filter;
    a->kernels[a->count] = average.kernel;
    a->batch[2 * a->count] = average.mean;
    a->batch[2 * a->count + 1] = average.variance;
    a->running[2 * a->count] = average.running_mean;
    a->running[2 * a->count + 1] = average.running_variance;
    a->count++;
    return GLCNN_SUCCESS;
}

/* Where some lie otherwise already, each layer has a pass of its own. */
static glcnn_status record(struct joining *j)
{
    struct joint_averages *a = &j->averages;
    const struct averager_methods *methods = a->kernels[0]->descriptor->averages;
    glcnn_status status = buffer_merge(a->batch, 2 * a->count, &a->joined_batch);
    if (status == GLCNN_SUCCESS)
        status = buffer_merge(a->running, 2 * a->count, &a->joined_running);
    if (status != GLCNN_SUCCESS || !a->joined_batch || !a->joined_running)
        return status;
    status = methods->encode_joint(j->recording->command_buffer, a);
    for (size_t i = 0; i < a->count; i++)
        j->recording->averaged[j->filters[i]] = status == GLCNN_SUCCESS;
    return status;
}

static bool fits(const struct joint_averages *a, const struct glcnn_limits *limits)
{
    size_t size = buffer_merged_size(a->batch, 2 * a->count);
    return 2 * size <= limits->storage_block_size; /* the pass has two numbers for each element */
}

glcnn_status joint_averages_record(struct recording *r)
{
    struct joining j = {.recording = r};
    glcnn_status status = GLCNN_SUCCESS;
    if (!allocate(&j))
        status =
            device_fail(r->graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a step");
    for (size_t i = 0; i < r->graph->filter_count && status == GLCNN_SUCCESS; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        if (update_leads(r->graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
            status = take_in(&j, f);
    }
    if (status == GLCNN_SUCCESS && j.averages.count > 1 &&
        fits(&j.averages, &r->graph->device->info.limits))
        status = record(&j);
    release(&j);
    return status;
}
