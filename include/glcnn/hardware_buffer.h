/* Buffers of Android's cameras, decoders and other APIs (AHardwareBuffer) as images: nothing is copied.
 *
 *   format                  number  image
 *   R8G8B8A8_UNORM          1       R, G and B, 3 channels, Unorm8
 *   R8G8B8X8_UNORM          2       R, G and B, 3 channels, Unorm8
 *   R8G8B8_UNORM            3       R, G and B, 3 channels, Unorm8
 *   R16G16B16A16_FLOAT      22      4 channels, float16
 *   R8_UNORM                56      1 channel, Unorm8
 *
 * Numbers are those of <android/hardware_buffer.h>, AHARDWAREBUFFER_FORMAT_.. Frames of luma and chroma,
 * Y8Cb8Cr8_420 and what cameras have of their own, are external textures alone, which kernels do not read:
 * ask the camera for RGBA_8888, or draw them into a buffer of a format above.
 *
 * The buffer must have been made to be sampled (AHARDWAREBUFFER_USAGE_GPU_SAMPLED_IMAGE). Kernels read
 * such images and glcnn_image_read_bytes does; nothing of the library writes them, and
 * glcnn_graph_execute takes none: encode a kernel of glcnn/kernels/frame.h before it. What they show is
 * what the buffer holds when a commit's passes run: of the fence that came with it glcnn_device_await_fence
 * is told before the commit, and it is given back when the passes have finished.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_HARDWARE_BUFFER_H
#define GLCNN_HARDWARE_BUFFER_H

#include <glcnn/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AHardwareBuffer AHardwareBuffer; /* Android's, from API level 26 on */

/* A buffer, and what AHardwareBuffer_describe says of it. */
struct glcnn_hardware_buffer {
    const AHardwareBuffer *buffer;
    uint32_t width, height; /* pixels */
    uint32_t layers;        /* 1 */
    uint32_t format;        /* one of the table's */
};

/* Makes the image of a buffer, which the caller owns. Import a buffer once and use its image for every
 * frame in it. The buffer stays the caller's, and must not be released while the image lives.
 * Errors, each with a message: GLCNN_INVALID_ARGUMENT (no buffer, no pixels, a texture of another size
 * than is said), GLCNN_LIMIT_EXCEEDED (wider or higher than a texture), GLCNN_UNSUPPORTED (another
 * format, several layers, a driver that lacks EGL_KHR_image_base, EGL_ANDROID_image_native_buffer,
 * EGL_ANDROID_get_native_client_buffer or GL_OES_EGL_image, as all but Android's do, or one that refuses
 * the buffer), GLCNN_OUT_OF_MEMORY. On failure *image is NULL. */
GLCNN_API glcnn_status glcnn_image_import_hardware_buffer(
    glcnn_device *device, const struct glcnn_hardware_buffer *buffer, glcnn_image **image);

#ifdef __cplusplus
}
#endif
#endif
