/* Classes of boxes: those that the data lists, or that its boxes name. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "set.h"

/* ---- Lists ---- */

void boxes_take_classes(glcnn_dataset *set, struct names *names)
{
    struct boxes *boxes = &set->boxes;
    if (!boxes->classes && names->count > 0) {
        boxes->classes = names->texts;
        boxes->class_count = names->count;
        names->texts = NULL;
        names->count = 0;
    }
    names_free(names);
}

uint32_t boxes_class_limit(const glcnn_dataset *set)
{
    return set->boxes.classes          ? set->boxes.class_count
           : set->info.class_count > 0 ? set->info.class_count
                                       : GLCNN_DATA_MAX_CLASSES;
}

glcnn_status boxes_label(glcnn_dataset *set, uint32_t class, const char *path, uint32_t *label,
                         char *error)
{
    const char *name = set->boxes.classes ? set->boxes.classes[class] : NULL;
    return name ? names_add(&set->names, name, strlen(name), path, label, error)
                : names_add_number(&set->names, class, path, label, error);
}

/* ---- Counted classes ---- */

static bool are_counted(const glcnn_dataset *set)
{
    return strcmp(set->info.format, "yolo") == 0 && !set->boxes.classes && set->names.count > 0;
}

/* Numbers that no list names: 0 to the largest are the classes. */
glcnn_status boxes_count_classes(glcnn_dataset *set, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct names counted = {0};
    uint32_t number, last = 0;
    glcnn_status status = GLCNN_SUCCESS;
    if (!are_counted(set))
        return GLCNN_SUCCESS;
    for (uint32_t i = 0; i < set->names.count; i++) {
        uint32_t class = (uint32_t)strtoul(set->names.texts[i], NULL, 10);
        last = class > last ? class : last;
    }
    for (uint32_t i = 0; i <= last && status == GLCNN_SUCCESS; i++)
        status = names_add_number(&counted, i, set->path, &number, error);
    boxes_take_classes(set, &counted);
    snprintf(message, sizeof message,
             "%.250s: has no data.yaml, classes.txt or obj.names, so classes are named 0 to %u",
             set->path, last);
    set_decide(set, message);
    return status;
}

/* ---- Finishing ---- */

/* What the data lists becomes the classes, unless these were given; otherwise what was met does, in
 * its order. */
static glcnn_status take_classes(glcnn_dataset *set, bool is_listed, char *error)
{
    char ***from = is_listed ? &set->boxes.classes : &set->names.texts;
    uint32_t *count = is_listed ? &set->boxes.class_count : &set->names.count;
    char reason[GLCNN_ERROR_LENGTH];
    set_first_reason(set, reason, sizeof reason);
    if (*count == 0)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.150s: no picture has a box (%u pictures were skipped); expected some to "
            "train on%s",
            set->path, set->skipped, reason);
    set->class_names = *from;
    set->info.class_count = *count;
    *from = NULL;
    *count = 0;
    return GLCNN_SUCCESS;
}

static glcnn_status map_labels(glcnn_dataset *set, char *error)
{
    uint32_t *map;
    glcnn_status status = set_order_names(set, &map, error);
    for (uint32_t i = 0; i < set->boxes.count && status == GLCNN_SUCCESS; i++)
        set->boxes.items[i].label = map[set->boxes.items[i].label];
    free(map);
    return status;
}

void tally_tell(glcnn_dataset *set, const struct tally *tally, bool is_left_out)
{
    char message[GLCNN_ERROR_LENGTH], others[64] = "";
    if (tally->count == 0)
        return;
    if (tally->count > 1)
        snprintf(others, sizeof others, "; and so %u more", tally->count - 1);
    snprintf(message, sizeof message, "%s%s", tally->first, others);
    if (is_left_out)
        set_note(set, 0, message);
    else
        set_decide(set, message);
}

static uint32_t mark_boxes(const glcnn_dataset *set, uint8_t *seen)
{
    const struct part *part = &set->parts[GLCNN_DATA_PART_TRAINING];
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct picture_file *file = &set->files[part->items[i].index];
        for (uint32_t k = 0; k < file->box_count; k++, count++)
            seen[set->boxes.items[file->first_box + k].label] = 1;
    }
    return count;
}

static void tell_unseen(glcnn_dataset *set, const uint8_t *seen)
{
    struct tally unseen = {0};
    for (uint32_t i = 0; i < set->info.class_count; i++)
        if (!seen[i] && unseen.count++ == 0)
            snprintf(unseen.first, sizeof unseen.first,
                     "%.250s: the training part has no box of the class \"%.100s\"", set->path,
                     set->class_names[i]);
    tally_tell(set, &unseen, false);
}

static glcnn_status check_training(glcnn_dataset *set, char *error)
{
    uint8_t *seen = calloc(set->info.class_count, 1);
    if (!seen)
        return fail_no_memory(error, set->path);
    uint32_t count = mark_boxes(set, seen);
    if (count > 0)
        tell_unseen(set, seen);
    free(seen);
    char reason[GLCNN_ERROR_LENGTH];
    set_first_reason(set, reason, sizeof reason);
    return count > 0 ? GLCNN_SUCCESS
                     : fail_with(error, GLCNN_MALFORMED_DATA,
                                 "%.150s: no picture of the training part has a box (%u pictures "
                                 "were skipped); expected some%s",
                                 set->path, set->skipped, reason);
}

void boxes_tell(glcnn_dataset *set)
{
    tally_tell(set, &set->boxes.outlined, false);
    tally_tell(set, &set->boxes.pointed, false);
    tally_tell(set, &set->boxes.unboxed, false);
    tally_tell(set, &set->boxes.several, false);
    tally_tell(set, &set->boxes.bare, true);
    tally_tell(set, &set->boxes.empty, true);
    tally_tell(set, &set->boxes.unmatched, true);
}

glcnn_status boxes_finish(glcnn_dataset *set, char *error)
{
    bool is_given = set->info.class_count > 0;
    glcnn_status status = GLCNN_SUCCESS;
    boxes_tell(set);
    if (!is_given)
        status = boxes_count_classes(set, error);
    if (status == GLCNN_SUCCESS && !is_given && set->boxes.classes)
        status = take_classes(set, true, error);
    if (status == GLCNN_SUCCESS)
        status = map_labels(set, error);
    if (status == GLCNN_SUCCESS && set->info.class_count == 0)
        status = take_classes(set, false, error);
    return status == GLCNN_SUCCESS ? check_training(set, error) : status;
}
