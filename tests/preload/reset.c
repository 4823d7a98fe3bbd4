/* Resets the GPU under a program, without any GL error: from a dispatch on nothing runs, until the
 * program makes a context again. To be preloaded, with
 *
 *   RESET_AT=N     the dispatch, from 1
 *   RESET_TOLD=... what the driver answers where it is asked: guilty, innocent or unknown. no: it
 *                  cannot be asked. nothing: it denies the reset
 */
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef __eglMustCastToProperFunctionPointerType any_function;
typedef any_function (*get_function)(const char *name);

static PFNGLDISPATCHCOMPUTEPROC real_dispatch;
static long dispatches, contexts;

static bool is_reset(void)
{
    const char *at = getenv("RESET_AT");
    return at && contexts == 1 && dispatches >= strtol(at, NULL, 10);
}

static GLenum GL_APIENTRY answer(void)
{
    const char *told = getenv("RESET_TOLD");
    if (!is_reset() || !told || strcmp(told, "nothing") == 0)
        return GL_NO_ERROR;
    return strcmp(told, "guilty") == 0     ? GL_GUILTY_CONTEXT_RESET_EXT
           : strcmp(told, "innocent") == 0 ? GL_INNOCENT_CONTEXT_RESET_EXT
                                           : GL_UNKNOWN_CONTEXT_RESET_EXT;
}

static void GL_APIENTRY dispatch(GLuint x, GLuint y, GLuint z)
{
    dispatches++;
    if (!is_reset())
        real_dispatch(x, y, z);
}

EGLContext eglCreateContext(EGLDisplay display, EGLConfig config, EGLContext share,
                            const EGLint *attributes)
{
    __typeof__(&eglCreateContext) real =
        (__typeof__(&eglCreateContext))dlsym(RTLD_NEXT, "eglCreateContext");
    contexts++;
    return real(display, config, share, attributes);
}

any_function eglGetProcAddress(const char *name)
{
    get_function real = (get_function)dlsym(RTLD_NEXT, "eglGetProcAddress");
    any_function found = real(name);
    const char *told = getenv("RESET_TOLD");
    if (found && strncmp(name, "glGetGraphicsResetStatus", 24) == 0)
        return told && strcmp(told, "no") == 0 ? NULL : (any_function)answer;
    if (strcmp(name, "glDispatchCompute") != 0 || !found)
        return found;
    real_dispatch = (PFNGLDISPATCHCOMPUTEPROC)found;
    return (any_function)dispatch;
}
