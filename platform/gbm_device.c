/* A device of libgbm and its display. */
#define _POSIX_C_SOURCE 200809L

#include "platform/gbm_device.h"

#include <errno.h>
#include <gbm.h>
#include <stdio.h>
#include <string.h>

void open_gbm_device(struct platform_context *context, char reason[PLATFORM_TEXT])
{
    context->native = gbm_create_device(context->fd);
    if (context->native == NULL)
        snprintf(reason, PLATFORM_TEXT, "gbm_create_device: %s", strerror(errno));
    else
        context->display = egl_display(EGL_PLATFORM_GBM_KHR, context->native, reason);
}

void close_gbm_device(void *native)
{
    gbm_device_destroy(native);
}
