/* Up-sampling and its gradients: spec 7.12. Along each axis column X of the result is column U of
 * the whole enlarged image, X + base, and lies at source position (scale*U + bias) / divisor. The
 * gradients gather: one invocation owns one source pixel, so there is nothing to accumulate. */
#include "kernels/upsampling.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"

/* ---- Positions ---- */

static struct mapping half_pixel(int32_t size, int32_t factor)
{
    return (struct mapping){size, size * factor, 2, 1 - factor, 2 * factor, 0, false};
}

/* One pixel has no corners apart: any scale will do, since its position is kept inside. */
static struct mapping align_corners(int32_t size, int32_t factor)
{
    int32_t extent = size * factor;
    return (struct mapping){size, extent, size > 1 ? size - 1 : 1, 0, extent > 1 ? extent - 1 : 1,
                            0,    true};
}

static struct mapping asymmetric(int32_t size, int32_t factor)
{
    return (struct mapping){size, size * factor, 1, 0, factor, 0, false};
}

/* The offset of the source and the first result that it goes with. */
static struct mapping map(const struct glcnn_upsampling_parameters *p, uint32_t size,
                          uint32_t factor, int32_t offset, int32_t first)
{
    struct mapping m = p->align_corners ? align_corners((int32_t)size, (int32_t)factor)
                       : p->asymmetric  ? asymmetric((int32_t)size, (int32_t)factor)
                                        : half_pixel((int32_t)size, (int32_t)factor);
    m.base = offset * (int32_t)factor - first;
    return m;
}

void upsampling_map(const struct operation *o, struct mapping axes[2])
{
    const struct glcnn_upsampling_parameters *p = o->parameters;
    const struct glcnn_addressing *q = &o->properties;
    bool gradient = operation_is_gradient(o);
    const struct image_view *source = &o->images[gradient ? IMAGE : SOURCE];
    const struct glcnn_offset *offset = gradient ? &q->secondary.offset : &q->primary.offset;
    int32_t first_x = gradient ? q->primary.offset.x + q->kernel_offset_x : (int32_t)o->region_x;
    int32_t first_y = gradient ? q->primary.offset.y + q->kernel_offset_y : (int32_t)o->region_y;
    axes[0] = map(p, source->width, p->scale_factor_x, offset->x, first_x);
    axes[1] = map(p, source->height, p->scale_factor_y, offset->y, first_y);
}

/* Nearest neighbours lie at floor(U / factor), whatever bilinear parameters are set. */
static struct operation nearest_of(const struct operation *o,
                                   struct glcnn_upsampling_parameters *parameters)
{
    struct operation nearest = *o;
    *parameters = *(const struct glcnn_upsampling_parameters *)o->parameters;
    parameters->align_corners = false;
    parameters->asymmetric = true;
    nearest.parameters = parameters;
    return nearest;
}

/* ---- Passes ---- */

/* Division by a constant is cheap, so numbers that depend on the factors alone are defines. */
static void pass_constant(struct pass *pass, const char *name, int32_t value, bool is_define)
{
    if (is_define)
        pass_define(pass, name, value);
    else
        pass_int(pass, name, value);
}

static void pass_mapping(struct pass *pass, const struct operation *o)
{
    struct mapping m[2];
    upsampling_map(o, m);
    if (o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_constant(pass, "scale_x", m[0].scale, !m[0].depends_on_size);
    pass_constant(pass, "scale_y", m[1].scale, !m[1].depends_on_size);
    pass_constant(pass, "divisor_x", m[0].divisor, !m[0].depends_on_size);
    pass_constant(pass, "divisor_y", m[1].divisor, !m[1].depends_on_size);
    pass_int(pass, "bias_x", m[0].bias);
    pass_int(pass, "bias_y", m[1].bias);
    pass_int(pass, "base_x", m[0].base);
    pass_int(pass, "base_y", m[1].base);
    pass_int(pass, "extent_x", m[0].extent);
    pass_int(pass, "extent_y", m[1].extent);
}

static void plan_forward(const struct operation *o, struct plan *plan, const char *shader)
{
    struct pass *pass = plan_pixels(plan, o, shader, &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_mapping(pass, o);
    pass->prefers_large_groups = true;
}

static void plan_gradient(const struct operation *o, struct plan *plan, const char *shader)
{
    const struct glcnn_upsampling_parameters *p = o->parameters;
    struct pass *pass = plan_pixels(plan, o, shader, &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_mapping(pass, o);
    pass_int(pass, "size_x", (int32_t)o->images[IMAGE].width);
    pass_int(pass, "size_y", (int32_t)o->images[IMAGE].height);
    pass_results(pass, &o->window);
    pass_int(pass, "shift_x", o->window.x.shift);
    pass_int(pass, "shift_y", o->window.y.shift);
    uint64_t taps = (uint64_t)p->scale_factor_x * p->scale_factor_y * 4;
    pass->prefers_large_groups = true;
    pass->work = taps < 1u << 20 ? (uint32_t)taps * 16 : 1u << 24;
}

static void plan_nearest(const struct operation *o, struct plan *plan)
{
    struct glcnn_upsampling_parameters p;
    struct operation nearest = nearest_of(o, &p);
    plan_forward(&nearest, plan, "upsampling/upsampling_nearest.comp");
}

static void plan_nearest_gradient(const struct operation *o, struct plan *plan)
{
    struct glcnn_upsampling_parameters p;
    struct operation nearest = nearest_of(o, &p);
    plan_gradient(&nearest, plan, "upsampling/upsampling_nearest_gradient.comp");
}

static void plan_bilinear(const struct operation *o, struct plan *plan)
{
    plan_forward(o, plan, "upsampling/upsampling_bilinear.comp");
}

static void plan_bilinear_gradient(const struct operation *o, struct plan *plan)
{
    plan_gradient(o, plan, "upsampling/upsampling_bilinear_gradient.comp");
}

/* ---- Results and checks ---- */

static void enlarge(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_upsampling_parameters *p = o->parameters;
    result->width *= p->scale_factor_x;
    result->height *= p->scale_factor_y;
}

/* Positions are computed in 32 bits. */
static bool check_axis(int64_t size, int64_t factor, int64_t offset, struct validation validation)
{
    int64_t base = offset * factor;
    if (size * factor <= 32768 && base >= -(1 << 29) && base <= 1 << 29)
        return true;
    return invalid(
        validation,
        "a source of %lld pixels a side with scale factor %lld and offset %lld reaches too "
        "far: the whole result may have 32768 pixels a side",
        (long long)size, (long long)factor, (long long)offset);
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_upsampling_parameters *p = o->parameters;
    bool gradient = operation_is_gradient(o);
    const struct image_view *source = &o->images[gradient ? IMAGE : SOURCE];
    const struct glcnn_offset *offset =
        gradient ? &o->properties.secondary.offset : &o->properties.primary.offset;
    if (gradient && o->images[GRADIENT].channels < o->images[DESTINATION].channels)
        return invalid(
            validation,
            "%u channels of the source gradient are read; the destination gradient needs %u",
            o->images[GRADIENT].channels, o->images[DESTINATION].channels);
    return check_axis(source->width, p->scale_factor_x, offset->x, validation) &&
           check_axis(source->height, p->scale_factor_y, offset->y, validation);
}

/* ---- Descriptors ---- */

#define FACTORS                                                                                    \
    {"scale_factor_x",                                                                             \
     "result columns for each source column",                                                      \
     FIELD_UINT32,                                                                                 \
     offsetof(struct glcnn_upsampling_parameters, scale_factor_x),                                 \
     1,                                                                                            \
     1,                                                                                            \
     32768,                                                                                        \
     NULL},                                                                                        \
    {                                                                                              \
        "scale_factor_y", "result rows for each source row", FIELD_UINT32,                         \
            offsetof(struct glcnn_upsampling_parameters, scale_factor_y), 1, 1, 32768, NULL        \
    }

static const struct parameter nearest_parameters[] = {FACTORS, {0}};
static const struct parameter bilinear_parameters[] = {
    FACTORS,
    {"align_corners", "corner pixels of the result lie on corner pixels of the source", FIELD_BOOL,
     offsetof(struct glcnn_upsampling_parameters, align_corners), 0, 0, 1, NULL},
    {"asymmetric", "without align_corners: column X lies at X / scale_factor_x", FIELD_BOOL,
     offsetof(struct glcnn_upsampling_parameters, asymmetric), 0, 0, 1, NULL},
    {0}};

const struct glcnn_descriptor glcnn_kernel_upsampling_nearest = {
    .name = "upsampling_nearest",
    .mps_class = "MPSCNNUpsamplingNearest",
    .text = "every pixel repeated in blocks",
    .family = "upsampling_nearest",
    .gradient = "upsampling_nearest_gradient",
    .flags = MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_upsampling_parameters),
    .parameters = nearest_parameters,
    .arguments = descriptor_image_arguments,
    .shape = enlarge,
    .check = check,
    .plan = plan_nearest,
};
const struct glcnn_descriptor glcnn_kernel_upsampling_nearest_gradient = {
    .name = "upsampling_nearest_gradient",
    .mps_class = "MPSCNNUpsamplingNearestGradient",
    .text = "gradient of upsampling_nearest",
    .family = "upsampling_nearest",
    .forward = "upsampling_nearest",
    .flags = IS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_upsampling_parameters),
    .parameters = nearest_parameters,
    .arguments = descriptor_gradient_arguments,
    .check = check,
    .plan = plan_nearest_gradient,
};

const struct glcnn_descriptor glcnn_kernel_upsampling_bilinear = {
    .name = "upsampling_bilinear",
    .mps_class = "MPSCNNUpsamplingBilinear",
    .text = "enlarged with linear interpolation between pixels",
    .family = "upsampling_bilinear",
    .gradient = "upsampling_bilinear_gradient",
    .flags = MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_upsampling_parameters),
    .parameters = bilinear_parameters,
    .arguments = descriptor_image_arguments,
    .shape = enlarge,
    .check = check,
    .plan = plan_bilinear,
};
const struct glcnn_descriptor glcnn_kernel_upsampling_bilinear_gradient = {
    .name = "upsampling_bilinear_gradient",
    .mps_class = "MPSCNNUpsamplingBilinearGradient",
    .text = "gradient of upsampling_bilinear",
    .family = "upsampling_bilinear",
    .forward = "upsampling_bilinear",
    .flags = IS_GRADIENT,
    .parameters_size = sizeof(struct glcnn_upsampling_parameters),
    .parameters = bilinear_parameters,
    .arguments = descriptor_gradient_arguments,
    .check = check,
    .plan = plan_bilinear_gradient,
};

/* ---- Typed access ---- */

/* Each has a family of its own: a state of one is of no use to the gradient of the other. */
struct glcnn_upsampling_parameters *glcnn_upsampling(glcnn_kernel *kernel)
{
    struct glcnn_upsampling_parameters *nearest = kernel_parameters(kernel, "upsampling_nearest");
    return nearest ? nearest : kernel_parameters(kernel, "upsampling_bilinear");
}
