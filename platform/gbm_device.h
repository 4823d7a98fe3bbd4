/* GBM's device of a node: what provider_gbm.c needs of libgbm. DRM=no builds no_gbm_device.c in place of
 * gbm_device.c, and needs no libgbm.
 */
#ifndef GLCNN_PLATFORM_GBM_DEVICE_H
#define GLCNN_PLATFORM_GBM_DEVICE_H

#include "platform/egl.h"

/* Makes context->native, the device of the node that is open as context->fd, and context->display. On
 * failure there is no display, and a reason. */
void open_gbm_device(struct platform_context *context, char reason[PLATFORM_TEXT]);

void close_gbm_device(void *native);

#endif
