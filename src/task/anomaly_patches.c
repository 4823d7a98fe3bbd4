/* Networks of patches: made of a backbone, or read. */
#include "anomaly_patches.h"

#include <glcnn/kernels/pooling.h>
#include <glcnn/kernels/resize.h>
#include <glcnn/kernels/slice.h>
#include <glcnn/serialize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW      3   /* pixels of a side that a patch is the mean of */
#define LEAST_GRID  2   /* pixels of a side */
#define LABELS_TEXT 400 /* characters of the labels that a message lists */

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

static bool fail_device(const glcnn_device *device, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(device));
    return false;
}

/* ---- Reading ---- */

/* The file's network with its weights, without a loss. */
static bool read_network(const struct saved *saved, const char *path, glcnn_device *device,
                         struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_network *network = NULL;
    if (saved->form.channels > GLCNN_DATA_MAX_CHANNELS) {
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: takes images of %u channels; the pictures read here have at most %d",
                 path, saved->form.channels, GLCNN_DATA_MAX_CHANNELS);
        return false;
    }
    if (!saved_network(saved, path, device, &network, error)) {
        glcnn_network_destroy(&network);
        return false;
    }
    if (!model_keep(network, &saved->form, 1, model, error))
        return false;
    if (model->images.count > 0)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: its network has not one input of pictures", path);
    return false;
}

/* ---- Cutting ---- */

static void tell_labels(const struct maps *layers, const char *path, const char *label,
                        char error[GLCNN_ERROR_LENGTH])
{
    char text[LABELS_TEXT] = "";
    const char **names = calloc(layers->count + 1, sizeof *names);
    for (size_t i = 0; names && i < layers->count; i++)
        names[i] = layers->at[i].label;
    if (names)
        glcnn_suggest(label, strlen(label), names, layers->count, text, sizeof text);
    free(names);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.150s: has no layer \"%.60s\"%.250s", path, label,
             *text ? text : "; \"glcnn import --parameters\" lists those that have weights");
}

static bool find_labels(struct patches *p, const struct maps *layers, const char *path,
                        const char *const *labels, size_t count, char error[GLCNN_ERROR_LENGTH])
{
    for (size_t k = 0; k < count; k++) {
        size_t i = 0;
        while (i < layers->count && strcmp(layers->at[i].label, labels[k]) != 0)
            i++;
        if (i == layers->count) {
            tell_labels(layers, path, labels[k], error);
            return false;
        }
        p->outputs[p->output_count++] = layers->at[i];
    }
    return true;
}

static bool is_grid(const struct form *form)
{
    return form->width >= LEAST_GRID && form->height >= LEAST_GRID;
}

/* A pixel of the layer is one of at most so many pixels of a side of the picture. */
static bool is_fine(const struct map *layer, const struct form *picture, uint32_t pixels)
{
    return (uint64_t)layer->form.width * pixels >= picture->width &&
           (uint64_t)layer->form.height * pixels >= picture->height;
}

static uint64_t area(const struct map *layer)
{
    return (uint64_t)layer->form.width * layer->form.height;
}

/* Of the layers with the fewest pixels that are fine enough the last that is a sum, for what lies within a
 * block knows less; the last of all where there is none. */
static const struct map *find_deepest(const struct maps *layers, const struct form *picture,
                                      uint32_t pixels)
{
    const struct map *best = NULL;
    for (size_t i = 0; i < layers->count; i++) {
        const struct map *layer = &layers->at[i];
        if (!is_grid(&layer->form) || !is_fine(layer, picture, pixels))
            continue;
        const bool is_smaller = !best || area(layer) < area(best);
        if (is_smaller || (area(layer) == area(best) && (map_is_sum(layer) || !map_is_sum(best))))
            best = layer;
    }
    return best;
}

static void choose_layers(struct patches *p, const struct maps *layers)
{
    const struct map *fine = find_deepest(layers, &p->whole.form, 8),
                     *coarse = find_deepest(layers, &p->whole.form, 16);
    if (fine)
        p->outputs[p->output_count++] = *fine;
    if (coarse && coarse != fine)
        p->outputs[p->output_count++] = *coarse;
}

static bool check_outputs(const struct patches *p, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    if (p->output_count == 0)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: has no layer with a pixel for each 16x16 pixels of its pictures of "
                 "%ux%u; --output names one",
                 path, p->whole.form.width, p->whole.form.height);
    for (size_t k = 0; k < p->output_count; k++) {
        const struct map *output = &p->outputs[k];
        if (is_grid(&output->form))
            continue;
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.200s: layer \"%.100s\" makes an image of %ux%u pixels; patches need a layer of "
                 "%dx%d or more",
                 path, output->label, output->form.width, output->form.height, LEAST_GRID,
                 LEAST_GRID);
        return false;
    }
    return p->output_count > 0;
}

static bool find_outputs(struct patches *p, const char *path, const char *const *labels,
                         size_t count, char error[GLCNN_ERROR_LENGTH])
{
    struct maps layers;
    bool found = maps_find(&p->whole, &layers) || fail_device(p->whole.device, error);
    if (found && count == 0)
        choose_layers(p, &layers);
    else if (found)
        found = find_labels(p, &layers, path, labels, count, error);
    maps_free(&layers);
    return found && check_outputs(p, path, error);
}

/* ---- Patches ---- */

/* So that no layer of the backbone has the same. */
static void name_filter(glcnn_image_node *result, const char *name, size_t number)
{
    char label[32];
    snprintf(label, sizeof label, "anomaly.%s_%zu", name, number);
    glcnn_filter_node_set_label(glcnn_image_node_filter(result), label);
}

static glcnn_image_node *add_output(const struct map *output, const struct form *grid,
                                    size_t number)
{
    const struct glcnn_resize_parameters size = {.resized_width = grid->width,
                                                 .resized_height = grid->height};
    glcnn_image_node *x = glcnn_pooling_average_node(output->image, WINDOW, WINDOW, 1, 1);
    name_filter(x, "mean", number);
    if (output->form.width == grid->width && output->form.height == grid->height)
        return x;
    x = glcnn_resize_linear_node(x, &size);
    name_filter(x, "resize", number);
    return x;
}

/* Adds what makes patches to the backbone. */
static glcnn_image_node *add_patches(const struct patches *p)
{
    glcnn_image_node *all[PATCHES_OUTPUTS];
    const struct form *grid = &p->outputs[0].form;
    for (size_t k = 1; k < p->output_count; k++)
        if (p->outputs[k].form.width > grid->width)
            grid = &p->outputs[k].form;
    for (size_t k = 0; k < p->output_count; k++)
        all[k] = add_output(&p->outputs[k], grid, k);
    if (p->output_count == 1)
        return all[0];
    glcnn_image_node *joined = glcnn_concatenation_node(all, p->output_count);
    name_filter(joined, "concatenation", 0);
    return joined;
}

static bool make_runner(struct patches *p, uint32_t batch, char error[GLCNN_ERROR_LENGTH])
{
    struct feature patches;
    if (!runner_create_inference(&p->part, batch, 0, &p->runner) ||
        !runner_sizes(&p->runner, &patches))
        return fail_device(p->part.device, error);
    p->grid.width = patches.width;
    p->grid.height = patches.height;
    p->grid.channels = patches.channels;
    return true;
}

/* The network of patches is a part of the backbone with its kernels; readers of its file find its result by
 * the mark. */
static bool make_part(struct patches *p, glcnn_image_node *patches, char error[GLCNN_ERROR_LENGTH])
{
    const struct model_part what = {.to = {.at = {{.image = patches}}, .count = 1},
                                    .form = p->whole.form};
    if (!good(glcnn_network_status(p->whole.network)) ||
        !model_create_part(&p->whole, &what, 1, &p->part))
        return fail_device(p->whole.device, error);
    glcnn_image_node_set_export_from_graph(p->part.scores, true);
    return good(glcnn_network_serialize(p->part.network, false, &p->part.description,
                                        &p->part.description_size, error));
}

bool patches_cut(const struct saved *saved, const char *path, glcnn_device *device,
                 const char *const *labels, size_t label_count, uint32_t batch, struct patches *p,
                 char error[GLCNN_ERROR_LENGTH])
{
    *p = (struct patches){.output_count = 0};
    return read_network(saved, path, device, &p->whole, error) &&
           find_outputs(p, path, labels, label_count, error) &&
           make_part(p, add_patches(p), error) && make_runner(p, batch, error);
}

bool patches_open(const struct saved *saved, const char *path, glcnn_device *device, uint32_t batch,
                  struct patches *p, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_image_node *image;
    *p = (struct patches){.output_count = 0};
    if (!read_network(saved, path, device, &p->part, error))
        return false;
    for (size_t i = 0; (image = glcnn_network_image(p->part.network, i)) != NULL; i++)
        if (glcnn_image_node_export_from_graph(image))
            p->part.scores = p->part.probabilities = image;
    if (p->part.scores)
        return make_runner(p, batch, error);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: its network has no result of patches", path);
    return false;
}

void patches_destroy(struct patches *p)
{
    runner_destroy(&p->runner);
    model_destroy(&p->part);
    model_destroy(&p->whole);
    *p = (struct patches){.output_count = 0};
}
