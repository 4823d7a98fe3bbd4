/* Fences and the deadline of waits. */
#include "device/fence.h"

#include <string.h>

#include "device/clock.h"
#include "device/device.h"

/* A fifth of a second at the 5 Gop/s of a slow board's GPU: a GPU that is a thousand times slower
 * still passes a mark within the default deadline. */
#define MARK_WORK       ((uint64_t)1 << 30)
#define MARK_DISPATCHES 4 /* the same of a device whose speed is known, in its longest dispatches */
#define SLICE           ((uint64_t)100000000) /* nanoseconds */

/* ---- Marks ---- */

static void drop_first(struct progress *progress, const struct gl *gl)
{
    gl->DeleteSync(progress->marks[0]);
    progress->mark_count--;
    memmove(progress->marks, progress->marks + 1, progress->mark_count * sizeof *progress->marks);
}

/* Gives up marks that have passed; whether there were any. */
static bool has_moved(struct glcnn_device *device)
{
    struct progress *progress = &device->progress;
    bool moved = false;
    while (progress->mark_count &&
           device->gl.ClientWaitSync(progress->marks[0], 0, 0) != GL_TIMEOUT_EXPIRED) {
        drop_first(progress, &device->gl);
        moved = true;
    }
    return moved;
}

/* Every second mark goes: those that stay lie twice as far apart. */
static void thin_out(struct glcnn_device *device)
{
    struct progress *progress = &device->progress;
    size_t kept = 0;
    for (size_t i = 0; i < progress->mark_count; i++)
        if (i % 2)
            progress->marks[kept++] = progress->marks[i];
        else
            device->gl.DeleteSync(progress->marks[i]);
    progress->mark_count = kept;
}

glcnn_status fence_count(struct glcnn_device *device, uint64_t operations, const char *where)
{
    struct progress *progress = &device->progress;
    GLenum code = GL_NO_ERROR;
    progress->work += operations;
    if (progress->work < MARK_WORK || progress->work / MARK_DISPATCHES < device->dispatch_work)
        return GLCNN_SUCCESS;
    progress->work = 0;
    glcnn_status status = device_check(device, where);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!has_moved(device) && progress->mark_count == MARKS)
        thin_out(device);
    GLsync mark = device->gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (mark)
        progress->marks[progress->mark_count++] = mark;
    else
        gl_error(&device->gl,
                 &code); /* the work is done without a mark; a lost context tells again */
    return GLCNN_SUCCESS;
}

void fences_forget(struct glcnn_device *device, bool reachable)
{
    while (reachable && device->progress.mark_count)
        drop_first(&device->progress, &device->gl);
    device->progress.mark_count = 0;
}

/* ---- Fences ---- */

glcnn_status fence_make(struct glcnn_device *device, const char *where, GLsync *fence)
{
    GLenum code = GL_NO_ERROR;
    *fence = device->gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (*fence)
        return GLCNN_SUCCESS;
    const char *name = gl_error(&device->gl, &code);
    if (name && code != GL_OUT_OF_MEMORY)
        return device_report(device, code, name, where);
    device->gl.Finish();
    return device_check(device, where);
}

static glcnn_status give_up(struct glcnn_device *device, const char *where)
{
    device->lost = true;
    return device_fail(device, GLCNN_DEVICE_LOST,
                       "%s: the GPU has made no progress for %u s; destroy the device and create "
                       "it anew, or, if it is only slow, give it more wait_seconds at creation",
                       where, device->progress.patience);
}

/* Waits in slices. One counts for two at most: a process that was stopped has waited for nothing.
 */
glcnn_status fence_await(struct glcnn_device *device, GLsync fence, const char *where)
{
    const struct gl *gl = &device->gl;
    const uint64_t patience = device->progress.patience * (uint64_t)1000000000u;
    uint64_t idle = 0, start = clock_nanoseconds();
    GLenum result;
    while ((result = gl->ClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, SLICE)) ==
           GL_TIMEOUT_EXPIRED) {
        uint64_t end = clock_nanoseconds(), taken = end - start;
        idle = has_moved(device) ? 0 : idle + (taken < 2 * SLICE ? taken : 2 * SLICE);
        start = end;
        if (idle > patience)
            return give_up(device, where);
    }
    glcnn_status status = device_check(device, where);
    if (status != GLCNN_SUCCESS || result != GL_WAIT_FAILED)
        return status;
    device->lost = true;
    return device_fail(device, GLCNN_DEVICE_LOST, "%s: the driver's fence failed", where);
}

glcnn_status fence_await_all(struct glcnn_device *device, const char *where)
{
    GLsync fence;
    glcnn_status status = fence_make(device, where, &fence);
    if (status != GLCNN_SUCCESS || !fence)
        return status;
    status = fence_await(device, fence, where);
    device->gl.DeleteSync(fence);
    return status;
}

glcnn_status glcnn_device_wait(glcnn_device *device)
{
    glcnn_status status = device_enter(device);
    return status == GLCNN_SUCCESS ? fence_await_all(device, "glcnn_device_wait") : status;
}
