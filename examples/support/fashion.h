/* Fashion-MNIST, or any data of its form: grey images of 28x28 pixels in ten classes, as two IDX
 * files each for training and test. */
#ifndef SUPPORT_FASHION_H
#define SUPPORT_FASHION_H

#include "idx.h"

#define FASHION_SIDE      28
#define FASHION_PIXELS    (FASHION_SIDE * FASHION_SIDE)
#define FASHION_CLASSES   10
#define FASHION_DIRECTORY "/usr/share/datasets/fashion-mnist" /* of dataset-fashion-mnist */

struct fashion {
    struct idx images, labels; /* of the same count; labels are 0 .. 9 */
};

extern const char *const fashion_names[FASHION_CLASSES];

/* Reads PREFIX-images-idx3-ubyte.gz and PREFIX-labels-idx1-ubyte.gz; the prefix is train or t10k.
 * False, *data all zero and a sentence if they are not such files. */
bool fashion_read(const char *directory, const char *prefix, struct fashion *data,
                  char error[GLCNN_ERROR_LENGTH]);
void fashion_free(struct fashion *data);

/* images: [count][28][28] in 0 .. 1; labels: [count][10], 1 at the class. Image n is order[n] of
 * the data. */
void fashion_gather(const struct fashion *data, const uint32_t *order, uint32_t count,
                    float *images, float *labels);

#endif
