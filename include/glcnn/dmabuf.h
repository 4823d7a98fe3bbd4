/* Frames that lie in dma-bufs, as cameras and decoders fill them, as images: nothing is copied.
 *
 * A frame of one plane is one image, a frame of luma and chroma is two. They are Unorm8 images, of
 * the channels that the kernels of glcnn/kernels/frame.h take, whatever the order in memory, so that
 * `swapped` stays false:
 *
 *   fourcc             images[0]                 images[1]
 *   NV12, NV21         luma, 1 channel           Cb and Cr, half as wide and high, rounded up
 *   NV16               luma, 1 channel           Cb and Cr, half as wide, rounded up
 *   YUYV, UYVY         luma and chroma, 2        none
 *   XR24, AR24         R, G and B, 3             none
 *   XB24, AB24         R, G and B, 3             none
 *   RG24, BG24         R, G and B, 3             none
 *
 * fourcc are those of <drm_fourcc.h>. V4L2 has the same but for V4L2_PIX_FMT_RGB24, which is BG24
 * here, and V4L2_PIX_FMT_BGR24, RG24.
 *
 * Any kernel reads such images and glcnn_image_read_bytes does; nothing of the library writes them,
 * and glcnn_graph_execute takes none: encode a kernel of glcnn/kernels/frame.h before it, into an
 * image that it does take. What they show is what the memory holds when a commit's passes run: the
 * caller sees to it that the camera has finished a frame before the commit (V4L2 has when it hands
 * the buffer out; else glcnn_device_await_fence), and does not get the buffer again before the
 * passes have finished (glcnn_command_buffer_wait, or the fence of
 * glcnn_command_buffer_fence_descriptor).
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_DMABUF_H
#define GLCNN_DMABUF_H

#include <glcnn/image.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLCNN_DMABUF_PLANES 2

struct glcnn_dmabuf_plane {
    int fd;          /* the caller's; planes may have the same one */
    uint32_t offset; /* bytes before the first pixel */
    uint32_t pitch;  /* bytes from row to row */
};

struct glcnn_dmabuf {
    uint32_t width, height; /* pixels of the frame; of YUYV and UYVY an even width */
    uint32_t fourcc;
    uint32_t plane_count; /* as many as the fourcc has */
    uint64_t modifier;    /* DRM_FORMAT_MOD_LINEAR, 0, is that of nearly all cameras */
    struct glcnn_dmabuf_plane planes[GLCNN_DMABUF_PLANES];
};

/* What the device can import, so that a camera can be asked for it. */
struct glcnn_dmabuf_format {
    uint32_t fourcc;
    uint64_t modifier;
};

/* Returns how many there are and fills at most `capacity` of `formats`, those of one fourcc beside
 * each other, in the order of the table above. 0 where the driver lacks an extension that importing
 * needs, which glcnn_device_error then names: EGL_KHR_image_base, EGL_EXT_image_dma_buf_import,
 * GL_OES_EGL_image. Where it lacks EGL_EXT_image_dma_buf_import_modifiers nothing tells before an
 * import what the driver takes: each fourcc is listed with linear. */
GLCNN_API size_t glcnn_dmabuf_formats(glcnn_device *device, struct glcnn_dmabuf_format *formats,
                                      size_t capacity);

/* Makes the images of a frame, which the caller owns; images[1] is NULL where there is one. Import a
 * buffer once and use its images for every frame in it. Descriptors stay the caller's and may be
 * closed afterwards: images keep the memory. All or none: on failure both are NULL.
 * Errors, each with a message: GLCNN_INVALID_ARGUMENT (unknown fourcc, wrong number of planes, a
 * descriptor that is not open or not of a dma-buf, a pitch shorter than a row, a plane beyond the end
 * of its dma-buf),
 * GLCNN_LIMIT_EXCEEDED (wider or higher than a texture; RG24 and BG24 count three times),
 * GLCNN_UNSUPPORTED (an extension is missing, the modifier is not taken, or the driver refuses the
 * import), GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_image_import_dmabuf(glcnn_device *device,
                                                 const struct glcnn_dmabuf *frame,
                                                 glcnn_image *images[GLCNN_DMABUF_PLANES]);

#ifdef __cplusplus
}
#endif
#endif
