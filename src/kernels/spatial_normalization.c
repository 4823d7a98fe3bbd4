/* Spatial normalisation and its gradient: spec 7.7. Local normalisation with a mean of 0. */
#include "glcnn/kernels/spatial_normalization.h"

#include "encode/kernel.h"
#include "kernels/local_normalization.h"

typedef struct glcnn_spatial_normalization_parameters numbers;

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"alpha", "factor of the mean square over the window", FIELD_FLOAT, offsetof(numbers, alpha), 1,
     -3.4e38, 3.4e38, NULL},
    {"beta", "exponent", FIELD_FLOAT, offsetof(numbers, beta), 5, -3.4e38, 3.4e38, NULL},
    {"delta", "added to the mean square", FIELD_FLOAT, offsetof(numbers, delta), 1, -3.4e38, 3.4e38,
     NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_spatial_normalization = {
    .name = "spatial_normalization",
    .mps_class = "MPSCNNSpatialNormalization",
    .text = "X (delta + alpha mean square over a window)^-beta",
    .family = "spatial_normalization",
    .gradient = "spatial_normalization_gradient",
    .node_defaults = local_normalization_node_defaults,
    .flags = HAS_WINDOW | MAKES_STATE,
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .arguments = descriptor_image_arguments,
    .implementations = local_normalization_implementations,
    .plan = local_normalization_plan,
};

const struct glcnn_descriptor glcnn_kernel_spatial_normalization_gradient = {
    .name = "spatial_normalization_gradient",
    .mps_class = "MPSCNNSpatialNormalizationGradient",
    .text = "gradient of spatial_normalization",
    .family = "spatial_normalization",
    .forward = "spatial_normalization",
    .flags = HAS_WINDOW | IS_GRADIENT,
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .arguments = descriptor_gradient_arguments,
    .implementations = local_normalization_implementations,
    .plan = local_normalization_plan,
};
