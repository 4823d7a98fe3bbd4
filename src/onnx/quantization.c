/* Quantised numbers, as float32 with the rounding: what infers is the same, what trains goes straight
 * through the roundings of QuantizeLinear, and weights that were quantised train as reals. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/arithmetic.h>
#include <glcnn/kernels/neuron.h>

#include "onnx/fold.h"

#define TYPE(NAME) ONNX__TENSOR_PROTO__DATA_TYPE__##NAME

/* ---- Scales ---- */

/* Inputs 1 and 2: a scale and a zero point for all numbers, for each of an axis, or for each block of
 * it. */
struct scales {
    const struct constant *scale, *zero; /* zero NULL: 0 */
    int axis;
    int64_t block;
};

static bool read_scales(struct call *call, const struct shape *shape, struct scales *s)
{
    const int64_t axis = attribute_int(call, "axis", 1);
    *s = (struct scales){.block = attribute_int(call, "block_size", 0)};
    if (!op_constant(call, 1, true, &s->scale) || !op_constant(call, 2, false, &s->zero))
        return false;
    const struct shape *own = &s->scale->shape;
    s->block = s->scale->count == 1 ? 0 : s->block;
    s->axis = shape_axis(shape, axis);
    bool fits = s->scale->count == 1 || s->axis >= 0;
    if (s->scale->count != 1 && s->block > 0)
        fits = fits && own->rank == shape->rank;
    else if (s->scale->count != 1)
        fits = fits && own->rank == 1 && own->dims[0] == shape->dims[s->axis];
    for (uint32_t i = 0; fits && s->scale->count != 1 && s->block > 0 && i < own->rank; i++)
        fits = own->dims[i] ==
               ((int)i == s->axis ? (shape->dims[i] + s->block - 1) / s->block : shape->dims[i]);
    fits = fits && (!s->zero || s->zero->count == 1 || s->scale->count == 1 ||
                    s->zero->count == s->scale->count);
    if (fits && s->zero && s->zero->count > s->scale->count)
        fits = s->axis >= 0 && s->zero->shape.rank == 1 &&
               s->zero->shape.dims[0] == shape->dims[s->axis];
    return fits || op_fail(call, GLCNN_MALFORMED_DATA,
                           "its scales or zero points do not fit its "
                           "input");
}

/* Which of `count` scales an element has. */
static size_t scale_of(const struct scales *s, size_t count, const struct walk *w)
{
    if (count == 1)
        return 0;
    if (s->block <= 0)
        return (size_t)w->index[s->axis];
    size_t place = 0;
    for (uint32_t i = 0; i < w->rank; i++)
        place = place * (size_t)s->scale->shape.dims[i] +
                (size_t)((int)i == s->axis ? w->index[i] / s->block : w->index[i]);
    return place;
}

static double zero_of(const struct scales *s, const struct walk *w)
{
    return s->zero ? constant_number(s->zero, scale_of(s, s->zero->count, w)) : 0;
}

/* The one scale and zero point of an image. */
static bool single_scale(struct call *call, const struct shape *shape, double *scale, double *zero)
{
    struct scales s;
    if (!read_scales(call, shape, &s))
        return false;
    if (s.scale->count != 1 || (s.zero && s.zero->count != 1))
        return op_unsupported(call, "an image has %zu scales; one is read", s.scale->count);
    *scale = constant_number(s.scale, 0);
    *zero = s.zero ? constant_number(s.zero, 0) : 0;
    return (*scale > 0 && isfinite(*scale)) ||
           op_fail(call, GLCNN_MALFORMED_DATA, "its scale is %g; expected one above 0", *scale);
}

/* ---- Quantised types ---- */

static const struct range {
    int type;
    double least, most;
} ranges[] = {
    {TYPE(UINT8), 0, 255},
    {TYPE(INT8), -128, 127},
    {TYPE(UINT16), 0, 65535},
    {TYPE(INT16), -32768, 32767},
};

/* As the zero point, or the attribute, says. NULL, with the message: it is not read. */
static const struct range *find_range(struct call *call)
{
    const struct value *zero = op_input(call, 2);
    int type = (int)attribute_int(call, "output_dtype", 0);
    if (!type)
        type = zero && zero->constant ? zero->constant->type : TYPE(UINT8);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].type == type)
            return &ranges[i];
    op_unsupported(call, "it makes numbers of type %d; 8 and 16 bits are read", type);
    return NULL;
}

/* ---- QuantizeLinear ---- */

static bool fold_quantize(struct call *call)
{
    const struct constant *x;
    struct scales s;
    if (!op_constant(call, 0, true, &x) || !read_scales(call, &x->shape, &s))
        return false;
    const struct range *range = find_range(call);
    struct constant *y = range ? constant_make(call->reader, &x->shape, true) : NULL;
    if (!y)
        return false;
    struct walk w = walk_through(&x->shape);
    y->type = range->type;
    for (size_t i = 0; i < y->count; i++, walk_next(&w)) {
        const double scale = constant_number(s.scale, scale_of(&s, s.scale->count, &w));
        const float share = (float)(constant_number(x, i) / scale);
        const double number = nearbyint((double)share) + zero_of(&s, &w);
        constant_set(y, i, fmin(fmax(number, range->least), range->most));
    }
    return op_give_constant(call, 0, y);
}

static bool add_neuron(struct call *call, struct image *image,
                       struct glcnn_neuron_descriptor neuron, const char *suffix)
{
    image->node = glcnn_neuron_node(image->node, &neuron);
    return op_made(call, image->node, suffix);
}

static bool give_whole(struct call *call, const struct value *x, const struct image *image,
                       const struct range *range)
{
    struct value *made = op_output(call, 0);
    if (!op_give(call, 0, &x->shape, image))
        return false;
    if (made)
        made->type = range->type;
    return true;
}

static bool lower_quantize(struct call *call)
{
    struct value *x;
    double scale, zero;
    if (!op_image(call, 0, &x) || !single_scale(call, &x->shape, &scale, &zero))
        return false;
    const struct range *range = find_range(call);
    struct image image = x->image;
    const struct glcnn_neuron_descriptor share = {GLCNN_NEURON_TYPE_LINEAR, (float)(1 / scale), 0,
                                                  0},
                                         shifted = {GLCNN_NEURON_TYPE_LINEAR, 1, (float)zero, 0};
    if (!range)
        return false;
    const struct glcnn_neuron_descriptor rounded = {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 1,
                                                    (float)(range->least - zero),
                                                    (float)(range->most - zero)};
    return add_neuron(call, &image, share, "share") &&
           add_neuron(call, &image, rounded, zero == 0 ? NULL : "round") &&
           (zero == 0 || add_neuron(call, &image, shifted, NULL)) &&
           give_whole(call, x, &image, range);
}

/* ---- DequantizeLinear ---- */

static bool fold_dequantize(struct call *call)
{
    const struct constant *x;
    struct scales s;
    if (!op_constant(call, 0, true, &x) || !read_scales(call, &x->shape, &s))
        return false;
    struct constant *y = constant_make(call->reader, &x->shape, false);
    struct walk w = walk_through(&x->shape);
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w))
        constant_set(y, i,
                     (constant_number(x, i) - zero_of(&s, &w)) *
                         constant_number(s.scale, scale_of(&s, s.scale->count, &w)));
    return op_give_constant(call, 0, y);
}

static bool lower_dequantize(struct call *call)
{
    struct value *x;
    double scale, zero;
    if (!op_image(call, 0, &x) || !single_scale(call, &x->shape, &scale, &zero))
        return false;
    struct image image = x->image;
    const struct glcnn_neuron_descriptor linear = {GLCNN_NEURON_TYPE_LINEAR, (float)scale,
                                                   (float)(-zero * scale), 0};
    return add_neuron(call, &image, linear, NULL) && op_give(call, 0, &x->shape, &image);
}

/* ---- DynamicQuantizeLinear ---- */

/* The largest number of an image, or the least, and 0: an image of 1x1 pixels and one channel. */
static glcnn_image_node *find_bound(struct call *call, glcnn_image_node *node, bool is_largest)
{
    static const char *const kernels[][3] = {
        {"reduce_feature_channels_min", "reduce_row_min", "reduce_column_min"},
        {"reduce_feature_channels_max", "reduce_row_max", "reduce_column_max"}};
    const float most = 3.4e38f;
    for (size_t i = 0; i < 3; i++) {
        node = glcnn_node(node, kernels[is_largest][i], NULL);
        if (!op_made(call, node, is_largest ? "most" : "least"))
            return NULL;
    }
    node = glcnn_neuron_node(node, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_CLIP,
                                                                     is_largest ? 0 : -most,
                                                                     is_largest ? most : 0, 0});
    return op_made(call, node, "bound") ? node : NULL;
}

/* A kernel of an image and one number of each image. */
static glcnn_image_node *join(struct call *call, glcnn_image_node *x, glcnn_image_node *number,
                              const char *kernel, const char *suffix)
{
    glcnn_image_node *node = glcnn_node_binary(x, number, kernel, NULL);
    if (!op_made(call, node, suffix))
        return NULL;
    struct glcnn_addressing *p =
        glcnn_kernel_properties(glcnn_filter_node_kernel(glcnn_image_node_filter(node)));
    p->secondary.stride_in_pixels_x = p->secondary.stride_in_pixels_y = 0;
    p->secondary.stride_in_feature_channels = 0;
    return node;
}

static glcnn_image_node *apply(struct call *call, glcnn_image_node *x, glcnn_neuron_type type,
                               float a, float b, const char *suffix)
{
    glcnn_image_node *node =
        x ? glcnn_neuron_node(x, &(struct glcnn_neuron_descriptor){type, a, b, 0}) : NULL;
    return node && op_made(call, node, suffix) ? node : NULL;
}

/* Outputs 1 and 2, of one number for each image. */
static bool give_number(struct call *call, size_t output, const struct value *x,
                        glcnn_image_node *node, int type)
{
    struct shape shape = x->shape;
    struct value *made = op_output(call, output);
    for (uint32_t i = !call->reader->options.without_batch; i < shape.rank; i++)
        shape.dims[i] = 1;
    struct image image = place_custom(call->reader, &shape);
    image.node = node;
    if (!op_give(call, output, &shape, &image))
        return false;
    if (made)
        made->type = type;
    return true;
}

/* Scale and zero point of each image, not of the batch: the images of a batch are independent.
 *   scale = (most - least) / 255   zero = round(-least / scale)   y = round(x / scale) + zero */
static bool lower_dynamic(struct call *call)
{
    struct value *x;
    if (!op_image(call, 0, &x))
        return false;
    const int64_t images = call->reader->options.without_batch ? 1
                           : x->shape.rank                     ? x->shape.dims[0]
                                                               : 0;
    if (images != x->image.extent[N])
        return op_unsupported(call, "its input has no axis of a batch, or several");
    glcnn_image_node *source = x->image.node, *most = find_bound(call, source, true);
    glcnn_image_node *least = most ? find_bound(call, source, false) : NULL;
    glcnn_image_node *reach = least ? join(call, most, least, "subtract", "reach") : NULL;
    glcnn_image_node *scale = apply(call, reach, GLCNN_NEURON_TYPE_LINEAR, 1 / 255.0f, 0, "scale");
    scale = apply(call, scale, GLCNN_NEURON_TYPE_CLIP, 1e-30f, 3.4e38f, "scale"); /* of zeros */
    glcnn_image_node *zero = scale ? join(call, least, scale, "divide", "zero") : NULL;
    zero = apply(call, zero, GLCNN_NEURON_TYPE_LINEAR, -1, 0, "zero");
    zero = apply(call, zero, GLCNN_NEURON_TYPE_CLIP, 0, 255, "zero");
    zero = apply(call, zero, GLCNN_NEURON_TYPE_ROUND, 0, 0, "zero");
    glcnn_image_node *y = zero ? join(call, source, scale, "divide", "share") : NULL;
    y = apply(call, y, GLCNN_NEURON_TYPE_ROUND, 0, 0, "round");
    y = y ? join(call, y, zero, "add", "shift") : NULL;
    y = apply(call, y, GLCNN_NEURON_TYPE_CLIP, 0, 255, NULL);
    struct image image = x->image;
    image.node = y;
    return y && give_whole(call, x, &image, &ranges[0]) && give_number(call, 1, x, scale, 0) &&
           give_number(call, 2, x, zero, TYPE(UINT8));
}

const struct operator_row onnx_quantization[] = {
    {"QuantizeLinear", lower_quantize, fold_quantize, 0, NULL},
    {"DequantizeLinear", lower_dequantize, fold_dequantize, 0, NULL},
    {"DynamicQuantizeLinear", lower_dynamic, NULL, 0, NULL},
    {"ConvInteger", NULL, NULL, 0, NULL}, /* of other nodes: expansion.c */
    {"MatMulInteger", NULL, NULL, 0, NULL},
    {"QLinearConv", NULL, NULL, 0, NULL},
    {"QLinearMatMul", NULL, NULL, 0, NULL},
    {0}};
