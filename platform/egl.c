/* Displays, contexts and devices of EGL; the rules are in egl.h.
 *
 * Everything but the default display goes through named platforms, so DISPLAY, WAYLAND_DISPLAY and
 * EGL_PLATFORM have no say. Under libglvnd eglGetProcAddress gives a stub for any name, so extension
 * strings are what is trusted.
 */
#define _POSIX_C_SOURCE 200809L

#include "platform/egl.h"

#include <GLES3/gl31.h>
#include <ctype.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define RESET_NOTIFICATION_STRATEGY 0x8256 /* of GL_KHR_robustness and GL_EXT_robustness */
#define LOSE_CONTEXT_ON_RESET       0x8252

typedef const GLubyte *(GL_APIENTRY *get_string)(GLenum name);
typedef void(GL_APIENTRY *get_integer)(GLenum name, GLint *value);

const char *egl_error(void)
{
    static const char *const names[] = {
        "EGL_SUCCESS",       "EGL_NOT_INITIALIZED",     "EGL_BAD_ACCESS",
        "EGL_BAD_ALLOC",     "EGL_BAD_ATTRIBUTE",       "EGL_BAD_CONFIG",
        "EGL_BAD_CONTEXT",   "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY",
        "EGL_BAD_MATCH",     "EGL_BAD_NATIVE_PIXMAP",   "EGL_BAD_NATIVE_WINDOW",
        "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",         "EGL_CONTEXT_LOST",
    };
    EGLint offset = eglGetError() - EGL_SUCCESS;
    if (offset < 0 || (size_t)offset >= sizeof names / sizeof names[0])
        return "an unknown EGL error";
    return names[offset];
}

bool egl_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at != NULL && (at = strstr(at, word)) != NULL; at += length) {
        bool starts = at == list || at[-1] == ' ';
        bool ends = at[length] == ' ' || at[length] == '\0';
        if (starts && ends)
            return true;
    }
    return false;
}

bool egl_client_has(const char *extension)
{
    return egl_list_has(eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS), extension);
}

struct egl_current egl_current_save(void)
{
    return (struct egl_current){
        .display = eglGetCurrentDisplay(),
        .draw = eglGetCurrentSurface(EGL_DRAW),
        .read = eglGetCurrentSurface(EGL_READ),
        .context = eglGetCurrentContext(),
    };
}

void egl_current_restore(const struct egl_current *saved)
{
    if (saved->context != EGL_NO_CONTEXT && saved->context != eglGetCurrentContext())
        eglMakeCurrent(saved->display, saved->draw, saved->read, saved->context);
}

/* OpenGL ES becomes the bound API; returns what was bound, for eglBindAPI. */
static EGLenum bind_es(void)
{
    EGLenum before = eglQueryAPI();
    eglBindAPI(EGL_OPENGL_ES_API);
    return before;
}

bool egl_is_current(const struct platform_context *context)
{
    EGLenum before = bind_es();
    bool current = eglGetCurrentContext() == context->context;
    eglBindAPI(before);
    return current;
}

bool egl_make_current(const struct platform_context *context)
{
    return eglMakeCurrent(context->display, context->draw, context->read, context->context) ==
           EGL_TRUE;
}

void egl_release_current(const struct platform_context *context)
{
    if (!egl_is_current(context))
        return;
    EGLenum before = bind_es();
    eglMakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglBindAPI(before);
}

EGLDisplay egl_display(EGLenum platform, void *native, char reason[PLATFORM_TEXT])
{
    EGLDisplay display = EGL_NO_DISPLAY;
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (get != NULL && egl_client_has("EGL_EXT_platform_base"))
        display = get(platform, native, NULL);
    if (display == EGL_NO_DISPLAY)
        snprintf(reason, PLATFORM_TEXT, "eglGetPlatformDisplayEXT: %s", egl_error());
    return display;
}

/* ---- Displays that others could hold too ---- */

/* Those that were initialised here. */
#define DISPLAYS_MOST 32
static struct {
    EGLDisplay display;
    long users; /* contexts that are open on it */
} displays[DISPLAYS_MOST];
static size_t display_count;
static pid_t display_process; /* a process forked from it has none of the driver's threads */
static pthread_mutex_t displays_lock = PTHREAD_MUTEX_INITIALIZER;

/* Displays need no end when the process has one, and a driver that is unloaded then leaves behind what
 * it never frees, which checkers of leaks report. exit calls what atexit has registered before it calls
 * destructors; dlclose calls destructors first. */
static bool process_ends;

static void note_end(void)
{
    process_ends = true;
}

/* The driver's threads go with the library. */
__attribute__((destructor)) static void terminate_displays(void)
{
    if (process_ends || getpid() != display_process)
        return;
    pthread_mutex_lock(&displays_lock);
    for (size_t i = 0; i < display_count; i++)
        if (displays[i].users == 0)
            eglTerminate(displays[i].display);
    display_count = 0;
    pthread_mutex_unlock(&displays_lock);
}

static size_t find_display(EGLDisplay display)
{
    size_t i = 0;
    while (i < display_count && displays[i].display != display)
        i++;
    return i;
}

static void add_display(EGLDisplay display)
{
    if (display_count == DISPLAYS_MOST || (display_process == 0 && atexit(note_end) != 0))
        return;
    display_process = getpid();
    displays[display_count].users = 0;
    displays[display_count++].display = display;
}

static void count_user(struct platform_context *context, EGLDisplay display, bool is_new)
{
    size_t i = find_display(display);
    if (i == display_count && is_new)
        add_display(display);
    context->uses_display = i < display_count;
    if (context->uses_display)
        displays[i].users++;
}

/* eglInitialize. Whether somebody has done so before is known only by the version. */
static bool begin_display(struct platform_context *context, EGLint *major, EGLint *minor)
{
    EGLDisplay display = context->display;
    pthread_mutex_lock(&displays_lock);
    bool is_new = eglQueryString(display, EGL_VERSION) == NULL;
    bool good = eglInitialize(display, major, minor) == EGL_TRUE;
    if (good && !context->private_display)
        count_user(context, display, is_new);
    pthread_mutex_unlock(&displays_lock);
    return good;
}

static void end_display(struct platform_context *context)
{
    if (context->private_display && context->display != EGL_NO_DISPLAY)
        eglTerminate(context->display);
    if (!context->uses_display)
        return;
    pthread_mutex_lock(&displays_lock);
    displays[find_display(context->display)].users--;
    pthread_mutex_unlock(&displays_lock);
    context->uses_display = false;
}

/* ---- Contexts ---- */

/* What a display can do, as far as making a context depends on it. */
struct display_traits {
    bool flags;       /* minor version and debug flag may be asked for */
    bool robust;      /* so may robust access and reset notification */
    bool configless;  /* a context needs no config */
    bool surfaceless; /* nor, to be current, a surface */
    EGLConfig config; /* EGL_NO_CONFIG_KHR where neither is needed */
};

static bool initialise(struct platform_context *context, struct display_traits *traits,
                       char *reason)
{
    EGLint major = 0, minor = 0;
    if (!begin_display(context, &major, &minor)) {
        snprintf(reason, PLATFORM_TEXT, "eglInitialize: %s", egl_error());
        return false;
    }
    const char *extensions = eglQueryString(context->display, EGL_EXTENSIONS);
    traits->flags = major > 1 || minor >= 5 || egl_list_has(extensions, "EGL_KHR_create_context");
    traits->robust = egl_list_has(extensions, "EGL_EXT_create_context_robustness");
    traits->configless = egl_list_has(extensions, "EGL_KHR_no_config_context");
    traits->surfaceless = egl_list_has(extensions, "EGL_KHR_surfaceless_context");
    return true;
}

/* A config where the context or its surface needs one. EGL 1.4 names no bit of OpenGL ES 3: a config
 * of OpenGL ES 2 may be of a later one, too. */
static bool choose_config(const struct platform_context *context, struct display_traits *traits,
                          char *reason)
{
    const EGLint list[] = {EGL_RENDERABLE_TYPE,
                           traits->flags ? EGL_OPENGL_ES3_BIT_KHR : EGL_OPENGL_ES2_BIT,
                           EGL_SURFACE_TYPE, traits->surfaceless ? 0 : EGL_PBUFFER_BIT, EGL_NONE};
    EGLint count = 0;
    traits->config = EGL_NO_CONFIG_KHR;
    if (traits->configless && traits->surfaceless)
        return true;
    if (eglChooseConfig(context->display, list, &traits->config, 1, &count) && count == 1)
        return true;
    snprintf(reason, PLATFORM_TEXT, "EGL of %.64s has no %s, and no config of OpenGL ES%s: %s",
             eglQueryString(context->display, EGL_VENDOR),
             traits->surfaceless ? "EGL_KHR_no_config_context" : "EGL_KHR_surfaceless_context",
             traits->surfaceless ? "" : " with pbuffers", egl_error());
    return false;
}

/* What the context is current with: nothing, or a surface of one pixel that is never drawn to. */
static bool create_surface(struct platform_context *context, const struct display_traits *traits,
                           char *reason)
{
    static const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    if (traits->surfaceless)
        return true;
    context->draw = context->read = eglCreatePbufferSurface(context->display, traits->config, size);
    if (context->draw == EGL_NO_SURFACE)
        snprintf(reason, PLATFORM_TEXT, "eglCreatePbufferSurface: %s", egl_error());
    return context->draw != EGL_NO_SURFACE;
}

struct context_wish {
    EGLint major, minor;
    bool robust, debug;
};

static EGLContext create(EGLDisplay display, const struct display_traits *traits,
                         const struct context_wish *wish)
{
    EGLint list[16];
    size_t n = 0;
    list[n++] = EGL_CONTEXT_MAJOR_VERSION_KHR;
    list[n++] = wish->major;
    if (traits->flags) {
        list[n++] = EGL_CONTEXT_MINOR_VERSION_KHR;
        list[n++] = wish->minor;
    }
    if (wish->robust) {
        list[n++] = EGL_CONTEXT_OPENGL_ROBUST_ACCESS_EXT;
        list[n++] = EGL_TRUE;
        list[n++] = EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT;
        list[n++] = EGL_LOSE_CONTEXT_ON_RESET_EXT;
    }
    if (wish->debug) {
        list[n++] = EGL_CONTEXT_FLAGS_KHR;
        list[n++] = EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR;
    }
    list[n] = EGL_NONE;
    return eglCreateContext(display, traits->config, EGL_NO_CONTEXT, list);
}

/* Asks for everything wanted, then for less: a driver may name an extension and refuse it still. */
static bool create_best(struct platform_context *context, const struct display_traits *traits,
                        bool debug)
{
    static const struct {
        bool robust, debug;
    } attempts[] = {{true, true}, {false, true}, {true, false}, {false, false}};
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        if ((attempts[i].robust && !traits->robust) ||
            (attempts[i].debug && !(debug && traits->flags)))
            continue;
        struct context_wish wish = {3, 1, attempts[i].robust, attempts[i].debug};
        context->context = create(context->display, traits, &wish);
        context->robust = wish.robust;
        if (context->context != EGL_NO_CONTEXT)
            return true;
    }
    return false;
}

static const char *gl_text(GLenum name)
{
    get_string get = (get_string)eglGetProcAddress("glGetString");
    const char *text = get != NULL ? (const char *)get(name) : NULL;
    return text != NULL ? text : "";
}

bool egl_context_is_robust(void)
{
    const char *extensions = gl_text(GL_EXTENSIONS);
    get_integer get = (get_integer)eglGetProcAddress("glGetIntegerv");
    GLint strategy = 0;
    if (get != NULL && (egl_list_has(extensions, "GL_KHR_robustness") ||
                        egl_list_has(extensions, "GL_EXT_robustness")))
        get(RESET_NOTIFICATION_STRATEGY, &strategy);
    return strategy == LOSE_CONTEXT_ON_RESET;
}

static bool is_software(const char *renderer)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "swiftshader",
                                        "software rasterizer"};
    char lower[PLATFORM_TEXT];
    size_t n = 0;
    for (; renderer[n] != '\0' && n + 1 < sizeof lower; n++)
        lower[n] = (char)tolower((unsigned char)renderer[n]);
    lower[n] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strstr(lower, names[i]) != NULL)
            return true;
    }
    return false;
}

bool egl_inspect(struct platform_context *context, char reason[PLATFORM_TEXT])
{
    const char *version = gl_text(GL_VERSION);
    int major = 0, minor = 0;
    if (sscanf(version, "OpenGL ES %d.%d", &major, &minor) != 2 || major < 3 ||
        (major == 3 && minor < 1)) {
        snprintf(reason, PLATFORM_TEXT, "found \"%s\", need OpenGL ES 3.1", version);
        return false;
    }
    snprintf(context->chosen.detail, PLATFORM_TEXT, "%s", gl_text(GL_RENDERER));
    if (context->chosen.detail[0] == '\0') {
        snprintf(reason, PLATFORM_TEXT, "%s, but the driver does not name its renderer", version);
        return false;
    }
    context->chosen.software = is_software(context->chosen.detail);
    return true;
}

/* A driver below ES 3.1 refuses the context; a lesser one tells which version it has. */
static void explain_refusal(struct platform_context *context, const struct display_traits *traits,
                            char *reason)
{
    static const struct context_wish lesser[] = {{3, 0, false, false}, {2, 0, false, false}};
    snprintf(reason, PLATFORM_TEXT, "eglCreateContext for OpenGL ES 3.1: %s", egl_error());
    for (size_t i = 0; i < sizeof lesser / sizeof lesser[0]; i++) {
        context->context = create(context->display, traits, &lesser[i]);
        if (context->context == EGL_NO_CONTEXT)
            continue;
        if (egl_make_current(context))
            egl_inspect(context, reason);
        return;
    }
}

static bool open_initialised(struct platform_context *context, bool debug, char *reason)
{
    struct display_traits traits = {.flags = false};
    if (!initialise(context, &traits, reason) || !choose_config(context, &traits, reason) ||
        !create_surface(context, &traits, reason))
        return false;
    if (!create_best(context, &traits, debug)) {
        explain_refusal(context, &traits, reason);
        return false;
    }
    if (!egl_make_current(context)) {
        snprintf(reason, PLATFORM_TEXT, "eglMakeCurrent with%s: %s",
                 traits.surfaceless ? "out a surface" : " a pbuffer", egl_error());
        return false;
    }
    return egl_inspect(context, reason);
}

bool egl_open(struct platform_context *context, const struct platform_request *request,
              char reason[PLATFORM_TEXT])
{
    EGLenum before = bind_es();
    context->context = EGL_NO_CONTEXT;
    context->draw = context->read = EGL_NO_SURFACE;
    bool good = open_initialised(context, request->debug, reason);
    if (!good)
        egl_close(context);
    eglBindAPI(before);
    return good;
}

void egl_close(struct platform_context *context)
{
    if (context->borrowed)
        return;
    if (context->context != EGL_NO_CONTEXT) {
        egl_release_current(context);
        eglDestroyContext(context->display, context->context);
    }
    if (context->draw != EGL_NO_SURFACE)
        eglDestroySurface(context->display, context->draw);
    end_display(context);
    if (context->provider->release != NULL)
        context->provider->release(context);
    context->draw = context->read = EGL_NO_SURFACE;
    context->context = EGL_NO_CONTEXT;
    context->display = EGL_NO_DISPLAY;
}

static PFNEGLQUERYDEVICESTRINGEXTPROC device_query(void)
{
    if (!egl_client_has("EGL_EXT_device_query") && !egl_client_has("EGL_EXT_device_base"))
        return NULL;
    return (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT");
}

size_t egl_devices(EGLDeviceEXT *devices, size_t capacity)
{
    bool enumerates =
        egl_client_has("EGL_EXT_device_enumeration") || egl_client_has("EGL_EXT_device_base");
    if (!enumerates || !egl_client_has("EGL_EXT_platform_device") || device_query() == NULL)
        return 0;
    PFNEGLQUERYDEVICESEXTPROC query =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    EGLint count = 0;
    if (query == NULL || !query((EGLint)capacity, devices, &count) || count < 0)
        return 0;
    return (size_t)count < capacity ? (size_t)count : capacity;
}

bool egl_device_has(EGLDeviceEXT device, const char *extension)
{
    PFNEGLQUERYDEVICESTRINGEXTPROC query = device_query();
    return query != NULL && egl_list_has(query(device, EGL_EXTENSIONS), extension);
}

const char *egl_device_string(EGLDeviceEXT device, const char *extension, EGLint name)
{
    if (!egl_device_has(device, extension))
        return "";
    const char *text = device_query()(device, name);
    return text != NULL ? text : "";
}

/* ---- Fences ---- */

struct fence_entries {
    PFNEGLCREATESYNCKHRPROC create;
    PFNEGLDESTROYSYNCKHRPROC destroy;
    PFNEGLDUPNATIVEFENCEFDANDROIDPROC duplicate;
    PFNEGLWAITSYNCKHRPROC wait; /* NULL without EGL_KHR_wait_sync */
};

/* False without EGL_ANDROID_native_fence_sync. */
static bool find_fences(const struct platform_context *context, struct fence_entries *e)
{
    const char *extensions = eglQueryString(context->display, EGL_EXTENSIONS);
    bool waits = egl_list_has(extensions, "EGL_KHR_wait_sync");
    e->create = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
    e->destroy = (PFNEGLDESTROYSYNCKHRPROC)eglGetProcAddress("eglDestroySyncKHR");
    e->duplicate =
        (PFNEGLDUPNATIVEFENCEFDANDROIDPROC)eglGetProcAddress("eglDupNativeFenceFDANDROID");
    e->wait = waits ? (PFNEGLWAITSYNCKHRPROC)eglGetProcAddress("eglWaitSyncKHR") : NULL;
    return egl_list_has(extensions, "EGL_ANDROID_native_fence_sync") && e->create && e->destroy &&
           e->duplicate;
}

/* Only the flush behind a fence gives it a descriptor. */
static int descriptor_of(const struct platform_context *context, const struct fence_entries *e,
                         EGLSyncKHR sync)
{
    PFNGLFLUSHPROC flush = (PFNGLFLUSHPROC)platform_symbol(context, "glFlush");
    flush();
    return e->duplicate(context->display, sync);
}

int platform_fence_descriptor(const platform_context *context, char reason[PLATFORM_TEXT])
{
    struct fence_entries e;
    snprintf(reason, PLATFORM_TEXT, "the driver has no EGL_ANDROID_native_fence_sync");
    if (!find_fences(context, &e))
        return -1;
    EGLSyncKHR sync = e.create(context->display, EGL_SYNC_NATIVE_FENCE_ANDROID, NULL);
    int descriptor = sync == EGL_NO_SYNC_KHR ? -1 : descriptor_of(context, &e, sync);
    if (descriptor < 0)
        snprintf(reason, PLATFORM_TEXT, "the driver made no fence: %s", egl_error());
    if (sync != EGL_NO_SYNC_KHR)
        e.destroy(context->display, sync);
    return descriptor;
}

/* Given something else, some drivers wait for it without an end. */
static bool is_sync_file(int descriptor)
{
    struct sync_file_info info = {.num_fences = 0};
    return ioctl(descriptor, SYNC_IOC_FILE_INFO, &info) == 0;
}

/* EGL takes the descriptor over that it is given, if it makes a fence of it. */
bool platform_await_fence(const platform_context *context, int descriptor)
{
    struct fence_entries e;
    if (!find_fences(context, &e) || !e.wait || !is_sync_file(descriptor))
        return false;
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return false;
    const EGLint list[] = {EGL_SYNC_NATIVE_FENCE_FD_ANDROID, copy, EGL_NONE};
    EGLSyncKHR sync = e.create(context->display, EGL_SYNC_NATIVE_FENCE_ANDROID, list);
    if (sync == EGL_NO_SYNC_KHR) {
        close(copy);
        return false;
    }
    bool waits = e.wait(context->display, sync, 0) == EGL_TRUE;
    e.destroy(context->display, sync);
    return waits;
}
