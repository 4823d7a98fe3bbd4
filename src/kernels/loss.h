/* What the passes and the reference of losses share. */
#ifndef GLCNN_KERNELS_LOSS_INTERNAL_H
#define GLCNN_KERNELS_LOSS_INTERNAL_H

#include "glcnn/kernels/loss.h"

#include "encode/descriptor.h"

/* A row is a type: its name, its enumerator, GLCNN_LOSS_TYPE_ENUM, then fields of struct loss_row. The
 * shader is loss/loss_NAME.glsl, and src/reference/loss.c has a row too. */
/* clang-format off */
#define LOSS_TYPES(ROW)                                                                            \
    ROW(mean_absolute_error, MEAN_ABSOLUTE_ERROR)                                                  \
    ROW(mean_squared_error, MEAN_SQUARED_ERROR)                                                    \
    ROW(soft_max_cross_entropy, SOFT_MAX_CROSS_ENTROPY, .over_channels = true,                     \
        .smoothing = by_classes)                                                                   \
    ROW(sigmoid_cross_entropy, SIGMOID_CROSS_ENTROPY, .smoothing = by_two)                         \
    ROW(categorical_cross_entropy, CATEGORICAL_CROSS_ENTROPY)                                      \
    ROW(hinge, HINGE)                                                                              \
    ROW(huber, HUBER)                                                                              \
    ROW(cosine_distance, COSINE_DISTANCE, .constant = 1)                                           \
    ROW(log, LOG)                                                                                  \
    ROW(kullback_leibler_divergence, KULLBACK_LEIBLER_DIVERGENCE)                                  \
    ROW(quality_focal, QUALITY_FOCAL)
/* clang-format on */

struct loss_row {
    const char *shader;
    bool over_channels; /* of a pixel; the others are of single elements */
    /* What is added to labels; NULL: nothing. */
    double (*smoothing)(const struct glcnn_loss_parameters *p);
    double constant; /* of the loss of one image */
};

extern const char *const loss_type_names[]; /* by enumerator; NULL at the end */

const struct loss_row *loss_row_of(const struct glcnn_loss_parameters *parameters);

/* Arguments. */
enum { SOURCE, LABELS, WEIGHTS, DESTINATION, LOSS };

/* The problem that rows are asked about: they say how the pass goes through pixels. */
struct loss_pixels {
    const struct operation *operation;
    struct pass *pass;
};
/* What each row says of the pass: its shader and its grid, `lanes` invocations to a pixel. */
void loss_pass_pixels(const struct loss_pixels *pixels, const struct implementation *row,
                      uint32_t lanes);

/* label = t * scale + offset */
void loss_smoothing(const struct glcnn_loss_parameters *parameters, double *scale, double *offset);

/* ---- The value, of any kernel with these arguments (loss_value.c) ---- */

extern const char *const loss_reduction_types[];

/* What such a kernel says of itself, its descriptor's form. */
struct loss_form {
    size_t reduction_type; /* where in its parameters that is */
    /* Is a mean over pixels, not over elements? NULL: it is not. */
    bool (*over_pixels)(const struct operation *operation);
    double (*constant)(const struct operation *operation); /* of loss_constant; NULL: 0 */
    bool of_pixels; /* a pixel has one loss, and one weight, whatever its channels */
};

/* For its descriptor: the shape of the loss, and whether labels, weights and loss fit. */
void loss_shape(const struct operation *operation, size_t index,
                struct glcnn_image_descriptor *result);
bool loss_check(const struct operation *operation, struct validation validation);

/* Losses of a pixel. */
uint32_t loss_channels(const struct operation *operation);
/* Is the loss an image of them? */
bool loss_is_element_wise(const struct operation *operation);
/* What is added to the sum over an image. */
double loss_constant(const struct operation *operation);
/* What a plain sum is multiplied with. */
double loss_scale(const struct operation *operation);
/* Is a sum divided by the number of weights that are not 0? */
bool loss_by_count(const struct operation *operation);

/* Has the pass, whose shader goes through pixels as loss/loss.comp does, store the loss where that
 * is given; passes behind it add up those of pixels. */
void loss_plan_value(const struct operation *operation, struct plan *plan, struct pass *pass);

#endif
