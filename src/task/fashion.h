/* Fashion-MNIST, or any data of its form: grey images of 28x28 pixels in ten classes, by
 * libglcnn_data. */
#ifndef GLCNN_TASK_FASHION_H
#define GLCNN_TASK_FASHION_H

#include <glcnn/data.h>

#define FASHION_SIDE      28
#define FASHION_PIXELS    (FASHION_SIDE * FASHION_SIDE)
#define FASHION_CLASSES   10
#define FASHION_DIRECTORY "/usr/share/datasets/fashion-mnist" /* of dataset-fashion-mnist */

extern const char *const fashion_names[FASHION_CLASSES];

/* Opens the data that glcnn_dataset_open finds in a folder. NULL, and a message, if it is not of
 * this form. To be closed with glcnn_dataset_destroy. */
glcnn_dataset *fashion_open(const char *folder, char error[GLCNN_ERROR_LENGTH]);

#endif
