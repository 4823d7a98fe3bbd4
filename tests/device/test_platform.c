/* The choice of a device and the life of its context.
 *
 * What is expected is derived from platform_list, so that the tests hold on a machine with GPUs as
 * on one without. Mesa reads its environment once in a process, so what depends on that runs in a
 * process of its own: this program, called with --open, opens a device and prints the outcome.
 */
#include "device/device.h"
#include "platform/drm.h"
#include "platform/platform.h"
#include "tests/folder.h"
#include "tests/unit.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANDIDATES_MAX 64
#define NOBODY         65534

static const char *program; /* argv[0] */

/* ---------------------------------------------------------------------------------- helpers */

struct journal {
    size_t lines[GLCNN_LOG_DEBUG + 1];
    char text[8192];
};

static void keep_line(void *user, glcnn_log_level level, const char *text)
{
    struct journal *journal = user;
    size_t used = strlen(journal->text);
    journal->lines[level]++;
    snprintf(journal->text + used, sizeof journal->text - used, "%s\n", text);
}

static platform_context *open_device(const char *device)
{
    const struct platform_request request = {.device = device};
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    glcnn_status status = platform_open(&request, &context, error);
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    return context;
}

static void check_refused(const struct platform_request *request, glcnn_status expected,
                          const char *phrase)
{
    platform_context *context = (platform_context *)request; /* anything but NULL */
    char error[PLATFORM_ERROR] = "";
    CU_ASSERT_EQUAL(platform_open(request, &context, error), expected);
    CU_ASSERT_PTR_NULL(context);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (strstr(error, phrase) == NULL)
        fprintf(stderr, "\nexpected \"%s\" in: %s\n", phrase, error);
}

/* Whether the context does what it is for: a buffer is written and read back. */
static bool context_works(platform_context *context)
{
    PFNGLGENBUFFERSPROC gen = (PFNGLGENBUFFERSPROC)platform_symbol(context, "glGenBuffers");
    PFNGLBINDBUFFERPROC bind = (PFNGLBINDBUFFERPROC)platform_symbol(context, "glBindBuffer");
    PFNGLBUFFERDATAPROC data = (PFNGLBUFFERDATAPROC)platform_symbol(context, "glBufferData");
    PFNGLMAPBUFFERRANGEPROC map =
        (PFNGLMAPBUFFERRANGEPROC)platform_symbol(context, "glMapBufferRange");
    PFNGLDELETEBUFFERSPROC drop =
        (PFNGLDELETEBUFFERSPROC)platform_symbol(context, "glDeleteBuffers");
    PFNGLGETERRORPROC get_error = (PFNGLGETERRORPROC)platform_symbol(context, "glGetError");
    static const unsigned char bytes[] = {1, 2, 3, 4};
    GLuint buffer = 0;
    gen(1, &buffer);
    bind(GL_SHADER_STORAGE_BUFFER, buffer);
    data(GL_SHADER_STORAGE_BUFFER, sizeof bytes, bytes, GL_STATIC_DRAW);
    void *mapped = map(GL_SHADER_STORAGE_BUFFER, 0, sizeof bytes, GL_MAP_READ_BIT);
    bool same = mapped != NULL && memcmp(mapped, bytes, sizeof bytes) == 0;
    drop(1, &buffer);
    return same && get_error() == GL_NO_ERROR;
}

struct outcome {
    int status;
    char text[PLATFORM_ERROR];
};

/* Opens `device` in another process with this environment, "A=1 B=2". */
static struct outcome open_elsewhere(const char *environment, const char *option,
                                     const char *device)
{
    struct outcome outcome = {-1, ""};
    char command[1024];
    snprintf(command, sizeof command, "env %s '%s' %s '%s'", environment, program, option, device);
    FILE *pipe = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
    if (fscanf(pipe, "%d ", &outcome.status) != 1 ||
        fgets(outcome.text, sizeof outcome.text, pipe) == NULL)
        outcome.status = -1;
    CU_ASSERT_EQUAL(pclose(pipe), 0);
    return outcome;
}

/* The other process: its device is "-" where none is named. */
static int print_outcome(const char *device)
{
    const struct platform_request request = {.device = strcmp(device, "-") == 0 ? NULL : device};
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    glcnn_status status = platform_open(&request, &context, error);
    const char *text = context != NULL ? platform_chosen(context)->detail : error;
    printf("%d %s\n", (int)status, text);
    platform_close(&context);
    return 0;
}

/* The same with an effective user that is not the real one, as in a setuid program. */
static int print_as_other(int (*print)(const char *device), const char *device)
{
    uid_t user = geteuid();
    if (seteuid(NOBODY) != 0)
        return EXIT_FAILURE;
    int result = print(device);
    return seteuid(user) == 0 ? result : EXIT_FAILURE; /* LeakSanitizer stops at a foreign user */
}

static void keep_error(void *user, glcnn_log_level level, const char *text)
{
    if (level == GLCNN_LOG_ERROR)
        snprintf(user, PLATFORM_ERROR, "%s", text);
}

/* What the environment has made of a device: implementations, a folder of shaders, one of programs. */
static int print_device(const char *unused)
{
    char text[PLATFORM_ERROR] = "";
    const struct glcnn_device_parameters parameters = {
        .device = "software", .log = keep_error, .log_user = text};
    glcnn_device *device = NULL;
    (void)unused;
    glcnn_status status = glcnn_device_create(&parameters, &device);
    if (device != NULL)
        snprintf(text, sizeof text, "%s,%s,%s",
                 device->forced_implementations != NULL ? device->forced_implementations : "",
                 device->shader_folder != NULL ? device->shader_folder : "",
                 device->info.program_folder);
    printf("%d %s\n", (int)status, text);
    glcnn_device_destroy(&device);
    return 0;
}

/* ------------------------------------------------------------------------ list and choice */

static size_t list_all(struct platform_candidate *candidates)
{
    size_t count = platform_list(candidates, CANDIDATES_MAX);
    CU_ASSERT_FATAL(count <= CANDIDATES_MAX);
    return count;
}

static bool any_software(void)
{
    struct platform_candidate candidates[CANDIDATES_MAX];
    size_t count = list_all(candidates);
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].usable && candidates[i].software)
            return true;
    }
    return false;
}

static void index_chooses_what_the_list_shows(void)
{
    struct platform_candidate candidates[CANDIDATES_MAX];
    size_t count = list_all(candidates);
    CU_ASSERT(count > 0);
    for (size_t i = 0; i < count; i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        const struct platform_request request = {.device = index};
        if (!candidates[i].usable) {
            check_refused(&request, GLCNN_NO_DEVICE, candidates[i].provider);
            continue;
        }
        platform_context *context = open_device(index);
        const struct platform_candidate *chosen = platform_chosen(context);
        CU_ASSERT_STRING_EQUAL(chosen->provider, candidates[i].provider);
        CU_ASSERT_STRING_EQUAL(chosen->node, candidates[i].node);
        CU_ASSERT_STRING_EQUAL(chosen->detail, candidates[i].detail);
        CU_ASSERT_EQUAL(chosen->software, candidates[i].software);
        CU_ASSERT(chosen->usable);
        CU_ASSERT_PTR_NOT_NULL(strstr(platform_reason(context), index));
        platform_close(&context);
    }
}

static void path_and_driver_choose_their_node(void)
{
    struct platform_candidate candidates[CANDIDATES_MAX];
    size_t count = list_all(candidates);
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].node[0] == '\0' || !candidates[i].usable)
            continue;
        platform_context *context = open_device(candidates[i].node);
        CU_ASSERT_STRING_EQUAL(platform_chosen(context)->node, candidates[i].node);
        platform_close(&context);
        if (candidates[i].driver[0] == '\0')
            continue;
        context = open_device(candidates[i].driver);
        CU_ASSERT_STRING_EQUAL(platform_chosen(context)->driver, candidates[i].driver);
        platform_close(&context);
    }
    CU_ASSERT(count > 0);
}

static void list_fills_no_more_than_there_is_room(void)
{
    struct platform_candidate candidates[2];
    memset(candidates, 0x5a, sizeof candidates);
    size_t count = platform_list(NULL, 0);
    CU_ASSERT_EQUAL(platform_list(candidates, 1), count);
    CU_ASSERT(count > 0 && candidates[0].provider[0] != 0x5a);
    CU_ASSERT_EQUAL(candidates[1].provider[0], 0x5a);
}

static void software_is_chosen_by_name(void)
{
    const struct platform_request request = {.device = "software"};
    if (!any_software()) {
        check_refused(&request, GLCNN_NO_DEVICE, "software");
        return;
    }
    platform_context *context = open_device("software");
    CU_ASSERT(platform_chosen(context)->software);
    CU_ASSERT(platform_is_current(context));
    CU_ASSERT(context_works(context));
    platform_close(&context);
}

static void bad_strings_are_refused(void)
{
    static const struct {
        const char *device;
        glcnn_status status;
        const char *phrase;
    } rows[] = {
        {"", GLCNN_INVALID_ARGUMENT, "device is an empty string"},
        {"4096", GLCNN_NO_DEVICE, "\"4096\" is not one of the devices here: 0 "},
        {"18446744073709551615", GLCNN_NO_DEVICE, "is not one of the devices here"},
        {"99999999999999999999999", GLCNN_NO_DEVICE, "is not one of the devices here"},
        {"-1", GLCNN_NO_DEVICE, "\"-1\" is not one of the devices here"},
        {"0x0", GLCNN_NO_DEVICE, "\"0x0\" is not one of the devices here"},
        {"no_such_driver", GLCNN_NO_DEVICE, "\"no_such_driver\" is not one of the devices here"},
        {"/dev/null", GLCNN_NO_DEVICE, "\"/dev/null\" is not one of the devices here"},
        {"/dev/dri/renderD4096", GLCNN_NO_DEVICE, "give one of these indices, a node path"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct platform_request request = {.device = rows[i].device};
        check_refused(&request, rows[i].status, rows[i].phrase);
    }
}

static void long_strings_are_cut_and_not_overrun(void)
{
    char device[5000];
    memset(device, 'x', sizeof device);
    device[sizeof device - 1] = '\0';
    const struct platform_request request = {.device = device};
    check_refused(&request, GLCNN_NO_DEVICE, "xxx\" is not one of the devices here");
}

static void environment_chooses_unless_the_request_does(void)
{
    const struct platform_request by_environment = {.device = NULL};
    platform_context *context = open_device(NULL);
    char index[24] = "0", provider[16];
    snprintf(provider, sizeof provider, "%s", platform_chosen(context)->provider);
    platform_close(&context);

    setenv("GLCNN_DEVICE", "no_such_driver", 1);
    check_refused(&by_environment, GLCNN_NO_DEVICE, "GLCNN_DEVICE=no_such_driver is not one");
    struct platform_candidate candidates[CANDIDATES_MAX];
    size_t count = list_all(candidates);
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].usable)
            snprintf(index, sizeof index, "%zu", i);
    }
    context = open_device(index);
    CU_ASSERT_PTR_NOT_NULL(strstr(platform_reason(context), "device \""));
    platform_close(&context);

    setenv("GLCNN_DEVICE", index, 1);
    context = open_device(NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(platform_reason(context), "GLCNN_DEVICE="));
    platform_close(&context);

    setenv("GLCNN_DEVICE", "", 1);
    context = open_device(NULL);
    CU_ASSERT_STRING_EQUAL(platform_chosen(context)->provider, provider);
    platform_close(&context);
    unsetenv("GLCNN_DEVICE");
}

static void environment_is_ignored_by_a_privileged_program(void)
{
    struct outcome outcome = open_elsewhere("GLCNN_DEVICE=no_such_driver", "--open", "-");
    CU_ASSERT_EQUAL(outcome.status, GLCNN_NO_DEVICE);
    if (getuid() != 0)
        return; /* only root can take an effective user that is not its own */
    /* virpipe would end the process: its socket is closed to another user. */
    outcome = open_elsewhere("GLCNN_DEVICE=no_such_driver GALLIUM_DRIVER=llvmpipe",
                             "--open-as-other", "-");
    CU_ASSERT(outcome.status >= 0);
    CU_ASSERT_PTR_NULL(strstr(outcome.text, "no_such_driver"));
}

#define SHADERS "/tmp/glcnn-shaders"

/* A variable, and what a device says that is opened with it by a program with the rights of the one
 * who started it. */
static const struct {
    const char *setting;
    glcnn_status status;
    const char *text;
} settings[] = {
    {"GLCNN_LIMITS=none", GLCNN_INVALID_ARGUMENT, "GLCNN_LIMITS"},
    {"GLCNN_DEBUG=none", GLCNN_INVALID_ARGUMENT, "GLCNN_DEBUG"},
    {"GLCNN_TUNE=none", GLCNN_INVALID_ARGUMENT, "GLCNN_TUNE"},
    {"GLCNN_IMPLEMENTATIONS=convolution_tiled", GLCNN_SUCCESS, "convolution_tiled,,"},
    {"GLCNN_SHADERS=" SHADERS, GLCNN_SUCCESS, "," SHADERS ","},
    {"GLCNN_CACHE_DIR=/tmp/glcnn-cache", GLCNN_SUCCESS, ",,/tmp/glcnn-cache"},
    {"XDG_CACHE_HOME=/tmp/glcnn-home", GLCNN_SUCCESS, ",,/tmp/glcnn-home"},
};

/* A shader is written when a device is opened, so its folder is there. */
static void no_setting_reaches_a_privileged_program(void)
{
    mkdir(SHADERS, 0700);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char environment[128];
        snprintf(environment, sizeof environment,
                 "-u GLCNN_CACHE_DIR -u GLCNN_LIMITS GALLIUM_DRIVER=llvmpipe %s",
                 settings[i].setting);
        struct outcome outcome = open_elsewhere(environment, "--create", "-");
        CU_ASSERT_EQUAL(outcome.status, settings[i].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, settings[i].text));
        if (getuid() != 0)
            continue;
        outcome = open_elsewhere(environment, "--create-as-other", "-");
        CU_ASSERT_EQUAL(outcome.status, GLCNN_SUCCESS);
        CU_ASSERT_STRING_EQUAL(outcome.text, ",,\n");
    }
    folder_empty(SHADERS);
    rmdir(SHADERS);
}

/* ------------------------------------------------------------------------------- software */

static void forbidden_software_is_named_and_refused(void)
{
    const struct platform_request request = {.forbid_software = true};
    struct platform_candidate candidates[CANDIDATES_MAX];
    size_t count = list_all(candidates);
    const struct platform_candidate *software = NULL, *gpu = NULL;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].usable && candidates[i].software)
            software = &candidates[i];
        else if (candidates[i].usable)
            gpu = &candidates[i];
    }
    if (gpu == NULL) {
        check_refused(&request, GLCNN_NO_DEVICE, "software is forbidden");
        if (software != NULL)
            check_refused(&request, GLCNN_NO_DEVICE, software->detail);
        return;
    }
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    CU_ASSERT_EQUAL(platform_open(&request, &context, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    CU_ASSERT(!platform_chosen(context)->software);
    platform_close(&context);
}

static void software_asked_for_and_forbidden_is_an_error(void)
{
    const struct platform_request request = {.device = "software", .forbid_software = true};
    check_refused(&request, GLCNN_INVALID_ARGUMENT, "forbid_software refuses");
}

static void software_is_warned_of_once(void)
{
    struct journal journal = {.text = ""};
    const struct platform_request request = {.log = keep_line, .log_user = &journal};
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    CU_ASSERT_EQUAL(platform_open(&request, &context, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    bool warned = strstr(journal.text, "running on a software rasteriser") != NULL;
    CU_ASSERT_EQUAL(warned, platform_chosen(context)->software);
    if (warned)
        CU_ASSERT_PTR_NOT_NULL(strstr(journal.text, "GLCNN_DEVICE"));
    CU_ASSERT(journal.lines[GLCNN_LOG_DEBUG] >= 1);
    CU_ASSERT_EQUAL(journal.lines[GLCNN_LOG_INFO], 1);
    CU_ASSERT(journal.lines[GLCNN_LOG_WARNING] <= 2); /* software, and a node without permission */
    CU_ASSERT_EQUAL(journal.lines[GLCNN_LOG_ERROR], 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(journal.text, platform_chosen(context)->detail));
    platform_close(&context);
}

/* -------------------------------------------------------------------- drivers that fall short */

static void drivers_below_es31_say_what_they_are(void)
{
    if (!any_software())
        return; /* the override is Mesa's */
    static const char *const versions[] = {"3.0", "2.0"};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char environment[64], phrase[64];
        snprintf(environment, sizeof environment, "MESA_GLES_VERSION_OVERRIDE=%s", versions[i]);
        snprintf(phrase, sizeof phrase, "found \"OpenGL ES %s", versions[i]);
        struct outcome outcome = open_elsewhere(environment, "--open", "software");
        CU_ASSERT_EQUAL(outcome.status, GLCNN_NO_DEVICE);
        CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, phrase));
        CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, "need OpenGL ES 3.1"));
    }
}

static void exactly_es31_is_enough(void)
{
    struct outcome outcome = open_elsewhere("MESA_GLES_VERSION_OVERRIDE=3.1", "--open", "-");
    CU_ASSERT_EQUAL(outcome.status, GLCNN_SUCCESS);
}

static void no_robust_context_is_no_failure(void)
{
    if (!any_software())
        return; /* softpipe is Mesa's, and refuses robustness */
    struct outcome outcome = open_elsewhere("GALLIUM_DRIVER=softpipe", "--open", "software");
    CU_ASSERT_EQUAL(outcome.status, GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, "softpipe"));
}

static void no_driver_at_all_is_an_error(void)
{
    struct outcome outcome =
        open_elsewhere("__EGL_VENDOR_LIBRARY_FILENAMES=/dev/null", "--open", "-");
    CU_ASSERT_EQUAL(outcome.status, GLCNN_NO_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.text, "no device gives OpenGL ES 3.1: "));
}

static void display_variables_have_no_say(void)
{
    struct outcome plain = open_elsewhere("GLCNN_DEVICE=", "--open", "-");
    struct outcome misled =
        open_elsewhere("DISPLAY=:77 WAYLAND_DISPLAY=wayland-77 EGL_PLATFORM=x11", "--open", "-");
    CU_ASSERT_EQUAL(misled.status, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(misled.text, plain.text);
}

/* ------------------------------------------------------------------------- life of a context */

static void closing_twice_is_harmless(void)
{
    platform_context *context = open_device(NULL);
    platform_close(&context);
    CU_ASSERT_PTR_NULL(context);
    platform_close(&context);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), EGL_NO_CONTEXT);
}

static void two_contexts_live_side_by_side(void)
{
    platform_context *first = open_device(NULL);
    platform_context *second = open_device(NULL);
    CU_ASSERT(!platform_is_current(first) && platform_is_current(second));
    CU_ASSERT(context_works(second));
    CU_ASSERT(platform_make_current(first));
    CU_ASSERT(platform_is_current(first) && !platform_is_current(second));
    CU_ASSERT(context_works(first));

    platform_close(&second);
    CU_ASSERT(platform_is_current(first));
    CU_ASSERT(context_works(first));

    second = open_device(NULL);
    platform_close(&first);
    CU_ASSERT(platform_is_current(second));
    CU_ASSERT(context_works(second));
    platform_close(&second);
}

static void released_context_can_be_taken_again(void)
{
    platform_context *context = open_device(NULL);
    platform_context *other = open_device(NULL);
    platform_release_current(context); /* it is not current: `other` stays */
    CU_ASSERT(platform_is_current(other));
    platform_release_current(other);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), EGL_NO_CONTEXT);
    CU_ASSERT(platform_make_current(context));
    CU_ASSERT(context_works(context));
    platform_close(&other);
    platform_close(&context);
}

static void *use_on_thread(void *context)
{
    bool good = platform_make_current(context) && context_works(context);
    platform_release_current(context);
    return good ? context : NULL;
}

static void context_moves_to_another_thread(void)
{
    platform_context *context = open_device(NULL);
    pthread_t thread;
    void *result = NULL;
    platform_release_current(context);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, use_on_thread, context) == 0);
    pthread_join(thread, &result);
    CU_ASSERT_PTR_EQUAL(result, context);
    CU_ASSERT(platform_make_current(context) && context_works(context));
    platform_close(&context);
}

static void list_and_failure_leave_the_current_context(void)
{
    const struct platform_request impossible = {.device = "4096"};
    const struct platform_request forbidding = {.forbid_software = true};
    platform_context *context = open_device(NULL), *other = NULL;
    char error[PLATFORM_ERROR];
    CU_ASSERT(platform_list(NULL, 0) > 0);
    struct platform_candidate candidates[CANDIDATES_MAX];
    list_all(candidates);
    CU_ASSERT(platform_is_current(context));
    CU_ASSERT(context_works(context));
    CU_ASSERT_EQUAL(platform_open(&impossible, &other, error), GLCNN_NO_DEVICE);
    CU_ASSERT(platform_is_current(context));
    if (platform_open(&forbidding, &other, error) != GLCNN_SUCCESS)
        CU_ASSERT(platform_is_current(context));
    platform_close(&other);
    platform_close(&context);
}

static void debug_context_is_given_where_asked_for(void)
{
    const struct platform_request request = {.debug = true};
    const GLenum debug_output = 0x92E0; /* of GL_KHR_debug: on from the start in a debug context */
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    CU_ASSERT_EQUAL(platform_open(&request, &context, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    PFNGLISENABLEDPROC enabled = (PFNGLISENABLEDPROC)platform_symbol(context, "glIsEnabled");
    PFNGLGETSTRINGPROC text = (PFNGLGETSTRINGPROC)platform_symbol(context, "glGetString");
    if (strstr((const char *)text(GL_EXTENSIONS), "GL_KHR_debug") != NULL)
        CU_ASSERT(enabled(debug_output));
    CU_ASSERT(context_works(context));
    platform_close(&context);
}

/* ----------------------------------------------------------------------- the caller's context */

static void current_context_is_borrowed(void)
{
    struct journal journal = {.text = ""};
    const struct platform_request request = {
        .use_current = true, .log = keep_line, .log_user = &journal};
    platform_context *owner = open_device(NULL), *borrower = NULL;
    char error[PLATFORM_ERROR];
    EGLContext native = eglGetCurrentContext();
    CU_ASSERT_EQUAL(platform_open(&request, &borrower, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(borrower);
    CU_ASSERT_STRING_EQUAL(platform_chosen(borrower)->provider, "current");
    CU_ASSERT_STRING_EQUAL(platform_chosen(borrower)->detail, platform_chosen(owner)->detail);
    CU_ASSERT_EQUAL(platform_is_robust(borrower), platform_is_robust(owner));
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), native);
    CU_ASSERT(context_works(borrower));

    platform_release_current(borrower);
    CU_ASSERT(!platform_is_current(owner));
    CU_ASSERT(platform_make_current(borrower));
    CU_ASSERT(platform_is_current(owner));

    platform_close(&borrower);
    CU_ASSERT_PTR_NULL(borrower);
    CU_ASSERT(platform_is_current(owner));
    CU_ASSERT(context_works(owner));
    platform_close(&owner);
}

static void no_current_context_passes_on(void)
{
    struct journal journal = {.text = ""};
    const struct platform_request request = {
        .use_current = true, .log = keep_line, .log_user = &journal};
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    CU_ASSERT_EQUAL(platform_open(&request, &context, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    CU_ASSERT_STRING_NOT_EQUAL(platform_chosen(context)->provider, "current");
    CU_ASSERT_PTR_NOT_NULL(strstr(journal.text, "no context is current on this thread"));
    CU_ASSERT(context_works(context));
    platform_close(&context);
}

static void forbidden_software_excludes_the_current_context_too(void)
{
    const struct platform_request request = {
        .device = "4096", .use_current = true, .forbid_software = true};
    platform_context *owner = open_device(NULL), *borrower = NULL;
    char error[PLATFORM_ERROR];
    glcnn_status status = platform_open(&request, &borrower, error);
    if (platform_chosen(owner)->software) {
        CU_ASSERT_EQUAL(status, GLCNN_NO_DEVICE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "current context: "));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "software is forbidden"));
    } else {
        CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    }
    CU_ASSERT(platform_is_current(owner));
    platform_close(&borrower);
    platform_close(&owner);
}

/* A context of the application's own, with a surface of one pixel. */
struct application {
    EGLDisplay display;
    EGLSurface surface;
    EGLContext context;
};

static bool application_start(struct application *application, EGLenum api, EGLint renderable)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, renderable,
                             EGL_NONE};
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    application->display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
    if (!eglInitialize(application->display, NULL, NULL) || !eglBindAPI(api) ||
        !eglChooseConfig(application->display, wanted, &config, 1, &count) || count != 1)
        return false;
    application->context = eglCreateContext(application->display, config, EGL_NO_CONTEXT, version);
    application->surface = eglCreatePbufferSurface(application->display, config, size);
    return application->context != EGL_NO_CONTEXT && application->surface != EGL_NO_SURFACE &&
           eglMakeCurrent(application->display, application->surface, application->surface,
                          application->context);
}

static void application_stop(struct application *application)
{
    eglMakeCurrent(application->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroySurface(application->display, application->surface);
    eglDestroyContext(application->display, application->context);
    eglBindAPI(EGL_OPENGL_ES_API);
}

static void borrowed_context_keeps_its_surfaces(void)
{
    const struct platform_request request = {.use_current = true};
    struct application application;
    platform_context *context = NULL;
    char error[PLATFORM_ERROR];
    if (!any_software())
        return; /* Mesa's surfaceless platform is what the application runs on */
    CU_ASSERT_FATAL(application_start(&application, EGL_OPENGL_ES_API, EGL_OPENGL_ES3_BIT));
    CU_ASSERT_EQUAL(platform_open(&request, &context, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(context);
    platform_context *other = open_device("software"); /* takes its place for a while */
    platform_close(&other);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentSurface(EGL_DRAW), EGL_NO_SURFACE);
    CU_ASSERT(platform_make_current(context));
    CU_ASSERT_PTR_EQUAL(eglGetCurrentSurface(EGL_DRAW), application.surface);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentSurface(EGL_READ), application.surface);
    platform_close(&context);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), application.context);
    application_stop(&application);
}

static void desktop_context_is_passed_over_and_put_back(void)
{
    const struct platform_request request = {.device = "4096", .use_current = true};
    struct application application;
    struct platform_candidate candidates[CANDIDATES_MAX];
    if (!any_software())
        return; /* as above */
    CU_ASSERT_FATAL(application_start(&application, EGL_OPENGL_API, EGL_OPENGL_BIT));
    check_refused(&request, GLCNN_NO_DEVICE, "is not one of OpenGL ES");
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), application.context);
    list_all(candidates);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentContext(), application.context);
    CU_ASSERT_PTR_EQUAL(eglGetCurrentSurface(EGL_DRAW), application.surface);
    CU_ASSERT_EQUAL(eglQueryAPI(), EGL_OPENGL_API);

    platform_context *context = open_device("software");
    CU_ASSERT(platform_is_current(context));
    CU_ASSERT_EQUAL(eglQueryAPI(), EGL_OPENGL_API);
    platform_close(&context);
    application_stop(&application);
}

/* ----------------------------------------------------------------------------- nodes of DRM */

/* A folder of files named like nodes, which any user may enter. */
static void make_folder(char *folder, const char *const *names, size_t count)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_EQUAL(chmod(folder, 0755), 0);
    for (size_t i = 0; i < count; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
}

static void remove_folder(const char *folder, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void nodes_come_by_kind_and_number(void)
{
    static const char *const names[] = {"card10",     "renderD130", "card2",  "controlD64",
                                        "renderD129", "renderDx",   "card1x", "card"};
    static const char *const expected[] = {"renderD129", "renderD130", "card2", "card10"};
    const size_t count = sizeof expected / sizeof expected[0];
    char folder[] = "/tmp/glcnn-nodes-XXXXXX";
    struct drm_node nodes[DRM_NODES_MAX];
    make_folder(folder, names, sizeof names / sizeof names[0]);
    CU_ASSERT_EQUAL_FATAL(drm_scan(folder, nodes, DRM_NODES_MAX), count);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(strrchr(nodes[i].path, '/') + 1, expected[i]);
        CU_ASSERT_EQUAL(nodes[i].render, i < 2);
    }
    CU_ASSERT_EQUAL(drm_scan(folder, nodes, 1), 1);
    remove_folder(folder, names, sizeof names / sizeof names[0]);
    CU_ASSERT_EQUAL(drm_scan(folder, nodes, DRM_NODES_MAX), 0);
}

/* What drm_denied says to a user without rights: root asks as nobody, in another process. */
static void ask_denied(const char *path, char text[PLATFORM_TEXT])
{
    int ends[2];
    CU_ASSERT_FATAL(pipe(ends) == 0);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        char reason[PLATFORM_TEXT] = "allowed";
        if (getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(1);
        drm_denied(path, reason);
        _exit(write(ends[1], reason, sizeof reason) != sizeof reason);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], text, PLATFORM_TEXT), PLATFORM_TEXT);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void denied_node_names_the_group_to_join(void)
{
    static const char *const names[] = {"renderD128"};
    static const gid_t groups[] = {1, 54321}; /* with a name on most systems, and without one */
    char folder[] = "/tmp/glcnn-nodes-XXXXXX", path[128], text[PLATFORM_TEXT], expected[128];
    make_folder(folder, names, 1);
    snprintf(path, sizeof path, "%s/%s", folder, names[0]);
    chmod(path, 0);
    ask_denied(path, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "its mode 0000 with group"));
    chmod(path, 0660);
    for (size_t i = 0; getuid() == 0 && i < sizeof groups / sizeof groups[0]; i++) {
        const struct group *group = getgrgid(groups[i]);
        CU_ASSERT_EQUAL(chown(path, 0, groups[i]), 0);
        if (group != NULL)
            snprintf(expected, sizeof expected, "add the user to group '%s'", group->gr_name);
        else
            snprintf(expected, sizeof expected, "add the user to group %u", (unsigned)groups[i]);
        ask_denied(path, text);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, expected));
    }
    chmod(path, 0666);
    ask_denied(path, text);
    CU_ASSERT_STRING_EQUAL(text, "allowed");
    remove_folder(folder, names, 1);
    ask_denied(path, text);
    CU_ASSERT_STRING_EQUAL(text, "allowed"); /* what is not there is no matter of permission */
}

static void a_link_to_a_node_is_that_node(void)
{
    char folder[] = "/tmp/glcnn-nodes-XXXXXX", link[128];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/link", folder);
    CU_ASSERT_EQUAL(symlink("/dev/null", link), 0);
    CU_ASSERT(drm_same_node(link, "/dev/null"));
    CU_ASSERT(!drm_same_node(link, "/dev/zero"));
    CU_ASSERT(!drm_same_node("/dev/null", "/nowhere"));
    CU_ASSERT(drm_same_node("/nowhere", "/nowhere"));
    unlink(link);
    rmdir(folder);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(index_chooses_what_the_list_shows),
        UNIT_TEST(path_and_driver_choose_their_node),
        UNIT_TEST(list_fills_no_more_than_there_is_room),
        UNIT_TEST(software_is_chosen_by_name),
        UNIT_TEST(bad_strings_are_refused),
        UNIT_TEST(long_strings_are_cut_and_not_overrun),
        UNIT_TEST(environment_chooses_unless_the_request_does),
        UNIT_TEST(environment_is_ignored_by_a_privileged_program),
        UNIT_TEST(no_setting_reaches_a_privileged_program),
        UNIT_TEST(forbidden_software_is_named_and_refused),
        UNIT_TEST(software_asked_for_and_forbidden_is_an_error),
        UNIT_TEST(software_is_warned_of_once),
        UNIT_TEST(drivers_below_es31_say_what_they_are),
        UNIT_TEST(exactly_es31_is_enough),
        UNIT_TEST(no_robust_context_is_no_failure),
        UNIT_TEST(no_driver_at_all_is_an_error),
        UNIT_TEST(display_variables_have_no_say),
        UNIT_TEST(closing_twice_is_harmless),
        UNIT_TEST(two_contexts_live_side_by_side),
        UNIT_TEST(released_context_can_be_taken_again),
        UNIT_TEST(context_moves_to_another_thread),
        UNIT_TEST(list_and_failure_leave_the_current_context),
        UNIT_TEST(debug_context_is_given_where_asked_for),
        UNIT_TEST(current_context_is_borrowed),
        UNIT_TEST(no_current_context_passes_on),
        UNIT_TEST(forbidden_software_excludes_the_current_context_too),
        UNIT_TEST(borrowed_context_keeps_its_surfaces),
        UNIT_TEST(desktop_context_is_passed_over_and_put_back),
        UNIT_TEST(nodes_come_by_kind_and_number),
        UNIT_TEST(denied_node_names_the_group_to_join),
        UNIT_TEST(a_link_to_a_node_is_that_node),
        CU_TEST_INFO_NULL,
    };
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "--open") == 0)
        return print_outcome(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--open-as-other") == 0)
        return print_as_other(print_outcome, argv[2]);
    if (argc == 3 && strcmp(argv[1], "--create") == 0)
        return print_device(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--create-as-other") == 0)
        return print_as_other(print_device, argv[2]);
    unsetenv("GLCNN_DEVICE"); /* the tests are about what is listed, whoever calls them */
    return unit_run("platform", tests, argc, argv);
}
