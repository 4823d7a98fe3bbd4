/* Enlarging images by whole factors. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/upsampling.h>

#include "onnx/onnx.h"

/* Factors of each axis, from scales, or from sizes where there are none. */
static bool read_factors(struct call *call, const struct value *x, double factors[GLCNN_ONNX_RANK])
{
    bool is_resize = strcmp(call->row->name, "Resize") == 0, is_old = call->reader->opset < 11;
    const Onnx__AttributeProto *a = attribute_find(call, "scales");
    const struct constant *scales = NULL, *sizes = NULL;
    if (!op_constant(call, is_resize && !is_old ? 2 : 1, false, &scales) ||
        (is_resize && !is_old && !op_constant(call, 3, false, &sizes)))
        return false;
    const struct constant *c = scales && scales->count ? scales : sizes;
    size_t count = a ? a->n_floats : c ? c->count : 0;
    if (count != x->shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has scales or sizes for %zu axes of %u",
                       count, x->shape.rank);
    for (size_t i = 0; i < count; i++)
        factors[i] = a            ? (double)a->floats[i]
                     : c == sizes ? constant_number(c, i) / (double)x->shape.dims[i]
                                  : constant_number(c, i);
    return true;
}

static bool check_factors(struct call *call, const struct value *x,
                          const double factors[GLCNN_ONNX_RANK], struct shape *shape)
{
    *shape = x->shape;
    for (uint32_t i = 0; i < shape->rank; i++) {
        bool is_whole = factors[i] >= 1 && factors[i] <= 256 && floor(factors[i]) == factors[i];
        if (!is_whole || (i < 2 && factors[i] != 1))
            return op_unsupported(call,
                                  "axis %u is resized by %g; rows and columns by whole "
                                  "factors are",
                                  i, factors[i]);
        shape->dims[i] *= (int64_t)factors[i];
    }
    return true;
}

/* Where pixels of the result lie in the source. */
enum position { HALF_PIXEL, CORNERS, ASYMMETRIC, OTHER };

static enum position position_of(const struct call *call)
{
    bool is_old = call->reader->opset < 11;
    const char *otherwise = is_old ? "asymmetric" : "half_pixel";
    static const struct {
        const char *name;
        enum position position;
    } names[] = {{"half_pixel", HALF_PIXEL},
                 {"pytorch_half_pixel", HALF_PIXEL},
                 {"align_corners", CORNERS},
                 {"asymmetric", ASYMMETRIC}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (attribute_is(call, "coordinate_transformation_mode", names[i].name, otherwise))
            return names[i].position;
    return OTHER;
}

/* By whole factors the nearest pixel is that of the block, if it is rounded as the position wants. */
static bool is_block(const struct call *call, enum position position)
{
    bool is_old = call->reader->opset < 11;
    if (position == ASYMMETRIC)
        return attribute_is(call, "nearest_mode", "floor", is_old ? "floor" : "round_prefer_floor");
    return position == HALF_PIXEL && !attribute_is(call, "nearest_mode", "floor", "") &&
           !attribute_is(call, "nearest_mode", "ceil", "");
}

static bool lower_resize(struct call *call)
{
    struct value *x;
    struct shape shape;
    double factors[GLCNN_ONNX_RANK];
    enum position position = position_of(call);
    bool is_nearest = attribute_is(call, "mode", "nearest", "nearest");
    if (!place_input(call, 0, &x) || !read_factors(call, x, factors) ||
        !check_factors(call, x, factors, &shape))
        return false;
    if (shape.rank < 3 || shape.rank > 4 || position == OTHER ||
        (is_nearest ? !is_block(call, position)
                    : !attribute_is(call, "mode", "linear", "nearest") &&
                          !attribute_is(call, "mode", "bilinear", "nearest")))
        return op_unsupported(call, "its mode, or where its pixels lie, is not read");
    uint32_t fx = (uint32_t)factors[shape.rank - 1],
             fy = shape.rank == 4 ? (uint32_t)factors[2] : 1;
    glcnn_image_node *node =
        is_nearest ? glcnn_upsampling_nearest_node(x->image.node, fx, fy)
                   : glcnn_upsampling_bilinear_node(x->image.node, fx, fy, position == CORNERS);
    if (!op_made(call, node, NULL))
        return false;
    if (!is_nearest)
        glcnn_upsampling(glcnn_filter_node_kernel(glcnn_image_node_filter(node)))->asymmetric =
            position == ASYMMETRIC;
    return place_give(call, 0, &shape, node);
}

const struct operator_row onnx_resizing[] = {
    {"Resize", lower_resize, NULL, 0, NULL}, {"Upsample", lower_resize, NULL, 0, NULL}, {0}};
