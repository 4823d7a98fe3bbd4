/* The context that is current on the calling thread, when the caller asks for it.
 *
 * It stays the caller's: it is never destroyed, and making it current again binds the display and
 * the surfaces that it had when it was taken.
 */
#include "platform/egl.h"

#include <stdio.h>

static void list_current(const struct platform_request *request, struct candidate_list *list)
{
    if (!request->use_current)
        return;
    struct candidate *candidate = candidate_add(list, &provider_current);
    if (candidate != NULL)
        candidate->label = "context";
}

static bool open_current(const struct candidate *candidate, const struct platform_request *request,
                         struct platform_context *context, char reason[PLATFORM_TEXT])
{
    (void)candidate;
    (void)request;
    struct egl_current current = egl_current_save();
    EGLint type = EGL_NONE;
    context->borrowed = true;
    context->display = current.display;
    context->draw = current.draw;
    context->read = current.read;
    context->context = current.context;
    if (current.context == EGL_NO_CONTEXT) {
        snprintf(reason, PLATFORM_TEXT, "no context is current on this thread");
        return false;
    }
    if (!eglQueryContext(current.display, current.context, EGL_CONTEXT_CLIENT_TYPE, &type) ||
        type != EGL_OPENGL_ES_API) {
        snprintf(reason, PLATFORM_TEXT, "the context that is current is not one of OpenGL ES");
        return false;
    }
    context->robust = egl_context_is_robust();
    return egl_inspect(context, reason);
}

const struct platform_provider provider_current = {
    .name = "current",
    .list = list_current,
    .open = open_current,
};
