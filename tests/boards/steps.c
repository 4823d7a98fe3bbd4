/* What a step of training asks of a device: a line for each of its passes,
 *
 *   NET  KERNEL  SHADER  dispatches  operations  bytes
 *
 * between tabs, as glcnn_pass_timing has them, of the tool's networks on batches of 64 pictures of
 * 28x28 and of two that are known elsewhere. In the disguise of a GPU (disguise.c) it is the step that
 * the library records for that one. Nothing is computed there, and no result is looked at.
 */
#include <stdio.h>
#include <stdlib.h>

#include "task/nets.c" /* for the layers, which are its own */

struct step {
    const char *name;
    struct form form;
    uint32_t batch;
    glcnn_image_node *(*build)(glcnn_image_node *image,
                               const struct form *form); /* NULL: the tool's */
};

static glcnn_image_node *average(glcnn_image_node *source, unsigned size)
{
    return pool_average(source, (struct extent){size, size});
}

/* He et al. 2016, of 18 layers. */
static glcnn_image_node *build_resnet18(glcnn_image_node *image, const struct form *form)
{
    glcnn_image_node *x = normalised(image, (struct convolution){7, form->channels, 64, 2}, true);
    x = glcnn_pooling_max_node(x, 3, 3, 2, 2);
    for (unsigned stage = 0, inputs = 64; stage < 4; stage++) {
        unsigned outputs = 64u << stage;
        x = residual(x, inputs, outputs, stage ? 2 : 1);
        x = residual(x, outputs, outputs, 1);
        inputs = outputs;
    }
    return connect(average(x, form->width / 32), one, 512, form->classes);
}

/* Sandler et al. 2018: channels by themselves between two convolutions across them. */
static glcnn_image_node *inverted(glcnn_image_node *source, unsigned inputs, unsigned wide,
                                  unsigned outputs, unsigned stride)
{
    glcnn_image_node *x = source;
    if (wide != inputs)
        x = normalised(x, (struct convolution){1, inputs, wide}, true);
    x = normalised(x, (struct convolution){3, wide, wide, stride, wide}, true);
    x = normalised(x, (struct convolution){1, wide, outputs}, false);
    return stride == 1 && inputs == outputs ? glcnn_add_node(x, source) : x;
}

static glcnn_image_node *build_mobilenet_v2(glcnn_image_node *image, const struct form *form)
{
    static const struct {
        unsigned wider, outputs, blocks, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    unsigned inputs = 32;
    glcnn_image_node *x =
        normalised(image, (struct convolution){3, form->channels, inputs, 2}, true);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (unsigned block = 0; block < stages[i].blocks; block++) {
            x = inverted(x, inputs, inputs * stages[i].wider, stages[i].outputs,
                         block ? 1 : stages[i].stride);
            inputs = stages[i].outputs;
        }
    x = normalised(x, (struct convolution){1, inputs, 1280}, true);
    return connect(average(x, form->width / 32), one, 1280, form->classes);
}

static const struct step steps[] = {
    {"small", {28, 28, 1, 10}, 64, NULL},
    {"resnet8", {28, 28, 1, 10}, 64, NULL},
    {"mobilenet-tiny", {28, 28, 1, 10}, 64, NULL},
    {"ResNet18 at 224", {224, 224, 3, 1000}, 8, build_resnet18},
    {"MobileNetV2 at 96", {96, 96, 3, 1000}, 32, build_mobilenet_v2},
};

static glcnn_device *device;

static void must(bool good)
{
    if (good)
        return;
    fprintf(stderr, "steps: %s\n", device ? glcnn_device_error(device) : "no device");
    exit(1);
}

static void print_pass(void *user, const struct glcnn_pass_timing *pass)
{
    printf("%s\t%s\t%s\t%u\t%.0f\t%.0f\n", (const char *)user, pass->kernel, pass->shader,
           pass->dispatches, (double)pass->operations, (double)pass->bytes);
}

/* The first commit also compiles, and tests what it compiled. */
static void run(const struct step *step)
{
    glcnn_network *network;
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_image *sources[2];
    const struct form *form = &step->form;
    const struct net *known = net_find(step->name);
    must(!glcnn_network_create(device, &network));
    glcnn_image_node *scores =
        known ? net_build(known, glcnn_image_node_create(network, "images"), form)
              : step->build(glcnn_image_node_create(network, "images"), form);
    glcnn_filter_node *loss =
        glcnn_loss_node(scores, glcnn_image_node_create(network, "labels"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    must(!glcnn_network_initialise(network, 1));
    must(!glcnn_optimizer_stochastic_gradient_descent_create(device, 0.001f, &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    must(!glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    const struct glcnn_image_descriptor images[2] = {
        {.width = form->width,
         .height = form->height,
         .feature_channels = form->channels,
         .number_of_images = step->batch},
        {.feature_channels = form->classes, .number_of_images = step->batch}};
    for (int i = 0; i < 2; i++)
        must(!glcnn_image_create(device, &images[i], &sources[i]));
    for (int i = 0; i < 2; i++) {
        must(!glcnn_device_set_profile(device, i ? print_pass : NULL, (void *)(size_t)step->name));
        must(!glcnn_graph_execute(graph, sources, NULL, NULL) && !glcnn_graph_wait(graph));
    }
    must(!glcnn_device_set_profile(device, NULL, NULL));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_kernel_destroy(&optimizer);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
}

int main(void)
{
    must(!glcnn_device_create(NULL, &device));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        run(&steps[i]);
    glcnn_device_destroy(&device);
    return 0;
}
