/* Textures of the caller's context as images. */
#include "glcnn/texture.h"

#include "image/image.h"

static const char *const where = "glcnn_image_wrap_texture";

/* What the internal formats are that can be wrapped. */
static const struct wrapped_format {
    GLenum name;
    glcnn_channel_format format;
    uint32_t components;
} formats[] = {
    {GL_R8, GLCNN_CHANNEL_FORMAT_UNORM8, 1},       {GL_RG8, GLCNN_CHANNEL_FORMAT_UNORM8, 2},
    {GL_RGB8, GLCNN_CHANNEL_FORMAT_UNORM8, 3},     {GL_RGBA8, GLCNN_CHANNEL_FORMAT_UNORM8, 4},
    {GL_RGBA16F, GLCNN_CHANNEL_FORMAT_FLOAT16, 4}, {GL_RGBA32F, GLCNN_CHANNEL_FORMAT_FLOAT32, 4}};

static const struct wrapped_format *find_format(GLint name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((GLint)formats[i].name == name)
            return &formats[i];
    return NULL;
}

/* What OpenGL ES tells of level 0. */
struct texture {
    GLint width, height, depth, format, immutable;
};

/* Binds the texture, which is an error where it is of another target. */
static glcnn_status ask(struct glcnn_device *device, GLuint name, GLenum target, struct texture *t)
{
    const struct gl *gl = &device->gl;
    GLenum code = GL_NO_ERROR;
    caller_state_keep(device);
    gl->BindTexture(target, name);
    const char *error = gl_error(gl, &code);
    *t = (struct texture){.width = 0};
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_WIDTH, &t->width);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_HEIGHT, &t->height);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_DEPTH, &t->depth);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_INTERNAL_FORMAT, &t->format);
    gl->GetTexParameteriv(target, GL_TEXTURE_IMMUTABLE_FORMAT, &t->immutable);
    caller_state_put_back(device);
    if (error && code == GL_INVALID_OPERATION)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: texture %u is not of target 0x%04x",
                           where, name, target);
    return error ? device_report(device, code, error, where) : device_check(device, where);
}

static glcnn_status check(struct glcnn_device *device, const struct texture *t, bool flat,
                          uint32_t channels)
{
    const struct wrapped_format *format = find_format(t->format);
    if (t->width <= 0 || t->height <= 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: the texture has no level 0", where);
    if (!format || (!flat && format->components != 4))
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: the texture has internal format 0x%04x; glcnn/texture.h lists "
                           "those that can be wrapped",
                           where, (unsigned)t->format);
    uint32_t most = flat ? format->components : 4 * (uint32_t)t->depth;
    if (channels && channels <= most)
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_INVALID_ARGUMENT,
                       "%s: %u channels; the texture has room for 1 to %u", where, channels, most);
}

static glcnn_status wrap(struct glcnn_device *device, GLuint name, GLenum target, uint32_t channels,
                         struct glcnn_image **image)
{
    struct texture t;
    bool flat = target == GL_TEXTURE_2D;
    glcnn_status status = ask(device, name, target, &t);
    if (status == GLCNN_SUCCESS)
        status = check(device, &t, flat, channels);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct glcnn_image_descriptor descriptor = {
        .width = (uint32_t)t.width,
        .height = (uint32_t)t.height,
        .feature_channels = channels,
        .number_of_images = flat ? 1 : (uint32_t)t.depth / slice_count(channels),
        .channel_format = find_format(t.format)->format};
    struct storage *storage, like = {.width = descriptor.width,
                                     .height = descriptor.height,
                                     .layers = flat ? 1 : (uint32_t)t.depth,
                                     .format = descriptor.channel_format,
                                     .texture = name,
                                     .flat = flat,
                                     .borrowed = true,
                                     .fixed = !t.immutable};
    status = storage_adopt(device, &like, &storage);
    return status == GLCNN_SUCCESS ? image_create_over(device, &descriptor, storage, image)
                                   : status;
}

glcnn_status glcnn_image_wrap_texture(glcnn_device *device, uint32_t texture, uint32_t target,
                                      uint32_t feature_channels, glcnn_image **image)
{
    if (!image)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: image is NULL", where);
    *image = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!platform_is_borrowed(device->platform))
        return device_fail(device, GLCNN_INVALID_STATE,
                           "%s: the device has a context of its own, which has none of the "
                           "caller's textures; create it with use_current_context",
                           where);
    if (target != GL_TEXTURE_2D && target != GL_TEXTURE_2D_ARRAY)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: target 0x%04x is neither GL_TEXTURE_2D nor GL_TEXTURE_2D_ARRAY",
                           where, target);
    if (!device->gl.IsTexture(texture))
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: %u is no texture", where, texture);
    return wrap(device, texture, target, feature_channels, image);
}
