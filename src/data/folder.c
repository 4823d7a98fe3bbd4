/* Folders of classes, and the pictures in them. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "base/array.h"
#include "base/fail.h"
#include "set.h"
#include "words.h"

/* ---- Listings ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool listing_add(struct listing *listing, const char *name)
{
    char **names = array_grow(listing->names, listing->count, &listing->capacity, sizeof *names);
    if (!names)
        return false;
    listing->names = names;
    listing->names[listing->count] = strdup(name);
    return listing->names[listing->count++] != NULL;
}

void listing_sort(struct listing *listing)
{
    if (listing->count > 0)
        qsort(listing->names, listing->count, sizeof *listing->names, by_bytes);
}

const char *listing_find(const struct listing *listing, const char *name)
{
    for (uint32_t i = 0; i < listing->count; i++)
        if (strcasecmp(listing->names[i], name) == 0)
            return listing->names[i];
    return NULL;
}

uint32_t listing_first(const struct listing *listing, const char *bytes, size_t length)
{
    uint32_t low = 0, high = listing->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strncmp(listing->names[middle], bytes, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static glcnn_status list(DIR *folder, const char *path, struct listing *listing, char *error)
{
    struct dirent *entry;
    while (errno = 0, (entry = readdir(folder)) != NULL) {
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        listing->hidden += entry->d_name[0] == '.' && !is_self;
        if (entry->d_name[0] != '.' && !listing_add(listing, entry->d_name))
            return fail_no_memory(error, path);
    }
    if (errno != 0)
        return fail_with_errno(error, path, "cannot be listed");
    listing_sort(listing);
    return GLCNN_SUCCESS;
}

glcnn_status listing_read(const char *path, struct listing *listing, char *error)
{
    *listing = (struct listing){0};
    DIR *folder = opendir(path);
    if (!folder)
        return fail_with_errno(error, path, "cannot be listed");
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

size_t name_stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

bool path_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool path_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- Pictures ---- */

static glcnn_status look_inside(FILE *stream, const char *path, const char *unread,
                                struct picture_file *file, char *error)
{
    char reason[GLCNN_ERROR_LENGTH];
    if (file->bytes == 0)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: is empty; expected a picture", path);
    if (unread)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: is a picture in %s format, which is not supported; expected " PICTURE_KINDS,
            path, unread);
    glcnn_status status = picture_look(stream, &file->head, reason);
    return status == GLCNN_SUCCESS ? status
                                   : fail_with(error, status, "%.250s: %.250s", path, reason);
}

/* What a look at the head gives; *ignored: it is none of our files. *unread: the format, where it is
 * one that is not read. */
static glcnn_status look(const char *path, struct picture_file *file, const char **unread,
                         bool *ignored, char *error)
{
    FILE *stream = open_picture(path, file);
    *unread = NULL;
    *ignored = !stream && errno == 0;
    if (!stream)
        return errno
                   ? fail_with_errno(error, path, "cannot be opened")
                   : fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: is not a regular file", path);
    *unread = picture_unread(stream, path);
    *ignored =
        !*unread && !picture_format_of(stream) && !ferror(stream) && !picture_has_ending(path);
    glcnn_status status = look_inside(stream, path, *unread, file, error);
    fclose(stream);
    return status;
}

static void count_kind(glcnn_dataset *set, const char *path)
{
    const uint32_t last = sizeof set->passed_kinds / sizeof *set->passed_kinds - 1;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *dot = strrchr(name, '.'),
               *ending = path_is_folder(path) ? "folders"
                         : dot                ? dot
                                              : "";
    uint32_t i = 0;
    while (i < last && set->passed_kinds[i].count > 0 &&
           strcmp(set->passed_kinds[i].ending, ending) != 0)
        i++;
    if (set->passed_kinds[i].count++ == 0)
        snprintf(set->passed_kinds[i].ending, sizeof set->passed_kinds[i].ending, "%.11s", ending);
}

void set_pass_over(glcnn_dataset *set, const char *path)
{
    count_kind(set, path);
    path += strncmp(path, set->path, set->root) == 0 ? set->root : 0;
    set->info.ignored++;
    if (set->passed_over++ == 0)
        snprintf(set->passed_first, sizeof set->passed_first, "%s", path + strspn(path, "/"));
}

static void count_unread(struct unread *unread, const char *format, const char *path)
{
    const uint32_t last = sizeof unread->kinds / sizeof *unread->kinds - 1;
    const char *slash = strrchr(path, '/');
    uint32_t i = 0;
    while (i < last && unread->kinds[i].count > 0 && unread->kinds[i].format != format)
        i++;
    unread->kinds[i].format = i < last ? format : "other";
    unread->kinds[i].count++;
    if (unread->count++ == 0)
        snprintf(unread->first, sizeof unread->first, "%s", slash ? slash + 1 : path);
}

static glcnn_status add_looked_at(glcnn_dataset *set, glcnn_data_part part,
                                  struct picture_file *file, uint32_t label, bool is_broken,
                                  char *error)
{
    const struct item item = {.label = label, .table = NO_TABLE, .index = set->file_count};
    file->head.width = is_broken ? 0 : file->head.width;
    return picture_files_add(&set->files, &set->file_count, &set->file_capacity, file) &&
                   part_add(&set->parts[part], &item)
               ? GLCNN_SUCCESS
               : fail_no_memory(error, file->path);
}

glcnn_status set_add_picture(glcnn_dataset *set, glcnn_data_part part, const char *path,
                             uint32_t label, bool keep, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct picture_file file = {.path = (char *)path};
    const char *unread;
    bool ignored;
    glcnn_status status = look(path, &file, &unread, &ignored, message);
    if (status == GLCNN_OUT_OF_MEMORY)
        return fail_with(error, status, "%s", message);
    if (ignored && !keep) {
        set_pass_over(set, path);
        return GLCNN_SUCCESS;
    }
    if (unread && !keep && !set->parameters.strict) {
        count_unread(&set->unread, unread, path);
        return GLCNN_SUCCESS;
    }
    bool is_broken = status != GLCNN_SUCCESS;
    if (is_broken)
        status = set_complain(set, 1, message, error);
    if (status != GLCNN_SUCCESS || (is_broken && !keep))
        return status;
    return add_looked_at(set, part, &file, label, is_broken, error);
}

void set_remove_picture(glcnn_dataset *set, glcnn_data_part part)
{
    free(set->files[--set->file_count].path);
    set->parts[part].count--;
}

/* Whoever has such pictures would take them to be seen. */
void set_tell_unread(glcnn_dataset *set, const char *folder)
{
    char message[GLCNN_ERROR_LENGTH], list[128] = "";
    const struct unread *unread = &set->unread;
    size_t length = 0;
    for (size_t i = 0; i < sizeof unread->kinds / sizeof *unread->kinds; i++)
        if (unread->kinds[i].count > 0 && length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%u %s",
                                       length > 0 ? ", " : "", unread->kinds[i].count,
                                       unread->kinds[i].format);
    snprintf(message, sizeof message,
             "%.200s: %u picture%s in unsupported formats (%s), of which %.80s is the first; "
             "expected " PICTURE_KINDS,
             folder, unread->count, unread->count == 1 ? "" : "s", list, unread->first);
    if (unread->count > 0)
        set_note(set, unread->count, message);
}

/* ---- Folders to predict ---- */

/* A folder that is being listed, and those that hold it. */
struct level {
    const struct level *up;
    dev_t device;
    ino_t inode;
};

/* A link may lead back to a folder that holds it. */
static bool is_circle(const struct level *level)
{
    for (const struct level *up = level->up; up; up = up->up)
        if (up->device == level->device && up->inode == level->inode)
            return true;
    return false;
}

static glcnn_status add_below(glcnn_dataset *set, const char *path, const struct level *up,
                              char *error);

static glcnn_status add_entry(glcnn_dataset *set, const char *path, const struct level *level,
                              char *error)
{
    return path_is_folder(path) ? add_below(set, path, level, error)
                                : set_add_picture(set, GLCNN_DATA_PART_TEST, path,
                                                  GLCNN_DATA_NO_LABEL, false, error);
}

static glcnn_status add_entries(glcnn_dataset *set, const char *folder,
                                const struct listing *listing, const struct level *level,
                                char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < listing->count && status == GLCNN_SUCCESS; i++) {
        char *path = path_join(folder, listing->names[i]);
        status = path ? add_entry(set, path, level, error) : fail_no_memory(error, folder);
        free(path);
    }
    return status;
}

static glcnn_status add_below(glcnn_dataset *set, const char *path, const struct level *up,
                              char *error)
{
    struct stat info;
    struct listing listing;
    const struct unread outer = set->unread;
    if (stat(path, &info) != 0)
        return fail_with_errno(error, path, "cannot be listed");
    const struct level level = {.up = up, .device = info.st_dev, .inode = info.st_ino};
    if (is_circle(&level)) {
        set_pass_over(set, path);
        return GLCNN_SUCCESS;
    }
    glcnn_status status = listing_read(path, &listing, error);
    if (status != GLCNN_SUCCESS)
        return status;
    set->info.ignored += listing.hidden;
    set->unread = (struct unread){.count = 0};
    status = add_entries(set, path, &listing, &level, error);
    listing_free(&listing);
    set_tell_unread(set, path);
    set->unread = outer;
    return status;
}

glcnn_status set_add_folder(glcnn_dataset *set, const char *path, char *error)
{
    const uint32_t before = set->parts[GLCNN_DATA_PART_TEST].count, noted = set->notes.count;
    glcnn_status status = add_below(set, path, NULL, error);
    if (status != GLCNN_SUCCESS || set->parts[GLCNN_DATA_PART_TEST].count > before)
        return status;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.200s: the folder and those below it have no picture in a supported format%s%.250s", path,
        set->notes.count > noted ? "; " : "",
        set->notes.count > noted ? set->notes.texts[noted] : "");
}

/* ---- Classes ---- */

static glcnn_status add_listed(glcnn_dataset *set, glcnn_data_part part, const char *folder,
                               const struct listing *listing, uint32_t label, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < listing->count && status == GLCNN_SUCCESS; i++) {
        char *path = path_join(folder, listing->names[i]);
        status = path ? set_add_picture(set, part, path, label, false, error)
                      : fail_no_memory(error, folder);
        free(path);
    }
    return status;
}

static glcnn_status add_class(glcnn_dataset *set, glcnn_data_part part, const char *folder,
                              const char *name, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct listing listing;
    uint32_t label = 0, before = set->parts[part].count;
    glcnn_status status = listing_read(folder, &listing, error);
    if (status != GLCNN_SUCCESS)
        return status;
    set->info.ignored += listing.hidden;
    set->unread = (struct unread){.count = 0};
    uint32_t names = set->names.count;
    status = names_add(&set->names, name, strlen(name), folder, &label, error);
    if (status == GLCNN_SUCCESS)
        status = add_listed(set, part, folder, &listing, label, error);
    listing_free(&listing);
    set_tell_unread(set, folder);
    if (status != GLCNN_SUCCESS || set->parts[part].count > before)
        return status;
    if (set->names.count > names)
        names_remove_last(&set->names);
    snprintf(message, sizeof message, "%.300s: a folder without a picture is not a class", folder);
    return set_complain(set, 0, message, error);
}

/* Pictures in one folder and masks or labels in another are no two classes. */
static glcnn_status refuse_pairs(const glcnn_dataset *set, const char *path,
                                 const struct listing *listing, char *error)
{
    static const char *const questions[] = {
        "expected folders of classes; which annotations these are is not known",
        "masks are read as targets that are masks (--task segment)",
        "boxes are read as targets that are boxes (--task detect)",
        ("it has masks and boxes, and it is not clear which are meant: --task segment reads masks, "
         "--task detect boxes")};
    const char *pictures = NULL, *other = NULL;
    if (brush_is_in(path))
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has masks of Label Studio's brush, which are no classes; %s",
                         path, questions[1]);
    for (uint32_t i = 0; i < listing->count; i++) {
        if (word_is_picture_folder(listing->names[i]))
            pictures = listing->names[i];
        if (word_is_target_folder(listing->names[i]))
            other = listing->names[i];
    }
    if (!pictures || !other)
        return GLCNN_SUCCESS;
    const uint32_t targets = set_targets_in(set->path);
    const uint32_t question =
        (targets >> GLCNN_DATA_TARGETS_MASKS & 1) | (targets >> GLCNN_DATA_TARGETS_BOXES & 1) << 1;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.250s: %.60s and %.60s are no classes, but pictures and what is said of them; "
        "%s",
        path, pictures, other, questions[question]);
}

glcnn_status set_add_classes(glcnn_dataset *set, glcnn_data_part part, const char *path,
                             char *error)
{
    struct listing listing;
    glcnn_status status = listing_read(path, &listing, error);
    if (status == GLCNN_SUCCESS)
        status = refuse_pairs(set, path, &listing, error);
    set->info.ignored += listing.hidden;
    for (uint32_t i = 0; i < listing.count && status == GLCNN_SUCCESS; i++) {
        char *folder = path_join(path, listing.names[i]);
        bool is_folder = folder && path_is_folder(folder);
        if (!folder)
            status = fail_no_memory(error, path);
        else if (!is_folder)
            set_pass_over(set, folder);
        if (is_folder)
            status = add_class(set, part, folder, listing.names[i], error);
        free(folder);
    }
    listing_free(&listing);
    return status;
}
