/* Loading the table of entry points, and the errors that OpenGL ES keeps. */
#include "device/gl.h"

#include <stddef.h>
#include <string.h>

/* Entry points of one extension work together: where one is missing, none is there. */
static void drop_incomplete_extensions(struct gl *gl)
{
#define GL_PLACE(name, type, extension) {extension, offsetof(struct gl, name)},
    static const struct {
        const char *extension;
        size_t offset;
    } places[] = {GL_OPTIONAL(GL_PLACE)};
#undef GL_PLACE
    static const size_t count = sizeof places / sizeof *places;
    for (size_t i = 0; i < count; i++) {
        void (*entry)(void) = NULL;
        memcpy(&entry, (const char *)gl + places[i].offset, sizeof entry);
        for (size_t k = 0; !entry && k < count; k++)
            if (strcmp(places[k].extension, places[i].extension) == 0)
                memset((char *)gl + places[k].offset, 0, sizeof entry);
    }
}

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
    drop_incomplete_extensions(gl);
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
