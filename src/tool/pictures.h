/* Labelled pictures of one form, given in batches: all that the tool knows of data. */
#ifndef GLCNN_TOOL_PICTURES_H
#define GLCNN_TOOL_PICTURES_H

#include "nets.h"
#include "support/idx.h"

enum pictures_part { PICTURES_TRAINING, PICTURES_VALIDATION, PICTURES_PARTS };

struct pictures {
    struct form form;
    char **names; /* of the classes */
    uint32_t counts[PICTURES_PARTS];
    struct idx images[PICTURES_PARTS], labels[PICTURES_PARTS];
};

/* What is read where no data is named: Fashion-MNIST, of Debian's dataset-fashion-mnist. */
#define PICTURES_DEFAULT "/usr/share/datasets/fashion-mnist"

/* Reads the IDX files of a directory, [N][H][W] or [N][H][W][C]. There are as many classes as the
 * labels need. False, *pictures all zero and a sentence if there are no such files. */
bool pictures_open(const char *directory, struct pictures *pictures,
                   char error[GLCNN_ERROR_LENGTH]);
void pictures_close(struct pictures *pictures);

/* ---- Batches ---- */

struct feed_options {
    enum pictures_part part;
    uint32_t batch;
    uint32_t limit; /* the first so many pictures of the part alone; 0: all */
    bool shuffle;   /* another order each epoch, from the seed; what fills no batch is left out of
                       the epoch. Else the last batch of an epoch is not filled */
    uint64_t seed;
    uint64_t step; /* of the first batch, over all epochs */
};

struct feed {
    const struct pictures *pictures;
    struct feed_options options;
    uint32_t used;  /* pictures */
    uint64_t steps; /* of an epoch */
    uint64_t step;
    double waited; /* seconds, for batches */
    uint32_t *order, *labels;
    float *images;
};

struct feed_batch {
    const float *images;    /* [batch][height][width][channels] in 0 .. 1, of the feed */
    const uint32_t *labels; /* [batch] */
    uint32_t filled;        /* pictures that count; the others are some */
};

/* Release with feed_close, after a failure too. False, and a sentence, if the pictures do not fill
 * a batch of a feed that is shuffled. */
bool feed_open(const struct pictures *pictures, const struct feed_options *options,
               struct feed *feed, char error[GLCNN_ERROR_LENGTH]);
void feed_close(struct feed *feed);
/* The next batch, without end: epoch follows epoch. */
bool feed_next(struct feed *feed, struct feed_batch *batch, char error[GLCNN_ERROR_LENGTH]);

#endif
