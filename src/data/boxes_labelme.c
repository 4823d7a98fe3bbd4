/* Objects as labelme writes them: a JSON file for each picture, beside it. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "boxes_place.h"
#include "bytes.h"
#include "words.h"

#define MAX_BYTES  ((size_t)256 << 20) /* the picture itself may stand in it, as letters */
#define LOOK_BYTES ((size_t)64 << 10)  /* of a file, to know whether it is one of these */
#define LOOK_FILES 8
#define CORNERS    64 /* of the ring that a circle becomes */

struct labelme {
    glcnn_dataset *set;
    struct annotation *annotation;
    size_t number; /* of the shape */
    char *error;
};

static const cJSON *member(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

/* ---- Shapes ---- */

static glcnn_status refuse(const struct labelme *l, const char *found)
{
    return fail_with(l->error, GLCNN_MALFORMED_DATA, "%.250s: shapes[%zu]: %s", l->annotation->path,
                     l->number, found);
}

static bool read_point(const cJSON *json, double point[2])
{
    for (int i = 0; i < 2; i++) {
        const cJSON *value = cJSON_GetArrayItem(json, i);
        if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble))
            return false;
        point[i] = value->valuedouble;
    }
    return true;
}

static bool add_points(const cJSON *points, struct outline *o)
{
    const cJSON *item;
    double point[2];
    cJSON_ArrayForEach(item, points)
    {
        if (!read_point(item, point) || !outline_add_point(o, point[0], point[1]))
            return false;
    }
    return true;
}

/* Two corners. */
static bool add_rectangle(const cJSON *points, struct outline *o)
{
    double a[2], b[2];
    return read_point(cJSON_GetArrayItem(points, 0), a) &&
           read_point(cJSON_GetArrayItem(points, 1), b) && outline_add_point(o, a[0], a[1]) &&
           outline_add_point(o, b[0], a[1]) && outline_add_point(o, b[0], b[1]) &&
           outline_add_point(o, a[0], b[1]);
}

/* The middle, and a point of the edge. */
static bool add_circle(const cJSON *points, struct outline *o)
{
    double middle[2], edge[2];
    bool good = read_point(cJSON_GetArrayItem(points, 0), middle) &&
                read_point(cJSON_GetArrayItem(points, 1), edge);
    const double radius = good ? hypot(edge[0] - middle[0], edge[1] - middle[1]) : 0;
    for (int i = 0; i < CORNERS && good; i++) {
        const double angle = 2 * 3.14159265358979 * i / CORNERS;
        good =
            outline_add_point(o, middle[0] + radius * cos(angle), middle[1] + radius * sin(angle));
    }
    return good;
}

/* ---- Masks ---- */

/* Bytes of base64, in place; how many. */
static size_t read_letters(char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    uint32_t bits = 0, count = 0;
    for (const char *at = text; *at && *at != '='; at++) {
        const char *found = strchr(letters, *at);
        if (!found)
            continue;
        bits = bits << 6 | (uint32_t)(found - letters);
        count += 6;
        if (count >= 8) {
            count -= 8;
            text[length++] = (char)(bits >> count & 255);
        }
    }
    return length;
}

/* A PNG in letters, of the rectangle of the points. */
static glcnn_status read_mask(const struct labelme *l, const cJSON *shape, struct outline *o)
{
    char message[GLCNN_ERROR_LENGTH] = "is missing";
    double corner[2];
    struct picture_values values = {.values = NULL};
    const char *text = cJSON_GetStringValue(member(shape, "mask"));
    char *copy = text ? strdup(text) : NULL;
    const size_t size = copy ? read_letters(copy) : 0;
    FILE *stream = size > 0 ? fmemopen(copy, size, "rb") : NULL;
    const struct annotation *a = l->annotation;
    const bool has_size = a->width > 0 && a->height > 0 &&
                          (uint64_t)a->width * a->height <= GLCNN_DATA_MAX_PIXELS,
               has_place = read_point(cJSON_GetArrayItem(member(shape, "points"), 0), corner) &&
                           fabs(corner[0]) < 1e9 && fabs(corner[1]) < 1e9;
    bool good = stream && has_size && has_place &&
                picture_png_values(stream, NULL, &values, message) == GLCNN_SUCCESS;
    o->width = a->width;
    o->height = a->height;
    if (good)
        good = outline_add_values(o, &(struct outline_values){.values = values.values,
                                                              .width = values.width,
                                                              .height = values.height,
                                                              .left = (int64_t)corner[0],
                                                              .top = (int64_t)corner[1]});
    if (stream)
        fclose(stream);
    free(copy);
    free(values.values);
    return good ? GLCNN_SUCCESS
                : fail_with(l->error, GLCNN_MALFORMED_DATA,
                            "%.200s: shapes[%zu].mask %.150s; expected a PNG in base64, points and "
                            "the picture's size",
                            a->path, l->number, message);
}

/* ---- Objects ---- */

static const struct type {
    const char *name;
    bool (*add)(const cJSON *points, struct outline *o); /* NULL: it has no pixels */
    int least;                                           /* points */
} types[] = {{"polygon", add_points, 3}, {"rectangle", add_rectangle, 2},
             {"circle", add_circle, 2},  {"oriented_rectangle", add_points, 3},
             {"linestrip", NULL, 0},     {"line", NULL, 0},
             {"point", NULL, 0},         {"points", NULL, 0}};

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

/* Shapes of one label and group are one object, as labelme2coco has them. */
static struct raw_box *find_group(const struct annotation *a, const struct raw_box *box)
{
    for (uint32_t i = 0; i < a->count && box->group > 0 && box->outline.width == 0; i++)
        if (a->boxes[i].group == box->group && a->boxes[i].label == box->label &&
            a->boxes[i].outline.width == 0)
            return &a->boxes[i];
    return NULL;
}

static bool unite(struct raw_box *to, struct raw_box *from)
{
    bool good = outline_unite(&to->outline, &from->outline);
    to->left = fmin(to->left, from->left);
    to->top = fmin(to->top, from->top);
    to->right = fmax(to->right, from->right);
    to->bottom = fmax(to->bottom, from->bottom);
    raw_box_free(from);
    return good;
}

static glcnn_status add_object(const struct labelme *l, const char *label, struct raw_box *box)
{
    double v[4];
    if (!outline_box(&box->outline, v))
        v[0] = v[1] = v[2] = v[3] = 0;
    box->left = v[0];
    box->top = v[1];
    box->right = v[2];
    box->bottom = v[3];
    glcnn_status status =
        names_add(&l->set->names, label, strlen(label), l->annotation->path, &box->label, l->error);
    if (status != GLCNN_SUCCESS) {
        raw_box_free(box);
        return status;
    }
    struct raw_box *group = find_group(l->annotation, box);
    const bool good = group ? unite(group, box) : annotation_add(l->annotation, box);
    return good ? GLCNN_SUCCESS : fail_no_memory(l->error, l->annotation->path);
}

static glcnn_status leave_out(const struct labelme *l, const char *type)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.250s: shapes[%zu] is a %.40s, which has no pixels, and is left out",
             l->annotation->path, l->number, type);
    return boxes_tally(l->set, &l->set->boxes.empty, message, l->error);
}

static glcnn_status read_outline(const struct labelme *l, const cJSON *shape, const char *type,
                                 struct raw_box *box)
{
    const cJSON *points = member(shape, "points");
    const struct type *known = find_type(type);
    if (strcmp(type, "mask") == 0)
        return read_mask(l, shape, &box->outline);
    if (!known)
        return refuse(l, "has a shape_type that is not known; expected polygon, rectangle, "
                         "oriented_rectangle, circle or mask");
    return cJSON_GetArraySize(points) >= known->least && known->add(points, &box->outline) &&
                   outline_end_ring(&box->outline)
               ? GLCNN_SUCCESS
               : refuse(l, "has too few points, or some that are no x and y");
}

static glcnn_status read_shape(const struct labelme *l, const cJSON *shape)
{
    const char *label = cJSON_GetStringValue(member(shape, "label")),
               *given = cJSON_GetStringValue(member(shape, "shape_type")),
               *type = given ? given : "polygon";
    const cJSON *group = member(shape, "group_id");
    const struct type *known = find_type(type);
    struct raw_box box = {
        .place = l->number,
        .group = cJSON_IsNumber(group) && group->valuedouble >= 0 ? group->valuedouble + 1 : 0};
    if (!label || !*label)
        return refuse(l, "has no label");
    if (strcmp(label, "__ignore__") == 0)
        return GLCNN_SUCCESS;
    if (known && !known->add)
        return leave_out(l, type);
    glcnn_status status = read_outline(l, shape, type, &box);
    if (status != GLCNN_SUCCESS) {
        raw_box_free(&box);
        return status;
    }
    if (strcmp(type, "rectangle") != 0 && l->set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        boxes_tell_outline(l->set, l->annotation->path);
    return add_object(l, label, &box);
}

/* ---- Files ---- */

static uint32_t read_size(const cJSON *json)
{
    return cJSON_IsNumber(json) && json->valuedouble >= 1 &&
                   json->valuedouble <= GLCNN_DATA_MAX_PIXELS
               ? (uint32_t)json->valuedouble
               : 0;
}

static glcnn_status read_json(struct labelme *l, const cJSON *json)
{
    struct annotation *a = l->annotation;
    const cJSON *shape, *shapes = member(json, "shapes");
    glcnn_status status = GLCNN_SUCCESS;
    if (!cJSON_IsArray(shapes))
        return fail_with(l->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has no array \"shapes\"; expected labelme's JSON", a->path);
    a->width = read_size(member(json, "imageWidth"));
    a->height = read_size(member(json, "imageHeight"));
    cJSON_ArrayForEach(shape, shapes)
    {
        if (status == GLCNN_SUCCESS)
            status = read_shape(l, shape);
        l->number++;
    }
    return status;
}

glcnn_status labelme_read(glcnn_dataset *set, struct annotation *a, char *error)
{
    char *text;
    struct bytes bytes;
    struct labelme l = {.set = set, .annotation = a, .error = error};
    a->before = "shapes[";
    a->behind = "]";
    a->in_pixels = true;
    glcnn_status status = bytes_read_text(&bytes, a->path, MAX_BYTES, &text, error);
    cJSON *json = status == GLCNN_SUCCESS ? cJSON_Parse(text) : NULL;
    if (status == GLCNN_SUCCESS)
        status = json ? read_json(&l, json)
                      : fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: is not JSON", a->path);
    cJSON_Delete(json);
    bytes_free(&bytes);
    return status;
}

/* ---- Folders ---- */

/* Its shapes stand before its path and its pixels. */
static bool is_labelme(const char *folder, const char *name)
{
    char *path = path_join(folder, name), error[GLCNN_ERROR_LENGTH];
    struct bytes head = {.data = NULL};
    bool found = path && bytes_read_head(&head, path, LOOK_BYTES, error) == GLCNN_SUCCESS &&
                 head.size > 0 &&
                 json_has_keys((const char *)head.data, head.size, "shapes", "shapes");
    bytes_free(&head);
    free(path);
    return found;
}

/* Looks at the first files, since others may lie beside. */
static bool any_is_labelme(const struct place *p)
{
    uint32_t looked = 0;
    for (uint32_t i = 0; i < p->listing.count && looked < LOOK_FILES; i++) {
        if (!word_has_ending(p->listing.names[i], ".json"))
            continue;
        looked++;
        if (is_labelme(p->folder, p->listing.names[i]))
            return true;
    }
    return false;
}

static glcnn_status add_pair(const struct place *p, glcnn_data_part part, const char *pictures,
                             const char *annotations)
{
    p->set->info.format = "labelme";
    return boxes_add_pairs(p->set, part,
                           &(struct pairs){.pictures = pictures,
                                           .annotations = annotations,
                                           .ending = ".json",
                                           .read = labelme_read},
                           p->error);
}

glcnn_status labelme_add_folders(const struct place *p, bool *found)
{
    static const char *const names[] = {"annotations", "labels", "json", "jsons", "labelme"};
    char *pictures = place_find_folder(p, "images", "JPEGImages"), *annotations = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    *found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && pictures && !*found; i++) {
        struct place below = {.folder = NULL};
        free(annotations);
        annotations = place_find_folder(p, names[i], names[i]);
        *found = annotations &&
                 place_open(&below, p, p->set, annotations, p->error) == GLCNN_SUCCESS &&
                 any_is_labelme(&below);
        listing_free(&below.listing);
    }
    if (*found && p->set)
        status = add_pair(p, p->part, pictures, annotations);
    free(pictures);
    free(annotations);
    return status;
}

glcnn_status labelme_add_beside(const struct place *p, bool *found)
{
    *found = place_any_has_pair(p, ".json") && any_is_labelme(p);
    return *found && p->set ? add_pair(p, p->part, p->folder, p->folder) : GLCNN_SUCCESS;
}
