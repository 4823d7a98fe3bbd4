/* Frozen layers, run separately from those that train: a model in two parts, of which the first makes
 * features of pictures and the second trains on them. Where pictures are the same in every epoch,
 * their features are computed once and kept in a file; otherwise they are computed in every step.
 * Both give the same bits. */
#ifndef GLCNN_TRAIN_FROZEN_H
#define GLCNN_TRAIN_FROZEN_H

#include "feature_file.h"
#include "task/pictures.h"

struct frozen_parameters {
    const struct model *model;
    struct features cut; /* what the frozen layers make, of layers.h */
    const struct pictures *pictures;
    const struct saved *saved;     /* how values are normalised */
    const struct augment *augment; /* of the pictures to train with */
    uint64_t seed, memory;
    uint32_t batch, loss_images, limit, threads; /* loss_images: that the tail's loss is the mean
                                                    over */
    const char *cache; /* path; NULL: a file without a name; "off": none */
    uint64_t cache_limit;
    /* Other processes that make features too, each at its speed, and hear of this one: called after
     * each batch, and then, with `more` false, as long as one of all has more. False, and a
     * message, if they cannot be reached. NULL: there are none. */
    bool (*tell)(void *user, bool more, bool *any, char error[GLCNN_ERROR_LENGTH]);
    void *user;
};

#define NO_SLOT UINT32_MAX

/* What gives a runner of the second part its features. */
struct frozen_feed {
    struct frozen *frozen;
    struct runner *runner; /* that takes them */
    struct runner *head;   /* of the first part */
    bool cached;           /* pictures are those of a part of which all features are kept */
    uint32_t *slots;       /* by the part's pictures; NO_SLOT: none. NULL: of none */
};

/* All zero: nothing is run separately. */
struct frozen {
    struct frozen_parameters parameters; /* its `cut` with sizes */
    struct model head, tail;
    /* The first part has a runner with and one without augmentation; a graph that is NULL is not made yet, or no more. */
    struct runner augmented, plain;
    struct frozen_feed training, validation, test; /* test: of any part, never kept */
    struct features *features;                     /* NULL: none are kept */
    char reason[GLCNN_ERROR_LENGTH];               /* why */
    uint32_t slot_count;                           /* pictures whose features are kept */
    uint32_t computed;                             /* of them by this run */
    float *values;                                 /* of a batch, as runner_write has them */
    float *row;                                    /* of a picture, as the file has them */
    uint32_t value_count;                          /* of that */
};

/* Makes both parts, and what features there are to keep. Release with frozen_close, after a failure
 * too. False, and a message, if it fails; that features cannot be kept is no failure. */
bool frozen_open(const struct frozen_parameters *parameters, struct frozen *frozen,
                 char error[GLCNN_ERROR_LENGTH]);
void frozen_close(struct frozen *frozen);

/* Has a runner of `frozen->tail` take batches of loaders through one of the feeds. */
void frozen_take(struct frozen_feed *feed, struct runner *runner);

#endif
