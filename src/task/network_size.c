/* Sizes in a network are those of its windows over whole maps and of its resizing; all else follows from the picture.
 * Filters that change an image's places, or have weights for each of them, do for one size alone. */
#include "network_size.h"

#include <glcnn/kernels/pad.h>
#include <glcnn/kernels/resize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detection_box.h"
#include "keypoint_map.h"
#include "maps.h"
#include "task.h"

/* A side of an image in pixels, of pictures of the own size and of the other. */
struct side {
    uint32_t own, other;
};

struct sides {
    struct side x, y;
};

/* The struct keeps what is known of a network while it is changed. */
struct change {
    struct model model;
    const struct form *own, *form;
    const struct task *task;
    struct maps before, after; /* of both sizes; `after` reaches as far as it is known */
    char *error;
};

static glcnn_kernel *kernel_of(glcnn_filter_node *filter)
{
    return glcnn_filter_node_kernel(filter);
}

static double get(glcnn_filter_node *filter, const char *name)
{
    double value = 0;
    return glcnn_kernel_get(kernel_of(filter), name, &value) == GLCNN_SUCCESS ? value : 0;
}

static bool refuse(const struct change *c, const char *label, const char *why)
{
    snprintf(c->error, GLCNN_ERROR_LENGTH,
             "the network was made for images of %ux%u, and does not take %ux%u: its layer "
             "\"%.100s\" %s",
             c->own->width, c->own->height, c->form->width, c->form->height, label, why);
    return false;
}

static bool refuse_device(const struct change *c)
{
    snprintf(c->error, GLCNN_ERROR_LENGTH,
             "the network was made for images of %ux%u, and does not take %ux%u: %s", c->own->width,
             c->own->height, c->form->width, c->form->height, model_failure(c->model.device));
    return false;
}

/* Extents of the results of the first filters, of pictures of the other size. */
static bool look_ahead(struct change *c, size_t filters)
{
    maps_free(&c->after);
    c->model.form = *c->form;
    const bool found = maps_find_first(&c->model, filters, &c->after);
    c->model.form = *c->own;
    return found || refuse_device(c);
}

/* Finds the sides of an image; those that its filter is not known to have of the other size are 0. */
static struct sides sides_of(const struct change *c, const glcnn_image_node *image)
{
    static const struct form unknown = {.width = 0};
    for (size_t i = 0; i < c->before.count; i++)
        if (c->before.at[i].image == image) {
            const struct form *before = &c->before.at[i].form,
                              *after = i < c->after.count ? &c->after.at[i].form : &unknown;
            return (struct sides){{before->width, after->width}, {before->height, after->height}};
        }
    return (struct sides){{c->own->width, c->form->width}, {c->own->height, c->form->height}};
}

static bool is_same(const struct side *side)
{
    return side->own == side->other;
}

/* ---- Windows over whole maps ---- */

/* A mean over all of a map is one over whichever map there is. A maximum over all of a small one may be one over windows
 * of that size, as pooling has them. */
static bool is_over_whole(glcnn_filter_node *filter, const struct sides *s)
{
    enum { WINDOW_MOST = 3 };
    const char *name = glcnn_kernel_name(kernel_of(filter));
    const bool is_mean = strcmp(name, "pooling_average") == 0,
               is_pool = is_mean || strcmp(name, "pooling_max") == 0 ||
                         strcmp(name, "pooling_l2_norm") == 0;
    return is_pool && get(filter, "kernel_width") == s->x.own &&
           get(filter, "kernel_height") == s->y.own && s->x.own * s->y.own > 1 &&
           (is_mean || s->x.own > WINDOW_MOST || s->y.own > WINDOW_MOST);
}

static bool set_window(glcnn_filter_node *filter, const char *window, const char *stride,
                       const struct side *side)
{
    const bool strides = get(filter, stride) == side->own;
    return glcnn_kernel_set(kernel_of(filter), window, side->other) == GLCNN_SUCCESS &&
           (!strides || glcnn_kernel_set(kernel_of(filter), stride, side->other) == GLCNN_SUCCESS);
}

/* ---- Resizing ---- */

/* Sizes that the head of a task knows of: that of pictures, of a detector's grids, of maps of keypoints. */
static size_t list_known(const struct change *c, struct sides known[1 + DETECTION_SCALES])
{
    size_t count = 0;
    known[count++] =
        (struct sides){{c->own->width, c->form->width}, {c->own->height, c->form->height}};
    if (c->task->layout) {
        const struct detection_layout own = c->task->layout(c->own),
                                      other = c->task->layout(c->form);
        for (uint32_t i = 0; i < own.scales; i++)
            known[count++] = (struct sides){{own.grids[i].columns, other.grids[i].columns},
                                            {own.grids[i].rows, other.grids[i].rows}};
    }
    if (c->task->points) {
        const struct keypoint_map own = keypoint_map(c->own), other = keypoint_map(c->form);
        known[count++] = (struct sides){{own.width, other.width}, {own.height, other.height}};
    }
    return count;
}

static bool matches(const struct sides *s, const struct glcnn_resize_parameters *p)
{
    return s->x.own == p->resized_width && s->y.own == p->resized_height;
}

/* The size that stands for the one that a map is brought to: a known one, that of the latest map of that size, or as
 * many times the source's. */
static bool find_target(const struct change *c, const struct glcnn_resize_parameters *p,
                        const struct sides *source, uint32_t target[2])
{
    struct sides known[2 + DETECTION_SCALES];
    const size_t count = list_known(c, known);
    const struct sides *found = NULL;
    struct sides of;
    for (size_t i = 0; i < count && !found; i++)
        found = matches(&known[i], p) ? &known[i] : NULL;
    for (size_t i = c->after.count; i > 0 && !found; i--) {
        of = sides_of(c, c->before.at[i - 1].image);
        found = matches(&of, p) ? &of : NULL;
    }
    if (found) {
        target[0] = found->x.other;
        target[1] = found->y.other;
        return true;
    }
    target[0] = p->resized_width / source->x.own * source->x.other;
    target[1] = p->resized_height / source->y.own * source->y.other;
    return p->resized_width % source->x.own == 0 && p->resized_height % source->y.own == 0;
}

static bool resize(const struct change *c, const struct map *map, const struct sides *source)
{
    struct glcnn_resize_parameters *p =
        glcnn_resize(kernel_of(glcnn_image_node_filter(map->image)));
    uint32_t target[2];
    if (!p || p->resized_width == 0 || p->resized_height == 0)
        return true;
    if (!find_target(c, p, source, target))
        return refuse(c, map->label, "brings its map to a size that follows from no other");
    p->resized_width = target[0];
    p->resized_height = target[1];
    return true;
}

/* A detector's smaller grids have columns added until they are as wide as the first. */
static bool widen(const struct change *c, const struct map *map, const struct sides *source)
{
    struct glcnn_pad_parameters *p = glcnn_pad(kernel_of(glcnn_image_node_filter(map->image)));
    if (!c->task->layout || !c->task->head || !p ||
        strncmp(map->label, c->task->head, strlen(c->task->head)) != 0)
        return true;
    const struct detection_layout other = c->task->layout(c->form);
    p->right = (int32_t)other.grids[0].columns - (int32_t)source->x.other;
    return p->right >= 0 || refuse(c, map->label, "makes the grids of a detector equally wide");
}

/* ---- All filters ---- */

static bool is_sized(glcnn_filter_node *filter, const struct sides *own)
{
    return is_over_whole(filter, own) || glcnn_resize(kernel_of(filter)) ||
           glcnn_pad(kernel_of(filter));
}

/* The filter of a map, with the extents of its source known. */
static bool change_filter(struct change *c, const struct map *map)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(map->image);
    const struct sides source = sides_of(c, glcnn_filter_node_source(filter, 0));
    if (is_over_whole(filter, &source))
        return (set_window(filter, "kernel_width", "stride_in_pixels_x", &source.x) &&
                set_window(filter, "kernel_height", "stride_in_pixels_y", &source.y)) ||
               refuse_device(c);
    return resize(c, map, &source) && widen(c, map, &source);
}

static bool change_filters(struct change *c)
{
    bool good = true;
    for (size_t i = 0; i < c->before.count && good; i++) {
        glcnn_filter_node *filter = glcnn_image_node_filter(c->before.at[i].image);
        if (glcnn_filter_node_source_count(filter) == 0)
            continue;
        const struct sides own = sides_of(c, glcnn_filter_node_source(filter, 0));
        if (is_sized(filter, &own))
            good = look_ahead(c, i) && change_filter(c, &c->before.at[i]);
    }
    return good && look_ahead(c, c->before.count);
}

/* ---- What does for one size alone ---- */

/* Kernels that do the same at each place of an image, or at all together. */
static bool is_anywhere(glcnn_filter_node *filter)
{
    static const char *const names[] = {"add",
                                        "axis_concatenation",
                                        "batch_normalization",
                                        "channel_shuffle",
                                        "concatenation",
                                        "convolution",
                                        "convolution_transpose",
                                        "cross_channel_normalization",
                                        "depth_to_space",
                                        "dilated_pooling_max",
                                        "divide",
                                        "dropout",
                                        "image_normalization",
                                        "instance_normalization",
                                        "log_soft_max",
                                        "maximum",
                                        "minimum",
                                        "multiply",
                                        "neuron",
                                        "pad",
                                        "pooling_average",
                                        "pooling_l2_norm",
                                        "pooling_max",
                                        "power",
                                        "soft_max",
                                        "space_to_depth",
                                        "subtract",
                                        "upsampling_bilinear",
                                        "upsampling_nearest"};
    const char *name = glcnn_kernel_name(kernel_of(filter));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strncmp(name, "reduce_", 7) == 0 || strncmp(name, "resize_", 7) == 0;
}

/* Windows that have more pads on one side have them for sources of that size, give or take whole strides. */
static bool has_own_pads(glcnn_filter_node *filter, const struct sides *s)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(kernel_of(filter));
    const uint32_t x = (uint32_t)get(filter, "stride_in_pixels_x"),
                   y = (uint32_t)get(filter, "stride_in_pixels_y");
    return (p->padding & GLCNN_PADDING_CUSTOM) &&
           ((x > 1 && p->pad.left != p->pad.right && s->x.own % x != s->x.other % x) ||
            (y > 1 && p->pad.top != p->pad.bottom && s->y.own % y != s->y.other % y));
}

static bool check_filter(const struct change *c, const struct map *map)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(map->image);
    const size_t count = glcnn_filter_node_source_count(filter);
    const bool anywhere = is_anywhere(filter);
    struct sides first = {{0, 0}, {0, 0}};
    for (size_t k = 0; k < count; k++) {
        const struct sides s = sides_of(c, glcnn_filter_node_source(filter, k));
        first = k == 0 ? s : first;
        if (!anywhere && (!is_same(&s.x) || !is_same(&s.y)))
            return refuse(c, map->label, "works on maps of one size alone");
        if ((s.x.own == first.x.own && s.x.other != first.x.other) ||
            (s.y.own == first.y.own && s.y.other != first.y.other))
            return refuse(c, map->label,
                          "would read maps of different sizes; multiples of 32 mostly suit");
        if (has_own_pads(filter, &s))
            return refuse(c, map->label,
                          "has pads for maps that differ by whole strides; multiples of 32 mostly "
                          "suit");
    }
    return true;
}

/* The answer must have as many values as the task says, since whoever reads it has room for those. */
static bool check_answer(const struct change *c)
{
    const struct map *last = &c->after.at[c->after.count - 1];
    const uint64_t values = (uint64_t)last->form.width * last->form.height * last->form.channels;
    return values == c->task->values(c->form) ||
           refuse(c, last->label, "makes answers of another size");
}

static bool change_network(struct change *c)
{
    bool good = maps_find(&c->model, &c->before) || refuse_device(c);
    good = good && c->before.count > 0 && change_filters(c);
    for (size_t i = 0; i < c->after.count && good; i++)
        good = check_filter(c, &c->before.at[i]);
    return good && check_answer(c);
}

bool network_take_size(glcnn_network *network, const struct form *own, const struct form *form,
                       char error[GLCNN_ERROR_LENGTH])
{
    struct change c = {.own = own, .form = form, .task = task_of(own), .error = error};
    bool good = model_keep(network, own, 1, &c.model, error);
    if (good && c.model.images.count == 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, "the network has not one input of pictures");
        good = false;
    }
    good = good && change_network(&c);
    maps_free(&c.before);
    maps_free(&c.after);
    c.model.network = NULL; /* it stays the caller's */
    model_destroy(&c.model);
    return good;
}
