/* What a path looks as if it was to be learned from. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "boxes_place.h"
#include "words.h"

/* Files of the folder, and of the folders of parts in it, that have the ending. */
static bool has_files(const char *folder, const char *ending)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    bool found = place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS &&
                 place_any_has_ending(&p, ending);
    for (int part = 0; part < GLCNN_DATA_PARTS && !found; part++) {
        char *below = NULL;
        found = place_find_part(&p, (glcnn_data_part)part, &below) == GLCNN_SUCCESS && below &&
                has_files(below, ending);
        free(below);
    }
    listing_free(&p.listing);
    return found;
}

static bool are_masks(const char *folder)
{
    return has_files(folder, ".png") && !has_files(folder, ".txt");
}

/* Pictures in one folder and what is said of them in another. */
static bool find_pairs(const struct place *p, glcnn_data_targets *targets)
{
    char *pictures = place_find_folder(p, "images", "JPEGImages"),
         *masks = place_find_folder(p, "masks", "masks"),
         *labels = place_find_folder(p, "labels", "Annotations");
    bool has_masks = masks || (labels && are_masks(labels));
    bool found = pictures && (masks || labels);
    if (found)
        *targets = has_masks ? GLCNN_DATA_TARGETS_MASKS : GLCNN_DATA_TARGETS_BOXES;
    free(pictures);
    free(masks);
    free(labels);
    return found;
}

/* COCO's, whose pictures' folders have the names of parts: train2017. */
static bool has_annotations(const struct place *p)
{
    char *folder = place_find_folder(p, "annotations", "annotations");
    bool found = folder && has_files(folder, ".json");
    free(folder);
    return found;
}

static bool is_of_numbers(const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    struct list_look look;
    return list_look_at(path, &look, error) == GLCNN_SUCCESS && look.has_numbers &&
           !look.may_be_classes;
}

/* Folders that are neither "images" nor of a part are classes. */
static bool may_be_class(const char *folder, const char *name)
{
    glcnn_data_part part;
    char *path = path_join(folder, name);
    bool may = path && path_is_folder(path) && strcmp(name, "images") != 0 &&
               !word_is_part(name, strlen(name), &part);
    free(path);
    return may;
}

static bool has_list(const struct place *p)
{
    bool found = false;
    for (uint32_t i = 0; i < p->listing.count; i++) {
        const char *name = p->listing.names[i];
        if (may_be_class(p->folder, name))
            return false;
        char *path = path_is_csv(name) ? path_join(p->folder, name) : NULL;
        found = found || (path && is_of_numbers(path));
        free(path);
    }
    return found;
}

static bool guess_here(const struct place *p, glcnn_data_targets *targets)
{
    if (find_pairs(p, targets))
        return true;
    bool has_numbers = has_list(p), has_boxes = !has_numbers && has_annotations(p);
    if (has_numbers || has_boxes)
        *targets = has_numbers ? GLCNN_DATA_TARGETS_NUMBERS : GLCNN_DATA_TARGETS_BOXES;
    return has_numbers || has_boxes;
}

static bool guess_folder(const char *folder, bool has_parts, glcnn_data_targets *targets)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    bool found =
        place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS && guess_here(&p, targets);
    for (int part = 0; part < GLCNN_DATA_PARTS && has_parts && !found; part++) {
        char *below = NULL;
        found = place_find_part(&p, (glcnn_data_part)part, &below) == GLCNN_SUCCESS && below &&
                guess_folder(below, false, targets);
        free(below);
    }
    listing_free(&p.listing);
    return found;
}

glcnn_data_targets glcnn_data_guess_targets(const char *path)
{
    glcnn_data_targets targets = GLCNN_DATA_TARGETS_CLASSES;
    if (!path || guess_folder(path, true, &targets))
        return targets;
    if (place_has_ending(path, ".json") || place_has_ending(path, ".yaml") ||
        place_has_ending(path, ".yml"))
        return GLCNN_DATA_TARGETS_BOXES;
    return path_is_csv(path) && is_of_numbers(path) ? GLCNN_DATA_TARGETS_NUMBERS : targets;
}
