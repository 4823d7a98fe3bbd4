/* What the passes and the references of camera frames share. */
#ifndef GLCNN_KERNELS_FRAME_INTERNAL_H
#define GLCNN_KERNELS_FRAME_INTERNAL_H

#include "glcnn/kernels/frame.h"

#include "encode/descriptor.h"

/* Arguments. */
enum { SOURCE, RESULT, MEAN, DEVIATION, CHROMA };

/* Of bytes / 255: black and white are 0 and 1 of luma * scale + offset, and chroma is from -1/2 to
 * 1/2. */
struct levels {
    double luma_scale, luma_offset, chroma_scale, chroma_offset;
};

/* Shares of red and blue in Y'. */
struct shares {
    double red, blue;
};

/* Without what the frame is too small for: `check` tells. */
struct crop {
    uint32_t x, y, width, height;
};

/* Red, green and blue, not luma and chroma. */
bool frame_is_rgb(const struct operation *operation);
struct levels frame_levels(const struct operation *operation);
struct shares frame_shares(const struct operation *operation);
struct crop frame_crop(const struct operation *operation);
/* Has the chroma every second of the frame's pixels along an axis? */
bool frame_is_halved(uint32_t chroma, uint32_t frame);

#endif
