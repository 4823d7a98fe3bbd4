/* EGL as drivers of vendors have it: without extensions that Mesa has. To be preloaded, with
 *
 *   BLOB_LACKS=NAMES   separated by blanks: EGL does not list these extensions, and what they define
 *                      fails; without EGL_KHR_create_context it is EGL 1.4
 *   BLOB_NODES=FOLDER  is /dev/dri; its nodes are no devices, yet can be opened
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __eglMustCastToProperFunctionPointerType any_function;

#define REAL(NAME) ((__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME))

static bool list_has(const char *list, const char *word, size_t length)
{
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool lacks(const char *extension)
{
    return list_has(getenv("BLOB_LACKS"), extension, strlen(extension));
}

/* What the library has asked for stays where it is, as EGL's own strings do. */
static const char *strip(const char *list, char *kept, size_t size)
{
    size_t used = 0;
    kept[0] = 0;
    for (const char *at = list; *at;) {
        char word[128];
        size_t length = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length && !lacks(word))
            used += (size_t)snprintf(kept + used, size - used, "%s ", word);
        at += length + (at[length] == ' ');
    }
    return kept;
}

const char *eglQueryString(EGLDisplay display, EGLint name)
{
    static char client[8192], others[8192];
    const char *text = REAL(eglQueryString)(display, name);
    if (name == EGL_VERSION && text && lacks("EGL_KHR_create_context"))
        return "1.4";
    if (name != EGL_EXTENSIONS || !text)
        return text;
    return strip(text, display ? others : client, sizeof client);
}

EGLBoolean eglInitialize(EGLDisplay display, EGLint *major, EGLint *minor)
{
    EGLBoolean good = REAL(eglInitialize)(display, major, minor);
    if (good && lacks("EGL_KHR_create_context"))
        *minor = 4;
    return good;
}

/* EGL's error after a call that fails: an attribute that no call knows. */
static EGLBoolean fail(EGLDisplay display)
{
    static const EGLint unknown[] = {EGL_NONE - 1, 0, EGL_NONE};
    EGLint count;
    REAL(eglChooseConfig)(display, unknown, NULL, 0, &count);
    return EGL_FALSE;
}

static bool names(const EGLint *list, EGLint name, EGLint value)
{
    for (; list && *list != EGL_NONE; list += 2)
        if (list[0] == name && (value < 0 || (list[1] & value)))
            return true;
    return false;
}

EGLBoolean eglChooseConfig(EGLDisplay display, const EGLint *list, EGLConfig *configs, EGLint size,
                           EGLint *count)
{
    if (lacks("EGL_KHR_create_context") && names(list, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT))
        return fail(display);
    return REAL(eglChooseConfig)(display, list, configs, size, count);
}

EGLContext eglCreateContext(EGLDisplay display, EGLConfig config, EGLContext shared,
                            const EGLint *list)
{
    bool old = lacks("EGL_KHR_create_context");
    if ((!config && lacks("EGL_KHR_no_config_context")) ||
        (old &&
         (names(list, EGL_CONTEXT_MINOR_VERSION, -1) || names(list, EGL_CONTEXT_FLAGS_KHR, -1))) ||
        (lacks("EGL_EXT_create_context_robustness") &&
         names(list, EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT, -1))) {
        fail(display);
        return EGL_NO_CONTEXT;
    }
    return REAL(eglCreateContext)(display, config, shared, list);
}

EGLBoolean eglMakeCurrent(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context)
{
    if (context && !(draw && read) && lacks("EGL_KHR_surfaceless_context"))
        return fail(display);
    return REAL(eglMakeCurrent)(display, draw, read, context);
}

static EGLDisplay EGLAPIENTRY no_display(EGLenum platform, void *native, const EGLint *list)
{
    (void)platform, (void)native, (void)list;
    return EGL_NO_DISPLAY;
}

static EGLDisplay EGLAPIENTRY display_of(EGLenum platform, void *native, const EGLint *list)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC real =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)REAL(eglGetProcAddress)("eglGetPlatformDisplayEXT");
    if (platform == EGL_PLATFORM_SURFACELESS_MESA && lacks("EGL_MESA_platform_surfaceless"))
        return EGL_NO_DISPLAY;
    if (platform == EGL_PLATFORM_DEVICE_EXT && lacks("EGL_EXT_platform_device"))
        return EGL_NO_DISPLAY;
    return real(platform, native, list);
}

static EGLBoolean EGLAPIENTRY no_devices(EGLint size, EGLDeviceEXT *devices, EGLint *count)
{
    (void)size, (void)devices;
    *count = 0;
    return EGL_FALSE;
}

static const char *EGLAPIENTRY no_string(EGLDeviceEXT device, EGLint name)
{
    (void)device, (void)name;
    return NULL;
}

any_function eglGetProcAddress(const char *name)
{
    static const struct {
        const char *name, *extension;
        any_function function;
    } rows[] = {
        {"eglGetPlatformDisplayEXT", "EGL_EXT_platform_base", (any_function)no_display},
        {"eglGetPlatformDisplayEXT", NULL, (any_function)display_of},
        {"eglQueryDevicesEXT", "EGL_EXT_device_base", (any_function)no_devices},
        {"eglQueryDeviceStringEXT", "EGL_EXT_device_base", (any_function)no_string},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0 && (!rows[i].extension || lacks(rows[i].extension)))
            return rows[i].function;
    return REAL(eglGetProcAddress)(name);
}

DIR *opendir(const char *path)
{
    const char *nodes = getenv("BLOB_NODES");
    return REAL(opendir)(nodes && strcmp(path, "/dev/dri") == 0 ? nodes : path);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (getenv("BLOB_NODES") && strncmp(path, "/dev/dri/", strlen("/dev/dri/")) == 0)
        path = "/dev/null";
    return REAL(open)(path, flags, mode);
}
