/* The labels of a picture, drawn into it. */
#ifndef GLCNN_TASK_TRUTH_H
#define GLCNN_TASK_TRUTH_H

#include <glcnn/data.h>

#include "nets.h"

/* A picture of data, and the form and the names of the task that it is for. */
struct truth {
    glcnn_dataset *set;
    glcnn_data_part part;
    uint32_t index;
    const struct form *form;
    const char *const *names; /* of classes; the data's numbers are theirs */
};

/* Draws into the whole picture in that size, [height][width][3]: boxes with the names of their classes, the
 * colours of masks, crosses of keypoints, as a task's answers are drawn. Nothing of other tasks, and of a
 * mask that cannot be read. */
void truth_show(const struct truth *truth, uint32_t width, uint32_t height, uint8_t *pixels);

#endif
