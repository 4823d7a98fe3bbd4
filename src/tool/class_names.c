/* Names of classes: strings of their own each. */
#include "class_names.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void class_names_free(char **names, uint32_t count)
{
    for (uint32_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

/* The bytes of the character that a text of UTF-8 begins with, 0: of none. */
static size_t character_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *text < 0x80             ? 1
                    : (*text & 0xe0) == 0xc0 ? 2
                    : (*text & 0xf0) == 0xe0 ? 3
                    : (*text & 0xf8) == 0xf0 ? 4
                                             : 0;
    uint32_t code = length > 1 ? *text & (0x7fu >> length) : *text;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool is_character = code >= least[length] && code <= 0x10ffff && (code & 0xfffff800) != 0xd800;
    return is_character ? length : 0;
}

bool class_name_is_utf8(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    size_t length = 1;
    for (; *at && length > 0; at += length)
        length = character_length(at);
    return length > 0;
}

void class_name_as_utf8(const char *name, size_t length, char *text, size_t size)
{
    size_t at = 0, taken, added = 0;
    for (size_t i = 0; i < length && at + added<size; i += taken> 0 ? taken : 1) {
        taken = character_length((const unsigned char *)name + i);
        at += added;
        added =
            (size_t)(taken > 0 ? snprintf(text + at, size - at, "%.*s", (int)taken, name + i)
                               : snprintf(text + at, size - at, "\\x%02x", (unsigned char)name[i]));
    }
    text[at + added < size ? at + added : at] = 0;
}

char *class_names_text(const char *const *names, uint32_t count)
{
    cJSON *array = cJSON_CreateStringArray(names, (int)count);
    char *text = array ? cJSON_PrintUnformatted(array) : NULL, *copy = text ? strdup(text) : NULL;
    cJSON_free(text);
    cJSON_Delete(array);
    return copy;
}

char **class_names_parse(const char *text, uint32_t *count)
{
    cJSON *array = cJSON_Parse(text);
    bool good = cJSON_IsArray(array);
    *count = good ? (uint32_t)cJSON_GetArraySize(array) : 0;
    char **names = good ? calloc((size_t)*count + 1, sizeof *names) : NULL;
    const cJSON *item = good ? array->child : NULL;
    good = names;
    for (uint32_t i = 0; good && item; i++, item = item->next) {
        names[i] = cJSON_IsString(item) ? strdup(item->valuestring) : NULL;
        good = names[i];
    }
    cJSON_Delete(array);
    if (good)
        return names;
    class_names_free(names, *count);
    return NULL;
}
