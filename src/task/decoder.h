/* What tasks that answer for each pixel have behind the features of a network. */
#ifndef GLCNN_TASK_DECODER_H
#define GLCNN_TASK_DECODER_H

#include "nets.h"

/* From the smallest feature to the largest: what is made so far is enlarged, joined with the feature
 * of that size, and convolved (Ronneberger et al. 2015). As large as the largest, of *channels. */
glcnn_image_node *decoder_build(const struct features *features, unsigned *channels);

/* Brought to a size, linearly. */
glcnn_image_node *decoder_resized(glcnn_image_node *source, uint32_t width, uint32_t height);

#endif
