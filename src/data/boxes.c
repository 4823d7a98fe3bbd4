/* Boxes from annotations to those of images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "scale.h"
#include "set.h"

/* ---- Annotations ---- */

void raw_box_free(struct raw_box *box)
{
    outline_free(&box->outline);
    free(box->points);
    box->points = NULL;
}

bool annotation_add(struct annotation *a, struct raw_box *box)
{
    struct raw_box *boxes = array_grow(a->boxes, a->count, &a->capacity, sizeof *boxes);
    if (!boxes) {
        raw_box_free(box);
        return false;
    }
    a->boxes = boxes;
    a->boxes[a->count++] = *box;
    return true;
}

void annotation_clear(struct annotation *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        raw_box_free(&a->boxes[i]);
    a->count = 0;
}

void annotation_free(struct annotation *a)
{
    annotation_clear(a);
    free(a->boxes);
    *a = (struct annotation){0};
}

/* ---- Messages ---- */

glcnn_status boxes_tally(glcnn_dataset *set, struct tally *tally, const char *message, char *error)
{
    if (set->parameters.strict)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%s", message);
    if (tally->count++ == 0)
        snprintf(tally->first, sizeof tally->first, "%.399s", message);
    return GLCNN_SUCCESS;
}

void boxes_tell_outline(glcnn_dataset *set, const char *path)
{
    struct tally *outlined = &set->boxes.outlined;
    snprintf(
        outlined->first, sizeof outlined->first,
        "%.200s: objects have outlines, of which the boxes are learned; targets that are masks "
        "(--task segment) learn their pixels",
        path);
    outlined->count = 1;
}

void boxes_tell_points(glcnn_dataset *set, const char *path)
{
    struct tally *pointed = &set->boxes.pointed;
    snprintf(pointed->first, sizeof pointed->first,
             "%.200s: objects have keypoints, and their boxes are learned; --task keypoints learns "
             "the keypoints",
             path);
    pointed->count = 1;
}

/* ---- Pictures ---- */

static struct glcnn_data_box *append(struct boxes *b)
{
    struct glcnn_data_box *items =
        b->count < UINT32_MAX ? array_grow(b->items, b->count, &b->capacity, sizeof *items) : NULL;
    if (!items)
        return NULL;
    b->items = items;
    return &b->items[b->count++];
}

/* Cuts the shares of an extent; false: nothing is left. */
static bool cut(double low, double high, float *from, float *to)
{
    *from = (float)fmax(low, 0);
    *to = (float)fmin(high, 1);
    return *to > *from;
}

static glcnn_status refuse_empty(glcnn_dataset *set, const struct annotation *a,
                                 const struct raw_box *raw, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    bool has_size = raw->right > raw->left && raw->bottom > raw->top;
    snprintf(message, sizeof message,
             "%.200s: %s%zu%s: the box from %g, %g to %g, %g %s, and is left out", a->path,
             a->before, raw->place, a->behind, raw->left, raw->top, raw->right, raw->bottom,
             has_size ? "lies outside of its picture" : "has no size");
    return boxes_tally(set, &set->boxes.empty, message, error);
}

static glcnn_status add_box(glcnn_dataset *set, const struct picture *head,
                            const struct annotation *a, const struct raw_box *raw, char *error)
{
    double width = a->in_pixels ? head->width : 1, height = a->in_pixels ? head->height : 1;
    struct glcnn_data_box box = {
        .label = raw->label, .is_crowd = raw->is_crowd, .is_difficult = raw->is_difficult};
    bool is_wide = cut(raw->left / width, raw->right / width, &box.left, &box.right);
    bool is_high = cut(raw->top / height, raw->bottom / height, &box.top, &box.bottom);
    if (!is_wide || !is_high)
        return refuse_empty(set, a, raw, error);
    struct glcnn_data_box *added = append(&set->boxes);
    if (!added)
        return fail_no_memory(error, a->path);
    *added = box;
    return GLCNN_SUCCESS;
}

/* Boxes of a picture that was turned or scaled since would lie elsewhere. */
static glcnn_status refuse_size(glcnn_dataset *set, glcnn_data_part part,
                                const struct picture_file *file, const struct annotation *a,
                                char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.150s: is %ux%u, and %.150s has boxes of a picture of %ux%u; expected the same "
             "size, after EXIF's orientation",
             file->path, file->head.width, file->head.height, a->path, a->width, a->height);
    set_remove_picture(set, part);
    return set_complain(set, 1, message, error);
}

static glcnn_status attach_boxes(glcnn_dataset *set, const struct annotation *a, char *error)
{
    struct picture_file *file = &set->files[set->file_count - 1];
    const uint32_t first = set->boxes.count;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < a->count && status == GLCNN_SUCCESS; i++)
        status = add_box(set, &file->head, a, &a->boxes[i], error);
    file->first_box = first;
    file->box_count = set->boxes.count - first;
    return status;
}

glcnn_status annotation_attach(glcnn_dataset *set, glcnn_data_part part, const struct annotation *a,
                               char *error)
{
    const struct picture_file *file = &set->files[set->file_count - 1];
    if ((a->width && a->width != file->head.width) || (a->height && a->height != file->head.height))
        return refuse_size(set, part, file, a, error);
    if (set->parameters.targets == GLCNN_DATA_TARGETS_MASKS)
        return masks_attach(set, part, a, error);
    if (set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS)
        return keypoints_attach(set, part, a, error);
    return attach_boxes(set, a, error);
}

/* ---- Images ---- */

/* False: the box lies outside of the middle of its picture that is shown. */
static bool move_box(struct glcnn_data_box *box, const struct picture *head,
                     const struct glcnn_data_window *window)
{
    const double width = head->width, height = head->height;
    box->left = (float)((box->left * width - window->left) / window->width);
    box->right = (float)((box->right * width - window->left) / window->width);
    box->top = (float)((box->top * height - window->top) / window->height);
    box->bottom = (float)((box->bottom * height - window->top) / window->height);
    return box->right > 0 && box->left < 1 && box->bottom > 0 && box->top < 1;
}

static uint32_t move_boxes(glcnn_dataset *set, const struct picture_file *file)
{
    const struct scaled to = {.width = set->info.width,
                              .height = set->info.height,
                              .side = set->parameters.resize,
                              .fit = set->parameters.fit};
    const struct glcnn_data_window window = scale_window(file->head.width, file->head.height, &to);
    uint32_t outside = 0;
    for (uint32_t i = 0; i < file->box_count; i++)
        outside += !move_box(&set->boxes.items[file->first_box + i], &file->head, &window);
    return outside;
}

void boxes_fit(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    uint32_t outside = 0;
    for (uint32_t i = 0; i < set->file_count; i++)
        outside += set->files[i].box_count > 0 ? move_boxes(set, &set->files[i]) : 0;
    snprintf(message, sizeof message,
             "%.250s: %u of %u boxes lie outside of the middle of their pictures that images of "
             "%ux%u show; they cannot be found",
             set->path, outside, set->boxes.count, set->info.width, set->info.height);
    if (outside > 0)
        set_decide(set, message);
}

const struct glcnn_data_box *glcnn_dataset_boxes(const glcnn_dataset *data, glcnn_data_part part,
                                                 uint32_t index, uint32_t *count)
{
    *count = 0;
    if ((unsigned)part >= GLCNN_DATA_PARTS || index >= data->parts[part].count ||
        data->boxes.count == 0)
        return NULL;
    if (data->source.is_given) {
        const uint32_t *first = data->source.first_box + data->parts[part].items[index].target;
        *count = first[1] - first[0];
        return *count > 0 ? data->boxes.items + first[0] : NULL;
    }
    const struct picture_file *file = &data->files[data->parts[part].items[index].index];
    *count = file->box_count;
    return file->box_count > 0 ? data->boxes.items + file->first_box : NULL;
}

void boxes_free(struct boxes *boxes)
{
    for (uint32_t i = 0; i < boxes->class_count; i++)
        free(boxes->classes[i]);
    free(boxes->classes);
    free(boxes->items);
    *boxes = (struct boxes){0};
}
