/* Folders of classes, and the pictures in them. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "message.h"
#include "set.h"

/* ---- Listings ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(struct listing *listing, const char *name)
{
    if (listing->count == listing->capacity) {
        uint32_t capacity = listing->capacity ? listing->capacity * 2 : 64;
        char **names = realloc(listing->names, capacity * sizeof *names);
        if (!names)
            return false;
        listing->names = names;
        listing->capacity = capacity;
    }
    listing->names[listing->count] = strdup(name);
    return listing->names[listing->count++] != NULL;
}

static glcnn_status list(DIR *folder, const char *path, struct listing *listing, char *error)
{
    struct dirent *entry;
    while (errno = 0, (entry = readdir(folder)) != NULL) {
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        listing->hidden += entry->d_name[0] == '.' && !is_self;
        if (entry->d_name[0] != '.' && !add_name(listing, entry->d_name))
            return data_no_memory(error, path);
    }
    if (errno != 0)
        return data_fail_errno(error, path, "cannot be listed");
    if (listing->count > 0)
        qsort(listing->names, listing->count, sizeof *listing->names, by_bytes);
    return GLCNN_SUCCESS;
}

glcnn_status listing_read(const char *path, struct listing *listing, char *error)
{
    *listing = (struct listing){0};
    DIR *folder = opendir(path);
    if (!folder)
        return data_fail_errno(error, path, "cannot be listed");
    glcnn_status status = list(folder, path, listing, error);
    closedir(folder);
    if (status != GLCNN_SUCCESS)
        listing_free(listing);
    return status;
}

void listing_free(struct listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
    *listing = (struct listing){0};
}

char *path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/",
                 name);
    return path;
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ---- Pictures ---- */

FILE *open_picture(const char *path, struct picture_file *file)
{
    struct stat info;
    int descriptor;
    if (glcnn_file_open(path, &descriptor, NULL, NULL) != GLCNN_SUCCESS)
        return NULL;
    bool known = fstat(descriptor, &info) == 0;
    FILE *stream = known ? fdopen(descriptor, "rb") : NULL;
    file->bytes = known ? info.st_size : 0;
    file->changed = known ? info.st_mtim : (struct timespec){0};
    if (!stream) {
        int reason = errno;
        close(descriptor);
        errno = reason;
    }
    return stream;
}

static bool add_file(glcnn_data_set *set, const struct picture_file *file)
{
    if (set->file_count == set->file_capacity) {
        uint32_t capacity = set->file_capacity ? set->file_capacity * 2 : 256;
        struct picture_file *files = realloc(set->files, capacity * sizeof *files);
        if (!files)
            return false;
        set->files = files;
        set->file_capacity = capacity;
    }
    set->files[set->file_count] = *file;
    set->files[set->file_count].path = strdup(file->path);
    return set->files[set->file_count++].path != NULL;
}

bool part_add(struct part *part, const struct item *item)
{
    if (part->count == part->capacity) {
        uint32_t capacity = part->capacity ? part->capacity * 2 : 256;
        struct item *items = realloc(part->items, capacity * sizeof *items);
        if (!items)
            return false;
        part->items = items;
        part->capacity = capacity;
    }
    part->items[part->count++] = *item;
    return true;
}

/* What a look at the head gives; *ignored: it is none of our files. */
static glcnn_status look(const char *path, struct picture_file *file, bool *ignored, char *error)
{
    char reason[GLCNN_ERROR_LENGTH];
    FILE *stream = open_picture(path, file);
    *ignored = !stream && errno == 0;
    if (!stream)
        return errno
                   ? data_fail_errno(error, path, "cannot be opened")
                   : data_fail(error, GLCNN_MALFORMED_DATA, "%.300s: is not a regular file", path);
    *ignored = !picture_format_of(stream) && !ferror(stream) && !picture_has_ending(path);
    glcnn_status status = picture_look(stream, &file->head, reason);
    fclose(stream);
    return status == GLCNN_SUCCESS ? status
           : file->bytes == 0      ? data_fail(error, GLCNN_MALFORMED_DATA,
                                               "%.300s: is empty; expected a picture", path)
                                   : data_fail(error, status, "%.250s: %.250s", path, reason);
}

glcnn_status set_add_picture(glcnn_data_set *set, glcnn_data_part part, const char *path,
                             uint32_t label, bool keep, char *error)
{
    char sentence[GLCNN_ERROR_LENGTH];
    struct picture_file file = {.path = (char *)path};
    struct item item = {.label = label, .table = NO_TABLE, .index = set->file_count};
    bool ignored;
    glcnn_status status = look(path, &file, &ignored, sentence);
    if (status == GLCNN_OUT_OF_MEMORY)
        return data_fail(error, status, "%s", sentence);
    if (ignored && !keep) {
        set->info.ignored++;
        return GLCNN_SUCCESS;
    }
    bool is_broken = status != GLCNN_SUCCESS;
    if (is_broken)
        status = set_complain(set, true, sentence, error);
    if (status != GLCNN_SUCCESS || (is_broken && !keep))
        return status;
    file.head.width = is_broken ? 0 : file.head.width;
    if (!add_file(set, &file) || !part_add(&set->parts[part], &item))
        return data_no_memory(error, path);
    return GLCNN_SUCCESS;
}

/* ---- Classes ---- */

static glcnn_status add_listed(glcnn_data_set *set, glcnn_data_part part, const char *folder,
                               const struct listing *listing, uint32_t label, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < listing->count && status == GLCNN_SUCCESS; i++) {
        char *path = path_join(folder, listing->names[i]);
        status = path ? set_add_picture(set, part, path, label, false, error)
                      : data_no_memory(error, folder);
        free(path);
    }
    return status;
}

static glcnn_status add_class(glcnn_data_set *set, glcnn_data_part part, const char *folder,
                              const char *name, char *error)
{
    char sentence[GLCNN_ERROR_LENGTH];
    struct listing listing;
    uint32_t label = 0, before = set->parts[part].count;
    glcnn_status status = listing_read(folder, &listing, error);
    if (status != GLCNN_SUCCESS)
        return status;
    set->info.ignored += listing.hidden;
    uint32_t names = set->names.count;
    status = names_add(&set->names, name, strlen(name), folder, &label, error);
    if (status == GLCNN_SUCCESS)
        status = add_listed(set, part, folder, &listing, label, error);
    listing_free(&listing);
    if (status != GLCNN_SUCCESS || set->parts[part].count > before)
        return status;
    if (set->names.count > names)
        names_remove_last(&set->names);
    snprintf(sentence, sizeof sentence, "%.300s: a folder without a picture is no class", folder);
    return set_complain(set, false, sentence, error);
}

glcnn_status set_add_classes(glcnn_data_set *set, glcnn_data_part part, const char *path,
                             char *error)
{
    struct listing listing;
    glcnn_status status = listing_read(path, &listing, error);
    set->info.ignored += listing.hidden;
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++) {
        char *folder = path_join(path, listing.names[i]);
        bool is_folder = folder && path_is_folder(folder);
        set->info.ignored += folder && !is_folder;
        if (!folder)
            status = data_no_memory(error, path);
        if (is_folder)
            status = add_class(set, part, folder, listing.names[i], error);
        free(folder);
    }
    listing_free(&listing);
    return status;
}
