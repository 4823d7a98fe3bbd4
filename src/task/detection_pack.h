/* Images or arrays of all grids of a detector as one, so that a network has one result and one loss: the
 * finest grid first, the others below it, each filled up to the width of the first. */
#ifndef GLCNN_TASK_DETECTION_PACK_H
#define GLCNN_TASK_DETECTION_PACK_H

#include <stddef.h>

#include "detection_head.h"

/* Made of an image of each grid, of as many channels, filled up with zeros; that itself where there is
 * one grid. NULL on failure, see glcnn/node.h. */
glcnn_image_node *detection_pack(const struct detection_layout *layout,
                                 glcnn_image_node *const images[]);
/* The same with arrays of `batch` pictures, [batch][row][column][channel], filled up with `rest`, into
 * `packed`, [batch][detection_packed_rows][columns of the first grid][channel]. */
void detection_pack_values(const struct detection_layout *layout, uint32_t batch, uint32_t channels,
                           const float *const grids[], float rest, float *packed);
uint32_t detection_packed_rows(const struct detection_layout *layout);
/* Numbers of predictions that are packed, of 4 + classes channels. */
size_t detection_packed(const struct detection_layout *layout);
/* Takes these apart: predictions[scale] are into `room`, which has as many numbers. */
void detection_unpack(const struct detection_layout *layout, const float *packed, float *room,
                      const float *predictions[]);

#endif
