/* How far the GPU has come: fences, and a deadline for those who wait. */
#ifndef GLCNN_FENCE_H
#define GLCNN_FENCE_H

#include "glcnn/status.h"
#include "device/gl.h"

struct glcnn_device;

#define DEFAULT_WAIT 300 /* seconds without progress */
#define MARKS        16

/* A fence behind the pass of that serial number and all before it. */
struct mark {
    GLsync fence;
    uint64_t serial;
};

/* Fences behind commits and between the passes of long ones, oldest first: each that passes is
 * progress. */
struct progress {
    struct mark marks[MARKS];
    size_t mark_count;
    uint64_t completed;       /* passes up to this serial number are known to have finished */
    uint64_t deferred_serial; /* the last pass left without a mark; 0: none */
    uint32_t deferred;        /* times that it did so since the last mark */
    uint64_t work;            /* operations issued since the last mark */
    bool shows;        /* memory that stays mapped was written since: the next mark shows it */
    uint32_t patience; /* seconds that a wait may last without progress */
    /* Called between the polls of each wait while it is set; NULL: waits are the driver's. */
    void (*meanwhile)(void *user);
    void *meanwhile_user;
};

/* Counts operations given to the GPU; sets a mark once enough have come together. A GL error that
 * they raised is returned then. */
glcnn_status fence_count(struct glcnn_device *device, uint64_t operations, const char *where);

/* Sets a mark behind all that was issued. Where the driver has no memory for one it is deferred. */
glcnn_status fence_mark(struct glcnn_device *device, const char *where);

/* Leaves the mark for later: fence_flush_deferred sets it, before anything else is issued that is not
 * small, and so does whoever asks for what was issued. A GPU finishes all that it does before it
 * passes a fence, which costs the time of a short pass or two. Of so many deferred in a row that a
 * wait for the last could be long without progress, one has its mark at once. */
glcnn_status fence_defer(struct glcnn_device *device, const char *where);
glcnn_status fence_flush_deferred(struct glcnn_device *device, const char *where);

/* Waits for the pass of that serial number and all before it, and for no more than the next mark.
 * GLCNN_DEVICE_LOST once no mark has passed for so long as the device's user said, and
 * GLCNN_OUT_OF_MEMORY where the driver cannot make a mark to wait for. */
glcnn_status fence_await(struct glcnn_device *device, uint64_t serial, const char *where);
/* Have they finished, as far as marks tell? Never waits. */
glcnn_status fence_poll(struct glcnn_device *device, uint64_t serial, bool *passed,
                        const char *where);

/* A native fence behind all that was issued, the caller's to close; -1, with a message, where there
 * is none. */
int fence_descriptor(struct glcnn_device *device, const char *where);

/* Waits for all that was issued. */
glcnn_status fence_await_all(struct glcnn_device *device, const char *where);

/* Drops the marks; `reachable`: the driver can be called. */
void fences_forget(struct glcnn_device *device, bool reachable);

#endif
