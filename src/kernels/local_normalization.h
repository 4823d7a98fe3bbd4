/* Normalisation of a pixel by its neighbours in the same channel: what spatial and local contrast
 * normalisation share. For result X with a window of N taps, Xc the one in the middle:
 *
 *   Mn = mean of the taps, or 0 unless about_mean
 *   T  = delta + alpha * mean of (tap - Mn)^2
 *   Y  = pm + ps * (Xc - p0*Mn) * T^-beta
 */
#ifndef GLCNN_KERNELS_LOCAL_NORMALIZATION_H
#define GLCNN_KERNELS_LOCAL_NORMALIZATION_H

#include "descriptor.h"

struct local_normalization {
    float alpha, beta, delta, p0, pm, ps;
    bool about_mean;
};

/* Arguments of a forward kernel: source and result; of a gradient kernel: source gradient, source
 * image, destination gradient. */
void local_normalization_plan(const struct operation *operation, struct plan *plan,
                              const struct local_normalization *numbers);
void local_normalization_plan_gradient(const struct operation *operation, struct plan *plan,
                                       const struct local_normalization *numbers);
void local_normalization_reference(const struct reference *reference,
                                   const struct local_normalization *numbers);
void local_normalization_gradient_reference(const struct reference *reference,
                                            const struct local_normalization *numbers);

/* Makes a kernel with a window. */
glcnn_status local_normalization_create(glcnn_device *device,
                                        const struct glcnn_descriptor *descriptor,
                                        uint32_t kernel_width, uint32_t kernel_height,
                                        glcnn_kernel **kernel);

/* Rows of a parameter table and arguments that both families have. */
#define LOCAL_NORMALIZATION_REAL(STRUCT, NAME, TEXT, DEFAULT)                                      \
    {                                                                                              \
#NAME, TEXT, FIELD_FLOAT, offsetof(STRUCT, NAME), DEFAULT, -3.4e38, 3.4e38, NULL           \
    }
#define LOCAL_NORMALIZATION_ARGUMENTS                                                              \
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},                                \
    {                                                                                              \
        .name = "destination_image", .place = PLACE_DESTINATION, .output = true                    \
    }
#define LOCAL_NORMALIZATION_GRADIENT_ARGUMENTS                                                     \
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},                             \
        {.name = "source_image", .place = PLACE_SECONDARY, .input = true},                         \
    {                                                                                              \
        .name = "destination_gradient", .place = PLACE_DESTINATION, .output = true                 \
    }

#endif
