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

static bool folder_has_list(const char *folder, const void *what)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    const bool found = place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS && has_list(&p);
    (void)what;
    listing_free(&p.listing);
    return found;
}

/* The list is in the folder, or else in that of a part. */
bool set_has_list(const char *path)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    const bool found = place_open(&p, NULL, NULL, path, error) == GLCNN_SUCCESS &&
                       (has_list(&p) || place_any_part(&p, folder_has_list, NULL));
    listing_free(&p.listing);
    return found;
}

uint32_t set_targets_in(const char *path)
{
    const bool is_brush = brush_is_in(path), has_masks = is_brush || masks_are_in(path),
               has_boxes = !is_brush && boxes_are_in(path);
    return (has_masks ? 1u << GLCNN_DATA_TARGETS_MASKS : 0) |
           (has_boxes ? 1u << GLCNN_DATA_TARGETS_BOXES : 0);
}

/* ---- Folders that are one level too deep ---- */

#define DEEPEST 3 /* folders that have nothing but another */

/* The only folder among the names, but for one of a part, of pictures or of their targets, and no table beside it;
 * NULL: there is none such. */
static char *find_only_folder(const char *path)
{
    struct listing listing;
    char error[GLCNN_ERROR_LENGTH], *only = NULL;
    glcnn_data_part part;
    bool is_alone = listing_read(path, &listing, error) == GLCNN_SUCCESS;
    for (uint32_t i = 0; i < listing.count && is_alone; i++) {
        const char *name = listing.names[i];
        char *whole = strcmp(name, "__MACOSX") == 0 ? NULL : path_join(path, name);
        if (whole && path_is_folder(whole)) {
            is_alone = !only && !word_is_part(name, strlen(name), &part) &&
                       !word_is_picture_folder(name) && !word_is_target_folder(name);
            free(only);
            only = whole;
            continue;
        }
        is_alone = !word_has_ending(name, ".npz") && !word_has_ending(name, ".npy") &&
                   !path_is_csv(name) && !word_has_ending(name, ".json") && !data_yaml_is(name) &&
                   !picture_has_ending(name);
        free(whole);
    }
    listing_free(&listing);
    if (!is_alone) {
        free(only);
        only = NULL;
    }
    return only;
}

/* Folders of classes, or of parts; pictures alone would be one class. */
static bool has_folders(const char *path)
{
    struct listing listing;
    char error[GLCNN_ERROR_LENGTH];
    uint32_t count = 0;
    if (listing_read(path, &listing, error) != GLCNN_SUCCESS)
        return false;
    for (uint32_t i = 0; i < listing.count; i++) {
        char *whole = path_join(path, listing.names[i]);
        count += whole && path_is_folder(whole);
        free(whole);
    }
    listing_free(&listing);
    return count > 0;
}

char *set_find_root(const char *path)
{
    char *root = strdup(path);
    for (int depth = 0; depth < DEEPEST && root && path_is_folder(root); depth++) {
        char *only = find_only_folder(root);
        if (!only || (!has_folders(only) && set_targets_in(only) == 0 && !set_has_list(only)) ||
            set_targets_in(root) != 0) {
            free(only);
            break;
        }
        free(root);
        root = only;
    }
    return root;
}

bool boxes_is_file(const char *path)
{
    return word_has_ending(path, ".json") || data_yaml_is(path) || word_has_ending(path, ".data");
}

static glcnn_data_targets guess(const char *path)
{
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

glcnn_data_targets glcnn_data_guess_targets(const char *path)
{
    char *root = path ? set_find_root(path) : NULL;
    const glcnn_data_targets targets = root ? guess(root) : GLCNN_DATA_TARGETS_CLASSES;
    free(root);
    return targets;
}
