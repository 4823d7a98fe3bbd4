/* Labels and the order of classes, which is the same in every locale. */
#include "names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define MAX_LENGTH 255
#define MAX_DIGITS 18 /* of a number that int64_t holds for certain */

static uint32_t hash(const char *text, size_t length)
{
    uint32_t value = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        value = (value ^ (uint8_t)text[i]) * 16777619u;
    return value;
}

/* The bucket that has the text, or that is free for it. */
static uint32_t *find(const struct names *names, const char *text, size_t length)
{
    uint32_t at = hash(text, length) & (names->capacity - 1);
    for (;; at = (at + 1) & (names->capacity - 1)) {
        uint32_t *bucket = &names->buckets[at];
        if (*bucket == 0)
            return bucket;
        const char *known = names->texts[*bucket - 1];
        if (strncmp(known, text, length) == 0 && known[length] == 0)
            return bucket;
    }
}

static bool grow(struct names *names)
{
    uint32_t capacity = names->capacity ? names->capacity * 2 : 64;
    char **texts = realloc(names->texts, capacity / 2 * sizeof *texts);
    if (texts)
        names->texts = texts;
    uint32_t *buckets = calloc(capacity, sizeof *buckets);
    if (!texts || !buckets) {
        free(buckets);
        return false;
    }
    free(names->buckets);
    names->buckets = buckets;
    names->capacity = capacity;
    for (uint32_t i = 0; i < names->count; i++)
        *find(names, texts[i], strlen(texts[i])) = i + 1;
    return true;
}

glcnn_status names_add(struct names *names, const char *text, size_t length, const char *path,
                       uint32_t *number, char *error)
{
    if (length == 0 || length > MAX_LENGTH || memchr(text, 0, length))
        return data_fail(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has a label of %zu bytes; expected 1 to %d, none of them 0", path,
                         length, MAX_LENGTH);
    if (names->count == names->capacity / 2 && !grow(names))
        return data_no_memory(error, path);
    uint32_t *bucket = find(names, text, length);
    *number = *bucket - 1;
    if (*bucket)
        return GLCNN_SUCCESS;
    if (names->count == GLCNN_DATA_MAX_CLASSES)
        return data_fail(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: has more than %d classes; are its labels what is to be told apart?", path,
            GLCNN_DATA_MAX_CLASSES);
    char *copy = strndup(text, length);
    if (!copy)
        return data_no_memory(error, path);
    *number = names->count;
    names->texts[names->count++] = copy;
    *bucket = names->count;
    return GLCNN_SUCCESS;
}

glcnn_status names_add_number(struct names *names, int64_t value, const char *path,
                              uint32_t *number, char *error)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    return names_add(names, text, (size_t)length, path, number, error);
}

void names_remove_last(struct names *names)
{
    char *text = names->texts[names->count - 1];
    *find(names, text, strlen(text)) = 0; /* no text behind it can stand in a later bucket */
    names->count--;
    free(text);
}

void names_free(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->buckets);
    *names = (struct names){0};
}

/* ---- Order ---- */

static bool is_whole(const char *text)
{
    const char *digits = text + (*text == '-');
    size_t length = strlen(digits);
    return length > 0 && length <= MAX_DIGITS && strspn(digits, "0123456789") == length;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "1" and "01" are two classes; their bytes tell which is first. */
static int by_value(const void *a, const void *b)
{
    int64_t x = strtoll(*(char *const *)a, NULL, 10), y = strtoll(*(char *const *)b, NULL, 10);
    return x != y ? (x < y ? -1 : 1) : by_bytes(a, b);
}

static bool are_whole(const struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (!is_whole(names->texts[i]))
            return false;
    return true;
}

static glcnn_status sort(struct names *names, const char *path, uint32_t *map, char *error)
{
    char **before = malloc((names->count + 1) * sizeof *before);
    if (!before)
        return data_no_memory(error, path);
    memcpy(before, names->texts, names->count * sizeof *before);
    bool numbers = are_whole(names);
    qsort(names->texts, names->count, sizeof *names->texts, numbers ? by_value : by_bytes);
    int (*compare)(const void *, const void *) = numbers ? by_value : by_bytes;
    for (uint32_t i = 0; i < names->count; i++)
        map[i] = (uint32_t)((char **)bsearch(&before[i], names->texts, names->count,
                                             sizeof *names->texts, compare) -
                            names->texts);
    free(before);
    return GLCNN_SUCCESS;
}

/* The class that a text means; GLCNN_DATA_NO_LABEL: none. */
static uint32_t look_up(const char *text, const char *const *class_names, uint32_t class_count)
{
    for (uint32_t i = 0; i < class_count; i++)
        if (strcmp(text, class_names[i]) == 0)
            return i;
    int64_t number = is_whole(text) ? strtoll(text, NULL, 10) : -1;
    return number >= 0 && number < class_count ? (uint32_t)number : GLCNN_DATA_NO_LABEL;
}

glcnn_status names_order(struct names *names, const char *const *class_names, uint32_t class_count,
                         const char *path, uint32_t *map, char *error)
{
    if (class_count == 0)
        return sort(names, path, map, error);
    for (uint32_t i = 0; i < names->count; i++) {
        map[i] = look_up(names->texts[i], class_names, class_count);
        if (map[i] == GLCNN_DATA_NO_LABEL)
            return data_fail(
                error, GLCNN_MALFORMED_DATA,
                "%.250s: has the class \"%.60s\"; expected one of the %u given, \"%.60s\" "
                "to \"%.60s\", or its number",
                path, names->texts[i], class_count, class_names[0], class_names[class_count - 1]);
    }
    return GLCNN_SUCCESS;
}
