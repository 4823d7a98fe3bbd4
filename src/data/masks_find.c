/* Where pictures and their masks lie. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "masks.h"
#include "words.h"

/* After the name of a picture in that of its mask, where both lie in one folder: Roboflow. */
#define MARK "_mask"

/* ---- Pairs ---- */

/* A folder of pictures and that of their masks. */
struct pair {
    char *pictures, *masks;
};

static void pair_free(struct pair *pair)
{
    free(pair->pictures);
    free(pair->masks);
    *pair = (struct pair){.pictures = NULL};
}

/* True if the name is one of as many bytes of the picture's and then these, in any case of letters. */
static bool is_mask_of(const char *name, const char *picture, size_t stem, const char *rest)
{
    return strncmp(name, picture, stem) == 0 && strcasecmp(name + stem, rest) == 0;
}

static bool is_marked(const char *name)
{
    return word_has_ending(name, MARK ".png");
}

/* NAME.png of NAME.jpg, or else NAME_mask.png; NULL: it is not there. */
static const char *find_mask(const struct listing *l, const char *picture, bool is_one_folder)
{
    const size_t stem = name_stem(picture);
    const char *marked = NULL;
    for (uint32_t i = listing_first(l, picture, stem);
         i < l->count && strncmp(l->names[i], picture, stem) == 0; i++) {
        if (!is_one_folder && is_mask_of(l->names[i], picture, stem, ".png"))
            return l->names[i];
        if (is_mask_of(l->names[i], picture, stem, MARK ".png"))
            marked = l->names[i];
    }
    return marked;
}

/* FOLDER/NAME.png for NAME.jpg, where it is not there; NULL: not enough memory. */
static char *missing_path(const char *folder, const char *picture)
{
    const size_t stem = name_stem(picture);
    char *name = malloc(stem + 5);
    if (!name)
        return NULL;
    memcpy(name, picture, stem);
    memcpy(name + stem, ".png", 5);
    char *path = path_join(folder, name);
    free(name);
    return path;
}

/* Takes the picture back that was just added: x.jpg and x.png have one mask, which is of one of them. */
static glcnn_status leave_out(glcnn_dataset *set, glcnn_data_part part, const char *picture,
                              const char *mask, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.200s: another picture has the same mask, %.200s; expected one picture", picture,
             mask);
    set_remove_picture(set, part);
    return set_complain(set, 1, message, error);
}

/* `used`: the masks of pictures before. */
static glcnn_status add_pair(glcnn_dataset *set, glcnn_data_part part, const char *picture,
                             const char *mask, struct names *used, char *error)
{
    uint32_t number;
    const uint32_t before = set->parts[part].count, masks = used->count;
    glcnn_status status = set_add_picture(set, part, picture, 0, false, error);
    if (status != GLCNN_SUCCESS || set->parts[part].count == before)
        return status;
    status = names_add(used, mask, strlen(mask), mask, &number, error);
    if (status != GLCNN_SUCCESS)
        return status;
    return used->count > masks ? masks_add_file(set, part, mask, error)
                               : leave_out(set, part, picture, mask, error);
}

static glcnn_status add_named(glcnn_dataset *set, glcnn_data_part part, const struct pair *pair,
                              const struct listing *masks, const char *name, struct names *used,
                              char *error)
{
    const char *found = find_mask(masks, name, strcmp(pair->pictures, pair->masks) == 0);
    char *picture = path_join(pair->pictures, name),
         *mask = found ? path_join(pair->masks, found) : missing_path(pair->masks, name);
    glcnn_status status = picture && mask ? add_pair(set, part, picture, mask, used, error)
                                          : fail_no_memory(error, pair->pictures);
    free(picture);
    free(mask);
    return status;
}

/* `wanted`: names of pictures, with or without ending; NULL: all. Names that no picture has are told once. */
static glcnn_status add_pairs(glcnn_dataset *set, glcnn_data_part part, const struct pair *pair,
                              const struct listing *wanted, char *error)
{
    struct listing pictures, masks = {.names = NULL};
    struct wanted list = {.met = NULL};
    struct names used = {0};
    const bool is_one_folder = strcmp(pair->pictures, pair->masks) == 0;
    glcnn_status status = listing_read(pair->pictures, &pictures, error);
    if (status == GLCNN_SUCCESS)
        status = listing_read(pair->masks, &masks, error);
    if (status == GLCNN_SUCCESS && !wanted_begin(&list, wanted))
        status = fail_no_memory(error, pair->pictures);
    set->info.ignored += status == GLCNN_SUCCESS ? pictures.hidden : 0;
    set->unread = (struct unread){.count = 0};
    for (uint32_t i = 0; i < pictures.count && status == GLCNN_SUCCESS; i++) {
        const char *name = pictures.names[i];
        if ((is_one_folder && is_marked(name)) || !wanted_has(&list, name))
            continue;
        status = add_named(set, part, pair, &masks, name, &used, error);
    }
    if (status == GLCNN_SUCCESS)
        status = wanted_tell(&list, set, pair->pictures, error);
    wanted_end(&list);
    names_free(&used);
    listing_free(&pictures);
    listing_free(&masks);
    set_tell_unread(set, pair->pictures);
    return status;
}

/* ---- Folders ---- */

/* Folders named masks have these, whatever is in them; others do where they have PNG alone. */
static bool may_be_masks(const char *folder, const char *name)
{
    if (word_is_mask_folder(name))
        return true;
    char *path = word_is_target_folder(name) ? path_join(folder, name) : NULL;
    const bool may = path && place_has_masks(path);
    free(path);
    return may;
}

/* A picture and one of its name and MARK. */
static bool has_marked(const struct listing *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const char *name = l->names[i];
        const size_t stem = is_marked(name) ? strlen(name) - strlen(MARK ".png") : 0;
        for (uint32_t k = stem > 0 ? listing_first(l, name, stem) : l->count;
             k < l->count && strncmp(l->names[k], name, stem) == 0; k++)
            if (l->names[k][stem] == '.' && picture_has_ending(l->names[k]))
                return true;
    }
    return false;
}

/* The folder of pictures and that of their masks; false: there are none such. */
static bool find_pair(const char *folder, struct pair *pair)
{
    struct listing listing;
    char error[GLCNN_ERROR_LENGTH];
    *pair = (struct pair){.pictures = NULL};
    if (listing_read(folder, &listing, error) != GLCNN_SUCCESS)
        return false;
    for (uint32_t i = 0; i < listing.count; i++) {
        const char *name = listing.names[i];
        char **found = word_is_picture_folder(name) ? &pair->pictures
                       : may_be_masks(folder, name) ? &pair->masks
                                                    : NULL;
        char *path = found && !*found ? path_join(folder, name) : NULL;
        if (path && path_is_folder(path))
            *found = path;
        else
            free(path);
    }
    if (!pair->pictures && !pair->masks && has_marked(&listing)) {
        pair->pictures = strdup(folder);
        pair->masks = strdup(folder);
    }
    listing_free(&listing);
    if (pair->pictures && pair->masks)
        return true;
    pair_free(pair);
    return false;
}

/* Calls for each folder of a part; *found: there is one. */
typedef glcnn_status part_taker(glcnn_dataset *set, glcnn_data_part part, const char *folder,
                                const char *masks, char *error);

static glcnn_status take_part(glcnn_dataset *set, const char *folder, const char *name,
                              const char *masks, part_taker *take, bool *found, char *error)
{
    glcnn_data_part part;
    char *path = path_join(folder, name), *beside = masks ? path_join(masks, name) : NULL;
    glcnn_status status = GLCNN_SUCCESS;
    if (!path || (masks && !beside))
        status = fail_no_memory(error, folder);
    else if (word_is_part(name, strlen(name), &part) && path_is_folder(path)) {
        *found = true;
        status = take(set, part, path, beside, error);
    }
    free(path);
    free(beside);
    return status;
}

static glcnn_status take_parts(glcnn_dataset *set, const char *folder, const char *masks,
                               part_taker *take, bool *found, char *error)
{
    struct listing listing;
    glcnn_status status = listing_read(folder, &listing, error);
    *found = false;
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++)
        status = take_part(set, folder, listing.names[i], masks, take, found, error);
    listing_free(&listing);
    return status;
}

/* Folders of a part that have pictures and masks. */
static glcnn_status take_folder(glcnn_dataset *set, glcnn_data_part part, const char *folder,
                                const char *masks, char *error)
{
    struct pair pair;
    (void)masks;
    if (!find_pair(folder, &pair))
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has no folders \"images\" and \"masks\" or \"labels\"", folder);
    glcnn_status status = add_pairs(set, part, &pair, NULL, error);
    pair_free(&pair);
    return status;
}

static glcnn_status take_pair(glcnn_dataset *set, glcnn_data_part part, const char *pictures,
                              const char *masks, char *error)
{
    const struct pair pair = {(char *)pictures, (char *)masks};
    return add_pairs(set, part, &pair, NULL, error);
}

static glcnn_status take_listed(glcnn_dataset *set, glcnn_data_part part,
                                const struct listing *wanted, const void *pair, char *error)
{
    return add_pairs(set, part, pair, wanted, error);
}

/* Parts are folders, or lists of Pascal VOC's. */
static glcnn_status take_both(glcnn_dataset *set, const char *folder, const struct pair *pair,
                              char *error)
{
    bool found = false, is_listed = false;
    glcnn_status status = GLCNN_SUCCESS;
    if (strcmp(pair->pictures, pair->masks) != 0)
        status = take_parts(set, pair->pictures, pair->masks, take_pair, &found, error);
    if (status == GLCNN_SUCCESS && !found)
        status = boxes_take_lists(set, folder, "ImageSets/Segmentation", take_listed, pair,
                                  &is_listed, error);
    return status != GLCNN_SUCCESS || found || is_listed
               ? status
               : add_pairs(set, GLCNN_DATA_PART_TRAINING, pair, NULL, error);
}

/* A folder of a part, which is only found. */
static glcnn_status find_in_part(glcnn_dataset *set, glcnn_data_part part, const char *folder,
                                 const char *masks, char *error)
{
    struct pair pair;
    (void)set, (void)part, (void)masks;
    if (!find_pair(folder, &pair))
        return fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: has no masks", folder);
    pair_free(&pair);
    return GLCNN_SUCCESS;
}

bool masks_are_in(const char *path)
{
    struct pair pair;
    char error[GLCNN_ERROR_LENGTH];
    bool found = path_is_folder(path) && find_pair(path, &pair);
    if (found) {
        pair_free(&pair);
        return true;
    }
    return path_is_folder(path) &&
           take_parts(NULL, path, NULL, find_in_part, &found, error) == GLCNN_SUCCESS && found;
}

glcnn_status set_add_masked(glcnn_dataset *set, const char *path, char *error)
{
    struct pair pair;
    bool found;
    set->info.format = "pictures";
    glcnn_status status = masks_read_list(set, path, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (find_pair(path, &pair)) {
        status = take_both(set, path, &pair, error);
        pair_free(&pair);
        return status;
    }
    status = take_parts(set, path, NULL, take_folder, &found, error);
    if (status != GLCNN_SUCCESS || found)
        return status;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.300s: has no folders \"images\" and \"masks\" or \"labels\", and no folders "
        "train, val or test that have",
        path);
}
