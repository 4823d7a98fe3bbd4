/* Columns by their names, or by their places where there are none. */
#include "columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define COUNTED_LEAST 10 /* an image may well begin with 0, 1, 2 */
#define TOLD_MAX      4  /* columns that are told by name */

bool columns_number(const char *text, float *value)
{
    char *end;
    if (*text == 0 || strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *value = (float)strtod(text, &end);
    return *end == 0 && isfinite(*value);
}

/* ---- Names ---- */

static bool is_label(const char *name)
{
    return word_is_labels(name, strlen(name));
}

/* Tables of data frames have a first column without a name that counts the rows. */
static bool is_other(const char *name, size_t column)
{
    return *name == 0 ? column == 0 : word_is_row(name);
}

static bool are_names(char *const *fields, size_t count)
{
    float value;
    for (size_t i = 0; i < count; i++)
        if (is_label(fields[i]) || is_other(fields[i], i) ||
            (i > 0 && !columns_number(fields[i], &value)))
            return true;
    return false;
}

const char *columns_second_label(char *const *fields, size_t count, const char **first)
{
    *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_label(fields[i]) && *first)
            return fields[i];
        if (is_label(fields[i]))
            *first = fields[i];
    }
    return NULL;
}

bool columns_are_counted(char *const *fields, size_t count)
{
    float first, value;
    if (count < COUNTED_LEAST || !columns_number(fields[0], &first) || (first != 0 && first != 1))
        return false;
    for (size_t i = 1; i < count; i++)
        if (!columns_number(fields[i], &value) || value != first + (float)i)
            return false;
    return true;
}

/* ---- Kinds ---- */

static size_t find_kind(const struct columns *c, enum column kind)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->kinds[i] == kind)
            return i;
    return NO_COLUMN;
}

bool columns_find(struct columns *c, char *const *fields, size_t count, bool labelled)
{
    *c = (struct columns){.count = count, .named = are_names(fields, count)};
    c->kinds = calloc(count + 1, sizeof *c->kinds);
    if (!c->kinds)
        return false;
    for (size_t i = 0; i < count && c->named; i++)
        c->kinds[i] = is_label(fields[i])      ? labelled ? COLUMN_LABEL : COLUMN_OTHER
                      : is_other(fields[i], i) ? COLUMN_OTHER
                                               : COLUMN_VALUE;
    c->label = find_kind(c, COLUMN_LABEL);
    c->is_guessed = labelled && c->label == NO_COLUMN;
    if (c->is_guessed)
        c->label = find_kind(c, COLUMN_VALUE);
    if (c->label != NO_COLUMN)
        c->kinds[c->label] = COLUMN_LABEL;
    for (size_t i = 0; i < count; i++)
        c->values += c->kinds[i] == COLUMN_VALUE;
    return true;
}

void columns_free(struct columns *c)
{
    free(c->kinds);
    c->kinds = NULL;
}

/* ---- Messages ---- */

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void add_column(struct text *text, const struct columns *c, char *const *fields,
                       size_t column)
{
    add(text, "column %zu", column + 1);
    if (c->named && *fields[column])
        add(text, " \"%.40s\"", fields[column]);
    else if (c->named)
        add(text, ", which has no name");
}

static void add_values(struct text *text, const struct columns *c, char *const *fields)
{
    size_t first = find_kind(c, COLUMN_VALUE), last = c->count;
    add(text, c->values == 1 ? "%zu column is a value" : "%zu columns are values", c->values);
    while (last > 0 && c->kinds[last - 1] != COLUMN_VALUE)
        last--;
    if (c->named && last > 0)
        add(text, ", \"%.40s\"", fields[first]);
    if (c->named && c->values > 1)
        add(text, " to \"%.40s\"", fields[last - 1]);
}

static void add_others(struct text *text, const struct columns *c, char *const *fields)
{
    size_t told = 0;
    for (size_t i = 0; i < c->count && told <= TOLD_MAX; i++) {
        if (c->kinds[i] != COLUMN_OTHER)
            continue;
        add(text, told++ ? ", " : "; left out: ");
        if (told <= TOLD_MAX)
            add_column(text, c, fields, i);
        else
            add(text, "and others");
    }
}

void columns_describe(const struct columns *c, char *const *fields, const char *path, char *message,
                      size_t size)
{
    struct text text = {message, size};
    add(&text, "%.150s: ", path);
    if (c->label != NO_COLUMN) {
        add(&text, "the label is ");
        add_column(&text, c, fields, c->label);
        add(&text, "; ");
    }
    add_values(&text, c, fields);
    add_others(&text, c, fields);
}
