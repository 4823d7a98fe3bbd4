/* Fine-tuning: the last layer alone learns, because gradients stop at its source. The convolutions
 * before it have no gradient nodes then, and what they read is needed no longer than in inference.
 * Both ways run a few steps on Fashion-MNIST, and time and planned memory of a step are told.
 * usage: fine_tune [STEPS] */
#define _POSIX_C_SOURCE 200809L
#include <glcnn/glcnn.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/fashion.h"
#include "task/network.h"
#include "base/option.h"
#include "base/clock.h"

#define BATCH 64

static glcnn_device *device;
static float losses[BATCH];

static void must(bool good, const char *message)
{
    if (!good) {
        fprintf(stderr, "fine_tune: %s\n", message ? message : glcnn_device_error(device));
        exit(1);
    }
}

/* A convolution with ReLU, then half the size. */
static glcnn_image_node *block(glcnn_image_node *x, uint32_t inputs, uint32_t outputs)
{
    x = glcnn_convolution_node(
        x,
        &(struct glcnn_convolution_descriptor){.kernel_width = 3,
                                               .kernel_height = 3,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs},
        NULL);
    return glcnn_pooling_max_node(glcnn_neuron_relu_node(x, 0), 2, 2, 2, 2);
}

/* What the last layer reads: 7x7x32. */
static glcnn_image_node *features(glcnn_image_node *x)
{
    return block(block(x, 1, 16), 16, 32);
}

/* The training graph of a network whose gradients stop before the last layer, or do not. */
static glcnn_graph *build(glcnn_network *network, bool last_only, glcnn_image_node **loss)
{
    const struct glcnn_convolution_descriptor head = {.kernel_width = 7,
                                                      .kernel_height = 7,
                                                      .input_feature_channels = 32,
                                                      .output_feature_channels = FASHION_CLASSES};
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_image_node *x = features(glcnn_image_node_create(network, "images"));
    glcnn_image_node_set_stop_gradient(x, last_only);
    x = glcnn_fully_connected_node(x, &head, NULL);
    glcnn_filter_node *node =
        glcnn_loss_node(x, glcnn_image_node_create(network, "labels"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    must(!glcnn_network_initialise(network, 1), NULL);
    must(!glcnn_optimizer_adam_create(device, 0.001f, &optimizer), NULL);
    must(!glcnn_training_graph_create(node, optimizer, NULL, &graph), NULL);
    glcnn_kernel_destroy(&optimizer);
    *loss = glcnn_filter_node_loss(node);
    return graph;
}

/* Makes steps on the same batch; the first one, which compiles, is not timed. */
static double train(glcnn_graph *graph, glcnn_image_node *loss, glcnn_image *const *sources,
                    const struct glcnn_data_batch *batch, int steps)
{
    double start = 0;
    for (int s = 0; s <= steps; s++) {
        must(!network_run(graph, sources, batch->floats, batch->labels, loss, losses, BATCH), NULL);
        if (s == 0)
            start = seconds_now();
    }
    return (seconds_now() - start) / steps;
}

static void compare(glcnn_image *const *sources, const struct glcnn_data_batch *batch,
                    bool last_only, int steps)
{
    const struct glcnn_image_descriptor of_sources[] = {network_images(BATCH),
                                                        network_labels(BATCH)};
    struct glcnn_memory_plan memory;
    glcnn_network *network;
    glcnn_image_node *loss;
    must(!glcnn_network_create(device, &network), NULL);
    glcnn_graph *graph = build(network, last_only, &loss);
    must(!glcnn_graph_memory(graph, of_sources, &memory), NULL);
    double seconds = train(graph, loss, sources, batch, steps), sum = 0;
    for (int i = 0; i < BATCH; i++)
        sum += losses[i];
    printf("%-15s %8.2f ms a step %8.2f MiB planned, loss %.3f\n",
           last_only ? "last layer" : "all layers", seconds * 1e3, (double)memory.planned / 1048576,
           sum / BATCH);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
}

int main(int argc, char **argv)
{
    const struct glcnn_data_loader_parameters batches = {.batch = BATCH};
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader = NULL;
    glcnn_image *sources[2];
    char error[GLCNN_ERROR_LENGTH];
    uint64_t steps = 20;
    must(argc < 2 || option_whole(argv[1], 1, 1000000, &steps),
         "the argument is the number of steps, 1 to 1000000");
    glcnn_dataset *data = fashion_open(FASHION_DIRECTORY, error);
    must(data && !glcnn_data_loader_create(data, &batches, &loader, error), error);
    must(!glcnn_data_loader_next(loader, &batch, error), error);
    glcnn_status opened = glcnn_device_create(NULL, &device);
    if (opened)
        return puts(glcnn_status_text(opened)), 77;
    must(!network_sources(device, BATCH, sources), NULL);
    compare(sources, &batch, false, (int)steps);
    compare(sources, &batch, true, (int)steps);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_device_destroy(&device);
    glcnn_data_loader_destroy(&loader);
    glcnn_dataset_destroy(&data);
    return 0;
}
