/* Labels and the order of classes, which is the same in every locale. */
#include "base/fail.h"
#include "names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"

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
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has a label of %zu bytes; expected 1 to %d, none of them 0", path,
                         length, MAX_LENGTH);
    if (names->count == names->capacity / 2 && !grow(names))
        return fail_no_memory(error, path);
    uint32_t *bucket = find(names, text, length);
    *number = *bucket - 1;
    if (*bucket)
        return GLCNN_SUCCESS;
    if (names->count == GLCNN_DATA_MAX_CLASSES)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has more than %d classes; are its labels really classes?", path,
                         GLCNN_DATA_MAX_CLASSES);
    char *copy = strndup(text, length);
    if (!copy)
        return fail_no_memory(error, path);
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

/* ---- Numbers ---- */

/* Decimal digits without leading zeros, which are for names such as "007", and no fraction but
 * zeros: tables of floats write 1 as "1.0". */
static bool is_whole(const char *text)
{
    const char *digits = text + (*text == '-');
    size_t length = strspn(digits, "0123456789");
    const char *end = digits + length;
    bool is_plain = length == 1 || *digits != '0';
    end += *end == '.' ? 1 + strspn(end + 1, "0") : 0;
    return length > 0 && length <= MAX_DIGITS && is_plain && *end == 0;
}

static bool are_whole(const struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (!is_whole(names->texts[i]))
            return false;
    return true;
}

/* One text for each whole number: "1" for "1.0". */
static void shorten(char *text)
{
    text[strcspn(text, ".")] = 0;
    if (strcmp(text, "-0") == 0)
        strcpy(text, "0");
}

static int64_t value_of(const char *text)
{
    return strtoll(text, NULL, 10);
}

/* ---- Order ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = value_of(*(char *const *)a), y = value_of(*(char *const *)b);
    return (x > y) - (x < y);
}

/* Of texts in order those that are the same become one. */
static void skip_repeats(struct names *names)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++)
        if (kept == 0 || strcmp(names->texts[kept - 1], names->texts[i]) != 0)
            names->texts[kept++] = names->texts[i];
    names->count = kept;
}

static glcnn_status sort(struct names *names, bool are_numbers, const char *path, uint32_t *map,
                         char *error)
{
    const uint32_t count = names->count;
    int (*compare)(const void *, const void *) = are_numbers ? by_value : by_bytes;
    if (count == 0) /* memcpy and qsort take no NULL */
        return GLCNN_SUCCESS;
    char **before = malloc(count * sizeof *before);
    if (!before)
        return fail_no_memory(error, path);
    memcpy(before, names->texts, count * sizeof *before);
    qsort(names->texts, count, sizeof *names->texts, compare);
    skip_repeats(names);
    for (uint32_t i = 0; i < count; i++)
        map[i] = (uint32_t)((char **)bsearch(&before[i], names->texts, names->count,
                                             sizeof *names->texts, compare) -
                            names->texts);
    for (uint32_t i = 0; i < count; i++)
        if (before[i] != names->texts[map[i]])
            free(before[i]);
    free(before);
    return GLCNN_SUCCESS;
}

/* ---- Matching ---- */

/* Texts, or whole numbers, of which classes the labels are. */
struct classes {
    const char *const *names;
    uint32_t count;
    struct names keys; /* of the same order */
    bool any_whole;    /* some class has a number for a name */
};

static glcnn_status add_key(struct classes *classes, const char *name, bool are_numbers,
                            const char *path, char *error)
{
    char key[MAX_LENGTH + 1];
    uint32_t number = 0, expected = classes->keys.count;
    snprintf(key, sizeof key, "%s", name);
    classes->any_whole |= is_whole(key);
    if (are_numbers && is_whole(key))
        shorten(key);
    glcnn_status status = names_add(&classes->keys, key, strlen(key), path, &number, error);
    if (status != GLCNN_SUCCESS || number == expected)
        return status;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.250s: its labels are whole numbers, and the classes \"%.60s\" and \"%.60s\" "
        "are the same",
        path, classes->names[number], name);
}

static uint32_t find_number(const struct classes *classes, const char *text)
{
    int64_t number = is_whole(text) ? value_of(text) : -1;
    return number >= 0 && number < classes->count ? (uint32_t)number : NAME_UNMATCHED;
}

/* The first text that has no class; NULL: there is none. */
static const char *first_unmatched(const struct names *names, const uint32_t *map)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (map[i] == NAME_UNMATCHED)
            return names->texts[i];
    return NULL;
}

/* Takes texts as numbers of classes. */
static void count_classes(const struct names *names, const struct classes *classes, uint32_t *map)
{
    for (uint32_t i = 0; i < names->count; i++)
        map[i] = find_number(classes, names->texts[i]);
}

/* All labels are names or all are numbers: one by one some would be taken for others. */
static glcnn_status match(const struct names *names, const struct classes *classes,
                          const char *path, uint32_t *map, char *decision, char *error)
{
    const char *const *given = classes->names;
    const uint32_t last = classes->count - 1;
    if (!names_match((const char *const *)classes->keys.texts, classes->count,
                     (const char *const *)names->texts, names->count, map))
        return fail_no_memory(error, path);
    const char *no_name = first_unmatched(names, map);
    if (no_name)
        count_classes(names, classes, map);
    const char *no_number = first_unmatched(names, map);
    if (no_number)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.200s: the label \"%.60s\" is not the name of one of the %u classes, "
            "\"%.40s\" to \"%.40s\", and the label \"%.60s\" is not the number of one, 0 to "
            "%u; expected all labels to be names, or all to be numbers",
            path, no_name, classes->count, given[0], given[last], no_number, last);
    if (no_name && classes->any_whole)
        snprintf(
            decision, GLCNN_ERROR_LENGTH,
            "%.250s: no class is named \"%.60s\", so labels count the classes: 0 is \"%.60s\", "
            "%u is \"%.60s\"",
            path, no_name, given[0], last, given[last]);
    return GLCNN_SUCCESS;
}

static glcnn_status match_classes(const struct names *names, struct classes *classes,
                                  bool are_numbers, const char *path, uint32_t *map, char *decision,
                                  char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < classes->count && status == GLCNN_SUCCESS; i++)
        status = add_key(classes, classes->names[i], are_numbers, path, error);
    return status == GLCNN_SUCCESS ? match(names, classes, path, map, decision, error) : status;
}

glcnn_status names_order(struct names *names, const char *const *class_names, uint32_t class_count,
                         const char *path, uint32_t *map, char decision[GLCNN_ERROR_LENGTH],
                         char *error)
{
    struct classes classes = {.names = class_names, .count = class_count};
    const bool are_numbers = are_whole(names);
    *decision = 0;
    for (uint32_t i = 0; i < names->count && are_numbers; i++)
        shorten(names->texts[i]);
    if (class_count == 0)
        return sort(names, are_numbers, path, map, error);
    glcnn_status status = match_classes(names, &classes, are_numbers, path, map, decision, error);
    names_free(&classes.keys);
    return status;
}

void names_tell_order(const struct names *names, const uint32_t *map, const char *path,
                      char message[GLCNN_ERROR_LENGTH])
{
    uint32_t i = 0;
    while (i + 1 < names->count && map[i] < map[i + 1])
        i++;
    *message = 0;
    if (i + 1 >= names->count)
        return;
    snprintf(message, GLCNN_ERROR_LENGTH,
             "%.250s: lists \"%.60s\" before \"%.60s\", and the classes have them the other way "
             "round; they are matched by name",
             path, names->texts[i], names->texts[i + 1]);
}
