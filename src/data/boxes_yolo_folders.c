/* Folders as YOLO has them: pictures, labels and a list of the classes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "boxes_place.h"
#include "bytes.h"
#include "words.h"

/* ---- Classes ---- */

/* Files by a name, or else by one of two endings if there are any. */
static const struct list {
    const char *name, *ending, *or_ending;
} lists[] = {
    {"data.yaml", ".yaml", ".yml"}, {"classes.txt", NULL, NULL}, {"obj.names", ".names", ".names"}};

/* NULL: there is none. *other: of several the second. */
static const char *find_list(const struct listing *listing, const struct list *list,
                             const char **other)
{
    const char *found = NULL;
    *other = NULL;
    for (uint32_t i = 0; i < listing->count; i++)
        if (strcasecmp(listing->names[i], list->name) == 0)
            return listing->names[i];
    for (uint32_t i = 0; list->ending && i < listing->count; i++) {
        const char *at = listing->names[i];
        if (!word_has_ending(at, list->ending) && !word_has_ending(at, list->or_ending))
            continue;
        if (found && !*other)
            *other = at;
        found = found ? found : at;
    }
    return found;
}

glcnn_status yolo_find_yaml(const struct place *p, const char **name)
{
    const char *other;
    *name = find_list(&p->listing, &lists[0], &other);
    return *name && other ? place_refuse_two(p, *name, other) : GLCNN_SUCCESS;
}

static glcnn_status take_list(glcnn_dataset *set, const char *path, char *error)
{
    struct names names;
    glcnn_status status = class_list_read(path, &names, error);
    if (status == GLCNN_SUCCESS)
        boxes_take_classes(set, &names);
    return status;
}

static glcnn_status find_classes_in(const struct place *p)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !p->set->boxes.classes; i++) {
        const char *other, *name = find_list(&p->listing, &lists[i], &other);
        if (name && other)
            return place_refuse_two(p, name, other);
        char *path = name ? path_join(p->folder, name) : NULL;
        if (name && !path)
            return fail_no_memory(p->error, p->folder);
        glcnn_status status = path ? take_list(p->set, path, p->error) : GLCNN_SUCCESS;
        free(path);
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

glcnn_status yolo_find_classes(const struct place *p, const char *labels)
{
    struct place below;
    glcnn_status status = GLCNN_SUCCESS;
    for (const struct place *at = p; at && status == GLCNN_SUCCESS; at = at->up)
        status = find_classes_in(at);
    if (status != GLCNN_SUCCESS || p->set->boxes.classes || !path_is_folder(labels))
        return status;
    status = place_open(&below, p, p->set, labels, p->error);
    if (status == GLCNN_SUCCESS)
        status = find_classes_in(&below);
    listing_free(&below.listing);
    return status;
}

/* ---- Pictures and labels ---- */

glcnn_status yolo_add_pair(const struct place *p, glcnn_data_part part, const struct pairs *pairs)
{
    char message[GLCNN_ERROR_LENGTH];
    struct pairs whole = *pairs;
    whole.ending = ".txt";
    whole.read = yolo_read;
    p->set->info.format = "yolo";
    if (!path_is_folder(whole.annotations)) {
        snprintf(message, sizeof message,
                 "%.200s: is left out: there is no folder %.200s with its boxes", whole.pictures,
                 whole.annotations);
        return set_complain(p->set, 0, message, p->error);
    }
    glcnn_status status = yolo_find_classes(p, whole.annotations);
    return status == GLCNN_SUCCESS ? boxes_add_pairs(p->set, part, &whole, p->error) : status;
}

static glcnn_status add_pair(const struct place *p, glcnn_data_part part, const char *images,
                             const char *labels)
{
    return yolo_add_pair(p, part, &(struct pairs){.pictures = images, .annotations = labels});
}

/* images/train and labels/train. */
static glcnn_status add_part(const struct place *images, const char *labels, glcnn_data_part part,
                             bool *any)
{
    char *pictures = NULL;
    glcnn_status status = place_find_part(images, part, &pictures);
    if (status == GLCNN_SUCCESS && pictures) {
        char *beside = path_join(labels, strrchr(pictures, '/') + 1);
        *any = true;
        status = beside ? add_pair(images->up, part, pictures, beside)
                        : fail_no_memory(images->error, labels);
        free(beside);
    }
    free(pictures);
    return status;
}

static glcnn_status add_root(const struct place *p, const char *images, const char *labels)
{
    struct place below;
    bool any = false;
    glcnn_status status = place_open(&below, p, p->set, images, p->error);
    for (int part = 0; part < GLCNN_DATA_PARTS && !p->up && status == GLCNN_SUCCESS; part++)
        status = add_part(&below, labels, (glcnn_data_part)part, &any);
    listing_free(&below.listing);
    return status == GLCNN_SUCCESS && !any ? add_pair(p, p->part, images, labels) : status;
}

/* Texts beside pictures may be anything: these are numbers. */
static bool is_label(const char *folder, const char *name)
{
    char *path = path_join(folder, name), error[GLCNN_ERROR_LENGTH];
    struct bytes head = {0};
    bool is = path && bytes_read_head(&head, path, 256, error) == GLCNN_SUCCESS;
    for (size_t i = 0; is && i < head.size; i++)
        is = strchr("0123456789.-+eE \t\r\n", head.data[i]) != NULL;
    bytes_free(&head);
    free(path);
    return is;
}

glcnn_status yolo_add_beside(const struct place *p, bool *found)
{
    *found = false;
    for (uint32_t i = 0; i < p->listing.count && !*found; i++)
        *found = place_is_paired(p, i, ".txt") && is_label(p->folder, p->listing.names[i]);
    *found = *found || (p->set && place_any_has_pair(p, ".txt"));
    return *found && p->set ? add_pair(p, p->part, p->folder, p->folder) : GLCNN_SUCCESS;
}

/* The folder, or that of a part in it, has labels beside its pictures. */
static bool has_labels_beside(const struct place *p, const char *folder)
{
    struct place below;
    bool found = place_open(&below, p, NULL, folder, p->error) == GLCNN_SUCCESS;
    if (found)
        found = yolo_add_beside(&below, &found) == GLCNN_SUCCESS && found;
    for (int part = 0; part < GLCNN_DATA_PARTS && !found && !below.up->up; part++) {
        char *path = NULL;
        found = place_find_part(&below, (glcnn_data_part)part, &path) == GLCNN_SUCCESS && path &&
                has_labels_beside(&below, path);
        free(path);
    }
    listing_free(&below.listing);
    return found;
}

glcnn_status yolo_add_folders(const struct place *p, bool *found)
{
    char *images = place_find_folder(p, "images", "images"),
         *labels = place_find_folder(p, "labels", "labels");
    glcnn_status status = GLCNN_SUCCESS;
    if (images && !labels && has_labels_beside(p, images))
        labels = strdup(images);
    *found = images && labels && !place_has_masks(labels);
    if (*found && p->set)
        status = add_root(p, images, labels);
    free(images);
    free(labels);
    return status;
}
