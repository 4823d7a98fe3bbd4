/* The nearest of a memory bank for each patch of a batch, by a product of matrices on the GPU:
 *
 *   |a - b|^2 = |a|^2 + |b|^2 - 2 a b
 *
 * with the bank's b as the weights of a convolution of 1x1, |b|^2 as its biases, and the smallest channel
 * of its result. |a|^2 is the same for all b, so it need not be added to find that. The mean of the bank
 * is taken off a and b before, which changes no distance, and keeps the sums small that are rounded.
 * The distance to what was found is then computed from the differences, in double precision. Of two that
 * are as near as the product rounds, within some 1e-6 of |a| |b|, either may be found. */
#ifndef GLCNN_TASK_ANOMALY_NEAREST_H
#define GLCNN_TASK_ANOMALY_NEAREST_H

#include <glcnn/glcnn.h>

#include "anomaly_bank.h"
#include "nets.h"

struct nearest {
    const struct bank *bank;
    struct form grid; /* of patches: width, height and channels */
    uint32_t batch;
    glcnn_network *network;
    glcnn_graph *graph;
    glcnn_image_node *result;
    /* Of the last batch, [batch][height][width], patches with [channels] each. */
    float *patches, *numbers; /* numbers: of the nearest, as the device has them */
    double *distances;
};

/* `bank` must outlive it, and its values are finite. Release with nearest_destroy, after a failure too.
 * False: the device has the message, or there is no memory. */
bool nearest_create(glcnn_device *device, const struct bank *bank, const struct form *grid,
                    uint32_t batch, struct nearest *nearest);
void nearest_destroy(struct nearest *nearest);

/* Finds the nearest of all patches of an image that has the batch. False: as above. */
bool nearest_run(struct nearest *nearest, glcnn_image *patches);

/* The patch of a picture whose distance is the largest, of equals the first; `picture` counts in the
 * batch. UINT32_MAX: the picture has values that are not finite. */
uint32_t nearest_worst(const struct nearest *nearest, uint32_t picture);
/* Patches of a picture. */
uint32_t nearest_count(const struct nearest *nearest);

#endif
