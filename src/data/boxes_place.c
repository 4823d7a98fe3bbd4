/* What a folder has by names. */
#include "boxes_place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "picture.h"
#include "words.h"

glcnn_status place_open(struct place *p, const struct place *up, glcnn_dataset *set,
                        const char *folder, char *error)
{
    *p = (struct place){.set = set, .up = up, .folder = folder, .error = error};
    return listing_read(folder, &p->listing, error);
}

bool place_any_has_ending(const struct place *p, const char *ending)
{
    for (uint32_t i = 0; i < p->listing.count; i++)
        if (word_has_ending(p->listing.names[i], ending))
            return true;
    return false;
}

/* A picture by its ending that has as many bytes of a name before it. */
static bool is_picture_of(const char *name, size_t stem)
{
    return name[stem] == '.' && !strchr(name + stem + 1, '.') && picture_has_ending(name);
}

bool place_is_paired(const struct place *p, uint32_t number, const char *ending)
{
    const struct listing *l = &p->listing;
    const char *name = l->names[number];
    if (!word_has_ending(name, ending))
        return false;
    const size_t stem = strlen(name) - strlen(ending);
    for (uint32_t i = listing_first(l, name, stem);
         i < l->count && strncmp(l->names[i], name, stem) == 0; i++)
        if (i != number && is_picture_of(l->names[i], stem))
            return true;
    return false;
}

bool place_any_has_pair(const struct place *p, const char *ending)
{
    for (uint32_t i = 0; i < p->listing.count; i++)
        if (place_is_paired(p, i, ending))
            return true;
    return false;
}

bool place_any_part(const struct place *p, bool (*has)(const char *folder, const void *what),
                    const void *what)
{
    bool found = false;
    for (int part = 0; part < GLCNN_DATA_PARTS && !found; part++) {
        char *below = NULL;
        found = place_find_part(p, (glcnn_data_part)part, &below) == GLCNN_SUCCESS && below &&
                has(below, what);
        free(below);
    }
    return found;
}

/* True if the folder, or that of a part in it, has files with the ending. */
static bool has_files(const char *folder, const void *ending)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    const bool found = place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS &&
                       (place_any_has_ending(&p, ending) || place_any_part(&p, has_files, ending));
    listing_free(&p.listing);
    return found;
}

bool place_has_masks(const char *folder)
{
    return has_files(folder, ".png") && !has_files(folder, ".txt") && !has_files(folder, ".xml") &&
           !has_files(folder, ".json");
}

char *place_find_folder(const struct place *p, const char *name, const char *other)
{
    for (uint32_t i = 0; i < p->listing.count; i++) {
        const char *found = p->listing.names[i];
        if (strcasecmp(found, name) != 0 && strcasecmp(found, other) != 0)
            continue;
        char *path = path_join(p->folder, found);
        if (path && path_is_folder(path))
            return path;
        free(path);
    }
    return NULL;
}

glcnn_status place_refuse_two(const struct place *p, const char *one, const char *other)
{
    return fail_with(p->error, GLCNN_MALFORMED_DATA,
                     "%.200s: has %.100s and %.100s, and it is not clear which is meant; expected "
                     "one of them",
                     p->folder, one, other);
}

glcnn_status place_find_only(const struct place *p, const struct place_wanted *wanted, char **path)
{
    const char *first = NULL;
    *path = NULL;
    for (uint32_t i = 0; i < p->listing.count; i++) {
        const char *name = p->listing.names[i];
        if (!wanted->has_name(name, wanted->what))
            continue;
        char *whole = path_join(p->folder, name);
        if (!whole)
            return fail_no_memory(p->error, p->folder);
        if (!wanted->is_it(whole)) {
            free(whole);
            continue;
        }
        if (first) {
            free(whole);
            return place_refuse_two(p, first, name);
        }
        first = name;
        *path = whole;
    }
    return GLCNN_SUCCESS;
}

static bool is_name_of_part(const char *name, const void *part)
{
    glcnn_data_part of;
    return word_is_numbered_part(name, strlen(name), &of) && of == *(const glcnn_data_part *)part;
}

glcnn_status place_find_part(const struct place *p, glcnn_data_part part, char **path)
{
    const struct place_wanted wanted = {is_name_of_part, path_is_folder, &part};
    return place_find_only(p, &wanted, path);
}
