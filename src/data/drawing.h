/* Masks that are drawn of the outlines of objects, which are kept as whole numbers. */
#ifndef GLCNN_DATA_DRAWING_H
#define GLCNN_DATA_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outline.h"

/* The objects of all masks, those of one mask one after the other: a value, how many rings (0: runs), and of
 * each ring how many points and their places in fifths of a pixel, or how many runs and their lengths. */
struct objects {
    int32_t *words;
    size_t count, capacity;
};

/* A mask: objects from word `first` on to `end`; later ones cover earlier ones. */
struct drawing {
    size_t first, end;
    uint32_t width, height;
};

/* Adds an object of a picture of width x height; its points are scaled by scale[0] and scale[1] to pixels.
 * False: not enough memory, or *reason says what is wrong. */
bool objects_add(struct objects *objects, const struct outline *outline, const double scale[2],
                 uint32_t width, uint32_t height, uint8_t value, const char **reason);
void objects_free(struct objects *objects);

/* Draws values[height][width]: 0 where there is no object. Rings of one object are united, and each is
 * rasterised by the rule of pycocotools' rleFrPoly. False: not enough memory. */
bool drawing_draw(const struct objects *objects, const struct drawing *drawing, uint8_t *values);

#endif
