/* Masks of a segmenter's answers, at the size of the picture. */
#ifndef GLCNN_TASK_SEGMENT_MASK_H
#define GLCNN_TASK_SEGMENT_MASK_H

#include <stdint.h>

#include "nets.h"

/* The likeliest class of each pixel of a picture of that size, [size[1]][size[0]], of probabilities
 * [height][width][classes] of the form: between the middles of the image's pixels these are linear.
 * GLCNN_DATA_NO_CLASS where the network does not see the picture. */
void segment_mask(const struct form *form, const float *values, const uint32_t size[2],
                  uint8_t *classes);

#endif
