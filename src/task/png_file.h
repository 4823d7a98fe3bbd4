/* Pictures as PNG. */
#ifndef GLCNN_TASK_PNG_FILE_H
#define GLCNN_TASK_PNG_FILE_H

#include <glcnn/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of pixels [height][width][channels], channels 1, grey, or 3, red first. *bytes is to be freed. NULL:
 * *reason, a text that lives on, says why. */
void *png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels,
                 size_t *size, const char **reason);
/* Writes the file whole, as glcnn_file_save does. False, with a message, if it cannot be written. */
bool png_file_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
                    uint32_t channels, char error[GLCNN_ERROR_LENGTH]);

#endif
