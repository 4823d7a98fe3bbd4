/* The names in a folder, and paths. */
#ifndef GLCNN_DATA_FOLDER_H
#define GLCNN_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glcnn/status.h>

struct listing {
    char **names; /* sorted by their bytes; those that begin with a dot are left out */
    uint32_t count;
    size_t capacity;
    uint32_t hidden;
};

/* *listing is all zero after a failure. */
glcnn_status listing_read(const char *path, struct listing *listing, char *error);
void listing_free(struct listing *listing);
/* Adds a copy behind the last; false: not enough memory. */
bool listing_add(struct listing *listing, const char *name);
void listing_sort(struct listing *listing);
/* The name as the folder has it, in any case of letters; NULL: it has none such. */
const char *listing_find(const struct listing *listing, const char *name);
/* The number of the first name that begins with these bytes, or where it would stand. */
uint32_t listing_first(const struct listing *listing, const char *bytes, size_t length);

/* To be released with free(); NULL: not enough memory. */
char *path_join(const char *folder, const char *name);
/* Bytes of a name without its ending; a dot at its beginning begins no ending. */
size_t name_stem(const char *name);
bool path_is_folder(const char *path);
bool path_exists(const char *path);

#endif
