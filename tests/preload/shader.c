/* Makes a program's shaders wrong, as a driver or a mistake would. To be preloaded, with
 *
 *   SHADER_OF=TEXT     sources that have this text are changed
 *   SHADER_FROM=TEXT   what is replaced in them, wherever it stands
 *   SHADER_TO=TEXT     what takes its place
 *   SHADER_NOTE=FILE   is made when a source was changed; without it none was
 */
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __eglMustCastToProperFunctionPointerType any_function;
typedef any_function (*get_function)(const char *name);

static PFNGLSHADERSOURCEPROC real_source;

/* The whole of a source, to be freed. */
static char *join(GLsizei count, const GLchar *const *strings, const GLint *lengths)
{
    size_t size = 1, used = 0;
    for (GLsizei i = 0; i < count; i++)
        size += lengths && lengths[i] >= 0 ? (size_t)lengths[i] : strlen(strings[i]);
    char *whole = malloc(size);
    if (!whole)
        abort();
    for (GLsizei i = 0; i < count; i++) {
        size_t length = lengths && lengths[i] >= 0 ? (size_t)lengths[i] : strlen(strings[i]);
        memcpy(whole + used, strings[i], length);
        used += length;
    }
    whole[used] = 0;
    return whole;
}

/* The source with each `from` replaced, to be freed. */
static char *replace(const char *source, const char *from, const char *to)
{
    size_t grown = strlen(source) / strlen(from) * strlen(to) + strlen(source) + 1;
    char *changed = calloc(1, grown), *end = changed;
    if (!changed)
        abort();
    for (const char *next; (next = strstr(source, from)) != NULL; source = next + strlen(from)) {
        memcpy(end, source, (size_t)(next - source));
        end += next - source;
        memcpy(end, to, strlen(to));
        end += strlen(to);
    }
    memcpy(end, source, strlen(source));
    return changed;
}

static void note(void)
{
    FILE *file = fopen(getenv("SHADER_NOTE"), "w");
    if (file)
        fclose(file);
}

static void GL_APIENTRY change_source(GLuint shader, GLsizei count, const GLchar *const *strings,
                                      const GLint *lengths)
{
    char *whole = join(count, strings, lengths);
    if (strstr(whole, getenv("SHADER_OF")) && strstr(whole, getenv("SHADER_FROM"))) {
        char *changed = replace(whole, getenv("SHADER_FROM"), getenv("SHADER_TO"));
        free(whole);
        whole = changed;
        note();
    }
    real_source(shader, 1, (const GLchar *const *)&whole, NULL);
    free(whole);
}

any_function eglGetProcAddress(const char *name)
{
    get_function real = (get_function)dlsym(RTLD_NEXT, "eglGetProcAddress");
    any_function found = real(name);
    if (strcmp(name, "glShaderSource") != 0 || !found)
        return found;
    real_source = (PFNGLSHADERSOURCEPROC)found;
    return (any_function)change_source;
}
