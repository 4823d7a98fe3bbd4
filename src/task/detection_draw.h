/* What was found drawn into pictures. */
#ifndef GLCNN_TASK_DETECTION_DRAW_H
#define GLCNN_TASK_DETECTION_DRAW_H

#include <glcnn/status.h>

#include "detection_box.h"

/* Rows of bytes red, green, blue, without gaps. */
struct canvas {
    uint8_t *pixels;
    uint32_t width, height;
};

/* Draws detections, the last first, so that the likeliest lie on top: a frame in the colour of the
 * class, and "NAME 0.97" above it, or in it where there is no room; at the right edge it moves to the
 * left. Lines and letters grow with the picture. Letters are drawn as capitals; what is no ASCII is a
 * block. A score that is NaN has no number; names NULL: frames alone. */
void detection_draw(const struct canvas *canvas, const struct glcnn_detection *found,
                    uint32_t count, const char *const *names);

/* A cross in the colour of a class, whose middle is in the pixel (x, y). It grows with the picture. */
void canvas_cross(const struct canvas *canvas, long x, long y, uint32_t label);

/* Blends the colour of a class over a pixel, half and half. */
void canvas_tint(uint8_t pixel[3], uint32_t label);

#endif
