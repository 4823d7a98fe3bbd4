#ifndef GLCNN_BUFFER_INTERNAL_H
#define GLCNN_BUFFER_INTERNAL_H

#include "glcnn/buffer.h"
#include "device/storage.h"

/* How the processor comes to a buffer's memory. */
enum buffer_reach {
    REACH_MAP,  /* it is mapped for each use */
    REACH_KEPT, /* it stays mapped */
    REACH_COPY  /* the driver copies what it is to hold */
};

/* A buffer may lie within another, beside others (buffer_merge): it is used as before, and the other
 * one is all of them at once. */
struct glcnn_buffer {
    struct glcnn_device *device;
    int references;
    size_t size;                 /* bytes */
    GLuint name;                 /* 0: it lies within another, or has no memory yet */
    struct glcnn_buffer *within; /* retained; NULL: it has memory of its own */
    size_t offset;               /* bytes from the start of the other */
    struct hazard hazard;        /* uses of this buffer as a whole */
    struct hazard parts;         /* uses of those that lie within it */
    bool is_arena;               /* those share its memory, one after the other */
    bool is_whole;               /* they lie beside each other, and a pass may use all at once */
    struct glcnn_buffer *next;   /* in a list of workspace */
    size_t item;                 /* number in the placement that was made last of those it was in */
    GLbitfield access;           /* of buffer_create_mapped: how it is mapped */
    enum buffer_reach reach;
    void *mapped;      /* where it stays mapped, or memory to fill for the driver to copy */
    bool is_open;      /* mapped for one use; after a failure the next one unmaps it first */
    bool zeros;        /* held nothing but zeros at `zeros_at`, and was written by no pass since */
    uint64_t zeros_at; /* a serial number of the device's passes */
    void *known;       /* of values that do not change any more (buffer_keep); NULL: they may */
    void (*release_known)(void *known);
};

/* From now on the values do not change: glcnn_buffer_write refuses others. `known`, which is not
 * NULL, is what somebody found out about them; the buffer takes it over. */
void buffer_keep(struct glcnn_buffer *buffer, void *known, void (*release_known)(void *known));

/* Puts buffers beside each other in memory that they have together, in order, each at a multiple of
 * the device's buffer_offset_alignment and of 16 bytes; what lies between is 0. Contents stay.
 * *merged is the whole, a reference of the caller's: the same one again where they lie just so
 * already, NULL where some lie otherwise, which leaves all as they are. Errors: out of memory, and
 * then all are as they were. */
glcnn_status buffer_merge(struct glcnn_buffer *const *buffers, size_t count,
                          struct glcnn_buffer **merged);
/* The bytes that they take together. */
size_t buffer_merged_size(struct glcnn_buffer *const *buffers, size_t count);
/* The bytes of device memory that it takes, of a whole that it lies within its part. */
size_t buffer_taken(const struct glcnn_buffer *buffer);

/* A buffer without memory. buffer_suballocate places it within `whole` from `offset` on, where others
 * may lie too as long as no two are in use at one time; buffer_allocate gives it memory of undefined
 * contents, once. */
glcnn_status buffer_create_unallocated(struct glcnn_device *device, size_t size,
                                       struct glcnn_buffer **buffer);
void buffer_suballocate(struct glcnn_buffer *buffer, struct glcnn_buffer *whole, size_t offset);
/* The same in a whole that passes use, too, and that is never placed: no two may lie in one place. */
void buffer_put_within(struct glcnn_buffer *buffer, struct glcnn_buffer *whole, size_t offset);
glcnn_status buffer_allocate(struct glcnn_buffer *buffer);
static inline bool buffer_is_unallocated(const struct glcnn_buffer *buffer)
{
    return !buffer->name && !buffer->within;
}
/* Is it one to be placed within another? */
static inline bool buffer_wants_place(const struct glcnn_buffer *buffer)
{
    return buffer_is_unallocated(buffer) && !buffer->is_whole;
}

/* Copies bytes behind all committed work that writes them. The two lie in memory of their own. */
glcnn_status buffer_copy(const struct glcnn_buffer *from, size_t offset, struct glcnn_buffer *to,
                         size_t to_offset, size_t size);

/* The last passes that wrote and read any byte of it. */
struct hazard buffer_hazard(const struct glcnn_buffer *buffer);
void buffer_mark_read(struct glcnn_buffer *buffer, uint64_t serial);
void buffer_mark_written(struct glcnn_buffer *buffer, uint64_t serial);
/* Known to hold nothing but zeros? */
bool buffer_is_zeros(const struct glcnn_buffer *buffer);
/* Binds it as storage block `index`. */
void buffer_bind_storage(const struct gl *gl, GLuint index, const struct glcnn_buffer *buffer);
/* Or `size` of its bytes from `offset` on, a multiple of the device's buffer_offset_alignment. */
void buffer_bind_part(const struct gl *gl, GLuint index, const struct glcnn_buffer *buffer,
                      size_t offset, size_t size);

/* Gives the buffer object `*name`, made where it is 0, these bytes. Where the driver fails no other
 * buffer is touched, and the call can be repeated. */
glcnn_status buffer_upload(struct glcnn_device *device, GLenum target, GLuint *name, size_t size,
                           const void *bytes, const char *where);

/* Bytes of the buffer that is bound there, from `offset` on. Where the driver reads bytes late
 * (traits.h) they are the driver's before the call returns, here and in buffer_upload. */
glcnn_status buffer_write_bound(struct glcnn_device *device, GLenum target, size_t offset,
                                size_t size, const void *bytes, const char *where);

#define BUFFER_SMALL ((size_t)4096) /* bytes that are not worth a copy by the driver */

/* A buffer that the processor fills (GL_MAP_WRITE_BIT) or reads (GL_MAP_READ_BIT); contents
 * undefined. What is filled the driver copies where the buffer is not small and the device's traits
 * say that it does so in the background; else it stays mapped where the driver has
 * GL_EXT_buffer_storage. */
glcnn_status buffer_create_mapped(struct glcnn_device *device, size_t size, GLbitfield access,
                                  struct glcnn_buffer **buffer);
/* Where the driver keeps buffers mapped, gives one that passes fill for the processor such memory,
 * with what it holds: mapping a buffer for one read may wait for all that was committed. Not
 * one that passes have read, nor one within another. Errors: out of memory, and it stays as it was. */
glcnn_status buffer_prefetch_to_host(struct glcnn_buffer *buffer);
/* Its first `size` bytes, until buffer_unmap of as many. No pass may be using what is to be filled,
 * and what is read was awaited behind buffer_show: nothing here waits for that. */
glcnn_status buffer_map(struct glcnn_buffer *buffer, size_t size, void **bytes, const char *where);
glcnn_status buffer_unmap(struct glcnn_buffer *buffer, size_t size, const char *where);
/* Both at once, for bytes that are as they shall be. */
glcnn_status buffer_fill(struct glcnn_buffer *buffer, size_t size, const void *bytes,
                         const char *where);
/* Lets buffer_map show what passes have written, once they have finished. */
void buffer_show(struct glcnn_buffer *buffer);

struct glcnn_buffer *buffer_retain(struct glcnn_buffer *buffer);
/* The small buffer of zeros that stands in for every declared buffer that is not given. */
glcnn_status buffer_create_zeros(struct glcnn_device *device, struct glcnn_buffer **buffer);

#endif
