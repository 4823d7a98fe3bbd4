/* A device that is open: the thread rule, error text and barriers. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *glcnn_version(void)
{
    return TEXT(GLCNN_VERSION_MAJOR) "." TEXT(GLCNN_VERSION_MINOR) "." TEXT(GLCNN_VERSION_PATCH);
}

const char *glcnn_status_text(glcnn_status status)
{
    static const char *const names[] = {
        "success",        "invalid argument", "invalid state",  "unsupported",
        "limit exceeded", "no device",        "device lost",    "out of memory",
        "shader error",   "I/O error",        "malformed data", "check failed",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

/* ---- Whose a device is ---- */

static _Thread_local char this_thread; /* its address marks the thread as the owner */
static char nobody_again;              /* its address: the device was destroyed */
static _Thread_local bool telling;     /* this thread runs a log callback */

/* Why this thread may not use the device, NULL where it may. Reads nothing that the owner
 * writes. */
static const char *refusal(const struct glcnn_device *device)
{
    const void *owner = atomic_load(&device->owner);
    if (telling)
        return "a log callback may not call the library: do it once the call that logs "
               "has returned";
    if (owner == &nobody_again)
        return "the device was destroyed";
    if (device->process != getpid())
        return device->forked;
    if (!owner)
        return "the device belongs to no thread; call glcnn_device_acquire here first";
    return owner == &this_thread
               ? NULL
               : "the device belongs to another thread; call "
                 "glcnn_device_hand_over there and glcnn_device_acquire here first";
}

void device_set_owner(struct glcnn_device *device)
{
    device->process = getpid();
    snprintf(device->forked, sizeof device->forked,
             "the device was opened by process %ld, and drivers do not work in a process forked "
             "from it: fork before the first device is opened or listed, or start a new program",
             (long)device->process);
    atomic_store(&device->owner, &this_thread);
}

void device_close(struct glcnn_device *device)
{
    atomic_store(&device->owner, &nobody_again);
}

/* ---- Error text and log ---- */

/* A callback that fails in the library would be told so, and fail again: it is not told. */
static void tell(const struct glcnn_device *device, glcnn_log_level level, const char *text)
{
    if (!device->log || telling)
        return;
    telling = true;
    device->log(device->log_user, level, text);
    telling = false;
}

void device_log(struct glcnn_device *device, glcnn_log_level level, const char *format, ...)
{
    char text[1024];
    if (!device->log)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(device, level, text);
}

static void keep_message(struct glcnn_device *device, const char *text)
{
    if (!refusal(device))
        memcpy(device->error, text, strlen(text) + 1);
}

void device_explain(struct glcnn_device *device, const char *format, ...)
{
    char text[sizeof device->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep_message(device, text);
}

glcnn_status device_fail(struct glcnn_device *device, glcnn_status status, const char *format, ...)
{
    char text[sizeof device->error];
    if (!device)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keep_message(device, text);
    tell(device, GLCNN_LOG_ERROR, text);
    return status;
}

const char *glcnn_device_error(const glcnn_device *device)
{
    if (!device)
        return "no device given";
    const char *refused = refusal(device);
    return refused ? refused : device->error;
}

/* A call that failed has left bound what was bound before. */
static void doubt_count(struct glcnn_device *device, const char *error)
{
    device->watch.count.doubted |= error != NULL;
}

glcnn_status device_report(struct glcnn_device *device, GLenum code, const char *name,
                           const char *where)
{
    doubt_count(device, name);
    const char *reason = reset_reason(device, code, name);
    if (reason)
        return reset_lose(device, where, reason);
    if (!name)
        return GLCNN_SUCCESS;
    return device_fail(device, code == GL_OUT_OF_MEMORY ? GLCNN_OUT_OF_MEMORY : GLCNN_INVALID_STATE,
                       "%s: the driver reports %s", where, name);
}

glcnn_status device_check(struct glcnn_device *device, const char *where)
{
    GLenum code = GL_NO_ERROR;
    const char *name = gl_error(&device->gl, &code);
    return device_report(device, code, name, where);
}

glcnn_status device_clear_error(struct glcnn_device *device, const char *where)
{
    GLenum code = GL_NO_ERROR;
    const char *name = gl_error(&device->gl, &code);
    doubt_count(device, name);
    const char *reason = reset_reason(device, code, name);
    return reason ? reset_lose(device, where, reason) : GLCNN_SUCCESS;
}

bool glcnn_device_is_lost(const glcnn_device *device)
{
    return device && device->lost;
}

/* ---- Threads ---- */

glcnn_status device_enter(struct glcnn_device *device)
{
    if (!device)
        return GLCNN_INVALID_ARGUMENT;
    const char *refused = refusal(device);
    if (refused)
        return device_fail(device, GLCNN_INVALID_STATE, "%s", refused);
    if (device->lost)
        return device_fail(device, GLCNN_DEVICE_LOST,
                           "the device was lost before; destroy it and create a new one; it was "
                           "lost in %s",
                           device->watch.loss);
    if (!platform_is_current(device->platform) && !platform_make_current(device->platform))
        return device_fail(device, GLCNN_INVALID_STATE, "the context cannot be made current");
    return GLCNN_SUCCESS;
}

bool device_can_free(struct glcnn_device *device)
{
    return !refusal(device) &&
           (platform_is_current(device->platform) || platform_make_current(device->platform));
}

glcnn_status glcnn_device_hand_over(glcnn_device *device)
{
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    device->gl.Flush();
    platform_release_current(device->platform);
    atomic_store(&device->owner, NULL);
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_device_acquire(glcnn_device *device)
{
    const void *owner = NULL;
    if (!device)
        return GLCNN_INVALID_ARGUMENT;
    if (device->process != getpid())
        return device_fail(device, GLCNN_INVALID_STATE, "%s", device->forked);
    if (!atomic_compare_exchange_strong(&device->owner, &owner, &this_thread))
        return device_fail(device, GLCNN_INVALID_STATE, "%s",
                           owner == &nobody_again
                               ? "the device was destroyed"
                               : "the device still belongs to a thread; release it there first");
    if (platform_make_current(device->platform))
        return GLCNN_SUCCESS;
    atomic_store(&device->owner, NULL);
    return device_fail(device, GLCNN_INVALID_STATE,
                       "the context cannot be made current on this thread");
}

/* ---- Barriers ---- */

void device_barrier(struct glcnn_device *device, unsigned bits)
{
    static const GLbitfield gl_bits[BARRIER_KINDS] = {
        [BARRIER_TEXTURE] = GL_TEXTURE_FETCH_BARRIER_BIT,
        [BARRIER_IMAGE] = GL_SHADER_IMAGE_ACCESS_BARRIER_BIT,
        [BARRIER_STORAGE] = GL_SHADER_STORAGE_BARRIER_BIT,
        [BARRIER_UPDATE] = GL_BUFFER_UPDATE_BARRIER_BIT,
    };
    GLbitfield mask = 0;
    for (int kind = 0; kind < BARRIER_KINDS; kind++) {
        if (!(bits & (1u << kind)))
            continue;
        mask |= gl_bits[kind];
        device->barrier_serial[kind] = device->serial;
    }
    if (mask)
        device->gl.MemoryBarrier(mask);
}

/* ---- Life ---- */

struct glcnn_device *device_retain(struct glcnn_device *device)
{
    device->references++;
    return device;
}

void device_unreference(struct glcnn_device *device)
{
    if (--device->references > 0)
        return;
    free(device->forced_implementations);
    free(device->shader_folder);
    free(device->caller_state);
    free(device);
}

const struct glcnn_device_properties *glcnn_device_info(const glcnn_device *device)
{
    return device ? &device->info : NULL;
}

bool glcnn_device_has_extension(const glcnn_device *device, const char *name)
{
    if (!name || device_enter((glcnn_device *)(uintptr_t)device) != GLCNN_SUCCESS)
        return false;
    bool has = gl_has_extension(&device->gl, name);
    return device_check((glcnn_device *)(uintptr_t)device, "glcnn_device_has_extension") ==
               GLCNN_SUCCESS &&
           has;
}

size_t glcnn_device_list(struct glcnn_device_candidate *candidates, size_t capacity)
{
    struct platform_candidate found[32];
    size_t count = platform_list(found, sizeof found / sizeof *found);
    for (size_t i = 0; candidates && i < count && i < capacity && i < 32; i++) {
        struct glcnn_device_candidate *to = &candidates[i];
        memcpy(to->provider, found[i].provider, sizeof to->provider);
        memcpy(to->node, found[i].node, sizeof to->node);
        memcpy(to->driver, found[i].driver, sizeof to->driver);
        memcpy(to->detail, found[i].detail, sizeof to->detail);
        to->software = found[i].software;
        to->usable = found[i].usable;
    }
    return count;
}
