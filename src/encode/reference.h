/* Each kernel in double precision, and the cases in which the device is checked against that.
 *
 * A file of src/reference/ defines for each kernel of a family
 *     const struct glcnn_reference glcnn_reference_NAME = {compute, cases};
 * The build pairs it with glcnn_kernel_NAME: a kernel without one does not link. */
#ifndef GLCNN_REFERENCE_H
#define GLCNN_REFERENCE_H

#include "encode/descriptor.h"

/* The elements of a view in double precision. */
struct tensor {
    double *data; /* [n][c][h][w] of the view; NULL: not given */
    uint32_t images, channels, height, width;
};

/* What a reference computes with and into; arrays go by the index of the descriptor's arguments. */
struct reference {
    const struct operation *operation;
    struct tensor images[MAX_ARGUMENTS];
    double *vectors[MAX_ARGUMENTS]; /* NULL: not given; outputs come zeroed */
};

/* A case of the self-check: settings ("kernel_width=3 edge_mode=clamp") and the source's shape
 * [n][c][h][w]. `secondary` is the second source's shape, or the label weights', all 0: the same. */
struct check_case {
    const char *settings;
    uint32_t shape[4];
    uint32_t secondary[4];
    bool large; /* left out of a quick check */
};

struct glcnn_reference {
    void (*compute)(const struct reference *reference); /* from the formulas alone */
    const struct check_case *cases;                     /* settings NULL at the end */
};

extern const struct glcnn_reference *const glcnn_references[]; /* in the order of glcnn_registry */

/* The reference of a kernel of the registry. */
const struct glcnn_reference *reference_of(const struct glcnn_descriptor *descriptor);

#endif
