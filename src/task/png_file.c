/* PNG by libpng. */
#include "png_file.h"

#include <glcnn/io.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

void *png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels,
                 size_t *size, const char **reason)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = width,
                       .height = height,
                       .format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
    png_alloc_size_t needed = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(needed);
    bool encoded = bytes && png_image_write_to_memory(&image, bytes, &needed, 0, pixels, 0, NULL);
    *size = needed;
    *reason = bytes ? "libpng cannot encode it" : "not enough memory";
    png_image_free(&image);
    if (encoded)
        return bytes;
    free(bytes);
    return NULL;
}

bool png_file_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                    uint32_t channels, char error[GLCNN_ERROR_LENGTH])
{
    size_t size;
    const char *reason;
    void *bytes = png_encode(pixels, width, height, channels, &size, &reason);
    if (!bytes)
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: %s", path, reason);
    bool written = bytes && glcnn_file_save(path, bytes, size, error) == GLCNN_SUCCESS;
    free(bytes);
    return written;
}
