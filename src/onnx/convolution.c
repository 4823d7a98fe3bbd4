/* Convolution and its transpose. */
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/convolution_transpose.h>

#include "onnx/sharing.h"
#include "onnx/window.h"

/* Sizes of weights: outputs and inputs of one group, or of all. */
struct sizes {
    int64_t outputs, inputs, groups, kernel[2]; /* kernel: rows, columns */
};

/* The weights' shape without its rows where the image has none. */
static bool weights_sizes(struct call *call, const struct value *x, const struct constant *w,
                          bool is_transposed, struct sizes *s)
{
    char first[96], second[96];
    s->groups = attribute_int(call, "group", 1);
    if (x->shape.rank < 3 || x->shape.rank > 4)
        return op_unsupported(call, "its input is %s; images N,C,H,W and N,C,L are convolved",
                              shape_text(&x->shape, second));
    bool fits = w->shape.rank == x->shape.rank && w->shape.rank >= 3 && w->shape.rank <= 4 &&
                w->floats && w->count && s->groups >= 1 && s->groups <= x->shape.dims[1];
    if (fits) { /* groups by a size of weights that there are: no product overflows */
        s->outputs = is_transposed ? w->shape.dims[1] * s->groups : w->shape.dims[0];
        s->inputs = is_transposed ? w->shape.dims[0] : w->shape.dims[1] * s->groups;
        s->kernel[0] = w->shape.dims[2];
        s->kernel[1] = w->shape.dims[3];
        fits = x->shape.dims[1] == s->inputs && s->outputs % s->groups == 0 &&
               s->inputs % s->groups == 0;
    }
    return fits || op_fail(call, GLCNN_MALFORMED_DATA,
                           "weights of %s in %lld groups do not fit an image of %s",
                           shape_text(&w->shape, first), (long long)s->groups,
                           shape_text(&x->shape, second));
}

static struct glcnn_convolution_descriptor describe(const struct call *call, const struct sizes *s,
                                                    const struct window *w)
{
    return (struct glcnn_convolution_descriptor){
        .kernel_width = (uint32_t)w->x.kernel,
        .kernel_height = (uint32_t)w->y.kernel,
        .input_feature_channels = (uint32_t)s->inputs,
        .output_feature_channels = (uint32_t)s->outputs,
        .stride_in_pixels_x = (uint32_t)w->x.stride,
        .stride_in_pixels_y = (uint32_t)w->y.stride,
        .dilation_rate_x = (uint32_t)w->x.dilation,
        .dilation_rate_y = (uint32_t)w->y.dilation,
        .groups = (uint32_t)s->groups,
        .without_biases = !op_input(call, 2),
    };
}

static bool set_biases(struct call *call, glcnn_image_node *node, int64_t outputs)
{
    const struct constant *biases;
    struct layout layout = layout_plain((size_t)outputs, true);
    layout.output_dimension = 0;
    if (!op_constant(call, 2, false, &biases))
        return false;
    return !biases || vector_set(call, node, "biases", (size_t)outputs, op_input(call, 2), &layout);
}

/* ONNX's W[outputs][inputs][rows][columns], ours W[outputs][rows][columns][inputs]. */
static struct layout plain_layout(const struct sizes *s, const struct window *w)
{
    int64_t inputs = s->inputs / s->groups, row = w->x.kernel * inputs;
    return (struct layout){.axes = 4,
                           .size = {s->outputs, inputs, w->y.kernel, w->x.kernel},
                           .stride = {w->y.kernel * row, 1, row, inputs},
                           .output_axis = 0,
                           .output_dimension = 0};
}

/* ---- Transposed ---- */

/* Numbers of output_shape or output_padding, which are then added. */
static bool read_sizes(struct call *call, const char *name, size_t spatial, int64_t least,
                       int64_t most, int64_t sizes[2], size_t *count)
{
    *count = 0;
    if (!attribute_ints(call, name, spatial, sizes, count))
        return false;
    for (size_t i = 0; i < *count; i++)
        if (sizes[i] < least || sizes[i] > most)
            return op_fail(call, GLCNN_MALFORMED_DATA, "%s has %lld, which is out of range", name,
                           (long long)sizes[i]);
    return true;
}

/* What the result has fewer on each side, from output_shape or output_padding; *result is its size. */
static bool transposed_axis(struct call *call, size_t i, int64_t source, struct window_axis *a,
                            size_t spatial, int64_t *result)
{
    int64_t sizes[2] = {0, 0}, extra[2] = {0, 0};
    size_t sized = 0, padded = 0;
    int64_t whole = (source - 1) * a->stride + (a->kernel - 1) * a->dilation + 1;
    bool is_same = !attribute_is(call, "auto_pad", "NOTSET", "NOTSET") &&
                   !attribute_is(call, "auto_pad", "VALID", "NOTSET");
    if (!read_sizes(call, "output_shape", spatial, 1, INT32_MAX, sizes, &sized) ||
        !read_sizes(call, "output_padding", spatial, 0, 65535, extra, &padded))
        return false;
    if (sized == spatial || is_same) {
        int64_t size = sized == spatial ? sizes[i] : source * a->stride;
        int64_t all = whole + extra[i] - size, half = (all - (all % 2 != 0 && all < 0)) / 2;
        bool upper = attribute_is(call, "auto_pad", "SAME_UPPER", "NOTSET");
        a->before = upper ? half : all - half;
        a->after = all - a->before;
    }
    a->after -= extra[i];
    *result = whole - a->before - a->after;
    return (*result >= 1 && *result <= INT32_MAX && a->after >= -65535 && a->after <= 65535 &&
            a->before >= -65535 && a->before <= 65535) ||
           op_fail(call, GLCNN_MALFORMED_DATA, "its result would have %lld columns or rows",
                   (long long)*result);
}

static bool transposed_shape(struct call *call, struct window *w, const struct shape *source,
                             int64_t outputs, struct shape *result)
{
    uint32_t last = source->rank - 1;
    *result = *source;
    result->dims[1] = outputs;
    return transposed_axis(call, w->spatial - 1, source->dims[last], &w->x, w->spatial,
                           &result->dims[last]) &&
           (w->spatial == 1 ||
            transposed_axis(call, 0, source->dims[2], &w->y, 2, &result->dims[2]));
}

/* ONNX's W[group, inputs][outputs][rows][columns] is laid over the result; ours is correlated with
 * what is spread out, and so turned about. */
static struct layout transposed_layout(const struct sizes *s, const struct window *w)
{
    int64_t inputs = s->inputs / s->groups, outputs = s->outputs / s->groups;
    int64_t row = w->x.kernel * inputs, all = w->y.kernel * row;
    return (struct layout){.axes = 5,
                           .size = {s->groups, inputs, outputs, w->y.kernel, w->x.kernel},
                           .stride = {outputs * all, 1, all, -row, -inputs},
                           .offset = (w->y.kernel - 1) * row + (w->x.kernel - 1) * inputs,
                           .output_axis = s->groups == 1 ? 2 : -1,
                           .output_dimension = s->groups == 1 ? 1 : -1};
}

/* ---- Both ---- */

enum { PLAIN, TRANSPOSED };

static struct layout weights_layout(const struct call *call, const struct sizes *s,
                                    const struct window *w)
{
    return (call->row->kind == TRANSPOSED ? transposed_layout : plain_layout)(s, w);
}

static bool set_vectors(struct call *call, glcnn_image_node *node, const struct sizes *s,
                        const struct window *w)
{
    struct layout layout = weights_layout(call, s, w);
    int64_t count = s->outputs * w->y.kernel * w->x.kernel * (s->inputs / s->groups);
    return vector_set(call, node, "weights", (size_t)count, op_input(call, 1), &layout) &&
           set_biases(call, node, s->outputs);
}

static bool result_shape(struct call *call, struct window *w, const struct shape *source,
                         int64_t outputs, struct shape *result)
{
    return call->row->kind == TRANSPOSED ? transposed_shape(call, w, source, outputs, result)
                                         : window_shape(call, w, source, outputs, result);
}

/* The file has the vectors of both layers in the same initialisers. */
static bool note_vectors(struct call *call, glcnn_image_node *node, const struct sizes *s,
                         const struct window *w)
{
    struct layout layout = weights_layout(call, s, w),
                  plain = layout_plain((size_t)s->outputs, true);
    plain.output_dimension = 0;
    return vector_note(call, node, "weights", op_input(call, 1), &layout) &&
           (!op_input(call, 2) || vector_note(call, node, "biases", op_input(call, 2), &plain));
}

static struct layer describe_layer(const struct call *call,
                                   const struct glcnn_convolution_descriptor *descriptor,
                                   const struct window *w)
{
    return (struct layer){.kernel = call->row->kind == TRANSPOSED ? "convolution_transpose"
                                                                  : "convolution",
                          .descriptor = descriptor,
                          .pad = {(int32_t)w->x.before, (int32_t)w->x.after, (int32_t)w->y.before,
                                  (int32_t)w->y.after},
                          .weights = op_input(call, 1),
                          .biases = op_input(call, 2)};
}

/* NULL: it could not be made. */
static glcnn_image_node *make_layer(struct call *call, glcnn_image_node *x, const struct sizes *s,
                                    const struct window *w)
{
    const struct glcnn_convolution_descriptor descriptor = describe(call, s, w);
    const struct layer layer = describe_layer(call, &descriptor, w);
    glcnn_kernel *same = sharing_find(call, &layer);
    glcnn_image_node *node = same ? glcnn_node_with_kernel(x, same)
                             : call->row->kind == TRANSPOSED
                                 ? glcnn_convolution_transpose_node(x, &descriptor, NULL)
                                 : glcnn_convolution_node(x, &descriptor, NULL);
    bool made = op_made(call, node, NULL) && window_pad(call, node, w) &&
                (same ? note_vectors : set_vectors)(call, node, s, w);
    return made ? node : NULL;
}

static bool lower(struct call *call)
{
    bool is_transposed = call->row->kind == TRANSPOSED;
    struct value *x;
    const struct constant *weights;
    struct sizes sizes;
    struct window window;
    struct shape shape;
    if (!place_input(call, 0, &x) || !op_constant(call, 1, true, &weights) ||
        !weights_sizes(call, x, weights, is_transposed, &sizes) ||
        !window_read(call, &x->shape, sizes.kernel, &window) ||
        !result_shape(call, &window, &x->shape, sizes.outputs, &shape))
        return false;
    glcnn_image_node *node = make_layer(call, x->image.node, &sizes, &window);
    return node && place_give(call, 0, &shape, node);
}

const struct operator_row onnx_convolution[] = {
    {"Conv", lower, NULL, PLAIN, NULL}, {"ConvTranspose", lower, NULL, TRANSPOSED, NULL}, {0}};
