/* Preloaded into a program that uses OpenGL ES on a fake GPU: writes what the driver's compiler
 * says of every compute program. records.awk reads it.
 *
 *   OBSERVE=FILE [OBSERVE_SECONDS=20] [OBSERVE_SOURCES=FOLDER] \
 *       LD_PRELOAD="...drm_shim.so ./observe.so" PROGRAM
 *
 * A line is written as each thing happens, so that it is there when the program dies of it. Fields
 * lie between tabs; N numbers the links, since a driver gives names out again:
 *
 *   renderer    what the driver calls itself
 *   link        N  local size           a link begins
 *   linked      N  good|refused  milliseconds, its shader's too  statistics, or nothing
 *   label       N  the name that the program was given
 *   dispatch    N                       its first dispatch begins; V3D compiles only now
 *   dispatched  N  milliseconds  statistics    of the first, and of each that was compiled again
 *   uses        N  dispatches           one line each at the end
 *
 * Milliseconds are those of the processor. A link or first dispatch that takes OBSERVE_SECONDS of
 * them ends the program by SIGPROF: how busy the machine is makes no difference. OBSERVE_SOURCES
 * gets the source of each link, as N.comp.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <GLES2/gl2ext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define MOST_NAMES 65536 /* of shaders and programs; Mesa counts them from 1 */

struct linked {
    unsigned long number, dispatches;
};

static char *sources[MOST_NAMES];          /* by shader */
static double compiled[MOST_NAMES];        /* milliseconds, by shader */
static GLuint attached[MOST_NAMES];        /* shader, by program */
static struct linked programs[MOST_NAMES]; /* the last link, by program */
static unsigned long links;
static GLuint current;
static char message[1024];
static FILE *out;

typedef __eglMustCastToProperFunctionPointerType function;

static PFNGLSHADERSOURCEPROC shader_source;
static PFNGLCOMPILESHADERPROC compile_shader;
static PFNGLATTACHSHADERPROC attach_shader;
static PFNGLLINKPROGRAMPROC link_program;
static PFNGLGETPROGRAMIVPROC get_program;
static PFNGLUSEPROGRAMPROC use_program;
static PFNGLDISPATCHCOMPUTEPROC dispatch_compute;
static PFNGLOBJECTLABELKHRPROC object_label;
static PFNGLDELETEPROGRAMPROC delete_program;

static function find(const char *name)
{
    static function (*get)(const char *);
    if (!get)
        *(void **)&get = dlsym(RTLD_NEXT, "eglGetProcAddress");
    return get(name);
}

/* ---- What the driver says ---- */

/* A vertex or fragment shader of the driver's own may be compiled too; it has no such words. */
static int is_of_compute(const char *text)
{
    static const char *const words[] = {"COMPUTE", "CL shader", "type: 5"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return strstr(text, "inst") != NULL;
    return 0;
}

static void GL_APIENTRY hear(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length,
                             const GLchar *text, const void *user)
{
    (void)source, (void)type, (void)id, (void)severity, (void)length, (void)user;
    if (is_of_compute(text))
        snprintf(message, sizeof message, "%s", text);
    message[strcspn(message, "\n")] = '\0';
}

static void listen(void)
{
    void(GL_APIENTRY * enable)(GLenum) = (void(GL_APIENTRY *)(GLenum))find("glEnable");
    PFNGLDEBUGMESSAGECALLBACKKHRPROC call =
        (PFNGLDEBUGMESSAGECALLBACKKHRPROC)find("glDebugMessageCallbackKHR");
    PFNGLDEBUGMESSAGECONTROLKHRPROC control =
        (PFNGLDEBUGMESSAGECONTROLKHRPROC)find("glDebugMessageControlKHR");
    enable(GL_DEBUG_OUTPUT_KHR);
    enable(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR);
    call(hear, NULL);
    control(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
}

/* ---- The file ---- */

static void write_use(const struct linked *program)
{
    if (program->number)
        fprintf(out, "uses\t%lu\t%lu\n", program->number, program->dispatches);
}

static void finish(void)
{
    for (size_t i = 0; i < MOST_NAMES; i++)
        write_use(&programs[i]);
    fclose(out);
}

static void open_file(void)
{
    PFNGLGETSTRINGPROC get_string = (PFNGLGETSTRINGPROC)find("glGetString");
    const char *path = getenv("OBSERVE");
    if (!path || !(out = fopen(path, "w"))) {
        fprintf(stderr, "observe: OBSERVE names no file that can be written\n");
        exit(2);
    }
    setvbuf(out, NULL, _IOLBF, 0);
    atexit(finish);
    fprintf(out, "renderer\t%s\n", (const char *)get_string(GL_RENDERER));
}

/* A context may be made after another: each is listened to from its first shader on. */
static void start(void)
{
    if (!out)
        open_file();
    listen();
}

static double processor_milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void limit_processor(long seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static double begin(void)
{
    const char *seconds = getenv("OBSERVE_SECONDS");
    message[0] = '\0';
    limit_processor(seconds ? atol(seconds) : 20);
    return processor_milliseconds();
}

/* Returns the milliseconds since begin. */
static double end(double begun)
{
    limit_processor(0);
    return processor_milliseconds() - begun;
}

/* ---- In place of the driver's ---- */

static void GL_APIENTRY my_shader_source(GLuint shader, GLsizei count, const GLchar *const *text,
                                         const GLint *length)
{
    start();
    free(sources[shader]);
    sources[shader] = strdup(text[0]);
    shader_source(shader, count, text, length);
}

static void GL_APIENTRY my_compile_shader(GLuint shader)
{
    double begun = begin();
    compile_shader(shader);
    compiled[shader] = end(begun);
}

static void GL_APIENTRY my_attach_shader(GLuint program, GLuint shader)
{
    attached[program] = shader;
    attach_shader(program, shader);
}

static void write_source(const char *source, unsigned long number)
{
    const char *folder = getenv("OBSERVE_SOURCES");
    char path[4096];
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%lu.comp", folder, number);
    FILE *file = fopen(path, "w");
    if (!file || fputs(source, file) < 0 || fclose(file) != 0)
        fprintf(stderr, "observe: %s cannot be written\n", path);
}

static void write_link(const char *source, unsigned long number)
{
    const char *size = strstr(source, "local_size_x");
    int x = 0, y = 0, z = 0;
    if (size)
        sscanf(size, "local_size_x = %d, local_size_y = %d, local_size_z = %d", &x, &y, &z);
    fprintf(out, "link\t%lu\t%dx%dx%d\n", number, x, y, z);
    write_source(source, number);
}

static void GL_APIENTRY my_link_program(GLuint program)
{
    struct linked *linked = &programs[program];
    GLint good = 0;
    *linked = (struct linked){.number = ++links};
    write_link(sources[attached[program]], linked->number);
    double begun = begin();
    link_program(program);
    double took = end(begun) + compiled[attached[program]];
    get_program(program, GL_LINK_STATUS, &good);
    fprintf(out, "linked\t%lu\t%s\t%.3f\t%s\n", linked->number, good ? "good" : "refused", took,
            message);
}

static void GL_APIENTRY my_object_label(GLenum kind, GLuint name, GLsizei length,
                                        const GLchar *label)
{
    if (kind == GL_PROGRAM_KHR && programs[name].number)
        fprintf(out, "label\t%lu\t%s\n", programs[name].number, label);
    object_label(kind, name, length, label);
}

static void GL_APIENTRY my_use_program(GLuint program)
{
    current = program;
    use_program(program);
}

/* A later dispatch, with other textures bound, may make the driver compile again. */
static void GL_APIENTRY my_dispatch_compute(GLuint x, GLuint y, GLuint z)
{
    struct linked *linked = &programs[current];
    int first = linked->dispatches++ == 0;
    if (first)
        fprintf(out, "dispatch\t%lu\n", linked->number);
    double begun = begin();
    dispatch_compute(x, y, z);
    double took = end(begun);
    if (first || message[0])
        fprintf(out, "dispatched\t%lu\t%.3f\t%s\n", linked->number, took, message);
}

/* Its name may come again, for another program. */
static void GL_APIENTRY my_delete_program(GLuint program)
{
    write_use(&programs[program]);
    programs[program] = (struct linked){0};
    delete_program(program);
}

/* ---- What the program asks for ---- */

static const struct {
    const char *name;
    void *kept; /* where the driver's goes */
    function mine;
} replaced[] = {
    {"glShaderSource", &shader_source, (function)my_shader_source},
    {"glCompileShader", &compile_shader, (function)my_compile_shader},
    {"glAttachShader", &attach_shader, (function)my_attach_shader},
    {"glLinkProgram", &link_program, (function)my_link_program},
    {"glUseProgram", &use_program, (function)my_use_program},
    {"glDispatchCompute", &dispatch_compute, (function)my_dispatch_compute},
    {"glObjectLabelKHR", &object_label, (function)my_object_label},
    {"glDeleteProgram", &delete_program, (function)my_delete_program},
};

__attribute__((visibility("default"))) function eglGetProcAddress(const char *name)
{
    function found = find(name);
    get_program = (PFNGLGETPROGRAMIVPROC)find("glGetProgramiv");
    for (size_t i = 0; found && i < sizeof replaced / sizeof *replaced; i++)
        if (strcmp(name, replaced[i].name) == 0) {
            memcpy(replaced[i].kept, &found, sizeof found);
            return replaced[i].mine;
        }
    return found;
}
