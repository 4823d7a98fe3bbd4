/* In place of gbm_device.c where there is no libgbm: nodes are listed, and say why they are not used. */
#include "platform/gbm_device.h"

#include <stdio.h>

void open_gbm_device(struct platform_context *context, char reason[PLATFORM_TEXT])
{
    (void)context;
    snprintf(reason, PLATFORM_TEXT, "the library was built without GBM (make DRM=no)");
}

void close_gbm_device(void *native)
{
    (void)native;
}
