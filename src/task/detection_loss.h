/* What a detector is trained against, as nodes of a network: the classes by quality focal loss or the
 * cross entropy of sigmoids, the boxes by complete intersection over union (CIoU, Zheng et al. 2020). */
#ifndef GLCNN_TASK_DETECTION_LOSS_H
#define GLCNN_TASK_DETECTION_LOSS_H

#include "detection_head.h"

/* Of one grid, or of all as one image (detection_pack.h). The first four are inputs of the network, which the caller makes, with a pixel for each
 * location; detection_targets.h writes them. */
struct detection_loss {
    glcnn_image_node *labels;        /* a channel a class: 1 for that of the location's object */
    glcnn_image_node *label_weights; /* likewise */
    glcnn_image_node *distances;     /* to the edges of the object's box, in strides; positive, also
                                        where there is no object */
    glcnn_image_node *box_weights;   /* one channel; 0 where there is no object */
    glcnn_filter_node *scores;       /* the losses, each a sum over the locations of a picture */
    glcnn_filter_node *boxes;
};

/* Which loss the scores have. */
enum detection_classes {
    DETECTION_QUALITY, /* quality focal loss (Li et al. 2020): what a score is to be is the IoU of the
                          box that is predicted there with the object's, through which no gradient
                          goes, and 0 for other classes; confident boxes are then good ones */
    DETECTION_CROSS_ENTROPY /* 1 for the object's class, whatever its box */
};

/* Adds the losses of what is predicted; the outputs' `predictions` are not read. They are NULL on failure, see glcnn/node.h. */
void detection_losses(const struct detection_outputs *outputs, enum detection_classes classes,
                      struct detection_loss *loss);

#endif
