/* Spatial normalisation and its gradient: spec 7.7. Local normalisation with a mean of 0. */
#include "glcnn/kernels/spatial_normalization.h"

#include "kernel.h"
#include "local_normalization.h"

typedef struct glcnn_spatial_normalization numbers;

numbers *glcnn_spatial_normalization(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "spatial_normalization");
}

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, uint32_t kernel_width,                \
                                       uint32_t kernel_height, glcnn_kernel **kernel)              \
    {                                                                                              \
        return local_normalization_create(device, &glcnn_kernel_##NAME, kernel_width,              \
                                          kernel_height, kernel);                                  \
    }

DEFINE_CREATE(spatial_normalization)
DEFINE_CREATE(spatial_normalization_gradient)

static struct local_normalization as_local(const struct operation *o)
{
    const numbers *p = o->parameters;
    return (struct local_normalization){
        .alpha = p->alpha, .beta = p->beta, .delta = p->delta, .ps = 1};
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct local_normalization l = as_local(o);
    local_normalization_plan(o, plan, &l);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct local_normalization l = as_local(o);
    local_normalization_plan_gradient(o, plan, &l);
}

static void reference(const struct reference *r)
{
    struct local_normalization l = as_local(r->operation);
    local_normalization_reference(r, &l);
}

static void gradient_reference(const struct reference *r)
{
    struct local_normalization l = as_local(r->operation);
    local_normalization_gradient_reference(r, &l);
}

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
    {"kernel_width=5 kernel_height=5 beta=0.75", {4, 37, 14, 14}, {0}, true},
    {0}};

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    LOCAL_NORMALIZATION_REAL(numbers, alpha, "factor of the mean square over the window", 1),
    LOCAL_NORMALIZATION_REAL(numbers, beta, "exponent", 5),
    LOCAL_NORMALIZATION_REAL(numbers, delta, "added to the mean square", 1),
    {0}};

#define COMMON                                                                                     \
    .family = "spatial_normalization", .parameters_size = sizeof(numbers),                         \
    .parameters = parameters, .cases = cases

const struct glcnn_descriptor glcnn_kernel_spatial_normalization = {
    .name = "spatial_normalization",
    .mps_class = "MPSCNNSpatialNormalization",
    .text = "X (delta + alpha mean square over a window)^-beta",
    COMMON,
    .gradient = "spatial_normalization_gradient",
    .flags = HAS_WINDOW | MAKES_STATE,
    .arguments = {LOCAL_NORMALIZATION_ARGUMENTS},
    .plan = plan_forward,
    .reference = reference,
};

const struct glcnn_descriptor glcnn_kernel_spatial_normalization_gradient = {
    .name = "spatial_normalization_gradient",
    .mps_class = "MPSCNNSpatialNormalizationGradient",
    .text = "gradient of spatial_normalization",
    COMMON,
    .without_gradient = "it is a gradient itself",
    .forward = "spatial_normalization",
    .flags = HAS_WINDOW | IS_GRADIENT,
    .arguments = {LOCAL_NORMALIZATION_GRADIENT_ARGUMENTS},
    .plan = plan_gradient,
    .reference = gradient_reference,
};
