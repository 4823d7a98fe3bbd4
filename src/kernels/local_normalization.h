/* Normalisation of a pixel by its neighbours in the same channel: what spatial and local contrast
 * normalisation share. For result X with a window of N taps, Xc the one in the middle:
 *
 *   Mn = mean of the taps, or 0 unless about_mean
 *   T  = delta + alpha * mean of (tap - Mn)^2
 *   Y  = pm + ps * (Xc - p0*Mn) * T^-beta
 */
#ifndef GLCNN_KERNELS_LOCAL_NORMALIZATION_H
#define GLCNN_KERNELS_LOCAL_NORMALIZATION_H

#include "encode/descriptor.h"

/* What a kernel of either family is made of, by the names of its parameters: one without p0 is not
 * about the mean. Arguments of a forward kernel: source and result; of a gradient kernel: source
 * gradient, source image, destination gradient. */
void local_normalization_plan(const struct operation *operation, struct plan *plan);
void local_normalization_plan_gradient(const struct operation *operation, struct plan *plan);

enum { SOURCE, RESULT };               /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

struct numbers {
    float alpha, beta, delta, p0, pm, ps;
    bool about_mean;
};

struct numbers local_normalization_numbers(const struct operation *operation);

/* For descriptors: tiles, or pixel by pixel. */
extern const struct implementation_list *const local_normalization_implementations[];

/* Makes a kernel with a window. */
glcnn_status local_normalization_create(glcnn_device *device,
                                        const struct glcnn_descriptor *descriptor,
                                        uint32_t kernel_width, uint32_t kernel_height,
                                        glcnn_kernel **kernel);

/* A graph's node starts with a window of 5x5. */
void local_normalization_node_defaults(struct glcnn_addressing *properties, void *parameters);

#define LOCAL_NORMALIZATION_CREATE(NAME)                                                           \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, uint32_t kernel_width,                \
                                       uint32_t kernel_height, glcnn_kernel **kernel)              \
    {                                                                                              \
        return local_normalization_create(device, &glcnn_kernel_##NAME, kernel_width,              \
                                          kernel_height, kernel);                                  \
    }

/* A row of a parameter table. */
#define LOCAL_NORMALIZATION_REAL(STRUCT, NAME, TEXT, DEFAULT)                                      \
    {                                                                                              \
#NAME, TEXT, FIELD_FLOAT, offsetof(STRUCT, NAME), DEFAULT, -3.4e38, 3.4e38, NULL           \
    }

/* The descriptors of a family, but for their parameters. */
#define LOCAL_NORMALIZATION_FORWARD(NAME, MPS, TEXT)                                               \
    .name = NAME, .mps_class = MPS, .text = TEXT, .family = NAME, .gradient = NAME "_gradient",    \
    .flags = HAS_WINDOW | MAKES_STATE,                                                             \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}},      \
    .implementations = local_normalization_implementations, .plan = local_normalization_plan
#define LOCAL_NORMALIZATION_GRADIENT(NAME, MPS)                                                    \
    .name = NAME "_gradient", .mps_class = MPS "Gradient", .text = "gradient of " NAME,            \
    .family = NAME, .without_gradient = "it is a gradient itself", .forward = NAME,                \
    .flags = HAS_WINDOW | IS_GRADIENT,                                                             \
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},               \
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},               \
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},   \
    .implementations = local_normalization_implementations,                                        \
    .plan = local_normalization_plan_gradient

#endif
