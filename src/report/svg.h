/* SVG pictures, with text as text. */
#ifndef GLCNN_REPORT_SVG_H
#define GLCNN_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include <glcnn/status.h>

struct svg {
    double width, height;                    /* pixels */
    void (*draw)(FILE *f, const void *what); /* writes elements on a white ground */
    const void *what;
};

/* Writes the picture as glcnn_file_save writes. False, with a message, if it cannot be written. */
bool svg_write(const char *path, const struct svg *svg, char error[GLCNN_ERROR_LENGTH]);

/* Writes the picture into a page, whose style it takes: it has no ground of its own. `label` says what it
 * shows, to whoever cannot see it. */
void svg_embed(FILE *f, const struct svg *svg, const char *label);

/* Writes a text as what stands between tags, or within quotes, of XML and HTML. */
void svg_escape(FILE *f, const char *text);

/* Text at (x, y), its base line, where `anchor` is "start", "middle" or "end". `kind` is a class,
 * of the style in svg.c ("title", "label", "number", "light" for dark ground) or any other. */
void svg_text(FILE *f, double x, double y, const char *kind, const char *anchor, const char *text);

#endif
