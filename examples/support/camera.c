/* V4L2, single-planar: formats whose planes lie behind each other in one buffer. */
#define _XOPEN_SOURCE 700 /* O_CLOEXEC, S_ISCHR */
#include "camera.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drm.h"

#if __has_include(<linux/dma-heap.h>)
#include <linux/dma-heap.h>
#endif

/* V4L2's formats and DRM's names of them. */
static const struct {
    uint32_t v4l2, drm;
} formats[] = {
    {V4L2_PIX_FMT_NV12, DRM_FORMAT_NV12},       {V4L2_PIX_FMT_NV21, DRM_FORMAT_NV21},
    {V4L2_PIX_FMT_NV16, DRM_FORMAT_NV16},       {V4L2_PIX_FMT_YUYV, DRM_FORMAT_YUYV},
    {V4L2_PIX_FMT_UYVY, DRM_FORMAT_UYVY},       {V4L2_PIX_FMT_XBGR32, DRM_FORMAT_XRGB8888},
    {V4L2_PIX_FMT_ABGR32, DRM_FORMAT_ARGB8888}, {V4L2_PIX_FMT_RGB24, DRM_FORMAT_BGR888},
    {V4L2_PIX_FMT_BGR24, DRM_FORMAT_RGB888}};

static bool fail(struct camera *camera, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(camera->error, sizeof camera->error, format, arguments);
    va_end(arguments);
    return false;
}

static bool call(struct camera *camera, unsigned long request, void *argument, const char *name)
{
    int result;
    do
        result = ioctl(camera->fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result >= 0 || fail(camera, "%s: %s", name, strerror(errno));
}

/* ---- Format ---- */

static uint32_t drm_format_of(uint32_t fourcc)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].v4l2 == fourcc)
            return formats[i].drm;
    return 0;
}

static void take_format(struct camera *camera, const struct v4l2_pix_format *pixels)
{
    uint32_t encoding = pixels->ycbcr_enc;
    camera->width = pixels->width;
    camera->height = pixels->height;
    camera->fourcc = pixels->pixelformat;
    camera->pitch = pixels->bytesperline;
    camera->drm_fourcc = drm_format_of(pixels->pixelformat);
    if (encoding == V4L2_YCBCR_ENC_DEFAULT)
        encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(pixels->colorspace);
    camera->bt709 = encoding == V4L2_YCBCR_ENC_709;
    camera->full = pixels->quantization == V4L2_QUANTIZATION_FULL_RANGE;
    camera->limited = pixels->quantization == V4L2_QUANTIZATION_LIM_RANGE;
}

static bool set_format(struct camera *camera, const struct camera_wish *wish)
{
    struct v4l2_capability capability = {.driver = ""};
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_pix_format *pixels = &format.fmt.pix;
    if (!call(camera, VIDIOC_QUERYCAP, &capability, "VIDIOC_QUERYCAP"))
        return false;
    if (!(capability.device_caps & V4L2_CAP_VIDEO_CAPTURE) ||
        !(capability.device_caps & V4L2_CAP_STREAMING))
        return fail(camera, "%.32s is no camera that streams frames of one plane",
                    (const char *)capability.card);
    if (!call(camera, VIDIOC_G_FMT, &format, "VIDIOC_G_FMT"))
        return false;
    pixels->width = wish->width ? wish->width : pixels->width;
    pixels->height = wish->height ? wish->height : pixels->height;
    pixels->pixelformat = wish->fourcc ? wish->fourcc : pixels->pixelformat;
    pixels->bytesperline = 0;
    if (!call(camera, VIDIOC_S_FMT, &format, "VIDIOC_S_FMT"))
        return false;
    take_format(camera, pixels);
    return !wish->fourcc || camera->fourcc == wish->fourcc ||
           fail(camera, "the camera has no format %.4s", (const char *)&wish->fourcc);
}

/* ---- Memory that is not the camera's ---- */

/* A heap that V4L2 drivers can write to: contiguous, or of any pages. */
static bool take_from_heap(struct camera_buffer *buffer, size_t size)
{
#ifdef DMA_HEAP_IOCTL_ALLOC
    static const char *const heaps[] = {"/dev/dma_heap/linux,cma", "/dev/dma_heap/reserved",
                                        "/dev/dma_heap/system"};
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        struct dma_heap_allocation_data data = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};
        int heap = open(heaps[i], O_RDONLY | O_CLOEXEC);
        bool good = heap >= 0 && ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data) == 0;
        if (heap >= 0)
            close(heap);
        if (good) {
            buffer->fd = (int)data.fd;
            return true;
        }
    }
#endif
    (void)buffer, (void)size;
    return false;
}

/* A display's driver lends a picture that it would show. */
static bool take_from_display(struct camera_buffer *buffer, int display, size_t size)
{
    struct drm_mode_create_dumb made = {.width = 4096, .bpp = 8};
    made.height = (uint32_t)((size + made.width - 1) / made.width);
    if (ioctl(display, DRM_IOCTL_MODE_CREATE_DUMB, &made) != 0)
        return false;
    struct drm_prime_handle handle = {.handle = made.handle, .flags = O_CLOEXEC | O_RDWR};
    if (ioctl(display, DRM_IOCTL_PRIME_HANDLE_TO_FD, &handle) != 0)
        return false;
    buffer->fd = handle.fd;
    return true;
}

static bool take_from_displays(struct camera_buffer *buffer, size_t size)
{
    char path[32];
    bool good = false;
    for (int i = 0; i < 8 && !good; i++) {
        snprintf(path, sizeof path, "/dev/dri/card%d", i);
        int display = open(path, O_RDWR | O_CLOEXEC);
        good = display >= 0 && take_from_display(buffer, display, size);
        if (display >= 0)
            close(display); /* the dma-buf keeps the memory */
    }
    return good;
}

/* ---- Buffers ---- */

static bool ask_buffers(struct camera *camera, uint32_t memory)
{
    struct v4l2_requestbuffers request = {
        .count = CAMERA_BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = memory};
    if (!call(camera, VIDIOC_REQBUFS, &request, "VIDIOC_REQBUFS"))
        return false;
    camera->buffer_count = request.count < CAMERA_BUFFERS ? request.count : CAMERA_BUFFERS;
    return camera->buffer_count > 0 || fail(camera, "the camera has no buffers");
}

static bool export_buffer(struct camera *camera, uint32_t index)
{
    struct v4l2_exportbuffer request = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .index = index, .flags = O_CLOEXEC | O_RDWR};
    if (!call(camera, VIDIOC_EXPBUF, &request, "VIDIOC_EXPBUF"))
        return false;
    camera->buffers[index].fd = request.fd;
    return true;
}

static bool map_buffer(struct camera *camera, uint32_t index, uint32_t offset)
{
    struct camera_buffer *buffer = &camera->buffers[index];
    void *bytes =
        mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, camera->fd, (off_t)offset);
    if (bytes == MAP_FAILED)
        return fail(camera, "mmap of a buffer: %s", strerror(errno));
    buffer->bytes = bytes;
    return true;
}

static bool import_buffer(struct camera *camera, uint32_t index, size_t size)
{
    struct camera_buffer *buffer = &camera->buffers[index];
    buffer->size = size;
    return take_from_heap(buffer, size) || take_from_displays(buffer, size) ||
           fail(camera, "no dma-heap and no display of this machine gives memory: %s",
                strerror(errno));
}

static bool make_buffer(struct camera *camera, uint32_t index, size_t size)
{
    struct v4l2_buffer query = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP, .index = index};
    if (camera->memory == CAMERA_IMPORTED)
        return import_buffer(camera, index, size);
    if (!call(camera, VIDIOC_QUERYBUF, &query, "VIDIOC_QUERYBUF"))
        return false;
    camera->buffers[index].size = query.length;
    return camera->memory == CAMERA_EXPORTED ? export_buffer(camera, index)
                                             : map_buffer(camera, index, query.m.offset);
}

static bool make_buffers(struct camera *camera)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    bool good = call(camera, VIDIOC_G_FMT, &format, "VIDIOC_G_FMT") &&
                ask_buffers(camera, camera->memory == CAMERA_IMPORTED ? V4L2_MEMORY_DMABUF
                                                                      : V4L2_MEMORY_MMAP);
    for (uint32_t i = 0; i < camera->buffer_count && good; i++)
        good = make_buffer(camera, i, format.fmt.pix.sizeimage);
    return good;
}

bool camera_open(struct camera *camera, const char *path, const struct camera_wish *wish)
{
    *camera = (struct camera){.memory = wish->memory};
    for (int i = 0; i < CAMERA_BUFFERS; i++)
        camera->buffers[i].fd = -1;
    camera->fd = open(path, O_RDWR | O_CLOEXEC);
    if (camera->fd < 0)
        return fail(camera, "%s: %s", path, strerror(errno));
    if (set_format(camera, wish) && make_buffers(camera))
        return true;
    camera_close(camera);
    return false;
}

void camera_close(struct camera *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (camera->streams)
        ioctl(camera->fd, VIDIOC_STREAMOFF, &type);
    for (uint32_t i = 0; i < CAMERA_BUFFERS; i++) {
        struct camera_buffer *buffer = &camera->buffers[i];
        if (buffer->bytes)
            munmap(buffer->bytes, buffer->size);
        if (buffer->fd >= 0)
            close(buffer->fd);
        *buffer = (struct camera_buffer){.fd = -1};
    }
    if (camera->fd >= 0)
        close(camera->fd);
    camera->fd = -1;
    camera->streams = false;
}

/* ---- Frames ---- */

static struct v4l2_buffer message(const struct camera *camera, uint32_t index)
{
    struct v4l2_buffer m = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
                            .memory = camera->memory == CAMERA_IMPORTED ? V4L2_MEMORY_DMABUF
                                                                        : V4L2_MEMORY_MMAP,
                            .index = index};
    if (camera->memory == CAMERA_IMPORTED) {
        m.m.fd = camera->buffers[index].fd;
        m.length = (uint32_t)camera->buffers[index].size;
    }
    return m;
}

bool camera_give_back(struct camera *camera, uint32_t index)
{
    struct v4l2_buffer m = message(camera, index);
    return call(camera, VIDIOC_QBUF, &m, "VIDIOC_QBUF");
}

bool camera_start(struct camera *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    for (uint32_t i = 0; i < camera->buffer_count; i++)
        if (!camera_give_back(camera, i))
            return false;
    camera->streams = call(camera, VIDIOC_STREAMON, &type, "VIDIOC_STREAMON");
    return camera->streams;
}

bool camera_next(struct camera *camera, uint32_t seconds, uint32_t *index)
{
    struct pollfd wait = {.fd = camera->fd, .events = POLLIN};
    struct v4l2_buffer m = message(camera, 0);
    int ready = poll(&wait, 1, (int)seconds * 1000);
    if (ready <= 0)
        return fail(camera, "no frame within %u s", seconds);
    m.length = 0;
    if (!call(camera, VIDIOC_DQBUF, &m, "VIDIOC_DQBUF"))
        return false;
    *index = m.index;
    return m.index < camera->buffer_count ||
           fail(camera, "the camera has filled a buffer that it was not given");
}
