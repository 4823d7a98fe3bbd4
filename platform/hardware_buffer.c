/* Buffers of Android as images of EGL. */
#define _POSIX_C_SOURCE 200809L

#include "platform/egl.h"

#include <stdio.h>

const char *platform_lacks_hardware_buffer(const struct platform_context *context)
{
    static const char *const needed[] = {"EGL_KHR_image_base", "EGL_ANDROID_image_native_buffer",
                                         "EGL_ANDROID_get_native_client_buffer"};
    const char *extensions = eglQueryString(context->display, EGL_EXTENSIONS);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!egl_list_has(extensions, needed[i]))
            return needed[i];
    return NULL;
}

void *platform_import_hardware_buffer(const struct platform_context *context,
                                      const struct AHardwareBuffer *buffer,
                                      char reason[PLATFORM_TEXT])
{
    static const EGLint preserved[] = {EGL_IMAGE_PRESERVED_KHR, EGL_TRUE, EGL_NONE};
    PFNEGLGETNATIVECLIENTBUFFERANDROIDPROC get =
        (PFNEGLGETNATIVECLIENTBUFFERANDROIDPROC)eglGetProcAddress(
            "eglGetNativeClientBufferANDROID");
    PFNEGLCREATEIMAGEKHRPROC create =
        (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    EGLClientBuffer client = get ? get(buffer) : NULL;
    EGLImageKHR image = client ? create(context->display, EGL_NO_CONTEXT, EGL_NATIVE_BUFFER_ANDROID,
                                        client, preserved)
                               : EGL_NO_IMAGE_KHR;
    if (image == EGL_NO_IMAGE_KHR)
        snprintf(reason, PLATFORM_TEXT, "the driver refused it: %s: %s",
                 client ? "eglCreateImageKHR" : "eglGetNativeClientBufferANDROID", egl_error());
    return image;
}
