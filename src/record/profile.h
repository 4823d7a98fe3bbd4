/* The times of passes, for glcnn_device_set_profile. A pass is measured between profile_begin and
 * profile_end; profile_tell hands on what was measured since it was called last. All three do
 * nothing while nobody asks. */
#ifndef GLCNN_PROFILE_H
#define GLCNN_PROFILE_H

#include "record/pass.h"

struct profile;

glcnn_status profile_begin(struct glcnn_device *device, const struct pass *pass);
glcnn_status profile_end(struct glcnn_device *device, uint32_t dispatches);
/* Waits for the GPU. */
glcnn_status profile_tell(struct glcnn_device *device);
void profile_destroy(struct glcnn_device *device, bool reachable);

#endif
