/* What the passes and the references of augmentation share. */
#ifndef GLCNN_KERNELS_AUGMENT_INTERNAL_H
#define GLCNN_KERNELS_AUGMENT_INTERNAL_H

#include "glcnn/kernels/augment.h"

#include "encode/descriptor.h"

/* Arguments, and streams of random numbers. */
enum { SOURCE, RESULT, NUMBERS };
enum { STREAM_GEOMETRY, STREAM_COLOR, STREAM_NOISE, STREAM_HUE };

/* Whole numbers between which whole numbers are drawn. */
struct geometry_ranges {
    int32_t shift, rotation, scale; /* pixels, 2^-18 turns, 2^-14 */
};

/* As the passes have them. */
struct geometry_ranges augment_ranges(const struct glcnn_augment_geometry_parameters *p);

/* Hues are turned by at most so many 2^-18 turns. */
int32_t augment_hue_range(const struct glcnn_augment_color_parameters *p);

/* Factor of the sum of four random bytes: it has a standard deviation of
 * sqrt(4 (256^2 - 1) / 12). */
double augment_noise_step(const struct glcnn_augment_color_parameters *p);

#endif
