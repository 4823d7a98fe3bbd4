/* Tables of text, line by line: fields are cut in place. */
#include "csv_lines.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"

#define PEEKED     65536
#define OTHERS_MAX 64 /* columns beside the image: a label, what names the row */
#define MAX_FIELDS (OTHERS_MAX + GLCNN_DATA_MAX_CHANNELS * 256 * 256) /* of a line */

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

static bool ends_field(const struct csv_lines *csv, const char *at)
{
    return at == csv->end || *at == csv->separator || *at == '\n' || *at == '\r';
}

static glcnn_status add_field(struct csv_lines *csv, char *field)
{
    if (csv->count == MAX_FIELDS)
        return CSV_MALFORMED(csv, ": has more than %d fields", CSV_WHERE(csv), MAX_FIELDS);
    char **fields = array_grow(csv->fields, csv->count, &csv->capacity, sizeof *fields);
    if (!fields)
        return fail_no_memory(csv->reading->error, csv->reading->path);
    csv->fields = fields;
    csv->fields[csv->count++] = field;
    return GLCNN_SUCCESS;
}

/* Takes the quotes away; leaves csv->at behind the last one. *end is where the text ends. */
static bool unquote(struct csv_lines *csv, char **end)
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

static glcnn_status read_quoted(struct csv_lines *csv)
{
    char *field = csv->at, *end;
    if (!unquote(csv, &end))
        return CSV_MALFORMED(csv, ", field %zu: the quotes have no end", CSV_WHERE(csv),
                             csv->count + 1);
    while (!ends_field(csv, csv->at) && is_blank(*csv->at))
        csv->at++;
    if (!ends_field(csv, csv->at))
        return CSV_MALFORMED(csv, ", field %zu: goes on behind its quotes", CSV_WHERE(csv),
                             csv->count + 1);
    *end = 0; /* before csv->at, which may be the separator that is looked at next */
    return add_field(csv, field);
}

/* The 0 behind the field would take the place of what ends it, which is looked at first. */
static glcnn_status read_field(struct csv_lines *csv, char *ended_by)
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

static void pass_line_end(struct csv_lines *csv, char ended_by)
{
    csv->at += csv->at < csv->end;
    if (ended_by == '\r' && csv->at < csv->end && *csv->at == '\n')
        csv->at++;
}

glcnn_status csv_next(struct csv_lines *csv)
{
    csv->count = 0;
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r')) {
        csv->lines += *csv->at == '\n';
        csv->at++;
    }
    csv->number = ++csv->lines;
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

/* ---- Files ---- */

static glcnn_status begin(struct csv_lines *csv, struct bytes *bytes)
{
    csv->at = (char *)bytes->data;
    csv->end = csv->at + bytes->size;
    if (memchr(csv->at, 0, bytes->size))
        return fail_with(csv->reading->error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not text: it has a zero byte; expected .npz, .npy, IDX or "
                         "CSV",
                         csv->reading->path);
    if (bytes->size >= 3 && memcmp(csv->at, "\xef\xbb\xbf", 3) == 0)
        csv->at += 3; /* the mark of UTF-8 */
    csv->separator = choose_separator(csv->at, csv->end);
    return GLCNN_SUCCESS;
}

/* The decimal point is the C locale's, only for this thread. */
static glcnn_status take_in_c_locale(struct csv_lines *csv, csv_taker *take, void *user)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return fail_no_memory(csv->reading->error, csv->reading->path);
    locale_t before = uselocale(c);
    glcnn_status status = take(csv, user);
    uselocale(before);
    freelocale(c);
    return status;
}

static glcnn_status take_bytes(const struct reading *r, struct bytes *bytes, csv_taker *take,
                               void *user)
{
    struct csv_lines csv = {.reading = r};
    glcnn_status status = begin(&csv, bytes);
    if (status == GLCNN_SUCCESS)
        status = take_in_c_locale(&csv, take, user);
    free(csv.fields);
    return status;
}

glcnn_status csv_take(const struct reading *r, csv_taker *take, void *user)
{
    char *text;
    struct bytes bytes = {0};
    glcnn_status status = bytes_read_text(&bytes, r->path, BYTES_MAX, &text, r->error);
    if (status == GLCNN_SUCCESS)
        status = take_bytes(r, &bytes, take, user);
    bytes_free(&bytes);
    return status;
}

glcnn_status csv_peek(const struct reading *r, csv_taker *take, void *user)
{
    struct bytes bytes = {0};
    glcnn_status status = bytes_read_head(&bytes, r->path, PEEKED, r->error);
    if (status == GLCNN_SUCCESS)
        status = take_bytes(r, &bytes, take, user);
    bytes_free(&bytes);
    return status;
}
