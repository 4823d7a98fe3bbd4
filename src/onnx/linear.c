/* Products with matrices that are known: fully connected layers, and convolutions of 1x1 pixels. */
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/matrix_multiplication.h>

#include "onnx/operand.h"

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
    struct layout layout = {.scale = p->scale, .output_dimension = p->is_transposed ? 0 : 1};
    if (p->is_transposed) {
        layout.size[0] = p->outputs;
        layout.stride[0] = p->inputs;
        layout.axes = 1;
    }
    view_lay_out(image, &layout); /* which has room: WEIGHT_DIGITS */
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

enum { WEIGHT_DIGITS = GLCNN_ONNX_RANK - 1 }; /* of an image, beside the axis of outputs */

/* Every image of the batch is one row: all its numbers are inputs, wherever they lie. */
static bool is_whole_image(const struct product *p)
{
    const struct image *x = &p->x->image;
    struct batch batch = view_batch(x);
    for (uint32_t i = 0; i < x->digits; i++)
        if (x->digit[i].axis == AXES)
            return false;
    return p->x->shape.rank == 2 && x->extent[N] == p->x->shape.dims[0] &&
           (batch.after == p->inputs || batch.images == 1) && x->digits <= WEIGHT_DIGITS &&
           x->extent[W] <= 65535 && x->extent[H] <= 65535;
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
    *result = *x;
    if (!place_channels(call, result, &p->x->shape, last, last + 1))
        return false;
    struct image channels = {.node = result->node, .extent = {1, p->inputs, 1, 1}};
    if (p->inputs > 1)
        channels.digit[channels.digits++] = (struct digit){C, p->inputs, 1};
    place_resize(result, &p->x->shape, last, last + 1, C, p->outputs);
    return connect(call, p, &channels, false, &result->node);
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

bool op_multiply_axis(struct call *call, struct image *image, struct shape *shape, int axis,
                      const struct constant *matrix, const char *suffix)
{
    const int64_t outputs = matrix->shape.dims[0], inputs = matrix->shape.dims[1];
    const struct glcnn_convolution_descriptor descriptor = {
        .kernel_width = 1,
        .kernel_height = 1,
        .input_feature_channels = (uint32_t)inputs,
        .output_feature_channels = (uint32_t)outputs,
        .without_biases = true,
    };
    const struct value value = {.name = call->node->output[0]};
    const struct layout layout = layout_plain(matrix->count, false);
    if (!place_channels(call, image, shape, axis, axis + 1))
        return false;
    image->node = glcnn_convolution_node(image->node, &descriptor, NULL);
    if (!op_made(call, image->node, suffix))
        return false;
    op_freeze(image->node);
    place_resize(image, shape, axis, axis + 1, C, outputs);
    shape->dims[axis] = outputs;
    return vector_put(call, image->node, "weights", matrix->count, &value, matrix, &layout);
}

/* ---- Products of two images ---- */

/* The last two axes are rows and columns, what is before them channels. */
static void matrix_axes(uint32_t rank, uint8_t axis[GLCNN_ONNX_RANK])
{
    for (uint32_t i = 0; i < rank; i++)
        axis[i] = i + 1 == rank ? W : i + 2 == rank ? H : C;
}

static bool place_matrices(struct call *call, struct operand *operand, struct batch batch)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    struct image wanted;
    matrix_axes(operand->shape.rank, axis);
    return place_arranged(call, &operand->shape, batch, axis, &wanted) &&
           operand_place(call, operand, &wanted);
}

/* Axes that NumPy's rule for matmul puts to a vector are marked, to be dropped of the result. */
static void widen_vectors(struct operand *x, struct operand *y, bool drop[2])
{
    drop[0] = x->shape.rank == 1;
    drop[1] = y->shape.rank == 1;
    if (drop[0])
        x->shape = shape_widened(&x->shape, 2);
    if (drop[1])
        y->shape = (struct shape){.rank = 2, .dims = {y->shape.dims[0], 1}};
    uint32_t rank = x->shape.rank > y->shape.rank ? x->shape.rank : y->shape.rank;
    x->shape = shape_widened(&x->shape, rank);
    y->shape = shape_widened(&y->shape, rank);
}

/* The result's shape, and those of both with as many matrices. */
static bool product_shapes(const struct operand *x, const struct operand *y, struct shape *of_x,
                           struct shape *of_y, struct shape *result)
{
    const uint32_t last = x->shape.rank - 1;
    struct shape a = x->shape, b = y->shape;
    a.dims[last - 1] = a.dims[last] = b.dims[last - 1] = b.dims[last] = 1;
    if (x->shape.dims[last] != y->shape.dims[last - 1] || !shape_broadcast(&a, &b, result))
        return false;
    *of_x = *of_y = *result;
    of_x->dims[last - 1] = result->dims[last - 1] = x->shape.dims[last - 1];
    of_y->dims[last] = result->dims[last] = y->shape.dims[last];
    of_x->dims[last] = of_y->dims[last - 1] = x->shape.dims[last];
    return true;
}

/* The batch of one of them is that of the product; rows of the first and columns of the second stay. */
static struct batch product_batch(const struct reader *reader, const struct operand *x,
                                  const struct operand *y, const struct shape *shape)
{
    const struct batch of_x = view_batch(&x->image), of_y = view_batch(&y->image);
    if (x->image.node && of_x.after)
        return view_broadcast_batch(of_x, &x->shape, shape);
    if (y->image.node && of_y.after)
        return view_broadcast_batch(of_y, &y->shape, shape);
    return (struct batch){reader->images, 0};
}

static bool give_product(struct call *call, const struct shape *wide, const struct image *image,
                         const bool drop[2])
{
    struct shape shape = {0};
    for (uint32_t i = 0; i < wide->rank; i++)
        if (!(i + 2 == wide->rank && drop[0]) && !(i + 1 == wide->rank && drop[1]))
            shape.dims[shape.rank++] = wide->dims[i];
    return op_give(call, 0, &shape, image);
}

/* Where the batch is among the matrices, the rows of the first or the columns of the second; what has it in
 * the axis along which products are summed has it not. */
static void part_batch(struct batch batch, const struct shape *shape, struct batch *of_x,
                       struct batch *of_y)
{
    const uint32_t last = shape->rank - 1;
    const bool in_columns = batch.after < shape->dims[last];
    const bool in_rows = !in_columns && batch.after < shape->dims[last] * shape->dims[last - 1];
    if (in_columns)
        of_x->after = 0;
    if (in_rows)
        of_y->after = 0;
}

/* Is the batch in the axis along which products are summed? */
static bool sums_batch(const struct operand *x, const struct operand *y)
{
    const uint32_t last = x->shape.rank - 1;
    const int64_t of_x = view_batch(&x->image).after, of_y = view_batch(&y->image).after;
    return (x->image.node && of_x && of_x < x->shape.dims[last]) ||
           (y->image.node && of_y >= y->shape.dims[last] &&
            of_y < y->shape.dims[last] * y->shape.dims[last - 1]);
}

bool op_multiply(struct call *call, struct operand *x, struct operand *y, struct operand *product)
{
    struct shape of_x, of_y;
    char one[96], other[96];
    uint8_t axis[GLCNN_ONNX_RANK];
    if (!product_shapes(x, y, &of_x, &of_y, &product->shape))
        return op_unsupported(call, "tensors of %s and %s are multiplied",
                              shape_text(&x->shape, one), shape_text(&y->shape, other));
    if (!op_shape(call, &product->shape) || !op_shape(call, &of_x) || !op_shape(call, &of_y))
        return false;
    if (sums_batch(x, y))
        return op_unsupported(call, "it sums over the batch; each image must be independent");
    const struct shape *shape = &product->shape;
    const struct batch batch = product_batch(call->reader, x, y, shape);
    struct batch x_batch = view_broadcast_batch(batch, shape, &of_x),
                 y_batch = view_broadcast_batch(batch, shape, &of_y);
    part_batch(batch, shape, &x_batch, &y_batch);
    matrix_axes(shape->rank, axis);
    if (!operand_repeat(call, x, &of_x, x_batch) || !operand_repeat(call, y, &of_y, y_batch) ||
        !place_matrices(call, x, x_batch) || !place_matrices(call, y, y_batch) ||
        !place_arranged(call, shape, batch, axis, &product->image))
        return false;
    product->image.node = glcnn_matrix_multiplication_node(x->image.node, y->image.node);
    return op_made(call, product->image.node, NULL);
}

static bool multiply_images(struct call *call, const struct value *first,
                            const struct value *second)
{
    struct operand x = operand_of(first), y = operand_of(second), product = {0};
    bool drop[2];
    if (!x.shape.rank || !y.shape.rank)
        return op_fail(call, GLCNN_MALFORMED_DATA, "an input is a number without axes");
    widen_vectors(&x, &y, drop);
    return op_multiply(call, &x, &y, &product) &&
           give_product(call, &product.shape, &product.image, drop);
}

/* A matrix that is known is the weights of a layer. */
static bool lower_matmul(struct call *call)
{
    const struct value *x = op_input(call, 0), *y = op_input(call, 1);
    struct product p = {.scale = 1};
    struct image result;
    struct shape shape;
    if (!x || !y)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has two inputs; one is missing");
    if (!y->constant || y->shape.rank != 2 || !y->constant->floats)
        return multiply_images(call, x, y);
    return read_product(call, &p) && multiply(call, &p, &result, &shape) &&
           op_give(call, 0, &shape, &result);
}

/* ---- Gemm ---- */

/* One number becomes as many as there are outputs, which train separately. */
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

const struct operator_row onnx_linear[] = {{"MatMul", lower_matmul, fold_matmul, 0, NULL},
                                           {"Gemm", lower_gemm, fold_gemm, 0, NULL},
                                           {"Einsum", lower_einsum, fold_einsum, 0, NULL},
                                           {0}};
