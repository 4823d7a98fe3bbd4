/* What the passes and the references of boxes share. */
#ifndef GLCNN_KERNELS_BOX_LOSS_INTERNAL_H
#define GLCNN_KERNELS_BOX_LOSS_INTERNAL_H

#include "encode/descriptor.h"

#define BOX_SIDES 4 /* left, top, right, bottom */

/* Has an image of boxes its channels? */
bool box_check_channels(const struct image_view *boxes, struct validation validation);

#endif
