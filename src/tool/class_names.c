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

/* The names that `name` gives for 0 .. count - 1. */
static char **make(uint32_t count, const char *(*name)(const void *from, uint32_t index),
                   const void *from)
{
    char **names = calloc((size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        const char *text = name(from, i);
        names[i] = text ? strdup(text) : NULL;
        if (!names[i]) {
            class_names_free(names, count);
            return NULL;
        }
    }
    return names;
}

static const char *of_list(const void *from, uint32_t index)
{
    return ((const char *const *)from)[index];
}

static const char *of_number(const void *from, uint32_t index)
{
    static char text[16];
    (void)from;
    snprintf(text, sizeof text, "%u", index);
    return text;
}

static const char *of_array(const void *from, uint32_t index)
{
    return cJSON_GetStringValue(cJSON_GetArrayItem(from, (int)index));
}

char **class_names_copy(const char *const *names, uint32_t count)
{
    return make(count, of_list, names);
}

char **class_names_of_numbers(uint32_t count)
{
    return make(count, of_number, NULL);
}

char *class_names_text(char *const *names, uint32_t count)
{
    cJSON *array = cJSON_CreateStringArray((const char *const *)names, (int)count);
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
    char **names = good ? make(*count, of_array, array) : NULL;
    cJSON_Delete(array);
    return names;
}
