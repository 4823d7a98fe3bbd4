/* A command buffer records passes; commit issues them; wait is a fence. MTLCommandBuffer.
 *
 * Encoding validates everything and records; nothing runs before commit. A failed encode records
 * nothing and leaves the command buffer usable. A recorded command buffer can be committed again
 * and again: a training step is encoded once and replayed. Values that move with every step (the
 * time step of Adam) are computed again at each commit.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_COMMAND_BUFFER_H
#define GLCNN_COMMAND_BUFFER_H

#include <glcnn/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_command_buffer glcnn_command_buffer;

/* Makes an empty command buffer. The caller owns it. */
GLCNN_API glcnn_status glcnn_command_buffer_create(glcnn_device *device,
                                                   glcnn_command_buffer **command_buffer);

/* Waits for the GPU if the buffer was committed, then destroys it and the storage of its temporary
 * images and states; *command_buffer becomes NULL. A temporary image whose read count is not 0 by
 * then is reported to the log as a warning. */
GLCNN_API void glcnn_command_buffer_destroy(glcnn_command_buffer **command_buffer);

/* Issues the recorded passes in their order, with the barriers that their hazards need, and
 * flushes. Returns without waiting. Errors: GLCNN_DEVICE_LOST, GLCNN_OUT_OF_MEMORY,
 * GLCNN_SHADER_ERROR; GLCNN_CHECK_FAILED where GLCNN_DEBUG asks for checks, and then passes behind
 * the one that is named have not run. A commit that failed can be tried again, and what moves with
 * every step has moved once then; only where the driver runs out of memory amid the passes, which
 * the message says, is what they write undefined. */
GLCNN_API glcnn_status glcnn_command_buffer_commit(glcnn_command_buffer *command_buffer);

/* Waits until the last commit has finished. Does nothing if there was none. GLCNN_DEVICE_LOST when
 * the GPU makes no progress for the device's wait_seconds. */
GLCNN_API glcnn_status glcnn_command_buffer_wait(glcnn_command_buffer *command_buffer);

/* True once the last commit has finished (or there was none); never waits. */
GLCNN_API bool glcnn_command_buffer_is_complete(glcnn_command_buffer *command_buffer);

/* A fence for others to wait for: a descriptor of a sync file, which becomes readable once the last
 * commit, and whatever was committed on the device before this call, has finished. The caller's to
 * close. -1 where nothing was committed, and where the driver has no EGL_ANDROID_native_fence_sync or
 * makes no fence, which glcnn_device_error then says: wait with glcnn_command_buffer_wait. */
GLCNN_API int glcnn_command_buffer_fence_descriptor(glcnn_command_buffer *command_buffer);

/* How many passes are recorded. */
GLCNN_API size_t glcnn_command_buffer_pass_count(const glcnn_command_buffer *command_buffer);

/* ---- Times of passes: for tools and benchmarks ---- */

/* A pass as a commit ran it. */
struct glcnn_pass_timing {
    const char *kernel;         /* that it is a part of; "" for none, as of an upload */
    const char *shader;         /* "convolution/convolution.comp" */
    const char *implementation; /* one of glcnn_kernel_info's, NULL where the shader has none */
    uint32_t dispatches;        /* that it was issued in: a long pass is split */
    /* About: where it multiplies weights, a multiplication and an addition are two; elsewhere what
     * it is reckoned as where long passes are split. */
    uint64_t operations;
    uint64_t bytes; /* of the images and buffers that it binds, each once */
    /* Whether the times are those of the GPU (GL_EXT_disjoint_timer_query), nanoseconds from any
     * moment; else they are wall time between two waits for the GPU, which adds some microseconds
     * to each pass. Both are 0 where the GPU tells that its clock was disturbed. */
    bool gpu_clock;
    uint64_t begin, end;
};

/* What it is given lives until it returns. It must not call the library. Thread-safety: called on
 * the thread that commits. */
typedef void (*glcnn_profile_callback)(void *user, const struct glcnn_pass_timing *timing);

/* From now on every commit on the device, those of graphs and of transfers included, waits for the
 * GPU and then calls back for each of its passes in their order. The clearing of a new image is
 * none of them. NULL ends it, as does destroying the device. Errors: GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_device_set_profile(glcnn_device *device,
                                                glcnn_profile_callback callback, void *user);

#ifdef __cplusplus
}
#endif
#endif
