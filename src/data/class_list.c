/* Names of classes that files list: one on each line, or the `names` of a data.yaml. */
#include <string.h>

#include "base/fail.h"
#include "boxes.h"
#include "bytes.h"
#include "data_yaml.h"

#define MAX_BYTES ((size_t)16 << 20)

static glcnn_status add_name(struct names *names, const char *name, size_t length, const char *path,
                             char *error)
{
    uint32_t number, expected = names->count;
    glcnn_status status = names_add(names, name, length, path, &number, error);
    return status != GLCNN_SUCCESS || number == expected
               ? status
               : fail_with(error, GLCNN_MALFORMED_DATA,
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
        status = empty ? fail_with(error, GLCNN_MALFORMED_DATA,
                                   "%.300s: line %zu is empty; expected a name on each line", path,
                                   empty)
                       : add_name(names, name, strlen(name), path, error);
    }
    return status;
}

/* ---- Files ---- */

static glcnn_status read_list(const char *path, struct names *names, char *error)
{
    struct bytes bytes;
    char *text;
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, error);
    if (status == GLCNN_SUCCESS)
        status = read_lines(text, path, names, error);
    bytes_free(&bytes);
    return status != GLCNN_SUCCESS || names->count > 0
               ? status
               : fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.300s: lists no class; expected the name of each", path);
}

static glcnn_status read_yaml(const char *path, struct names *names, char *error)
{
    struct data_yaml yaml;
    glcnn_status status = data_yaml_read(path, &yaml, error);
    *names = yaml.names;
    yaml.names = (struct names){0};
    data_yaml_free(&yaml);
    return status != GLCNN_SUCCESS || names->count > 0
               ? status
               : fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.300s: has no names; expected \"names:\" and a list of the classes",
                           path);
}

glcnn_status class_list_read(const char *path, struct names *names, char *error)
{
    *names = (struct names){0};
    glcnn_status status =
        data_yaml_is(path) ? read_yaml(path, names, error) : read_list(path, names, error);
    if (status != GLCNN_SUCCESS)
        names_free(names);
    return status;
}
