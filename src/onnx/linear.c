/* Products with matrices that are known: fully connected layers, and convolutions of 1x1 pixels. */
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/matrix_multiplication.h>

#include "onnx/onnx.h"

/* A product: weights [inputs][outputs], or the other way round. */
struct product {
    struct value *x, *weights;
    int64_t inputs, outputs;
    bool is_transposed; /* [outputs][inputs] */
    bool is_biased;
    float scale;
};

/* Lays the weights' axis of inputs out as the axes of the image follow one another. */
static struct layout weights_layout(const struct product *p, const struct image *image)
{
    const int64_t stride[AXES] = {
        [C] = 1, [W] = image->extent[C], [H] = image->extent[C] * image->extent[W]};
    struct layout layout = {.scale = p->scale, .output_dimension = p->is_transposed ? 0 : 1};
    if (p->is_transposed) {
        layout.size[0] = p->outputs;
        layout.stride[0] = p->inputs;
        layout.axes = 1;
    }
    for (size_t i = 0; i < AXES; i++) {
        uint8_t axis = image->order[i];
        if (axis == N)
            continue;
        layout.size[layout.axes] = image->extent[axis];
        layout.stride[layout.axes++] = stride[axis];
    }
    layout.output_axis = p->is_transposed ? 0 : (int32_t)layout.axes;
    if (!p->is_transposed) {
        layout.size[layout.axes] = p->outputs;
        layout.stride[layout.axes++] = p->inputs;
    }
    return layout;
}

static bool connect(struct call *call, const struct product *p, const struct image *image,
                    bool is_whole, glcnn_image_node **node)
{
    struct layout layout = weights_layout(p, image);
    const struct glcnn_convolution_descriptor descriptor = {
        .kernel_width = is_whole ? (uint32_t)image->extent[W] : 1,
        .kernel_height = is_whole ? (uint32_t)image->extent[H] : 1,
        .input_feature_channels = (uint32_t)image->extent[C],
        .output_feature_channels = (uint32_t)p->outputs,
        .without_biases = !p->is_biased,
    };
    *node = is_whole ? glcnn_fully_connected_node(image->node, &descriptor, NULL)
                     : glcnn_convolution_node(image->node, &descriptor, NULL);
    return op_made(call, *node, NULL) &&
           vector_set(call, *node, "weights", (size_t)(p->inputs * p->outputs), p->weights,
                      &layout);
}

/* Every image of the batch is one row: all its numbers are inputs, wherever they lie. */
static bool is_whole_image(const struct product *p)
{
    const struct image *x = &p->x->image;
    return p->x->shape.rank == 2 && x->extent[N] == p->x->shape.dims[0] &&
           (x->order[0] == N || x->extent[N] == 1) && x->extent[W] <= 65535 &&
           x->extent[H] <= 65535;
}

static bool multiply(struct call *call, const struct product *p, struct image *result,
                     struct shape *shape)
{
    const struct image *x = &p->x->image;
    int last = (int)p->x->shape.rank - 1;
    *shape = p->x->shape;
    shape->dims[last] = p->outputs;
    if (is_whole_image(p) && !call->reader->options.without_batch) {
        *result = place_custom(call->reader, shape);
        return connect(call, p, x, true, &result->node);
    }
    struct image pixels = *x;
    if (!place_channels(call, &pixels, &p->x->shape, last, last + 1))
        return false;
    struct image channels = {pixels.node, {1, pixels.extent[C], 1, 1}, {N, C, H, W}};
    if (!connect(call, p, &channels, false, &result->node))
        return false;
    glcnn_image_node *node = result->node;
    *result = pixels;
    result->node = node;
    result->extent[C] = p->outputs;
    return true;
}

static bool read_product(struct call *call, struct product *p)
{
    const struct constant *w;
    char first[96], second[96];
    if (!op_image(call, 0, &p->x) || !op_constant(call, 1, true, &w))
        return false;
    p->weights = op_input(call, 1);
    p->inputs = p->weights->shape.dims[p->is_transposed];
    p->outputs = p->weights->shape.dims[!p->is_transposed];
    uint32_t rank = p->x->shape.rank;
    return (w->floats && w->shape.rank == 2 && w->count && rank >= 1 &&
            p->x->shape.dims[rank - 1] == p->inputs) ||
           op_unsupported(call, "a matrix of %s does not multiply a tensor of %s",
                          shape_text(&w->shape, first), shape_text(&p->x->shape, second));
}

/* ---- Products of two images ---- */

/* The last two axes are rows and columns, what is before them channels. */
static struct image matrices(const struct reader *reader, const struct shape *shape)
{
    struct image image = {NULL, {1, 1, 1, 1}, {N, C, H, W}};
    for (uint32_t i = 0; i < shape->rank; i++) {
        bool is_batch = i == 0 && !reader->options.without_batch;
        uint32_t back = shape->rank - 1 - i;
        image.extent[is_batch ? N : back == 0 ? W : back == 1 ? H : C] *= shape->dims[i];
    }
    return image;
}

static bool multiply_images(struct call *call, struct value *x, struct value *y)
{
    struct shape shape = x->shape, like = y->shape;
    char first[96], second[96];
    uint32_t last = shape.rank - 1;
    bool fits = shape.rank >= 2 && like.rank == shape.rank &&
                shape.dims[last] == like.dims[last - 1] &&
                (shape.rank > 2 || call->reader->options.without_batch);
    for (uint32_t i = 0; fits && i + 2 < shape.rank; i++)
        fits = shape.dims[i] == like.dims[i];
    if (!fits)
        return op_unsupported(call, "images of %s and %s are multiplied", shape_text(&shape, first),
                              shape_text(&like, second));
    struct image wanted = matrices(call->reader, &shape), other = matrices(call->reader, &like);
    if (!place_move(call, &x->image, &wanted) || !place_move(call, &y->image, &other))
        return false;
    shape.dims[last] = like.dims[last];
    struct image result = matrices(call->reader, &shape);
    result.node = glcnn_matrix_multiplication_node(x->image.node, y->image.node);
    return op_made(call, result.node, NULL) && op_give(call, 0, &shape, &result);
}

static bool lower_matmul(struct call *call)
{
    struct value *x = op_input(call, 0), *y = op_input(call, 1);
    if (x && y && x->image.node && y->image.node)
        return multiply_images(call, x, y);
    struct product p = {.scale = 1};
    struct image result;
    struct shape shape;
    return read_product(call, &p) && multiply(call, &p, &result, &shape) &&
           op_give(call, 0, &shape, &result);
}

/* ---- Gemm ---- */

/* One number becomes as many as there are outputs, which train apart. */
static bool repeat(struct call *call, struct value *value, int64_t outputs)
{
    const struct shape shape = {.rank = 1, .dims = {outputs}};
    const struct constant *one = value->constant;
    value->constant = constant_make(call->reader, &shape, false);
    value->shape = shape;
    for (int64_t i = 0; value->constant && i < outputs; i++)
        value->constant->floats[i] = (float)constant_number(one, 0);
    return value->constant;
}

static bool set_biases(struct call *call, glcnn_image_node *node, const struct product *p)
{
    const struct constant *c;
    float beta = attribute_float(call, "beta", 1);
    if (!p->is_biased)
        return true;
    if (!op_constant(call, 2, true, &c))
        return false;
    struct value value = *op_input(call, 2);
    if (c->count == 1 && p->outputs != 1 && !repeat(call, &value, p->outputs))
        return false;
    struct layout layout = layout_plain((size_t)p->outputs, true);
    if (value.constant->count != (size_t)p->outputs)
        return op_unsupported(call, "C has %zu numbers; expected one, or one for each output",
                              c->count);
    layout.scale = beta;
    layout.output_dimension = (int32_t)value.shape.rank - 1;
    return vector_set(call, node, "biases", (size_t)p->outputs, &value, &layout);
}

static bool lower_gemm(struct call *call)
{
    struct product p = {.scale = attribute_float(call, "alpha", 1),
                        .is_transposed = attribute_int(call, "transB", 0) != 0,
                        .is_biased = op_input(call, 2) && attribute_float(call, "beta", 1) != 0};
    struct image result;
    struct shape shape;
    if (attribute_int(call, "transA", 0) || p.scale == 0)
        return op_unsupported(call, "transA, or an alpha of 0, is not supported");
    return read_product(call, &p) && multiply(call, &p, &result, &shape) &&
           set_biases(call, result.node, &p) && op_give(call, 0, &shape, &result);
}

const struct operator_row onnx_linear[] = {
    {"MatMul", lower_matmul, NULL, 0, NULL}, {"Gemm", lower_gemm, NULL, 0, NULL}, {0}};
