/* Trains a small network on Fashion-MNIST, written with nodes: the graph makes the gradient, plans
 * memory and updates weights. Arguments: how many images, all if none. */
#include <glcnn/glcnn.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/fashion.h"
#include "support/network.h"
#include "support/option.h"

#define BATCH 50

static glcnn_device *device;
static float images[BATCH * FASHION_PIXELS], labels[BATCH * FASHION_CLASSES], losses[BATCH];

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

static uint64_t read_count(const char *text)
{
    uint64_t count = UINT32_MAX;
    if (text && !option_whole(text, BATCH, UINT32_MAX, &count)) {
        fprintf(stderr, "graph_example: the argument is how many images, %d or more\n", BATCH);
        exit(2);
    }
    return count;
}

int main(int argc, char **argv)
{
    struct fashion data;
    glcnn_network *network;
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_image *sources[2];
    char error[GLCNN_ERROR_LENGTH];
    const uint64_t count = read_count(argc > 1 ? argv[1] : NULL);
    if (!fashion_read(FASHION_DIRECTORY, "train", &data, error))
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
    uint32_t order[BATCH];
    double sum = 0;
    for (uint32_t first = 0; first + BATCH <= count && first + BATCH <= data.images.shape[0];) {
        for (uint32_t i = 0; i < BATCH; i++)
            order[i] = first++;
        fashion_gather(&data, order, BATCH, images, labels);
        must(!network_run(graph, sources, images, labels, glcnn_filter_node_loss(loss), losses,
                          BATCH));
        for (uint32_t i = 0; i < BATCH; i++)
            sum += losses[i];
        if (first % 1000 == 0)
            printf("%u images, mean loss %.4f\n", first, sum / 1000), sum = 0;
    }
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_kernel_destroy(&optimizer);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_device_destroy(&device);
    fashion_free(&data);
}
