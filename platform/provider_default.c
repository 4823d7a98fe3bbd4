/* EGL's default display, for drivers that list no devices and take no GBM: those of vendors, on boards
 * and on phones. It comes last, since what it is depends on the environment: with Mesa it may be an X
 * server's display.
 */
#include "platform/egl.h"

#include <stdio.h>

static void list_default(const struct platform_request *request, struct candidate_list *list)
{
    (void)request;
    struct candidate *candidate = candidate_add(list, &provider_default);
    if (candidate != NULL)
        candidate->label = "display";
}

static bool open_default(const struct candidate *candidate, const struct platform_request *request,
                         struct platform_context *context, char reason[PLATFORM_TEXT])
{
    (void)candidate;
    context->display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    if (context->display == EGL_NO_DISPLAY) {
        snprintf(reason, PLATFORM_TEXT, "EGL has no default display");
        return false;
    }
    if (!egl_open(context, request, reason))
        return false;
    snprintf(context->reason, PLATFORM_TEXT, "EGL %.48s of %.48s, %s",
             eglQueryString(context->display, EGL_VERSION),
             eglQueryString(context->display, EGL_VENDOR),
             context->draw == EGL_NO_SURFACE ? "without a surface" : "with a pbuffer of 1x1");
    return true;
}

const struct platform_provider provider_default = {
    .name = "default",
    .list = list_default,
    .open = open_default,
};
