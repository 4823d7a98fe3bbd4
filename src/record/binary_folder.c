/* The folder of program binaries. Nothing here fails a call: what cannot be kept is compiled. */
#include "record/binary_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

#define CAPACITY    ((uint64_t)64 << 20)
#define ENDING      ".program"
#define HASH_DIGITS 16
#define ABANDONED   3600 /* seconds after which nobody still writes a temporary file */

/* ---- Where it is ---- */

/* Sets what is empty where no folder is wanted, or there is no home. */
static void find_path(const char *name, struct text *path)
{
    const char *wanted = name && *name ? name : platform_variable("GLCNN_CACHE_DIR");
    const char *cache = platform_variable("XDG_CACHE_HOME"), *home = platform_variable("HOME");
    if (wanted && *wanted)
        text_format(path, "%s", strcmp(wanted, "off") == 0 ? "" : wanted);
    else if (cache && *cache == '/') /* XDG: other paths are not valid */
        text_format(path, "%s/glcnn", cache);
    else if (home && *home == '/')
        text_format(path, "%s/.cache/glcnn", home);
}

static char *describe_driver(const struct glcnn_device *device)
{
    const struct glcnn_device_properties *info = &device->info;
    const char *const words[] = {glcnn_version(),  info->vendor, info->renderer,
                                 info->gl_version, info->driver, info->shading_language_version};
    struct text text = {0};
    text_format(&text, "%zu bits\n", 8 * sizeof(void *));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        text_format(&text, "%s\n", words[i] ? words[i] : "");
    if (text.failed)
        text_free(&text);
    return text.bytes;
}

static bool has_binaries(const struct glcnn_device *device)
{
    GLint formats = 0;
    device->gl.GetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    return formats > 0 && !device->info.traits.wrong_binaries;
}

struct binary_folder *binary_folder_open(struct glcnn_device *device, const char *name,
                                         glcnn_status *status)
{
    struct text path = {0};
    find_path(name, &path);
    bool wanted = path.length > 0 && !path.failed && has_binaries(device);
    struct binary_folder *made = wanted ? calloc(1, sizeof *made) : NULL;
    if (made)
        *made = (struct binary_folder){path.bytes, describe_driver(device), CAPACITY, 0, false};
    else
        text_free(&path);
    if (path.failed || (wanted && !(made && made->driver)))
        *status = device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    return made;
}

void binary_folder_close(struct binary_folder *folder)
{
    if (!folder)
        return;
    free(folder->path);
    free(folder->driver);
    free(folder);
}

/* The folder and those above it that are missing. */
static void make_folder(const char *path)
{
    char *above = strdup(path);
    for (char *slash = above; above && (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        (void)mkdir(above, 0700);
    }
    (void)mkdir(path, 0700);
    free(above);
}

/* ---- What lies in it ---- */

struct entry {
    char name[HASH_DIGITS + sizeof ENDING];
    uint64_t size;
    time_t used;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
    uint64_t size; /* bytes of all */
};

static bool is_hash(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH_DIGITS;
}

static bool add_entry(struct entries *entries, const char *name, const struct stat *file)
{
    struct entry *items =
        array_grow(entries->items, entries->count, &entries->capacity, sizeof *items);
    if (!items)
        return false;
    entries->items = items;
    struct entry *entry = &entries->items[entries->count++];
    memcpy(entry->name, name, sizeof entry->name);
    entry->size = (uint64_t)file->st_size;
    entry->used = file->st_mtime;
    entries->size += entry->size;
    return true;
}

/* Files of other names are nobody's business here. */
static bool look_at(struct entries *entries, int folder, const char *name)
{
    struct stat file;
    if (!is_hash(name) || fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(file.st_mode))
        return true;
    const char *ending = name + HASH_DIGITS;
    if (strcmp(ending, ENDING) == 0)
        return add_entry(entries, name, &file);
    if (strncmp(ending, ENDING ".", sizeof ENDING) == 0 &&
        strcmp(name + strlen(name) - 4, ".tmp") == 0 && time(NULL) - file.st_mtime > ABANDONED)
        (void)unlinkat(folder, name, 0);
    return true;
}

static int oldest_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->used != y->used ? (x->used > y->used) - (x->used < y->used)
                              : strcmp(x->name, y->name);
}

/* Removes the oldest until a quarter of the folder is free, so that not every file that is written
 * makes it be looked at. */
static void remove_oldest(struct entries *entries, int folder, uint64_t capacity)
{
    if (entries->count > 1)
        qsort(entries->items, entries->count, sizeof *entries->items, oldest_first);
    for (size_t i = 0; i < entries->count && entries->size > capacity - capacity / 4; i++)
        if (unlinkat(folder, entries->items[i].name, 0) == 0 || errno == ENOENT)
            entries->size -= entries->items[i].size;
}

static void make_room(struct binary_folder *folder, uint64_t size)
{
    struct entries entries = {0};
    DIR *directory = opendir(folder->path);
    if (!directory)
        return;
    bool whole = true;
    for (struct dirent *at; whole && (at = readdir(directory)) != NULL;)
        whole = look_at(&entries, dirfd(directory), at->d_name);
    if (entries.size + size > folder->capacity)
        remove_oldest(&entries, dirfd(directory), folder->capacity);
    folder->room = entries.size < folder->capacity ? folder->capacity - entries.size : 0;
    free(entries.items);
    closedir(directory);
}

/* ---- Its files ---- */

/* False without memory. */
static bool name_file(const struct binary_folder *folder, const char *source, struct text *path,
                      struct text *key)
{
    text_add(key, folder->driver, strlen(folder->driver));
    text_add(key, source, strlen(source));
    if (!key->failed)
        text_format(path, "%s/%016" PRIx64 ENDING, folder->path,
                    hash_bytes(HASH_BASIS, key->bytes, key->length));
    return !key->failed && !path->failed;
}

bool binary_folder_read(const struct binary_folder *folder, const char *source,
                        struct binary *binary)
{
    struct text path = {0}, key = {0};
    bool found = folder && name_file(folder, source, &path, &key) &&
                 binary_file_read(path.bytes, key.bytes, binary);
    text_free(&path);
    text_free(&key);
    return found;
}

static int write_file(struct binary_folder *folder, const char *path, const char *key,
                      const struct binary *binary)
{
    uint64_t size = binary_file_size(key, binary);
    if (size > folder->capacity)
        return 0;
    if (size > folder->room)
        make_room(folder, size);
    int error = binary_file_write(path, key, binary);
    if (error == ENOENT) {
        make_folder(folder->path);
        error = binary_file_write(path, key, binary);
    }
    folder->room -= size < folder->room ? size : folder->room;
    return error;
}

void binary_folder_write(struct glcnn_device *device, const char *source,
                         const struct binary *binary)
{
    struct binary_folder *folder = device->binaries;
    struct text path = {0}, key = {0};
    if (folder->read_only)
        return;
    int error = name_file(folder, source, &path, &key)
                    ? write_file(folder, path.bytes, key.bytes, binary)
                    : ENOMEM;
    if (error)
        device_log(device, GLCNN_LOG_INFO,
                   "programs are compiled again by the next process: %.600s cannot be written: %s",
                   folder->path, strerror(error));
    folder->read_only = error != 0;
    text_free(&path);
    text_free(&key);
}
