/* Pictures of made shapes on noise, with their boxes: what tests train detectors on. */
#ifndef GLCNN_TESTS_SHAPES_H
#define GLCNN_TESTS_SHAPES_H

#include "task/detection_box.h"

#define SHAPES_SIDE    64
#define SHAPES_CLASSES 3 /* rectangle, disc, triangle */
#define SHAPES_MOST    3 /* in a picture */

struct shapes {
    float pixels[SHAPES_SIDE * SHAPES_SIDE * 3]; /* [row][column][channel], 0 to 1 */
    struct glcnn_object objects[SHAPES_MOST];
    uint32_t count;
};

/* One to three shapes of 14 to 30 pixels a side, of colours that stand out, which hardly cover each
 * other. The same for a seed, which goes on. */
void shapes_make(struct shapes *shapes, uint32_t *seed);

#endif
