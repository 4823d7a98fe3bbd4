/* The head of a detector without anchors, after FCOS (Tian et al. 2019): each location of a grid
 * predicts how likely each class is there, and how far the edges of the box around it are. */
#ifndef GLCNN_TASK_DETECTION_HEAD_H
#define GLCNN_TASK_DETECTION_HEAD_H

#include <glcnn/glcnn.h>

#include "detection_box.h"

/* An image of a backbone, of as many pixels as its grid. */
struct detection_features {
    glcnn_image_node *image;
    uint32_t channels;
};

/* What is predicted at the locations of a grid. */
struct detection_outputs {
    glcnn_image_node *scores;    /* a channel for each class; a sigmoid makes them probabilities */
    glcnn_image_node *distances; /* to the left, top, right and bottom edge, in strides; positive */
    glcnn_image_node *predictions; /* distances, then probabilities: 4 + classes channels */
};

/* Adds the head to the features of each grid of the layout, the finest first, with layers of
 * `channels` channels, a multiple of 4. Coarser features are added to finer ones first (Lin et al.
 * 2017, feature pyramids). Scores begin at a probability of 1/100 (Lin et al. 2017, focal loss), which
 * glcnn_network_initialise leaves. On failure outputs have NULLs, see glcnn/node.h. */
void detection_head(const struct detection_layout *layout, uint32_t channels,
                    const struct detection_features *features, struct detection_outputs *outputs);

/* Makes the outputs of a grid of what its convolutions make; all but scores are NULL on failure. */
void detection_join(glcnn_image_node *distances, glcnn_image_node *scores,
                    struct detection_outputs *outputs);

#endif
