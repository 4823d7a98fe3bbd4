/* What the passes and the references of padding and strided slices share. */
#ifndef GLCNN_KERNELS_PAD_INTERNAL_H
#define GLCNN_KERNELS_PAD_INTERNAL_H

#include "glcnn/kernels/pad.h"

#include "kernels/elements.h"

/* Result X of one axis stands for source element first + step X; there are `count` of them, none
 * where that is below 1. */
struct walk {
    int32_t first, step;
    int64_t count;
};

struct walks {
    struct walk x, y, c;
    glcnn_pad_mode mode;
    float constant;
};

/* Of either family. */
struct walks pad_walks_of(const struct operation *operation);

#endif
