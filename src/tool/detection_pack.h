/* What all grids of a detector predict as one image, so that a network has one result: the finest grid
 * first, the others below it, each filled up with zeros to the width of the first. */
#ifndef GLCNN_TOOL_DETECTION_PACK_H
#define GLCNN_TOOL_DETECTION_PACK_H

#include <stddef.h>

#include "detection_head.h"

/* The image of 4 + classes channels, made of the predictions of each grid; those themselves where
 * there is one. NULL on failure, see glcnn/node.h. */
glcnn_image_node *detection_pack(const struct detection_layout *layout,
                                 const struct detection_outputs *outputs);
/* Numbers of such an image. */
size_t detection_packed(const struct detection_layout *layout);
/* Takes it apart: predictions[scale] are into `room`, which has as many numbers. */
void detection_unpack(const struct detection_layout *layout, const float *packed, float *room,
                      const float *predictions[]);

#endif
