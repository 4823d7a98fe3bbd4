/* What a path looks as if it was to be learned from. */
#include <stdlib.h>
#include <string.h>

#include "boxes_place.h"
#include "data_yaml.h"
#include "words.h"

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
    bool may = path && path_is_folder(path) && !word_is_picture_folder(name) &&
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

/* A list of pictures with numbers, in the folder or in that of a part. */
static bool has_numbers(const char *folder, bool has_parts)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    bool found = place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS && has_list(&p);
    for (int part = 0; part < GLCNN_DATA_PARTS && has_parts && !found; part++) {
        char *below = NULL;
        found = place_find_part(&p, (glcnn_data_part)part, &below) == GLCNN_SUCCESS && below &&
                has_numbers(below, false);
        free(below);
    }
    listing_free(&p.listing);
    return found;
}

bool set_has_list(const char *path)
{
    return has_numbers(path, true);
}

uint32_t set_targets_in(const char *path)
{
    const bool has_masks = masks_are_in(path), has_boxes = boxes_are_in(path);
    return (has_masks ? 1u << GLCNN_DATA_TARGETS_MASKS : 0) |
           (has_boxes ? 1u << GLCNN_DATA_TARGETS_BOXES : 0);
}

bool boxes_is_file(const char *path)
{
    return word_has_ending(path, ".json") || data_yaml_is(path) || word_has_ending(path, ".data");
}

glcnn_data_targets glcnn_data_guess_targets(const char *path)
{
    if (!path)
        return GLCNN_DATA_TARGETS_CLASSES;
    switch (set_targets_in(path)) {
    case 1u << GLCNN_DATA_TARGETS_MASKS:
        return GLCNN_DATA_TARGETS_MASKS;
    case 1u << GLCNN_DATA_TARGETS_BOXES:
        return GLCNN_DATA_TARGETS_BOXES;
    case 0:
        break;
    default: /* opening asks which */
        return GLCNN_DATA_TARGETS_CLASSES;
    }
    if (boxes_is_file(path))
        return GLCNN_DATA_TARGETS_BOXES;
    return set_has_list(path) || (path_is_csv(path) && is_of_numbers(path))
               ? GLCNN_DATA_TARGETS_NUMBERS
               : GLCNN_DATA_TARGETS_CLASSES;
}
