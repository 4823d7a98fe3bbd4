/* GBM on every render node, then on every card node: for an EGL without devices, and for boards
 * whose display driver lends the render node of another.
 *
 * The display belongs to a gbm_device made here, so it is private and is terminated at the end.
 */
#define _POSIX_C_SOURCE 200809L

#include "platform/drm.h"
#include "platform/gbm_device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void list_nodes(const struct platform_request *request, struct candidate_list *list)
{
    (void)request;
    if (!egl_client_has("EGL_KHR_platform_gbm") && !egl_client_has("EGL_MESA_platform_gbm"))
        return;
    struct drm_node nodes[DRM_NODES_MAX];
    size_t count = drm_scan("/dev/dri", nodes, DRM_NODES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct candidate *candidate = candidate_add(list, &provider_gbm);
        if (candidate == NULL)
            return;
        struct platform_candidate *info = &candidate->info;
        memcpy(info->node, nodes[i].path, sizeof info->node);
        drm_driver_name(info->node, info->driver, sizeof info->driver);
        candidate->denied = drm_denied(info->node, info->detail);
    }
}

static void release_gbm(struct platform_context *context)
{
    if (context->native != NULL)
        close_gbm_device(context->native);
    if (context->fd >= 0)
        close(context->fd);
    context->native = NULL;
    context->fd = -1;
}

static bool open_gbm(const struct candidate *candidate, const struct platform_request *request,
                     struct platform_context *context, char reason[PLATFORM_TEXT])
{
    context->private_display = true;
    context->fd = drm_open(candidate->info.node);
    if (context->fd < 0) {
        snprintf(reason, PLATFORM_TEXT, "open: %s", strerror(errno));
        return false;
    }
    open_gbm_device(context, reason);
    if (context->display == EGL_NO_DISPLAY) {
        release_gbm(context);
        return false;
    }
    return egl_open(context, request, reason);
}

const struct platform_provider provider_gbm = {
    .name = "gbm",
    .list = list_nodes,
    .open = open_gbm,
    .release = release_gbm,
};
