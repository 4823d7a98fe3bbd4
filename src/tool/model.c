/* Models of glcnn train and predict, and the graphs that run them. */
#include "model.h"

/* ---- The model ---- */

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

bool model_create(glcnn_device *device, const struct net *net, const struct form *form,
                  uint32_t batch, struct model *model)
{
    *model = (struct model){.net = net, .form = *form, .device = device};
    if (!good(glcnn_network_create(device, &model->network)))
        return false;
    model->image = glcnn_image_node_create(model->network, "image");
    model->labels = glcnn_image_node_create(model->network, "labels");
    model->scores = net->build(model->image, form);
    model->probabilities = glcnn_soft_max_node(model->scores);
    model->loss = glcnn_loss_node(model->scores, model->labels, NULL,
                                  GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    if (model->loss)
        glcnn_loss(glcnn_filter_node_kernel(model->loss))->weight = (float)(1.0 / batch);
    return good(glcnn_network_status(model->network));
}

void model_destroy(struct model *model)
{
    glcnn_network_destroy(&model->network);
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

/* ---- Runners ---- */

static struct glcnn_image_descriptor images_of(const struct form *form, uint32_t batch)
{
    return (struct glcnn_image_descriptor){.width = form->width,
                                           .height = form->height,
                                           .feature_channels = form->channels,
                                           .number_of_images = batch};
}

static struct glcnn_image_descriptor labels_of(const struct form *form, uint32_t batch)
{
    return (struct glcnn_image_descriptor){.feature_channels = form->classes,
                                           .number_of_images = batch};
}

static bool make_sources(struct runner *runner)
{
    const struct glcnn_image_descriptor images = images_of(&runner->form, runner->batch),
                                        labels = labels_of(&runner->form, runner->batch);
    return good(glcnn_image_create(runner->device, &images, &runner->sources[0])) &&
           good(glcnn_image_create(runner->device, &labels, &runner->sources[1]));
}

bool runner_create_training(struct model *model, uint32_t batch, uint64_t memory, float clip_norm,
                            struct runner *runner)
{
    const struct glcnn_graph_descriptor descriptor = {.results = &model->scores,
                                                      .result_count = 1,
                                                      .memory_budget = memory,
                                                      .gradient_clip_norm = clip_norm};
    *runner = (struct runner){.device = model->device,
                              .form = model->form,
                              .batch = batch,
                              .result = glcnn_filter_node_loss(model->loss),
                              .scores = model->scores,
                              .values = 1};
    return good(glcnn_training_graph_create(model->loss, NULL, &descriptor, &runner->graph)) &&
           make_sources(runner);
}

bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner)
{
    *runner = (struct runner){.device = model->device,
                              .form = model->form,
                              .batch = batch,
                              .result = model->probabilities,
                              .values = model->form.classes};
    const struct glcnn_graph_descriptor descriptor = {
        .results = &runner->result, .result_count = 1, .memory_budget = memory};
    return good(glcnn_graph_create(model->network, &descriptor, &runner->graph)) &&
           make_sources(runner);
}

void runner_destroy(struct runner *runner)
{
    input_destroy(&runner->input);
    glcnn_graph_destroy(&runner->graph);
    glcnn_image_destroy(&runner->sources[0]);
    glcnn_image_destroy(&runner->sources[1]);
}

bool runner_take(struct runner *runner, const struct input_parameters *parameters)
{
    return input_create(runner->device, &runner->form, runner->batch, parameters, &runner->input);
}

bool runner_memory(struct runner *runner, struct glcnn_memory_plan *memory)
{
    struct glcnn_image_descriptor sources[] = {images_of(&runner->form, runner->batch),
                                               labels_of(&runner->form, runner->batch)};
    sources[0].channel_format = input_format(&runner->input);
    return good(glcnn_graph_memory(runner->graph, sources, memory));
}

/* Sources come in the order of the loss's: predictions, and so the image, before labels. */
static bool run(struct runner *runner, glcnn_image *images, const float *labels, float *result)
{
    glcnn_image *const sources[] = {images, runner->sources[1]};
    size_t scores = (size_t)runner->form.classes * runner->batch;
    size_t values = (size_t)runner->values * runner->batch;
    return (!labels ||
            good(glcnn_image_write_bytes(sources[1], NULL, labels, scores * sizeof *labels))) &&
           good(glcnn_graph_execute(runner->graph, sources, NULL, NULL)) &&
           good(glcnn_graph_wait(runner->graph)) &&
           good(glcnn_image_read_bytes(glcnn_graph_image(runner->graph, runner->result), NULL,
                                       result, values * sizeof *result));
}

bool runner_run(struct runner *runner, const float *images, const float *labels, float *result)
{
    const struct form *form = &runner->form;
    size_t count = (size_t)form->width * form->height * form->channels * runner->batch;
    return good(
               glcnn_image_write_bytes(runner->sources[0], NULL, images, count * sizeof *images)) &&
           run(runner, runner->sources[0], labels, result);
}

bool runner_run_batch(struct runner *runner, const struct glcnn_data_batch *batch,
                      const float *labels, float *result)
{
    glcnn_image *images = input_run(&runner->input, batch);
    return images && run(runner, images, labels, result);
}

bool runner_scores(const struct runner *runner, float *scores)
{
    return good(glcnn_image_read_bytes(glcnn_graph_image(runner->graph, runner->scores), NULL,
                                       scores,
                                       sizeof *scores * runner->form.classes * runner->batch));
}
