/* Opening a device whose log nobody reads. */
#include "own_device.h"

#include <stdio.h>

static void keep_error(void *user, glcnn_log_level level, const char *text)
{
    if (level == GLCNN_LOG_ERROR)
        snprintf(user, GLCNN_ERROR_LENGTH, "%s", text);
}

glcnn_status own_device_open(struct own_device *own, const char *name)
{
    const struct glcnn_device_parameters parameters = {
        .device = name, .log = keep_error, .log_user = own->error};
    const glcnn_status status = glcnn_device_create(&parameters, &own->device);
    if (status != GLCNN_SUCCESS && !own->error[0])
        snprintf(own->error, sizeof own->error, "%s", glcnn_status_text(status));
    return status;
}

void own_device_close(struct own_device *own)
{
    glcnn_device_destroy(&own->device);
}
