/* Tables of text that have images, one on each line. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "columns.h"
#include "csv_lines.h"
#include "table.h"

#define LONE_LEAST 10 /* labels of which none comes twice: of few that is nothing strange */

struct csv {
    const struct reading *reading;
    struct csv_lines *lines;
    struct columns columns;
    float *values;     /* [rows][columns.values] */
    size_t rows, room; /* in rows */
    uint32_t *labels;
    float *numbers;
    bool are_whole;
};

/* ---- Lines ---- */

static glcnn_status grow(struct csv *csv, size_t length)
{
    if (csv->rows < csv->room)
        return GLCNN_SUCCESS;
    size_t room = csv->room ? csv->room * 2 : 64;
    if (room > UINT32_MAX || room > SIZE_MAX / sizeof(float) / length)
        return fail_no_memory(csv->reading->error, csv->reading->path);
    float *values = realloc(csv->values, room * length * sizeof *values);
    if (values)
        csv->values = values;
    uint32_t *labels = realloc(csv->labels, room * sizeof *labels);
    if (labels)
        csv->labels = labels;
    float *numbers = realloc(csv->numbers, room * sizeof *numbers);
    if (numbers)
        csv->numbers = numbers;
    if (!values || !labels || !numbers)
        return fail_no_memory(csv->reading->error, csv->reading->path);
    csv->room = room;
    return GLCNN_SUCCESS;
}

static glcnn_status take_value(struct csv *csv, size_t column, float *value)
{
    const char *text = csv->lines->fields[column];
    if (!columns_number(text, value))
        return CSV_MALFORMED(
            csv->lines,
            ", field %zu: \"%.60s\" is not a number; expected a value of the image, or in "
            "the first line \"label\" or, to leave the column out, \"id\" for its name",
            CSV_WHERE(csv->lines), column + 1, text);
    csv->are_whole &= strspn(text, "0123456789") == strlen(text);
    return GLCNN_SUCCESS;
}

static glcnn_status take_label(struct csv *csv, const char *text)
{
    const struct reading *r = csv->reading;
    if (r->names)
        return names_add(r->names, text, strlen(text), r->path, &csv->labels[csv->rows], r->error);
    if (columns_number(text, &csv->numbers[csv->rows]))
        return GLCNN_SUCCESS;
    return CSV_MALFORMED(csv->lines, ": the label is \"%.60s\"; expected a number",
                         CSV_WHERE(csv->lines), text);
}

static glcnn_status take_line(struct csv *csv)
{
    const struct columns *c = &csv->columns;
    if (csv->lines->count != c->count)
        return CSV_MALFORMED(csv->lines, ": has %zu fields, and the first line has %zu",
                             CSV_WHERE(csv->lines), csv->lines->count, c->count);
    glcnn_status status = grow(csv, c->values);
    float *value = csv->values + csv->rows * c->values;
    for (size_t i = 0; i < c->count && status == GLCNN_SUCCESS; i++)
        if (c->kinds[i] == COLUMN_VALUE)
            status = take_value(csv, i, value++);
    if (status == GLCNN_SUCCESS && reading_is_labelled(csv->reading))
        status = take_label(csv, csv->lines->fields[c->label]);
    csv->rows++;
    return status;
}

/* ---- Columns ---- */

static glcnn_status check_names(const struct csv *csv)
{
    const struct csv_lines *line = csv->lines;
    const char *first, *second = columns_second_label(line->fields, line->count, &first);
    if (reading_is_labelled(csv->reading) && second)
        return CSV_MALFORMED(
            csv->lines,
            ": the columns \"%.40s\" and \"%.40s\" could both be the label; expected "
            "one of them to be named \"id\", which is left out, or otherwise",
            CSV_WHERE(csv->lines), first, second);
    if (columns_are_counted(line->fields, line->count))
        return CSV_MALFORMED(csv->lines,
                             ": counts its %zu fields, so it may be names of columns or an image; "
                             "expected names, of which \"label\" is one, or no such line",
                             CSV_WHERE(csv->lines), line->count);
    return GLCNN_SUCCESS;
}

/* The first line says how many columns there are and what they are. */
static glcnn_status take_first_line(struct csv *csv)
{
    const struct csv_lines *line = csv->lines;
    const struct reading *r = csv->reading;
    struct columns *c = &csv->columns;
    if (line->count == 0)
        return CSV_MALFORMED(csv->lines,
                             ": the file is empty; expected a label and numbers on each line",
                             CSV_WHERE(csv->lines));
    if (!columns_find(c, line->fields, line->count, reading_is_labelled(r)))
        return fail_no_memory(r->error, r->path);
    if (c->values == 0)
        return CSV_MALFORMED(
            csv->lines,
            ": has %s; expected a label and numbers, separated by commas, semicolons "
            "or tabs",
            CSV_WHERE(csv->lines), line->count == 1 ? "one field" : "no column of values");
    columns_describe(c, line->fields, r->path, r->decision, GLCNN_ERROR_LENGTH);
    glcnn_status status = check_names(csv);
    return status != GLCNN_SUCCESS || c->named ? status : take_line(csv);
}

static bool are_numbers(const struct csv *csv)
{
    float value;
    for (size_t i = 0; i < csv->rows; i++)
        if (!columns_number(csv->reading->names->texts[csv->labels[i]], &value))
            return false;
    return true;
}

/* A label that was guessed may be a value, or what numbers or names the rows. `known`: how many
 * labels there were before this file. */
static glcnn_status check_guess(const struct csv *csv, uint32_t known)
{
    const struct reading *r = csv->reading;
    const size_t column = csv->columns.label + 1;
    if (!csv->columns.is_guessed)
        return GLCNN_SUCCESS;
    if (r->takes_numbers)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.250s: no column is named label, target or y, so any of them may be a "
                         "value; expected such a name in the first line",
                         r->path);
    if (csv->columns.named && are_numbers(csv))
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.250s: no column is named label, class, target or y, and column %zu has "
                         "numbers, so it may be a value; expected the label's column to be named "
                         "\"label\" in the first line",
                         r->path, column);
    if (csv->rows >= LONE_LEAST && r->names->count - known == csv->rows)
        return fail_with(
            r->error, GLCNN_MALFORMED_DATA,
            "%.200s: in column %zu each of %zu lines has a label of its own, so it may "
            "be what numbers or names them; expected a first line of names: \"label\" "
            "for the label, \"id\" for what is left out",
            r->path, column, csv->rows);
    return GLCNN_SUCCESS;
}

static glcnn_status read_lines(struct csv *csv)
{
    const uint32_t known = csv->reading->names ? csv->reading->names->count : 0;
    glcnn_status status = csv_next(csv->lines);
    if (status == GLCNN_SUCCESS)
        status = take_first_line(csv);
    while (status == GLCNN_SUCCESS) {
        status = csv_next(csv->lines);
        if (status == GLCNN_SUCCESS && csv->lines->count == 0)
            break;
        if (status == GLCNN_SUCCESS)
            status = take_line(csv);
    }
    if (status == GLCNN_SUCCESS && csv->rows == 0)
        return CSV_MALFORMED(csv->lines, ": the file has only names of columns",
                             CSV_WHERE(csv->lines));
    return status == GLCNN_SUCCESS ? check_guess(csv, known) : status;
}

/* ---- Files ---- */

static void get_row(const struct rows *rows, uint32_t row, float *values)
{
    memcpy(values, (const float *)rows->from + row * rows->length, rows->length * sizeof *values);
}

static glcnn_status take_over(struct csv *csv, struct content *content)
{
    struct rows rows = {.count = (uint32_t)csv->rows,
                        .length = csv->columns.values,
                        .are_whole = csv->are_whole,
                        .from = csv->values,
                        .get = get_row};
    const uint32_t shape[2] = {rows.count, (uint32_t)rows.length};
    glcnn_status status = table_shape(csv->reading, 2, shape, &content->table, &rows.is_planar);
    if (status == GLCNN_SUCCESS)
        status = table_fill(csv->reading, &rows, &content->table);
    if (status == GLCNN_SUCCESS && csv->reading->names) {
        content->labels = csv->labels;
        csv->labels = NULL;
    }
    if (status == GLCNN_SUCCESS && csv->reading->takes_numbers) {
        content->numbers = csv->numbers;
        content->number_count = 1;
        csv->numbers = NULL;
    }
    return status;
}

static glcnn_status take_file(struct csv_lines *lines, void *user)
{
    struct csv csv = {.reading = lines->reading, .lines = lines, .are_whole = true};
    glcnn_status status = read_lines(&csv);
    if (status == GLCNN_SUCCESS)
        status = take_over(&csv, user);
    columns_free(&csv.columns);
    free(csv.values);
    free(csv.labels);
    free(csv.numbers);
    return status;
}

glcnn_status csv_read(const struct reading *r, struct content *content)
{
    *content = (struct content){0};
    glcnn_status status = csv_take(r, take_file, content);
    if (status != GLCNN_SUCCESS)
        content_free(content);
    return status;
}
