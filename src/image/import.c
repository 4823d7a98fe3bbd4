/* Textures of EGLImages. */
#include "image/import.h"

const char *import_lacks(const struct glcnn_device *device)
{
    return device->gl.EGLImageTargetTexture2DOES ? NULL : "GL_OES_EGL_image";
}

static void set_texture(const struct gl *gl, GLuint texture, const struct import *import)
{
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(GL_TEXTURE_2D, texture);
    gl->EGLImageTargetTexture2DOES(GL_TEXTURE_2D, import->egl_image);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, import->swapped ? GL_GREEN : GL_RED);
    gl->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_G, import->swapped ? GL_RED : GL_GREEN);
}

/* A driver that does not tell has 0. */
static glcnn_status check_size(struct glcnn_device *device, const struct import *import,
                               const GLint found[2])
{
    if (!import->width || found[0] <= 0 || found[1] <= 0 ||
        ((uint32_t)found[0] == import->width && (uint32_t)found[1] == import->height))
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_INVALID_ARGUMENT,
                       "%s: it is said to have %ux%u pixels; its texture has %dx%d", import->where,
                       import->width, import->height, found[0], found[1]);
}

/* A failure of the driver's is told as such, and does not lose the device. */
static glcnn_status make_texture(struct glcnn_device *device, const struct import *import,
                                 struct storage *storage)
{
    const struct gl *gl = &device->gl;
    GLenum code = GL_NO_ERROR;
    GLint size[2] = {0, 0};
    gl->GenTextures(1, &storage->texture);
    caller_state_keep(device);
    set_texture(gl, storage->texture, import);
    if (import->width) {
        gl->GetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &size[0]);
        gl->GetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &size[1]);
    }
    const char *error = gl_error(gl, &code);
    caller_state_put_back(device);
    if (!error)
        return check_size(device, import, size);
    if (code == GL_OUT_OF_MEMORY || code == GL_CONTEXT_LOST_KHR)
        return device_report(device, code, error, import->where);
    return device_fail(device, GLCNN_UNSUPPORTED,
                       "%s: the driver made an EGLImage of it, and no texture of that: %s",
                       import->where, error);
}

glcnn_status import_image(struct glcnn_device *device, const struct import *import,
                          const struct glcnn_image_descriptor *descriptor,
                          struct glcnn_image **image)
{
    struct storage *storage, like = {.width = descriptor->width,
                                     .height = descriptor->height,
                                     .layers = 1,
                                     .format = descriptor->channel_format,
                                     .flat = true,
                                     .import = import->egl_image,
                                     .bytes = import->bytes};
    glcnn_status status = storage_adopt(device, &like, &storage);
    if (status != GLCNN_SUCCESS) {
        platform_release_import(device->platform, import->egl_image);
        return status;
    }
    status = make_texture(device, import, storage);
    if (status == GLCNN_SUCCESS)
        return image_create_over(device, descriptor, storage, image);
    storage_release(storage);
    return status;
}
