/* Heat maps: a picture in grey, and over it in colours how far its patches are from the normal ones. */
#ifndef GLCNN_TASK_HEAT_MAP_H
#define GLCNN_TASK_HEAT_MAP_H

#include <glcnn/status.h>
#include <stdbool.h>
#include <stdint.h>

struct heat_map {
    uint32_t width, height, channels; /* of the picture */
    const uint8_t *bytes; /* [height][width][channels], of which up to three count; NULL: black */
    uint32_t columns, rows;
    const double *distances; /* of patches [rows][columns], interpolated linearly between their
                                centres */
    double threshold; /* pixels above it are coloured: red, yellow at twice, white at three times */
};

/* Writes it as PNG. False, with a message, if it cannot be written. */
bool heat_map_write(const char *path, const struct heat_map *map, char error[GLCNN_ERROR_LENGTH]);

#endif
