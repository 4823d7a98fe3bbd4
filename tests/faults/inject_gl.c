/* EGL, and the entry points of OpenGL ES that eglGetProcAddress hands out. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <string.h>

#include "device/gl.h"
#include "tests/faults/wraps.h"

static struct gl real;
static GLenum pending; /* what glGetError says next */
static bool lost;
static bool reset, hangs, hides_resets;

void fault_new_context(void)
{
    lost = reset = hangs = false;
    pending = GL_NO_ERROR;
    fault_mend();
}

void fault_hide_resets(bool hide)
{
    hides_resets = hide;
}

static bool gl_fails(void)
{
    if (lost || fault_hits(FAULT_LOST)) {
        lost = true;
        return true;
    }
    if (!fault_hits(FAULT_GL))
        return false;
    pending = GL_OUT_OF_MEMORY;
    return true;
}

/* ---- Entry points that do nothing where they fail ---- */

/* name, parameters, arguments */
#define PLAIN_CALLS(X)                                                                             \
    X(ActiveTexture, (GLenum a), (a))                                                              \
    X(AttachShader, (GLuint a, GLuint b), (a, b))                                                  \
    X(BindBuffer, (GLenum a, GLuint b), (a, b))                                                    \
    X(BindBufferBase, (GLenum a, GLuint b, GLuint c), (a, b, c))                                   \
    X(BindBufferRange, (GLenum a, GLuint b, GLuint c, GLintptr d, GLsizeiptr e), (a, b, c, d, e))  \
    X(BindImageTexture, (GLuint a, GLuint b, GLint c, GLboolean d, GLint e, GLenum f, GLenum g),   \
      (a, b, c, d, e, f, g))                                                                       \
    X(BindTexture, (GLenum a, GLuint b), (a, b))                                                   \
    X(BufferData, (GLenum a, GLsizeiptr b, const void *c, GLenum d), (a, b, c, d))                 \
    X(BufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, const void *d), (a, b, c, d))            \
    X(BufferStorageEXT, (GLenum a, GLsizeiptr b, const void *c, GLbitfield d), (a, b, c, d))       \
    X(CompileShader, (GLuint a), (a))                                                              \
    X(Flush, (void), ())                                                                           \
    X(GetIntegeri_v, (GLenum a, GLuint b, GLint * c), (a, b, c))                                   \
    X(GetInteger64v, (GLenum a, GLint64 * b), (a, b))                                              \
    X(GetIntegerv, (GLenum a, GLint * b), (a, b))                                                  \
    X(GetProgramInfoLog, (GLuint a, GLsizei b, GLsizei * c, GLchar * d), (a, b, c, d))             \
    X(GetProgramiv, (GLuint a, GLenum b, GLint * c), (a, b, c))                                    \
    X(GetProgramBinary, (GLuint a, GLsizei b, GLsizei * c, GLenum * d, void *e), (a, b, c, d, e))  \
    X(GetShaderInfoLog, (GLuint a, GLsizei b, GLsizei * c, GLchar * d), (a, b, c, d))              \
    X(GetShaderiv, (GLuint a, GLenum b, GLint * c), (a, b, c))                                     \
    X(LinkProgram, (GLuint a), (a))                                                                \
    X(MemoryBarrier, (GLbitfield a), (a))                                                          \
    X(PixelStorei, (GLenum a, GLint b), (a, b))                                                    \
    X(ProgramBinary, (GLuint a, GLenum b, const void *c, GLsizei d), (a, b, c, d))                 \
    X(ProgramParameteri, (GLuint a, GLenum b, GLint c), (a, b, c))                                 \
    X(ShaderSource, (GLuint a, GLsizei b, const GLchar *const *c, const GLint *d), (a, b, c, d))   \
    X(TexParameteri, (GLenum a, GLenum b, GLint c), (a, b, c))                                     \
    X(TexStorage3D, (GLenum a, GLsizei b, GLenum c, GLsizei d, GLsizei e, GLsizei f),              \
      (a, b, c, d, e, f))                                                                          \
    X(TexSubImage3D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, const void *k),                                                                   \
      (a, b, c, d, e, f, g, h, i, j, k))                                                           \
    X(Uniform1i, (GLint a, GLint b), (a, b))                                                       \
    X(Uniform3i, (GLint a, GLint b, GLint c, GLint d), (a, b, c, d))                               \
    X(UseProgram, (GLuint a), (a))                                                                 \
    X(ObjectLabelKHR, (GLenum a, GLuint b, GLsizei c, const GLchar *d), (a, b, c, d))              \
    X(PushDebugGroupKHR, (GLenum a, GLuint b, GLsizei c, const GLchar *d), (a, b, c, d))

/* type, name, parameters, arguments, value of a call that fails */
#define VALUE_CALLS(X)                                                                             \
    X(const GLubyte *, GetString, (GLenum a), (a), NULL)                                           \
    X(const GLubyte *, GetStringi, (GLenum a, GLuint b), (a, b), NULL)                             \
    X(void *, MapBufferRange, (GLenum a, GLintptr b, GLsizeiptr c, GLbitfield d), (a, b, c, d),    \
      NULL)

/* Those that make one object. */
#define MAKING_CALLS(X)                                                                            \
    X(GLuint, CreateProgram, (void), (), 0)                                                        \
    X(GLuint, CreateShader, (GLenum a), (a), 0)                                                    \
    X(GLsync, FenceSync, (GLenum a, GLbitfield b), (a, b), NULL)

#define DEFINE(name, parameters, arguments)                                                        \
    static void GL_APIENTRY call_##name parameters                                                 \
    {                                                                                              \
        if (!gl_fails())                                                                           \
            real.name arguments;                                                                   \
    }
PLAIN_CALLS(DEFINE)
#undef DEFINE

#define DEFINE(type, name, parameters, arguments, failure)                                         \
    static type GL_APIENTRY call_##name parameters                                                 \
    {                                                                                              \
        return gl_fails() ? failure : real.name arguments;                                         \
    }
VALUE_CALLS(DEFINE)
#undef DEFINE

#define DEFINE(type, name, parameters, arguments, failure)                                         \
    static type GL_APIENTRY call_##name parameters                                                 \
    {                                                                                              \
        type made = gl_fails() ? failure : real.name arguments;                                    \
        fault_count()->gl_objects += made != failure;                                              \
        return made;                                                                               \
    }
MAKING_CALLS(DEFINE)
#undef DEFINE

/* ---- The others ---- */

static void GL_APIENTRY call_DispatchCompute(GLuint x, GLuint y, GLuint z)
{
    if (gl_fails())
        return;
    reset |= fault_hits(FAULT_RESET);
    reset |= fault_hits(FAULT_UNTOLD);
    if (!reset)
        real.DispatchCompute(x, y, z);
}

static GLenum GL_APIENTRY call_ClientWaitSync(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    if (gl_fails())
        return GL_WAIT_FAILED;
    hangs |= fault_hits(FAULT_HANG);
    if (!hangs)
        return real.ClientWaitSync(fence, flags, timeout);
    fault_pass_time(timeout);
    return GL_TIMEOUT_EXPIRED;
}

static void count_names(GLsizei n, const GLuint *names, int sign)
{
    for (GLsizei i = 0; i < n; i++)
        fault_count()->gl_objects += names[i] ? sign : 0;
}

static void GL_APIENTRY call_GenBuffers(GLsizei n, GLuint *names)
{
    if (gl_fails())
        return;
    real.GenBuffers(n, names);
    count_names(n, names, 1);
}

static void GL_APIENTRY call_GenTextures(GLsizei n, GLuint *names)
{
    if (gl_fails())
        return;
    real.GenTextures(n, names);
    count_names(n, names, 1);
}

/* Giving back never fails. */
static void GL_APIENTRY call_PopDebugGroupKHR(void)
{
    real.PopDebugGroupKHR();
}

static void GL_APIENTRY call_DeleteBuffers(GLsizei n, const GLuint *names)
{
    count_names(n, names, -1);
    real.DeleteBuffers(n, names);
}

static void GL_APIENTRY call_DeleteTextures(GLsizei n, const GLuint *names)
{
    count_names(n, names, -1);
    real.DeleteTextures(n, names);
}

static void GL_APIENTRY call_DeleteProgram(GLuint name)
{
    count_names(1, &name, -1);
    real.DeleteProgram(name);
}

static void GL_APIENTRY call_DeleteShader(GLuint name)
{
    count_names(1, &name, -1);
    real.DeleteShader(name);
}

static void GL_APIENTRY call_DeleteSync(GLsync sync)
{
    fault_count()->gl_objects -= sync != NULL;
    real.DeleteSync(sync);
}

/* What was mapped is unmapped in any case; its contents are lost where that fails. */
static GLboolean GL_APIENTRY call_UnmapBuffer(GLenum target)
{
    bool fails = gl_fails();
    return real.UnmapBuffer(target) && !fails;
}

static GLenum GL_APIENTRY call_GetError(void)
{
    GLenum code = lost ? GL_CONTEXT_LOST_KHR : pending;
    pending = GL_NO_ERROR;
    return code ? code : real.GetError();
}

static GLenum GL_APIENTRY call_GetGraphicsResetStatusKHR(void)
{
    return lost || reset ? GL_UNKNOWN_CONTEXT_RESET_KHR : real.GetGraphicsResetStatusKHR();
}

static GLenum GL_APIENTRY call_GetGraphicsResetStatusEXT(void)
{
    return lost || reset ? GL_UNKNOWN_CONTEXT_RESET_EXT : real.GetGraphicsResetStatusEXT();
}

/* ---- EGL ---- */

#define OTHER_CALLS(X)                                                                             \
    X(DispatchCompute, , )                                                                         \
    X(ClientWaitSync, , )                                                                          \
    X(GenBuffers, , )                                                                              \
    X(GenTextures, , )                                                                             \
    X(DeleteBuffers, , )                                                                           \
    X(DeleteTextures, , )                                                                          \
    X(DeleteProgram, , )                                                                           \
    X(DeleteShader, , )                                                                            \
    X(DeleteSync, , )                                                                              \
    X(PopDebugGroupKHR, , )                                                                        \
    X(UnmapBuffer, , )                                                                             \
    X(GetError, , )                                                                                \
    X(GetGraphicsResetStatusKHR, , )                                                               \
    X(GetGraphicsResetStatusEXT, , )

/* type, name, parameters, arguments, value of a call that fails */
#define EGL_CALLS(X)                                                                               \
    X(EGLBoolean, eglInitialize, (EGLDisplay a, EGLint * b, EGLint * c), (a, b, c), EGL_FALSE)     \
    X(EGLBoolean, eglBindAPI, (EGLenum a), (a), EGL_FALSE)                                         \
    X(const char *, eglQueryString, (EGLDisplay a, EGLint b), (a, b), NULL)                        \
    X(EGLDisplay, eglGetDisplay, (EGLNativeDisplayType a), (a), EGL_NO_DISPLAY)                    \
    X(EGLBoolean, eglChooseConfig,                                                                 \
      (EGLDisplay a, const EGLint *b, EGLConfig *c, EGLint d, EGLint *e), (a, b, c, d, e),         \
      EGL_FALSE)                                                                                   \
    X(EGLSurface, eglCreatePbufferSurface, (EGLDisplay a, EGLConfig b, const EGLint *c),           \
      (a, b, c), EGL_NO_SURFACE)

static bool egl_fails;

#define DEFINE(type, name, parameters, arguments, failure)                                         \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        egl_fails = fault_hits(FAULT_EGL);                                                         \
        return egl_fails ? failure : __real_##name arguments;                                      \
    }
EGL_CALLS(DEFINE)
#undef DEFINE

static bool unreachable; /* the context could not be made current */

EGLBoolean __real_eglMakeCurrent(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
EGLBoolean __wrap_eglMakeCurrent(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
EGLBoolean __wrap_eglMakeCurrent(EGLDisplay display, EGLSurface draw, EGLSurface read,
                                 EGLContext context)
{
    egl_fails = fault_hits(FAULT_EGL);
    unreachable |= egl_fails && context != EGL_NO_CONTEXT;
    return !egl_fails && __real_eglMakeCurrent(display, draw, read, context);
}

EGLint __real_eglGetError(void);
EGLint __wrap_eglGetError(void);
EGLint __wrap_eglGetError(void)
{
    EGLint code = __real_eglGetError();
    return egl_fails ? EGL_BAD_ALLOC : code;
}

EGLContext __real_eglCreateContext(EGLDisplay, EGLConfig, EGLContext, const EGLint *);
EGLContext __wrap_eglCreateContext(EGLDisplay, EGLConfig, EGLContext, const EGLint *);
EGLContext __wrap_eglCreateContext(EGLDisplay display, EGLConfig config, EGLContext share,
                                   const EGLint *attributes)
{
    egl_fails = fault_hits(FAULT_EGL);
    EGLContext made =
        egl_fails ? EGL_NO_CONTEXT : __real_eglCreateContext(display, config, share, attributes);
    fault_count()->contexts += made != EGL_NO_CONTEXT;
    return made;
}

EGLBoolean __real_eglDestroyContext(EGLDisplay, EGLContext);
EGLBoolean __wrap_eglDestroyContext(EGLDisplay, EGLContext);
EGLBoolean __wrap_eglDestroyContext(EGLDisplay display, EGLContext context)
{
    fault_count()->contexts--;
    if (unreachable) /* its objects go with it */
        fault_count()->gl_objects = 0;
    unreachable = false;
    return __real_eglDestroyContext(display, context);
}

static PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display;
static PFNEGLQUERYDEVICESEXTPROC query_devices;
static PFNEGLQUERYDEVICESTRINGEXTPROC query_string;

static EGLDisplay EGLAPIENTRY call_platform_display(EGLenum platform, void *native,
                                                    const EGLint *attributes)
{
    egl_fails = fault_hits(FAULT_EGL);
    return egl_fails ? EGL_NO_DISPLAY : platform_display(platform, native, attributes);
}

static EGLBoolean EGLAPIENTRY call_query_devices(EGLint most, EGLDeviceEXT *devices, EGLint *count)
{
    egl_fails = fault_hits(FAULT_EGL);
    return egl_fails ? EGL_FALSE : query_devices(most, devices, count);
}

static const char *EGLAPIENTRY call_query_string(EGLDeviceEXT device, EGLint name)
{
    egl_fails = fault_hits(FAULT_EGL);
    return egl_fails ? NULL : query_string(device, name);
}

/* ---- What the library is handed ---- */

typedef __eglMustCastToProperFunctionPointerType function;

static const struct {
    const char *name;
    function call;
    function *real;
} handed[] = {
#define ROW(name, ...) {"gl" #name, (function)call_##name, (function *)(void *)&real.name},
    PLAIN_CALLS(ROW) OTHER_CALLS(ROW)
#undef ROW
#define ROW(type, name, ...) {"gl" #name, (function)call_##name, (function *)(void *)&real.name},
        VALUE_CALLS(ROW) MAKING_CALLS(ROW)
#undef ROW
            {"eglGetPlatformDisplayEXT", (function)call_platform_display,
             (function *)(void *)&platform_display},
    {"eglQueryDevicesEXT", (function)call_query_devices, (function *)(void *)&query_devices},
    {"eglQueryDeviceStringEXT", (function)call_query_string, (function *)(void *)&query_string},
};

function __real_eglGetProcAddress(const char *);
function __wrap_eglGetProcAddress(const char *);
function __wrap_eglGetProcAddress(const char *name)
{
    function found = fault_hits(FAULT_SYMBOL) ? NULL : __real_eglGetProcAddress(name);
    if (hides_resets && strncmp(name, "glGetGraphicsResetStatus", 24) == 0)
        return NULL;
    for (size_t i = 0; found && i < sizeof handed / sizeof *handed; i++)
        if (strcmp(handed[i].name, name) == 0) {
            *handed[i].real = found;
            return handed[i].call;
        }
    return found;
}
