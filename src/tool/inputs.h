/* Pictures without labels, for "glcnn predict". */
#ifndef GLCNN_TOOL_INPUTS_H
#define GLCNN_TOOL_INPUTS_H

#include <stdbool.h>

#include "nets.h"

struct inputs {
    uint32_t count;
    float *values; /* [count][height][width][channels] in 0 .. 1 */
};

/* Reads a .npy or IDX file of the form's pictures: [H][W], [N][H][W] or [N][C][H][W], with values
 * in 0 .. 1, or in 0 .. 255 if any is above 1. False, *inputs all zero and a sentence if it is
 * another file, or has a value that is not finite. */
bool inputs_read(const char *path, const struct form *form, struct inputs *inputs,
                 char error[GLCNN_ERROR_LENGTH]);
void inputs_free(struct inputs *inputs);

#endif
