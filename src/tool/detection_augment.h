/* Objects follow the augmentation of their picture. */
#ifndef GLCNN_TOOL_DETECTION_AUGMENT_H
#define GLCNN_TOOL_DETECTION_AUGMENT_H

#include <glcnn/glcnn.h>

#include "detection_box.h"

/* Moves the objects of picture `number`, of width x height pixels, to where augment_geometry with these
 * parameters shows them in `epoch`. The box of one that is turned is the box around the turned box, cut
 * at the picture's edges. Those of which less than a quarter of the area is left are dropped; a crowd
 * stays while anything is left of it. Returns how many there are; they keep their order. */
uint32_t detection_augment(const struct glcnn_augment_geometry_parameters *parameters,
                           uint32_t number, uint32_t epoch, uint32_t width, uint32_t height,
                           struct object *objects, uint32_t count);

#endif
