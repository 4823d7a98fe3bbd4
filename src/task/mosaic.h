/* Mosaics (Bochkovskiy et al. 2020): the pictures of a batch, each joined with three others of it. They meet
 * at a point that is drawn between a quarter and three quarters of width and height; each of the four
 * shows, at its own scale, the part next to its corner there: of the one at the top left what is
 * next to its bottom right corner. Picture n is one of its four, in a place that is drawn too. What is
 * drawn follows from the seed, the epoch and the picture's number, what the others are from the batch.
 */
#ifndef GLCNN_TASK_MOSAIC_H
#define GLCNN_TASK_MOSAIC_H

#include <glcnn/data.h>

#include "detection_box.h"

#define MOSAIC_PARTS 4 /* top left, top right, bottom left, bottom right */

struct mosaic_joint {
    uint32_t x, y;                   /* where they meet: pixels of those on the left, and above */
    uint32_t pictures[MOSAIC_PARTS]; /* of the batch */
};

/* All zero: none are made. */
struct mosaic {
    uint64_t seed;
    uint32_t width, height, batch;
    size_t pixel;                /* bytes */
    struct mosaic_joint *joints; /* [batch] */
    char *pictures;              /* [batch][height][width][pixel] */
};

/* For batches of interleaved pictures of that size. False: not enough memory. Release with mosaic_end,
 * after a failure too. */
bool mosaic_begin(uint64_t seed, uint32_t width, uint32_t height, size_t pixel, uint32_t batch,
                  struct mosaic *mosaic);
void mosaic_end(struct mosaic *mosaic);

/* Draws how the pictures of a batch are joined, and joins them; what it gives is the mosaic's. */
const void *mosaic_join(struct mosaic *mosaic, const struct glcnn_data_batch *batch,
                        const void *pictures);

/* Moves the objects of the picture that is part `part` of mosaic `n` with its pixels, and cuts them to
 * what is shown of it. Those of which less than a quarter of the area is left are dropped; a crowd
 * stays while anything is left of it. Returns how many there are; they keep their order. */
uint32_t mosaic_objects(const struct mosaic *mosaic, uint32_t n, int part,
                        struct glcnn_object *objects, uint32_t count);

#endif
