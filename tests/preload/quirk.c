/* A driver of a vendor by name, with its mistakes: OpenGL ES on the driver below. To be preloaded, with
 *
 *   QUIRK_VENDOR=TEXT, QUIRK_RENDERER=TEXT, QUIRK_VERSION=TEXT   what the driver calls itself
 *   QUIRK_READS_LATE=1    bytes of glBufferData and glBufferSubData are read when others lie there
 *   QUIRK_BINARIES=1      what is made of a binary is linked, and ends the process where it is used
 *   QUIRK_TIMERS=1        asking for a timestamp ends the process
 *   QUIRK_UNTOLD=NUMBER   this limit is unknown: an error, and no value
 *   QUIRK_OUTPUTS=NUMBER  images and storage blocks that a program has together, at most
 */
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <GLES2/gl2ext.h>

typedef __eglMustCastToProperFunctionPointerType any_function;
typedef any_function (*get_function)(const char *name);

static any_function real(const char *name)
{
    static get_function get;
    if (!get)
        *(void **)&get = dlsym(RTLD_NEXT, "eglGetProcAddress");
    return get(name);
}

#define REAL(TYPE, NAME) ((TYPE)real(#NAME))

static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atol(text) : -1;
}

static const GLubyte *GL_APIENTRY get_string(GLenum name)
{
    const char *said = getenv(name == GL_VENDOR     ? "QUIRK_VENDOR"
                              : name == GL_RENDERER ? "QUIRK_RENDERER"
                              : name == GL_VERSION  ? "QUIRK_VERSION"
                                                    : "QUIRK_NONE_OF_THEM");
    return said ? (const GLubyte *)said : REAL(PFNGLGETSTRINGPROC, glGetString)(name);
}

/* ---- Bytes that are read late ---- */

/* What lies there by then, to be freed: as floats, NaNs. */
static void *others(const void *bytes, GLsizeiptr size)
{
    void *found = bytes ? malloc((size_t)size + 1) : NULL;
    return found ? memset(found, 0xff, (size_t)size) : NULL;
}

static void GL_APIENTRY buffer_data(GLenum target, GLsizeiptr size, const void *bytes, GLenum usage)
{
    void *found = others(bytes, size);
    REAL(PFNGLBUFFERDATAPROC, glBufferData)(target, size, found, usage);
    free(found);
}

static void GL_APIENTRY buffer_sub_data(GLenum target, GLintptr offset, GLsizeiptr size,
                                        const void *bytes)
{
    void *found = others(bytes, size);
    REAL(PFNGLBUFFERSUBDATAPROC, glBufferSubData)(target, offset, size, found);
    free(found);
}

/* ---- Binaries ---- */

enum { PROGRAMS = 65536 };
static bool is_of_binary[PROGRAMS];

static void GL_APIENTRY program_binary(GLuint program, GLenum format, const void *bytes,
                                       GLsizei size)
{
    REAL(PFNGLPROGRAMBINARYPROC, glProgramBinary)(program, format, bytes, size);
    is_of_binary[program % PROGRAMS] = true;
}

static void GL_APIENTRY use_program(GLuint program)
{
    if (is_of_binary[program % PROGRAMS])
        _exit(1);
    REAL(PFNGLUSEPROGRAMPROC, glUseProgram)(program);
}

/* ---- Timers ---- */

static void GL_APIENTRY query_counter(GLuint query, GLenum target)
{
    (void)query, (void)target;
    _exit(1);
}

/* ---- Limits ---- */

static GLenum error;

static GLenum GL_APIENTRY get_error(void)
{
    GLenum first = error;
    error = GL_NO_ERROR;
    return first ? first : REAL(PFNGLGETERRORPROC, glGetError)();
}

static void GL_APIENTRY get_integer64v(GLenum name, GLint64 *value)
{
    if (name == (GLenum)number_of("QUIRK_UNTOLD"))
        error = GL_INVALID_ENUM;
    else
        REAL(PFNGLGETINTEGER64VPROC, glGetInteger64v)(name, value);
    if (name == GL_MAX_COMBINED_SHADER_OUTPUT_RESOURCES && getenv("QUIRK_OUTPUTS"))
        *value = number_of("QUIRK_OUTPUTS");
}

static GLint count_of(GLuint program, GLenum kind)
{
    GLint count = 0;
    REAL(PFNGLGETPROGRAMINTERFACEIVPROC, glGetProgramInterfaceiv)
    (program, kind, GL_ACTIVE_RESOURCES, &count);
    return count;
}

static bool is_image(GLuint program, GLuint uniform)
{
    static const GLenum type = GL_TYPE;
    GLint found = 0;
    REAL(PFNGLGETPROGRAMRESOURCEIVPROC, glGetProgramResourceiv)
    (program, GL_UNIFORM, uniform, 1, &type, 1, NULL, &found);
    return found == GL_IMAGE_2D_ARRAY || found == GL_UNSIGNED_INT_IMAGE_2D_ARRAY;
}

static long outputs_of(GLuint program)
{
    GLint uniforms = count_of(program, GL_UNIFORM), outputs = 0;
    for (GLint i = 0; i < uniforms; i++)
        outputs += is_image(program, (GLuint)i);
    return outputs + count_of(program, GL_SHADER_STORAGE_BLOCK);
}

static void GL_APIENTRY get_programiv(GLuint program, GLenum name, GLint *value)
{
    REAL(PFNGLGETPROGRAMIVPROC, glGetProgramiv)(program, name, value);
    if (name == GL_LINK_STATUS && *value && outputs_of(program) > number_of("QUIRK_OUTPUTS"))
        *value = GL_FALSE;
}

any_function eglGetProcAddress(const char *name)
{
    static const struct {
        const char *name, *variable;
        any_function function;
    } rows[] = {
        {"glGetString", "QUIRK_RENDERER", (any_function)get_string},
        {"glBufferData", "QUIRK_READS_LATE", (any_function)buffer_data},
        {"glBufferSubData", "QUIRK_READS_LATE", (any_function)buffer_sub_data},
        {"glProgramBinary", "QUIRK_BINARIES", (any_function)program_binary},
        {"glUseProgram", "QUIRK_BINARIES", (any_function)use_program},
        {"glQueryCounterEXT", "QUIRK_TIMERS", (any_function)query_counter},
        {"glGetError", "QUIRK_UNTOLD", (any_function)get_error},
        {"glGetInteger64v", "QUIRK_UNTOLD", (any_function)get_integer64v},
        {"glGetInteger64v", "QUIRK_OUTPUTS", (any_function)get_integer64v},
        {"glGetProgramiv", "QUIRK_OUTPUTS", (any_function)get_programiv},
    };
    any_function found = real(name);
    for (size_t i = 0; found && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0 && getenv(rows[i].variable))
            return rows[i].function;
    return found;
}
