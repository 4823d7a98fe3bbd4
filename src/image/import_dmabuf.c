/* Frames of dma-bufs as images: each plane is a texture of its own, which the driver makes of the
 * memory. Planes of bytes and of pairs of bytes are what every driver imports that has any; what
 * their numbers mean is the kernels' part (kernels/frame.c). */
#include "glcnn/dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/import.h"
#include "platform/drm_abi.h"

/* A plane as a texture. */
struct plane_layout {
    uint32_t fourcc;
    uint32_t halved_x, halved_y; /* 1: every second column, row of the frame */
    uint32_t texel;              /* bytes */
    uint32_t channels;           /* 0: there is no such plane */
    bool swapped;                /* the first two components change places */
    enum byte_order bytes;
};

struct frame_layout {
    uint32_t fourcc;
    bool even; /* columns go by pairs */
    struct plane_layout planes[GLCNN_DMABUF_PLANES];
};

#define LUMA                                                                                       \
    {                                                                                              \
        DRM_FORMAT_R8, 0, 0, 1, 1                                                                  \
    }
#define COLOR(FOURCC)                                                                              \
    {                                                                                              \
        FOURCC, false,                                                                             \
        {                                                                                          \
            {                                                                                      \
                FOURCC, 0, 0, 4, 3                                                                 \
            }                                                                                      \
        }                                                                                          \
    }

/* In the order of the header's table. */
static const struct frame_layout layouts[] = {
    {DRM_FORMAT_NV12, false, {LUMA, {DRM_FORMAT_GR88, 1, 1, 2, 2}}},
    {DRM_FORMAT_NV21, false, {LUMA, {DRM_FORMAT_GR88, 1, 1, 2, 2, true}}},
    {DRM_FORMAT_NV16, false, {LUMA, {DRM_FORMAT_GR88, 1, 0, 2, 2}}},
    {DRM_FORMAT_YUYV, true, {{DRM_FORMAT_GR88, 0, 0, 2, 2}}},
    {DRM_FORMAT_UYVY, true, {{DRM_FORMAT_GR88, 0, 0, 2, 2, true}}},
    COLOR(DRM_FORMAT_XRGB8888),
    COLOR(DRM_FORMAT_ARGB8888),
    COLOR(DRM_FORMAT_XBGR8888),
    COLOR(DRM_FORMAT_ABGR8888),
    {DRM_FORMAT_RGB888, false, {{DRM_FORMAT_R8, 0, 0, 3, 3, false, BYTES_BGR}}},
    {DRM_FORMAT_BGR888, false, {{DRM_FORMAT_R8, 0, 0, 3, 3, false, BYTES_RGB}}},
};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

static const char *const where = "glcnn_image_import_dmabuf";

static const struct frame_layout *find_layout(uint32_t fourcc)
{
    for (size_t i = 0; i < LAYOUTS; i++)
        if (layouts[i].fourcc == fourcc)
            return &layouts[i];
    return NULL;
}

static uint32_t plane_count(const struct frame_layout *layout)
{
    return layout->planes[1].channels ? 2 : 1;
}

/* ---- What can be imported ---- */

/* NULL, or what is missing. */
static const char *missing_extension(const struct glcnn_device *device)
{
    const char *missing = platform_lacks_dmabuf(device->platform);
    return missing ? missing : import_lacks(device);
}

static bool has_modifier(const struct glcnn_device *device, const struct plane_layout *plane,
                         uint64_t modifier)
{
    uint64_t modifiers[PLATFORM_MODIFIERS];
    size_t count =
        plane->channels ? platform_dmabuf_modifiers(device->platform, plane->fourcc, modifiers) : 0;
    for (size_t i = 0; i < count; i++)
        if (modifiers[i] == modifier)
            return true;
    return !plane->channels;
}

size_t glcnn_dmabuf_formats(glcnn_device *device, struct glcnn_dmabuf_format *formats,
                            size_t capacity)
{
    uint64_t modifiers[PLATFORM_MODIFIERS];
    size_t found = 0;
    if (device_enter(device) != GLCNN_SUCCESS)
        return 0;
    const char *missing = missing_extension(device);
    if (missing)
        device_explain(device, "glcnn_dmabuf_formats: the driver has no %s", missing);
    for (const struct frame_layout *l = layouts; !missing && l < layouts + LAYOUTS; l++) {
        size_t count = platform_dmabuf_modifiers(device->platform, l->planes[0].fourcc, modifiers);
        for (size_t i = 0; i < count; i++) {
            if (!has_modifier(device, &l->planes[1], modifiers[i]))
                continue;
            if (formats && found < capacity)
                formats[found] = (struct glcnn_dmabuf_format){l->fourcc, modifiers[i]};
            found++;
        }
    }
    return found;
}

/* ---- Checks ---- */

/* Columns or rows of a plane: half of the frame's are rounded up. */
static uint32_t plane_size(uint32_t size, uint32_t halved)
{
    return halved ? groups_of(size, 2) : size;
}

static struct platform_plane plane_of(const struct glcnn_dmabuf *frame,
                                      const struct plane_layout *layout, uint32_t index)
{
    const struct glcnn_dmabuf_plane *plane = &frame->planes[index];
    uint32_t texels = layout->bytes == BYTES_OF_TEXELS ? 1 : 3; /* of a pixel */
    return (struct platform_plane){.fd = plane->fd,
                                   .fourcc = layout->fourcc,
                                   .modifier = frame->modifier,
                                   .width = texels * plane_size(frame->width, layout->halved_x),
                                   .height = plane_size(frame->height, layout->halved_y),
                                   .offset = plane->offset,
                                   .pitch = plane->pitch};
}

/* Of the tiles of other modifiers only the driver knows how long they are. A descriptor that cannot
 * be asked is the driver's to refuse. */
static glcnn_status check_extent(struct glcnn_device *device, const struct platform_plane *plane,
                                 uint32_t index, uint64_t row)
{
    uint64_t needed = plane->offset + (uint64_t)plane->pitch * (plane->height - 1) + row;
    if (fcntl(plane->fd, F_GETFD) < 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: descriptor %d of plane %u is not open", where, plane->fd, index);
    if (plane->modifier != DRM_FORMAT_MOD_LINEAR)
        return GLCNN_SUCCESS;
    off_t size = lseek(plane->fd, 0, SEEK_END);
    if (plane->pitch < row)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: plane %u has a pitch of %u bytes; its rows have %llu", where, index,
                           plane->pitch, (unsigned long long)row);
    if (size >= 0 && needed > (uint64_t)size)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: plane %u ends at byte %llu; its dma-buf has %lld", where, index,
                           (unsigned long long)needed, (long long)size);
    return GLCNN_SUCCESS;
}

static glcnn_status check_plane(struct glcnn_device *device, const struct glcnn_dmabuf *frame,
                                const struct frame_layout *layout, uint32_t index)
{
    const struct plane_layout *l = &layout->planes[index];
    struct platform_plane plane = plane_of(frame, l, index);
    uint32_t most = device->info.limits.texture_size;
    if (plane.width > most || plane.height > most)
        return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                           "%s: plane %u would be a texture of %ux%u; this device has %ux%u at "
                           "most",
                           where, index, plane.width, plane.height, most, most);
    uint64_t texel = l->bytes == BYTES_OF_TEXELS ? l->texel : 1;
    return check_extent(device, &plane, index, texel * plane.width);
}

static glcnn_status check_frame(struct glcnn_device *device, const struct glcnn_dmabuf *frame,
                                const struct frame_layout *layout)
{
    if (!layout)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: fourcc 0x%08x is none of those that glcnn/dmabuf.h lists", where,
                           frame->fourcc);
    uint32_t columns = layout->even ? 2 : 1;
    if (frame->width == 0 || frame->height == 0 || frame->width % columns ||
        frame->width > INT32_MAX / 4 || frame->height > INT32_MAX / 4)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: a frame of %ux%u pixels; there must be some, of %.4s by pairs of "
                           "columns",
                           where, frame->width, frame->height, (const char *)&frame->fourcc);
    if (frame->plane_count != plane_count(layout))
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: %u planes of %.4s, which has %u",
                           where, frame->plane_count, (const char *)&frame->fourcc,
                           plane_count(layout));
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < frame->plane_count && status == GLCNN_SUCCESS; i++)
        status = check_plane(device, frame, layout, i);
    return status;
}

/* ---- Importing ---- */

/* Some drivers import whatever they can map, ordinary files too. A dma-buf knows the request and
 * refuses its flags, which name no direction; nothing else knows it. Linux before 4.6 has no such
 * request: there a dma-buf is one of the inodes that have no type. */
static bool may_be_dmabuf(int descriptor)
{
    struct dma_buf_sync none = {0};
    struct stat inode;
    if (ioctl(descriptor, DMA_BUF_IOCTL_SYNC, &none) < 0 && errno == EINVAL)
        return true;
    return fstat(descriptor, &inode) == 0 && (inode.st_mode & S_IFMT) == 0;
}

static glcnn_status check_descriptors(struct glcnn_device *device, const struct glcnn_dmabuf *frame)
{
    for (uint32_t i = 0; i < frame->plane_count; i++)
        if (!may_be_dmabuf(frame->planes[i].fd))
            return device_fail(device, GLCNN_INVALID_ARGUMENT,
                               "%s: descriptor %d of plane %u is not a dma-buf", where,
                               frame->planes[i].fd, i);
    return GLCNN_SUCCESS;
}

static glcnn_status import_plane(struct glcnn_device *device, const struct glcnn_dmabuf *frame,
                                 const struct plane_layout *layout, uint32_t index,
                                 struct glcnn_image **image)
{
    char reason[PLATFORM_TEXT];
    struct platform_plane plane = plane_of(frame, layout, index);
    const struct glcnn_image_descriptor descriptor = {
        .width = plane_size(frame->width, layout->halved_x),
        .height = plane.height,
        .feature_channels = layout->channels,
        .number_of_images = 1,
        .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8};
    void *egl_image = platform_import(device->platform, &plane, reason);
    if (!egl_image)
        return device_fail(device, GLCNN_UNSUPPORTED, "%s: plane %u of %.4s, as %.4s: %s", where,
                           index, (const char *)&frame->fourcc, (const char *)&layout->fourcc,
                           reason);
    const struct import import = {
        .where = where, .egl_image = egl_image, .swapped = layout->swapped, .bytes = layout->bytes};
    return import_image(device, &import, &descriptor, image);
}

static glcnn_status import_all(struct glcnn_device *device, const struct glcnn_dmabuf *frame,
                               glcnn_image *images[GLCNN_DMABUF_PLANES])
{
    const struct frame_layout *layout = find_layout(frame->fourcc);
    glcnn_status status = check_frame(device, frame, layout);
    const char *missing = missing_extension(device);
    if (status == GLCNN_SUCCESS && missing)
        status = device_fail(device, GLCNN_UNSUPPORTED, "%s: the driver has no %s", where, missing);
    if (status == GLCNN_SUCCESS)
        status = check_descriptors(device, frame);
    for (uint32_t i = 0; i < GLCNN_DMABUF_PLANES && status == GLCNN_SUCCESS; i++)
        if (layout->planes[i].channels)
            status = import_plane(device, frame, &layout->planes[i], i, &images[i]);
    return status;
}

glcnn_status glcnn_image_import_dmabuf(glcnn_device *device, const struct glcnn_dmabuf *frame,
                                       glcnn_image *images[GLCNN_DMABUF_PLANES])
{
    if (!images)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: images is NULL", where);
    images[0] = images[1] = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!frame)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: frame is NULL", where);
    status = import_all(device, frame, images);
    for (int i = 0; i < GLCNN_DMABUF_PLANES && status != GLCNN_SUCCESS; i++)
        glcnn_image_destroy(&images[i]);
    return status;
}
