/* Fences and the deadline of waits. */
#include "device/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "device/device.h"

/* A fifth of a second at the 5 Gop/s of a slow board's GPU: a GPU that is a thousand times slower
 * still passes a mark within the default deadline. */
#define MARK_WORK       ((uint64_t)1 << 30)
#define MARK_DISPATCHES 4 /* the same of a device whose speed is known, in its longest dispatches */
#define DEFERRED_MOST   64                    /* commits in a row behind one mark */
#define SLICE           ((uint64_t)100000000) /* nanoseconds */

#define MARK_TRIES 5       /* of a mark for which there is no memory */
#define FIRST_TRY  1000000 /* nanoseconds until the second; each later one takes twice as long */

/* Of waits in which the driver would spin, nanoseconds: for what is soon over the driver spins, and
 * then the library sleeps between polls, for a share of the time waited so far, so that the wait
 * does not take much longer for it. */
#define SPIN           ((uint64_t)20000)
#define SHORTEST_SLEEP ((uint64_t)20000)
#define LONGEST_SLEEP  ((uint64_t)1000000)
#define SLEEP_SHARE    64 /* of the time waited so far */

/* ---- Marks ---- */

/* Takes the mark out of the list. */
static struct mark remove_mark(struct progress *progress, size_t index)
{
    struct mark taken = progress->marks[index];
    progress->mark_count--;
    memmove(progress->marks + index, progress->marks + index + 1,
            (progress->mark_count - index) * sizeof *progress->marks);
    return taken;
}

/* Marks that lie before have passed too. */
static void complete(struct glcnn_device *device, uint64_t serial)
{
    struct progress *progress = &device->progress;
    if (serial > progress->completed)
        progress->completed = serial;
    while (progress->mark_count && progress->marks[0].serial <= progress->completed)
        device->gl.DeleteSync(remove_mark(progress, 0).fence);
}

/* Removes marks that have passed; whether there were any. */
static bool has_progressed(struct glcnn_device *device)
{
    struct progress *progress = &device->progress;
    bool progressed = false;
    while (progress->mark_count) {
        GLenum result = device->gl.ClientWaitSync(progress->marks[0].fence, 0, 0);
        if (result == GL_TIMEOUT_EXPIRED)
            return progressed;
        struct mark first = remove_mark(progress, 0);
        device->gl.DeleteSync(first.fence);
        if (result != GL_WAIT_FAILED)
            complete(device, first.serial);
        progressed = true;
    }
    return progressed;
}

/* Every second mark goes: those that stay are twice as far from each other. */
static void thin_out(struct glcnn_device *device)
{
    struct progress *progress = &device->progress;
    size_t kept = 0;
    for (size_t i = 0; i < progress->mark_count; i++)
        if (i % 2)
            progress->marks[kept++] = progress->marks[i];
        else
            device->gl.DeleteSync(progress->marks[i].fence);
    progress->mark_count = kept;
}

/* Adds a fence to the marks; false: the driver gives none. */
static bool add_mark(struct glcnn_device *device)
{
    struct progress *progress = &device->progress;
    if (progress->mark_count == MARKS && !has_progressed(device))
        thin_out(device);
    if (progress->shows)
        device->gl.MemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT_EXT);
    progress->shows = false;
    GLsync fence = device->gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence)
        return false;
    progress->marks[progress->mark_count++] = (struct mark){fence, device->serial};
    progress->deferred_serial = 0;
    progress->deferred = 0;
    return true;
}

/* No memory for a mark is no failure of what was issued; a lost context tells again. */
static void try_mark(struct glcnn_device *device)
{
    GLenum code = GL_NO_ERROR;
    if (!add_mark(device))
        gl_error(&device->gl, &code);
}

glcnn_status fence_count(struct glcnn_device *device, uint64_t operations, const char *where)
{
    struct progress *progress = &device->progress;
    progress->work += operations;
    if (progress->work < MARK_WORK || progress->work / MARK_DISPATCHES < device->dispatch_work)
        return GLCNN_SUCCESS;
    progress->work = 0;
    glcnn_status status = device_check(device, where);
    if (status != GLCNN_SUCCESS)
        return status;
    try_mark(device);
    return GLCNN_SUCCESS;
}

void fences_forget(struct glcnn_device *device, bool reachable)
{
    struct progress *progress = &device->progress;
    for (size_t i = 0; reachable && i < progress->mark_count; i++)
        device->gl.DeleteSync(progress->marks[i].fence);
    progress->mark_count = 0;
}

/* ---- Fences ---- */

glcnn_status fence_mark(struct glcnn_device *device, const char *where)
{
    GLenum code = GL_NO_ERROR;
    if (add_mark(device))
        return GLCNN_SUCCESS;
    const char *name = gl_error(&device->gl, &code);
    if (name && code != GL_OUT_OF_MEMORY)
        return device_report(device, code, name, where);
    device->progress.deferred_serial = device->serial;
    return reset_check(device, where);
}

glcnn_status fence_defer(struct glcnn_device *device, const char *where)
{
    struct progress *progress = &device->progress;
    progress->deferred_serial = device->serial;
    return ++progress->deferred < DEFERRED_MOST ? GLCNN_SUCCESS : fence_mark(device, where);
}

glcnn_status fence_flush_deferred(struct glcnn_device *device, const char *where)
{
    return device->progress.deferred_serial ? fence_mark(device, where) : GLCNN_SUCCESS;
}

static glcnn_status give_up(struct glcnn_device *device, const char *where)
{
    char why[160];
    snprintf(why, sizeof why,
             "the GPU has made no progress for %u s; if it is only slow, give the device more "
             "wait_seconds at its creation",
             device->progress.patience);
    return reset_lose(device, where, why);
}

static void sleep_between_polls(uint64_t waited)
{
    uint64_t length = waited / SLEEP_SHARE;
    if (length < SHORTEST_SLEEP)
        length = SHORTEST_SLEEP;
    nanosleep(&(struct timespec){0, (long)(length < LONGEST_SLEEP ? length : LONGEST_SLEEP)}, NULL);
}

static GLenum wait_a_slice(struct glcnn_device *device, GLsync fence)
{
    const struct gl *gl = &device->gl;
    const struct progress *progress = &device->progress;
    bool sleeps = device->info.traits.spin_waits || progress->meanwhile;
    uint64_t start = clock_nanoseconds(), waited = 0;
    GLenum result = gl->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, sleeps ? SPIN : SLICE);
    while (sleeps && result == GL_TIMEOUT_EXPIRED && waited < SLICE) {
        sleep_between_polls(waited);
        if (progress->meanwhile)
            progress->meanwhile(progress->meanwhile_user);
        result = gl->ClientWaitSync(fence, 0, 0);
        waited = clock_nanoseconds() - start;
    }
    return result;
}

/* Waits in slices. One counts for two at most: a process that was stopped has waited for nothing.
 */
static glcnn_status await(struct glcnn_device *device, GLsync fence, const char *where)
{
    const uint64_t patience = device->progress.patience * (uint64_t)1000000000u;
    uint64_t idle = 0, start = clock_nanoseconds();
    GLenum result;
    while ((result = wait_a_slice(device, fence)) == GL_TIMEOUT_EXPIRED) {
        uint64_t end = clock_nanoseconds(), taken = end - start;
        idle = has_progressed(device) ? 0 : idle + (taken < 2 * SLICE ? taken : 2 * SLICE);
        start = end;
        if (idle > patience)
            return give_up(device, where);
    }
    glcnn_status status = reset_check(device, where);
    return status != GLCNN_SUCCESS || result != GL_WAIT_FAILED
               ? status
               : reset_lose(device, where, "the driver's fence failed");
}

/* The first mark behind the pass; their count where there is none. */
static size_t mark_behind(const struct progress *progress, uint64_t serial)
{
    size_t i = 0;
    while (i < progress->mark_count && progress->marks[i].serial < serial)
        i++;
    return i;
}

/* The mark is taken out of the list, so that nothing else gives it up meanwhile. */
static glcnn_status await_mark(struct glcnn_device *device, size_t index, const char *where)
{
    struct mark mark = remove_mark(&device->progress, index);
    glcnn_status status = await(device, mark.fence, where);
    device->gl.DeleteSync(mark.fence);
    if (status != GLCNN_SUCCESS)
        return status;
    complete(device, mark.serial);
    return reset_check_count(device, where);
}

/* Sets a mark that is waited for next. Where the driver has no memory for it, the marks that there are
 * are waited for first, and it is asked again: what has finished gives memory back. */
static glcnn_status mark_to_await(struct glcnn_device *device, const char *where)
{
    const struct progress *progress = &device->progress;
    for (unsigned tries = 0; tries < MARK_TRIES; tries++) {
        glcnn_status status = fence_mark(device, where);
        if (status == GLCNN_SUCCESS && progress->deferred_serial && progress->mark_count)
            status = await_mark(device, 0, where);
        else if (status == GLCNN_SUCCESS && progress->deferred_serial)
            nanosleep(&(struct timespec){0, FIRST_TRY << tries}, NULL);
        if (status != GLCNN_SUCCESS || !progress->deferred_serial)
            return status;
    }
    return device_fail(device, GLCNN_OUT_OF_MEMORY,
                       "%s: the driver has no memory for a fence, without which nothing can be "
                       "waited for; what was committed still runs: free memory and wait again",
                       where);
}

/* Of what marks have shown to have finished: whether it has run. */
static glcnn_status check_finished(struct glcnn_device *device, const char *where)
{
    glcnn_status status = reset_check(device, where);
    return status == GLCNN_SUCCESS ? reset_check_count(device, where) : status;
}

glcnn_status fence_await(struct glcnn_device *device, uint64_t serial, const char *where)
{
    struct progress *progress = &device->progress;
    if (serial <= progress->completed)
        return check_finished(device, where);
    size_t index = mark_behind(progress, serial);
    if (index < progress->mark_count)
        return await_mark(device, index, where);
    glcnn_status status = mark_to_await(device, where);
    if (status != GLCNN_SUCCESS || serial <= progress->completed)
        return status;
    return await_mark(device, progress->mark_count - 1, where);
}

glcnn_status fence_poll(struct glcnn_device *device, uint64_t serial, bool *passed,
                        const char *where)
{
    const struct progress *progress = &device->progress;
    glcnn_status status = reset_check(device, where); /* a reset lets all marks pass */
    if (status != GLCNN_SUCCESS)
        return status;
    has_progressed(device);
    if (progress->deferred_serial >= serial &&
        mark_behind(progress, serial) == progress->mark_count) {
        try_mark(device);
        device->gl.Flush(); /* or it may never pass */
    }
    *passed = serial <= progress->completed;
    return *passed ? check_finished(device, where) : GLCNN_SUCCESS;
}

glcnn_status fence_await_all(struct glcnn_device *device, const char *where)
{
    glcnn_status status = mark_to_await(device, where);
    size_t count = device->progress.mark_count;
    return status == GLCNN_SUCCESS && count ? await_mark(device, count - 1, where) : status;
}

glcnn_status glcnn_device_wait(glcnn_device *device)
{
    glcnn_status status = device_enter(device);
    return status == GLCNN_SUCCESS ? fence_await_all(device, "glcnn_device_wait") : status;
}

/* ---- Fences of others ---- */

int fence_descriptor(struct glcnn_device *device, const char *where)
{
    char reason[PLATFORM_TEXT];
    int descriptor = platform_fence_descriptor(device->platform, reason);
    if (descriptor < 0)
        device_explain(device, "%s: %s", where, reason);
    return descriptor;
}

/* Waits here. A signal that interrupts it does not make it longer. */
static int poll_until(struct pollfd *wait, uint64_t end)
{
    int ready;
    do {
        uint64_t now = clock_nanoseconds();
        ready = poll(wait, 1, now < end ? (int)((end - now) / 1000000) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    return ready;
}

static glcnn_status wait_for_descriptor(struct glcnn_device *device, int fence, const char *where)
{
    struct pollfd wait = {.fd = fence, .events = POLLIN};
    uint32_t patience = device->progress.patience;
    int ready = poll_until(&wait, clock_nanoseconds() + patience * (uint64_t)1000000000u);
    if (ready > 0 && wait.revents & POLLIN)
        return GLCNN_SUCCESS;
    if (ready == 0)
        return device_fail(device, GLCNN_IO_ERROR,
                           "%s: the fence was not signalled within %u s, the device's wait_seconds",
                           where, patience);
    return device_fail(device, GLCNN_IO_ERROR, "%s: the fence failed", where);
}

glcnn_status glcnn_device_await_fence(glcnn_device *device, int fence)
{
    static const char *const where = "glcnn_device_await_fence";
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS || fence == -1)
        return status;
    if (fcntl(fence, F_GETFD) < 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: descriptor %d is not open", where,
                           fence);
    return platform_await_fence(device->platform, fence)
               ? GLCNN_SUCCESS
               : wait_for_descriptor(device, fence, where);
}
