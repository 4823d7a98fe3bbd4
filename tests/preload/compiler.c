/* A driver whose compiler does not come back from one shader. To be preloaded, with
 *
 *   COMPILER_HANGS=TEXT  sources that have this text are never compiled
 */
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef __eglMustCastToProperFunctionPointerType any_function;
typedef any_function (*get_function)(const char *name);

static PFNGLSHADERSOURCEPROC real_source;
static PFNGLCOMPILESHADERPROC real_compile;
static bool hangs;

static void GL_APIENTRY take_source(GLuint shader, GLsizei count, const GLchar *const *strings,
                                    const GLint *lengths)
{
    hangs = false;
    for (GLsizei i = 0; i < count; i++)
        hangs = hangs || strstr(strings[i], getenv("COMPILER_HANGS"));
    real_source(shader, count, strings, lengths);
}

static void GL_APIENTRY compile(GLuint shader)
{
    while (hangs)
        pause();
    real_compile(shader);
}

any_function eglGetProcAddress(const char *name)
{
    static get_function real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "eglGetProcAddress");
    any_function found = real(name);
    if (strcmp(name, "glShaderSource") == 0) {
        real_source = (PFNGLSHADERSOURCEPROC)found;
        return (any_function)take_source;
    }
    if (strcmp(name, "glCompileShader") == 0) {
        real_compile = (PFNGLCOMPILESHADERPROC)found;
        return (any_function)compile;
    }
    return found;
}
