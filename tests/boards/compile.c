/* Compiles compute shaders on the OpenGL ES 3.1 of EGL's surfaceless platform. On a fake GPU, and with
 * observe.c preloaded, that gives the compiler's statistics of each of them.
 *
 *   compile [-h] KERNEL.PASS.HASH.comp...
 *   compile -d
 *
 * Files are those that GLCNN_SHADERS=FOLDER writes. Each is compiled, linked, labelled "PASS.comp" and
 * dispatched as one group, since V3D's driver compiles no sooner, and compiles by the formats of the
 * textures: those are RGBA32F, as training binds, or with -h RGBA16F, as with --precision float16. All
 * units are bound, because drivers crash where a shader declares one that is not; what the textures hold
 * does not matter to a fake GPU.
 * Prints the driver's name, and what was refused. With -d it prints what disguise.c reads: the driver's
 * strings and limits. Exits 1 where a shader is refused, 2 without a context.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNITS = 16, BUFFER_BYTES = 65536 };

#define FUNCTIONS(X)                                                                               \
    X(ActiveTexture, PFNGLACTIVETEXTUREPROC)                                                       \
    X(AttachShader, PFNGLATTACHSHADERPROC)                                                         \
    X(BindBuffer, PFNGLBINDBUFFERPROC)                                                             \
    X(BindBufferBase, PFNGLBINDBUFFERBASEPROC)                                                     \
    X(BindImageTexture, PFNGLBINDIMAGETEXTUREPROC)                                                 \
    X(BindTexture, PFNGLBINDTEXTUREPROC)                                                           \
    X(BufferData, PFNGLBUFFERDATAPROC)                                                             \
    X(CompileShader, PFNGLCOMPILESHADERPROC)                                                       \
    X(CreateProgram, PFNGLCREATEPROGRAMPROC)                                                       \
    X(CreateShader, PFNGLCREATESHADERPROC)                                                         \
    X(DeleteProgram, PFNGLDELETEPROGRAMPROC)                                                       \
    X(DeleteShader, PFNGLDELETESHADERPROC)                                                         \
    X(DispatchCompute, PFNGLDISPATCHCOMPUTEPROC)                                                   \
    X(GenBuffers, PFNGLGENBUFFERSPROC)                                                             \
    X(GenTextures, PFNGLGENTEXTURESPROC)                                                           \
    X(GetIntegeri_v, PFNGLGETINTEGERI_VPROC)                                                       \
    X(GetIntegerv, PFNGLGETINTEGERVPROC)                                                           \
    X(GetProgramInfoLog, PFNGLGETPROGRAMINFOLOGPROC)                                               \
    X(GetProgramiv, PFNGLGETPROGRAMIVPROC)                                                         \
    X(GetShaderInfoLog, PFNGLGETSHADERINFOLOGPROC)                                                 \
    X(GetShaderiv, PFNGLGETSHADERIVPROC)                                                           \
    X(GetString, PFNGLGETSTRINGPROC)                                                               \
    X(LinkProgram, PFNGLLINKPROGRAMPROC)                                                           \
    X(ObjectLabelKHR, PFNGLOBJECTLABELKHRPROC)                                                     \
    X(ShaderSource, PFNGLSHADERSOURCEPROC)                                                         \
    X(TexParameteri, PFNGLTEXPARAMETERIPROC)                                                       \
    X(TexStorage2D, PFNGLTEXSTORAGE2DPROC)                                                         \
    X(TexStorage3D, PFNGLTEXSTORAGE3DPROC)                                                         \
    X(UseProgram, PFNGLUSEPROGRAMPROC)

static struct {
#define DECLARE(name, type) type name;
    FUNCTIONS(DECLARE)
} gl;

static void fail(const char *text)
{
    fprintf(stderr, "compile: %s (EGL 0x%x)\n", text, (unsigned)eglGetError());
    exit(2);
}

static void open_context(void)
{
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                                     3,
                                     EGL_CONTEXT_MINOR_VERSION,
                                     1,
                                     EGL_CONTEXT_FLAGS_KHR,
                                     EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR,
                                     EGL_NONE};
    EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!display || !eglInitialize(display, NULL, NULL))
        fail("no surfaceless display");
    if (!eglBindAPI(EGL_OPENGL_ES_API))
        fail("no OpenGL ES");
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        fail("no context of OpenGL ES 3.1");
#define LOAD(name, type)                                                                           \
    if (!(gl.name = (type)eglGetProcAddress("gl" #name)))                                          \
        fail("no gl" #name);
    FUNCTIONS(LOAD)
}

/* ---- What programs are bound to ---- */

static GLenum format = GL_RGBA32F;

static GLuint make_texture(GLenum target)
{
    GLuint texture;
    gl.GenTextures(1, &texture);
    gl.BindTexture(target, texture);
    if (target == GL_TEXTURE_2D)
        gl.TexStorage2D(target, 1, format, 16, 16);
    else
        gl.TexStorage3D(target, 1, format, 16, 16, 4);
    gl.TexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.TexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return texture;
}

static void bind_buffer(GLenum target, GLuint index)
{
    GLuint buffer;
    gl.GenBuffers(1, &buffer);
    gl.BindBuffer(target, buffer);
    gl.BufferData(target, BUFFER_BYTES, NULL, GL_STATIC_DRAW);
    gl.BindBufferBase(target, index, buffer);
}

static GLuint units(GLenum limit)
{
    GLint count = 0;
    gl.GetIntegerv(limit, &count);
    return count < MOST_UNITS ? (GLuint)count : MOST_UNITS;
}

static void bind_everything(void)
{
    GLuint flat = make_texture(GL_TEXTURE_2D), array = make_texture(GL_TEXTURE_2D_ARRAY);
    for (GLuint i = 0; i < units(GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS); i++) {
        gl.ActiveTexture(GL_TEXTURE0 + i);
        gl.BindTexture(GL_TEXTURE_2D, flat);
        gl.BindTexture(GL_TEXTURE_2D_ARRAY, array);
    }
    for (GLuint i = 0; i < units(GL_MAX_COMPUTE_IMAGE_UNIFORMS); i++)
        gl.BindImageTexture(i, array, 0, GL_TRUE, 0, GL_READ_WRITE, format);
    for (GLuint i = 0; i < units(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS); i++)
        bind_buffer(GL_SHADER_STORAGE_BUFFER, i);
    bind_buffer(GL_UNIFORM_BUFFER, 0);
}

/* ---- Files ---- */

/* The caller frees it. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size < 0 ? NULL : calloc(1, (size_t)size + 1);
    if (text) {
        rewind(file);
        size_t got = fread(text, 1, (size_t)size, file);
        text[got] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

/* "pooling_max.comp" of "FOLDER/pooling.pooling_max.0123456789abcdef.comp", or the whole name. */
static void write_label(char *label, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *pass = strchr(name, '.');
    if (pass && strchr(pass + 1, '.'))
        name = pass + 1;
    snprintf(label, size, "%.*s.comp", (int)strcspn(name, "."), name);
}

static int link_shader(GLuint shader, GLuint program, char *log, GLsizei size)
{
    GLint good = 0;
    gl.CompileShader(shader);
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        gl.GetShaderInfoLog(shader, size, NULL, log);
        return 0;
    }
    gl.AttachShader(program, shader);
    gl.LinkProgram(program);
    gl.GetProgramiv(program, GL_LINK_STATUS, &good);
    if (!good)
        gl.GetProgramInfoLog(program, size, NULL, log);
    return good;
}

static int compile(const char *path)
{
    char log[2048] = "cannot be read", label[256];
    char *text = read_file(path);
    GLuint shader = gl.CreateShader(GL_COMPUTE_SHADER), program = gl.CreateProgram();
    const GLchar *source = text ? text : "";
    gl.ShaderSource(shader, 1, &source, NULL);
    int good = text && link_shader(shader, program, log, sizeof log);
    if (good) {
        write_label(label, sizeof label, path);
        gl.ObjectLabelKHR(GL_PROGRAM_KHR, program, -1, label);
        gl.UseProgram(program);
        gl.DispatchCompute(1, 1, 1);
        gl.UseProgram(0);
    } else {
        printf("%s: %s\n", path, log);
    }
    gl.DeleteProgram(program);
    gl.DeleteShader(shader);
    free(text);
    return good;
}

/* ---- The driver ---- */

static void describe(void)
{
    static const GLenum limits[] = {
        GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS, GL_MAX_COMPUTE_SHARED_MEMORY_SIZE,
        GL_MAX_COMPUTE_IMAGE_UNIFORMS,         GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS,
        GL_MAX_COMPUTE_TEXTURE_IMAGE_UNITS,    GL_MAX_TEXTURE_SIZE,
        GL_MAX_ARRAY_TEXTURE_LAYERS,           GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT,
        GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT,
    };
    GLint value = 0;
    printf("vendor %s\nrenderer %s\n", (const char *)gl.GetString(GL_VENDOR),
           (const char *)gl.GetString(GL_RENDERER));
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        gl.GetIntegerv(limits[i], &value);
        printf("limit %#x %d\n", limits[i], value);
    }
    for (GLuint axis = 0; axis < 3; axis++) {
        gl.GetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_SIZE, axis, &value);
        printf("size %u %d\n", axis, value);
    }
}

int main(int argc, char **argv)
{
    int good = 1, first = 1;
    open_context();
    if (argc == 2 && strcmp(argv[1], "-d") == 0) {
        describe();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "-h") == 0) {
        format = GL_RGBA16F;
        first = 2;
    }
    printf("%s\n", (const char *)gl.GetString(GL_RENDERER));
    bind_everything();
    for (int i = first; i < argc; i++)
        good &= compile(argv[i]);
    return good ? 0 : 1;
}
