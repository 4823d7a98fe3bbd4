/* Textures of the caller's OpenGL ES context as images, and images that the caller's shaders read:
 * for a device of use_current_context (glcnn/device.h), which also says what of the context's state
 * a call touches and puts back.
 *
 * Thread-safety: as its device.
 */
#ifndef GLCNN_TEXTURE_H
#define GLCNN_TEXTURE_H

#include <glcnn/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an image of a texture's level 0. Nothing is copied; the texture stays the caller's, must be
 * complete with its own filters, and must not be deleted while the image lives. `target` is
 *
 *   GL_TEXTURE_2D         one image, of as many channels as a texel has components or fewer. It can
 *                         only be read
 *   GL_TEXTURE_2D_ARRAY   feature_channels in slices of four, layer n*S + c/4 as glcnn/image.h has
 *                         it: as many images as there are layers for. It can be written too where
 *                         it is immutable (glTexStorage3D) and of GL_RGBA16F or GL_RGBA32F; what
 *                         lies beyond the last channel becomes 0 then
 *
 * Kernels take them as any other image; glcnn_graph_execute takes none, glcnn_graph_encode does.
 *
 * The channel format follows from the texture's: Unorm8 for GL_R8, GL_RG8, GL_RGB8 and GL_RGBA8, of
 * which arrays are GL_RGBA8, float16 for GL_RGBA16F, float32 for GL_RGBA32F.
 *
 * Commands of OpenGL ES take effect in the order of the calls, those of a commit among them; what a
 * commit has written is there for any command of the caller's after it. What the caller's shaders
 * have stored into the texture needs the caller's glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT |
 * GL_SHADER_IMAGE_ACCESS_BARRIER_BIT) first, what was rendered or uploaded needs nothing.
 *
 * Errors: GLCNN_INVALID_STATE for a device with a context of its own, GLCNN_INVALID_ARGUMENT for what
 * is no texture of that target, another format, more channels than it has; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_image_wrap_texture(glcnn_device *device, uint32_t texture,
                                                uint32_t target, uint32_t feature_channels,
                                                glcnn_image **image);

#ifdef __cplusplus
}
#endif
#endif
