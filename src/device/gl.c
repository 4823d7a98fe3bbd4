/* Loading the table of entry points, and the errors that OpenGL ES keeps. */
#include "device/gl.h"

#include <string.h>

/* Under libglvnd a made-up name resolves to a stub, so an optional entry point is trusted only
 * when its extension is in the list. */
const char *gl_load(struct gl *gl, gl_loader loader, const void *user)
{
    memset(gl, 0, sizeof *gl);
#define GL_LOAD(name, type)                                                                        \
    gl->name = (type)loader(user, "gl" #name);                                                     \
    if (!gl->name)                                                                                 \
        return "gl" #name;
    GL_REQUIRED(GL_LOAD)
#undef GL_LOAD
#define GL_LOAD(name, type, extension)                                                             \
    if (gl_has_extension(gl, extension))                                                           \
        gl->name = (type)loader(user, "gl" #name);
    GL_OPTIONAL(GL_LOAD)
#undef GL_LOAD
    return NULL;
}

bool gl_has_extension(const struct gl *gl, const char *name)
{
    GLint count = 0;
    gl->GetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLint i = 0; i < count; i++) {
        const char *have = (const char *)gl->GetStringi(GL_EXTENSIONS, (GLuint)i);
        if (have && strcmp(have, name) == 0)
            return true;
    }
    return false;
}

const char *gl_error(const struct gl *gl, GLenum *code)
{
    static const struct {
        GLenum code;
        const char *text;
    } names[] = {
        {GL_INVALID_ENUM, "GL_INVALID_ENUM"},
        {GL_INVALID_VALUE, "GL_INVALID_VALUE"},
        {GL_INVALID_OPERATION, "GL_INVALID_OPERATION"},
        {GL_INVALID_FRAMEBUFFER_OPERATION, "GL_INVALID_FRAMEBUFFER_OPERATION"},
        {GL_OUT_OF_MEMORY, "GL_OUT_OF_MEMORY"},
        {GL_CONTEXT_LOST_KHR, "GL_CONTEXT_LOST"},
    };
    const char *first = NULL;
    /* A lost context may report an error for ever, so the draining is bounded. */
    for (int i = 0; i < 16; i++) {
        GLenum found = gl->GetError();
        if (found == GL_NO_ERROR)
            break;
        if (first)
            continue;
        *code = found;
        first = "an unknown GL error";
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (names[n].code == found)
                first = names[n].text;
    }
    return first;
}
