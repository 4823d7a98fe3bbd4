/* Images of a network and their extents. */
#include "maps.h"

#include <stdlib.h>

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

static bool list(const glcnn_network *network, size_t most, struct maps *maps)
{
    glcnn_filter_node *filter;
    maps->at = calloc(model_filter_count(network) + 1, sizeof *maps->at);
    for (; maps->at && maps->count < most &&
           (filter = glcnn_network_filter(network, maps->count)) != NULL;
         maps->count++)
        maps->at[maps->count] = (struct map){.image = glcnn_filter_node_result(filter),
                                             .label = glcnn_filter_node_label(filter)};
    return maps->at;
}

/* Encodes the graph for a picture, and runs nothing: results have their extents then. */
static bool encode(glcnn_graph *graph, glcnn_image *picture, glcnn_device *device,
                   glcnn_image **results)
{
    glcnn_image *const sources[] = {picture};
    glcnn_command_buffer *commands = NULL;
    bool encoded = good(glcnn_command_buffer_create(device, &commands)) &&
                   good(glcnn_graph_encode(commands, graph, sources, results));
    glcnn_command_buffer_destroy(&commands);
    return encoded;
}

static bool measure(const struct model *model, struct maps *maps, glcnn_image_node **nodes,
                    glcnn_image **results)
{
    const struct form *form = &model->form;
    const struct glcnn_image_descriptor of = {.width = form->width,
                                              .height = form->height,
                                              .feature_channels = form->channels,
                                              .number_of_images = 1};
    const struct glcnn_graph_descriptor all = {.results = nodes, .result_count = maps->count};
    glcnn_graph *graph = NULL;
    glcnn_image *picture = NULL;
    for (size_t i = 0; i < maps->count; i++)
        nodes[i] = maps->at[i].image;
    bool found = good(glcnn_graph_create(model->network, &all, &graph)) &&
                 good(glcnn_image_create(model->device, &of, &picture)) &&
                 encode(graph, picture, model->device, results);
    for (size_t i = 0; found && i < maps->count; i++) {
        const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(results[i]);
        maps->at[i].form = (struct form){d->width, d->height, d->feature_channels, 0};
    }
    for (size_t i = 0; i < maps->count; i++)
        glcnn_image_destroy(&results[i]);
    glcnn_image_destroy(&picture);
    glcnn_graph_destroy(&graph);
    return found;
}

bool maps_find(const struct model *model, struct maps *maps)
{
    return maps_find_first(model, SIZE_MAX, maps);
}

bool maps_find_first(const struct model *model, size_t filters, struct maps *maps)
{
    *maps = (struct maps){.count = 0};
    bool listed = list(model->network, filters, maps);
    if (listed && maps->count == 0)
        return true;
    glcnn_image_node **nodes = calloc(maps->count + 1, sizeof(*nodes));
    glcnn_image **results = calloc(maps->count + 1, sizeof(*results));
    bool found = listed && nodes && results && measure(model, maps, nodes, results);
    free(nodes);
    free(results);
    return found;
}

void maps_free(struct maps *maps)
{
    free(maps->at);
    *maps = (struct maps){.count = 0};
}

bool map_is_sum(const struct map *map)
{
    return model_filter_is(glcnn_image_node_filter(map->image), "add");
}
