/* A curve as a PNG: points, a smoothed line over them, axes with numbers.
 *
 *     2.5 |.
 *         |  :.            points, and the mean of the points around each
 *     1.0 |    ' - ._ . _
 *         +--------------
 *         0     400   800
 */
#ifndef SUPPORT_PLOT_H
#define SUPPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include <glcnn/status.h>

struct plot {
    const char *title, *x_label, *y_label; /* each may be NULL; letters, digits, . , - + / ( ) % */
    const float *values;                   /* value i stands at x = i + 1; not finite: a gap */
    size_t count;                          /* 1 at least */
    size_t smooth;                         /* values that a point of the line is the mean of;
                                              0: a fiftieth of all */
    unsigned width, height;                /* pixels, 0: 960 x 540 */
};

/* Writes the picture as glcnn_file_save writes. False, with a sentence, if it cannot be written. */
bool plot_write(const char *path, const struct plot *plot, char error[GLCNN_ERROR_LENGTH]);

#endif
