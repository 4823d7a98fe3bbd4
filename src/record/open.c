/* Opening and closing of devices: all that a device keeps, made and destroyed. Stands in this room,
 * above device.c, because the cache of programs and the smoke test's resources are among it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/buffer.h"
#include "device/debug.h"
#include "device/limits.h"
#include "device/quirks.h"
#include "device/traits.h"
#include "record/binary_folder.h"
#include "record/smoke_test.h"
#include "record/tuning_cache.h"
#include "record/commit_count.h"
#include "record/profile.h"
#include "record/program.h"
#include "record/staging.h"
#include "record/stores.h"

#define DEFAULT_COMPILE_SECONDS 10
#define PROGRAMS_AT_ONCE        64

static void GL_APIENTRY forward_driver_message(GLenum source, GLenum type, GLuint id,
                                               GLenum severity, GLsizei length,
                                               const GLchar *message, const void *user)
{
    (void)source, (void)id, (void)severity, (void)length;
    glcnn_device *device = (glcnn_device *)(uintptr_t)user;
    device_log(device, type == GL_DEBUG_TYPE_ERROR_KHR ? GLCNN_LOG_WARNING : GLCNN_LOG_DEBUG,
               "driver: %s", message);
}

static gl_function load_symbol(const void *user, const char *name)
{
    return platform_symbol(user, name);
}

static void fill_info(struct glcnn_device *device, bool clamped)
{
    const struct platform_candidate *chosen = platform_chosen(device->platform);
    struct glcnn_device_properties *info = &device->info;
    info->provider = chosen->provider;
    info->node = chosen->node;
    info->driver = chosen->driver;
    info->reason = platform_reason(device->platform);
    info->vendor = (const char *)device->gl.GetString(GL_VENDOR);
    info->renderer = (const char *)device->gl.GetString(GL_RENDERER);
    info->gl_version = (const char *)device->gl.GetString(GL_VERSION);
    info->shading_language_version =
        (const char *)device->gl.GetString(GL_SHADING_LANGUAGE_VERSION);
    info->software = chosen->software;
    info->robust = platform_is_robust(device->platform);
    info->limits_clamped = clamped;
    info->traits = traits_find(info->vendor, info->renderer);
}

/* What is made of it is slower, or less is known: it is said once. */
static void tell_of_quirks(struct glcnn_device *device)
{
    const struct glcnn_device_properties *info = &device->info;
    const struct quirk *quirk = NULL;
    while ((quirk = quirk_next(info->vendor, info->renderer, quirk)) != NULL)
        device_log(device, GLCNN_LOG_INFO, "the driver of %s %s", info->renderer,
                   quirk_sentence(quirk));
}

static void find_limits(struct glcnn_device *device, bool clamped)
{
    unsigned untold = limits_read(&device->gl, clamped, &device->info.limits);
    if (untold > 0)
        device_log(
            device, GLCNN_LOG_WARNING,
            "the driver of %s does not tell %u of its limits: the minimum of OpenGL ES 3.1 is "
            "taken for each",
            device->info.renderer, untold);
}

static glcnn_status open_platform(struct glcnn_device *device,
                                  const struct glcnn_device_parameters *parameters)
{
    struct platform_request request = {
        .device = parameters->device,
        .use_current = parameters->use_current_context,
        .forbid_software = parameters->forbid_software,
        .debug = parameters->debug,
        .log = parameters->log,
        .log_user = parameters->log_user,
    };
    char error[PLATFORM_ERROR];
    glcnn_status status = platform_open(&request, &device->platform, error);
    if (status != GLCNN_SUCCESS) {
        if (parameters->log)
            parameters->log(parameters->log_user, GLCNN_LOG_ERROR, error);
        return status;
    }
    return GLCNN_SUCCESS;
}

/* A copy of what the environment says; an empty string says nothing. False without memory. */
static bool keep(const char *value, char **copy)
{
    if (!value || !*value)
        return true;
    *copy = strdup(value);
    return *copy != NULL;
}

static glcnn_status set_up(struct glcnn_device *device,
                           const struct glcnn_device_parameters *parameters)
{
    const char *unknown;
    bool clamped = limits_clamped_by_environment(&unknown);
    if (unknown)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "GLCNN_LIMITS is \"%s\"; the only value it takes is \"min\"", unknown);
    char word[32];
    if (!debug_read(&device->checks, word))
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "GLCNN_DEBUG has the word \"%s\"; the words it takes, separated by "
                           "commas, are %s",
                           word, DEBUG_WORDS);
    glcnn_status status = tuning_cache_create(device, &device->tuning_cache);
    if (status == GLCNN_SUCCESS)
        status = open_platform(device, parameters);
    if (status != GLCNN_SUCCESS)
        return status;
    const char *missing = gl_load(&device->gl, load_symbol, device->platform);
    if (missing)
        return device_fail(device, GLCNN_NO_DEVICE,
                           "the driver of %s has no entry point %s, which OpenGL ES 3.1 requires",
                           platform_chosen(device->platform)->detail, missing);
    fill_info(device, clamped);
    find_limits(device, clamped);
    tell_of_quirks(device);
    if (clamped)
        device->gl.BufferStorageEXT = NULL; /* buffers are mapped by the least means too */
    if (parameters->debug && device->gl.DebugMessageCallbackKHR) {
        device->gl.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR); /* not from a thread of the driver's */
        device->gl.DebugMessageCallbackKHR(forward_driver_message, device);
    }
    bool kept = keep(platform_variable("GLCNN_IMPLEMENTATIONS"), &device->forced_implementations) &&
                keep(platform_variable("GLCNN_SHADERS"), &device->shader_folder);
    device->programs = program_cache_create();
    device->pool = storage_pool_create();
    if (!caller_state_create(device) || !device->programs || !device->pool || !kept)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    device->binaries = binary_folder_open(device, parameters->program_folder, &status);
    device->info.program_folder = device->binaries ? device->binaries->path : "";
    device->info.tuning = tuning_names[device->tuning_cache->tuning];
    if (gl_has_extension(&device->gl, "GL_KHR_parallel_shader_compile"))
        device->compilation.at_once = PROGRAMS_AT_ONCE;
    if (status == GLCNN_SUCCESS)
        status = buffer_create_zeros(device, &device->zeros);
    if (status == GLCNN_SUCCESS)
        status = staging_create(device);
    return status == GLCNN_SUCCESS ? commit_count_create(device) : status;
}

glcnn_status glcnn_device_create(const struct glcnn_device_parameters *parameters,
                                 glcnn_device **device)
{
    static const struct glcnn_device_parameters defaults;
    if (!device)
        return GLCNN_INVALID_ARGUMENT;
    *device = NULL;
    if (!parameters)
        parameters = &defaults;
    glcnn_device *made = calloc(1, sizeof *made);
    if (!made) {
        if (parameters->log)
            parameters->log(parameters->log_user, GLCNN_LOG_ERROR,
                            "out of memory opening a device");
        return GLCNN_OUT_OF_MEMORY;
    }
    made->references = 1;
    made->log = parameters->log;
    made->log_user = parameters->log_user;
    made->compilation.callback = parameters->compile;
    made->compilation.user = parameters->compile_user;
    made->compilation.at_once = 1;
    made->stores_part = STORES_PART;
    made->compilation.limit =
        parameters->compile_seconds > 0 ? parameters->compile_seconds : DEFAULT_COMPILE_SECONDS;
    made->progress.patience = parameters->wait_seconds ? parameters->wait_seconds : DEFAULT_WAIT;
    device_set_owner(made);
    glcnn_status status = set_up(made, parameters);
    if (status == GLCNN_SUCCESS)
        *device = made;
    else
        glcnn_device_destroy(&made);
    return status;
}

void glcnn_device_destroy(glcnn_device **device)
{
    if (!device || !*device)
        return;
    glcnn_device *old = *device;
    *device = NULL;
    bool reachable = old->platform && device_can_free(old), set_up_whole = old->zeros != NULL;
    if (reachable && set_up_whole && !old->lost)
        glcnn_device_wait(old);
    smoke_test_destroy(&old->smoke_test);
    staging_destroy(&old->staging);
    profile_destroy(old, reachable);
    commit_count_destroy(old, reachable);
    glcnn_buffer_destroy(&old->zeros);
    stores_destroy(old, reachable);
    fences_forget(old, reachable);
    binary_folder_close(old->binaries);
    tuning_cache_destroy(old->tuning_cache);
    program_cache_destroy(old->programs, reachable ? &old->gl : NULL);
    storage_pool_destroy(old->pool, reachable ? &old->gl : NULL);
    if (old->process == getpid())
        platform_close(&old->platform);
    else
        platform_abandon(&old->platform);
    device_close(old);
    device_unreference(old);
}
