/* Maps of names: a text file in memory, cut into words. */
#include "name_map.h"

#include <glcnn/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (4u << 20)
#define BLANKS   " \t\r"

static bool fail(const char *path, const char *what, char error[GLCNN_ERROR_LENGTH])
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s", path, what);
    return false;
}

/* The file's text, which ends with a NUL. */
static bool read_text(const char *path, char **text, char error[GLCNN_ERROR_LENGTH])
{
    void *bytes;
    size_t size;
    if (glcnn_file_load(path, TEXT_MAX, &bytes, &size, error) != GLCNN_SUCCESS)
        return false;
    *text = bytes;
    return strlen(*text) == size || fail(path, "is not text: it has a zero byte", error);
}

/* The line's words; it is cut up. */
static bool read_line(struct name_map *map, char *line)
{
    char *rest = NULL;
    line[strcspn(line, "#")] = 0;
    const char *tensor = strtok_r(line, BLANKS, &rest), *parameter = strtok_r(NULL, BLANKS, &rest);
    if (!tensor)
        return true;
    map->names[map->count++] = (struct glcnn_checkpoint_name){tensor, parameter};
    return parameter && !strtok_r(NULL, BLANKS, &rest);
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

bool name_map_read(const char *path, struct name_map *map, char error[GLCNN_ERROR_LENGTH])
{
    *map = (struct name_map){.names = NULL};
    if (!read_text(path, &map->text, error))
        return false;
    map->names = calloc(count_lines(map->text), sizeof *map->names);
    if (!map->names)
        return fail(path, "not enough memory", error);
    size_t number = 1;
    for (char *line = map->text, *end; line; line = end, number++) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        if (read_line(map, line))
            continue;
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: line %zu must be two names, a tensor's and LABEL.VECTOR", path, number);
        return false;
    }
    return map->count > 0 || fail(path, "has no names", error);
}

void name_map_free(struct name_map *map)
{
    free(map->names);
    free(map->text);
    *map = (struct name_map){.names = NULL};
}
