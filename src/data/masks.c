/* Masks as targets: pairs of pictures and masks, their classes, and masks at the size of a set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxes_place.h"
#include "folder.h"
#include "message.h"
#include "scale.h"
#include "set.h"
#include "words.h"

/* ---- One mask ---- */

/* FNV-1a of 64 bits. */
static uint64_t digest_of(const struct picture_values *v)
{
    const size_t count = (size_t)v->width * v->height;
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ v->width;
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ v->values[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static glcnn_status read_values(FILE *stream, const char *path, struct picture_values *values,
                                char *error)
{
    char reason[GLCNN_ERROR_LENGTH];
    glcnn_status status = picture_png_values(stream, values, reason);
    return status == GLCNN_SUCCESS ? status
                                   : data_fail(error, status, "%.250s: %.250s", path, reason);
}

/* A mask that is not there may be there as JPEG, which keeps no values. */
static glcnn_status refuse_missing(const char *path, char *error)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".JPG", ".JPEG"};
    const int stem = (int)(strlen(path) - strlen(".png")), missing = errno;
    char name[GLCNN_ERROR_LENGTH];
    for (size_t i = 0; i < sizeof endings / sizeof *endings && missing == ENOENT; i++) {
        snprintf(name, sizeof name, "%.*s%s", stem, path, endings[i]);
        if (path_exists(name))
            return data_fail(error, GLCNN_MALFORMED_DATA,
                             "%.300s: masks are PNG, and JPEG does not keep their values", name);
    }
    errno = missing;
    return data_fail_errno(error, path, "cannot be opened");
}

static glcnn_status open_mask(const char *path, struct picture_file *file,
                              struct picture_values *values, char *error)
{
    *values = (struct picture_values){.values = NULL};
    FILE *stream = open_picture(path, file);
    if (!stream)
        return errno
                   ? refuse_missing(path, error)
                   : data_fail(error, GLCNN_MALFORMED_DATA, "%.300s: is not a regular file", path);
    glcnn_status status = read_values(stream, path, values, error);
    fclose(stream);
    return status;
}

/* Values that no class is given for. */
static glcnn_status check_values(const glcnn_data_set *set, const char *path,
                                 const struct picture_values *v, char *error)
{
    const uint32_t classes = set->info.class_count;
    const size_t count = (size_t)v->width * v->height;
    for (size_t i = 0; i < count && classes > 0; i++)
        if (set->masks.class_of[v->values[i]] == GLCNN_DATA_NO_CLASS &&
            v->values[i] != GLCNN_DATA_NO_CLASS)
            return data_fail(error, GLCNN_MALFORMED_DATA,
                             "%.250s: has the value %u at %zu,%zu, and there are %u classes; "
                             "expected 0 to %u or a value that names one, or 255 for none",
                             path, v->values[i], i % v->width, i / v->width, classes, classes - 1);
    return GLCNN_SUCCESS;
}

static glcnn_status check_mask(const glcnn_data_set *set, const char *path,
                               const struct picture *picture, const struct picture_values *v,
                               char *error)
{
    if (v->width == picture->width && v->height == picture->height)
        return check_values(set, path, v, error);
    return data_fail(error, GLCNN_MALFORMED_DATA,
                     "%.250s: is %u x %u, and its picture is %u x %u; expected the same size", path,
                     v->width, v->height, picture->width, picture->height);
}

/* The value that a name is the digits of; 256: it is not. */
static uint32_t value_of(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > 3 || strspn(name, "0123456789") != length)
        return 256;
    const uint32_t value = (uint32_t)strtoul(name, NULL, 10);
    return value < 256 ? value : 256;
}

static bool are_values(char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && value_of(names[i]) < 256)
        i++;
    return i == count;
}

/* Values of masks stand for names by what these are the digits of, as names that were taken from masks, or
 * else by their numbers; the class of a name is map[its number], or NULL: that number. */
static void map_names(glcnn_data_set *set, char *const *names, uint32_t count, const uint32_t *map)
{
    const bool by_value = are_values(names, count);
    memset(set->masks.class_of, GLCNN_DATA_NO_CLASS, sizeof set->masks.class_of);
    for (uint32_t i = 0; i < count; i++)
        set->masks.class_of[by_value ? value_of(names[i]) : i] = (uint8_t)(map ? map[i] : i);
}

/* ---- Pairs ---- */

static void note_values(struct masks *m, const struct picture_values *v)
{
    const size_t count = (size_t)v->width * v->height;
    for (size_t i = 0; i < count; i++)
        m->seen[v->values[i]] = true;
}

/* The mask of the picture that was added last, which goes again where the mask is broken. */
static glcnn_status add_mask(glcnn_data_set *set, glcnn_data_part part, const char *path,
                             char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct masks *m = &set->masks;
    struct item *item = &set->parts[part].items[set->parts[part].count - 1];
    struct picture_file file = {.path = (char *)path};
    struct picture_values values;
    glcnn_status status = open_mask(path, &file, &values, message);
    if (status == GLCNN_SUCCESS)
        status = check_mask(set, path, &set->files[item->index].head, &values, message);
    if (status == GLCNN_OUT_OF_MEMORY)
        status = data_fail(error, status, "%s", message);
    else if (status != GLCNN_SUCCESS) {
        set_remove_picture(set, part);
        status = set_complain(set, 1, message, error);
    } else {
        item->target = m->count;
        file.digest = digest_of(&values);
        if (part == GLCNN_DATA_PART_TRAINING)
            note_values(m, &values);
        status = picture_files_add(&m->files, &m->count, &m->capacity, &file)
                     ? GLCNN_SUCCESS
                     : data_no_memory(error, path);
    }
    free(values.values);
    return status;
}

/* FOLDER/NAME.png for NAME.jpg; NULL: not enough memory. */
static char *mask_path(const char *folder, const char *picture)
{
    const char *dot = strrchr(picture, '.');
    const size_t stem = dot ? (size_t)(dot - picture) : strlen(picture);
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
static glcnn_status leave_out(glcnn_data_set *set, glcnn_data_part part, const char *picture,
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
static glcnn_status add_pair(glcnn_data_set *set, glcnn_data_part part, const char *picture,
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
    return used->count > masks ? add_mask(set, part, mask, error)
                               : leave_out(set, part, picture, mask, error);
}

static glcnn_status add_pairs(glcnn_data_set *set, glcnn_data_part part, const char *pictures,
                              const char *masks, char *error)
{
    struct listing listing;
    struct names used = {0};
    glcnn_status status = listing_read(pictures, &listing, error);
    set->info.ignored += status == GLCNN_SUCCESS ? listing.hidden : 0;
    set->unread = (struct unread){.count = 0};
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++) {
        char *picture = path_join(pictures, listing.names[i]);
        char *mask = mask_path(masks, listing.names[i]);
        status = picture && mask ? add_pair(set, part, picture, mask, &used, error)
                                 : data_no_memory(error, pictures);
        free(picture);
        free(mask);
    }
    names_free(&used);
    listing_free(&listing);
    set_tell_unread(set, pictures);
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

/* The folder of pictures and that of their masks; NULL: there are none such. */
static bool find_pair(const char *folder, char **pictures, char **masks)
{
    struct listing listing;
    char error[GLCNN_ERROR_LENGTH];
    *pictures = *masks = NULL;
    if (listing_read(folder, &listing, error) != GLCNN_SUCCESS)
        return false;
    for (uint32_t i = 0; i < listing.count; i++) {
        const char *name = listing.names[i];
        char **found = word_is_picture_folder(name) ? pictures
                       : may_be_masks(folder, name) ? masks
                                                    : NULL;
        char *path = found && !*found ? path_join(folder, name) : NULL;
        if (path && path_is_folder(path))
            *found = path;
        else
            free(path);
    }
    listing_free(&listing);
    if (*pictures && *masks)
        return true;
    free(*pictures);
    free(*masks);
    *pictures = *masks = NULL;
    return false;
}

/* Calls for each folder of a part; *found: there is one. */
typedef glcnn_status part_taker(glcnn_data_set *set, glcnn_data_part part, const char *folder,
                                const char *masks, char *error);

static glcnn_status take_part(glcnn_data_set *set, const char *folder, const char *name,
                              const char *masks, part_taker *take, bool *found, char *error)
{
    glcnn_data_part part;
    char *path = path_join(folder, name), *beside = masks ? path_join(masks, name) : NULL;
    glcnn_status status = GLCNN_SUCCESS;
    if (!path || (masks && !beside))
        status = data_no_memory(error, folder);
    else if (word_is_part(name, strlen(name), &part) && path_is_folder(path)) {
        *found = true;
        status = take(set, part, path, beside, error);
    }
    free(path);
    free(beside);
    return status;
}

static glcnn_status take_parts(glcnn_data_set *set, const char *folder, const char *masks,
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
static glcnn_status take_folder(glcnn_data_set *set, glcnn_data_part part, const char *folder,
                                const char *masks, char *error)
{
    char *pictures, *beside;
    (void)masks;
    if (!find_pair(folder, &pictures, &beside))
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has no folders \"images\" and \"masks\" or \"labels\"", folder);
    glcnn_status status = add_pairs(set, part, pictures, beside, error);
    free(pictures);
    free(beside);
    return status;
}

static glcnn_status take_both(glcnn_data_set *set, const char *pictures, const char *masks,
                              char *error)
{
    bool found;
    glcnn_status status = take_parts(set, pictures, masks, add_pairs, &found, error);
    return status != GLCNN_SUCCESS || found
               ? status
               : add_pairs(set, GLCNN_DATA_PART_TRAINING, pictures, masks, error);
}

/* A folder of a part, which is only found. */
static glcnn_status find_in_part(glcnn_data_set *set, glcnn_data_part part, const char *folder,
                                 const char *masks, char *error)
{
    char *pictures, *beside;
    (void)set, (void)part, (void)masks;
    if (!find_pair(folder, &pictures, &beside))
        return data_fail(error, GLCNN_MALFORMED_DATA, "%.300s: has no masks", folder);
    free(pictures);
    free(beside);
    return GLCNN_SUCCESS;
}

bool masks_are_in(const char *path)
{
    char *pictures, *masks, error[GLCNN_ERROR_LENGTH];
    bool found = path_is_folder(path) && find_pair(path, &pictures, &masks);
    if (found) {
        free(pictures);
        free(masks);
        return true;
    }
    return path_is_folder(path) &&
           take_parts(NULL, path, NULL, find_in_part, &found, error) == GLCNN_SUCCESS && found;
}

/* ---- Names ---- */

static glcnn_status take_names(glcnn_data_set *set, struct names *names, const char *path,
                               char *error)
{
    if (names->count < 2 || names->count > GLCNN_DATA_NO_CLASS)
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %u names; expected one on each line, 2 to %d of them", path,
                         names->count, GLCNN_DATA_NO_CLASS);
    set->class_names = names->texts;
    set->info.class_count = names->count;
    *names = (struct names){.buckets = names->buckets};
    return GLCNN_SUCCESS;
}

/* Classes were given, a network's for instance, and the folder lists its own: they are the same by name. */
static glcnn_status match_names(glcnn_data_set *set, struct names *names, const char *path,
                                char *error)
{
    char decision[GLCNN_ERROR_LENGTH];
    uint32_t *map = calloc(names->count + 1, sizeof *map);
    if (!map)
        return data_no_memory(error, path);
    glcnn_status status = names_order(names, (const char *const *)set->class_names,
                                      set->info.class_count, path, map, decision, error);
    if (status == GLCNN_SUCCESS)
        map_names(set, names->texts, names->count, map);
    for (uint32_t i = 0; status == GLCNN_SUCCESS && i < names->count; i++)
        if (!are_values(names->texts, names->count) && map[i] != i)
            set->masks.order = (set->masks.order + i + 1) * UINT64_C(0x100000001b3) + map[i];
    if (status == GLCNN_SUCCESS && !*decision && !are_values(names->texts, names->count))
        names_tell_order(names, map, path, decision);
    if (status == GLCNN_SUCCESS && *decision)
        set_decide(set, decision);
    free(map);
    return status;
}

/* Without a list, or where the classes that were given are values of masks, values alone tell. */
static void count_values(glcnn_data_set *set, const char *path, bool is_listed)
{
    char message[GLCNN_ERROR_LENGTH];
    const uint32_t count = set->info.class_count;
    const bool by_value = are_values(set->class_names, count);
    map_names(set, set->class_names, count, NULL);
    if (is_listed && by_value)
        snprintf(
            message, sizeof message,
            "%.300s: is not read, since the classes are named by the values of masks, \"%s\" to "
            "\"%s\"",
            path, set->class_names[0], set->class_names[count - 1]);
    else
        snprintf(
            message, sizeof message,
            "%.250s: is not there, so values of masks count the classes: 0 is \"%.60s\", %u is "
            "\"%.60s\"",
            path, set->class_names[0], count - 1, set->class_names[count - 1]);
    if (is_listed || !by_value)
        set_decide(set, message);
}

static glcnn_status read_list(glcnn_data_set *set, const char *path, char *error)
{
    struct names names = {0};
    const bool is_given = set->info.class_count > 0, is_listed = access(path, F_OK) == 0;
    glcnn_status status = GLCNN_SUCCESS;
    if (is_given && (!is_listed || are_values(set->class_names, set->info.class_count))) {
        count_values(set, path, is_listed);
        return GLCNN_SUCCESS;
    }
    if (is_listed)
        status = class_list_read(path, &names, error);
    if (status == GLCNN_SUCCESS && is_given)
        status = match_names(set, &names, path, error);
    else if (status == GLCNN_SUCCESS && is_listed)
        status = take_names(set, &names, path, error);
    if (status == GLCNN_SUCCESS && !is_given)
        map_names(set, set->class_names, set->info.class_count, NULL);
    names_free(&names);
    return status;
}

/* The classes that values of masks stand for, as far as that is known before these are read. */
static glcnn_status read_names(glcnn_data_set *set, const char *folder, char *error)
{
    char *path = path_join(folder, "classes.txt");
    glcnn_status status = path ? read_list(set, path, error) : data_no_memory(error, folder);
    free(path);
    return status;
}

glcnn_status set_add_masked(glcnn_data_set *set, const char *path, char *error)
{
    char *pictures, *masks;
    bool found;
    set->info.format = "pictures";
    glcnn_status status = read_names(set, path, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (find_pair(path, &pictures, &masks)) {
        status = take_both(set, pictures, masks, error);
        free(pictures);
        free(masks);
        return status;
    }
    status = take_parts(set, path, NULL, take_folder, &found, error);
    if (status != GLCNN_SUCCESS || found)
        return status;
    return data_fail(
        error, GLCNN_MALFORMED_DATA,
        "%.300s: has no folders \"images\" and \"masks\" or \"labels\", and no folders "
        "train, val or test that have",
        path);
}

/* ---- Classes ---- */

static glcnn_status name_values(glcnn_data_set *set, uint32_t count, char *error)
{
    char **names = calloc(count, sizeof *names);
    set->class_names = names;
    for (int value = 0; names && value < 256; value++) {
        char text[16];
        if (set->masks.class_of[value] == GLCNN_DATA_NO_CLASS)
            continue;
        snprintf(text, sizeof text, "%d", value);
        if (!(names[set->info.class_count++] = strdup(text)))
            return data_no_memory(error, set->path);
    }
    return names ? GLCNN_SUCCESS : data_no_memory(error, set->path);
}

static void tell_values(glcnn_data_set *set, bool counts_last)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.250s: the %u values of the training masks are the classes, \"%s\" to \"%s\"%s",
             set->path, set->info.class_count, set->class_names[0],
             set->class_names[set->info.class_count - 1],
             counts_last            ? ", 255 among them"
             : set->masks.seen[255] ? "; 255 stands for no class"
                                    : "");
    set_decide(set, message);
}

/* Of classes that are given. */
static glcnn_status check_seen(const glcnn_data_set *set, char *error)
{
    const struct masks *m = &set->masks;
    for (int value = 0; value < 256; value++)
        if (m->seen[value] && m->class_of[value] != GLCNN_DATA_NO_CLASS)
            return GLCNN_SUCCESS;
    return data_fail(
        error, GLCNN_MALFORMED_DATA,
        "%.300s: no pixel of the training part's masks has a class; expected values below "
        "%u",
        set->path, set->info.class_count);
}

glcnn_status set_finish_masks(glcnn_data_set *set, char *error)
{
    struct masks *m = &set->masks;
    uint32_t count = 0;
    if (m->drawings)
        return masks_finish_drawn(set, error);
    if (set->info.class_count > 0)
        return check_seen(set, error);
    for (int value = 0; value < 255; value++)
        m->class_of[value] = m->seen[value] ? (uint8_t)count++ : GLCNN_DATA_NO_CLASS;
    const bool counts_last = m->seen[255] && count == 1 && m->seen[0];
    m->class_of[255] = counts_last ? (uint8_t)count++ : GLCNN_DATA_NO_CLASS;
    if (count < 2)
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: its masks have %u classes; expected two or more values",
                         set->path, count);
    glcnn_status status = name_values(set, count, error);
    if (status == GLCNN_SUCCESS)
        tell_values(set, counts_last);
    return status;
}

/* ---- Pixels ---- */

static size_t pixels_of(const glcnn_data_set *set)
{
    return (size_t)set->info.width * set->info.height;
}

glcnn_status set_keep_masks(glcnn_data_set *set, char *error)
{
    struct masks *m = &set->masks;
    const size_t pixels = pixels_of(set);
    m->states = calloc(m->count + 1, sizeof *m->states);
    if (!m->states)
        return data_no_memory(error, set->path);
    if (m->count > 0 && pixels <= data_memory(&set->parameters) / m->count)
        m->kept = malloc(pixels * m->count);
    return GLCNN_SUCCESS;
}

static void sample(const glcnn_data_set *set, const struct picture_values *v, uint32_t *places,
                   uint8_t *classes)
{
    const uint32_t width = set->info.width, height = set->info.height;
    const struct scaled to = {.width = width,
                              .height = height,
                              .side = set->parameters.resize,
                              .fit = set->parameters.fit};
    uint32_t *x = places, *y = places + width;
    scale_nearest(v->width, v->height, &to, x, y);
    for (uint32_t j = 0; j < height; j++)
        for (uint32_t i = 0; i < width; i++)
            *classes++ = x[i] == SCALE_BORDER || y[j] == SCALE_BORDER
                             ? GLCNN_DATA_NO_CLASS
                             : set->masks.class_of[v->values[(size_t)y[j] * v->width + x[i]]];
}

glcnn_status set_mask_values(glcnn_data_set *set, uint32_t index, struct picture_values *values,
                             char *error)
{
    const struct picture_file *file = &set->masks.files[index];
    struct picture_file now;
    *values = (struct picture_values){.values = NULL};
    if (set->masks.drawings)
        return masks_draw(set, index, values, error);
    FILE *stream = open_picture(file->path, &now);
    if (!stream)
        return data_tell_change(file->path, "has vanished", error);
    glcnn_status status = read_values(stream, file->path, values, error);
    if (!picture_is_as_opened(file, stream))
        status = data_tell_change(file->path, "has changed", error);
    fclose(stream);
    return status;
}

static glcnn_status decode(glcnn_data_set *set, uint32_t index, uint8_t *classes, char *error)
{
    struct picture_values values = {.values = NULL};
    glcnn_status status = set_mask_values(set, index, &values, error);
    uint32_t *places = malloc(((size_t)set->info.width + set->info.height) * sizeof *places);
    if (status == GLCNN_SUCCESS && places)
        sample(set, &values, places, classes);
    else if (status == GLCNN_SUCCESS)
        status = data_no_memory(error, set->path);
    free(places);
    free(values.values);
    return status;
}

glcnn_status set_mask(glcnn_data_set *set, uint32_t index, uint8_t *classes, char *error)
{
    struct masks *m = &set->masks;
    const size_t pixels = pixels_of(set);
    if (atomic_load(&m->states[index]) == PICTURE_KEPT) {
        memcpy(classes, m->kept + index * pixels, pixels);
        return GLCNN_SUCCESS;
    }
    glcnn_status status = decode(set, index, classes, error);
    if (status == GLCNN_SUCCESS)
        keep_decoded(m->states, m->kept, index, classes, pixels);
    return status;
}
