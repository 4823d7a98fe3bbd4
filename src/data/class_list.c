/* Names of classes that files list: one on each line, or the `names` of a data.yaml. */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "bytes.h"
#include "message.h"

#define MAX_BYTES ((size_t)16 << 20)

static glcnn_status add_name(struct names *names, const char *name, size_t length, const char *path,
                             char *error)
{
    uint32_t number, expected = names->count;
    glcnn_status status = names_add(names, name, length, path, &number, error);
    return status != GLCNN_SUCCESS || number == expected
               ? status
               : data_fail(error, GLCNN_MALFORMED_DATA,
                           "%.250s: classes %u and %u are both \"%.100s\"; expected each name once",
                           path, number, expected, name);
}

/* ---- Lines ---- */

/* Without blanks at both ends. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        length--;
    text[length] = 0;
    return text;
}

/* Lines may be empty at the end alone: the number of a line is that of its class. */
static glcnn_status read_lines(char *text, const char *path, struct names *names, char *error)
{
    char *rest = text;
    size_t empty = 0, number = 0;
    glcnn_status status = GLCNN_SUCCESS;
    for (char *line; status == GLCNN_SUCCESS && (line = bytes_line(&rest)) != NULL;) {
        char *name = trim(line);
        number++;
        if (*name == 0 && empty == 0)
            empty = number;
        if (*name == 0)
            continue;
        status = empty ? data_fail(error, GLCNN_MALFORMED_DATA,
                                   "%.300s: line %zu is empty; expected a name on each line", path,
                                   empty)
                       : add_name(names, name, strlen(name), path, error);
    }
    return status;
}

/* ---- YAML ---- */

/* Of YAML only a list of names or a map of them by number, in lines or in brackets, as data sets
 * have it. The rest of the language is refused within `names`, and passed over elsewhere. */
struct yaml {
    const char *path;
    const char *at, *start; /* of its line */
    size_t line;
    char **names; /* by number; NULL: there is none yet */
    uint32_t count, capacity;
    char *error;
};

/* Of the rest of the line, as far as a message shows it. */
static int text_length(const char *text)
{
    size_t length = strcspn(text, "\r\n");
    return length < 40 ? (int)length : 40;
}

static glcnn_status refuse(const struct yaml *y, const char *expected)
{
    return data_fail(y->error, GLCNN_MALFORMED_DATA,
                     "%.200s: line %zu, of names: \"%.*s\" is not understood; expected %s", y->path,
                     y->line, text_length(y->at), y->at, expected);
}

static bool is_end(char c)
{
    return c == 0 || strchr(" \t\r\n", c);
}

static void skip_blanks(struct yaml *y)
{
    y->at += strspn(y->at, " \t\r");
}

static void skip_comment(struct yaml *y)
{
    skip_blanks(y);
    if (*y->at == '#')
        y->at += strcspn(y->at, "\n");
}

/* To what follows, over ends of lines and comments. */
static void skip_lines(struct yaml *y)
{
    for (skip_comment(y); *y->at == '\n'; skip_comment(y)) {
        y->start = ++y->at;
        y->line++;
    }
}

/* ---- Entries ---- */

static bool make_room(struct yaml *y, uint32_t count)
{
    uint32_t capacity = y->capacity ? y->capacity : 64;
    while (capacity < count)
        capacity *= 2;
    if (capacity == y->capacity)
        return true;
    char **names = realloc(y->names, capacity * sizeof *names);
    if (!names)
        return false;
    memset(names + y->capacity, 0, (capacity - y->capacity) * sizeof *names);
    y->names = names;
    y->capacity = capacity;
    return true;
}

static glcnn_status put(struct yaml *y, uint32_t number, const char *name, size_t length)
{
    if (number >= GLCNN_DATA_MAX_CLASSES)
        return refuse(y, "at most 65536 classes");
    if (!make_room(y, number + 1))
        return data_no_memory(y->error, y->path);
    if (y->names[number])
        return data_fail(y->error, GLCNN_MALFORMED_DATA,
                         "%.200s: line %zu: class %u is named twice; the first is \"%.80s\"",
                         y->path, y->line, number, y->names[number]);
    y->names[number] = strndup(name, length);
    y->count = number >= y->count ? number + 1 : y->count;
    return y->names[number] ? GLCNN_SUCCESS : data_no_memory(y->error, y->path);
}

/* In single quotes two stand for one; in double quotes \" and \\ alone are understood. */
static glcnn_status put_quoted(struct yaml *y, uint32_t number)
{
    char text[256];
    size_t length = 0;
    const char quote = *y->at, *from = y->at + 1;
    for (; *from && *from != '\n' && length < sizeof text; from++) {
        bool is_pair = quote == '\'' ? from[0] == quote && from[1] == quote
                                     : from[0] == '\\' && (from[1] == '"' || from[1] == '\\');
        if (!is_pair && *from == quote) {
            y->at = from + 1;
            return put(y, number, text, length);
        }
        if (!is_pair && *from == '\\' && quote == '"')
            break;
        from += is_pair;
        text[length++] = *from;
    }
    return refuse(y, "quotes around up to 255 bytes of one line, and no escapes but \\\" and \\\\");
}

/* Up to one of `ends`, a comment, the colon of a map or the end of the line. */
static glcnn_status put_plain(struct yaml *y, uint32_t number, const char *ends)
{
    const char *name = y->at;
    size_t length = 0;
    if (is_end(*name) || strchr("&*!|>%@`{}[],#?", *name) || (*name == '-' && is_end(name[1])))
        return refuse(y, "a name");
    while (name[length] && name[length] != '\n' && !strchr(ends, name[length]) &&
           !(name[length] == '#' && is_end(name[length - 1])) &&
           !(name[length] == ':' && is_end(name[length + 1])))
        length++;
    y->at += length;
    while (length > 0 && is_end(name[length - 1]))
        length--;
    return put(y, number, name, length);
}

static glcnn_status put_scalar(struct yaml *y, uint32_t number, const char *ends)
{
    skip_blanks(y);
    return *y->at == '"' || *y->at == '\'' ? put_quoted(y, number) : put_plain(y, number, ends);
}

/* "12:", the number of a class. */
static glcnn_status read_key(struct yaml *y, uint32_t *number)
{
    size_t length = strspn(y->at, "0123456789");
    size_t blanks = strspn(y->at + length, " \t");
    if (length == 0 || length > 6 || y->at[length + blanks] != ':')
        return refuse(y, "the number of a class and a colon");
    *number = (uint32_t)strtoul(y->at, NULL, 10);
    y->at += length + blanks + 1;
    return GLCNN_SUCCESS;
}

/* ---- Forms ---- */

/* [a, b] or {0: a, 1: b} */
static glcnn_status read_brackets(struct yaml *y)
{
    const char close = *y->at == '[' ? ']' : '}';
    y->at++;
    for (skip_lines(y); *y->at != close; skip_lines(y)) {
        uint32_t number = y->count;
        glcnn_status status = close == '}' ? read_key(y, &number) : GLCNN_SUCCESS;
        if (status == GLCNN_SUCCESS)
            status = put_scalar(y, number, ",[]{}");
        if (status != GLCNN_SUCCESS)
            return status;
        skip_lines(y);
        if (*y->at != ',' && *y->at != close)
            return refuse(y, close == ']' ? "a comma or ]" : "a comma or }");
        y->at += *y->at == ',';
    }
    y->at++;
    return GLCNN_SUCCESS;
}

/* Lines "- a", or "0: a" that begin with a blank. */
static glcnn_status read_block(struct yaml *y)
{
    const bool is_list = *y->at == '-' && is_end(y->at[1]);
    for (; *y->at; skip_lines(y)) {
        uint32_t number = y->count;
        bool has_hyphen = *y->at == '-' && is_end(y->at[1]);
        if (y->at == y->start && !has_hyphen)
            break;
        if (has_hyphen != is_list)
            return refuse(y, "hyphens before all names, or numbers of classes and colons");
        y->at += is_list;
        glcnn_status status = is_list ? GLCNN_SUCCESS : read_key(y, &number);
        if (status == GLCNN_SUCCESS)
            status = put_scalar(y, number, "");
        if (status != GLCNN_SUCCESS)
            return status;
        skip_comment(y);
        if (*y->at && *y->at != '\n')
            return refuse(y, "the end of the line");
    }
    return GLCNN_SUCCESS;
}

/* The value of `names` begins in its line, or below. */
static glcnn_status read_value(struct yaml *y)
{
    const size_t line = y->line;
    skip_lines(y);
    if (*y->at == '[' || *y->at == '{')
        return read_brackets(y);
    return y->line == line && *y->at ? refuse(y, "a list in brackets, or names in the lines below")
                                     : read_block(y);
}

static bool find_names(struct yaml *y, const char *text)
{
    static const char key[] = "names:";
    for (y->line = 1; text; y->line++) {
        if (strncmp(text, key, sizeof key - 1) == 0 && is_end(text[sizeof key - 1])) {
            y->start = text;
            y->at = text + sizeof key - 1;
            return true;
        }
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : NULL;
    }
    return false;
}

static glcnn_status take(const struct yaml *y, struct names *names)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < y->count && status == GLCNN_SUCCESS; i++)
        status = y->names[i]
                     ? add_name(names, y->names[i], strlen(y->names[i]), y->path, y->error)
                     : data_fail(y->error, GLCNN_MALFORMED_DATA,
                                 "%.300s: names has class %u and none of number %u; expected all "
                                 "numbers from 0 on",
                                 y->path, y->count - 1, i);
    return status;
}

static glcnn_status read_yaml(const char *text, const char *path, struct names *names, char *error)
{
    struct yaml y = {.path = path, .error = error};
    glcnn_status status =
        find_names(&y, text)
            ? read_value(&y)
            : data_fail(error, GLCNN_MALFORMED_DATA,
                        "%.300s: has no names; expected \"names:\" and a list of the classes",
                        path);
    if (status == GLCNN_SUCCESS)
        status = take(&y, names);
    for (uint32_t i = 0; i < y.count; i++)
        free(y.names[i]);
    free(y.names);
    return status;
}

/* ---- Files ---- */

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static glcnn_status read_text(char *text, const char *path, struct names *names, char *error)
{
    glcnn_status status =
        is_yaml(path) ? read_yaml(text, path, names, error) : read_lines(text, path, names, error);
    return status != GLCNN_SUCCESS || names->count > 0
               ? status
               : data_fail(error, GLCNN_MALFORMED_DATA,
                           "%.300s: lists no class; expected the name of each", path);
}

glcnn_status class_list_read(const char *path, struct names *names, char *error)
{
    struct bytes bytes;
    char *text;
    *names = (struct names){0};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, error);
    if (status == GLCNN_SUCCESS)
        status = read_text(text, path, names, error);
    bytes_free(&bytes);
    if (status != GLCNN_SUCCESS)
        names_free(names);
    return status;
}
