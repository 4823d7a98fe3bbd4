/* Boxes as YOLO writes them: a line "class x y width height" for each, in shares of the picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "bytes.h"
#include "columns.h"
#include "set.h"

#define MAX_BYTES ((size_t)16 << 20) /* of the boxes of one picture */
#define FIELDS    5
/* Rounding may lead beyond the picture, as far as Ultralytics takes it. */
#define LEAST   (-0.01f)
#define LARGEST 1.01f

struct line {
    char **fields;
    size_t count, capacity, number;
};

static bool make_room(struct line *line)
{
    char **fields = array_grow(line->fields, line->count, &line->capacity, sizeof *fields);
    line->fields = fields ? fields : line->fields;
    return fields != NULL;
}

/* Cuts the text at blanks, in place; false: not enough memory. */
static bool cut_fields(char *text, struct line *line)
{
    static const char blanks[] = " \t\r";
    char *rest;
    line->count = 0;
    for (char *field = strtok_r(text, blanks, &rest); field;
         field = strtok_r(NULL, blanks, &rest)) {
        if (!make_room(line))
            return false;
        line->fields[line->count++] = field;
    }
    return true;
}

static glcnn_status read_class(const glcnn_dataset *set, const struct annotation *a,
                               const struct line *line, uint32_t *class, char *error)
{
    float value;
    const uint32_t limit = boxes_class_limit(set);
    bool is_class = columns_number(line->fields[0], &value) && value >= 0 && value < (float)limit &&
                    value == (float)(uint32_t)value;
    *class = is_class ? (uint32_t)value : 0;
    return is_class ? GLCNN_SUCCESS
                    : fail_with(error, GLCNN_MALFORMED_DATA,
                                "%.200s: line %zu: the class is %.40s; expected a whole number, 0 "
                                "to %u",
                                a->path, line->number, line->fields[0], limit - 1);
}

static glcnn_status read_share(const struct annotation *a, const struct line *line, bool is_box,
                               size_t number, float *share, char *error)
{
    static const char *const names[FIELDS] = {"class", "x", "y", "width", "height"};
    if (columns_number(line->fields[number], share) && *share >= LEAST && *share <= LARGEST)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.200s: line %zu: %s is %.40s; expected a share of the picture, 0 to 1",
                     a->path, line->number,
                     is_box            ? names[number]
                     : number % 2 == 1 ? "an x of the outline"
                                       : "a y of the outline",
                     line->fields[number]);
}

/* x and y of the middle, width, height. */
static glcnn_status read_middle(const struct annotation *a, const struct line *line,
                                struct raw_box *box, char *error)
{
    float s[FIELDS];
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 1; i < FIELDS && status == GLCNN_SUCCESS; i++)
        status = read_share(a, line, true, i, &s[i], error);
    if (status != GLCNN_SUCCESS)
        return status;
    box->left = (double)s[1] - (double)s[3] / 2;
    box->right = (double)s[1] + (double)s[3] / 2;
    box->top = (double)s[2] - (double)s[4] / 2;
    box->bottom = (double)s[2] + (double)s[4] / 2;
    return status;
}

/* The points of an outline: the box is around them. */
static glcnn_status read_outline(glcnn_dataset *set, const struct annotation *a,
                                 const struct line *line, struct raw_box *box, char *error)
{
    const bool is_drawn = set->parameters.targets == GLCNN_DATA_TARGETS_MASKS;
    float x, y;
    box->left = box->top = LARGEST;
    box->right = box->bottom = LEAST;
    for (size_t i = 1; i + 1 < line->count; i += 2) {
        glcnn_status status = read_share(a, line, false, i, &x, error);
        if (status == GLCNN_SUCCESS)
            status = read_share(a, line, false, i + 1, &y, error);
        if (status == GLCNN_SUCCESS && is_drawn &&
            !outline_add_point(&box->outline, (double)x, (double)y))
            status = fail_no_memory(error, a->path);
        if (status != GLCNN_SUCCESS)
            return status;
        box->left = fmin(box->left, (double)x);
        box->right = fmax(box->right, (double)x);
        box->top = fmin(box->top, (double)y);
        box->bottom = fmax(box->bottom, (double)y);
    }
    if (set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        boxes_tell_outline(set, a->path);
    return !is_drawn || outline_end_ring(&box->outline) ? GLCNN_SUCCESS
                                                        : fail_no_memory(error, a->path);
}

/* x, y and, where data.yaml says 3 of a point, what is seen of each; without that a point at 0, 0 or below is
 * not labelled. */
static glcnn_status read_points(glcnn_dataset *set, const struct annotation *a,
                                const struct line *line, struct raw_box *box, char *error)
{
    const uint32_t count = set->boxes.keypoint_count, fields = set->boxes.keypoint_fields;
    if (line->count != FIELDS + (size_t)count * fields)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.200s: line %zu: has %zu fields; expected %zu: a box and %u points of %u "
            "numbers, as kpt_shape says",
            a->path, line->number, line->count, FIELDS + (size_t)count * fields, count, fields);
    box->points = calloc(3 * (size_t)count + 1, sizeof *box->points);
    if (!box->points)
        return fail_no_memory(error, a->path);
    box->point_count = count;
    for (size_t i = 0; i < count; i++) {
        float values[3] = {0, 0, 0};
        for (size_t k = 0; k < fields; k++)
            if (!columns_number(line->fields[FIELDS + i * fields + k], &values[k]))
                return fail_with(error, GLCNN_MALFORMED_DATA,
                                 "%.200s: line %zu: \"%.40s\" of point %zu is no number", a->path,
                                 line->number, line->fields[FIELDS + i * fields + k], i);
        if (fields == 2)
            values[2] = values[0] > 0 || values[1] > 0 ? 2 : 0;
        for (size_t k = 0; k < 3; k++)
            box->points[3 * i + k] = (double)values[k];
    }
    return set->keypoints.names.count > 0 ? GLCNN_SUCCESS
                                          : keypoints_count_names(set, count, a->path, error);
}

static glcnn_status read_object(glcnn_dataset *set, const struct annotation *a,
                                const struct line *line, struct raw_box *box, char *error)
{
    uint32_t class;
    const bool has_keypoints = set->boxes.keypoint_count > 0,
               is_box = line->count == FIELDS || (has_keypoints && line->count > FIELDS),
               is_outline = line->count > 6 && line->count % 2 == 1;
    if (!is_box && !is_outline)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.200s: line %zu: has %zu fields; expected %d: class, x and y of the "
                         "box's middle, width, height; or a class and x and y of three points or "
                         "more of an outline",
                         a->path, line->number, line->count, FIELDS);
    glcnn_status status = read_class(set, a, line, &class, error);
    if (status == GLCNN_SUCCESS)
        status = is_box ? read_middle(a, line, box, error) : read_outline(set, a, line, box, error);
    if (status == GLCNN_SUCCESS && has_keypoints && line->count > FIELDS &&
        set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS)
        status = read_points(set, a, line, box, error);
    return status == GLCNN_SUCCESS ? boxes_label(set, class, a->path, &box->label, error) : status;
}

static glcnn_status read_box(glcnn_dataset *set, struct annotation *a, const struct line *line,
                             char *error)
{
    struct raw_box box = {.place = line->number};
    glcnn_status status = read_object(set, a, line, &box, error);
    if (status != GLCNN_SUCCESS)
        raw_box_free(&box);
    else if (!annotation_add(a, &box))
        status = fail_no_memory(error, a->path);
    return status;
}

static glcnn_status read_text(glcnn_dataset *set, struct annotation *a, char *rest, char *error)
{
    struct line line = {.number = 0};
    glcnn_status status = GLCNN_SUCCESS;
    for (char *at; status == GLCNN_SUCCESS && (at = bytes_line(&rest)) != NULL;) {
        line.number++;
        if (!cut_fields(at, &line))
            status = fail_no_memory(error, a->path);
        else if (line.count > 0)
            status = read_box(set, a, &line, error);
    }
    free(line.fields);
    return status;
}

glcnn_status yolo_read(glcnn_dataset *set, struct annotation *a, char *error)
{
    struct bytes bytes;
    char *text;
    a->before = "line ";
    a->behind = "";
    a->in_pixels = false;
    glcnn_status status = bytes_read_text(&bytes, a->path, MAX_BYTES, &text, error);
    if (status == GLCNN_SUCCESS)
        status = read_text(set, a, text, error);
    bytes_free(&bytes);
    return status;
}
