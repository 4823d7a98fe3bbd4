/* Boxes in pictures as glcnn/detection.h has them, and where a detector predicts them. */
#ifndef GLCNN_TASK_DETECTION_BOX_H
#define GLCNN_TASK_DETECTION_BOX_H

#include <glcnn/detection.h>

#define DETECTION_SCALES 3 /* at most */

/* Locations that predict: location (x, y) is the point (x + 1/2, y + 1/2) times the stride. */
struct detection_grid {
    uint32_t stride, columns, rows;
};

/* A detector's grids, the finest first, of strides that grow. Arrays of a grid are in the order
 * [image][row][column][channel]. */
struct detection_layout {
    uint32_t width, height; /* of pictures */
    uint32_t classes, scales;
    struct detection_grid grids[DETECTION_SCALES];
};

/* Grids of these strides over pictures of that size; those of a side that is no multiple of the stride
 * have one more location, as convolutions of stride 2 leave it. */
struct detection_layout detection_layout(uint32_t width, uint32_t height, uint32_t classes,
                                         const uint32_t *strides, uint32_t scales);

/* Locations of a grid. */
uint32_t detection_locations(const struct detection_grid *grid);

/* What two boxes have in common, which may be without an inside. */
struct glcnn_box box_intersection(const struct glcnn_box *a, const struct glcnn_box *b);
/* Cuts an object at the edges of what is shown. False: less than a quarter of its area is left, so that it does
 * not count; of a crowd nothing is. */
bool object_cut(struct glcnn_object *object, const struct glcnn_box *shown);

#endif
