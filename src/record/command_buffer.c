/* Command buffers: issuing recorded passes with the barriers that their hazards need. */
#include "record/command_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/buffer.h"
#include "device/debug.h"
#include "record/commit_count.h"
#include "record/dispatch.h"
#include "record/dispatch_work.h"
#include "record/hazards.h"
#include "record/profile.h"
#include "record/program.h"
#include "record/race.h"
#include "record/run_once.h"
#include "record/speed.h"
#include "record/stores.h"
#include "record/uniforms.h"

/* Operations: a microsecond of a GPU, 50 of a slow board's. */
#define SMALL_WORK ((uint64_t)1 << 18)

glcnn_status glcnn_command_buffer_create(glcnn_device *device,
                                         glcnn_command_buffer **command_buffer)
{
    if (!command_buffer)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_command_buffer_create: command_buffer is NULL");
    *command_buffer = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_command_buffer *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a command buffer");
    made->device = device_retain(device);
    made->references = 1;
    *command_buffer = made;
    return GLCNN_SUCCESS;
}

/* ---- Storage of temporary images ---- */

glcnn_status command_buffer_acquire_storage(struct glcnn_command_buffer *command_buffer,
                                            uint32_t width, uint32_t height, uint32_t layers,
                                            glcnn_channel_format format, struct storage **storage)
{
    if (command_buffer->deferred) {
        glcnn_status status =
            storage_create(command_buffer->device, width, height, layers, format, storage);
        if (status == GLCNN_SUCCESS) {
            (*storage)->clear = false;
            (*storage)->transient = true;
        }
        return status;
    }
    for (struct storage **at = &command_buffer->free_storage; *at; at = &(*at)->next) {
        struct storage *found = *at;
        if (found->width != width || found->height != height || found->layers != layers ||
            found->format != format)
            continue;
        *at = found->next;
        found->next = NULL;
        *storage = found;
        return GLCNN_SUCCESS;
    }
    return storage_create_pooled(command_buffer->device, width, height, layers, format, storage);
}

void command_buffer_return_storage(struct glcnn_command_buffer *command_buffer,
                                   struct storage *storage)
{
    if (command_buffer->deferred) {
        storage_release(storage);
        return;
    }
    storage->next = command_buffer->free_storage;
    command_buffer->free_storage = storage;
}

/* The smallest that is large enough: passes already recorded use it before those to come do. */
glcnn_status command_buffer_acquire_buffer(struct glcnn_command_buffer *command_buffer, size_t size,
                                           struct glcnn_buffer **buffer)
{
    struct glcnn_buffer **best = NULL;
    if (command_buffer->deferred)
        return command_buffer_create_workspace(command_buffer, size, buffer);
    for (struct glcnn_buffer **at = &command_buffer->free_buffers; *at; at = &(*at)->next)
        if ((*at)->size >= size && (!best || (*at)->size < (*best)->size))
            best = at;
    if (!best)
        return glcnn_buffer_create(command_buffer->device, size, buffer);
    *buffer = *best;
    *best = (*best)->next;
    return GLCNN_SUCCESS;
}

void command_buffer_return_buffer(struct glcnn_command_buffer *command_buffer,
                                  struct glcnn_buffer *buffer)
{
    buffer->next = command_buffer->free_buffers;
    command_buffer->free_buffers = buffer;
}

static void free_buffers(struct glcnn_command_buffer *command_buffer)
{
    while (command_buffer->free_buffers) {
        struct glcnn_buffer *buffer = command_buffer->free_buffers;
        command_buffer->free_buffers = buffer->next;
        glcnn_buffer_destroy(&buffer);
    }
}

/* ---- Life ---- */

struct glcnn_command_buffer *command_buffer_retain(struct glcnn_command_buffer *command_buffer)
{
    command_buffer->references++;
    return command_buffer;
}

void command_buffer_release(struct glcnn_command_buffer *command_buffer)
{
    if (--command_buffer->references > 0)
        return;
    while (command_buffer->free_storage) {
        struct storage *next = command_buffer->free_storage->next;
        command_buffer->free_storage->next = NULL;
        storage_recycle(command_buffer->free_storage);
        command_buffer->free_storage = next;
    }
    device_unreference(command_buffer->device);
    free(command_buffer);
}

static void drop_gl_objects(struct glcnn_command_buffer *old)
{
    if (!device_can_free(old->device))
        return;
    const struct gl *gl = &old->device->gl;
    glcnn_command_buffer_wait(old);
    if (old->uniform_buffer)
        gl->DeleteBuffers(1, &old->uniform_buffer);
}

void glcnn_command_buffer_destroy(glcnn_command_buffer **command_buffer)
{
    if (!command_buffer || !*command_buffer)
        return;
    glcnn_command_buffer *old = *command_buffer;
    *command_buffer = NULL;
    drop_gl_objects(old);
    old->closed = true;
    for (size_t i = old->retained_count; i-- > 0;)
        old->retained[i].release(old->retained[i].object);
    free_buffers(old);
    free(old->retained);
    free(old->passes);
    old->retained = NULL;
    old->passes = NULL;
    command_buffer_release(old);
}

void command_buffer_cut(struct glcnn_command_buffer *command_buffer, size_t pass_count,
                        size_t retained_count)
{
    command_buffer->pass_count = pass_count;
    while (command_buffer->retained_count > retained_count) {
        struct retained *last = &command_buffer->retained[--command_buffer->retained_count];
        last->release(last->object);
    }
}

void command_buffer_reset(struct glcnn_command_buffer *command_buffer)
{
    command_buffer_cut(command_buffer, 0, 0);
    command_buffer->uniforms_uploaded = command_buffer->issued = 0;
    command_buffer->refreshed = false;
}

size_t glcnn_command_buffer_pass_count(const glcnn_command_buffer *command_buffer)
{
    return command_buffer ? command_buffer->pass_count : 0;
}

/* ---- Uniforms ---- */

size_t command_buffer_place_uniforms(struct glcnn_command_buffer *buffer)
{
    size_t alignment = buffer->device->info.limits.buffer_offset_alignment, size = 0;
    for (size_t i = 0; i < buffer->pass_count; i++) {
        struct pass *pass = &buffer->passes[i];
        pass->issue.uniform_offset = (size + alignment - 1) / alignment * alignment;
        size = pass->issue.uniform_offset + uniforms_size(pass);
    }
    return size;
}

static glcnn_status upload_all(struct glcnn_command_buffer *buffer)
{
    size_t size = command_buffer_place_uniforms(buffer);
    unsigned char *bytes = calloc(1, size);
    if (!bytes)
        return device_fail(buffer->device, GLCNN_OUT_OF_MEMORY, "out of memory at commit");
    for (size_t i = 0; i < buffer->pass_count; i++)
        program_uniforms(&buffer->passes[i],
                         (uint32_t *)(void *)(bytes + buffer->passes[i].issue.uniform_offset));
    glcnn_status status = buffer_upload(buffer->device, GL_UNIFORM_BUFFER, &buffer->uniform_buffer,
                                        size, bytes, buffer->where);
    free(bytes);
    if (status == GLCNN_SUCCESS)
        buffer->uniforms_uploaded = buffer->pass_count;
    return status;
}

static void move(const struct glcnn_command_buffer *buffer, struct pass *pass)
{
    const struct pass *first = buffer->passes;
    if (!pass->issue.uniforms_from) {
        pass_move_uniforms(pass);
        return;
    }
    while (first->issue.uniforms_id != pass->issue.uniforms_from)
        first++;
    memcpy(pass->uniforms, first->uniforms, sizeof pass->uniforms);
}

/* Updates the uniforms that change with each step, as Adam's time step, once for each step however
 * often its commit is tried. */
static void refresh(struct glcnn_command_buffer *buffer, size_t count)
{
    for (size_t i = 0; i < count && !buffer->refreshed; i++)
        move(buffer, &buffer->passes[i]);
    buffer->refreshed = true;
}

static glcnn_status upload_refreshed(struct glcnn_command_buffer *buffer, size_t count)
{
    const struct gl *gl = &buffer->device->gl;
    uint32_t words[PASS_WORDS];
    if (!count)
        return GLCNN_SUCCESS;
    gl->BindBuffer(GL_UNIFORM_BUFFER, buffer->uniform_buffer);
    glcnn_status status = device_check(buffer->device, buffer->where);
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        const struct pass *pass = &buffer->passes[i];
        if (!pass_has_moving_uniforms(pass))
            continue;
        size_t size = program_uniforms(pass, words) * 4;
        status = buffer_write_bound(buffer->device, GL_UNIFORM_BUFFER, pass->issue.uniform_offset,
                                    size, words, buffer->where);
    }
    return status;
}

/* How many passes this commit issues: those behind do not move their uniforms either. */
static size_t passes_to_issue(const struct glcnn_command_buffer *buffer)
{
    for (size_t i = 0; i < buffer->pass_count && buffer->ends_short; i++)
        if (buffer->passes[i].issue.ends_short)
            return i + 1;
    return buffer->pass_count;
}

static glcnn_status prepare_uniforms(struct glcnn_command_buffer *buffer)
{
    /* Recording into a deferred buffer leaves kernels as they were: its first commit counts. */
    size_t count = buffer->deferred ? passes_to_issue(buffer) : buffer->issued;
    refresh(buffer, count);
    return buffer->uniforms_uploaded < buffer->pass_count ? upload_all(buffer)
                                                          : upload_refreshed(buffer, count);
}

/* ---- Issue ---- */

/* All barriers that a level needs stand before its first pass: one behind that would wait for the
 * level's own passes too. */
static void wait_for_level(const struct glcnn_command_buffer *buffer, size_t first)
{
    const struct pass *passes = buffer->passes;
    unsigned bits = 0;
    if (first && passes_share_level(&passes[first - 1], &passes[first]))
        return;
    for (size_t i = first;
         i < buffer->pass_count && (i == first || passes_share_level(&passes[first], &passes[i]));
         i++)
        bits |= hazards_before(buffer->device, &passes[i]);
    device_barrier(buffer->device, bits);
}

static glcnn_status run(const struct glcnn_command_buffer *buffer, const struct pass *pass)
{
    struct glcnn_device *device = buffer->device;
    const struct gl *gl = &device->gl;
    if (gl->PushDebugGroupKHR)
        gl->PushDebugGroupKHR(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, pass->shader);
    dispatch_bind(device, pass, buffer->uniform_buffer);
    glcnn_status status =
        commit_count_is_in(device, pass) ? device_check(device, buffer->amid) : GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS)
        status = profile_begin(device, pass);
    if (status == GLCNN_SUCCESS) {
        uint32_t count = 0;
        status = dispatch_pass(device, pass, buffer->amid, &count);
        status = status == GLCNN_SUCCESS ? profile_end(device, count) : status;
    }
    hazards_mark(device, pass);
    if (status == GLCNN_SUCCESS)
        status = commit_count_note(device, pass, buffer->amid);
    if (gl->PopDebugGroupKHR)
        gl->PopDebugGroupKHR();
    if (status == GLCNN_SUCCESS)
        return fence_count(device, pass_work(pass), buffer->amid);
    /* A debug group that did not begin cannot end, which has been told. */
    device_clear_error(device, buffer->amid);
    return status;
}

static glcnn_status run_callbacks(const struct pass *pass)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (struct pass_callback *f = pass->issue.callback; f && status == GLCNN_SUCCESS; f = f->next)
        status = f->call(f);
    return status;
}

/* For GLCNN_DEBUG=sync: what went wrong is told of this pass. */
static glcnn_status finish(struct glcnn_device *device, const struct pass *pass)
{
    char where[128];
    snprintf(where, sizeof where, "GLCNN_DEBUG=sync: after %s of %s", pass->shader,
             pass->owner.name[0] ? pass->owner.name : "no kernel");
    return fence_await_all(device, where);
}

static glcnn_status issue(const struct glcnn_command_buffer *buffer, const struct pass *pass)
{
    struct pass_observer *observer = pass->debug.observer;
    glcnn_status status = observer ? observer->before(observer, pass) : GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS)
        status = run(buffer, pass);
    if (status == GLCNN_SUCCESS && buffer->device->checks & DEBUG_SYNC)
        status = finish(buffer->device, pass);
    if (status == GLCNN_SUCCESS && observer)
        status = observer->after(observer, pass);
    return status == GLCNN_SUCCESS ? run_callbacks(pass) : status;
}

/* ---- First use of storage ---- */

/* Contents are 0 until written: a pass of its own, outside any command buffer. */
static glcnn_status clear_storage(struct storage *storage)
{
    struct pass pass;
    fill_describe(storage, &pass);
    glcnn_status status = pass_run_once(storage->device, &pass, "clearing an image");
    storage->clear = status != GLCNN_SUCCESS;
    return status;
}

static glcnn_status prepare_storage(struct storage *storage)
{
    glcnn_status status = storage_allocate(storage);
    return status == GLCNN_SUCCESS && storage->clear ? clear_storage(storage) : status;
}

static glcnn_status prepare_textures(struct glcnn_command_buffer *buffer)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < buffer->pass_count && status == GLCNN_SUCCESS; i++) {
        const struct pass *pass = &buffer->passes[i];
        for (uint32_t t = 0; t < pass->texture_count && status == GLCNN_SUCCESS; t++)
            status = prepare_storage(storage_owner(pass->textures[t].view.storage));
        for (uint32_t t = 0; t < pass->image_count && status == GLCNN_SUCCESS; t++)
            status = prepare_storage(storage_owner(pass->images[t].view.storage));
    }
    return status;
}

/* What was issued before was looked at then. */
static glcnn_status prepare_splitting(struct glcnn_command_buffer *buffer)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = buffer->issued; i < buffer->pass_count && status == GLCNN_SUCCESS; i++)
        status = speed_measure(buffer->device, &buffer->passes[i]);
    return status;
}

/* ---- Commit and wait ---- */

static bool counts_itself(const struct glcnn_command_buffer *buffer, size_t issued)
{
    return issued == 1 && commit_count_is_in(buffer->device, buffer->passes);
}

/* From here on passes run: a step is made, whatever becomes of it. */
static glcnn_status issue_all(struct glcnn_command_buffer *buffer, bool is_counted)
{
    struct glcnn_device *device = buffer->device;
    const size_t count = passes_to_issue(buffer);
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++) {
        wait_for_level(buffer, i);
        status = issue(buffer, &buffer->passes[race_order(buffer, i)]);
    }
    buffer->issued = count > buffer->issued ? count : buffer->issued;
    buffer->refreshed = false;
    buffer->commits++;
    buffer->last_serial = 0;
    if (status == GLCNN_SUCCESS)
        status = device_check(device, buffer->amid);
    if (status == GLCNN_SUCCESS && is_counted && !counts_itself(buffer, count))
        status = commit_count_issue(device, buffer->where);
    if (status == GLCNN_SUCCESS)
        status = reset_check(device, buffer->where);
    return status == GLCNN_SUCCESS ? profile_tell(device) : status;
}

/* True if the last that the device was given is this buffer's last commit, which is not known to
 * have finished: nobody can ask for that one any more once it is committed again. */
static bool follows_itself(const struct glcnn_command_buffer *buffer)
{
    const struct glcnn_device *device = buffer->device;
    return buffer->last_serial == device->serial && device->serial > device->progress.completed;
}

/* Takes it so little time that whoever waits for what came before may wait for it too? */
static bool is_small(const struct glcnn_command_buffer *buffer)
{
    return buffer->pass_count == 1 && pass_work(buffer->passes) <= SMALL_WORK;
}

/* Of a buffer for which nobody asked the last time nobody is expected to ask. */
static bool may_defer_fence(const struct glcnn_command_buffer *buffer)
{
    return follows_itself(buffer) || (buffer->commits && !buffer->is_asked && !is_small(buffer));
}

static glcnn_status issue_behind(struct glcnn_command_buffer *command_buffer, bool is_counted)
{
    struct glcnn_device *device = command_buffer->device;
    glcnn_status status = reset_recount(device, command_buffer->where);
    caller_state_keep(device);
    if (status == GLCNN_SUCCESS)
        status = prepare_textures(command_buffer);
    if (status == GLCNN_SUCCESS)
        status = stores_prepare(device, command_buffer->passes, command_buffer->pass_count);
    if (status == GLCNN_SUCCESS)
        status = commit_count_prepare(device);
    if (status == GLCNN_SUCCESS)
        status = prepare_splitting(command_buffer);
    if (status == GLCNN_SUCCESS)
        status = prepare_uniforms(command_buffer);
    if (status == GLCNN_SUCCESS)
        status = race_prepare(command_buffer);
    if (status == GLCNN_SUCCESS)
        status = issue_all(command_buffer, is_counted);
    if (status == GLCNN_SUCCESS)
        command_buffer->last_serial = device->serial;
    caller_state_put_back(device);
    return status;
}

/* Where errors are made from now on. */
static void set_where(struct glcnn_command_buffer *buffer, const char *where)
{
    buffer->where = where;
    snprintf(buffer->amid, sizeof buffer->amid,
             "%s, amid the passes, which leaves what they write undefined", where);
}

glcnn_status command_buffer_issue(struct glcnn_command_buffer *command_buffer, bool is_awaited,
                                  const char *where)
{
    struct glcnn_device *device = command_buffer->device;
    set_where(command_buffer, where);
    glcnn_status status = fence_flush_deferred(device, where);
    return status == GLCNN_SUCCESS
               ? issue_behind(command_buffer, is_awaited || !reset_is_told(device))
               : status;
}

glcnn_status command_buffer_commit(struct glcnn_command_buffer *command_buffer, const char *where)
{
    struct glcnn_device *device = command_buffer->device;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    bool defers = may_defer_fence(command_buffer);
    set_where(command_buffer, where);
    if (!follows_itself(command_buffer) && !is_small(command_buffer))
        status = fence_flush_deferred(device, where);
    if (status == GLCNN_SUCCESS)
        status = issue_behind(command_buffer, true);
    if (status != GLCNN_SUCCESS)
        return status;
    command_buffer->is_asked = false;
    status = (defers ? fence_defer : fence_mark)(device, where);
    device->gl.Flush();
    return status;
}

glcnn_status command_buffer_wait(struct glcnn_command_buffer *command_buffer, const char *where)
{
    glcnn_status status = device_enter(command_buffer->device);
    if (status != GLCNN_SUCCESS)
        return status;
    command_buffer->is_asked = true;
    return fence_await(command_buffer->device, command_buffer->last_serial, where);
}

bool command_buffer_is_complete(struct glcnn_command_buffer *command_buffer, const char *where)
{
    bool passed;
    if (device_enter(command_buffer->device) != GLCNN_SUCCESS)
        return true;
    command_buffer->is_asked = true;
    return fence_poll(command_buffer->device, command_buffer->last_serial, &passed, where) !=
               GLCNN_SUCCESS ||
           passed;
}

glcnn_status glcnn_command_buffer_commit(glcnn_command_buffer *command_buffer)
{
    return command_buffer ? command_buffer_commit(command_buffer, "glcnn_command_buffer_commit")
                          : GLCNN_INVALID_ARGUMENT;
}

glcnn_status glcnn_command_buffer_wait(glcnn_command_buffer *command_buffer)
{
    return command_buffer ? command_buffer_wait(command_buffer, "glcnn_command_buffer_wait")
                          : GLCNN_INVALID_ARGUMENT;
}

bool glcnn_command_buffer_is_complete(glcnn_command_buffer *command_buffer)
{
    return !command_buffer ||
           command_buffer_is_complete(command_buffer, "glcnn_command_buffer_is_complete");
}

int glcnn_command_buffer_fence_descriptor(glcnn_command_buffer *command_buffer)
{
    static const char *const where = "glcnn_command_buffer_fence_descriptor";
    if (!command_buffer || device_enter(command_buffer->device) != GLCNN_SUCCESS)
        return -1;
    if (command_buffer->commits)
        return fence_descriptor(command_buffer->device, where);
    device_explain(command_buffer->device, "%s: nothing was committed", where);
    return -1;
}
