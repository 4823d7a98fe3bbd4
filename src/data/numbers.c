/* Numbers as targets, and the tables of text that have these, or classes, for pictures. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/name_table.h"
#include "columns.h"
#include "csv_lines.h"
#include "folder.h"
#include "set.h"
#include "words.h"

/* ---- Rows ---- */

static bool grow(struct numbers *n, uint32_t rows)
{
    uint32_t capacity = n->capacity ? n->capacity : 64;
    while (capacity < n->rows + rows && capacity <= UINT32_MAX / 2)
        capacity *= 2;
    float *values = realloc(n->values, (size_t)capacity * n->count * sizeof *values);
    if (!values || capacity < n->rows + rows)
        return false;
    n->values = values;
    n->capacity = capacity;
    return true;
}

glcnn_status set_add_numbers(glcnn_dataset *set, const float *values, uint32_t rows, uint32_t count,
                             const char *path, uint32_t *first, char *error)
{
    struct numbers *n = &set->numbers;
    const uint32_t wanted = set->info.class_count ? set->info.class_count : n->count;
    if (wanted && wanted != count)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %u numbers for an image; expected %u, as %s", path, count,
                         wanted, set->info.class_count ? "the names say" : "the other part has");
    n->count = count;
    *first = n->rows;
    if (rows > UINT32_MAX / 2 - n->rows || (n->rows + rows > n->capacity && !grow(n, rows)))
        return fail_no_memory(error, path);
    memcpy(n->values + (size_t)n->rows * count, values, (size_t)rows * count * sizeof *values);
    n->rows += rows;
    return GLCNN_SUCCESS;
}

/* "number" of one, "number 0", "number 1" of several. */
glcnn_status set_name_numbers(glcnn_dataset *set, char *error)
{
    const uint32_t count = set->numbers.count;
    if (set->info.class_count > 0)
        return GLCNN_SUCCESS;
    set->class_names = calloc(count + 1, sizeof *set->class_names);
    for (; set->class_names && set->info.class_count < count; set->info.class_count++) {
        char name[32];
        snprintf(name, sizeof name, count == 1 ? "number" : "number %u", set->info.class_count);
        if (!(set->class_names[set->info.class_count] = strdup(name)))
            return fail_no_memory(error, set->path);
    }
    return set->class_names ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
}

/* ---- Lists of pictures ---- */

struct list {
    glcnn_dataset *set;
    glcnn_data_part part;
    const char *path;
    char *folder;          /* that the list is in */
    size_t picture, count; /* columns: the picture's, all */
    enum column *kinds;    /* of them; COLUMN_VALUE: a number, or what is no class */
    size_t label; /* the column of classes; `count`: there is none, or it is not clear which */
    uint32_t numbers;
    uint32_t order[GLCNN_DATA_MAX_NUMBERS]; /* of each column of numbers: which number it is */
    float values[GLCNN_DATA_MAX_NUMBERS];
    struct names pictures; /* their paths */
};

/* NULL: not enough memory. */
static struct list *list_create(const char *path)
{
    struct list *l = calloc(1, sizeof *l);
    const char *slash = strrchr(path, '/');
    if (!l)
        return NULL;
    l->path = path;
    l->folder = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
    if (l->folder)
        return l;
    free(l);
    return NULL;
}

static void list_free(struct list *l)
{
    names_free(&l->pictures);
    free(l->kinds);
    free(l->folder);
    free(l);
}

/* The column that names pictures; `count`: there is none. */
static size_t find_pictures(char *const *fields, size_t count)
{
    size_t i = 0;
    while (i < count && !word_is_picture(fields[i]))
        i++;
    return i;
}

static bool is_called_label(const char *name)
{
    return word_is_labels(name, strlen(name));
}

/* The only column that is not left out, or else the only one of a label's name. */
static size_t find_label(const struct list *l, char *const *fields)
{
    size_t found = l->count;
    for (size_t i = 0; i < l->count; i++) {
        if (l->kinds[i] != COLUMN_VALUE || (l->numbers > 1 && !is_called_label(fields[i])))
            continue;
        if (found < l->count)
            return l->count;
        found = i;
    }
    return found;
}

/* What the names of columns are: COLUMN_VALUE is a number. */
static bool find_kinds(struct list *l, const struct csv_lines *csv)
{
    l->count = csv->count;
    l->picture = find_pictures(csv->fields, csv->count);
    l->kinds = calloc(csv->count + 1, sizeof *l->kinds);
    for (size_t i = 0; i < csv->count && l->kinds; i++) {
        bool is_other = i == l->picture || word_is_row(csv->fields[i]) || !*csv->fields[i];
        l->kinds[i] = is_other ? COLUMN_OTHER : COLUMN_VALUE;
        l->numbers += !is_other;
    }
    l->label = l->kinds ? find_label(l, csv->fields) : csv->count;
    return l->kinds;
}

/* Numbers are named already, by a network or by the list of another part: columns are the same by name. */
static glcnn_status match_columns(struct list *l, struct csv_lines *csv, const struct names *names)
{
    char message[GLCNN_ERROR_LENGTH];
    const glcnn_dataset *set = l->set;
    if (!names_match((const char *const *)set->class_names, names->count,
                     (const char *const *)names->texts, names->count, l->order))
        return fail_no_memory(csv->reading->error, l->path);
    for (uint32_t i = 0; i < names->count; i++)
        if (l->order[i] == NAME_UNMATCHED)
            return CSV_MALFORMED(csv, ": has the column \"%.60s\"; expected \"%.60s\"",
                                 CSV_WHERE(csv), names->texts[i], set->class_names[i]);
    names_tell_order(names, l->order, l->path, message);
    if (*message)
        set_decide(l->set, message);
    return GLCNN_SUCCESS;
}

static glcnn_status take_names(struct list *l, struct csv_lines *csv)
{
    glcnn_dataset *set = l->set;
    struct names names = {0};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < l->count && status == GLCNN_SUCCESS; i++) {
        uint32_t number, before = names.count;
        if (l->kinds[i] != COLUMN_VALUE)
            continue;
        status = names_add(&names, csv->fields[i], strlen(csv->fields[i]), l->path, &number,
                           csv->reading->error);
        if (status == GLCNN_SUCCESS && names.count == before)
            status = CSV_MALFORMED(csv, ": names the column \"%.60s\" twice", CSV_WHERE(csv),
                                   csv->fields[i]);
    }
    for (uint32_t i = 0; i < names.count; i++)
        l->order[i] = i;
    if (status == GLCNN_SUCCESS && names.count == set->info.class_count)
        status = match_columns(l, csv, &names);
    if (status == GLCNN_SUCCESS && set->info.class_count == 0) {
        set->class_names = names.texts;
        set->info.class_count = names.count;
        names.texts = NULL;
        names.count = 0;
    }
    names_free(&names);
    return status;
}

static bool has_classes(const struct list *l)
{
    return l->set->parameters.targets == GLCNN_DATA_TARGETS_CLASSES;
}

/* Columns beside that of the classes are not read. */
static glcnn_status take_label(const struct list *l, struct csv_lines *csv)
{
    char message[GLCNN_ERROR_LENGTH];
    if (l->label == l->count)
        return CSV_MALFORMED(csv,
                             ": has %u columns beside \"%.60s\", and it is not clear which is the "
                             "class; expected one, or one called label or class",
                             CSV_WHERE(csv), l->numbers, csv->fields[l->picture]);
    snprintf(message, sizeof message,
             "%.250s: the class is the column \"%.60s\"; columns that are not read: %u", l->path,
             csv->fields[l->label], l->numbers - 1);
    if (l->numbers > 1)
        set_decide(l->set, message);
    return GLCNN_SUCCESS;
}

static glcnn_status take_first_line(struct list *l, struct csv_lines *csv)
{
    glcnn_status status = csv_next(csv);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!find_kinds(l, csv))
        return fail_no_memory(csv->reading->error, l->path);
    if (has_classes(l))
        return take_label(l, csv);
    if (l->numbers == 0 || l->numbers > GLCNN_DATA_MAX_NUMBERS)
        return CSV_MALFORMED(csv, ": has %u columns of numbers beside \"%.60s\"; expected 1 to %d",
                             CSV_WHERE(csv), l->numbers, csv->fields[l->picture],
                             GLCNN_DATA_MAX_NUMBERS);
    return take_names(l, csv);
}

static bool is_there(char *path)
{
    if (path && access(path, F_OK) == 0)
        return true;
    free(path);
    return false;
}

/* Returns a folder where pictures may be: the list's, "images" in it, and that of the list's name, train for train.csv.
 * NULL: not enough memory; to be released with free(). */
enum { PLACES = 3 };
static char *place_of(const struct list *l, int place)
{
    const char *slash = strrchr(l->path, '/'), *name = slash ? slash + 1 : l->path;
    char *stem = strndup(name, strcspn(name, ".")), *path = NULL;
    if (stem)
        path = place == 0 ? strdup(l->folder) : path_join(l->folder, place == 1 ? "images" : stem);
    free(stem);
    return path;
}

/* NULL: it is not there. To be released with free(). */
static char *find_picture(const struct list *l, const char *name)
{
    char *path = *name == '/' ? strdup(name) : NULL;
    if (*name == '/')
        return is_there(path) ? path : NULL;
    for (int i = 0; i < PLACES; i++) {
        char *place = place_of(l, i);
        path = place ? path_join(place, name) : NULL;
        free(place);
        if (is_there(path))
            return path;
    }
    return NULL;
}

static glcnn_status take_numbers(struct list *l, struct csv_lines *csv)
{
    uint32_t n = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->kinds[i] == COLUMN_VALUE &&
            !columns_number(csv->fields[i], &l->values[l->order[n++]]))
            return CSV_MALFORMED(csv, ", field %zu: \"%.60s\" is not a finite number",
                                 CSV_WHERE(csv), i + 1, csv->fields[i]);
    return GLCNN_SUCCESS;
}

static glcnn_status add_labelled(struct list *l, const char *path, const struct csv_lines *csv)
{
    uint32_t label;
    char *error = csv->reading->error;
    const char *name = csv->fields[l->label];
    if (!*name)
        return CSV_MALFORMED(csv, ", field %zu: is empty; expected a class", CSV_WHERE(csv),
                             l->label + 1);
    glcnn_status status = names_add(&l->set->names, name, strlen(name), l->path, &label, error);
    return status == GLCNN_SUCCESS ? set_add_picture(l->set, l->part, path, label, false, error)
                                   : status;
}

/* A broken picture has been noted. */
static glcnn_status add_picture(struct list *l, const char *path, char *error)
{
    struct part *part = &l->set->parts[l->part];
    const uint32_t before = part->count;
    glcnn_status status = set_add_picture(l->set, l->part, path, 0, false, error);
    if (status != GLCNN_SUCCESS || part->count == before)
        return status;
    return set_add_numbers(l->set, l->values, 1, l->numbers, l->path, &part->items[before].target,
                           error);
}

static glcnn_status take_line(struct list *l, struct csv_lines *csv)
{
    char *error = csv->reading->error;
    uint32_t number, before = l->pictures.count;
    if (csv->count != l->count)
        return CSV_MALFORMED(csv, ": has %zu fields, and the first line has %zu", CSV_WHERE(csv),
                             csv->count, l->count);
    const char *name = csv->fields[l->picture];
    char *path = find_picture(l, name);
    if (!path)
        return CSV_MALFORMED(csv, ": there is no picture \"%.100s\" in %.100s or its \"images\"",
                             CSV_WHERE(csv), name, l->folder);
    glcnn_status status = names_add(&l->pictures, path, strlen(path), l->path, &number, error);
    if (status == GLCNN_SUCCESS && l->pictures.count == before)
        status = CSV_MALFORMED(csv, ": names the picture \"%.100s\" a second time", CSV_WHERE(csv),
                               name);
    if (status == GLCNN_SUCCESS && has_classes(l)) {
        status = add_labelled(l, path, csv);
    } else {
        if (status == GLCNN_SUCCESS)
            status = take_numbers(l, csv);
        if (status == GLCNN_SUCCESS)
            status = add_picture(l, path, error);
    }
    free(path);
    return status;
}

static glcnn_status take_list(struct csv_lines *csv, void *user)
{
    struct list *l = user;
    glcnn_status status = take_first_line(l, csv);
    while (status == GLCNN_SUCCESS) {
        status = csv_next(csv);
        if (status == GLCNN_SUCCESS && csv->count == 0)
            break;
        if (status == GLCNN_SUCCESS)
            status = take_line(l, csv);
    }
    return status;
}

/* ---- Pictures that no line names ---- */

struct unnamed {
    uint32_t count;
    char first[256];
};

static glcnn_status find_unnamed(struct list *l, const char *folder, struct unnamed *unnamed,
                                 char *error)
{
    struct listing listing;
    glcnn_status status = listing_read(folder, &listing, error);
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++) {
        uint32_t number, before = l->pictures.count;
        char *path = path_join(folder, listing.names[i]);
        if (!path)
            status = fail_no_memory(error, folder);
        else if (picture_has_ending(path) && !path_is_folder(path))
            status = names_add(&l->pictures, path, strlen(path), l->path, &number, error);
        if (l->pictures.count > before && unnamed->count++ == 0)
            snprintf(unnamed->first, sizeof unnamed->first, "%s", listing.names[i]);
        free(path);
    }
    listing_free(&listing);
    return status;
}

static glcnn_status tell_unnamed(struct list *l, char *error)
{
    struct unnamed unnamed = {.count = 0};
    char message[GLCNN_ERROR_LENGTH];
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < PLACES && status == GLCNN_SUCCESS; i++) {
        char *place = place_of(l, i);
        if (place && path_is_folder(place))
            status = find_unnamed(l, place, &unnamed, error);
        free(place);
    }
    if (status != GLCNN_SUCCESS || unnamed.count == 0)
        return status;
    snprintf(message, sizeof message,
             "%.200s: names %u picture%s of the folder in no line, of which %.100s is the first",
             l->path, unnamed.count, unnamed.count == 1 ? "" : "s", unnamed.first);
    return set_complain(l->set, unnamed.count, message, error);
}

glcnn_status set_add_list(glcnn_dataset *set, glcnn_data_part part, const char *path, char *error)
{
    struct list *l = list_create(path);
    const struct reading r = {.path = path, .parameters = &set->parameters, .error = error};
    if (!l)
        return fail_no_memory(error, path);
    l->set = set;
    l->part = part;
    set->info.format = "pictures";
    set->unread = (struct unread){.count = 0};
    glcnn_status status = csv_take(&r, take_list, l);
    set_tell_unread(set, path);
    if (status == GLCNN_SUCCESS)
        status = tell_unnamed(l, error);
    list_free(l);
    return status;
}

/* ---- Looking ---- */

struct looking {
    struct list *list;
    struct list_look *look;
};

static void look_at_line(const struct list *l, char *const *fields, struct list_look *look)
{
    float value;
    char *path = find_picture(l, fields[l->picture]);
    bool are_numbers = l->numbers > 0, are_whole = true;
    for (size_t i = 0; i < l->count; i++) {
        if (l->kinds[i] != COLUMN_VALUE)
            continue;
        are_numbers = are_numbers && columns_number(fields[i], &value);
        are_whole = are_whole && strspn(fields[i], "0123456789") == strlen(fields[i]);
    }
    look->has_pictures = path;
    look->has_numbers = path && are_numbers;
    look->may_be_classes = look->may_be_classes && are_whole;
    free(path);
}

static glcnn_status look(struct csv_lines *csv, void *user)
{
    const struct looking *looking = user;
    struct list *l = looking->list;
    glcnn_status status = csv_next(csv);
    if (status == GLCNN_SUCCESS && !find_kinds(l, csv))
        status = fail_no_memory(csv->reading->error, l->path);
    if (status != GLCNN_SUCCESS || l->picture == l->count)
        return status;
    looking->look->names_pictures = true;
    looking->look->may_be_classes = l->numbers == 1 && is_called_label(csv->fields[l->label]);
    status = csv_next(csv);
    if (status == GLCNN_SUCCESS && csv->count == l->count)
        look_at_line(l, csv->fields, looking->look);
    return status;
}

glcnn_status list_look_at(const char *path, struct list_look *found, char *error)
{
    const struct reading r = {.path = path, .error = error};
    struct looking looking = {list_create(path), found};
    *found = (struct list_look){.names_pictures = false};
    if (!looking.list)
        return fail_no_memory(error, path);
    glcnn_status status = csv_peek(&r, look, &looking);
    list_free(looking.list);
    return status;
}
