/* Objects follow the augmentation of their picture. */
#ifndef GLCNN_TASK_DETECTION_AUGMENT_H
#define GLCNN_TASK_DETECTION_AUGMENT_H

#include <glcnn/glcnn.h>

#include "detection_box.h"

/* In pixels from the left and the upper edge of a picture. */
struct moved_point {
    double x, y;
};

/* Where the point (x, y) of a picture is after augment_geometry, of which glcnn_augment_geometry_matrix
 * gave the matrix. */
struct moved_point detection_moved(const double matrix[6], double x, double y);

/* Moves the objects of picture `number`, of width x height pixels, to where augment_geometry with these
 * parameters shows them in `epoch`. The box of one that is turned is the box around the turned box, cut
 * at the picture's edges. Those of which less than a quarter of the area is left are dropped; a crowd
 * stays while anything is left of it. Returns how many there are; they keep their order. */
uint32_t detection_augment(const struct glcnn_augment_geometry_parameters *parameters,
                           uint32_t number, uint32_t epoch, uint32_t width, uint32_t height,
                           struct glcnn_object *objects, uint32_t count);

#endif
