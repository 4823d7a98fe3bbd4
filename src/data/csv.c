/* Tables of text. Lines are cut into fields in place; numbers are read as the C locale writes them,
 * whatever the program's. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "message.h"
#include "table.h"

#define OTHERS_MAX 64 /* columns beside the image: a label, what names the row */
#define MAX_FIELDS (OTHERS_MAX + GLCNN_DATA_MAX_CHANNELS * 256 * 256) /* of a line */
#define LONE_LEAST 10 /* labels of which none comes twice: of few that is nothing strange */

struct line {
    char **fields;
    size_t count, capacity;
    size_t number; /* from 1, of the line in the file where it begins */
};

struct csv {
    const struct reading *reading;
    char *at, *end;
    char separator;
    size_t lines; /* begun so far */
    struct line line;
    struct columns columns;
    float *values;     /* [rows][columns.values] */
    size_t rows, room; /* in rows */
    uint32_t *labels;
    bool are_whole;
};

#define MALFORMED(csv, ...)                                                                        \
    data_fail((csv)->reading->error, GLCNN_MALFORMED_DATA, "%.250s: line %zu" __VA_ARGS__)
#define WHERE(csv) (csv)->reading->path, (csv)->line.number

/* ---- Fields ---- */

/* The separator that the first line has most of, outside of quotes. */
static char choose_separator(const char *at, const char *end)
{
    static const char separators[] = ",;\t";
    size_t counts[3] = {0};
    bool quoted = false;
    for (; at < end && (quoted || (*at != '\n' && *at != '\r')); at++) {
        const char *found = *at ? strchr(separators, *at) : NULL;
        quoted ^= *at == '"';
        if (found && !quoted)
            counts[found - separators]++;
    }
    size_t best = counts[1] > counts[0] ? 1 : 0;
    return separators[counts[2] > counts[best] ? 2 : best];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_field(const struct csv *csv, const char *at)
{
    return at == csv->end || *at == csv->separator || *at == '\n' || *at == '\r';
}

static glcnn_status add_field(struct csv *csv, char *field)
{
    struct line *line = &csv->line;
    if (line->count == MAX_FIELDS)
        return MALFORMED(csv, ": has more than %d fields", WHERE(csv), MAX_FIELDS);
    if (line->count == line->capacity) {
        size_t capacity = line->capacity ? line->capacity * 2 : 1024;
        char **fields = realloc(line->fields, capacity * sizeof *fields);
        if (!fields)
            return data_no_memory(csv->reading->error, csv->reading->path);
        line->fields = fields;
        line->capacity = capacity;
    }
    line->fields[line->count++] = field;
    return GLCNN_SUCCESS;
}

/* Takes the quotes away; leaves csv->at behind the last one. *end is where the text ends. */
static bool unquote(struct csv *csv, char **end)
{
    char *to = csv->at, *from = csv->at + 1;
    for (; from < csv->end; from++) {
        if (*from == '"' && (from + 1 == csv->end || from[1] != '"')) {
            csv->at = from + 1;
            *end = to;
            return true;
        }
        from += *from == '"';
        csv->lines += *from == '\n';
        *to++ = *from;
    }
    return false;
}

static glcnn_status read_quoted(struct csv *csv)
{
    char *field = csv->at, *end;
    if (!unquote(csv, &end))
        return MALFORMED(csv, ", field %zu: the quotes have no end", WHERE(csv),
                         csv->line.count + 1);
    while (!ends_field(csv, csv->at) && is_blank(*csv->at))
        csv->at++;
    if (!ends_field(csv, csv->at))
        return MALFORMED(csv, ", field %zu: goes on behind its quotes", WHERE(csv),
                         csv->line.count + 1);
    *end = 0; /* before csv->at, which may be the separator that is looked at next */
    return add_field(csv, field);
}

/* The 0 behind the field would take the place of what ends it, which is looked at first. */
static glcnn_status read_field(struct csv *csv, char *ended_by)
{
    glcnn_status status = GLCNN_SUCCESS;
    while (csv->at < csv->end && is_blank(*csv->at) && *csv->at != csv->separator)
        csv->at++;
    char *begin = csv->at;
    bool quoted = begin < csv->end && *begin == '"';
    if (quoted)
        status = read_quoted(csv);
    while (!ends_field(csv, csv->at))
        csv->at++;
    *ended_by = csv->at < csv->end ? *csv->at : '\n';
    if (quoted || status != GLCNN_SUCCESS)
        return status;
    char *end = csv->at;
    while (end > begin && is_blank(end[-1]))
        end--;
    *end = 0;
    return add_field(csv, begin);
}

static void pass_line_end(struct csv *csv, char ended_by)
{
    csv->at += csv->at < csv->end;
    if (ended_by == '\r' && csv->at < csv->end && *csv->at == '\n')
        csv->at++;
}

/* The next line that is not empty; none: it has no fields. */
static glcnn_status read_line(struct csv *csv)
{
    csv->line.count = 0;
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r')) {
        csv->lines += *csv->at == '\n';
        csv->at++;
    }
    csv->line.number = ++csv->lines;
    for (char ended_by = csv->separator; csv->at < csv->end && ended_by == csv->separator;) {
        glcnn_status status = read_field(csv, &ended_by);
        if (status != GLCNN_SUCCESS)
            return status;
        if (ended_by != csv->separator) {
            pass_line_end(csv, ended_by);
            break;
        }
        csv->at++;
        if (csv->at == csv->end) /* the last field is empty */
            return add_field(csv, csv->at);
    }
    return GLCNN_SUCCESS;
}

/* ---- Lines ---- */

static glcnn_status grow(struct csv *csv, size_t length)
{
    if (csv->rows < csv->room)
        return GLCNN_SUCCESS;
    size_t room = csv->room ? csv->room * 2 : 64;
    if (room > UINT32_MAX || room > SIZE_MAX / sizeof(float) / length)
        return data_no_memory(csv->reading->error, csv->reading->path);
    float *values = realloc(csv->values, room * length * sizeof *values);
    if (values)
        csv->values = values;
    uint32_t *labels = realloc(csv->labels, room * sizeof *labels);
    if (labels)
        csv->labels = labels;
    if (!values || !labels)
        return data_no_memory(csv->reading->error, csv->reading->path);
    csv->room = room;
    return GLCNN_SUCCESS;
}

static glcnn_status take_value(struct csv *csv, size_t column, float *value)
{
    const char *text = csv->line.fields[column];
    if (!columns_number(text, value))
        return MALFORMED(
            csv,
            ", field %zu: \"%.60s\" is not a number; expected a value of the image, or in "
            "the first line \"label\" or, to leave the column out, \"id\" for its name",
            WHERE(csv), column + 1, text);
    csv->are_whole &= strspn(text, "0123456789") == strlen(text);
    return GLCNN_SUCCESS;
}

static glcnn_status take_line(struct csv *csv)
{
    const struct columns *c = &csv->columns;
    if (csv->line.count != c->count)
        return MALFORMED(csv, ": has %zu fields, and the first line has %zu", WHERE(csv),
                         csv->line.count, c->count);
    glcnn_status status = grow(csv, c->values);
    float *value = csv->values + csv->rows * c->values;
    for (size_t i = 0; i < c->count && status == GLCNN_SUCCESS; i++)
        if (c->kinds[i] == COLUMN_VALUE)
            status = take_value(csv, i, value++);
    const struct reading *r = csv->reading;
    if (status == GLCNN_SUCCESS && r->names) {
        const char *text = csv->line.fields[c->label];
        status =
            names_add(r->names, text, strlen(text), r->path, &csv->labels[csv->rows], r->error);
    }
    csv->rows++;
    return status;
}

/* ---- Columns ---- */

static glcnn_status check_names(const struct csv *csv)
{
    const struct line *line = &csv->line;
    const char *first, *second = columns_second_label(line->fields, line->count, &first);
    if (csv->reading->names && second)
        return MALFORMED(csv,
                         ": the columns \"%.40s\" and \"%.40s\" could both be the label; expected "
                         "one of them to be named \"id\", which is left out, or otherwise",
                         WHERE(csv), first, second);
    if (columns_are_counted(line->fields, line->count))
        return MALFORMED(csv,
                         ": counts its %zu fields, so it may be names of columns or an image; "
                         "expected names, of which \"label\" is one, or no such line",
                         WHERE(csv), line->count);
    return GLCNN_SUCCESS;
}

/* The first line says how many columns there are and what they are. */
static glcnn_status take_first_line(struct csv *csv)
{
    const struct line *line = &csv->line;
    const struct reading *r = csv->reading;
    struct columns *c = &csv->columns;
    if (line->count == 0)
        return MALFORMED(csv, ": the file is empty; expected a label and numbers on each line",
                         WHERE(csv));
    if (!columns_find(c, line->fields, line->count, r->names))
        return data_no_memory(r->error, r->path);
    if (c->values == 0)
        return MALFORMED(csv,
                         ": has %s; expected a label and numbers, separated by commas, semicolons "
                         "or tabs",
                         WHERE(csv), line->count == 1 ? "one field" : "no column of values");
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
    if (csv->columns.named && are_numbers(csv))
        return data_fail(r->error, GLCNN_MALFORMED_DATA,
                         "%.250s: no column is named label, class, target or y, and column %zu has "
                         "numbers, so it may be a value; expected the label's column to be named "
                         "\"label\" in the first line",
                         r->path, column);
    if (csv->rows >= LONE_LEAST && r->names->count - known == csv->rows)
        return data_fail(
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
    glcnn_status status = read_line(csv);
    if (status == GLCNN_SUCCESS)
        status = take_first_line(csv);
    while (status == GLCNN_SUCCESS) {
        status = read_line(csv);
        if (status == GLCNN_SUCCESS && csv->line.count == 0)
            break;
        if (status == GLCNN_SUCCESS)
            status = take_line(csv);
    }
    if (status == GLCNN_SUCCESS && csv->rows == 0)
        return MALFORMED(csv, ": the file has only names of columns", WHERE(csv));
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
    return status;
}

static glcnn_status parse(const struct reading *r, struct bytes *bytes, struct content *content)
{
    struct csv csv = {.reading = r, .are_whole = true};
    csv.at = (char *)bytes->data;
    csv.end = csv.at + bytes->size;
    if (memchr(csv.at, 0, bytes->size))
        return data_fail(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not text: it has a zero byte; expected .npz, .npy, IDX or "
                         "CSV",
                         r->path);
    if (bytes->size >= 3 && memcmp(csv.at, "\xef\xbb\xbf", 3) == 0)
        csv.at += 3; /* the mark of UTF-8 */
    csv.separator = choose_separator(csv.at, csv.end);
    glcnn_status status = read_lines(&csv);
    if (status == GLCNN_SUCCESS)
        status = take_over(&csv, content);
    columns_free(&csv.columns);
    free(csv.line.fields);
    free(csv.values);
    free(csv.labels);
    return status;
}

/* The decimal point is the C locale's for this thread alone. */
static glcnn_status parse_in_c_locale(const struct reading *r, struct bytes *bytes,
                                      struct content *content)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return data_no_memory(r->error, r->path);
    locale_t before = uselocale(c);
    glcnn_status status = parse(r, bytes, content);
    uselocale(before);
    freelocale(c);
    return status;
}

glcnn_status csv_read(const struct reading *r, struct content *content)
{
    struct bytes bytes = {0};
    *content = (struct content){0};
    glcnn_status status = bytes_read_file(&bytes, r->path, BYTES_MAX, r->error);
    if (status == GLCNN_SUCCESS)
        status = parse_in_c_locale(r, &bytes, content);
    bytes_free(&bytes);
    if (status != GLCNN_SUCCESS)
        content_free(content);
    return status;
}
