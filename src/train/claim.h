/* The files of a run: which of them it reads, and which it may write. Every command that writes a named
 * file asks here first, before anything is computed. The rule:
 *
 *   - A file that is written is none that is read, by whichever name, nor one of a folder that is read.
 *   - No file is written twice.
 *   - A file that is there is replaced only by force, or by the run that goes on with it; an empty one
 *     counts as none.
 *   - It is a regular file. Some outputs may also go to a device or a descriptor, as /dev/stdout; none
 *     goes to a pipe or socket by its name, for which a run would wait.
 *   - It can be made, and no other run writes it meanwhile. */
#ifndef GLCNN_TRAIN_CLAIM_H
#define GLCNN_TRAIN_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#include <glcnn/io.h>

/* The bytes by which the tool knows files of its own. */
#define CLAIM_MARK_MAX 64
struct claim_mark {
    size_t offset;
    const char *text;
};
extern const struct claim_mark claim_checkpoint, claim_log, claim_plot, claim_page, claim_trace,
    claim_features;

struct claim_output {
    const char *option; /* of messages: --log */
    const char *path;
    const struct claim_mark *mark; /* NULL: nothing tells such a file from others */
    bool continues;                /* a file that has the mark is this run's to go on with */
    bool resumable;                /* --resume would go on with it: a message says so */
    bool in_place;                 /* may be a device or a descriptor */
    bool has_lock;                 /* another lock keeps other runs away */
};

struct claims {
    bool force; /* files that are there may be replaced */
    struct claim_input *inputs;
    struct claim_file *files;
    struct claim_folder *folders;
    size_t input_count, input_room, file_count, file_room, folder_count, folder_room;
    bool lacks_memory; /* claims_take says so */
};

/* All zero is a run without files. Paths are copied; NULL does nothing. */
void claims_read(struct claims *claims, const char *path);
void claims_write(struct claims *claims, const struct claim_output *output);
/* A folder for several files, made with those that it lies in; `name` is what stands in it for the lock
 * of all its files, NULL: each has its own. */
void claims_folder(struct claims *claims, const char *option, const char *path, const char *name);

/* Checks all, makes folders, and takes locks. False: `error` has the message, and folders that were made
 * are gone again. */
bool claims_take(struct claims *claims, char error[GLCNN_ERROR_LENGTH]);
/* Gives the locks back, and releases what was noted. */
void claims_release(struct claims *claims);

#endif
