/* Boxes as a CSV has them, a line of each: Make Sense's without names of columns, and tables that name them, as
 * Roboflow's for TensorFlow. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/fail.h"
#include "boxes_place.h"
#include "columns.h"
#include "csv_lines.h"
#include "words.h"

enum field { LABEL, LEFT, TOP, RIGHT, BOTTOM, PICTURE, WIDTH, HEIGHT, FIELDS };

/* Names of columns; of RIGHT and BOTTOM two kinds, sizes and places. */
static const char *const names[FIELDS][5] = {
    [LABEL] = {"label_name", "class", "label", "name", NULL},
    [LEFT] = {"bbox_x", "xmin", "x_min", "x1", NULL},
    [TOP] = {"bbox_y", "ymin", "y_min", "y1", NULL},
    [RIGHT] = {"bbox_width", "xmax", "x_max", "x2", NULL},
    [BOTTOM] = {"bbox_height", "ymax", "y_max", "y2", NULL},
    [PICTURE] = {"image_name", "filename", "image", "file_name", NULL},
    [WIDTH] = {"image_width", "width", "img_width", NULL},
    [HEIGHT] = {"image_height", "height", "img_height", NULL}};

/* Which column is what. */
struct form {
    size_t columns[FIELDS]; /* NO_COLUMN: there is none */
    size_t count;
    bool are_sizes; /* RIGHT and BOTTOM are width and height */
    bool is_named;  /* the first line has names */
};

/* A line: the box, and which picture it is of. */
struct row {
    struct raw_box box;
    uint32_t picture; /* of the names */
    uint32_t width, height;
};

struct sheet {
    const struct place *place;
    const char *path;
    struct form form;
    struct names pictures;
    struct row *rows;
    uint32_t count;
    size_t capacity;
};

/* ---- Columns ---- */

static bool find_named(const struct csv_lines *csv, struct form *form)
{
    for (int field = 0; field < FIELDS; field++) {
        form->columns[field] = NO_COLUMN;
        for (size_t i = 0; i < csv->count && form->columns[field] == NO_COLUMN; i++)
            for (int k = 0; names[field][k]; k++)
                if (strcasecmp(csv->fields[i], names[field][k]) == 0) {
                    form->columns[field] = i;
                    form->are_sizes = field == RIGHT ? k == 0 : form->are_sizes;
                }
    }
    form->is_named = true;
    for (int field = LABEL; field <= PICTURE; field++)
        if (form->columns[field] == NO_COLUMN)
            return false;
    return true;
}

/* label, x, y, width, height, picture, and the picture's width and height: RectLabelsExporter.ts of Make Sense. */
static bool find_unnamed(const struct csv_lines *csv, struct form *form)
{
    float value;
    if (csv->count != FIELDS || !picture_has_ending(csv->fields[PICTURE]))
        return false;
    for (int field = 0; field < FIELDS; field++) {
        form->columns[field] = (size_t)field;
        if (field != LABEL && field != PICTURE && !columns_number(csv->fields[field], &value))
            return false;
    }
    form->are_sizes = true;
    return true;
}

static bool find_form(const struct csv_lines *csv, struct form *form)
{
    *form = (struct form){.count = csv->count};
    if (find_unnamed(csv, form))
        return true;
    *form = (struct form){.count = csv->count};
    return find_named(csv, form);
}

static glcnn_status look(struct csv_lines *csv, void *user)
{
    struct form form;
    bool *found = user;
    glcnn_status status = csv_next(csv);
    *found = status == GLCNN_SUCCESS && csv->count > 0 && find_form(csv, &form);
    return status;
}

static bool is_table(const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct reading r = {.path = path, .error = error};
    bool found = false;
    return csv_peek(&r, look, &found) == GLCNN_SUCCESS && found;
}

/* ---- Lines ---- */

static struct row *add_row(struct sheet *t)
{
    struct row *rows =
        t->count < UINT32_MAX ? array_grow(t->rows, t->count, &t->capacity, sizeof *rows) : NULL;
    if (!rows)
        return NULL;
    t->rows = rows;
    return &t->rows[t->count++];
}

static const char *field_of(const struct sheet *t, const struct csv_lines *csv, enum field field)
{
    return t->form.columns[field] == NO_COLUMN ? "" : csv->fields[t->form.columns[field]];
}

static glcnn_status read_numbers(const struct sheet *t, struct csv_lines *csv, float values[FIELDS])
{
    for (int field = 0; field < FIELDS; field++) {
        const char *text = field_of(t, csv, (enum field)field);
        const bool may_lack = field >= WIDTH && !*text;
        values[field] = 0;
        if (field != LABEL && field != PICTURE && !may_lack &&
            !columns_number(text, &values[field]))
            return CSV_MALFORMED(csv, ", field %zu: \"%.60s\" is not a number", CSV_WHERE(csv),
                                 t->form.columns[field] + 1, text);
    }
    return GLCNN_SUCCESS;
}

static uint32_t size_of(float value)
{
    return value >= 1 && value <= (float)GLCNN_DATA_MAX_PIXELS ? (uint32_t)value : 0;
}

/* The last part of a path. */
static const char *base_of(const char *name)
{
    for (const char *at = name; *at; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    return name;
}

static glcnn_status take_line(struct sheet *t, struct csv_lines *csv)
{
    float v[FIELDS];
    const char *label = field_of(t, csv, LABEL), *picture = base_of(field_of(t, csv, PICTURE));
    if (csv->count != t->form.count)
        return CSV_MALFORMED(csv, ": has %zu fields, and the first line has %zu", CSV_WHERE(csv),
                             csv->count, t->form.count);
    glcnn_status status = read_numbers(t, csv, v);
    if (status != GLCNN_SUCCESS)
        return status;
    struct row *row = add_row(t);
    if (!row)
        return fail_no_memory(csv->reading->error, t->path);
    *row =
        (struct row){.box = {.left = (double)v[LEFT],
                             .top = (double)v[TOP],
                             .right = (double)v[RIGHT] + (t->form.are_sizes ? (double)v[LEFT] : 0),
                             .bottom = (double)v[BOTTOM] + (t->form.are_sizes ? (double)v[TOP] : 0),
                             .place = csv->number},
                     .width = size_of(v[WIDTH]),
                     .height = size_of(v[HEIGHT])};
    status = names_add(&t->place->set->names, label, strlen(label), t->path, &row->box.label,
                       csv->reading->error);
    return status == GLCNN_SUCCESS ? names_add(&t->pictures, picture, strlen(picture), t->path,
                                               &row->picture, csv->reading->error)
                                   : status;
}

static glcnn_status take_lines(struct csv_lines *csv, void *user)
{
    struct sheet *t = user;
    glcnn_status status = csv_next(csv);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!find_form(csv, &t->form))
        return CSV_MALFORMED(csv, ": has no boxes", CSV_WHERE(csv));
    if (!t->form.is_named)
        status = take_line(t, csv);
    while (status == GLCNN_SUCCESS && (status = csv_next(csv)) == GLCNN_SUCCESS && csv->count > 0)
        status = take_line(t, csv);
    return status;
}

/* ---- Pictures ---- */

static int by_picture(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->picture != y->picture)
        return (x->picture > y->picture) - (x->picture < y->picture);
    return (x->box.place > y->box.place) - (x->box.place < y->box.place);
}

/* The rows from number `first` on of one picture; *next is the first of another. */
static glcnn_status add_picture(struct sheet *t, const char *folder, uint32_t first, uint32_t *next)
{
    const struct place *p = t->place;
    const char *name = t->pictures.texts[t->rows[first].picture];
    char message[GLCNN_ERROR_LENGTH], *path = path_join(folder, name);
    struct annotation a = {.path = t->path,
                           .before = "line ",
                           .behind = "",
                           .in_pixels = true,
                           .width = t->rows[first].width,
                           .height = t->rows[first].height};
    const uint32_t before = p->set->file_count;
    bool has_room = path;
    for (*next = first; *next < t->count && t->rows[*next].picture == t->rows[first].picture;
         ++*next)
        has_room = has_room && annotation_add(&a, &t->rows[*next].box);
    glcnn_status status = has_room ? GLCNN_SUCCESS : fail_no_memory(p->error, t->path);
    snprintf(message, sizeof message, "%.200s: line %zu: there is no picture %.100s in %.150s",
             t->path, t->rows[first].box.place, name, folder);
    if (has_room && !path_exists(path))
        status = boxes_tally(p->set, &p->set->boxes.unmatched, message, p->error);
    else if (has_room)
        status = set_add_picture(p->set, p->part, path, 0, false, p->error);
    if (status == GLCNN_SUCCESS && p->set->file_count > before)
        status = annotation_attach(p->set, p->part, &a, p->error);
    annotation_free(&a);
    free(path);
    return status;
}

/* A picture that no line names has no boxes. */
static glcnn_status add_unnamed(struct sheet *t, const char *folder)
{
    const struct place *p = t->place;
    struct listing listing;
    struct tally *unboxed = &p->set->boxes.unboxed;
    glcnn_status status = listing_read(folder, &listing, p->error);
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++) {
        const char *name = listing.names[i];
        const uint32_t known = t->pictures.count, before = p->set->file_count;
        uint32_t number;
        if (!picture_has_ending(name))
            continue;
        char *path = path_join(folder, name);
        status = path ? names_add(&t->pictures, name, strlen(name), t->path, &number, p->error)
                      : fail_no_memory(p->error, folder);
        if (status == GLCNN_SUCCESS && t->pictures.count > known)
            status = set_add_picture(p->set, p->part, path, 0, false, p->error);
        if (status == GLCNN_SUCCESS && p->set->file_count > before) {
            if (unboxed->count++ == 0)
                snprintf(unboxed->first, sizeof unboxed->first,
                         "%.200s: is in no line of %.150s, and so has no boxes", path, t->path);
            status =
                annotation_attach(p->set, p->part, &(struct annotation){.path = path}, p->error);
        }
        free(path);
    }
    listing_free(&listing);
    return status;
}

static glcnn_status add_table(const struct place *p, const char *path, const char *folder)
{
    struct sheet t = {.place = p, .path = path};
    const struct reading r = {.path = path, .parameters = &p->set->parameters, .error = p->error};
    p->set->info.format = "csv";
    p->set->unread = (struct unread){.count = 0};
    glcnn_status status = csv_take(&r, take_lines, &t);
    if (t.count > 0)
        qsort(t.rows, t.count, sizeof *t.rows, by_picture);
    for (uint32_t i = 0; i < t.count && status == GLCNN_SUCCESS;)
        status = add_picture(&t, folder, i, &i);
    if (status == GLCNN_SUCCESS)
        status = add_unnamed(&t, folder);
    set_tell_unread(p->set, folder);
    names_free(&t.pictures);
    free(t.rows);
    return status;
}

/* ---- Folders ---- */

static bool has_csv_name(const char *name, const void *what)
{
    (void)what;
    return path_is_csv(name);
}

/* Pictures lie beside the table, or in "images". */
glcnn_status csv_add_beside(const struct place *p, bool *found)
{
    static const struct place_wanted table = {has_csv_name, is_table, NULL};
    char *path, *images = place_find_folder(p, "images", "JPEGImages");
    glcnn_status status = place_find_only(p, &table, &path);
    *found = path;
    if (status == GLCNN_SUCCESS && path && p->set)
        status = add_table(p, path, images ? images : p->folder);
    free(path);
    free(images);
    return status;
}
