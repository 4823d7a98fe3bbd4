/* Spatial normalisation and its gradient: spec 7.7. Local normalisation with a mean of 0. */
#include "glcnn/kernels/spatial_normalization.h"

#include "encode/kernel.h"
#include "kernels/local_normalization.h"

typedef struct glcnn_spatial_normalization_parameters numbers;

numbers *glcnn_spatial_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "spatial_normalization");
}

LOCAL_NORMALIZATION_CREATE(spatial_normalization)
LOCAL_NORMALIZATION_CREATE(spatial_normalization_gradient)

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    LOCAL_NORMALIZATION_REAL(numbers, alpha, "factor of the mean square over the window", 1),
    LOCAL_NORMALIZATION_REAL(numbers, beta, "exponent", 5),
    LOCAL_NORMALIZATION_REAL(numbers, delta, "added to the mean square", 1),
    {0}};

#define NUMBERS .parameters_size = sizeof(numbers), .parameters = parameters

const struct glcnn_descriptor glcnn_kernel_spatial_normalization = {
    LOCAL_NORMALIZATION_FORWARD("spatial_normalization", "MPSCNNSpatialNormalization",
                                "X (delta + alpha mean square over a window)^-beta"),
    .node_defaults = local_normalization_node_defaults, NUMBERS};
const struct glcnn_descriptor glcnn_kernel_spatial_normalization_gradient = {
    LOCAL_NORMALIZATION_GRADIENT("spatial_normalization", "MPSCNNSpatialNormalization"), NUMBERS};
