/* Model files, those of "glcnn train --out" and "glcnn import": which network it is, what its pictures
 * are like, how their values are normalised, and the names of its classes. Nothing else is needed to
 * use one. They are checkpoints; older ones name a network of nets.h and have none of their own. */
#ifndef GLCNN_TASK_SAVED_H
#define GLCNN_TASK_SAVED_H

#include <glcnn/checkpoint.h>
#include <glcnn/data.h>

#include "class_match.h"
#include "model.h"

/* What a file has beside the parameters, for glcnn_checkpoint_read_bytes; the names are the file's. */
enum {
    SAVED_NETWORK,
    SAVED_ONNX,
    SAVED_RECORD,
    SAVED_BANK,
    SAVED_TRAINED,
    SAVED_SEEN,
    SAVED_RANGES,
    SAVED_BYTES
};

#define SAVED_BANK_NAME "glcnn.anomaly.bank"

struct saved {
    char title[128];       /* what the network is called */
    const struct net *net; /* NULL where the file has its network */
    struct form form;
    struct form
        made; /* the form of the file's network, where saved_take_size changed it; all zero otherwise */
    const char *const *names; /* form.classes of them */
    float mean[GLCNN_DATA_MAX_CHANNELS], deviation[GLCNN_DATA_MAX_CHANNELS]; /* of each channel */
    struct glcnn_checkpoint_bytes bytes[SAVED_BYTES]; /* in that order; NULL: the file has none */
    char **owned;                                     /* the names, where saved_read made them */
};

/* Version of the keys of metadata, and the key that has it (include/model_files.md). */
#define SAVED_VERSION     1
#define SAVED_VERSION_KEY "glcnn.version"

/* The text of the key "GROUP.NAME", of group "model", what every reader needs, or "run", what a resumed run does; NULL:
 * there is none. Files of before there were versions have it by its name alone. */
const char *saved_text(const struct glcnn_checkpoint_metadata *metadata, const char *group,
                       const char *name);

/* The entries of the group "model", with the version. */
#define SAVED_ENTRIES     11
#define SAVED_ENTRIES_MAX 80 /* with those of the caller */
#define SAVED_NUMBERS     4
#define SAVED_KEY         64
struct saved_entries {
    struct glcnn_checkpoint_entry at[SAVED_ENTRIES_MAX]; /* SAVED_ENTRIES of them */
    char keys[SAVED_ENTRIES_MAX][SAVED_KEY];
    char version[8];
    char numbers[SAVED_NUMBERS][16];
    char lists[2][GLCNN_DATA_MAX_CHANNELS * 16];
    char *names; /* to be freed */
};
/* False: not enough memory. */
bool saved_describe(const struct saved *saved, struct saved_entries *entries);
/* Reads them; has_own: the network is not one of nets.h. False: they lack something, or do not agree. Release
 * with saved_free, after a failure too. */
bool saved_take(const struct glcnn_checkpoint_metadata *metadata, bool has_own,
                struct saved *saved);

/* From a file's metadata. False, *saved all zero and a message if it is no such file. */
bool saved_read(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH]);
void saved_free(struct saved *saved);

/* Has the network take images of another size, before it is made: saved_make refuses one whose layers do not. False, and
 * a message: the size is too small. */
bool saved_take_size(struct saved *saved, uint32_t width, uint32_t height,
                     char error[GLCNN_ERROR_LENGTH]);

/* Makes the file's network, without its weights, with as many classes as `form` has where that is
 * not NULL: the head is another then. False, and a message, if it cannot be. */
bool saved_make(const struct saved *saved, glcnn_device *device, const struct form *form,
                uint32_t batch, struct model *model, char error[GLCNN_ERROR_LENGTH]);
/* Only the file's network, without a loss and with its weights, a classifier or not; *network is the
 * caller's, after a failure too. */
bool saved_network(const struct saved *saved, const char *path, glcnn_device *device,
                   glcnn_network **network, char error[GLCNN_ERROR_LENGTH]);

/* Has the file remember an ONNX file, for saved_write: bytes and text stay the caller's. */
void saved_add_onnx(struct saved *saved, const uint8_t *skeleton, size_t size, const char *record);

/* The same of what trains, where the network has averages of it (ema.h); size 0: nothing. */
void saved_add_trained(struct saved *saved, const uint8_t *bytes, size_t size);

/* The same of the pictures that it was trained on, as seen_write has them (seen.h). */
void saved_add_seen(struct saved *saved, const uint8_t *bytes, size_t size);

/* The same of the ranges of values that the network was trained to be int8 by, as ranges_write has them (int8_ranges.h);
 * NULL: it was not. */
void saved_add_ranges(struct saved *saved, const char *ranges);

/* Has it forget all of that, a bank of patches too: the network is another than what they are of. */
void saved_forget(struct saved *saved);

/* Writes a file, as glcnn_checkpoint_save does: the model's network, what `saved` says of it, and
 * `count` more entries, whose names follow that of the group and a point. */
typedef bool saved_writer(const struct saved *saved, const struct model *model, const char *path,
                          const char *group, const struct glcnn_checkpoint_entry *more,
                          size_t count, char error[GLCNN_ERROR_LENGTH]);
saved_writer saved_write;
/* Does all of that but for putting the file in its place: whether it could be written now. */
saved_writer saved_try;

/* Of the numbers of normalisation: one for each channel, but one for all of more than
 * GLCNN_DATA_MAX_CHANNELS, which no data have. */
uint32_t saved_listed(const struct form *form);

/* Reads "0.5" for all channels or "0.48,0.45,0.4" for each. False: it is neither, or a value is not
 * above `low` where that is not NAN. */
bool saved_read_list(const char *text, uint32_t channels, double low,
                     float values[GLCNN_DATA_MAX_CHANNELS]);

#endif
