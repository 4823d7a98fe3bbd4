/* Finds the maps of a network, and puts a head on them. */
#include "backbone.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "maps.h"

#define LEAST_SIDE 2

bool backbone_serves(const struct form *own, const struct form *form)
{
    return task_of(form)->head && !task_of(own)->head;
}

/* ---- Strides ---- */

/* Of each stride, 1 << its number, the map that stands for it; NULL: there is none. */
struct scales {
    const struct map *at[FEATURES_MAX];
};

/* The number of the stride that is nearest to the ratio. */
static long stride_of(uint32_t picture, uint32_t map)
{
    return lround(log2((double)picture / map));
}

/* That of a map; -1: it is none, or has different ones in both directions. */
static long scale_of(const struct form *map, const struct form *picture)
{
    const long x = stride_of(picture->width, map->width),
               y = stride_of(picture->height, map->height);
    return x == y && x >= 0 && x < FEATURES_MAX && map->width >= LEAST_SIDE &&
                   map->height >= LEAST_SIDE
               ? x
               : -1;
}

static bool has_weights(const struct map *map)
{
    return model_filter_has_weights(glcnn_image_node_filter(map->image));
}

static void find_scales(const struct maps *maps, const struct form *picture, struct scales *scales)
{
    long deepest = 0;
    bool has_begun = false;
    *scales = (struct scales){{NULL}};
    for (size_t i = 0; i < maps->count; i++) {
        const struct map *map = &maps->at[i];
        const long scale = scale_of(&map->form, picture);
        has_begun = has_begun || has_weights(map);
        if (!has_begun || scale < deepest)
            continue;
        deepest = scale;
        if (!scales->at[scale] || map_is_sum(map) || !map_is_sum(scales->at[scale]))
            scales->at[scale] = map;
    }
}

/* ---- What cannot serve ---- */

static const struct map *last_of(const struct scales *scales)
{
    size_t i = FEATURES_MAX;
    while (i > 0 && !scales->at[i - 1])
        i--;
    return i > 0 ? scales->at[i - 1] : NULL;
}

static bool is_row(const struct form *form)
{
    return (form->width == 1) != (form->height == 1);
}

static bool refuse_rows(const struct maps *maps, const struct map *last, const struct task *task,
                        char error[GLCNN_ERROR_LENGTH])
{
    for (const struct map *map = last + 1; map < maps->at + maps->count; map++) {
        if (!has_weights(map) || !is_row(&map->form))
            continue;
        snprintf(
            error, GLCNN_ERROR_LENGTH,
            "the network cannot be the backbone for the task %s: behind its last map, \"%.100s\" "
            "of %ux%u pixels, layers work on rows of values, as in transformers (\"%.100s\"); "
            "expected maps up to the classifier's last layers",
            task->name, last->label, last->form.width, last->form.height, map->label);
        return true;
    }
    return false;
}

static bool check(const struct maps *maps, const struct scales *scales, const struct form *form,
                  char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = task_of(form);
    if (scales->at[2] || scales->at[3] || scales->at[4])
        return !refuse_rows(maps, last_of(scales), task, error);
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "the network cannot be the backbone for the task %s: of pictures of %ux%u, none of its "
        "layers makes a map with a pixel for 4x4, 8x8 or 16x16 pixels",
        task->name, form->width, form->height);
    return false;
}

/* ---- The head ---- */

static struct features features_of(const struct scales *scales)
{
    struct features features = {.net = NULL};
    for (size_t i = 0; i < FEATURES_MAX; i++)
        if (scales->at[i])
            features.at[features.count++] =
                (struct feature){scales->at[i]->image, scales->at[i]->form.width,
                                 scales->at[i]->form.height, scales->at[i]->form.channels};
    return features;
}

/* Does the head read the image? */
static bool is_read(const glcnn_network *network, const char *head, const glcnn_image_node *image)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++)
        if (strncmp(glcnn_filter_node_label(filter), head, strlen(head)) == 0)
            for (size_t k = 0; k < glcnn_filter_node_source_count(filter); k++)
                if (glcnn_filter_node_source(filter, k) == image)
                    return true;
    return false;
}

static void describe(const glcnn_network *network, const char *head, const struct scales *scales,
                     char text[MODEL_BACKBONE])
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < FEATURES_MAX && used < MODEL_BACKBONE; i++)
        if (scales->at[i] && is_read(network, head, scales->at[i]->image))
            used +=
                (size_t)snprintf(text + used, MODEL_BACKBONE - used, "%s%.60s of %ux%ux%u",
                                 used ? ", " : "", scales->at[i]->label, scales->at[i]->form.width,
                                 scales->at[i]->form.height, scales->at[i]->form.channels);
}

static bool fail_device(const struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(model->device));
    return false;
}

/* The part of the network that the head is made of. */
static bool add_head(const struct model *whole, const struct scales *scales,
                     const struct form *form, struct model *part, char text[MODEL_BACKBONE])
{
    const struct features features = features_of(scales);
    glcnn_image_node *scores = model_add_head(whole->network, &features, form);
    const struct model_part what = {
        .to = {.at = {{.image = scores}}, .count = 1}, .form = *form, .drops = true};
    if (!scores || glcnn_network_status(whole->network) != GLCNN_SUCCESS)
        return false;
    describe(whole->network, task_of(form)->head, scales, text);
    return model_create_part(whole, &what, 1, part);
}

static bool make_part(const struct model *whole, const struct form *form, struct model *part,
                      char text[MODEL_BACKBONE], char error[GLCNN_ERROR_LENGTH])
{
    struct maps maps;
    struct scales scales;
    bool made = maps_find(whole, &maps) || fail_device(whole, error);
    if (made) {
        find_scales(&maps, &whole->form, &scales);
        made = check(&maps, &scales, form, error) &&
               (add_head(whole, &scales, form, part, text) || fail_device(whole, error));
    }
    maps_free(&maps);
    return made;
}

bool backbone_open(glcnn_network *network, const struct form *own, const struct form *form,
                   uint32_t batch, struct model *model, char error[GLCNN_ERROR_LENGTH])
{
    char text[MODEL_BACKBONE];
    struct model whole, part = {.network = NULL};
    bool made = model_keep(network, own, 1, &whole, error);
    if (made && whole.images.count == 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, "the network has not one input of pictures");
        made = false;
    }
    made = made && make_part(&whole, form, &part, text, error);
    model_destroy(&whole);
    if (!made) {
        model_destroy(&part);
        return false;
    }
    made = model_open(part.network, form, batch, model, error);
    memcpy(model->backbone, text, sizeof text);
    return made;
}
