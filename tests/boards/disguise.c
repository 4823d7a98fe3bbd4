/* Preloaded into a program that uses OpenGL ES: the driver gives itself out as another, so that
 * GLCNN_SHADERS gets the sources that the library writes for that one.
 *
 *   DISGUISE=FILE LD_PRELOAD=./disguise.so PROGRAM
 *
 * FILE is what "compile -d" prints on the other driver: its strings and limits. Dispatches of many groups are
 * dropped, which saves most of the time: the smoke test of a program has one group, and the passes that read a
 * result and count commits have few. Nothing else has to be computed.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <GLES3/gl31.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GROUPS 1024

typedef __eglMustCastToProperFunctionPointerType function;

static char vendor[128], renderer[128];
static struct {
    GLenum name;
    int value;
} limits[32];
static size_t limit_count;
static int sizes[3];

static PFNGLGETSTRINGPROC get_string;
static PFNGLGETINTEGERVPROC get_integer;
static PFNGLGETINTEGER64VPROC get_integer64;
static PFNGLGETINTEGERI_VPROC get_indexed;
static PFNGLDISPATCHCOMPUTEPROC dispatch_compute;

static void read_line(const char *line)
{
    unsigned name;
    int value;
    if (sscanf(line, "limit %x %d", &name, &value) == 2 && limit_count < 32) {
        limits[limit_count].name = name;
        limits[limit_count++].value = value;
    } else if (sscanf(line, "size %u %d", &name, &value) == 2 && name < 3) {
        sizes[name] = value;
    } else {
        sscanf(line, "vendor %127[^\n]", vendor);
        sscanf(line, "renderer %127[^\n]", renderer);
    }
}

__attribute__((constructor)) static void read_disguise(void)
{
    const char *path = getenv("DISGUISE");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    while (file && fgets(line, sizeof line, file))
        read_line(line);
    if (!file || !*renderer) {
        fprintf(stderr, "disguise: DISGUISE names no file with a driver's name\n");
        exit(2);
    }
    fclose(file);
}

/* ---- In place of the driver's ---- */

static const GLubyte *GL_APIENTRY my_get_string(GLenum name)
{
    const char *mine = name == GL_VENDOR ? vendor : name == GL_RENDERER ? renderer : "";
    return *mine ? (const GLubyte *)mine : get_string(name);
}

static const int *limit_of(GLenum name)
{
    for (size_t i = 0; i < limit_count; i++)
        if (limits[i].name == name)
            return &limits[i].value;
    return NULL;
}

static void GL_APIENTRY my_get_integer(GLenum name, GLint *value)
{
    const int *mine = limit_of(name);
    if (mine)
        *value = *mine;
    else
        get_integer(name, value);
}

static void GL_APIENTRY my_get_integer64(GLenum name, GLint64 *value)
{
    const int *mine = limit_of(name);
    if (mine)
        *value = *mine;
    else
        get_integer64(name, value);
}

static void GL_APIENTRY my_get_indexed(GLenum name, GLuint index, GLint *value)
{
    if (name == GL_MAX_COMPUTE_WORK_GROUP_SIZE && index < 3)
        *value = sizes[index];
    else
        get_indexed(name, index, value);
}

static void GL_APIENTRY my_dispatch_compute(GLuint x, GLuint y, GLuint z)
{
    if ((double)x * y * z <= MOST_GROUPS)
        dispatch_compute(x, y, z);
}

static const struct {
    const char *name;
    void *kept; /* where the driver's goes */
    function mine;
} replaced[] = {
    {"glGetString", &get_string, (function)my_get_string},
    {"glGetIntegerv", &get_integer, (function)my_get_integer},
    {"glGetInteger64v", &get_integer64, (function)my_get_integer64},
    {"glGetIntegeri_v", &get_indexed, (function)my_get_indexed},
    {"glDispatchCompute", &dispatch_compute, (function)my_dispatch_compute},
};

__attribute__((visibility("default"))) function eglGetProcAddress(const char *name)
{
    static function (*get)(const char *);
    if (!get)
        *(void **)&get = dlsym(RTLD_NEXT, "eglGetProcAddress");
    function found = get(name);
    for (size_t i = 0; found && i < sizeof replaced / sizeof *replaced; i++)
        if (strcmp(name, replaced[i].name) == 0) {
            memcpy(replaced[i].kept, &found, sizeof found);
            return replaced[i].mine;
        }
    return found;
}
