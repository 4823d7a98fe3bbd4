/* What the passes and the reference of losses share. */
#ifndef GLCNN_KERNELS_LOSS_INTERNAL_H
#define GLCNN_KERNELS_LOSS_INTERNAL_H

#include "glcnn/kernels/loss.h"

#include "encode/descriptor.h"

/* A row is a type: its name, then fields of struct loss_row. The shader is loss/loss_NAME.glsl, and
 * src/reference/loss.c has a row too. Rows stand in the order of glcnn_loss_type, so a new one is the
 * last. */
/* clang-format off */
#define LOSS_TYPES(ROW)                                                                            \
    ROW(mean_absolute_error)                                                                       \
    ROW(mean_squared_error)                                                                        \
    ROW(soft_max_cross_entropy, .over_channels = true, .smoothing = by_classes)                    \
    ROW(sigmoid_cross_entropy, .smoothing = by_two)                                                \
    ROW(categorical_cross_entropy)                                                                 \
    ROW(hinge)                                                                                     \
    ROW(huber)                                                                                     \
    ROW(cosine_distance, .constant = 1)                                                            \
    ROW(log)                                                                                       \
    ROW(kullback_leibler_divergence)
/* clang-format on */

struct loss_row {
    const char *shader;
    bool over_channels; /* of a pixel; the others are of single elements */
    /* What is added to labels; NULL: nothing. */
    double (*smoothing)(const struct glcnn_loss_parameters *p);
    double constant; /* of the loss of one image */
};

const struct loss_row *loss_row_of(const struct operation *operation);

/* Arguments. */
enum { SOURCE, LABELS, WEIGHTS, DESTINATION, LOSS };

/* The problem that rows are asked about: they say how the pass goes through pixels. */
struct loss_pixels {
    const struct operation *operation;
    struct pass *pass;
};

/* label = t * scale + offset */
void loss_smoothing(const struct operation *operation, double *scale, double *offset);
/* Is the loss an image of as many elements? */
bool loss_is_element_wise(const struct operation *operation);

/* What a plain sum is multiplied with. */
double loss_scale(const struct operation *operation);
/* Is a sum divided by the number of weights that are not 0? */
bool loss_by_count(const struct operation *operation);

#endif
