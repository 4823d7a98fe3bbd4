/* What a path has: parts, tables, folders of classes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "bytes.h"
#include "folder.h"
#include "set.h"
#include "words.h"

/* ---- Tables ---- */

static glcnn_status read_npy(const struct reading *r, struct content *content)
{
    return array_read(r, &array_npy, content);
}

static glcnn_status read_idx(const struct reading *r, struct content *content)
{
    return array_read(r, &array_idx, content);
}

#define MAGIC_MAX 8 /* bytes by which a format is known */

/* The formats of single tables, by their first bytes; any other text is CSV, unless it is named as
 * something else. */
static const struct format {
    const char *name, *magic;
    size_t magic_size;
    const char *ending;
    glcnn_status (*read)(const struct reading *r, struct content *content);
} formats[] = {{"npz", "PK\3\4", 4, ".npz", NULL},
               {"npy", "\x93NUMPY", 6, ".npy", read_npy},
               {"idx", "\0\0\x08", 3, "-ubyte", read_idx},
               {"csv", "", 0, "", csv_read}};

static glcnn_status check_name(const char *path, const struct format *format, char *error)
{
    size_t length = strlen(path);
    length -= word_has_ending(path, ".gz") ? 3 : 0;
    for (const struct format *f = formats; format->magic_size == 0 && f->magic_size > 0; f++) {
        size_t part = strlen(f->ending);
        if (length > part && strncasecmp(path + length - part, f->ending, part) == 0)
            return fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.300s: its name is that of format %s, its contents are not", path,
                             f->name);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status find_format(const char *path, const struct format **format, char *error)
{
    struct bytes head;
    glcnn_status status = bytes_read_head(&head, path, MAGIC_MAX, error);
    if (status == GLCNN_SUCCESS && head.size == 0)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.300s: is empty; expected .npz, .npy, IDX or CSV", path);
    *format = formats;
    while (status == GLCNN_SUCCESS &&
           (head.size < (*format)->magic_size ||
            memcmp(head.data, (*format)->magic, (*format)->magic_size) != 0))
        ++*format;
    bytes_free(&head);
    return status == GLCNN_SUCCESS ? check_name(path, *format, error) : status;
}

/* `target`: that of the first row. */
static bool add_rows(struct part *part, const struct content *content, uint32_t table,
                     uint32_t target)
{
    for (uint32_t n = 0; n < content->table.count; n++) {
        const uint32_t label = content->labels    ? content->labels[n]
                               : content->numbers ? 0
                                                  : GLCNN_DATA_NO_LABEL;
        if (!part_add(part, &(struct item){
                                .label = label, .target = target + n, .table = table, .index = n}))
            return false;
    }
    return true;
}

glcnn_status set_add_content(glcnn_dataset *set, glcnn_data_part part, struct content *content,
                             char *error)
{
    if (set->tables[part].path) {
        content_free(content);
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: has a part twice, of which %.200s is one", set->path,
                         set->tables[part].path);
    }
    uint32_t target = 0;
    glcnn_status status = GLCNN_SUCCESS;
    if (content->numbers)
        status = set_add_numbers(set, content->numbers, content->table.count, content->number_count,
                                 content->table.path, &target, error);
    if (status == GLCNN_SUCCESS && !add_rows(&set->parts[part], content, (uint32_t)part, target))
        status = fail_no_memory(error, set->path);
    set->tables[part] = content->table;
    content->table = (struct table){0};
    content_free(content);
    return status;
}

/* The images that are of no part, or else all parts; without labels the first that there is. */
static glcnn_status add_archive(glcnn_dataset *set, const struct reading *r, glcnn_data_part part,
                                char *error)
{
    static const uint32_t order[] = {GLCNN_DATA_PARTS, GLCNN_DATA_PART_TEST,
                                     GLCNN_DATA_PART_VALIDATION, GLCNN_DATA_PART_TRAINING};
    bool any = false;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct content content;
        bool found, is_last = i == 0 || !reading_is_labelled(r);
        glcnn_status status = npz_read(r, order[i], &content, &found);
        if (status == GLCNN_SUCCESS && found)
            status =
                set_add_content(set, is_last ? part : (glcnn_data_part)order[i], &content, error);
        if (status != GLCNN_SUCCESS || (found && is_last))
            return status;
        any |= found;
    }
    if (any)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.300s: none of its arrays is images; expected \"images\" and \"labels\", or "
                     "\"train_images\", \"x_train\" and so on",
                     r->path);
}

static glcnn_status add_table(glcnn_dataset *set, glcnn_data_part part, const char *path,
                              bool labelled, char *error)
{
    char decision[GLCNN_ERROR_LENGTH] = "";
    const bool takes_numbers = set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS;
    const struct reading r = {.path = path,
                              .parameters = &set->parameters,
                              .names = labelled && !takes_numbers ? &set->names : NULL,
                              .takes_numbers = labelled && takes_numbers,
                              .decision = decision,
                              .error = error};
    const struct format *format = NULL;
    struct content content;
    glcnn_status status = find_format(path, &format, error);
    if (status != GLCNN_SUCCESS)
        return status;
    set->info.format = format->name;
    if (!format->read)
        return add_archive(set, &r, part, error);
    status = format->read(&r, &content);
    if (status == GLCNN_SUCCESS && *decision)
        set_decide(set, decision);
    return status == GLCNN_SUCCESS ? set_add_content(set, part, &content, error) : status;
}

bool path_is_csv(const char *path)
{
    return word_has_ending(path, ".csv") || word_has_ending(path, ".csv.gz");
}

static glcnn_status refuse_list(const char *path, char *error)
{
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.250s: names pictures, with numbers for each: such a list is read where targets "
        "are numbers (--task regress); expected a class of each, in a column called label "
        "or class, or a folder of pictures for each class",
        path);
}

/* Of a labelled table; the images of a CSV may be pictures. */
static glcnn_status add_labelled(glcnn_dataset *set, glcnn_data_part part, const char *path,
                                 char *error)
{
    struct list_look look = {.names_pictures = false};
    if (path_is_csv(path) && list_look_at(path, &look, error) == GLCNN_OUT_OF_MEMORY)
        return GLCNN_OUT_OF_MEMORY; /* what else fails is told by who reads it */
    const bool has_numbers = set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS;
    if (!has_numbers && look.has_numbers && !look.may_be_classes)
        return refuse_list(path, error);
    return (has_numbers ? look.names_pictures : look.has_pictures)
               ? set_add_list(set, part, path, error)
               : add_table(set, part, path, true, error);
}

/* ---- Names in a folder ---- */

/* Of which part a name is a table: what stands before the ending, without the mark between. */
static bool cut_ending(const char *name, size_t *stem)
{
    static const char *const endings[] = {".npz",
                                          ".csv",
                                          ".csv.gz",
                                          "images.npy",
                                          "images.npy.gz",
                                          "images-idx3-ubyte",
                                          "images-idx3-ubyte.gz",
                                          "images.idx3-ubyte",
                                          "images.idx3-ubyte.gz"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t part = strlen(endings[i]);
        if (length < part || strcasecmp(name + length - part, endings[i]) != 0)
            continue;
        *stem = length - part;
        *stem -= *stem > 0 && strchr("-_.", name[*stem - 1]);
        return true;
    }
    return false;
}

/* What is found of one part, or of all. */
struct found {
    const char *name, *other; /* `other`: of a second one */
    const char *table;        /* the first that is no folder */
    uint32_t tables, folders;
    bool images; /* a folder has this name */
};

static void note_found(struct found *found, const char *name)
{
    if (found->name)
        found->other = name;
    else
        found->name = name;
}

static glcnn_status look_for(const char *path, const struct listing *listing,
                             const glcnn_data_part *part, struct found *found, char *error)
{
    *found = (struct found){0};
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        size_t stem = strlen(name);
        glcnn_data_part of = GLCNN_DATA_PART_TRAINING;
        bool is_table = cut_ending(name, &stem);
        if (part && (!word_is_part(name, stem, &of) || of != *part))
            continue;
        char *whole = path_join(path, name);
        if (!whole)
            return fail_no_memory(error, path);
        bool is_folder = path_is_folder(whole);
        free(whole);
        if (!is_folder && !is_table)
            continue;
        found->folders += is_folder;
        found->images |= is_folder && strcasecmp(name, "images") == 0;
        found->tables += !is_folder;
        found->table = found->table || is_folder ? found->table : name;
        note_found(found, name);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status refuse_two(const char *path, const struct found *found, char *error)
{
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.250s: has %.80s and %.80s, and it is not clear which is meant; expected one, or "
        "train, val and test",
        path, found->name, found->other);
}

static glcnn_status add_whole(glcnn_dataset *set, glcnn_data_part part, const char *path,
                              char *error);

/* train.csv may be a list of the pictures in train. */
static bool is_list_of_folder(const char *path, const struct found *found)
{
    char error[GLCNN_ERROR_LENGTH];
    struct list_look look = {.names_pictures = false};
    char *table = found->folders == 1 && found->tables == 1 && path_is_csv(found->table)
                      ? path_join(path, found->table)
                      : NULL;
    const bool is_list =
        table && list_look_at(table, &look, error) == GLCNN_SUCCESS && look.has_pictures;
    free(table);
    return is_list;
}

/* Adds the part if it is there; *any becomes true then. */
static glcnn_status add_part(glcnn_dataset *set, glcnn_data_part part, const char *path,
                             const struct listing *listing, bool *any, char *error)
{
    struct found found;
    glcnn_status status = look_for(path, listing, &part, &found, error);
    if (status != GLCNN_SUCCESS || !found.name)
        return status;
    const bool is_list = is_list_of_folder(path, &found);
    if (found.other && !is_list)
        return refuse_two(path, &found, error);
    *any = true;
    char *whole = path_join(path, is_list ? found.table : found.name);
    if (!whole)
        return fail_no_memory(error, path);
    status = found.folders && !is_list ? add_whole(set, part, whole, error)
                                       : add_labelled(set, part, whole, error);
    free(whole);
    return status;
}

/* A table where there is no folder; otherwise folders of classes. */
static glcnn_status add_listed(glcnn_dataset *set, glcnn_data_part part, const char *path,
                               const struct listing *listing, char *error)
{
    struct found found;
    glcnn_status status = look_for(path, listing, NULL, &found, error);
    if (status != GLCNN_SUCCESS)
        return status;
    const bool has_classes = set->parameters.targets == GLCNN_DATA_TARGETS_CLASSES;
    const bool is_list = found.folders == 1 && found.images && found.tables == 1;
    if (has_classes && !is_list && (found.folders > 0 || !found.name)) {
        set->info.format = "pictures";
        return set_add_classes(set, part, path, error);
    }
    if (found.tables == 0)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has no table of numbers; expected .npz, .npy, IDX, or a CSV with "
                         "a column of pictures' names",
                         path);
    if (found.tables > 1 || (has_classes && found.other && !is_list))
        return refuse_two(path, &found, error);
    char *table = path_join(path, found.table);
    status = table ? add_labelled(set, part, table, error) : fail_no_memory(error, path);
    free(table);
    return status;
}

static glcnn_status add_whole(glcnn_dataset *set, glcnn_data_part part, const char *path,
                              char *error)
{
    struct listing listing;
    glcnn_status status = listing_read(path, &listing, error);
    if (status == GLCNN_SUCCESS)
        status = add_listed(set, part, path, &listing, error);
    listing_free(&listing);
    return status;
}

static glcnn_status add_parts(glcnn_dataset *set, const char *path, const struct listing *listing,
                              char *error)
{
    bool any = false;
    glcnn_status status = add_part(set, GLCNN_DATA_PART_TRAINING, path, listing, &any, error);
    if (status == GLCNN_SUCCESS && !any)
        return add_listed(set, GLCNN_DATA_PART_TRAINING, path, listing, error);
    if (status == GLCNN_SUCCESS)
        status = add_part(set, GLCNN_DATA_PART_VALIDATION, path, listing, &any, error);
    if (status == GLCNN_SUCCESS)
        status = add_part(set, GLCNN_DATA_PART_TEST, path, listing, &any, error);
    return status;
}

static bool is_picture(const char *path)
{
    struct picture_file file;
    FILE *stream = open_picture(path, &file);
    bool known = stream && (picture_format_of(stream) || picture_unread(stream, path));
    if (stream)
        fclose(stream);
    return known || picture_has_ending(path);
}

/* Annotations tell of boxes, or else of outlines, which are drawn as masks, or of keypoints. */
static bool is_annotated(const glcnn_dataset *set, const char *path)
{
    switch (set->parameters.targets) {
    case GLCNN_DATA_TARGETS_BOXES:
        return true;
    case GLCNN_DATA_TARGETS_MASKS:
        return boxes_is_file(path) || brush_is_in(path) ||
               (!masks_are_in(path) && boxes_are_in(path));
    case GLCNN_DATA_TARGETS_NUMBERS:
        return boxes_is_file(path) || (!set_has_list(path) && boxes_are_in(path));
    default:
        return false;
    }
}

glcnn_status set_add_path(glcnn_dataset *set, const char *path, char *error)
{
    struct listing listing;
    bool is_folder = path_is_folder(path);
    if (is_annotated(set, path))
        return boxes_add_path(set, path, error);
    if (!is_folder && is_picture(path))
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: is one picture; expected a folder with a folder of pictures for "
                         "each class, .npz, .npy, CSV or IDX",
                         path);
    if (set->parameters.targets == GLCNN_DATA_TARGETS_MASKS)
        return is_folder ? set_add_masked(set, path, error)
                         : fail_with(error, GLCNN_MALFORMED_DATA,
                                     "%.300s: is a file; expected a folder that has the folders "
                                     "\"images\" and \"masks\"",
                                     path);
    if (!is_folder)
        return add_labelled(set, GLCNN_DATA_PART_TRAINING, path, error);
    glcnn_status status = listing_read(path, &listing, error);
    if (status == GLCNN_SUCCESS)
        status = add_parts(set, path, &listing, error);
    listing_free(&listing);
    return status;
}

glcnn_status set_add_file(glcnn_dataset *set, const char *path, bool is_alone, char *error)
{
    set->info.format = "pictures"; /* a table says otherwise */
    if (path_is_folder(path))
        return set_add_folder(set, path, error);
    if (is_alone && !is_picture(path))
        return add_table(set, GLCNN_DATA_PART_TEST, path, false, error);
    return set_add_picture(set, GLCNN_DATA_PART_TEST, path, GLCNN_DATA_NO_LABEL, true, error);
}
