/* EGL devices that are not known to be software: those with a render node in the order of the
 * nodes, which is not EGL's, then those without.
 *
 * A device without a node is tried too: in a container a vendor's driver can work through device
 * files of its own. For the same reason such a driver is tried even where the node is closed.
 */
#define _POSIX_C_SOURCE 200809L

#include "platform/drm.h"
#include "platform/egl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64

struct ordered_device {
    EGLDeviceEXT device;
    const char *node;
    unsigned long rank; /* number of the render node, ULONG_MAX without one */
    size_t position;    /* in EGL's order, which settles equal ranks */
};

static struct ordered_device rank_device(EGLDeviceEXT device, size_t position)
{
    static const char prefix[] = "/dev/dri/renderD";
    struct ordered_device row = {.device = device, .rank = ULONG_MAX, .position = position};
    row.node =
        egl_device_string(device, "EGL_EXT_device_drm_render_node", EGL_DRM_RENDER_NODE_FILE_EXT);
    if (strncmp(row.node, prefix, sizeof prefix - 1) == 0)
        row.rank = strtoul(row.node + sizeof prefix - 1, NULL, 10);
    if (row.node[0] == '\0')
        row.node = egl_device_string(device, "EGL_EXT_device_drm", EGL_DRM_DEVICE_FILE_EXT);
    return row;
}

static int by_rank(const void *left, const void *right)
{
    const struct ordered_device *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void add_device(const struct ordered_device *row, struct candidate_list *list)
{
    struct candidate *candidate = candidate_add(list, &provider_device);
    if (candidate == NULL)
        return;
    struct platform_candidate *info = &candidate->info;
    candidate->device = row->device;
    candidate->label = "without a node";
    snprintf(info->node, sizeof info->node, "%s", row->node);
    if (info->node[0] != '\0') {
        drm_driver_name(info->node, info->driver, sizeof info->driver);
        candidate->denied = drm_denied(info->node, info->detail) &&
                            !egl_device_has(row->device, "EGL_NV_device_cuda");
    }
#ifdef EGL_DRIVER_NAME_EXT
    if (info->driver[0] == '\0')
        snprintf(
            info->driver, sizeof info->driver, "%s",
            egl_device_string(row->device, "EGL_EXT_device_persistent_id", EGL_DRIVER_NAME_EXT));
#endif
}

static void list_devices(const struct platform_request *request, struct candidate_list *list)
{
    (void)request;
    EGLDeviceEXT devices[DEVICES_MAX];
    struct ordered_device rows[DEVICES_MAX];
    size_t count = egl_devices(devices, DEVICES_MAX), used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!egl_device_has(devices[i], "EGL_MESA_device_software"))
            rows[used++] = rank_device(devices[i], i);
    }
    qsort(rows, used, sizeof rows[0], by_rank);
    for (size_t i = 0; i < used; i++)
        add_device(&rows[i], list);
}

static bool open_device(const struct candidate *candidate, const struct platform_request *request,
                        struct platform_context *context, char reason[PLATFORM_TEXT])
{
    context->display = egl_display(EGL_PLATFORM_DEVICE_EXT, candidate->device, reason);
    return context->display != EGL_NO_DISPLAY && egl_open(context, request, reason);
}

const struct platform_provider provider_device = {
    .name = "device",
    .list = list_devices,
    .open = open_device,
};
