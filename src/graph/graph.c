/* The life of a graph, and what it says of itself. */
#include <stdlib.h>
#include <string.h>

#include "encode/number.h"
#include "graph/compile.h"
#include "graph/graph.h"
#include "graph/loss_scale.h"

/* ---- Making one ---- */

static glcnn_status check_descriptor(struct glcnn_network *network,
                                     const struct glcnn_graph_descriptor *descriptor)
{
    if (!descriptor || !descriptor->results || descriptor->result_count == 0)
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_create: there are no results");
    for (size_t i = 0; i < descriptor->result_count; i++) {
        const struct glcnn_image_node *node = descriptor->results[i];
        if (!node && network->error[0])
            return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                               "glcnn_graph_create: result %zu is NULL; the last node that was "
                               "refused: %s",
                               i, network->error);
        if (!node || node->network != network || !node->filter)
            return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                               "glcnn_graph_create: result %zu is %s", i,
                               !node          ? "NULL"
                               : node->filter ? "a node of another network"
                                              : "an input: no filter makes it");
    }
    if (descriptor->format != GLCNN_CHANNEL_FORMAT_NONE &&
        descriptor->format != GLCNN_CHANNEL_FORMAT_FLOAT32 &&
        descriptor->format != GLCNN_CHANNEL_FORMAT_FLOAT16)
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_create: format %d is neither float32 (4) nor float16 (3)",
                           (int)descriptor->format);
    if (!(descriptor->gradient_clip_norm >= 0))
        return device_fail(
            network->device, GLCNN_INVALID_ARGUMENT,
            "glcnn_graph_create: gradient_clip_norm is %s; it must be 0, for no "
            "clipping, or more",
            number_format((char[NUMBER_TEXT]){0}, (double)descriptor->gradient_clip_norm));
    return loss_scale_check(network->device, &descriptor->loss_scale);
}

static bool take_descriptor(struct glcnn_graph *graph,
                            const struct glcnn_graph_descriptor *descriptor)
{
    size_t count = descriptor->result_count;
    graph->results = calloc(count, sizeof(*graph->results));
    graph->result_is_needed = calloc(count, sizeof *graph->result_is_needed);
    graph->wanted = calloc(graph->image_count + 1, sizeof *graph->wanted);
    if (!graph->results || !graph->result_is_needed || !graph->wanted)
        return false;
    graph->result_count = count;
    memcpy(graph->results, descriptor->results, count * sizeof(*graph->results));
    for (size_t i = 0; i < count; i++)
        graph->result_is_needed[i] =
            !descriptor->result_is_needed || descriptor->result_is_needed[i];
    graph->format = descriptor->format ? descriptor->format : GLCNN_CHANNEL_FORMAT_FLOAT32;
    graph->memory_budget = descriptor->memory_budget;
    graph->gradient_clip_norm = descriptor->gradient_clip_norm;
    graph->group = descriptor->accumulate ? descriptor->accumulate : 1;
    loss_scale_set(graph, &descriptor->loss_scale);
    return true;
}

void glcnn_graph_destroy(glcnn_graph **graph)
{
    if (!graph || !*graph)
        return;
    glcnn_graph *old = *graph;
    *graph = NULL;
    if (old->pending)
        glcnn_graph_wait(old);
    compiled_free_all(old);
    free(old->filters);
    free(old->sources);
    free(old->source_descriptors);
    free(old->results);
    free(old->result_is_needed);
    free(old->wanted);
    device_unreference(old->device);
    free(old);
}

glcnn_status glcnn_graph_create(glcnn_network *network,
                                const struct glcnn_graph_descriptor *descriptor,
                                glcnn_graph **graph)
{
    if (!network)
        return GLCNN_INVALID_ARGUMENT;
    if (!graph)
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_create: graph is NULL");
    *graph = NULL;
    glcnn_status status = glcnn_network_status(network);
    if (status == GLCNN_SUCCESS)
        status = check_descriptor(network, descriptor);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_graph *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(network->device, GLCNN_OUT_OF_MEMORY, "out of memory making a graph");
    made->network = network;
    made->device = device_retain(network->device);
    made->image_count = network->image_count;
    if (!take_descriptor(made, descriptor) || !graph_list_filters(made)) {
        glcnn_graph_destroy(&made);
        return device_fail(network->device, GLCNN_OUT_OF_MEMORY, "out of memory making a graph");
    }
    if (made->filter_count == 0) {
        glcnn_graph_destroy(&made);
        return device_fail(network->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_create: no result is needed, no image exported and no "
                           "weights updated: there is nothing to run");
    }
    network->has_graph = true;
    *graph = made;
    return GLCNN_SUCCESS;
}

/* ---- What it says of itself, and is told ---- */

size_t glcnn_graph_source_count(const glcnn_graph *graph)
{
    return graph ? graph->source_count : 0;
}

glcnn_image_node *glcnn_graph_source(const glcnn_graph *graph, size_t index)
{
    return graph && index < graph->source_count ? graph->sources[index] : NULL;
}

glcnn_filter_node *glcnn_graph_filter(const glcnn_graph *graph, size_t index)
{
    return graph && index < graph->filter_count ? graph->filters[index].node : NULL;
}

glcnn_status glcnn_graph_reload_from_data_sources(glcnn_graph *graph)
{
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < graph->filter_count && status == GLCNN_SUCCESS; i++) {
        struct glcnn_kernel *kernel = graph->filters[i].node->kernel;
        if (glcnn_kernel_data_source(kernel))
            status = glcnn_kernel_reload_from_data_source(kernel);
    }
    return status;
}

glcnn_status graph_fail_in_group(const struct glcnn_graph *graph, const char *where,
                                 const char *must)
{
    return device_fail(graph->device, GLCNN_INVALID_STATE,
                       "%s: gradients of %u of %u executions are added up; until the update that "
                       "follows the last, executions must %s",
                       where, graph->in_group, graph->group, must);
}

glcnn_status glcnn_graph_set_exchange(glcnn_graph *graph, const struct glcnn_exchange *exchange)
{
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    if (exchange && !(exchange->begin && exchange->finish))
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_set_exchange: %s is NULL",
                           exchange->begin ? "finish" : "begin");
    if (exchange && exchange->sum && !exchange->images)
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_set_exchange: images is 0; statistics that are summed up "
                           "need the images of all processes");
    if (graph->in_group > 0)
        return graph_fail_in_group(graph, "glcnn_graph_set_exchange", "exchange nothing else");
    glcnn_status status = glcnn_graph_wait(graph);
    compiled_free_all(graph);
    graph->exchange = exchange ? *exchange : (struct glcnn_exchange){0};
    return status;
}
