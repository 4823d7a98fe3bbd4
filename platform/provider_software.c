/* The rasteriser on the CPU: EGL's software device, then the surfaceless platform.
 *
 * Mesa's surfaceless platform takes a GPU if it finds one, so what was opened is judged by its
 * renderer, not by having come from here.
 */
#include "platform/egl.h"

#define DEVICES_MAX 64

static void list_software(const struct platform_request *request, struct candidate_list *list)
{
    (void)request;
    EGLDeviceEXT devices[DEVICES_MAX];
    size_t count = egl_devices(devices, DEVICES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!egl_device_has(devices[i], "EGL_MESA_device_software"))
            continue;
        struct candidate *candidate = candidate_add(list, &provider_software);
        if (candidate == NULL)
            return;
        candidate->label = "EGL device";
        candidate->device = devices[i];
    }
    if (!egl_client_has("EGL_MESA_platform_surfaceless"))
        return;
    struct candidate *candidate = candidate_add(list, &provider_software);
    if (candidate != NULL)
        candidate->label = "surfaceless platform";
}

static bool open_software(const struct candidate *candidate, const struct platform_request *request,
                          struct platform_context *context, char reason[PLATFORM_TEXT])
{
    bool surfaceless = candidate->device == EGL_NO_DEVICE_EXT;
    EGLenum platform = surfaceless ? EGL_PLATFORM_SURFACELESS_MESA : EGL_PLATFORM_DEVICE_EXT;
    context->display = egl_display(platform, candidate->device, reason); /* surfaceless: none */
    return context->display != EGL_NO_DISPLAY && egl_open(context, request, reason);
}

const struct platform_provider provider_software = {
    .name = "software",
    .software = true,
    .list = list_software,
    .open = open_software,
};
