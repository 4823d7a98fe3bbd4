/* Preloaded, puts ANGLE on SwiftShader below a program that asks for Mesa's surfaceless platform:
 * another front end, compiler and rasteriser than any of Mesa's. platform/README.md says how it is
 * run.
 *
 * ANGLE's libEGL.so must be found as libEGL.so.1.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* EGL_ANGLE_platform_angle, _vulkan and _device_type_swiftshader. */
enum { PLATFORM = 0x3202, TYPE = 0x3203, VULKAN = 0x3450, DEVICE = 0x3209, SWIFTSHADER = 0x3487 };

typedef __eglMustCastToProperFunctionPointerType function;

static void *angle(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
    return dlsym(RTLD_NEXT, name);
}

static function get(const char *name)
{
    function (*get_address)(const char *);
    *(void **)&get_address = angle("eglGetProcAddress");
    return get_address(name);
}

static EGLDisplay get_display(EGLenum platform, void *native, const EGLint *attributes)
{
    static const EGLint choice[] = {TYPE, VULKAN, DEVICE, SWIFTSHADER, EGL_NONE};
    PFNEGLGETPLATFORMDISPLAYEXTPROC real =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)get("eglGetPlatformDisplayEXT");
    (void)platform, (void)native, (void)attributes;
    return real(PLATFORM, NULL, choice);
}

function eglGetProcAddress(const char *name)
{
    return strcmp(name, "eglGetPlatformDisplayEXT") == 0 ? (function)get_display : get(name);
}

static void hide(char *text, const char *extension)
{
    char *at = strstr(text, extension);
    if (at)
        memset(at, 'x', strlen(extension));
}

/* The platform is announced; devices, which would lead round it, are not. */
const char *eglQueryString(EGLDisplay display, EGLint name)
{
    static char text[4096];
    const char *(*query)(EGLDisplay, EGLint);
    *(void **)&query = angle("eglQueryString");
    const char *real = query(display, name);
    if (display != EGL_NO_DISPLAY || name != EGL_EXTENSIONS)
        return real;
    snprintf(text, sizeof text, "%s EGL_MESA_platform_surfaceless EGL_EXT_platform_base",
             real ? real : "");
    hide(text, "EGL_EXT_device_enumeration");
    hide(text, "EGL_EXT_device_base");
    return text;
}
