/* Files of "glcnn train --out": which network it is, what its pictures are like, how their values
 * are normalised, and the names of its classes. Nothing else is needed to use one. */
#ifndef GLCNN_TOOL_SAVED_H
#define GLCNN_TOOL_SAVED_H

#include <glcnn/checkpoint.h>
#include <glcnn/data.h>

#include "nets.h"

struct saved {
    const struct net *net;
    struct form form;
    const char *const *names; /* form.classes of them */
    float mean[GLCNN_DATA_MAX_CHANNELS], deviation[GLCNN_DATA_MAX_CHANNELS]; /* of each channel */
    char **owned; /* the names, where saved_read made them */
};

/* From a file's metadata. False, *saved all zero and a sentence if it is no such file. */
bool saved_read(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH]);
void saved_free(struct saved *saved);

/* The same as metadata. */
#define SAVED_ENTRIES 7
struct saved_entries {
    struct glcnn_checkpoint_entry entries[SAVED_ENTRIES];
    char numbers[3][16];
    char lists[2][GLCNN_DATA_MAX_CHANNELS * 16];
    char *names;
};
/* What `saved` has must outlive the entries. False: not enough memory. */
bool saved_describe(const struct saved *saved, struct saved_entries *entries);
void saved_entries_free(struct saved_entries *entries);

/* Reads "0.5" for all channels or "0.48,0.45,0.4" for each. False: it is neither, or a value is not
 * above `low` where that is not NAN. */
bool saved_read_list(const char *text, uint32_t channels, double low,
                     float values[GLCNN_DATA_MAX_CHANNELS]);

#endif
