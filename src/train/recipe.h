/* Defaults of a training: one table and one formula for all tasks, from which the run, the help and
 * the guide take them. examples/README.md has the measurements behind the numbers. */
#ifndef GLCNN_TRAIN_RECIPE_H
#define GLCNN_TRAIN_RECIPE_H

#include <stdbool.h>

#include "task/task.h"

#define RECIPE_OPTIMIZER     "adam"
#define RECIPE_CLIP_NORM     10
#define RECIPE_BATCH         8      /* images of a step that adam's rate is for */
#define RECIPE_MEAN          "0.5"  /* of values in 0 .. 1, for a network that normalises nothing */
#define RECIPE_DEVIATION     "0.25" /* He's weights are for values of deviation 1 */
#define RECIPE_BACKBONE_RATE 0.1    /* of the rate, for layers of a file before a new head */
#define RECIPE_WARMUP_SHARE  0.05   /* of the epochs */
#define RECIPE_WARMUP_MOST   5.0    /* epochs */

/* The batch and the epochs of a run over so many images, by the formula
 *
 *     batch  = 8 for fewer than 2000 images, 32 for fewer than 8000, else 64, and at most an eighth
 *              of the images
 *     epochs = 80,000 cbrt(images / 600) / images, between 1 and 200
 *
 * About 10,000 steps of 8 pictures for some hundred images, 4,600 of 32 for 4,000. `batches` are those
 * of a step, 1 or more. */
uint64_t recipe_batch(uint32_t images, uint64_t batches);
uint64_t recipe_epochs(uint32_t images);

/* What the augmentation depends on. */
struct recipe_data {
    const struct task *task;
    const struct glcnn_data_info *info; /* of the data */
    uint32_t width, height, channels;   /* of the pictures as the network sees them */
    double passes;                      /* of the run over the data */
    bool trains_all;                    /* layers; else the features of frozen ones are kept */
};

/* The words of --augment that suit the data: none for values that are no pictures, for features that
 * are kept and for tasks whose answer the change would alter. Pictures that are seen in fewer than 10
 * epochs are mirrored at most, since a network cannot learn them by heart. Pictures are mirrored where
 * the names of the classes do not speak of left and right, of letters or of digits; those of keypoints where
 * names speak of left and right, and each left has its right. */
#define RECIPE_WORDS 256
void recipe_augment(const struct recipe_data *data, char words[RECIPE_WORDS]);

/* The network: resnet10, and on a software rasteriser, where that takes hours, small for pictures of up to
 * 64x64 pixels and mobilenet-tiny for larger ones. Pictures that are too small for these have resnet8.
 * `why` gets the reason for another than resnet10, a clause. */
#define RECIPE_REASON 128
const struct net *recipe_net(const struct form *form, bool is_software, char why[RECIPE_REASON]);

#endif
