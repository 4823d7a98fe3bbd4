/* Frames of a V4L2 camera, in memory that a GPU can read where it lies. */
#ifndef SUPPORT_CAMERA_H
#define SUPPORT_CAMERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAMERA_BUFFERS 4
#define CAMERA_TEXT    256

/* Whose memory the buffers are. */
enum camera_memory {
    CAMERA_EXPORTED, /* the driver's, as dma-bufs (VIDIOC_EXPBUF) */
    CAMERA_IMPORTED, /* of a dma-heap or a display's, which the driver fills (V4L2_MEMORY_DMABUF) */
    CAMERA_MAPPED    /* the driver's, for the CPU to copy from */
};

/* What is asked for; 0: as the camera is set. */
struct camera_wish {
    uint32_t width, height;
    uint32_t fourcc; /* of V4L2 */
    enum camera_memory memory;
};

struct camera_buffer {
    int fd;      /* the dma-buf; -1: none */
    void *bytes; /* mapped; NULL: not */
    size_t size;
};

struct camera {
    int fd;
    enum camera_memory memory;
    /* As the driver has it, which may be another than was asked for. */
    uint32_t width, height, fourcc, pitch;
    uint32_t drm_fourcc;       /* the same format; 0: it has none */
    bool bt709, full, limited; /* of what the numbers are; neither full nor limited: as usual */
    struct camera_buffer buffers[CAMERA_BUFFERS];
    uint32_t buffer_count;
    bool streams;
    char error[CAMERA_TEXT]; /* of the last call that failed, a message */
};

/* Opens a camera, sets it and gets its buffers. False, with camera->error: it holds nothing. */
bool camera_open(struct camera *camera, const char *path, const struct camera_wish *wish);
/* All that a failed or ended camera holds; camera->error stays. */
void camera_close(struct camera *camera);

/* Hands all buffers to the camera and starts it. */
bool camera_start(struct camera *camera);
/* Waits for a frame, `seconds` at most: *index is the buffer that has it, which is the caller's
 * until it is given back. */
bool camera_next(struct camera *camera, uint32_t seconds, uint32_t *index);
bool camera_give_back(struct camera *camera, uint32_t index);

#endif
