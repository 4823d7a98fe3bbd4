/* Compiles shaders and says how long it took. */
#include "record/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "record/assemble.h"
#include "record/binary.h"

/* ---- What the driver says ---- */

/* The line of the log that has the first error: warnings may stand before it. */
static const char *first_error(const char *log)
{
    const char *lower = strstr(log, "error"), *upper = strstr(log, "ERROR");
    const char *at = !lower || (upper && upper < lower) ? upper : lower;
    if (!at)
        return log;
    while (at > log && at[-1] != '\n')
        at--;
    return at;
}

/* "0:5(48): error: ...", "ERROR: 0:5: ..." and "0(5) : error ..." have the line behind the number of
 * the source. 0: there is none. */
static long error_line(const char *error)
{
    static const char digits[] = "0123456789";
    const char *behind = error + strcspn(error, digits);
    behind += strspn(behind, digits);
    return *behind == ':' || *behind == '(' ? strtol(behind + 1, NULL, 10) : 0;
}

static glcnn_status fail_with_line(struct glcnn_device *device, const struct pass *pass,
                                   const char *log)
{
    log = first_error(log);
    long line = error_line(log);
    const char *file = shader_file(pass, &line);
    return device_fail(device, GLCNN_SHADER_ERROR,
                       "glsl/%s:%ld: the driver refuses the shader of %s: %.600s", file, line,
                       pass->shader, log);
}

/* What the driver says of a shader or program, all of it: the first error may stand behind many
 * warnings. NULL without memory for it. Some drivers have a log and say that its length is 0. */
static char *read_log(GLuint name, PFNGLGETSHADERIVPROC get, PFNGLGETSHADERINFOLOGPROC get_log)
{
    GLint length = 0;
    get(name, GL_INFO_LOG_LENGTH, &length);
    if (length < 1024)
        length = 1024;
    char *log = calloc((size_t)length + 1, 1);
    if (log)
        get_log(name, length, NULL, log);
    return log;
}

/* ---- Compiling ---- */

void shader_compile(struct glcnn_device *device, const struct pass *pass, struct program *program)
{
    const struct gl *gl = &device->gl;
    compilation_begin(device, pass, program);
    const char *source = program->source;
    uint64_t start = clock_nanoseconds();
    program->shader = gl->CreateShader(GL_COMPUTE_SHADER);
    program->name = gl->CreateProgram();
    program->stage = PROGRAM_COMPILING;
    if (program->shader && program->name) {
        gl->ShaderSource(program->shader, 1, &source, NULL);
        gl->CompileShader(program->shader);
    }
    program->nanoseconds += clock_nanoseconds() - start;
}

/* Of a shader that is not compiled yet, or will not be: linking waits for it, and fails with it. */
void shader_link(struct glcnn_device *device, struct program *program)
{
    const struct gl *gl = &device->gl;
    uint64_t start = clock_nanoseconds();
    program->stage = PROGRAM_LINKING;
    if (program->shader && program->name) {
        binary_announce(device, program->name);
        gl->AttachShader(program->name, program->shader);
        gl->LinkProgram(program->name);
    }
    program->nanoseconds += clock_nanoseconds() - start;
}

/* True if the driver has made the program; if not, *log is the caller's to free. */
static bool is_built(const struct gl *gl, const struct program *program, char **log)
{
    GLint good = 0;
    gl->GetShaderiv(program->shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        *log = read_log(program->shader, gl->GetShaderiv, gl->GetShaderInfoLog);
        return false;
    }
    good = 0;
    gl->GetProgramiv(program->name, GL_LINK_STATUS, &good);
    if (!good)
        *log = read_log(program->name, gl->GetProgramiv, gl->GetProgramInfoLog);
    return good;
}

static glcnn_status finish(struct glcnn_device *device, const struct pass *pass,
                           struct program *program)
{
    const struct gl *gl = &device->gl;
    char *log = NULL;
    bool made = program->shader && program->name, good = made && is_built(gl, program, &log);
    if (good && gl->ObjectLabelKHR)
        gl->ObjectLabelKHR(GL_PROGRAM_KHR, program->name, -1, pass->shader);
    glcnn_status status = device_check(device, pass->shader);
    if (status == GLCNN_SUCCESS && !made)
        status = device_fail(device, GLCNN_OUT_OF_MEMORY,
                             "%s: the driver makes no more shaders and programs", pass->shader);
    else if (status == GLCNN_SUCCESS && !good)
        status = fail_with_line(device, pass, log && *log ? log : "no message");
    free(log);
    return status;
}

/* What the driver says of memory or a lost context goes before its log. */
glcnn_status shader_finish(struct glcnn_device *device, const struct pass *pass,
                           struct program *program)
{
    uint64_t start = clock_nanoseconds();
    glcnn_status status = finish(device, pass, program);
    device->gl.DeleteShader(program->shader);
    program->shader = 0;
    program->stage = PROGRAM_MADE;
    program->nanoseconds += clock_nanoseconds() - start;
    return status;
}

/* ---- How long it takes ---- */

static void tell(const struct glcnn_device *device, const struct glcnn_compilation *it)
{
    if (device->compilation.callback)
        device->compilation.callback(device->compilation.user, it);
}

void compilation_begin(struct glcnn_device *device, const struct pass *pass,
                       struct program *program)
{
    program->compilation = (struct glcnn_compilation){.shader = pass->shader,
                                                      .implementation = pass->owner.implementation,
                                                      .number = ++device->compilation.count,
                                                      .pass = device->compilation.pass,
                                                      .passes = device->compilation.passes};
    program->nanoseconds = 0;
    tell(device, &program->compilation);
}

void compilation_end(struct glcnn_device *device, struct program *program)
{
    struct glcnn_compilation *it = &program->compilation;
    if (!it->shader)
        return;
    it->seconds = (float)(1e-9 * (double)(program->nanoseconds ? program->nanoseconds : 1));
    tell(device, it);
    if (it->seconds > device->compilation.limit)
        device_log(
            device, GLCNN_LOG_WARNING,
            "the driver of %s took %.1f s to compile glsl/%s%s%s; it was to take %g s at most",
            device->info.renderer, (double)it->seconds, it->shader,
            it->implementation ? ", implementation " : "",
            it->implementation ? it->implementation : "", (double)device->compilation.limit);
    it->shader = NULL;
}
