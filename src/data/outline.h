/* Outlines of objects as COCO writes them: rings of points, or runs of pixels. */
#ifndef GLCNN_DATA_OUTLINE_H
#define GLCNN_DATA_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outline {
    double *points; /* x and y of each, those of one ring behind each other */
    size_t count, capacity;
    size_t *ends; /* of each ring the number of the point behind its last */
    size_t ring_count, ring_capacity;
    uint32_t
        *runs; /* of pixels that are not in the object and that are, in turn, down the columns */
    size_t run_count, run_capacity;
    uint32_t width, height; /* of the picture that runs are of; 0: these are rings */
};

/* Reads the text of an outline, the JSON without its outer brackets and with ' for ". To be released,
 * after a failure too. False: it is none, or memory is short. */
bool outline_read(const char *text, struct outline *outline);
void outline_free(struct outline *outline);
/* False: it has neither rings nor runs. */
bool outline_is(const struct outline *outline);
/* Adds a point, and ends the ring of the points added since the last; false: memory is short. */
bool outline_add_point(struct outline *outline, double x, double y);
bool outline_end_ring(struct outline *outline);
/* Adds a run of pixels, whose length is to be a whole number. */
bool outline_add_run(struct outline *outline, double length);
/* Adds runs down the columns of the outline's picture, of those of these values that are not 0. */
struct outline_values {
    const uint8_t *values; /* [height][width] */
    uint32_t width, height;
    int64_t left, top; /* where their first lies in the picture */
};
bool outline_add_values(struct outline *outline, const struct outline_values *values);
/* Adds the rings of another. */
bool outline_unite(struct outline *to, const struct outline *from);
/* left, top, right, bottom in pixels; false: it has no pixel. */
bool outline_box(const struct outline *outline, double box[4]);

#endif
