/* Pictures for people to look at: of images of any size, values and number of channels. */
#ifndef GLCNN_TASK_SHOWN_H
#define GLCNN_TASK_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHOWN_SIDE 256 /* pixels of the longer side at most */

struct shown {
    uint32_t width, height;
    uint32_t channels; /* 1: grey, 3: red, green and blue */
    uint8_t *bytes;    /* [height][width][channels] */
};

/* Of what an image has: values [height][width][channels]. `normal`: they are in 0 .. 1, what lies outside
 * is cut; else the least is black and the largest white. Of three channels and more the first three are
 * shown, else the first. One that is longer than SHOWN_SIDE is reduced, by the mean over areas. False:
 * not enough memory. Release with shown_free. */
bool shown_make(const float *values, uint32_t width, uint32_t height, uint32_t channels,
                bool normal, struct shown *shown);
void shown_free(struct shown *shown);

/* A black one. */
bool shown_blank(uint32_t width, uint32_t height, uint32_t channels, struct shown *shown);

/* Pictures of one form side by side, in as many rows as columns; what is left over is black. False:
 * not enough memory. */
bool shown_sheet(const struct shown *pictures, uint32_t count, struct shown *sheet);

#endif
