/* Keypoints that change places. */
#include "keypoint_sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING 2 /* letters of "_x" */

const char *keypoint_name(const char *const *names, uint32_t k, char text[SIDES_NAME])
{
    const char *x = names[2 * (size_t)k];
    const size_t length = strlen(x), stem = length > ENDING ? length - ENDING : length;
    snprintf(text, SIDES_NAME, "%.*s", (int)stem, x);
    return text;
}

bool keypoint_sides(const char *const *names, uint32_t count, uint32_t **partners,
                    char why[GLCNN_ERROR_LENGTH])
{
    const uint32_t points = count / 2;
    char(*stems)[SIDES_NAME] = calloc(points + 1, sizeof *stems);
    uint32_t lone = 0;
    *why = 0;
    *partners = calloc(points + 1, sizeof **partners);
    const bool good = stems && *partners;
    for (uint32_t k = 0; good && k < points; k++)
        keypoint_name(names, k, stems[k]);
    const enum sides sides =
        good ? sides_find((const char(*)[SIDES_NAME])stems, points, *partners, &lone) : SIDES_NONE;
    if (sides == SIDES_LONE)
        snprintf(why, GLCNN_ERROR_LENGTH,
                 "keypoint \"%.100s\" has no counterpart on the %s to change places with",
                 stems[lone], side_of(stems[lone]) == SIDE_LEFT ? "right" : "left");
    if (sides != SIDES_PAIRED) {
        free(*partners);
        *partners = NULL;
    }
    free(stems);
    return good;
}
