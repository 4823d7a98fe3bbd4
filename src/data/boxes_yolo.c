/* Boxes as YOLO writes them: a line "class x y width height" for each, in shares of the picture. */
#include <string.h>

#include "bytes.h"
#include "columns.h"
#include "message.h"
#include "set.h"

#define MAX_BYTES ((size_t)16 << 20) /* of the boxes of one picture */
#define FIELDS    5
#define LARGEST   1.01f /* rounding may lead beyond 1 */

struct line {
    char *fields[FIELDS];
    size_t count, number;
};

/* Cuts the text at blanks, in place; fields beyond FIELDS are only counted. */
static void cut_fields(char *text, struct line *line)
{
    static const char blanks[] = " \t\r";
    char *rest;
    line->count = 0;
    for (char *field = strtok_r(text, blanks, &rest); field;
         field = strtok_r(NULL, blanks, &rest), line->count++)
        if (line->count < FIELDS)
            line->fields[line->count] = field;
}

static glcnn_status read_class(const glcnn_data_set *set, const struct annotation *a,
                               const struct line *line, uint32_t *class, char *error)
{
    float value;
    const uint32_t limit = boxes_class_limit(set);
    bool is_class = columns_number(line->fields[0], &value) && value >= 0 && value < (float)limit &&
                    value == (float)(uint32_t)value;
    *class = is_class ? (uint32_t)value : 0;
    return is_class ? GLCNN_SUCCESS
                    : data_fail(error, GLCNN_MALFORMED_DATA,
                                "%.200s: line %zu: the class is %.40s; expected a whole number, 0 "
                                "to %u",
                                a->path, line->number, line->fields[0], limit - 1);
}

static glcnn_status read_shares(const struct annotation *a, const struct line *line,
                                float shares[FIELDS], char *error)
{
    static const char *const names[FIELDS] = {"class", "x", "y", "width", "height"};
    for (uint32_t i = 1; i < FIELDS; i++)
        if (!columns_number(line->fields[i], &shares[i]) || shares[i] < 0 || shares[i] > LARGEST)
            return data_fail(
                error, GLCNN_MALFORMED_DATA,
                "%.200s: line %zu: %s is %.40s; expected a share of the picture, 0 to 1", a->path,
                line->number, names[i], line->fields[i]);
    return GLCNN_SUCCESS;
}

static glcnn_status read_box(glcnn_data_set *set, struct annotation *a, const struct line *line,
                             char *error)
{
    uint32_t class;
    float s[FIELDS];
    struct raw_box box = {.place = line->number};
    if (line->count != FIELDS)
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.200s: line %zu: has %zu fields; expected %d: class, x and y of the "
                         "box's middle, width, height",
                         a->path, line->number, line->count, FIELDS);
    glcnn_status status = read_class(set, a, line, &class, error);
    if (status == GLCNN_SUCCESS)
        status = read_shares(a, line, s, error);
    if (status == GLCNN_SUCCESS)
        status = boxes_label(set, class, a->path, &box.label, error);
    if (status != GLCNN_SUCCESS)
        return status;
    box.left = (double)s[1] - (double)s[3] / 2;
    box.right = (double)s[1] + (double)s[3] / 2;
    box.top = (double)s[2] - (double)s[4] / 2;
    box.bottom = (double)s[2] + (double)s[4] / 2;
    return annotation_add(a, &box) ? GLCNN_SUCCESS : data_no_memory(error, a->path);
}

static glcnn_status read_text(glcnn_data_set *set, struct annotation *a, char *rest, char *error)
{
    struct line line = {.number = 0};
    glcnn_status status = GLCNN_SUCCESS;
    for (char *at; status == GLCNN_SUCCESS && (at = bytes_line(&rest)) != NULL;) {
        line.number++;
        cut_fields(at, &line);
        if (line.count > 0)
            status = read_box(set, a, &line, error);
    }
    return status;
}

glcnn_status yolo_read(glcnn_data_set *set, struct annotation *a, char *error)
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
