/* Curves as an SVG: panels one above the other over one x axis, in each some lines with their
 * names. Text is text.
 *
 *     loss     |\.                 -- training  -o validation
 *              |  ' - ._ o _
 *     accuracy |     _ . - o
 *              |_ .'
 *              +--------------
 *              0     1     2   epoch
 */
#ifndef GLCNN_REPORT_PLOT_H
#define GLCNN_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <glcnn/status.h>

#define PLOT_LINES 2 /* of a panel at most */

struct plot_line {
    const char *name;    /* UTF-8; NULL: no such line */
    const double *x, *y; /* count of each, x ascending; a y that is not finite is a gap. Of more
                            than 150 the mean of neighbours is drawn, and how far they reach */
    size_t count;
    bool marked; /* with a dot on each point */
};

struct plot_panel {
    const char *label;
    struct plot_line lines[PLOT_LINES];
};

struct plot {
    const char *title, *x_label; /* may be NULL */
    const struct plot_panel *panels;
    size_t panel_count;
    double width, height; /* pixels, of all and of a panel's axes; 0: 960 and 300 */
};

/* Writes the picture as glcnn_file_save writes. False, with a message, if it cannot be written. */
bool plot_write(const char *path, const struct plot *plot, char error[GLCNN_ERROR_LENGTH]);
/* The same into a page, as svg_embed does. */
void plot_embed(FILE *f, const struct plot *plot, const char *label);

#endif
