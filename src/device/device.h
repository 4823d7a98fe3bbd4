/* The device: context, GL table, limits, program cache, error text and what objects of it share.
 *
 * Room: The OpenGL ES context and what is made in it: entry points, limits, traits, buffers,
 * storage (textures), fences, and the messages of errors. Includes platform/ and nothing else. */
#ifndef GLCNN_DEVICE_INTERNAL_H
#define GLCNN_DEVICE_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "glcnn/device.h"
#include "device/caller_state.h"
#include "device/fence.h"
#include "device/gl.h"
#include "device/reset.h"
#include "platform/platform.h"

struct program_cache;
struct binary_folder;
struct tuning_cache;
struct storage_pool;
struct smoke_test;
struct staging;
struct profile;

/* Memory barriers as the device has issued them. Every pass has a serial number; a resource keeps
 * the serial of its last write and read, and a barrier bit is needed when no barrier of that bit
 * lies after them. */
enum barrier_kind {
    BARRIER_TEXTURE,
    BARRIER_IMAGE,
    BARRIER_STORAGE,
    BARRIER_UPDATE,
    BARRIER_KINDS
};

struct glcnn_device {
    int references; /* one of the user, one of each living object */
    platform_context *platform;
    _Atomic(const void *) owner; /* the thread that has it, as device.c marks it; all else but the
                                    refusal of other threads is that thread's */
    pid_t process;               /* that opened it */
    bool lost;
    struct gl gl;
    struct glcnn_device_properties info;
    uint64_t serial;                        /* of the last pass issued */
    uint64_t barrier_serial[BARRIER_KINDS]; /* serial at the last barrier of each kind */
    uint64_t dispatch_work;       /* operations that one dispatch may take; 0: not measured yet */
    uint64_t dispatch_bytes;      /* the same of bytes that it binds */
    char *forced_implementations; /* the environment's GLCNN_IMPLEMENTATIONS at opening, or NULL */
    char *shader_folder;          /* its GLCNN_SHADERS; NULL too once a file could not be written */
    unsigned checks;              /* that its GLCNN_DEBUG asks for, of debug.h */
    struct {
        glcnn_compile_callback callback;
        void *user;
        float limit;           /* seconds after which a program is reported */
        uint32_t at_once;      /* programs that the compiler is given before it is waited for */
        uint32_t count;        /* of the programs compiled */
        uint32_t pass, passes; /* that is made ready now, of so many */
    } compilation;
    struct program_cache *programs;
    struct binary_folder *binaries;    /* of programs, between runs; NULL: none are kept */
    struct tuning_cache *tuning_cache; /* between implementations, by timed trials */
    struct storage_pool *pool;
    struct caller_state *caller_state; /* NULL: the context is the library's own */
    struct smoke_test *smoke_test;     /* NULL until a program is tested */
    struct glcnn_buffer *zeros;        /* bound where a declared buffer is not given */
    GLuint stores;           /* the buffer of record/stores.h; 0: no pass had need of it */
    size_t stores_size;      /* its bytes */
    size_t stores_part;      /* bytes that a part of a pass fills, where its groups allow */
    struct staging *staging; /* of uploads and read-backs */
    struct profile *profile; /* NULL: nobody asks for the times of passes */
    struct progress progress;
    struct reset_watch watch;
    glcnn_log_callback log;
    void *log_user;
    char error[1024];
    char forked[192]; /* what a forked process is told */
};

/* For opening and closing (record/open.c): gives the device to this thread and process, and marks
 * it as destroyed, which all threads are told from then on. */
void device_set_owner(struct glcnn_device *device);
void device_close(struct glcnn_device *device);

struct glcnn_device *device_retain(struct glcnn_device *device);
void device_unreference(struct glcnn_device *device);

/* Makes the context current on this thread. Every public call that may touch GL begins so.
 * Fails with a message when the device is NULL, closed, lost, another thread's or another
 * process's. */
glcnn_status device_enter(struct glcnn_device *device);
/* The same test for calls of destruction: false means the GL objects are already gone. */
bool device_can_free(struct glcnn_device *device);

/* Records the message, logs it, and returns `status`. A thread that does not have the device
 * leaves its owner's message as it is. */
glcnn_status device_fail(struct glcnn_device *device, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Only records the message: of an answer that is no failure, such as that there is nothing. */
void device_explain(struct glcnn_device *device, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void device_log(struct glcnn_device *device, glcnn_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Drains GL errors after the step `where`; turns them into a status. */
glcnn_status device_check(struct glcnn_device *device, const char *where);
/* Clears GL errors of a step that may fail: only a lost context becomes a status. */
glcnn_status device_clear_error(struct glcnn_device *device, const char *where);
/* As device_check, of an error drained before: its code and name, or NULL for none. */
glcnn_status device_report(struct glcnn_device *device, GLenum code, const char *name,
                           const char *where);

/* Issues the barriers in `bits`, a mask of 1 << enum barrier_kind. */
void device_barrier(struct glcnn_device *device, unsigned bits);

#endif
