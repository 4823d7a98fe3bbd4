/* Local contrast normalisation and its gradient: spec 7.8. */
#include "glcnn/kernels/local_contrast_normalization.h"

#include "encode/kernel.h"
#include "kernels/local_normalization.h"

typedef struct glcnn_local_contrast_normalization_parameters numbers;

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"alpha", "factor of the variance over the window", FIELD_FLOAT, offsetof(numbers, alpha), 0,
     -3.4e38, 3.4e38, NULL},
    {"beta", "exponent", FIELD_FLOAT, offsetof(numbers, beta), 0.5, -3.4e38, 3.4e38, NULL},
    {"delta", "added to the variance", FIELD_FLOAT, offsetof(numbers, delta), 1.0 / 1024, -3.4e38,
     3.4e38, NULL},
    {"p0", "factor of the mean that is taken away", FIELD_FLOAT, offsetof(numbers, p0), 1, -3.4e38,
     3.4e38, NULL},
    {"pm", "added to the result", FIELD_FLOAT, offsetof(numbers, pm), 0, -3.4e38, 3.4e38, NULL},
    {"ps", "factor of the result", FIELD_FLOAT, offsetof(numbers, ps), 1, -3.4e38, 3.4e38, NULL},
    {0}};

/* MPS gives its node an alpha of 1 and its kernel one of 0. */
static void node_defaults(struct glcnn_addressing *properties, void *kernel_parameters)
{
    numbers *p = kernel_parameters;
    local_normalization_node_defaults(properties, kernel_parameters);
    p->alpha = 1;
}

const struct glcnn_descriptor glcnn_kernel_local_contrast_normalization = {
    .name = "local_contrast_normalization",
    .mps_class = "MPSCNNLocalContrastNormalization",
    .text = "pm + ps (X - p0 mean) (delta + alpha variance)^-beta over a window",
    .family = "local_contrast_normalization",
    .gradient = "local_contrast_normalization_gradient",
    .node_defaults = node_defaults,
    .flags = HAS_WINDOW | MAKES_STATE,
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .arguments = descriptor_image_arguments,
    .implementations = local_normalization_implementations,
    .plan = local_normalization_plan,
};

const struct glcnn_descriptor glcnn_kernel_local_contrast_normalization_gradient = {
    .name = "local_contrast_normalization_gradient",
    .mps_class = "MPSCNNLocalContrastNormalizationGradient",
    .text = "gradient of local_contrast_normalization",
    .family = "local_contrast_normalization",
    .forward = "local_contrast_normalization",
    .flags = HAS_WINDOW | IS_GRADIENT,
    .parameters_size = sizeof(numbers),
    .parameters = parameters,
    .arguments = descriptor_gradient_arguments,
    .implementations = local_normalization_implementations,
    .plan = local_normalization_plan,
};
