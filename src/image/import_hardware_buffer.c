/* Buffers of Android as images: one texture each, which the driver makes of the memory. */
#include "glcnn/hardware_buffer.h"

#include "image/import.h"

/* In the order of the header's table. Alpha is left out. */
static const struct buffer_format {
    uint32_t number, channels;
    glcnn_channel_format format;
} formats[] = {{1, 3, GLCNN_CHANNEL_FORMAT_UNORM8},
               {2, 3, GLCNN_CHANNEL_FORMAT_UNORM8},
               {3, 3, GLCNN_CHANNEL_FORMAT_UNORM8},
               {22, 4, GLCNN_CHANNEL_FORMAT_FLOAT16},
               {56, 1, GLCNN_CHANNEL_FORMAT_UNORM8}};

static const char *const where = "glcnn_image_import_hardware_buffer";

static const struct buffer_format *find_format(uint32_t number)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].number == number)
            return &formats[i];
    return NULL;
}

static glcnn_status check_size(struct glcnn_device *device, const struct glcnn_hardware_buffer *b)
{
    uint32_t most = device->info.limits.texture_size;
    if (b->width == 0 || b->height == 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: a buffer of %ux%u pixels; there must be some", where, b->width,
                           b->height);
    if (b->width > most || b->height > most)
        return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                           "%s: a buffer of %ux%u pixels; textures of this device have %ux%u at "
                           "most",
                           where, b->width, b->height, most, most);
    if (b->layers != 1)
        return device_fail(device, GLCNN_UNSUPPORTED, "%s: a buffer of %u layers; 1 is imported",
                           where, b->layers);
    return GLCNN_SUCCESS;
}

static glcnn_status check(struct glcnn_device *device, const struct glcnn_hardware_buffer *b)
{
    if (!b || !b->buffer)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: buffer is NULL", where);
    glcnn_status status = check_size(device, b);
    if (status == GLCNN_SUCCESS && !find_format(b->format))
        status =
            device_fail(device, GLCNN_UNSUPPORTED,
                        "%s: format %u is none of those that glcnn/hardware_buffer.h lists; of "
                        "luma and chroma there are external textures alone: ask the camera "
                        "for RGBA_8888, or draw the frame into a buffer of a listed format",
                        where, b->format);
    if (status != GLCNN_SUCCESS)
        return status;
    const char *missing = platform_lacks_hardware_buffer(device->platform);
    missing = missing ? missing : import_lacks(device);
    return missing ? device_fail(device, GLCNN_UNSUPPORTED,
                                 "%s: the driver has no %s: buffers of this kind are Android's",
                                 where, missing)
                   : GLCNN_SUCCESS;
}

static glcnn_status import_buffer(struct glcnn_device *device,
                                  const struct glcnn_hardware_buffer *b, struct glcnn_image **image)
{
    char reason[PLATFORM_TEXT];
    const struct buffer_format *format = find_format(b->format);
    const struct glcnn_image_descriptor descriptor = {.width = b->width,
                                                      .height = b->height,
                                                      .feature_channels = format->channels,
                                                      .number_of_images = 1,
                                                      .channel_format = format->format};
    void *egl_image = platform_import_hardware_buffer(device->platform, b->buffer, reason);
    if (!egl_image)
        return device_fail(device, GLCNN_UNSUPPORTED, "%s: %s", where, reason);
    const struct import import = {
        .where = where, .egl_image = egl_image, .width = b->width, .height = b->height};
    return import_image(device, &import, &descriptor, image);
}

glcnn_status glcnn_image_import_hardware_buffer(glcnn_device *device,
                                                const struct glcnn_hardware_buffer *buffer,
                                                glcnn_image **image)
{
    if (!image)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: image is NULL", where);
    *image = NULL;
    glcnn_status status = device_enter(device);
    if (status == GLCNN_SUCCESS)
        status = check(device, buffer);
    return status == GLCNN_SUCCESS ? import_buffer(device, buffer, image) : status;
}
