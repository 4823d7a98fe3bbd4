/* What the locations of a detector are to predict: which object each of them is for, as FCOS (Tian et
 * al. 2019, 2020) has it, with the closeness of the centre decided once, by the objects alone. */
#ifndef GLCNN_TASK_DETECTION_TARGETS_H
#define GLCNN_TASK_DETECTION_TARGETS_H

#include "detection_box.h"

/* The inputs of a grid's losses (detection_loss.h) for a batch. */
struct detection_target {
    float *labels, *label_weights; /* [image][row][column][class] */
    float *distances;              /* [image][row][column][4] */
    float *box_weights;            /* [image][row][column] */
};

struct detection_targets {
    struct detection_layout layout;
    uint32_t batch;
    struct detection_target scales[DETECTION_SCALES];
    uint32_t positives; /* locations of the last batch that have an object */
};

/* Room for batches of that size. Release with detection_targets_free, after a failure too. False: not
 * enough memory. */
bool detection_targets_create(const struct detection_layout *layout, uint32_t batch,
                              struct detection_targets *targets);
void detection_targets_free(struct detection_targets *targets);

/* The objects of a picture, which the caller owns. */
struct objects {
    const struct glcnn_object *items;
    uint32_t count;
};

/* Sets all arrays to the objects of a batch's pictures, `count` of them, at most the batch. An object is
 * for one grid: the finest of which its longer side is at most 6 strides, else the coarsest. There a
 * location is for it if it lies within the box and within 1.5 strides of its centre, and in any case the
 * location next to the centre, so that small objects are found too; edges before that are taken to
 * be a hundredth of a stride behind it. Where several objects want a location the smallest has it, of
 * equals the first.
 *
 * Weights of the labels are 1 / positives, and those of boxes `box_gain` / positives, so that the sums of
 * losses over a batch are means over its objects' locations. Locations in the box of a crowd that are
 * for no object have no weight, and neither have pictures from `count` on. */
void detection_targets_set(struct detection_targets *targets, const struct objects *pictures,
                           uint32_t count, float box_gain);
/* The same for a batch that is a part of a larger one: with weights of 1 and 0, and then divided by the
 * positives of all of it. */
void detection_targets_find(struct detection_targets *targets, const struct objects *pictures,
                            uint32_t count);
void detection_targets_weigh(struct detection_targets *targets, double positives, float box_gain);

#endif
