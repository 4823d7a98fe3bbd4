/* The lines of a labelmap.txt. */
#include "colours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "bytes.h"

#define MAX_BYTES ((size_t)1 << 20)
#define SLOTS     (sizeof((struct colours *)NULL)->slots / sizeof(uint16_t))

static size_t slot_of(const struct colours *c, uint32_t colour)
{
    size_t slot = (colour * 2654435761u) >> 22;
    while (c->slots[slot] > 0 && c->items[c->slots[slot] - 1] != colour)
        slot = (slot + 1) % SLOTS;
    return slot;
}

uint8_t colours_find(const struct colours *colours, const uint8_t rgb[3])
{
    const uint32_t colour = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
    const uint16_t number = colours->slots[slot_of(colours, colour)];
    return number > 0 ? (uint8_t)(number - 1) : GLCNN_DATA_NO_CLASS;
}

/* Three numbers up to 255, with commas between. */
static bool read_colour(const char *text, uint32_t *colour)
{
    *colour = 0;
    for (int i = 0; i < 3; i++) {
        char *end;
        text += strspn(text, " \t");
        const unsigned long value = strtoul(text, &end, 10);
        if (end == text || *text == '-' || *text == '+' || value > 255)
            return false;
        *colour = *colour << 8 | (uint32_t)value;
        text = end + strspn(end, " \t\r");
        if (i < 2 && *text++ != ',')
            return false;
    }
    return *text == 0 || *text == ':';
}

/* The colon before the colour: names may have some. */
static char *find_colour(char *line, uint32_t *colour)
{
    for (char *at = strchr(line, ':'); at; at = strchr(at + 1, ':'))
        if (read_colour(at + 1, colour))
            return at;
    return NULL;
}

static glcnn_status add_colour(struct colours *c, struct names *names, const char *name,
                               size_t length, uint32_t colour, const char *path, char *decision,
                               char *error)
{
    const size_t slot = slot_of(c, colour);
    uint32_t number;
    if (c->slots[slot] > 0) {
        snprintf(decision, GLCNN_ERROR_LENGTH,
                 "%.250s: \"%.80s\" has the colour of \"%.80s\", and is no class", path, name,
                 names->texts[c->slots[slot] - 1]);
        return GLCNN_SUCCESS;
    }
    if (c->count == COLOURS_MAX)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: has more than %d colours", path,
                         COLOURS_MAX);
    glcnn_status status = names_add(names, name, length, path, &number, error);
    if (status == GLCNN_SUCCESS && number < c->count)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.250s: has \"%.100s\" twice, with two colours", path, name);
    if (status != GLCNN_SUCCESS)
        return status;
    c->items[c->count++] = colour;
    c->slots[slot] = (uint16_t)c->count;
    return GLCNN_SUCCESS;
}

static glcnn_status read_line(struct colours *c, struct names *names, char *line, size_t number,
                              const char *path, char *decision, char *error)
{
    uint32_t colour;
    line += strspn(line, " \t\r");
    if (*line == 0 || *line == '#')
        return GLCNN_SUCCESS;
    char *end = find_colour(line, &colour);
    if (!end || end == line)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: line %zu: \"%.80s\"; expected a class and its colour, NAME:R,G,B",
                         path, number, line);
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = 0;
    return add_colour(c, names, line, (size_t)(end - line), colour, path, decision, error);
}

glcnn_status colours_read(const char *path, struct colours *colours, struct names *names,
                          char decision[GLCNN_ERROR_LENGTH], char *error)
{
    struct bytes bytes;
    char *text;
    size_t number = 0;
    memset(colours, 0, sizeof *colours);
    *names = (struct names){.texts = NULL};
    *decision = 0;
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, error);
    for (char *line; status == GLCNN_SUCCESS && (line = bytes_line(&text)) != NULL;)
        status = read_line(colours, names, line, ++number, path, decision, error);
    bytes_free(&bytes);
    return status;
}
