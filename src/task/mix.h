/* Pictures that are mixed: mixup (Zhang et al. 2018) and cutmix (Yun et al. 2019). Picture n of a batch
 * of N goes with picture N - 1 - n, the other, each augmented as it would be by itself:
 *   picture = picture + m (other - picture)
 *   mixup    m is one number for all pixels
 *   cutmix   m is 1 within a rectangle, and 0 around it
 * and the other's label has the mean of m, the picture's own the rest. That share, or the rectangle's
 * before it is cut off at the picture's edges, is drawn from Beta(alpha, alpha). With both, every
 * second picture has either. What is drawn follows from the seed, the epoch and the picture's number.
 */
#ifndef GLCNN_TASK_MIX_H
#define GLCNN_TASK_MIX_H

#include <glcnn/data.h>

#include "augment.h"

/* All zero: nothing is mixed. */
struct mix {
    float mixup, cutmix; /* alpha; 0: none */
    uint64_t seed;
    uint32_t width, height, batch; /* of a mask: one pixel is for all of a picture */
    float *mask;                   /* m, [batch][height][width] */
    float *shares;                 /* of the other's label, [batch]; 0 before the first draw */
};

/* For batches of pictures of that size. False: not enough memory. Release with mix_end, after a
 * failure too. */
bool mix_begin(const struct augment *augment, uint64_t seed, uint32_t width, uint32_t height,
               uint32_t batch, struct mix *mix);
void mix_end(struct mix *mix);

/* Draws what a batch is mixed by. */
void mix_draw(struct mix *mix, const struct glcnn_data_batch *batch);

#endif
