/* Where a training left the finite numbers. The step that showed it has spoiled all weights; so the
 * steps since the last checkpoint are repeated, which gives the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "train_session.h"

#include "base/clock.h"

#define PATIENCE 60 /* seconds of training that are repeated at most */

/* Where the repeated steps begin: the last checkpoint, or where this run began. */
struct origin {
    const char *path; /* NULL: weights as they are made */
    size_t step;
};

static bool find_origin(const glcnn_trainer *s, struct origin *origin)
{
    *origin = s->is_saved ? (struct origin){s->settings.out, s->saved_step}
                          : (struct origin){s->settings.resume, s->first};
    return s->is_saved || seconds_now() - s->begun <= PATIENCE;
}

static void keep_results(struct model *model)
{
    glcnn_image_node *image;
    for (size_t i = 0; (image = glcnn_network_image(model->network, i)) != NULL; i++)
        if (glcnn_image_node_filter(image) && image != model->probabilities)
            glcnn_image_node_set_export_from_graph(image, true);
}

/* Element i of an image's bytes. */
static bool is_finite_at(const void *bytes, glcnn_channel_format format, size_t i)
{
    const uint16_t *float16s = bytes;
    const float *floats = bytes;
    return format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? (float16s[i] & 0x7c00) != 0x7c00
                                                  : isfinite(floats[i]);
}

static bool is_finite(glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    size_t count = (size_t)d->width * d->height * d->feature_channels * d->number_of_images, i = 0;
    size_t size = count * (d->channel_format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? 2 : 4);
    void *bytes = malloc(size);
    bool known = bytes && glcnn_image_read_bytes(image, NULL, bytes, size) == GLCNN_SUCCESS;
    while (known && i < count && is_finite_at(bytes, d->channel_format, i))
        i++;
    free(bytes);
    return !known || i == count;
}

/* Nodes are in the order of their making: sources before what reads them. */
static void name_node(const struct model *model, const struct runner *runner,
                      char clause[GLCNN_ERROR_LENGTH])
{
    glcnn_image_node *node;
    for (size_t i = 0; (node = glcnn_network_image(model->network, i)) != NULL; i++) {
        glcnn_image *image = glcnn_graph_image(runner->graph, node);
        if (!glcnn_image_node_filter(node) || !image || is_finite(image))
            continue;
        snprintf(clause, GLCNN_ERROR_LENGTH,
                 "; the first result that is not finite is that of %.100s",
                 glcnn_filter_node_label(glcnn_image_node_filter(node)));
        return;
    }
}

static void step_again(glcnn_trainer *s, struct model *model, struct runner *runner,
                       glcnn_data_loader *loader, size_t first, char clause[GLCNN_ERROR_LENGTH])
{
    char error[GLCNN_ERROR_LENGTH];
    float loss = 0;
    for (size_t step = first; step <= s->step && isfinite(loss); step++)
        if (!session_step(s, model, runner, loader, step, &loss, NULL, error))
            return;
    if (!isfinite(loss))
        name_node(model, runner, clause);
}

/* As no pictures leave one: what training began with had it. */
static bool has_negative_variance(const struct model *model)
{
    glcnn_filter_node *filter;
    bool found = false;
    for (size_t i = 0; !found && (filter = glcnn_network_filter(model->network, i)) != NULL; i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
        if (!glcnn_kernel_has_vector(kernel, "variance"))
            continue;
        glcnn_buffer *variance = glcnn_kernel_vector(kernel, "variance");
        size_t size = variance ? glcnn_buffer_size(variance) : 0;
        float *values = malloc(size + 1);
        bool known =
            values && variance && glcnn_buffer_read(variance, 0, size, values) == GLCNN_SUCCESS;
        for (size_t k = 0; known && k < size / sizeof *values; k++)
            found = found || values[k] < 0;
        free(values);
    }
    return found;
}

/* The first loss is that of weights which no step of this run has changed. */
const char *session_advice(const glcnn_trainer *s)
{
    if (has_negative_variance(&s->model))
        return "a running variance of the network is below 0: the file that it began with is "
               "damaged";
    if (s->step == s->first)
        return "no step of this run had changed the weights yet: those that it began with are "
               "damaged, or the values of a picture are too large";
    return "a lower --lr, a --warmup or --clip-norm may help";
}

void session_find_not_finite(glcnn_trainer *s, char clause[GLCNN_ERROR_LENGTH])
{
    char error[GLCNN_ERROR_LENGTH];
    struct origin origin;
    struct model model = {.network = NULL};
    struct runner runner = {.graph = NULL};
    glcnn_data_loader *loader = NULL;
    clause[0] = 0;
    if (!find_origin(s, &origin) || session_unfreezes_behind(s, origin.step) || s->rounded.network)
        return;
    struct layers layers;
    struct ema ema = {.decay = 0};
    bool good = session_make_model(s, false, &model, &layers, error);
    ema_begin(&ema, model.network, 0);
    if (good && origin.path)
        good = session_load_trained(origin.path, model.network, &ema, error);
    if (good)
        keep_results(&model);
    if (good && session_load(s, origin.step, false, &loader, error) &&
        session_make_trainer(s, &model, 0, &runner))
        step_again(s, &model, &runner, loader, origin.step, clause);
    glcnn_data_loader_destroy(&loader);
    runner_destroy(&runner);
    model_destroy(&model);
}
