/* Images of another size. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/resize.h>

#include "onnx/onnx.h"

/* Scales of the axes, or sizes where there are none; with sizes the scales are those of the whole. */
struct resizing {
    double scale[GLCNN_ONNX_RANK];
    bool has_scales;
};

static bool read_scales(struct call *call, const struct value *x, struct resizing *r,
                        struct shape *shape)
{
    bool is_new = strcmp(call->row->name, "Resize") == 0 && call->reader->opset >= 11;
    const Onnx__AttributeProto *a = attribute_find(call, "scales");
    const struct constant *scales = NULL, *sizes = NULL;
    if (!op_constant(call, is_new ? 2 : 1, false, &scales) ||
        (is_new && !op_constant(call, 3, false, &sizes)))
        return false;
    r->has_scales = a || (scales && scales->count);
    const struct constant *c = r->has_scales ? scales : sizes;
    size_t count = a ? a->n_floats : c ? c->count : 0;
    if (count != x->shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has scales or sizes of %zu axes for %u",
                       count, x->shape.rank);
    *shape = x->shape;
    for (size_t i = 0; i < count; i++) {
        double n = a ? (double)a->floats[i] : constant_number(c, i);
        r->scale[i] = r->has_scales ? n : n / (double)x->shape.dims[i];
        n = r->has_scales ? floor(n * (double)x->shape.dims[i]) : n;
        if (!(n >= 1 && n <= 16384) && x->shape.dims[i] != OPEN_BATCH)
            return op_fail(call, GLCNN_MALFORMED_DATA, "axis %zu would have %g pixels", i, n);
        shape->dims[i] = x->shape.dims[i] == OPEN_BATCH && n >= 0 ? OPEN_BATCH : (int64_t)n;
    }
    return true;
}

/* A number for the first of the names that the attribute has; -1: none of them. */
static int choice(const struct call *call, const char *attribute, const char *const *names,
                  size_t count, const char *otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (attribute_is(call, attribute, names[i], otherwise))
            return (int)i;
    return -1;
}

/* Names in the order of glcnn_resize_position and glcnn_resize_rounding. */
static bool read_modes(struct call *call, bool *is_linear, struct glcnn_resize_parameters *p)
{
    static const char *const modes[] = {"nearest", "linear", "bilinear"};
    static const char *const positions[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                            "align_corners"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    bool is_old = call->reader->opset < 11 || strcmp(call->row->name, "Upsample") == 0;
    int mode = choice(call, "mode", modes, 3, "nearest");
    int position = choice(call, "coordinate_transformation_mode", positions, 4,
                          is_old ? "asymmetric" : "half_pixel");
    int rounding =
        choice(call, "nearest_mode", roundings, 4, is_old ? "floor" : "round_prefer_floor");
    if (mode < 0 || position < 0 || rounding < 0 || attribute_int(call, "antialias", 0) ||
        attribute_int(call, "exclude_outside", 0) || attribute_find(call, "axes") ||
        !attribute_is(call, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return op_unsupported(call, "nearest and linear are read, of all axes, without antialias");
    *is_linear = mode > 0;
    p->position = (glcnn_resize_position)position;
    p->rounding = (glcnn_resize_rounding)rounding;
    return true;
}

static bool lower_resize(struct call *call)
{
    struct value *x;
    struct shape shape;
    struct resizing r;
    struct glcnn_resize_parameters p = {0};
    bool is_linear = false;
    if (!place_input(call, 0, &x) || !read_scales(call, x, &r, &shape) ||
        !read_modes(call, &is_linear, &p))
        return false;
    struct image result = place_custom(call->reader, &shape);
    if (result.extent[C] != x->image.extent[C] || result.extent[N] != x->image.extent[N] ||
        shape.rank > 4)
        return op_unsupported(call, "it resizes other axes than rows and columns");
    uint32_t last = shape.rank - 1;
    for (uint32_t i = 0; p.position == GLCNN_RESIZE_POSITION_ALIGN_CORNERS && i <= last; i++)
        if (fabs(r.scale[i] * (double)x->shape.dims[i] - (double)shape.dims[i]) > 1e-3)
            return op_unsupported(call, "align_corners of a part of a pixel, axis %u by %g", i,
                                  r.scale[i]);
    p.resized_width = (uint32_t)result.extent[W];
    p.resized_height = (uint32_t)result.extent[H];
    p.scale_x = r.has_scales ? (float)r.scale[last] : 0;
    p.scale_y = r.has_scales && last > 0 && shape.dims[last - 1] == result.extent[H]
                    ? (float)r.scale[last - 1]
                    : 0;
    glcnn_image_node *node = is_linear ? glcnn_resize_linear_node(x->image.node, &p)
                                       : glcnn_resize_nearest_node(x->image.node, &p);
    return op_made(call, node, NULL) && place_give(call, 0, &shape, node);
}

const struct operator_row onnx_resizing[] = {
    {"Resize", lower_resize, NULL, 0, NULL}, {"Upsample", lower_resize, NULL, 0, NULL}, {0}};
