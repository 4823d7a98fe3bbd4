/* Fashion-MNIST has numbers for labels, and names elsewhere. */
#include "fashion.h"

#include <stdio.h>

const char *const fashion_names[FASHION_CLASSES] = {
    "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"};

glcnn_dataset *fashion_open(const char *folder, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_parameters form = {.width = FASHION_SIDE,
                                               .height = FASHION_SIDE,
                                               .channels = 1,
                                               .class_names = fashion_names,
                                               .class_count = FASHION_CLASSES};
    glcnn_dataset *data = NULL;
    char reason[GLCNN_ERROR_LENGTH];
    if (glcnn_dataset_open(folder, &form, &data, reason) != GLCNN_SUCCESS)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.400s; Fashion-MNIST is in Debian's package dataset-fashion-mnist", reason);
    return data;
}
