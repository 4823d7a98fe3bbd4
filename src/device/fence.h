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
    uint64_t deferred_serial; /* the last pass that fence_defer left without a mark; 0: none */
    uint32_t deferred;        /* times that it did so since the last mark */
    uint64_t work;            /* operations issued since the last mark */
    bool shows;        /* memory that stays mapped was written since: the next mark shows it */
    uint32_t patience; /* seconds that a wait may last without progress */
    /* Called between the sleeps of each wait while it is set; NULL: waits are the driver's. */
    void (*meanwhile)(void *user);
    void *meanwhile_user;
};

/* Counts operations given to the GPU; sets a mark once enough have come together. A GL error that
 * they raised is returned then. */
glcnn_status fence_count(struct glcnn_device *device, uint64_t operations, const char *where);

/* Sets a mark behind all that was issued. Where the driver has no memory for one the GPU is waited
 * for. */
glcnn_status fence_mark(struct glcnn_device *device, const char *where);

/* Leaves the mark for later: it is set by fence_flush_deferred, before anything else is issued that is not
 * small, or once somebody asks for what was issued. A GPU finishes all that it does before it passes a fence, which
 * takes it as long as a small pass or two (H200). Of so many in a row that a wait for the last could
 * be long without progress, one has its mark at once. */
glcnn_status fence_defer(struct glcnn_device *device, const char *where);
glcnn_status fence_flush_deferred(struct glcnn_device *device, const char *where);

/* Waits for the pass of that serial number and all before it, and for no more than the next mark.
 * GLCNN_DEVICE_LOST once no mark has passed for so long as the device's user said. */
glcnn_status fence_await(struct glcnn_device *device, uint64_t serial, const char *where);
/* Have they finished, as far as marks tell? Never waits. */
glcnn_status fence_poll(struct glcnn_device *device, uint64_t serial, bool *passed,
                        const char *where);

/* A native fence behind all that was issued, the caller's to close; -1, with a sentence, where there
 * is none. */
int fence_descriptor(struct glcnn_device *device, const char *where);

/* Waits for all that was issued. */
glcnn_status fence_await_all(struct glcnn_device *device, const char *where);

/* Drops the marks; `reachable`: the driver can be called. */
void fences_forget(struct glcnn_device *device, bool reachable);

#endif
