/* Local contrast normalisation and its gradient: spec 7.8. */
#include "glcnn/kernels/local_contrast_normalization.h"

#include "encode/kernel.h"
#include "kernels/local_normalization.h"

typedef struct glcnn_local_contrast_normalization_parameters numbers;

numbers *glcnn_local_contrast_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "local_contrast_normalization");
}

LOCAL_NORMALIZATION_CREATE(local_contrast_normalization)
LOCAL_NORMALIZATION_CREATE(local_contrast_normalization_gradient)

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    LOCAL_NORMALIZATION_REAL(numbers, alpha, "factor of the variance over the window", 0),
    LOCAL_NORMALIZATION_REAL(numbers, beta, "exponent", 0.5),
    LOCAL_NORMALIZATION_REAL(numbers, delta, "added to the variance", 1.0 / 1024),
    LOCAL_NORMALIZATION_REAL(numbers, p0, "factor of the mean that is taken away", 1),
    LOCAL_NORMALIZATION_REAL(numbers, pm, "added to the result", 0),
    LOCAL_NORMALIZATION_REAL(numbers, ps, "factor of the result", 1),
    {0}};

#define NUMBERS .parameters_size = sizeof(numbers), .parameters = parameters

/* MPS gives its node an alpha of 1 and its kernel one of 0. */
static void node_defaults(struct glcnn_addressing *properties, void *kernel_parameters)
{
    numbers *p = kernel_parameters;
    local_normalization_node_defaults(properties, kernel_parameters);
    p->alpha = 1;
}

const struct glcnn_descriptor glcnn_kernel_local_contrast_normalization = {
    LOCAL_NORMALIZATION_FORWARD(
        "local_contrast_normalization", "MPSCNNLocalContrastNormalization",
        "pm + ps (X - p0 mean) (delta + alpha variance)^-beta over a window"),
    .node_defaults = node_defaults, NUMBERS};
const struct glcnn_descriptor glcnn_kernel_local_contrast_normalization_gradient = {
    LOCAL_NORMALIZATION_GRADIENT("local_contrast_normalization",
                                 "MPSCNNLocalContrastNormalization"),
    NUMBERS};
