/* Labelled pictures of one form, read by number: all that the tool knows of data. */
#ifndef GLCNN_TOOL_PICTURES_H
#define GLCNN_TOOL_PICTURES_H

#include "nets.h"
#include "support/idx.h"

struct pictures {
    struct form form;
    uint32_t count;
    char **names; /* of the classes */
    struct idx images, labels;
};

enum pictures_part { PICTURES_TRAINING, PICTURES_VALIDATION };

/* What is read where no data is named: Fashion-MNIST, of Debian's dataset-fashion-mnist. */
#define PICTURES_DEFAULT "/usr/share/datasets/fashion-mnist"

/* Reads the IDX files of a directory, [N][H][W] or [N][H][W][C]. There are as many classes as the
 * labels need. False, *pictures all zero and a sentence if there are no such files. */
bool pictures_read(const char *directory, enum pictures_part part, struct pictures *pictures,
                   char error[GLCNN_ERROR_LENGTH]);
void pictures_free(struct pictures *pictures);

/* Whether the second can be classified by a network that was trained on the first: the same form,
 * and no more classes. False, and a sentence, if not. */
bool pictures_match(const struct pictures *first, const struct pictures *second,
                    char error[GLCNN_ERROR_LENGTH]);

/* images: [count][height][width][channels] in 0 .. 1; labels: [count][classes] of `classes`, 1 at
 * the class. Picture n is order[n] of the data. */
void pictures_gather(const struct pictures *pictures, const uint32_t *order, uint32_t count,
                     uint32_t classes, float *images, float *labels);

#endif
