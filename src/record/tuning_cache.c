/* Choices by their keys: in a list, and as files beside the binaries of programs, of which they are
 * no more than a short kind. */
#include "record/tuning_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "record/binary_folder.h"
#include "base/text.h"

const char *const tuning_names[TUNINGS] = {"off", "full"};

struct tuning_entry {
    struct tuning_entry *next;
    const char *row;
    char key[];
};

/* ---- The environment ---- */

static uint64_t real_clock(void)
{
    return clock_nanoseconds();
}

glcnn_status tuning_cache_create(struct glcnn_device *device, struct tuning_cache **cache)
{
    const char *wanted = platform_variable("GLCNN_TUNE");
    int tuning = TUNING_OFF;
    if (wanted && *wanted)
        while (tuning < TUNINGS && strcmp(wanted, tuning_names[tuning]) != 0)
            tuning++;
    if (tuning == TUNINGS)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "GLCNN_TUNE is \"%.64s\"; the values it takes are off and full", wanted);
    *cache = calloc(1, sizeof **cache);
    if (!*cache)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    (*cache)->tuning = (enum tuning)tuning;
    (*cache)->clock = real_clock;
    return GLCNN_SUCCESS;
}

void tuning_cache_destroy(struct tuning_cache *cache)
{
    while (cache && cache->first) {
        struct tuning_entry *gone = cache->first;
        cache->first = gone->next;
        free(gone);
    }
    free(cache);
}

/* ---- Files ---- */

/* No shader begins so: the key is not that of a program. */
static char *file_key(const char *key)
{
    struct text text = {0};
    text_format(&text, "choice of an implementation\n%s", key);
    if (text.failed)
        text_free(&text);
    return text.bytes;
}

/* The row that the file names, as `rows` has it. */
static const char *read_file(const struct glcnn_device *device, const char *key,
                             const char *const *rows)
{
    struct binary file;
    const char *found = NULL;
    char *source = file_key(key);
    if (source && binary_folder_read(device->binaries, source, &file)) {
        for (; *rows && !found; rows++)
            if (strlen(*rows) == file.size && memcmp(*rows, file.bytes, file.size) == 0)
                found = *rows;
        free(file.bytes);
    }
    free(source);
    return found;
}

static void write_file(struct glcnn_device *device, const char *key, const char *row)
{
    char *source = file_key(key), *bytes = strdup(row);
    const struct binary file = {.size = strlen(row), .bytes = (unsigned char *)bytes};
    if (source && bytes && device->binaries)
        binary_folder_write(device, source, &file);
    free(source);
    free(bytes);
}

/* ---- The list ---- */

/* Without memory for it the file is read again. */
static const char *add(struct tuning_cache *cache, const char *key, const char *row)
{
    struct tuning_entry *made = calloc(1, sizeof *made + strlen(key) + 1);
    if (!made)
        return row;
    strcpy(made->key, key);
    made->row = row;
    made->next = cache->first;
    cache->first = made;
    return row;
}

const char *tuning_cache_find(struct glcnn_device *device, const char *key, const char *const *rows)
{
    const struct tuning_entry *at = device->tuning_cache->first;
    while (at && strcmp(at->key, key) != 0)
        at = at->next;
    if (at)
        return at->row;
    const char *row = read_file(device, key, rows);
    return row ? add(device->tuning_cache, key, row) : NULL;
}

const char *tuning_cache_keep(struct glcnn_device *device, const char *key, const char *const *rows,
                              const char *row)
{
    const char *earlier = read_file(device, key, rows);
    if (!earlier)
        write_file(device, key, row);
    return add(device->tuning_cache, key, earlier ? earlier : row);
}
