#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fashion.h"
#include "support/random.h"

#define ENDS_MAX 64 /* nodes of a gradient that nothing reads */

/* ---- The model ---- */

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

bool model_create(glcnn_device *device, const struct net *net, uint32_t batch, struct model *model)
{
    char settings[128];
    *model = (struct model){.net = net, .device = device};
    if (!good(glcnn_network_create(device, &model->network)))
        return false;
    model->image = glcnn_image_node_create(model->network, "image");
    model->labels = glcnn_image_node_create(model->network, "labels");
    model->scores = net->build(model->image);
    model->probabilities = glcnn_node(model->scores, "soft_max", NULL);
    glcnn_image_node *const sources[] = {model->scores, model->labels};
    snprintf(settings, sizeof settings,
             "loss_type=soft_max_cross_entropy reduction_type=sum weight=%.9g", 1.0 / batch);
    model->loss = glcnn_filter_node_create(model->network, "loss", settings, sources, 2);
    return good(glcnn_network_status(model->network));
}

void model_destroy(struct model *model)
{
    glcnn_network_destroy(&model->network);
}

/* 0 where the kernel has no such parameter. */
static uint32_t parameter(glcnn_kernel *kernel, const char *name)
{
    double value = 0;
    return good(glcnn_kernel_get(kernel, name, &value)) ? (uint32_t)value : 0;
}

static bool initialise_kernel(glcnn_kernel *kernel, uint64_t *random)
{
    uint32_t groups = parameter(kernel, "groups");
    uint32_t inputs = parameter(kernel, "kernel_width") * parameter(kernel, "kernel_height") *
                      parameter(kernel, "input_feature_channels") / (groups ? groups : 1);
    size_t count = (size_t)inputs * parameter(kernel, "output_feature_channels");
    float *weights = calloc(count, sizeof *weights);
    if (!weights)
        return false;
    random_weights(random, weights, count, inputs);
    bool done = good(glcnn_kernel_set_vector(kernel, "weights", weights, count));
    free(weights);
    return done;
}

bool model_initialise(struct model *model, uint64_t seed)
{
    uint64_t random = seed;
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
        const char *name = glcnn_kernel_name(kernel);
        bool layer = strcmp(name, "convolution") == 0 || strcmp(name, "fully_connected") == 0;
        if (layer && !initialise_kernel(kernel, &random))
            return false;
    }
    return true;
}

void model_set_learning_rate(struct model *model, float rate)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
        if (optimizer)
            glcnn_optimizer(optimizer)->learning_rate = rate;
    }
}

uint32_t model_best(const float *values)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < FASHION_CLASSES; k++)
        if (values[k] > values[best])
            best = k;
    return best;
}

/* ---- Runners ---- */

static struct glcnn_image_descriptor images_of(uint32_t batch)
{
    return (struct glcnn_image_descriptor){.width = FASHION_SIDE,
                                           .height = FASHION_SIDE,
                                           .feature_channels = 1,
                                           .number_of_images = batch};
}

static struct glcnn_image_descriptor labels_of(uint32_t batch)
{
    return (struct glcnn_image_descriptor){.feature_channels = FASHION_CLASSES,
                                           .number_of_images = batch};
}

static bool make_images(struct model *model, struct runner *runner, bool labels)
{
    const struct glcnn_image_descriptor image = images_of(runner->batch),
                                        label = labels_of(runner->batch);
    return good(glcnn_image_create(model->device, &image, &runner->images)) &&
           (!labels || good(glcnn_image_create(model->device, &label, &runner->labels)));
}

bool runner_create_training(struct model *model, uint32_t batch, uint64_t memory,
                            struct runner *runner)
{
    glcnn_filter_node *ends[ENDS_MAX];
    glcnn_image_node *results[1 + ENDS_MAX] = {glcnn_filter_node_loss(model->loss)};
    bool needed[1 + ENDS_MAX] = {true};
    *runner = (struct runner){.batch = batch, .result = results[0]};
    size_t count =
        glcnn_training_graph_with_source_gradient(model->loss, NULL, NULL, NULL, ends, ENDS_MAX);
    for (size_t i = 0; i < count && i < ENDS_MAX; i++)
        results[1 + i] = glcnn_filter_node_result(ends[i]);
    const struct glcnn_graph_descriptor descriptor = {.results = results,
                                                      .result_is_needed = needed,
                                                      .result_count = 1 + count,
                                                      .memory_budget = memory};
    return count > 0 && good(glcnn_graph_create(model->network, &descriptor, &runner->graph)) &&
           make_images(model, runner, true);
}

bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner)
{
    *runner = (struct runner){.batch = batch, .result = model->probabilities};
    const struct glcnn_graph_descriptor descriptor = {
        .results = &runner->result, .result_count = 1, .memory_budget = memory};
    return good(glcnn_graph_create(model->network, &descriptor, &runner->graph)) &&
           make_images(model, runner, false);
}

void runner_destroy(struct runner *runner)
{
    glcnn_graph_destroy(&runner->graph);
    glcnn_image_destroy(&runner->images);
    glcnn_image_destroy(&runner->labels);
}

bool runner_memory(struct runner *runner, struct glcnn_graph_memory *memory)
{
    const struct glcnn_image_descriptor sources[] = {images_of(runner->batch),
                                                     labels_of(runner->batch)};
    return good(glcnn_graph_memory(runner->graph, sources, memory));
}

/* Sources come in the order of the loss's: predictions, and so the image, before labels. */
bool runner_run(struct runner *runner, const float *images, const float *labels, float *result)
{
    const size_t batch = runner->batch, values = runner->labels ? 1 : FASHION_CLASSES;
    glcnn_image *const sources[] = {runner->images, runner->labels};
    return good(glcnn_image_write_bytes(runner->images, NULL, images,
                                        sizeof *images * FASHION_PIXELS * batch)) &&
           (!runner->labels ||
            good(glcnn_image_write_bytes(runner->labels, NULL, labels,
                                         sizeof *labels * FASHION_CLASSES * batch))) &&
           good(glcnn_graph_execute(runner->graph, sources, NULL, NULL)) &&
           good(glcnn_graph_wait(runner->graph)) &&
           good(glcnn_image_read_bytes(glcnn_graph_image(runner->graph, runner->result), NULL,
                                       result, sizeof *result * values * batch));
}
