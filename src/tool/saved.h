/* Files of "glcnn train --out": which network it is, what its pictures are like, and the names of
 * its classes. Nothing else is needed to use one. */
#ifndef GLCNN_TOOL_SAVED_H
#define GLCNN_TOOL_SAVED_H

#include <glcnn/checkpoint.h>

#include "nets.h"

struct saved {
    const struct net *net;
    struct form form;
    char **names; /* form.classes of them */
};

/* From a file's metadata. False, *saved all zero and a sentence if it is no such file. */
bool saved_read(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH]);
void saved_free(struct saved *saved);

/* The same as metadata. */
#define SAVED_ENTRIES 5
struct saved_entries {
    struct glcnn_checkpoint_entry entries[SAVED_ENTRIES];
    char numbers[3][16];
    char *names;
};
/* What `saved` has must outlive the entries. False: not enough memory. */
bool saved_describe(const struct saved *saved, struct saved_entries *entries);
void saved_entries_free(struct saved_entries *entries);

/* Whether two networks classify the same: pictures of one form into classes of the same names. */
bool saved_is_same(const struct saved *a, const struct saved *b);

#endif
