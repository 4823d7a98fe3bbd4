/* Buffers of the device: counted by reference, read by mapping. */
#include "device/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "device/debug.h"

/* Binding a new name allocates too. Where that fails the buffer bound before is bound still. */
static glcnn_status bind(struct glcnn_device *device, GLenum target, GLuint name, const char *where)
{
    device->gl.BindBuffer(target, name);
    return device_check(device, where);
}

static glcnn_status cannot_map(struct glcnn_device *device, const char *where)
{
    glcnn_status status = device_check(device, where);
    return status != GLCNN_SUCCESS ? status
                                   : device_fail(device, GLCNN_OUT_OF_MEMORY,
                                                 "%s: the driver cannot map the buffer", where);
}

static glcnn_status write_mapped(struct glcnn_device *device, GLenum target, size_t offset,
                                 size_t size, const void *bytes, const char *where)
{
    void *mapped =
        device->gl.MapBufferRange(target, (GLintptr)offset, (GLsizeiptr)size, GL_MAP_WRITE_BIT);
    if (mapped)
        memcpy(mapped, bytes, size);
    return mapped && device->gl.UnmapBuffer(target) ? device_check(device, where)
                                                    : cannot_map(device, where);
}

glcnn_status buffer_write_bound(struct glcnn_device *device, GLenum target, size_t offset,
                                size_t size, const void *bytes, const char *where)
{
    if (device->info.traits.reads_late)
        return write_mapped(device, target, offset, size, bytes, where);
    device->gl.BufferSubData(target, (GLintptr)offset, (GLsizeiptr)size, bytes);
    return device_check(device, where);
}

glcnn_status buffer_upload(struct glcnn_device *device, GLenum target, GLuint *name, size_t size,
                           const void *bytes, const char *where)
{
    bool late = device->info.traits.reads_late && bytes && size > 0;
    if (!*name)
        device->gl.GenBuffers(1, name);
    glcnn_status status = bind(device, target, *name, where);
    if (status != GLCNN_SUCCESS)
        return status;
    device->gl.BufferData(target, (GLsizeiptr)size, late ? NULL : bytes, GL_DYNAMIC_DRAW);
    status = device_check(device, where);
    return status == GLCNN_SUCCESS && late ? write_mapped(device, target, 0, size, bytes, where)
                                           : status;
}

static glcnn_status fill_with_zeros(struct glcnn_buffer *buffer)
{
    void *zeros = calloc(1, buffer->size);
    if (!zeros)
        return device_fail(buffer->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory making a buffer of %zu bytes", buffer->size);
    glcnn_status status = buffer_upload(buffer->device, GL_SHADER_STORAGE_BUFFER, &buffer->name,
                                        buffer->size, zeros, "glcnn_buffer_create");
    free(zeros);
    return status;
}

/* A copy that the driver makes beside the step pays from some size on: a pass reads a batch's classes
 * across the bus in less time than the copy holds up the passes behind it. */
static enum buffer_reach choose_reach(const struct glcnn_device *device, GLbitfield access,
                                      size_t size)
{
    bool copies = device->info.traits.async_uploads && size > BUFFER_SMALL;
    if (access & GL_MAP_WRITE_BIT && copies)
        return REACH_COPY;
    return device->gl.BufferStorageEXT ? REACH_KEPT : REACH_MAP;
}

/* What the processor reads is to lie in its own memory. What it writes the GPU's passes read: where
 * the driver maps the GPU's memory the bytes cross the bus as they are written, while the step
 * before still runs. */
static glcnn_status give_mapped_memory(struct glcnn_buffer *buffer)
{
    const struct gl *gl = &buffer->device->gl;
    const char *where = "making a buffer for transfers";
    const GLbitfield keep = GL_MAP_PERSISTENT_BIT_EXT | GL_MAP_COHERENT_BIT_EXT;
    const GLbitfield host = GL_CLIENT_STORAGE_BIT_EXT | GL_DYNAMIC_STORAGE_BIT_EXT;
    buffer->reach = choose_reach(buffer->device, buffer->access, buffer->size);
    if (buffer->reach == REACH_COPY && !(buffer->mapped = malloc(buffer->size)))
        return device_fail(buffer->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory making a buffer of %zu bytes", buffer->size);
    if (buffer->reach != REACH_KEPT)
        return buffer_upload(buffer->device, GL_SHADER_STORAGE_BUFFER, &buffer->name, buffer->size,
                             NULL, where);
    gl->GenBuffers(1, &buffer->name);
    glcnn_status status = bind(buffer->device, GL_SHADER_STORAGE_BUFFER, buffer->name, where);
    if (status != GLCNN_SUCCESS)
        return status;
    gl->BufferStorageEXT(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)buffer->size, NULL,
                         buffer->access | keep | (buffer->access & GL_MAP_READ_BIT ? host : 0));
    status = device_check(buffer->device, where);
    if (status != GLCNN_SUCCESS)
        return status;
    buffer->mapped = gl->MapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)buffer->size,
                                        buffer->access | keep);
    if (!buffer->mapped)
        buffer->reach = REACH_MAP;
    return device_check(buffer->device, where);
}

static glcnn_status create_unallocated(struct glcnn_device *device, size_t size,
                                       struct glcnn_buffer **buffer)
{
    struct glcnn_buffer *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making a buffer");
    made->device = device_retain(device);
    made->references = 1;
    made->size = size;
    *buffer = made;
    return GLCNN_SUCCESS;
}

static glcnn_status create(struct glcnn_device *device, size_t size, GLbitfield access,
                           struct glcnn_buffer **buffer)
{
    struct glcnn_buffer *made;
    glcnn_status status = create_unallocated(device, size, &made);
    if (status != GLCNN_SUCCESS)
        return status;
    made->access = access;
    caller_state_keep(device);
    status = access ? give_mapped_memory(made) : fill_with_zeros(made);
    caller_state_put_back(device);
    if (status == GLCNN_SUCCESS)
        *buffer = made;
    else
        glcnn_buffer_destroy(&made);
    return status;
}

glcnn_status buffer_create_zeros(struct glcnn_device *device, struct glcnn_buffer **buffer)
{
    return create(device, 256, 0, buffer);
}

/* Passes count elements by int, and GL bytes by GLsizeiptr. Whether a pass can have the buffer as one
 * storage block is told where it is bound (assemble.c). */
static glcnn_status check_limit(struct glcnn_device *device, size_t size)
{
    const size_t most = PTRDIFF_MAX / 4 < INT32_MAX ? PTRDIFF_MAX / 4 * 4 : (size_t)INT32_MAX * 4;
    if (size <= most)
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                       "glcnn_buffer_create: size is %zu bytes; a buffer has at most %zu", size,
                       most);
}

static glcnn_status create_within_limits(struct glcnn_device *device, size_t size,
                                         GLbitfield access, struct glcnn_buffer **buffer)
{
    glcnn_status status = check_limit(device, size);
    return status == GLCNN_SUCCESS ? create(device, size, access, buffer) : status;
}

glcnn_status buffer_create_unallocated(struct glcnn_device *device, size_t size,
                                       struct glcnn_buffer **buffer)
{
    glcnn_status status = check_limit(device, size);
    return status == GLCNN_SUCCESS ? create_unallocated(device, size, buffer) : status;
}

glcnn_status glcnn_buffer_create(glcnn_device *device, size_t size, glcnn_buffer **buffer)
{
    if (!buffer)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "glcnn_buffer_create: buffer is NULL");
    *buffer = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (size == 0 || size % 4 != 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_buffer_create: size is %zu bytes; it must be a positive multiple "
                           "of 4",
                           size);
    return create_within_limits(device, size, 0, buffer);
}

glcnn_status buffer_create_mapped(struct glcnn_device *device, size_t size, GLbitfield access,
                                  struct glcnn_buffer **buffer)
{
    return create_within_limits(device, size, access, buffer);
}

struct glcnn_buffer *buffer_retain(struct glcnn_buffer *buffer)
{
    buffer->references++;
    return buffer;
}

void glcnn_buffer_destroy(glcnn_buffer **buffer)
{
    if (!buffer || !*buffer)
        return;
    struct glcnn_buffer *old = *buffer;
    *buffer = NULL;
    if (--old->references > 0)
        return;
    if (old->name && device_can_free(old->device))
        old->device->gl.DeleteBuffers(1, &old->name);
    glcnn_buffer_destroy(&old->within);
    device_unreference(old->device);
    if (old->reach == REACH_COPY)
        free(old->mapped);
    if (old->known)
        old->release_known(old->known);
    free(old);
}

void buffer_keep(struct glcnn_buffer *buffer, void *known, void (*release_known)(void *known))
{
    buffer->known = known;
    buffer->release_known = release_known;
}

size_t glcnn_buffer_size(const glcnn_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}

/* ---- Memory that buffers share ---- */

static const struct glcnn_buffer *memory_of(const struct glcnn_buffer *buffer)
{
    return buffer->within ? buffer->within : buffer;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct hazard buffer_hazard(const struct glcnn_buffer *buffer)
{
    const struct glcnn_buffer *whole = memory_of(buffer);
    const struct hazard *own = &buffer->hazard, *other = whole == buffer || whole->is_arena
                                                             ? &whole->parts
                                                             : &whole->hazard;
    return (struct hazard){.written = later(own->written, other->written),
                           .read = later(own->read, other->read)};
}

void buffer_mark_read(struct glcnn_buffer *buffer, uint64_t serial)
{
    buffer->hazard.read = serial;
    if (buffer->within)
        buffer->within->parts.read = serial;
}

void buffer_mark_written(struct glcnn_buffer *buffer, uint64_t serial)
{
    buffer->zeros = false;
    buffer->hazard.written = serial;
    if (buffer->within)
        buffer->within->parts.written = serial;
    if (buffer->mapped)
        buffer->device->progress.shows = true;
}

/* What a copy into memory that stays mapped writes is awaited like what a pass does. */
static void mark_copied(struct glcnn_buffer *buffer)
{
    if (buffer->mapped)
        buffer->hazard.written = ++buffer->device->serial;
}

bool buffer_is_zeros(const struct glcnn_buffer *buffer)
{
    return buffer->zeros && !(buffer->within && buffer->within->hazard.written > buffer->zeros_at);
}

void buffer_bind_storage(const struct gl *gl, GLuint index, const struct glcnn_buffer *buffer)
{
    if (buffer->within)
        buffer_bind_part(gl, index, buffer, 0, buffer->size);
    else
        gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, index, buffer->name);
}

void buffer_bind_part(const struct gl *gl, GLuint index, const struct glcnn_buffer *buffer,
                      size_t offset, size_t size)
{
    gl->BindBufferRange(GL_SHADER_STORAGE_BUFFER, index, memory_of(buffer)->name,
                        (GLintptr)(buffer->offset + offset), (GLsizeiptr)size);
}

/* Where the one behind a buffer at `offset` begins. */
static size_t next_offset(const struct glcnn_buffer *buffer, size_t offset)
{
    size_t alignment = buffer->device->info.limits.buffer_offset_alignment;
    if (alignment < 16)
        alignment = 16;
    return (offset + buffer->size + alignment - 1) / alignment * alignment;
}

size_t buffer_merged_size(struct glcnn_buffer *const *buffers, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size = next_offset(buffers[i], size);
    return size;
}

size_t buffer_taken(const struct glcnn_buffer *buffer)
{
    return buffer->within ? next_offset(buffer, 0) : buffer->size;
}

static void lie_within(struct glcnn_buffer *buffer, struct glcnn_buffer *whole, size_t offset)
{
    buffer->within = buffer_retain(whole);
    buffer->offset = offset;
}

void buffer_suballocate(struct glcnn_buffer *buffer, struct glcnn_buffer *whole, size_t offset)
{
    lie_within(buffer, whole, offset);
    whole->is_arena = true;
}

void buffer_put_within(struct glcnn_buffer *buffer, struct glcnn_buffer *whole, size_t offset)
{
    lie_within(buffer, whole, offset);
    whole->is_whole = true;
}

glcnn_status buffer_allocate(struct glcnn_buffer *buffer)
{
    caller_state_keep(buffer->device);
    glcnn_status status = buffer_upload(buffer->device, GL_SHADER_STORAGE_BUFFER, &buffer->name,
                                        buffer->size, NULL, "making a graph's vectors");
    caller_state_put_back(buffer->device);
    return status;
}

/* The buffer that all of them lie within, in this order, and nothing else does; NULL: there is none. */
static struct glcnn_buffer *merged_before(struct glcnn_buffer *const *buffers, size_t count)
{
    struct glcnn_buffer *whole = buffers[0]->within;
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (buffers[i]->within != whole || buffers[i]->offset != offset)
            return NULL;
        offset = next_offset(buffers[i], offset);
    }
    return whole && whole->size == offset ? whole : NULL;
}

static void wait_for_passes(const struct glcnn_buffer *buffer)
{
    struct hazard used = buffer_hazard(buffer);
    if (later(used.written, used.read) > buffer->device->barrier_serial[BARRIER_UPDATE])
        device_barrier(buffer->device, 1u << BARRIER_UPDATE);
}

glcnn_status buffer_copy(const struct glcnn_buffer *from, size_t offset, struct glcnn_buffer *to,
                         size_t to_offset, size_t size)
{
    const struct gl *gl = &to->device->gl;
    glcnn_status status = bind(to->device, GL_COPY_WRITE_BUFFER, to->name, "copying a buffer");
    if (status != GLCNN_SUCCESS)
        return status;
    wait_for_passes(from);
    gl->BindBuffer(GL_COPY_READ_BUFFER, memory_of(from)->name);
    gl->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER,
                          (GLintptr)(from->offset + offset), (GLintptr)to_offset, (GLsizeiptr)size);
    return device_check(to->device, "copying a buffer");
}

static glcnn_status copy_into(struct glcnn_buffer *whole, struct glcnn_buffer *const *buffers,
                              size_t count)
{
    glcnn_status status = GLCNN_SUCCESS;
    caller_state_keep(whole->device);
    for (size_t i = 0, offset = 0; i < count && status == GLCNN_SUCCESS; i++) {
        status = buffer_copy(buffers[i], 0, whole, offset, buffers[i]->size);
        offset = next_offset(buffers[i], offset);
    }
    caller_state_put_back(whole->device);
    return status;
}

static void move_into(struct glcnn_buffer *whole, struct glcnn_buffer *const *buffers, size_t count)
{
    for (size_t i = 0, offset = 0; i < count; i++) {
        struct glcnn_buffer *part = buffers[i];
        whole->device->gl.DeleteBuffers(1, &part->name);
        part->name = 0;
        part->mapped = NULL;
        lie_within(part, whole, offset);
        offset = next_offset(part, offset);
    }
}

glcnn_status buffer_merge(struct glcnn_buffer *const *buffers, size_t count,
                          struct glcnn_buffer **merged)
{
    struct glcnn_buffer *before = merged_before(buffers, count), *whole = NULL;
    *merged = before ? buffer_retain(before) : NULL;
    for (size_t i = 0; i < count; i++)
        if (before || buffers[i]->within)
            return GLCNN_SUCCESS;
    glcnn_status status = create(buffers[0]->device, buffer_merged_size(buffers, count), 0, &whole);
    if (status == GLCNN_SUCCESS)
        status = copy_into(whole, buffers, count);
    if (status == GLCNN_SUCCESS)
        move_into(whole, buffers, count);
    else
        glcnn_buffer_destroy(&whole);
    *merged = whole;
    return status;
}

/* ---- Transfers ---- */

static glcnn_status check_transfer(struct glcnn_buffer *buffer, size_t offset, size_t size,
                                   const void *bytes, const char *where)
{
    if (!buffer)
        return GLCNN_INVALID_ARGUMENT;
    struct glcnn_device *device = buffer->device;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!bytes)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: bytes is NULL", where);
    if (offset % 4 || size % 4 || offset > buffer->size || size > buffer->size - offset)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: %zu bytes from byte %zu on; offset and size must be multiples of 4 "
                           "within the buffer's %zu bytes",
                           where, size, offset, buffer->size);
    return GLCNN_SUCCESS;
}

static glcnn_status write_bound(struct glcnn_buffer *buffer, size_t offset, size_t size,
                                const void *bytes, const char *where)
{
    struct glcnn_device *device = buffer->device;
    glcnn_status status = bind(device, GL_SHADER_STORAGE_BUFFER, memory_of(buffer)->name, where);
    return status == GLCNN_SUCCESS ? buffer_write_bound(device, GL_SHADER_STORAGE_BUFFER,
                                                        buffer->offset + offset, size, bytes, where)
                                   : status;
}

static glcnn_status send(struct glcnn_buffer *buffer, size_t offset, size_t size, const void *bytes,
                         const char *where)
{
    caller_state_keep(buffer->device);
    glcnn_status status = write_bound(buffer, offset, size, bytes, where);
    caller_state_put_back(buffer->device);
    return status;
}

static bool is_zeros(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Of values that do not change: are these bytes what is there? */
static glcnn_status check_same(struct glcnn_buffer *buffer, size_t offset, size_t size,
                               const void *bytes)
{
    void *there = malloc(size);
    if (!there)
        return device_fail(buffer->device, GLCNN_OUT_OF_MEMORY,
                           "glcnn_buffer_write: out of memory comparing values");
    glcnn_status status = glcnn_buffer_read(buffer, offset, size, there);
    if (status == GLCNN_SUCCESS && memcmp(there, bytes, size) != 0)
        status = device_fail(buffer->device, GLCNN_INVALID_STATE,
                             "glcnn_buffer_write: a kernel was encoded with the constants that the "
                             "buffer holds, so they do not change; make another kernel for others");
    free(there);
    return status;
}

glcnn_status glcnn_buffer_write(glcnn_buffer *buffer, size_t offset, size_t size, const void *bytes)
{
    glcnn_status status = check_transfer(buffer, offset, size, bytes, "glcnn_buffer_write");
    if (status != GLCNN_SUCCESS || size == 0)
        return status;
    if (buffer->known)
        return check_same(buffer, offset, size, bytes);
    buffer->zeros = is_zeros(bytes, size) && (buffer_is_zeros(buffer) || size == buffer->size);
    buffer->zeros_at = buffer->device->serial;
    wait_for_passes(buffer);
    mark_copied(buffer);
    return send(buffer, offset, size, bytes, "glcnn_buffer_write");
}

static glcnn_status read_bound(struct glcnn_buffer *buffer, size_t offset, size_t size, void *bytes)
{
    const struct gl *gl = &buffer->device->gl;
    glcnn_status status = bind(buffer->device, GL_SHADER_STORAGE_BUFFER, memory_of(buffer)->name,
                               "glcnn_buffer_read");
    if (status != GLCNN_SUCCESS)
        return status;
    wait_for_passes(buffer);
    const void *mapped =
        gl->MapBufferRange(GL_SHADER_STORAGE_BUFFER, (GLintptr)(buffer->offset + offset),
                           (GLsizeiptr)size, GL_MAP_READ_BIT);
    if (mapped)
        memcpy(bytes, mapped, size);
    if (!mapped || !gl->UnmapBuffer(GL_SHADER_STORAGE_BUFFER))
        return cannot_map(buffer->device, "glcnn_buffer_read");
    return reset_check(buffer->device, "glcnn_buffer_read");
}

glcnn_status glcnn_buffer_read(glcnn_buffer *buffer, size_t offset, size_t size, void *bytes)
{
    glcnn_status status = check_transfer(buffer, offset, size, bytes, "glcnn_buffer_read");
    if (status != GLCNN_SUCCESS || size == 0)
        return status;
    status = fence_await(buffer->device, later(buffer_hazard(buffer).written, buffer->zeros_at),
                         "glcnn_buffer_read"); /* mapping has no deadline */
    if (status != GLCNN_SUCCESS)
        return status;
    if (buffer->mapped) {
        memcpy(bytes, (const char *)buffer->mapped + offset, size);
        return GLCNN_SUCCESS;
    }
    caller_state_keep(buffer->device);
    status = read_bound(buffer, offset, size, bytes);
    caller_state_put_back(buffer->device);
    return status;
}

/* ---- Memory of both ---- */

static glcnn_status map(struct glcnn_buffer *buffer, size_t size, void **bytes, const char *where)
{
    struct glcnn_device *device = buffer->device;
    GLbitfield access = buffer->access;
    if (access & GL_MAP_WRITE_BIT)
        access |= GL_MAP_UNSYNCHRONIZED_BIT | GL_MAP_INVALIDATE_RANGE_BIT;
    caller_state_keep(device);
    glcnn_status status = bind(device, GL_SHADER_STORAGE_BUFFER, buffer->name, where);
    if (status == GLCNN_SUCCESS && buffer->is_open)
        device->gl.UnmapBuffer(GL_SHADER_STORAGE_BUFFER);
    if (status == GLCNN_SUCCESS) {
        *bytes = device->gl.MapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)size, access);
        status = *bytes ? GLCNN_SUCCESS : cannot_map(device, where);
        buffer->is_open = *bytes != NULL;
    }
    caller_state_put_back(device);
    return status;
}

static glcnn_status unmap(struct glcnn_buffer *buffer, size_t size, const char *where)
{
    struct glcnn_device *device = buffer->device;
    (void)size;
    caller_state_keep(device);
    glcnn_status status = bind(device, GL_SHADER_STORAGE_BUFFER, buffer->name, where);
    if (status == GLCNN_SUCCESS) {
        buffer->is_open = false;
        status = device->gl.UnmapBuffer(GL_SHADER_STORAGE_BUFFER) ? reset_check(device, where)
                                                                  : cannot_map(device, where);
    }
    caller_state_put_back(device);
    return status;
}

static glcnn_status show_mapped(struct glcnn_buffer *buffer, size_t size, void **bytes,
                                const char *where)
{
    (void)size, (void)where;
    *bytes = buffer->mapped;
    return GLCNN_SUCCESS;
}

static glcnn_status leave_mapped(struct glcnn_buffer *buffer, size_t size, const char *where)
{
    (void)buffer, (void)size, (void)where;
    return GLCNN_SUCCESS;
}

static glcnn_status fill_mapped(struct glcnn_buffer *buffer, size_t size, const void *bytes,
                                const char *where)
{
    void *mapped;
    glcnn_status status = buffer_map(buffer, size, &mapped, where);
    if (status != GLCNN_SUCCESS)
        return status;
    memcpy(mapped, bytes, size);
    return buffer_unmap(buffer, size, where);
}

static glcnn_status send_mapped(struct glcnn_buffer *buffer, size_t size, const char *where)
{
    return send(buffer, 0, size, buffer->mapped, where);
}

static glcnn_status send_first(struct glcnn_buffer *buffer, size_t size, const void *bytes,
                               const char *where)
{
    return send(buffer, 0, size, bytes, where);
}

static const struct {
    glcnn_status (*map)(struct glcnn_buffer *, size_t, void **, const char *);
    glcnn_status (*unmap)(struct glcnn_buffer *, size_t, const char *);
    glcnn_status (*fill)(struct glcnn_buffer *, size_t, const void *, const char *);
} reaches[] = {
    [REACH_MAP] = {map, unmap, fill_mapped},
    [REACH_KEPT] = {show_mapped, leave_mapped, fill_mapped},
    [REACH_COPY] = {show_mapped, send_mapped, send_first},
};

/* For GLCNN_DEBUG=race. The driver orders what it copies behind passes, and nothing else. */
static glcnn_status check_unused(struct glcnn_buffer *buffer, const char *where)
{
    struct glcnn_device *device = buffer->device;
    const struct hazard used = buffer_hazard(buffer);
    bool writes = buffer->access & GL_MAP_WRITE_BIT;
    uint64_t last = writes ? later(used.written, used.read) : used.written;
    if (buffer->reach == REACH_COPY || last <= device->progress.completed)
        return GLCNN_SUCCESS;
    return device_fail(
        device, GLCNN_CHECK_FAILED,
        "GLCNN_DEBUG=race: %s: memory is %s that the device's pass %llu may still be "
        "%s; passes up to %llu are known to have finished",
        where, writes ? "written" : "read", (unsigned long long)last,
        writes ? "reading" : "writing", (unsigned long long)device->progress.completed);
}

static glcnn_status map_checked(struct glcnn_buffer *buffer, size_t size, void **bytes,
                                const char *where)
{
    glcnn_status status = check_unused(buffer, where);
    if (status == GLCNN_SUCCESS)
        status = reaches[buffer->reach].map(buffer, size, bytes, where);
    if (status == GLCNN_SUCCESS && buffer->access & GL_MAP_WRITE_BIT)
        memset(*bytes, 0xff, size);
    return status;
}

/* What the GPU adds to without an end, of which any value is one that it had. */
static bool is_count(const struct glcnn_buffer *buffer)
{
    return buffer == buffer->device->watch.count.buffer;
}

glcnn_status buffer_map(struct glcnn_buffer *buffer, size_t size, void **bytes, const char *where)
{
    bool checks = buffer->device->checks & DEBUG_RACE && !is_count(buffer);
    return checks ? map_checked(buffer, size, bytes, where)
                  : reaches[buffer->reach].map(buffer, size, bytes, where);
}

glcnn_status buffer_unmap(struct glcnn_buffer *buffer, size_t size, const char *where)
{
    return reaches[buffer->reach].unmap(buffer, size, where);
}

glcnn_status buffer_fill(struct glcnn_buffer *buffer, size_t size, const void *bytes,
                         const char *where)
{
    return reaches[buffer->reach].fill(buffer, size, bytes, where);
}

void buffer_show(struct glcnn_buffer *buffer)
{
    if (buffer->mapped)
        buffer->device->progress.shows = true;
    else
        wait_for_passes(buffer);
}

/* Where the driver does not keep it mapped all stays as it was. */
static glcnn_status take_memory(struct glcnn_buffer *buffer, struct glcnn_buffer *from)
{
    if (from->reach != REACH_KEPT)
        return GLCNN_SUCCESS;
    GLuint name = buffer->name;
    glcnn_status status = buffer_copy(buffer, 0, from, 0, buffer->size);
    if (status != GLCNN_SUCCESS)
        return status;
    buffer->name = from->name;
    buffer->mapped = from->mapped;
    from->name = name;
    from->mapped = NULL;
    mark_copied(buffer);
    return GLCNN_SUCCESS;
}

glcnn_status buffer_prefetch_to_host(struct glcnn_buffer *buffer)
{
    struct glcnn_buffer *host = NULL;
    if (!buffer->device->gl.BufferStorageEXT || buffer->mapped || buffer->within ||
        buffer->hazard.read)
        return GLCNN_SUCCESS;
    glcnn_status status =
        buffer_create_mapped(buffer->device, buffer->size, GL_MAP_READ_BIT, &host);
    if (status != GLCNN_SUCCESS)
        return status;
    caller_state_keep(buffer->device);
    status = take_memory(buffer, host);
    caller_state_put_back(buffer->device);
    glcnn_buffer_destroy(&host);
    return status;
}
