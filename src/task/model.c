/* Models of glcnn train and predict, and the graphs that run them. */
#include "model.h"

#include <glcnn/serialize.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The model ---- */

const char *model_failure(const glcnn_device *device)
{
    const char *error = glcnn_device_error(device);
    return *error ? error : "not enough memory";
}

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

/* Lists the image that takes pictures of the form; NULL: the network has none, and the list is empty. */
static struct features pictures_of(glcnn_image_node *image, const struct form *form)
{
    return (struct features){.at = {{image, form->width, form->height, form->channels}},
                             .count = image != NULL};
}

/* What is behind the scores. */
static bool add_losses(struct model *model, uint32_t batch)
{
    const struct task *task = task_of(&model->form);
    if (!model->probabilities)
        model->probabilities = task->answer ? task->answer(model) : model->scores;
    return task->losses[model->form.loss].add(model, batch);
}

/* Its description has what the task answers, without loss and labels. */
static bool complete(struct model *model, uint32_t batch)
{
    const struct task *task = task_of(&model->form);
    return model->scores && task->finish(model) &&
           good(glcnn_network_serialize(model->network, false, &model->description,
                                        &model->description_size, NULL)) &&
           add_losses(model, batch);
}

size_t model_filter_count(const glcnn_network *network)
{
    size_t count = 0;
    while (glcnn_network_filter(network, count))
        count++;
    return count;
}

/* Filters of a head are known by what their labels begin with, also those that the task named. */
static bool label_head(const glcnn_network *network, size_t first, const char *beginning)
{
    glcnn_filter_node *filter;
    bool labelled = true;
    for (size_t i = first; labelled && (filter = glcnn_network_filter(network, i)) != NULL; i++) {
        char label[256];
        const char *own = glcnn_filter_node_label(filter);
        snprintf(label, sizeof label, "%s%s", beginning, own);
        labelled = strncmp(own, beginning, strlen(beginning)) == 0 ||
                   good(glcnn_filter_node_set_label(filter, label));
    }
    return labelled;
}

glcnn_image_node *model_add_head(const glcnn_network *network, const struct features *features,
                                 const struct form *form)
{
    const struct task *task = task_of(form);
    const size_t first = model_filter_count(network);
    glcnn_image_node *scores = task->build(features, form);
    return scores && (!task->head || label_head(network, first, task->head)) ? scores : NULL;
}

bool model_take_soft_max(struct model *model)
{
    glcnn_filter_node *last = glcnn_image_node_filter(model->scores);
    const bool has_soft_max = model_filter_is(last, "soft_max");
    if (has_soft_max)
        model->probabilities = model->scores;
    if (has_soft_max || model_filter_is(last, "log_soft_max"))
        model->scores = glcnn_filter_node_source(last, 0);
    return true;
}

glcnn_image_node *model_soft_max(const struct model *model)
{
    return glcnn_soft_max_node(model->scores);
}

bool model_read_units(glcnn_kernel *const units[2], uint32_t count, float *values)
{
    bool read = true;
    for (uint32_t i = 0; i < 2 && read; i++) {
        glcnn_buffer *vector = glcnn_kernel_vector(units[i], "neuron_data");
        read = vector && glcnn_buffer_size(vector) == count * sizeof *values &&
               good(glcnn_buffer_read(vector, 0, count * sizeof *values, values + i * count));
    }
    return read;
}

glcnn_image_node *model_add_labels(struct model *model)
{
    char name[32];
    snprintf(name, sizeof name, model->label_count ? "labels_%u" : "labels", model->label_count);
    return model->labels[model->label_count++] = glcnn_image_node_create(model->network, name);
}

bool model_add_loss(struct model *model, glcnn_image_node *predictions, glcnn_image_node *labels,
                    glcnn_image_node *label_weights, glcnn_loss_type type, double weight)
{
    glcnn_filter_node *loss =
        glcnn_loss_node(predictions, labels, label_weights, type, GLCNN_REDUCTION_TYPE_SUM);
    if (!loss)
        return false;
    glcnn_loss(glcnn_filter_node_kernel(loss))->weight = (float)weight;
    model->losses[model->loss_count++] = loss;
    return good(glcnn_network_status(model->network));
}

void model_destroy(struct model *model)
{
    glcnn_network_destroy(&model->network);
    glcnn_serialize_destroy(model->description);
    *model = (struct model){.net = NULL};
}

/* ---- Networks of files ---- */

bool model_filter_is(glcnn_filter_node *filter, const char *name)
{
    return filter && strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(filter)), name) == 0;
}

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const glcnn_image_node *const *)a;
    uintptr_t y = (uintptr_t) * (const glcnn_image_node *const *)b;
    return (x > y) - (x < y);
}

/* The images that filters read, as often as they do, by their addresses; to be freed. NULL: there is no
 * memory. */
static glcnn_image_node **find_read(const glcnn_network *network, size_t *count)
{
    glcnn_filter_node *filter;
    size_t all = 0;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++)
        all += glcnn_filter_node_source_count(filter);
    glcnn_image_node **read = calloc(all + 1, sizeof(*read));
    *count = 0;
    for (size_t i = 0; read && (filter = glcnn_network_filter(network, i)) != NULL; i++)
        for (size_t k = 0; k < glcnn_filter_node_source_count(filter); k++)
            read[(*count)++] = glcnn_filter_node_source(filter, k);
    if (read)
        qsort(read, *count, sizeof(*read), compare_addresses);
    return read;
}

/* The one input and the one end of a network; NULL: there are others. */
static void find_ends(const glcnn_network *network, glcnn_image_node **input,
                      glcnn_image_node **end)
{
    size_t inputs = 0, ends = 0, count = 0;
    glcnn_image_node *image, **read = find_read(network, &count);
    for (size_t i = 0; read && (image = glcnn_network_image(network, i)) != NULL; i++) {
        bool is_input = !glcnn_image_node_filter(image);
        bool is_end = !bsearch(&image, read, count, sizeof(image), compare_addresses);
        if (is_input && !is_end) {
            *input = image;
            inputs++;
        } else if (!is_input && is_end) {
            *end = image;
            ends++;
        }
    }
    free(read);
    *input = inputs == 1 ? *input : NULL;
    *end = ends == 1 ? *end : NULL;
}

/* The one image that no filter makes; NULL: there are others. */
static glcnn_image_node *find_input(const glcnn_network *network)
{
    glcnn_image_node *image, *input = NULL;
    size_t inputs = 0;
    for (size_t i = 0; (image = glcnn_network_image(network, i)) != NULL; i++)
        if (!glcnn_image_node_filter(image)) {
            input = image;
            inputs++;
        }
    return inputs == 1 ? input : NULL;
}

bool model_keep(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    (void)batch;
    *model = (struct model){.form = *form,
                            .network = network,
                            .device = glcnn_network_device(network),
                            .images = pictures_of(find_input(network), form)};
    return good(glcnn_network_serialize(network, false, &model->description,
                                        &model->description_size, error));
}

/* Graphs here name their results: what a file marks for its readers would be computed besides. */
static void clear_marks(const glcnn_network *network)
{
    glcnn_image_node *image;
    for (size_t i = 0; (image = glcnn_network_image(network, i)) != NULL; i++)
        glcnn_image_node_set_export_from_graph(image, false);
}

bool model_open(glcnn_network *network, const struct form *form, uint32_t batch,
                struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    *model =
        (struct model){.form = *form, .network = network, .device = glcnn_network_device(network)};
    glcnn_image_node *image = NULL;
    find_ends(network, &image, &model->scores);
    model->images = pictures_of(image, form);
    model->head = model_head(network);
    if (!image || !model->scores) {
        snprintf(error, GLCNN_ERROR_LENGTH, "the network has not one input and one result");
        return false;
    }
    if (complete(model, batch)) {
        clear_marks(network);
        return true;
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "%s",
             model->lacks ? model->lacks : model_failure(model->device));
    return false;
}

/* A neuron of a type that has numbers in a vector. */
static bool has_slopes(glcnn_kernel *kernel)
{
    const struct glcnn_neuron_parameters *p = glcnn_neuron(kernel);
    return p && glcnn_neuron_has_slopes(p->neuron.type);
}

static const struct glcnn_kernel_info *info_of(glcnn_filter_node *filter)
{
    return glcnn_kernel_info_by_name(glcnn_kernel_name(glcnn_filter_node_kernel(filter)));
}

bool model_filter_drops(glcnn_filter_node *filter)
{
    return info_of(filter)->is_random;
}

bool model_filter_has_weights(glcnn_filter_node *filter)
{
    const struct glcnn_kernel_info *info = info_of(filter);
    for (size_t i = 0; i < info->argument_count; i++)
        if (strcmp(info->arguments[i].name, "weights") == 0 ||
            strcmp(info->arguments[i].name, "gamma") == 0 ||
            strcmp(info->arguments[i].name, "values") == 0)
            return true;
    return has_slopes(glcnn_filter_node_kernel(filter));
}

/* Slopes of one number for all channels suit any number of classes; units of answers are behind
 * them. */
static bool is_behind_head(glcnn_filter_node *filter)
{
    const struct glcnn_neuron_parameters *neuron = glcnn_neuron(glcnn_filter_node_kernel(filter));
    return (neuron && neuron->shares_data) || !model_filter_has_weights(filter) ||
           (has_slopes(glcnn_filter_node_kernel(filter)) &&
            glcnn_filter_node_training_style(filter) == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
}

glcnn_filter_node *model_head(const glcnn_network *network)
{
    glcnn_image_node *input = NULL, *end = NULL;
    find_ends(network, &input, &end);
    glcnn_filter_node *filter = glcnn_image_node_filter(end);
    while (filter && is_behind_head(filter) && glcnn_filter_node_source_count(filter) == 1)
        filter = glcnn_image_node_filter(glcnn_filter_node_source(filter, 0));
    return model_filter_is(filter, "convolution") || model_filter_is(filter, "fully_connected")
               ? filter
               : NULL;
}

/* ---- Vectors ---- */

const char *const model_vectors[MODEL_VECTORS] = {"weights",     "biases", "gamma", "beta",
                                                  "neuron_data", "values", "mean",  "variance"};

glcnn_kernel *model_trained_kernel(const glcnn_network *network, size_t filter)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, filter));
    size_t first = 0;
    while (glcnn_filter_node_kernel(glcnn_network_filter(network, first)) != kernel)
        first++;
    return first == filter && glcnn_kernel_optimizer(kernel) ? kernel : NULL;
}

/* ---- Parts ---- */

/* Images of a model and what stands for each in its part; `needed` are those that its result is made
 * of. */
struct copying {
    const struct model *whole;
    struct model *part;
    const struct model_part *what;
    glcnn_image_node **of, **to, **needed;
    size_t count, needed_count;
};

static glcnn_image_node *copy_of(const struct copying *c, const glcnn_image_node *image)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->of[i] == image)
            return c->to[i];
    return NULL;
}

static void note_copy(struct copying *c, glcnn_image_node *of, glcnn_image_node *to)
{
    c->of[c->count] = of;
    c->to[c->count++] = to;
}

static glcnn_image_node *copy_filter(struct copying *c, glcnn_filter_node *filter,
                                     glcnn_image_node *const *sources, size_t count)
{
    if (!c->what->drops && model_filter_drops(filter))
        return sources[0];
    glcnn_filter_node *copy = glcnn_filter_node_create_with_kernel(
        c->part->network, glcnn_filter_node_kernel(filter), sources, count);
    if (copy && (!good(glcnn_filter_node_set_label(copy, glcnn_filter_node_label(filter))) ||
                 !good(glcnn_filter_node_set_training_style(
                     copy, glcnn_filter_node_training_style(filter)))))
        return NULL;
    glcnn_image_node *of = glcnn_filter_node_result(filter), *to = glcnn_filter_node_result(copy);
    glcnn_image_node_set_format(to, glcnn_image_node_format(of));
    glcnn_image_node_set_stop_gradient(to, glcnn_image_node_stop_gradient(of));
    return to;
}

/* The image as readers see it: rounded where the part is to have it so. `label` NULL: it is the model's own. NULL: it
 * could not be made. */
static glcnn_image_node *round_image(const struct copying *c, const char *label,
                                     glcnn_image_node *image)
{
    for (size_t i = 0; image && i < c->what->rounding_count; i++) {
        const struct model_rounding *r = &c->what->roundings[i];
        if (label ? r->label && strcmp(r->label, label) == 0 : !r->label)
            return glcnn_neuron_fake_quantization_node(
                image, r->scale, (float)(-128 - r->zero_point), (float)(127 - r->zero_point));
    }
    return image;
}

static bool is_needed(const struct copying *c, const glcnn_image_node *image)
{
    for (size_t i = 0; i < c->needed_count; i++)
        if (c->needed[i] == image)
            return true;
    return false;
}

static void note_needed(struct copying *c, glcnn_image_node *image)
{
    if (!is_needed(c, image))
        c->needed[c->needed_count++] = image;
}

static void note_sources(struct copying *c, glcnn_filter_node *filter)
{
    const glcnn_image_node *result = glcnn_filter_node_result(filter);
    if (is_needed(c, result) && !copy_of(c, result))
        for (size_t k = 0; k < glcnn_filter_node_source_count(filter); k++)
            note_needed(c, glcnn_filter_node_source(filter, k));
}

/* From `to` back to what is copied already. Filters come behind those that they read. */
static void find_needed(struct copying *c, const struct features *to)
{
    size_t filters = model_filter_count(c->whole->network);
    for (uint32_t i = 0; i < to->count; i++)
        note_needed(c, to->at[i].image);
    while (filters-- > 0)
        note_sources(c, glcnn_network_filter(c->whole->network, filters));
}

/* A filter all of whose sources are copied is copied; others are not of the part. */
static bool copy_next(struct copying *c, glcnn_filter_node *filter)
{
    size_t count = glcnn_filter_node_source_count(filter), known = 0;
    glcnn_image_node **sources = calloc(count + 1, sizeof(*sources));
    if (!sources)
        return false;
    for (; known < count; known++)
        if (!(sources[known] = copy_of(c, glcnn_filter_node_source(filter, known))))
            break;
    glcnn_image_node *copy = known == count ? copy_filter(c, filter, sources, count) : NULL;
    free(sources);
    copy = round_image(c, glcnn_filter_node_label(filter), copy);
    if (copy)
        note_copy(c, glcnn_filter_node_result(filter), copy);
    return known < count || copy;
}

static bool are_copied(const struct copying *c, const struct features *images)
{
    uint32_t i = 0;
    while (i < images->count && copy_of(c, images->at[i].image))
        i++;
    return i == images->count;
}

/* Filters that `to` is made of, in their order. */
static bool copy_filters(struct copying *c, const struct features *to)
{
    glcnn_filter_node *filter;
    bool copied = true;
    for (size_t i = 0; copied && !are_copied(c, to) &&
                       (filter = glcnn_network_filter(c->whole->network, i)) != NULL;
         i++)
        if (is_needed(c, glcnn_filter_node_result(filter)) &&
            !copy_of(c, glcnn_filter_node_result(filter)))
            copied = copy_next(c, filter);
    return copied && are_copied(c, to);
}

static void add_images(struct copying *c, const struct features *from)
{
    struct model *part = c->part;
    part->images = *from;
    for (uint32_t i = 0; i < from->count; i++) {
        char name[32];
        snprintf(name, sizeof name, i > 0 ? "image_%u" : "image", i);
        glcnn_image_node *image = glcnn_image_node_create(part->network, name);
        part->images.at[i].image = image;
        note_copy(c, from->at[i].image, round_image(c, NULL, image));
    }
}

static bool make_part(struct copying *c, uint32_t batch)
{
    struct model *part = c->part;
    const struct model_part *what = c->what;
    const struct features scores = {.at = {{.image = c->whole->scores}}, .count = 1},
                          *to = what->to.count > 0 ? &what->to : &scores;
    size_t images = 1;
    while (glcnn_network_image(c->whole->network, images))
        images++;
    c->of = calloc(images + 1, sizeof(*c->of));
    c->to = calloc(images + 1, sizeof(*c->to));
    c->needed = calloc(images + 1, sizeof(*c->needed));
    if (!c->of || !c->to || !c->needed || !good(glcnn_network_create(part->device, &part->network)))
        return false;
    add_images(c, what->from.count > 0 ? &what->from : &c->whole->images);
    find_needed(c, to);
    if (!copy_filters(c, to))
        return false;
    part->scores = copy_of(c, to->at[0].image);
    memcpy(part->units, c->whole->units, sizeof part->units);
    if (what->to.count == 0)
        return add_losses(part, batch);
    part->probabilities = part->scores;
    part->ends = *to;
    for (uint32_t i = 0; i < to->count; i++)
        part->ends.at[i].image = copy_of(c, to->at[i].image);
    return good(glcnn_network_status(part->network));
}

bool model_create_part(const struct model *whole, const struct model_part *what, uint32_t batch,
                       struct model *part)
{
    struct copying c = {.whole = whole, .part = part, .what = what};
    *part = (struct model){.form = what->form, .device = whole->device};
    bool made = make_part(&c, batch);
    free(c.of);
    free(c.to);
    free(c.needed);
    return made;
}

/* Leaves out the layers that the result is not made of: a network may have stages that are coarser than
 * all grids of its head. They would never be trained. */
static bool drop_unused(struct model *model)
{
    const struct model_part what = {
        .to = {.at = {{.image = model->scores}}, .count = 1}, .form = model->form, .drops = true};
    glcnn_image_node *input = NULL, *end = NULL;
    struct model part;
    find_ends(model->network, &input, &end);
    if (!model->scores || end == model->scores)
        return model->scores;
    const bool made = model_create_part(model, &what, 1, &part);
    glcnn_network_destroy(&model->network);
    model->network = part.network;
    model->images = part.images;
    model->scores = part.scores;
    return made;
}

bool model_create(glcnn_device *device, const struct net *net, const struct form *form,
                  uint32_t batch, struct model *model)
{
    *model = (struct model){.net = net, .form = *form, .device = device};
    if (!good(glcnn_network_create(device, &model->network)))
        return false;
    glcnn_image_node *image = glcnn_image_node_create(model->network, "image");
    model->images = pictures_of(image, form);
    const struct features features = net_features(net, image, form);
    model->scores = model_add_head(model->network, &features, form);
    if (!drop_unused(model))
        return false;
    model->head = model_head(model->network);
    return complete(model, batch);
}

bool model_drops(const struct model *model)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(model->network, i)) != NULL; i++)
        if (model_filter_drops(filter))
            return true;
    return false;
}

void model_set_learning_rates(const struct model *model, size_t head,
                              const struct learning_rates *rates)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++) {
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
        if (optimizer)
            glcnn_optimizer(optimizer)->learning_rate = i < head ? rates->backbone : rates->head;
    }
}

/* ---- Runners ---- */

/* Describes what the runner takes in the place of image k. */
static struct glcnn_image_descriptor images_of(const struct runner *runner, uint32_t k)
{
    const struct feature *taken = &runner->taken.at[k];
    return (struct glcnn_image_descriptor){.width = taken->width,
                                           .height = taken->height,
                                           .feature_channels = taken->channels,
                                           .number_of_images = runner->batch};
}

static bool make_images(struct runner *runner, const struct model *model)
{
    bool made = true;
    runner->taken = model->images;
    for (uint32_t k = 0; k < runner->taken.count && made; k++) {
        const struct glcnn_image_descriptor d = images_of(runner, k);
        made = good(glcnn_image_create(runner->device, &d, &runner->images[k]));
    }
    return made;
}

/* Finds the place of a source among the images of the model and the labels behind them. */
static uint32_t place_of(const struct model *model, const glcnn_image_node *source)
{
    uint32_t i = 0, k = 0;
    while (i < model->images.count && model->images.at[i].image != source)
        i++;
    while (i == model->images.count && k < model->label_count && model->labels[k] != source)
        k++;
    return i + k;
}

/* Which of its images each source of the graph is. */
static bool order_sources(struct runner *runner, const struct model *model)
{
    const size_t count = glcnn_graph_source_count(runner->graph);
    const uint32_t known = model->images.count + model->label_count;
    bool found = count <= known;
    for (size_t i = 0; i < count && found; i++) {
        runner->order[i] = place_of(model, glcnn_graph_source(runner->graph, i));
        found = runner->order[i] < known;
    }
    runner->source_count = (uint32_t)count;
    return found;
}

static bool make_labels(struct runner *runner, const struct model *model)
{
    bool made = true;
    for (uint32_t k = 0; k < model->label_count && made; k++) {
        const struct glcnn_image_descriptor d =
            runner->task->labels(&runner->form, k, runner->batch);
        made = good(glcnn_image_create(runner->device, &d, &runner->labels[k]));
    }
    runner->label_count = model->label_count;
    memcpy(runner->given_labels, runner->labels, sizeof runner->given_labels);
    return made;
}

bool runner_create_training(struct model *model, uint32_t batch,
                            const struct glcnn_graph_descriptor *training, struct runner *runner)
{
    struct glcnn_graph_descriptor descriptor =
        training ? *training : (struct glcnn_graph_descriptor){0};
    descriptor.results = &model->scores;
    descriptor.result_count = 1;
    glcnn_image_node_set_format(model->scores, GLCNN_CHANNEL_FORMAT_FLOAT32); /* as they are read */
    *runner = (struct runner){.task = task_of(&model->form),
                              .device = model->device,
                              .form = model->form,
                              .batch = batch,
                              .result_count = model->loss_count,
                              .scores = model->scores,
                              .units = {model->units[0], model->units[1]},
                              .values = 1};
    for (uint32_t i = 0; i < model->loss_count; i++) {
        const struct glcnn_loss_parameters *loss =
            glcnn_loss(glcnn_filter_node_kernel(model->losses[i]));
        runner->results[i] = glcnn_filter_node_loss(model->losses[i]);
        runner->weights[i] = loss ? loss->weight : 0;
    }
    return good(glcnn_training_graph_create_with_losses(model->losses, model->loss_count, NULL,
                                                        &descriptor, &runner->graph)) &&
           order_sources(runner, model) && make_images(runner, model) && make_labels(runner, model);
}

static void take_results(struct runner *runner, const struct model *model)
{
    const struct features *ends = &model->ends;
    runner->results[0] = model->probabilities;
    runner->result_count = ends->count > 0 ? ends->count : 1;
    for (uint32_t i = 0; i < ends->count; i++)
        runner->results[i] = ends->at[i].image;
}

bool runner_create_inference(struct model *model, uint32_t batch, uint64_t memory,
                             struct runner *runner)
{
    *runner = (struct runner){.task = task_of(&model->form),
                              .device = model->device,
                              .form = model->form,
                              .batch = batch};
    runner->values = runner->task->values(&model->form);
    if (model_drops(model)) {
        const struct model_part all = {.form = model->form};
        if (!model_create_part(model, &all, batch, &runner->plain))
            return false;
        model = &runner->plain;
    }
    take_results(runner, model);
    const struct glcnn_graph_descriptor descriptor = {
        .results = runner->results, .result_count = runner->result_count, .memory_budget = memory};
    return good(glcnn_graph_create(model->network, &descriptor, &runner->graph)) &&
           order_sources(runner, model) && make_images(runner, model);
}

void runner_destroy(struct runner *runner)
{
    input_destroy(&runner->input);
    glcnn_graph_destroy(&runner->graph);
    for (uint32_t k = 0; k < FEATURES_MAX; k++)
        glcnn_image_destroy(&runner->images[k]);
    for (uint32_t k = 0; k < LABELS_MAX; k++)
        glcnn_image_destroy(&runner->labels[k]);
    free(runner->unit_values);
    model_destroy(&runner->plain);
    free(runner->rows);
}

bool runner_set_targets(struct runner *runner, const struct targets *targets)
{
    runner->targets = targets;
    runner->rows = calloc((size_t)runner->batch * targets->classes, sizeof *runner->rows);
    return runner->rows;
}

bool runner_take(struct runner *runner, const struct input_parameters *parameters)
{
    runner->mix = &runner->input.mix;
    input_destroy(&runner->input);
    return input_create(runner->device, &runner->form, runner->batch, parameters, &runner->input);
}

void runner_take_from(struct runner *runner, runner_finder find, void *user)
{
    runner->find = find;
    runner->user = user;
}

void runner_sum_with(struct runner *runner, runner_summer sum, void *user)
{
    runner->sum = sum;
    runner->sum_user = user;
}

bool runner_sum(struct runner *runner, double *number)
{
    return !runner->sum || runner->sum(runner->sum_user, number, runner->error);
}

void runner_scale_losses(struct runner *runner, double factor)
{
    for (uint32_t i = 0; i < runner->result_count; i++)
        glcnn_loss(glcnn_filter_node_kernel(glcnn_image_node_filter(runner->results[i])))->weight =
            (float)((double)runner->weights[i] * factor);
}

const float *runner_units(struct runner *runner)
{
    const uint32_t count = runner->form.classes;
    if (runner->unit_values)
        return runner->unit_values;
    float *values = malloc(2 * (size_t)count * sizeof *values);
    if (values && model_read_units(runner->units, count, values))
        return runner->unit_values = values;
    free(values);
    return NULL;
}

const char *runner_error(const struct runner *runner)
{
    return runner->error[0] ? runner->error : model_failure(runner->device);
}

bool runner_memory(struct runner *runner, struct glcnn_memory_plan *memory)
{
    struct glcnn_image_descriptor sources[FEATURES_MAX + LABELS_MAX];
    const uint32_t images = runner->taken.count;
    for (uint32_t i = 0; i < runner->source_count; i++) {
        const uint32_t k = runner->order[i];
        sources[i] = k < images ? images_of(runner, k)
                                : runner->task->labels(&runner->form, k - images, runner->batch);
        if (k < images)
            sources[i].channel_format = input_format(&runner->input);
    }
    return good(glcnn_graph_memory(runner->graph, sources, memory));
}

/* A file may say that its network has other classes than it has. */
static bool check_result(struct runner *runner, const glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    const uint64_t found = (uint64_t)d->width * d->height * d->feature_channels;
    if (found == runner->values)
        return true;
    snprintf(runner->error, sizeof runner->error,
             "the network makes %" PRIu64 " values for a picture; its file says %zu", found,
             runner->values);
    return false;
}

static bool read_values(struct runner *runner, glcnn_image_node *node, float *values)
{
    glcnn_image *image = glcnn_graph_image(runner->graph, node);
    return check_result(runner, image) &&
           good(glcnn_image_read_bytes(image, NULL, values,
                                       runner->values * runner->batch * sizeof *values));
}

/* Of several losses the sum. */
static bool read_result(struct runner *runner, float *result)
{
    const size_t count = runner->values * runner->batch;
    bool read = read_values(runner, runner->results[0], result);
    float *more = read && runner->result_count > 1 ? malloc(count * sizeof *more) : NULL;
    for (uint32_t i = 1; i < runner->result_count && read; i++) {
        read = more && read_values(runner, runner->results[i], more);
        for (size_t k = 0; read && k < count; k++)
            result[k] += more[k];
    }
    free(more);
    return read;
}

static bool execute(struct runner *runner, glcnn_image *const images[])
{
    glcnn_image *sources[FEATURES_MAX + LABELS_MAX];
    const uint32_t count = runner->taken.count;
    for (uint32_t i = 0; i < runner->source_count; i++) {
        const uint32_t k = runner->order[i];
        sources[i] = k < count ? images[k] : runner->given_labels[k - count];
    }
    return good(glcnn_graph_execute(runner->graph, sources, NULL, NULL));
}

static bool run(struct runner *runner, glcnn_image *const images[], float *result)
{
    return execute(runner, images) && good(glcnn_graph_wait(runner->graph)) &&
           read_result(runner, result);
}

static bool take_labels(struct runner *runner, const struct glcnn_data_batch *batch)
{
    memcpy(runner->given_labels, runner->labels, sizeof runner->given_labels);
    return runner->task->write_labels(runner, batch);
}

bool runner_repeat(struct runner *runner)
{
    return execute(runner, runner->images);
}

/* Counts the values of image k in a batch. */
static size_t values_of(const struct runner *runner, uint32_t k)
{
    return feature_values(&runner->taken.at[k]) * runner->batch;
}

bool runner_write(struct runner *runner, const float *values, glcnn_image *images[FEATURES_MAX])
{
    bool written = true;
    for (uint32_t k = 0; k < runner->taken.count && written; k++) {
        images[k] = runner->images[k];
        written = good(glcnn_image_write_bytes(images[k], NULL, values,
                                               values_of(runner, k) * sizeof *values));
        values += values_of(runner, k);
    }
    return written;
}

bool runner_run(struct runner *runner, const float *images, const struct glcnn_data_batch *labels,
                float *result)
{
    glcnn_image *written[FEATURES_MAX];
    return runner_write(runner, images, written) && (!labels || take_labels(runner, labels)) &&
           run(runner, written, result);
}

static bool find_images(struct runner *runner, const struct glcnn_data_batch *batch,
                        glcnn_image *images[FEATURES_MAX])
{
    runner->error[0] = 0;
    if (runner->find)
        return runner->find(runner->user, batch, images, runner->error);
    images[0] = input_run(&runner->input, batch);
    return images[0];
}

bool runner_run_batch(struct runner *runner, const struct glcnn_data_batch *batch, bool trains,
                      float *result)
{
    glcnn_image *images[FEATURES_MAX];
    return find_images(runner, batch, images) && (!trains || take_labels(runner, batch)) &&
           run(runner, images, result);
}

static void list_results(const struct runner *runner, glcnn_image **results)
{
    for (uint32_t i = 0; i < runner->result_count; i++)
        results[i] = glcnn_graph_image(runner->graph, runner->results[i]);
}

bool runner_results(struct runner *runner, const struct glcnn_data_batch *batch,
                    glcnn_image **results)
{
    glcnn_image *images[FEATURES_MAX];
    if (!find_images(runner, batch, images) || !execute(runner, images))
        return false;
    list_results(runner, results);
    return true;
}

static bool run_zeros(struct runner *runner)
{
    glcnn_image *images[FEATURES_MAX];
    size_t count = 0;
    for (uint32_t k = 0; k < runner->taken.count; k++)
        count += values_of(runner, k);
    float *zeros = calloc(count, sizeof *zeros);
    bool ran = zeros && runner_write(runner, zeros, images) && execute(runner, images);
    free(zeros);
    return ran;
}

bool runner_sizes(struct runner *runner, struct feature *results)
{
    glcnn_image *images[FEATURES_MAX];
    if (!run_zeros(runner))
        return false;
    list_results(runner, images);
    for (uint32_t i = 0; i < runner->result_count; i++) {
        const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(images[i]);
        results[i].width = d->width;
        results[i].height = d->height;
        results[i].channels = d->feature_channels;
    }
    return true;
}

bool runner_scores(const struct runner *runner, float *scores)
{
    return good(glcnn_image_read_bytes(glcnn_graph_image(runner->graph, runner->scores), NULL,
                                       scores,
                                       sizeof *scores * runner->form.classes * runner->batch));
}
