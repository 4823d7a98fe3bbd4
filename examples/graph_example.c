/* Trains a small network on Fashion-MNIST, written with nodes: the graph makes the gradient, plans
 * memory and updates weights. Arguments: how many images, all if none. */
#include <glcnn/glcnn.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/fashion.h"
#include "task/network.h"
#include "base/option.h"

#define BATCH 50

static glcnn_device *device;
static float losses[BATCH];

static void must(bool good)
{
    if (!good) {
        fprintf(stderr, "graph_example: %s\n", glcnn_device_error(device));
        exit(1);
    }
}

/* Images to scores: half the size by a stride, batch normalisation with ReLU, all connected. */
static glcnn_image_node *build(glcnn_image_node *x)
{
    const struct glcnn_convolution_descriptor stem = {.kernel_width = 5,
                                                      .kernel_height = 5,
                                                      .input_feature_channels = 1,
                                                      .output_feature_channels = 16,
                                                      .stride_in_pixels_x = 2,
                                                      .stride_in_pixels_y = 2};
    const struct glcnn_convolution_descriptor head = {.kernel_width = 14,
                                                      .kernel_height = 14,
                                                      .input_feature_channels = 16,
                                                      .output_feature_channels = FASHION_CLASSES};
    const struct glcnn_neuron_descriptor relu = {.type = GLCNN_NEURON_TYPE_RELU};
    x = glcnn_convolution_node(x, &stem, NULL);
    x = glcnn_batch_normalization_node(x, 1e-5f, &relu, NULL);
    return glcnn_fully_connected_node(x, &head, NULL);
}

static uint32_t read_count(const char *text)
{
    uint64_t count = 0;
    if (text && !option_whole(text, BATCH, UINT32_MAX, &count)) {
        fprintf(stderr, "graph_example: the argument is how many images, %d or more\n", BATCH);
        exit(2);
    }
    return (uint32_t)count;
}

int main(int argc, char **argv)
{
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader;
    glcnn_network *network;
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_image *sources[2];
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_data_loader_parameters batches = {
        .batch = BATCH, .limit = read_count(argc > 1 ? argv[1] : NULL), .shuffle = true};
    glcnn_dataset *data = fashion_open(FASHION_DIRECTORY, error);
    if (!data || glcnn_data_loader_create(data, &batches, &loader, error))
        return puts(error), 1;
    glcnn_status opened = glcnn_device_create(NULL, &device);
    if (opened)
        return puts(glcnn_status_text(opened)), 77;
    must(!glcnn_network_create(device, &network));
    glcnn_image_node *scores = build(glcnn_image_node_create(network, "images"));
    glcnn_filter_node *loss =
        glcnn_loss_node(scores, glcnn_image_node_create(network, "labels"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    must(!glcnn_network_initialise(network, 1));
    must(!glcnn_optimizer_adam_create(device, 0.001f, &optimizer));
    must(!glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    must(!network_sources(device, BATCH, sources));
    double sum = 0;
    const uint64_t steps = glcnn_data_loader_steps(loader);
    for (uint64_t step = 1; step <= steps; step++) {
        if (glcnn_data_loader_next(loader, &batch, error))
            return puts(error), 1;
        must(!network_run(graph, sources, batch.floats, batch.labels, glcnn_filter_node_loss(loss),
                          losses, BATCH));
        for (uint32_t i = 0; i < BATCH; i++)
            sum += losses[i];
        if (step % 20 == 0)
            printf("%u images, mean loss %.4f\n", (uint32_t)step * BATCH, sum / 1000), sum = 0;
    }
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_kernel_destroy(&optimizer);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_device_destroy(&device);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
}
