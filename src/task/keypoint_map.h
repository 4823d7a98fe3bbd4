/* Keypoints: where they are in the network's picture, and the heat maps that are learned of them. */
#ifndef GLCNN_TASK_KEYPOINT_MAP_H
#define GLCNN_TASK_KEYPOINT_MAP_H

#include <stdbool.h>

#include "nets.h"

/* Of each keypoint one. Pixels of a map are 1, 2 or 4 of the picture's, the last perhaps fewer. */
struct keypoint_map {
    uint32_t width, height;
    float sigma; /* of the Gaussian, in pixels of the map */
};

struct keypoint_map keypoint_map(const struct form *form);

/* A number of keypoints: each has two of the form's numbers, x and y. */
uint32_t keypoint_count(const struct form *form);

/* In pixels of the network's picture, from its left and its upper edge. */
struct keypoint {
    float x, y;
    bool is_seen; /* within the picture */
};

/* True if a picture of `size`, width and height, has the keypoint, in its pixels; negative coordinates say
 * that it has not. */
bool keypoint_is_in(const uint32_t size[2], const float place[2]);
/* Where the network's image has a keypoint of a picture of `size`. */
struct keypoint keypoint_cut(const struct form *form, const uint32_t size[2], const float place[2]);
/* Where that picture has it, as fractions of a pixel. */
void keypoint_restore(const struct form *form, const uint32_t size[2], const struct keypoint *k,
                      double place[2]);
/* Where an augmentation of that matrix (glcnn_augment_geometry_matrix) moves it. */
void keypoint_move(const struct form *form, const double matrix[6], struct keypoint *k);

/* What the map of a keypoint has at a pixel, in steps of 1 / 255: exp(-d^2 / (2 sigma^2)), where d is
 * from the pixel's middle to the keypoint. */
float keypoint_heat(const struct form *form, const struct keypoint_map *map,
                    const struct keypoint *k, uint32_t column, uint32_t row);
/* The sum of the squares of all of a map: pi sigma^2. */
double keypoint_energy(const struct keypoint_map *map);

/* Keypoint number k of maps that a network made, [height][width][count]: the top of the parabola through
 * the logarithms of the pixels around the hottest, whose heat, held in 0 .. 1, is the confidence. Of a map
 * as keypoint_heat has it that is within 0.02 of the map's pixels, at its edges too. */
struct keypoint keypoint_find(const struct form *form, const float *maps, uint32_t k,
                              float *confidence);

#endif
