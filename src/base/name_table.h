/* Names and the numbers that they stand for. */
#ifndef GLCNN_BASE_NAME_TABLE_H
#define GLCNN_BASE_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_NAME ((size_t)-1)

struct named {
    const char *name; /* NULL: free */
    size_t number, hash;
};

/* Open addressing; all zero: empty. Names are not copied. */
struct name_table {
    struct named *slots;
    size_t capacity, count;
};

/* NO_NAME where there is none of that name. */
size_t name_table_find(const struct name_table *names, const char *name);
/* Adds a name that is not there. False: no memory. */
bool name_table_add(struct name_table *names, const char *name, size_t number);
void name_table_free(struct name_table *names);

#define NAME_UNMATCHED UINT32_MAX

/* Writes to rows[i] the index of names[i] in `known`, the first of equal ones, or NAME_UNMATCHED. A model's classes,
 * keypoints, numbers and units are those of a data set by this function alone, for all tasks and commands. False:
 * not enough memory. */
bool names_match(const char *const *known, uint32_t known_count, const char *const *names,
                 uint32_t count, uint32_t *rows);

/* Is this UTF-8, without what Unicode leaves out? */
bool name_is_utf8(const char *name);
/* Bytes of the name, at most `most`, that end with a whole character. */
int name_length(const char *name, size_t most);

#endif
