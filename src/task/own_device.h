/* A device that is opened where the user gives none. */
#ifndef GLCNN_TASK_OWN_DEVICE_H
#define GLCNN_TASK_OWN_DEVICE_H

#include <glcnn/device.h>

/* All zero: none. Its log keeps the error, so it must not move. */
struct own_device {
    glcnn_device *device;
    char error[GLCNN_ERROR_LENGTH];
};

/* name NULL: the library chooses. After a failure `error` says why. */
glcnn_status own_device_open(struct own_device *own, const char *name);
void own_device_close(struct own_device *own);

#endif
