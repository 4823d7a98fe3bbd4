/* From what a detector predicts to what is in the picture. */
#ifndef GLCNN_TASK_DETECTION_DECODE_H
#define GLCNN_TASK_DETECTION_DECODE_H

#include "detection_box.h"

#define DETECTION_MOST    300
#define DETECTION_OVERLAP 0.6f

/* What is measured: nearly all. */
#define DETECTION_MEASURED                                                                         \
    ((struct glcnn_detection_limits){0.01f, DETECTION_OVERLAP, DETECTION_MOST, false})
/* What is shown, drawn and told, unless its user asks for something else. */
#define DETECTION_SHOWN                                                                            \
    ((struct glcnn_detection_limits){0.3f, DETECTION_OVERLAP, DETECTION_MOST, false})

/* The detections of one picture, the likeliest first, into `found`, which has room for limits->most.
 * predictions[scale] is [row][column][4 + classes], as detection_head.h has it: distances, then
 * probabilities. Boxes are cut at the picture's edges; of equal scores that comes first whose grid,
 * location and class do. The likeliest 10000 are compared, and those of one class, or of all, suppressed
 * greedily.
 * What is not finite, and a box without an inside, is left out. Returns how many there are;
 * UINT32_MAX: not enough memory. */
uint32_t detection_decode(const struct detection_layout *layout, const float *const predictions[],
                          const struct glcnn_detection_limits *limits,
                          struct glcnn_detection *found);

#endif
