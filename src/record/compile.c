/* Compiles shaders and says how long it took. */
#include "record/compile.h"

#include <stdlib.h>
#include <string.h>

#include "device/clock.h"
#include "record/assemble.h"

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

/* "0:5(48): error: ..." and "ERROR: 0:5: ..." both have the line after the first colon. */
static glcnn_status fail_with_line(struct glcnn_device *device, const struct pass *pass,
                                   const char *log)
{
    log = first_error(log);
    const char *colon = strchr(log, ':');
    if (colon && strncmp(log, "ERROR", 5) == 0)
        colon = strchr(colon + 1, ':');
    long line = colon ? strtol(colon + 1, NULL, 10) : 0;
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

/* Whether the program `name` could be made of the source; if not, *log is the caller's to free. */
static bool build(const struct gl *gl, GLuint shader, GLuint name, const char *source, char **log)
{
    GLint good = 0;
    gl->ShaderSource(shader, 1, &source, NULL);
    gl->CompileShader(shader);
    gl->GetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        *log = read_log(shader, gl->GetShaderiv, gl->GetShaderInfoLog);
        return false;
    }
    gl->AttachShader(name, shader);
    gl->LinkProgram(name);
    gl->GetProgramiv(name, GL_LINK_STATUS, &good);
    if (!good)
        *log = read_log(name, gl->GetProgramiv, gl->GetProgramInfoLog);
    return good;
}

/* 0 where the driver fails; what it says of memory or a lost context goes before its log. */
GLuint shader_compile(struct glcnn_device *device, const struct pass *pass, const char *source,
                      glcnn_status *status)
{
    const struct gl *gl = &device->gl;
    char *log = NULL;
    GLuint shader = gl->CreateShader(GL_COMPUTE_SHADER), name = gl->CreateProgram();
    bool made = shader && name, good = made && build(gl, shader, name, source, &log);
    gl->DeleteShader(shader);
    if (good && gl->ObjectLabelKHR)
        gl->ObjectLabelKHR(GL_PROGRAM_KHR, name, -1, pass->shader);
    *status = device_check(device, pass->shader);
    if (*status == GLCNN_SUCCESS && !made)
        *status = device_fail(device, GLCNN_OUT_OF_MEMORY,
                              "%s: the driver makes no more shaders and programs", pass->shader);
    else if (*status == GLCNN_SUCCESS && !good)
        *status = fail_with_line(device, pass, log && *log ? log : "no message");
    free(log);
    if (*status == GLCNN_SUCCESS)
        return name;
    gl->DeleteProgram(name);
    return 0;
}

/* ---- How long it takes ---- */

static void tell(struct glcnn_device *device)
{
    if (device->compilation.callback)
        device->compilation.callback(device->compilation.user, &device->compilation.it);
}

void compilation_begin(struct glcnn_device *device, const struct pass *pass)
{
    struct glcnn_compilation *it = &device->compilation.it;
    it->shader = pass->shader;
    it->variant = pass->variant;
    it->seconds = 0;
    it->number++;
    tell(device);
    device->compilation.begun = clock_nanoseconds();
}

/* Does nothing where no compilation has begun. Many drivers compile at the first dispatch, which is
 * the canary's. */
void compilation_end(struct glcnn_device *device)
{
    struct glcnn_compilation *it = &device->compilation.it;
    if (!it->shader)
        return;
    it->seconds = (float)(1e-9 * (double)(clock_nanoseconds() - device->compilation.begun));
    tell(device);
    if (it->seconds > device->compilation.limit)
        device_log(
            device, GLCNN_LOG_WARNING,
            "the driver of %s took %.1f s to compile glsl/%s%s%s; it was to take %g s at most",
            device->info.renderer, (double)it->seconds, it->shader, it->variant ? ", variant " : "",
            it->variant ? it->variant : "", (double)device->compilation.limit);
    it->shader = NULL;
}
