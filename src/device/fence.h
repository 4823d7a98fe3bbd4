/* How far the GPU has come: fences, and a deadline for those who wait. */
#ifndef GLCNN_FENCE_H
#define GLCNN_FENCE_H

#include "glcnn/status.h"
#include "device/gl.h"

struct glcnn_device;

#define DEFAULT_WAIT 300 /* seconds without progress */
#define MARKS        16

/* Fences between the passes of long commits, oldest first: each that passes is progress. */
struct progress {
    GLsync marks[MARKS];
    size_t mark_count;
    uint64_t work;     /* operations issued since the last mark */
    uint32_t patience; /* seconds that a wait may last without progress */
};

/* Counts operations given to the GPU; sets a mark once enough have come together. A GL error that
 * they raised is returned then. */
glcnn_status fence_count(struct glcnn_device *device, uint64_t operations, const char *where);

/* A fence behind all that was issued, the caller's to delete. Where the driver has no memory for
 * one the GPU is waited for and *fence is NULL. */
glcnn_status fence_make(struct glcnn_device *device, const char *where, GLsync *fence);

/* Waits for the fence. GLCNN_DEVICE_LOST once neither it nor a mark has passed for so long as the
 * device's user said. */
glcnn_status fence_await(struct glcnn_device *device, GLsync fence, const char *where);

/* Waits for all that was issued. */
glcnn_status fence_await_all(struct glcnn_device *device, const char *where);

/* Drops the marks; `reachable`: the driver can be called. */
void fences_forget(struct glcnn_device *device, bool reachable);

#endif
