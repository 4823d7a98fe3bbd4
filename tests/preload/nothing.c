/* A driver of OpenGL ES 3.1 that does nothing, in place of EGL's library: what a program takes with it
 * is the program's own. To be preloaded. Buffers are mapped by all into one memory, and every number
 * that is read is 0.
 *
 *   NOTHING_NOTE=FILE   at the end, the most memory that the process had, less what mapped buffers took
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define MAPPED ((size_t)1 << 28)

static void *mapped; /* never touched by the driver */
static int display, context;
static EGLContext current;

/* ---- GL ---- */

static const GLubyte *get_string(GLenum name)
{
    return (const GLubyte *)(name == GL_VENDOR                     ? "Nobody"
                             : name == GL_RENDERER                 ? "Mali-G52 that does nothing"
                             : name == GL_VERSION                  ? "OpenGL ES 3.1 nothing"
                             : name == GL_SHADING_LANGUAGE_VERSION ? "OpenGL ES GLSL ES 3.10"
                                                                   : "");
}

static void get_integer(GLenum name, GLint *value)
{
    switch (name) {
    case GL_MAJOR_VERSION:
        *value = 3;
        break;
    case GL_MINOR_VERSION:
        *value = 1;
        break;
    case GL_NUM_EXTENSIONS:
    case GL_NUM_PROGRAM_BINARY_FORMATS:
        *value = 0;
        break;
    case GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS:
        *value = 128;
        break;
    case GL_MAX_COMPUTE_SHARED_MEMORY_SIZE:
    case GL_MAX_UNIFORM_BLOCK_SIZE:
        *value = 16384;
        break;
    case GL_MAX_TEXTURE_SIZE:
    case GL_MAX_3D_TEXTURE_SIZE:
        *value = 4096;
        break;
    case GL_MAX_ARRAY_TEXTURE_LAYERS:
        *value = 2048;
        break;
    case GL_MAX_SHADER_STORAGE_BLOCK_SIZE:
        *value = 1 << 27;
        break;
    case GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT:
    case GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT:
        *value = 256;
        break;
    default:
        *value = 16;
    }
}

static void get_integer64(GLenum name, GLint64 *value)
{
    GLint small = 0;
    get_integer(name, &small);
    *value = small;
}

static void get_indexed(GLenum name, GLuint index, GLint *value)
{
    *value = name == GL_MAX_COMPUTE_WORK_GROUP_COUNT ? 65535 : index == 2 ? 64 : 128;
}

static void make_names(GLsizei count, GLuint *names)
{
    static GLuint last;
    for (GLsizei i = 0; i < count; i++)
        names[i] = ++last;
}

static GLuint make_program(void)
{
    GLuint name;
    make_names(1, &name);
    return name;
}

static GLuint make_shader(GLenum type)
{
    (void)type;
    return make_program();
}

static void is_good(GLuint name, GLenum what, GLint *value)
{
    (void)name;
    *value = what != GL_INFO_LOG_LENGTH && what != GL_PROGRAM_BINARY_LENGTH;
}

static GLsync fence(GLenum condition, GLbitfield flags)
{
    (void)condition, (void)flags;
    return (GLsync)(void *)&context;
}

static GLenum is_done(GLsync sync, GLbitfield flags, GLuint64 wait)
{
    (void)sync, (void)flags, (void)wait;
    return GL_ALREADY_SIGNALED;
}

static void *map(GLenum target, GLintptr offset, GLsizeiptr size, GLbitfield access)
{
    (void)target, (void)offset, (void)access;
    return (size_t)size <= MAPPED ? mapped : NULL;
}

static GLboolean unmap(GLenum target)
{
    (void)target;
    madvise(mapped, MAPPED, MADV_DONTNEED);
    return GL_TRUE;
}

/* Takes the arguments of any function, and has 0 for all. */
static uintptr_t nothing(void)
{
    return 0;
}

static const struct {
    const char *name;
    void (*function)(void);
} functions[] = {{"glGetString", (void (*)(void))get_string},
                 {"glGetIntegerv", (void (*)(void))get_integer},
                 {"glGetInteger64v", (void (*)(void))get_integer64},
                 {"glGetIntegeri_v", (void (*)(void))get_indexed},
                 {"glGenBuffers", (void (*)(void))make_names},
                 {"glGenTextures", (void (*)(void))make_names},
                 {"glCreateProgram", (void (*)(void))make_program},
                 {"glCreateShader", (void (*)(void))make_shader},
                 {"glGetProgramiv", (void (*)(void))is_good},
                 {"glGetShaderiv", (void (*)(void))is_good},
                 {"glFenceSync", (void (*)(void))fence},
                 {"glClientWaitSync", (void (*)(void))is_done},
                 {"glMapBufferRange", (void (*)(void))map},
                 {"glUnmapBuffer", (void (*)(void))unmap}};

/* ---- EGL ---- */

EXPORT EGLDisplay eglGetPlatformDisplayEXT(EGLenum platform, void *native, const EGLint *attributes)
{
    (void)platform, (void)native, (void)attributes;
    return &display;
}

EXPORT __eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    if (strcmp(name, "eglGetPlatformDisplayEXT") == 0)
        return (void (*)(void))eglGetPlatformDisplayEXT;
    return strncmp(name, "gl", 2) == 0 ? (void (*)(void))nothing : NULL;
}

EXPORT const char *eglQueryString(EGLDisplay of, EGLint name)
{
    if (name != EGL_EXTENSIONS)
        return "1.5 nothing";
    return of ? "EGL_KHR_create_context EGL_KHR_surfaceless_context EGL_KHR_no_config_context"
              : "EGL_EXT_client_extensions EGL_EXT_platform_base EGL_MESA_platform_surfaceless";
}

EXPORT EGLBoolean eglInitialize(EGLDisplay of, EGLint *major, EGLint *minor)
{
    (void)of;
    if (major)
        *major = 1;
    if (minor)
        *minor = 5;
    return EGL_TRUE;
}

EXPORT EGLDisplay eglGetDisplay(EGLNativeDisplayType of)
{
    (void)of;
    return EGL_NO_DISPLAY;
}

EXPORT EGLBoolean eglChooseConfig(EGLDisplay of, const EGLint *attributes, EGLConfig *configs,
                                  EGLint size, EGLint *count)
{
    (void)of, (void)attributes, (void)configs, (void)size;
    *count = 0;
    return EGL_TRUE;
}

EXPORT EGLSurface eglCreatePbufferSurface(EGLDisplay of, EGLConfig config, const EGLint *attributes)
{
    (void)of, (void)config, (void)attributes;
    return EGL_NO_SURFACE;
}

EXPORT EGLBoolean eglDestroySurface(EGLDisplay of, EGLSurface surface)
{
    (void)of, (void)surface;
    return EGL_FALSE;
}

EXPORT EGLContext eglCreateContext(EGLDisplay of, EGLConfig config, EGLContext share,
                                   const EGLint *attributes)
{
    (void)of, (void)config, (void)share, (void)attributes;
    return &context;
}

EXPORT EGLBoolean eglMakeCurrent(EGLDisplay of, EGLSurface draw, EGLSurface read, EGLContext made)
{
    (void)of, (void)draw, (void)read;
    current = made;
    return EGL_TRUE;
}

EXPORT EGLContext eglGetCurrentContext(void)
{
    return current;
}

EXPORT EGLDisplay eglGetCurrentDisplay(void)
{
    return current ? &display : EGL_NO_DISPLAY;
}

EXPORT EGLSurface eglGetCurrentSurface(EGLint which)
{
    (void)which;
    return EGL_NO_SURFACE;
}

EXPORT EGLBoolean eglBindAPI(EGLenum api)
{
    (void)api;
    return EGL_TRUE;
}

EXPORT EGLenum eglQueryAPI(void)
{
    return EGL_OPENGL_ES_API;
}

EXPORT EGLBoolean eglQueryContext(EGLDisplay of, EGLContext made, EGLint what, EGLint *value)
{
    (void)of, (void)made, (void)what;
    *value = 0;
    return EGL_TRUE;
}

EXPORT EGLBoolean eglDestroyContext(EGLDisplay of, EGLContext made)
{
    (void)of, (void)made;
    return EGL_TRUE;
}

EXPORT EGLBoolean eglTerminate(EGLDisplay of)
{
    (void)of;
    return EGL_TRUE;
}

EXPORT EGLint eglGetError(void)
{
    return EGL_SUCCESS;
}

/* ---- Memory ---- */

__attribute__((constructor)) static void begin(void)
{
    mapped = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        abort();
}

__attribute__((destructor)) static void end(void)
{
    char line[256];
    const char *path = getenv("NOTHING_NOTE");
    FILE *from = path ? fopen("/proc/self/status", "r") : NULL,
         *to = path ? fopen(path, "w") : NULL;
    while (from && to && fgets(line, sizeof line, from))
        if (strncmp(line, "VmHWM", 5) == 0 || strncmp(line, "Rss", 3) == 0)
            fputs(line, to);
    if (from)
        fclose(from);
    if (to)
        fclose(to);
}
