/* Names of classes: strings of their own each. */
#include "class_names.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

void class_names_free(char **names, uint32_t count)
{
    for (uint32_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

bool class_name_is_utf8(const char *name)
{
    for (struct character c; *name; name += c.length) {
        c = character_at(name);
        if (c.kind == CHARACTER_BROKEN)
            return false;
    }
    return true;
}

void class_name_as_utf8(const char *name, size_t length, char *text, size_t size)
{
    const char *end = name + length;
    size_t used = 0, added;
    for (struct character c; name < end; name += c.length, used += added) {
        char shown[8];
        c = character_at(name);
        if (c.kind == CHARACTER_BROKEN)
            snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)*name);
        else
            snprintf(shown, sizeof shown, "%.*s", (int)c.length, name);
        added = strlen(shown);
        if (used + added >= size)
            break;
        memcpy(text + used, shown, added);
    }
    text[used] = 0;
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
