/* Lists of pictures: a name or a path on each line of a file, and the parts that they are of. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "bytes.h"
#include "set.h"

#define MAX_LIST ((size_t)64 << 20) /* bytes of a list */

static const char blanks[] = " \t\r";

/* Cuts what Pascal VOC writes behind a name: " -1", " 0" or " 1", whether a class is in the picture. */
static void cut_mark(char *line)
{
    char *blank = strrchr(line, ' '), *tab = strrchr(line, '\t');
    char *last = tab > blank ? tab : blank;
    if (!last ||
        (strcmp(last + 1, "-1") != 0 && strcmp(last + 1, "0") != 0 && strcmp(last + 1, "1") != 0))
        return;
    while (last > line && strchr(blanks, last[-1]))
        last--;
    *last = 0;
}

/* Backslashes of Windows become slashes. */
static bool cut_names(char *text, bool is_bare, struct listing *names)
{
    for (char *line; (line = bytes_line(&text)) != NULL;) {
        line += strspn(line, blanks);
        size_t length = strlen(line);
        while (length > 0 && strchr(blanks, line[length - 1]))
            length--;
        line[length] = 0;
        cut_mark(line);
        for (char *at = line; *at; at++)
            *at = *at == '\\' ? '/' : *at;
        const char *name = is_bare && strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
        if (*name && !listing_add(names, name))
            return false;
    }
    return true;
}

static void drop_repeats(glcnn_dataset *set, const char *path, struct listing *names)
{
    char message[GLCNN_ERROR_LENGTH];
    struct tally repeats = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (kept == 0 || strcmp(names->names[kept - 1], names->names[i]) != 0) {
            names->names[kept++] = names->names[i];
            continue;
        }
        if (repeats.count++ == 0)
            snprintf(repeats.first, sizeof repeats.first, "%.100s", names->names[i]);
        free(names->names[i]);
    }
    names->count = kept;
    snprintf(message, sizeof message,
             "%.250s: %u names are repeated, and count once: %.100s is the first", path,
             repeats.count, repeats.first);
    if (repeats.count > 0)
        set_decide(set, message);
}

glcnn_status boxes_read_list(glcnn_dataset *set, const char *path, bool is_bare,
                             struct listing *names, char *error)
{
    struct bytes bytes;
    char *text;
    *names = (struct listing){0};
    glcnn_status status = bytes_read_text(&bytes, path, MAX_LIST, &text, error);
    if (status == GLCNN_SUCCESS && !cut_names(text, is_bare, names))
        status = fail_no_memory(error, path);
    bytes_free(&bytes);
    listing_sort(names);
    drop_repeats(set, path, names);
    return status;
}

/* ---- Pictures that are listed ---- */

static int by_bytes(const void *key, const void *name)
{
    return strcmp(key, *(char *const *)name);
}

/* UINT32_MAX: the listing does not have it. */
static uint32_t find_name(const struct listing *listing, const char *name)
{
    char *const *found = listing->count > 0 ? bsearch(name, listing->names, listing->count,
                                                      sizeof *listing->names, by_bytes)
                                            : NULL;
    return found ? (uint32_t)(found - listing->names) : UINT32_MAX;
}

bool wanted_begin(struct wanted *wanted, const struct listing *names)
{
    *wanted =
        (struct wanted){.names = names, .met = calloc((names ? names->count : 0) + (size_t)1, 1)};
    return wanted->met;
}

bool wanted_has(struct wanted *wanted, const char *name)
{
    char text[512];
    if (!wanted->names)
        return true;
    uint32_t at = find_name(wanted->names, name);
    snprintf(text, sizeof text, "%.*s", (int)name_stem(name), name);
    at = at == UINT32_MAX ? find_name(wanted->names, text) : at;
    if (at != UINT32_MAX)
        wanted->met[at] = 1;
    return at != UINT32_MAX;
}

glcnn_status wanted_tell(const struct wanted *wanted, glcnn_dataset *set, const char *folder,
                         char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; wanted->names && i < wanted->names->count && status == GLCNN_SUCCESS;
         i++) {
        snprintf(message, sizeof message, "%.200s: has no picture %.100s, which the part lists",
                 folder, wanted->names->names[i]);
        if (!wanted->met[i])
            status = boxes_tally(set, &set->boxes.unmatched, message, error);
    }
    return status;
}

void wanted_end(struct wanted *wanted)
{
    free(wanted->met);
    wanted->met = NULL;
}

/* ---- Parts ---- */

/* The lists of parts of Pascal VOC's, in any case of letters. Without train.txt trainval.txt is for training, and
 * its pictures are not for validation too; default.txt is what CVAT calls all of a task. */
static const struct list {
    const char *name;
    glcnn_data_part part;
} lists[] = {{"train.txt", GLCNN_DATA_PART_TRAINING},
             {"trainval.txt", GLCNN_DATA_PART_TRAINING},
             {"default.txt", GLCNN_DATA_PART_TRAINING},
             {"val.txt", GLCNN_DATA_PART_VALIDATION},
             {"test.txt", GLCNN_DATA_PART_TEST}};
enum { TRAIN, TRAINVAL, DEFAULT, VAL, TEST, LISTS };

/* Which lists are read; false: none is for training. */
static bool choose_lists(const struct listing *files, const char *names[LISTS])
{
    for (int i = 0; i < LISTS; i++)
        names[i] = listing_find(files, lists[i].name);
    if (names[TRAIN])
        names[TRAINVAL] = names[DEFAULT] = NULL;
    else if (names[TRAINVAL])
        names[DEFAULT] = names[VAL] = NULL;
    return names[TRAIN] || names[TRAINVAL] || names[DEFAULT];
}

static glcnn_status take_list(glcnn_dataset *set, const char *folder, const char *name,
                              glcnn_data_part part, list_taker *take, const void *user, char *error)
{
    struct listing names;
    char *path = path_join(folder, name);
    if (!path)
        return fail_no_memory(error, folder);
    glcnn_status status = boxes_read_list(set, path, true, &names, error);
    if (status == GLCNN_SUCCESS)
        status = take(set, part, &names, user, error);
    listing_free(&names);
    free(path);
    return status;
}

glcnn_status boxes_take_lists(glcnn_dataset *set, const char *folder, const char *below,
                              list_taker *take, const void *user, bool *found, char *error)
{
    const char *names[LISTS];
    struct listing files = {.names = NULL};
    char *path = path_join(folder, below);
    if (!path)
        return fail_no_memory(error, folder);
    glcnn_status status = path_is_folder(path) ? listing_read(path, &files, error) : GLCNN_SUCCESS;
    *found = status == GLCNN_SUCCESS && choose_lists(&files, names);
    for (int i = 0; i < LISTS && *found && status == GLCNN_SUCCESS; i++)
        if (names[i])
            status = take_list(set, path, names[i], lists[i].part, take, user, error);
    listing_free(&files);
    free(path);
    return status;
}
