/* Counting commits on the GPU, where the driver does not tell of resets: device/reset.h. */
#ifndef GLCNN_COMMIT_COUNT_H
#define GLCNN_COMMIT_COUNT_H

#include "device/device.h"

/* For opening and closing. Makes nothing where the driver tells of resets. */
glcnn_status commit_count_create(struct glcnn_device *device);
void commit_count_destroy(struct glcnn_device *device, bool reachable);

/* Before the passes of a commit are issued: all that may fail of its last one. */
glcnn_status commit_count_prepare(struct glcnn_device *device);
/* The last pass of a commit. */
void commit_count_issue(struct glcnn_device *device);

#endif
