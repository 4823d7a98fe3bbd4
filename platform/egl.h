/* What every provider needs of EGL: displays by platform, the one way to make a context, devices.
 *
 * A context is made without a config and without a surface where the display has
 * EGL_KHR_no_config_context and EGL_KHR_surfaceless_context, else with a pbuffer of 1x1. A display
 * that an application could hold too (of an EGL device, surfaceless, or the default one) is the same
 * EGLDisplay in the whole process, and eglTerminate would pull it away from everybody: one that
 * somebody else has initialised before is never terminated, and one that was initialised here is when
 * the library is unloaded or the process ends, unless a device is open on it still.
 */
#ifndef GLCNN_PLATFORM_EGL_H
#define GLCNN_PLATFORM_EGL_H

#include "platform/provider.h"

/* What is current on a thread for the API it has bound, to be put back. Opening and closing leave
 * the bound API as it was by themselves. */
struct egl_current {
    EGLDisplay display;
    EGLSurface draw, read;
    EGLContext context;
};

struct egl_current egl_current_save(void);
void egl_current_restore(const struct egl_current *saved);

/* Whether a list of words separated by blanks holds the word; a NULL list holds none. */
bool egl_list_has(const char *list, const char *word);

/* Whether EGL itself, before any display, has the extension. */
bool egl_client_has(const char *extension);

/* EGL_NO_DISPLAY, with a reason, where the platform is refused. */
EGLDisplay egl_display(EGLenum platform, void *native, char reason[PLATFORM_TEXT]);

/* Initialises context->display, makes a context of OpenGL ES 3.1 on it, makes it current and fills
 * context->chosen.software and .detail. On failure the context holds nothing. */
bool egl_open(struct platform_context *context, const struct platform_request *request,
              char reason[PLATFORM_TEXT]);

/* Reads the strings of the context that is current: refuses one below ES 3.1. */
bool egl_inspect(struct platform_context *context, char reason[PLATFORM_TEXT]);

/* Whether the current context reports resets. */
bool egl_context_is_robust(void);

/* Destroys the context, the display if it is private, and what the provider holds below. */
void egl_close(struct platform_context *context);

bool egl_make_current(const struct platform_context *context);
void egl_release_current(const struct platform_context *context);
bool egl_is_current(const struct platform_context *context);

/* EGL devices, in EGL's order. Returns how many were written. */
size_t egl_devices(EGLDeviceEXT *devices, size_t capacity);
bool egl_device_has(EGLDeviceEXT device, const char *extension);

/* A string of the device, "" where the extension that defines it or the string is missing. */
const char *egl_device_string(EGLDeviceEXT device, const char *extension, EGLint name);

/* "EGL_BAD_ALLOC" of the last EGL call. */
const char *egl_error(void);

#endif
