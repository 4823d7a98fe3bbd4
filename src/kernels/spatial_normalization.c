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

/* ---- Cases ---- */

static const struct check_case cases[] = {
    {"", {1, 1, 3, 3}},
    {"kernel_width=3 kernel_height=3", {2, 2, 5, 6}},
    {"kernel_width=5 kernel_height=5 beta=0.75", {1, 3, 7, 6}},
    {"kernel_width=2 kernel_height=2 beta=1", {2, 4, 5, 5}},
    {"kernel_width=3 kernel_height=2 alpha=2 beta=0.5 delta=0.25", {1, 5, 6, 7}},
    {"kernel_width=1 kernel_height=4 alpha=-0.5 delta=2 beta=-1.5", {2, 6, 4, 3}},
    {"kernel_width=9 kernel_height=5 beta=2", {1, 7, 4, 5}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp beta=0.75", {1, 8, 5, 4}},
    {"kernel_width=4 kernel_height=3 edge_mode=clamp alpha=3", {2, 9, 3, 6}},
    {"kernel_width=5 kernel_height=7 edge_mode=clamp", {1, 5, 2, 1}},
    {"kernel_width=3 kernel_height=3 offset_x=-2 offset_y=1 destination_width=7 "
     "destination_height=4",
     {2, 3, 6, 5}},
    {"kernel_width=3 kernel_height=4 offset_x=3 offset_y=-2 destination_width=6 "
     "destination_height=9 edge_mode=clamp beta=0.5",
     {1, 6, 6, 5}},
    {"kernel_width=3 kernel_height=3 padding=valid align=top_left", {1, 4, 6, 7}},
    {"kernel_width=4 kernel_height=3 padding=full beta=1.5", {1, 3, 4, 4}},
    {"kernel_width=3 kernel_height=3 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 5, 6, 6}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp clip_rect_origin_x=2 clip_rect_size_width=3 "
     "offset_x=1",
     {2, 6, 5, 6}},
    {"kernel_width=3 kernel_height=3 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 4, 5}},
    {"kernel_width=5 kernel_height=4 beta=0.75 clip_rect_origin_x=1 clip_rect_origin_y=2",
     {1, 3, 11, 71}},
    {"kernel_width=5 kernel_height=5 beta=0.75", {4, 37, 14, 14}, {0}, true},
    {0}};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    LOCAL_NORMALIZATION_REAL(numbers, alpha, "factor of the mean square over the window", 1),
    LOCAL_NORMALIZATION_REAL(numbers, beta, "exponent", 5),
    LOCAL_NORMALIZATION_REAL(numbers, delta, "added to the mean square", 1),
    {0}};

#define NUMBERS .parameters_size = sizeof(numbers), .parameters = parameters, .cases = cases

const struct glcnn_descriptor glcnn_kernel_spatial_normalization = {
    LOCAL_NORMALIZATION_FORWARD("spatial_normalization", "MPSCNNSpatialNormalization",
                                "X (delta + alpha mean square over a window)^-beta"),
    .node_defaults = local_normalization_node_defaults, NUMBERS};
const struct glcnn_descriptor glcnn_kernel_spatial_normalization_gradient = {
    LOCAL_NORMALIZATION_GRADIENT("spatial_normalization", "MPSCNNSpatialNormalization"), NUMBERS};
