/* Images of another size. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/resize.h>

#include "onnx/operand.h"

/* The scale of each axis; `uses_scales`: positions follow from them, not from the two sizes. */
struct resizing {
    double scale[GLCNN_ONNX_RANK];
    bool uses_scales;
};

/* A number for each of some axes: a scale or a size. */
struct numbers {
    const Onnx__AttributeProto *attribute; /* or: */
    const struct constant *constant;
    bool are_scales;
    int axis[GLCNN_ONNX_RANK];
    size_t count;
};

static double number_at(const struct numbers *n, size_t i)
{
    return n->attribute ? (double)n->attribute->floats[i] : constant_number(n->constant, i);
}

/* Those of the attribute, or all. */
static bool read_axes(struct call *call, const struct shape *shape, struct numbers *n)
{
    int64_t axes[GLCNN_ONNX_RANK];
    unsigned seen = 0;
    n->count = shape->rank;
    for (size_t i = 0; i < shape->rank; i++)
        axes[i] = (int64_t)i;
    if (!attribute_ints(call, "axes", GLCNN_ONNX_RANK, axes, &n->count))
        return false;
    for (size_t i = 0; i < n->count; i++) {
        n->axis[i] = shape_axis(shape, axes[i]);
        if (n->axis[i] < 0 || seen & 1u << n->axis[i])
            return op_fail(call, GLCNN_MALFORMED_DATA, "axis %lld appears twice, or does not exist",
                           (long long)axes[i]);
        seen |= 1u << n->axis[i];
    }
    return true;
}

static bool read_numbers(struct call *call, const struct shape *shape, struct numbers *n)
{
    bool is_new = strcmp(call->row->name, "Resize") == 0 && call->reader->opset >= 11;
    const struct constant *scales = NULL, *sizes = NULL;
    *n = (struct numbers){.attribute = attribute_find(call, "scales")};
    if (!op_constant(call, is_new ? 2 : 1, false, &scales) ||
        (is_new && !op_constant(call, 3, false, &sizes)) || !read_axes(call, shape, n))
        return false;
    n->are_scales = n->attribute || (scales && scales->count);
    n->constant = n->are_scales ? scales : sizes;
    size_t count = n->attribute ? n->attribute->n_floats : n->constant ? n->constant->count : 0;
    return count == n->count ||
           op_fail(call, GLCNN_MALFORMED_DATA, "it has scales or sizes of %zu axes for %zu", count,
                   n->count);
}

/* The size that an axis gets; a batch that is open stays. */
static bool set_size(struct call *call, int axis, double size, struct shape *shape)
{
    if (shape->dims[axis] == OPEN_BATCH)
        return true;
    if (!(size >= 1 && size <= 16384))
        return op_fail(call, GLCNN_MALFORMED_DATA, "axis %d would have %g pixels", axis, size);
    shape->dims[axis] = (int64_t)size;
    return true;
}

static bool set_axis(struct call *call, const struct numbers *n, size_t i, struct resizing *r,
                     struct shape *shape)
{
    const int axis = n->axis[i];
    const double number = number_at(n, i), before = (double)shape->dims[axis];
    if (before == OPEN_BATCH && n->are_scales && number != 1)
        return op_unsupported(call, "it resizes the batch by %g", number);
    if (before != OPEN_BATCH)
        r->scale[axis] = n->are_scales ? number : number / before;
    return set_size(call, axis, n->are_scales ? floor(number * before) : number, shape);
}

/* One scale for all axes, the least or the largest; sizes follow, a half rounded up. */
static bool keep_aspect(struct call *call, const struct numbers *n, const struct shape *from,
                        struct resizing *r, struct shape *shape)
{
    bool not_larger = attribute_is(call, "keep_aspect_ratio_policy", "not_larger", "stretch");
    double scale = n->count ? r->scale[n->axis[0]] : 1;
    if (n->are_scales || attribute_is(call, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return true;
    if (!not_larger && !attribute_is(call, "keep_aspect_ratio_policy", "not_smaller", "stretch"))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its keep_aspect_ratio_policy is unknown");
    r->uses_scales = true;
    for (size_t i = 1; i < n->count; i++)
        scale = not_larger ? fmin(scale, r->scale[n->axis[i]]) : fmax(scale, r->scale[n->axis[i]]);
    for (size_t i = 0; i < n->count; i++) {
        const int axis = n->axis[i];
        r->scale[axis] = scale;
        if (from->dims[axis] == OPEN_BATCH && scale != 1)
            return op_unsupported(call, "it resizes the batch by %g", scale);
        if (!set_size(call, axis, floor(scale * (double)from->dims[axis] + 0.5), shape))
            return false;
    }
    return true;
}

static bool read_scales(struct call *call, const struct value *x, struct resizing *r,
                        struct shape *shape)
{
    struct numbers n;
    if (!read_numbers(call, &x->shape, &n))
        return false;
    *shape = x->shape;
    r->uses_scales = n.are_scales;
    for (size_t i = 0; i < GLCNN_ONNX_RANK; i++)
        r->scale[i] = 1;
    for (size_t i = 0; i < n.count; i++)
        if (!set_axis(call, &n, i, r, shape))
            return false;
    return keep_aspect(call, &n, &x->shape, r, shape);
}

/* A number for the first of the names that the attribute has; -1, with the message: none of them. */
static int choice(struct call *call, const char *attribute, const char *const *names, size_t count,
                  const char *otherwise)
{
    const Onnx__AttributeProto *a = attribute_find(call, attribute);
    for (size_t i = 0; i < count; i++)
        if (attribute_is(call, attribute, names[i], otherwise))
            return (int)i;
    op_unsupported(call, "%s is \"%.*s\", which is not read", attribute,
                   a->s.len < 40 ? (int)a->s.len : 40, (const char *)a->s.data);
    return -1;
}

enum { SYMMETRIC = 4 };
enum mode { NEAREST, LINEAR, BILINEAR, CUBIC, MODES };

/* Names in the order of the modes, glcnn_resize_position and glcnn_resize_rounding. */
static bool read_modes(struct call *call, enum mode *found, struct glcnn_resize_parameters *p)
{
    static const char *const modes[MODES] = {"nearest", "linear", "bilinear", "cubic"};
    static const char *const positions[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                            "align_corners", "half_pixel_symmetric"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    bool is_old = call->reader->opset < 11 || strcmp(call->row->name, "Upsample") == 0;
    int mode = choice(call, "mode", modes, MODES, "nearest");
    int position = choice(call, "coordinate_transformation_mode", positions, 5,
                          is_old ? "asymmetric" : "half_pixel");
    int rounding =
        choice(call, "nearest_mode", roundings, 4, is_old ? "floor" : "round_prefer_floor");
    if (mode < 0 || position < 0 || rounding < 0)
        return false;
    *found = mode == BILINEAR ? LINEAR : (enum mode)mode;
    p->position =
        position == SYMMETRIC ? GLCNN_RESIZE_POSITION_HALF_PIXEL : (glcnn_resize_position)position;
    p->rounding = (glcnn_resize_rounding)rounding;
    return true;
}

/* What is the same as another mode, or does nothing, only for some scales. */
static bool check_scales(struct call *call, const struct glcnn_resize_parameters *p,
                         const struct resizing *r, const struct shape *from, const struct shape *to)
{
    const bool is_whole =
        p->position == GLCNN_RESIZE_POSITION_ALIGN_CORNERS ||
        attribute_is(call, "coordinate_transformation_mode", "half_pixel_symmetric", "");
    for (uint32_t i = 0; i < from->rank; i++) {
        const double exact = r->scale[i] * (double)from->dims[i];
        if (is_whole && fabs(exact - (double)to->dims[i]) > 1e-3)
            return op_unsupported(call,
                                  "align_corners or half_pixel_symmetric of a part of a "
                                  "pixel, axis %u by %g",
                                  i, r->scale[i]);
        if (attribute_int(call, "antialias", 0) && r->scale[i] < 1)
            return op_unsupported(call,
                                  "antialias is 1 where axis %u shrinks, by %g; without it "
                                  "this is read",
                                  i, r->scale[i]);
    }
    return true;
}

/* ---- Products ---- */

/* How one axis is resized: each number of the result is a sum of neighbours in the source. */
struct axis_resizing {
    int64_t from, to;
    double scale;
    glcnn_resize_position position;
    enum mode mode;
    double a; /* of the cubic */
    bool excludes_outside;
};

/* The place in the source of number i of the result. */
static double source_place(const struct axis_resizing *x, int64_t i)
{
    if (x->position == GLCNN_RESIZE_POSITION_ASYMMETRIC)
        return (double)i / x->scale;
    if (x->position == GLCNN_RESIZE_POSITION_ALIGN_CORNERS)
        return x->to > 1 ? (double)i * (double)(x->from - 1) / (double)(x->to - 1) : 0;
    if (x->position == GLCNN_RESIZE_POSITION_PYTORCH_HALF_PIXEL && x->to == 1)
        return 0;
    return ((double)i + 0.5) / x->scale - 0.5;
}

/* The weight of a neighbour that is so far away: Keys' cubic, and the hat of the linear mode. */
static double neighbour_weight(const struct axis_resizing *x, double distance)
{
    const double d = fabs(distance), a = x->a;
    if (x->mode == LINEAR)
        return d < 1 ? 1 - d : 0;
    return d < 1   ? ((a + 2) * d - (a + 3)) * d * d + 1
           : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                   : 0;
}

/* Number i of the result as a row of the matrix. A neighbour outside is the number at the edge, or left out
 * where the others' weights then are made to add up to 1. */
static void resize_row(const struct axis_resizing *x, int64_t i, float *row)
{
    const double place = source_place(x, i);
    const int64_t reach = x->mode == LINEAR ? 1 : 2, first = (int64_t)floor(place) - reach + 1;
    double sum = 0;
    for (int64_t k = first; k < first + 2 * reach; k++)
        if (!x->excludes_outside || (k >= 0 && k < x->from))
            sum += neighbour_weight(x, place - (double)k);
    for (int64_t k = first; k < first + 2 * reach; k++) {
        const double weight = neighbour_weight(x, place - (double)k) / sum;
        const int64_t edge = k < 0 ? 0 : k < x->from ? k : x->from - 1;
        if (edge == k || !x->excludes_outside)
            row[edge] += (float)weight;
    }
}

/* An axis after the other, as a product with a matrix that the file's numbers give. */
static bool lower_products(struct call *call, const struct value *x, const struct resizing *r,
                           const struct shape *to, struct axis_resizing axis)
{
    struct image image = x->image;
    struct shape shape = x->shape;
    bool is_resized = false;
    axis.a = (double)attribute_float(call, "cubic_coeff_a", -0.75f);
    axis.excludes_outside = attribute_int(call, "exclude_outside", 0);
    for (int i = 0; i < (int)to->rank; i++) {
        axis.from = shape.dims[i];
        axis.to = to->dims[i];
        axis.scale = r->scale[i];
        if (axis.from == axis.to && axis.scale == 1)
            continue;
        struct constant *matrix = constant_make_filled(
            call->reader, &(struct shape){.rank = 2, .dims = {axis.to, axis.from}}, false);
        for (int64_t row = 0; matrix && row < axis.to; row++)
            resize_row(&axis, row, matrix->floats + row * axis.from);
        if (!matrix ||
            !op_multiply_axis(call, &image, &shape, i, matrix, is_resized ? NULL : "first"))
            return false;
        is_resized = true;
    }
    return is_resized ? op_give(call, 0, &shape, &image) : op_give(call, 0, &x->shape, &x->image);
}

/* ---- The operator ---- */

static bool lower_resize(struct call *call)
{
    struct value *x;
    struct shape shape;
    struct resizing r;
    struct glcnn_resize_parameters p = {0};
    enum mode mode;
    if (!read_modes(call, &mode, &p) || !op_image(call, 0, &x) ||
        !read_scales(call, x, &r, &shape) || !check_scales(call, &p, &r, &x->shape, &shape))
        return false;
    if (mode == CUBIC)
        return lower_products(call, x, &r, &shape,
                              (struct axis_resizing){.mode = mode, .position = p.position});
    struct image result = place_custom(call->reader, &shape);
    if (!place_input(call, 0, &x))
        return false;
    const bool is_of_pixels = result.extent[C] == x->image.extent[C] &&
                              result.extent[N] == x->image.extent[N] && shape.rank <= 4;
    if (!is_of_pixels && mode == LINEAR)
        return lower_products(call, x, &r, &shape,
                              (struct axis_resizing){.mode = mode, .position = p.position});
    if (!is_of_pixels)
        return op_unsupported(call, "it resizes other axes than rows and columns");
    uint32_t last = shape.rank - 1;
    p.resized_width = (uint32_t)result.extent[W];
    p.resized_height = (uint32_t)result.extent[H];
    p.scale_x = r.uses_scales ? (float)r.scale[last] : 0;
    p.scale_y = r.uses_scales && last > 0 && shape.dims[last - 1] == result.extent[H]
                    ? (float)r.scale[last - 1]
                    : 0;
    glcnn_image_node *node = mode == LINEAR ? glcnn_resize_linear_node(x->image.node, &p)
                                            : glcnn_resize_nearest_node(x->image.node, &p);
    return op_made(call, node, NULL) && place_give(call, 0, &shape, node);
}

const struct operator_row onnx_resizing[] = {
    {"Resize", lower_resize, NULL, 0, NULL}, {"Upsample", lower_resize, NULL, 0, NULL}, {0}};
