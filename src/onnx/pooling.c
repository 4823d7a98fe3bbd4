/* Pooling, by windows and of whole images. */
#include <glcnn/kernels/pooling.h>

#include "onnx/window.h"

enum kind { AVERAGE, MAXIMUM, ROOT };

static glcnn_image_node *make_pool(const struct call *call, glcnn_image_node *source,
                                   const struct window *w)
{
    const uint32_t kw = (uint32_t)w->x.kernel, kh = (uint32_t)w->y.kernel;
    const uint32_t sx = (uint32_t)w->x.stride, sy = (uint32_t)w->y.stride;
    if (w->x.dilation != 1 || w->y.dilation != 1)
        return glcnn_dilated_pooling_max_node(source, kw, kh, sx, sy, (uint32_t)w->x.dilation,
                                              (uint32_t)w->y.dilation);
    return call->row->kind == AVERAGE   ? glcnn_pooling_average_node(source, kw, kh, sx, sy)
           : call->row->kind == MAXIMUM ? glcnn_pooling_max_node(source, kw, kh, sx, sy)
                                        : glcnn_pooling_l2_norm_node(source, kw, kh, sx, sy);
}

static bool is_padded(const struct window *w)
{
    return w->x.before || w->x.after || w->y.before || w->y.after;
}

/* Beyond the image the nearest pixel is read, which the window has too unless it is dilated. */
static bool check_window(struct call *call, const struct window *w)
{
    bool is_dilated = w->x.dilation != 1 || w->y.dilation != 1;
    if (is_dilated && (call->row->kind != MAXIMUM || is_padded(w)))
        return op_unsupported(call, "dilations with pads, or of a mean, are not supported");
    if (w->x.before >= w->x.kernel || w->y.before >= w->y.kernel || w->x.after >= w->x.kernel ||
        w->y.after >= w->y.kernel)
        return op_unsupported(call, "pads must be smaller than the window");
    if (call->row->kind == ROOT && attribute_int(call, "p", 2) != 2)
        return op_unsupported(call, "p is %lld; 2 is read", (long long)attribute_int(call, "p", 2));
    return true;
}

/* What the mean divides by: pixels of the image, or of the image with its pads, but never those that
 * ceil_mode adds behind. */
static bool set_divisor(struct call *call, glcnn_image_node *node, const struct window *pads,
                        bool is_longer)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    if (call->row->kind == ROOT)
        glcnn_kernel_properties(kernel)->primary.edge_mode = GLCNN_EDGE_MODE_ZERO;
    if (call->row->kind != AVERAGE || !attribute_int(call, "count_include_pad", 0))
        return true;
    if (!is_longer) {
        glcnn_kernel_properties(kernel)->primary.edge_mode = GLCNN_EDGE_MODE_ZERO;
        return true;
    }
    if (pads->x.before != pads->x.after || pads->y.before != pads->y.after)
        return op_unsupported(call, "ceil_mode and pads that count and differ between sides");
    *glcnn_pooling(kernel) =
        (struct glcnn_pooling_parameters){(uint32_t)pads->x.before, (uint32_t)pads->y.before};
    return true;
}

static bool lower_pool(struct call *call)
{
    struct value *x;
    struct window window;
    struct shape shape;
    if (!place_input(call, 0, &x) || !window_read(call, &x->shape, NULL, &window) ||
        !check_window(call, &window))
        return false;
    struct window pads = window;
    if (attribute_int(call, "ceil_mode", 0)) {
        window_ceil(&window.x, x->image.extent[W]);
        window_ceil(&window.y, x->image.extent[H]);
    }
    bool is_longer = window.x.after != pads.x.after || window.y.after != pads.y.after;
    if (!window_shape(call, &window, &x->shape, x->shape.dims[1], &shape))
        return false;
    glcnn_image_node *node = make_pool(call, x->image.node, &window);
    return op_made(call, node, NULL) && window_pad(call, node, &window) &&
           set_divisor(call, node, &pads, is_longer) && place_give(call, 0, &shape, node);
}

/* Of the whole image: a window as large. */
static bool lower_global(struct call *call)
{
    struct value *x;
    if (!place_input(call, 0, &x))
        return false;
    struct image custom = place_custom(call->reader, &x->shape);
    struct shape shape = x->shape;
    if (shape.rank < 3 || call->reader->options.without_batch || custom.extent[H] > 65535 ||
        custom.extent[W] > 65535)
        return op_unsupported(call, "its input is not an image of a batch, or too large");
    for (uint32_t i = 2; i < shape.rank; i++)
        shape.dims[i] = 1;
    struct window window = {.x = {custom.extent[W], 1, 1, 0, 0},
                            .y = {custom.extent[H], 1, 1, 0, 0}};
    if (!check_window(call, &window))
        return false;
    glcnn_image_node *node = make_pool(call, x->image.node, &window);
    return op_made(call, node, NULL) && window_pad(call, node, &window) &&
           place_give(call, 0, &shape, node);
}

const struct operator_row onnx_pooling[] = {
    {"MaxPool", lower_pool, NULL, MAXIMUM, NULL},
    {"AveragePool", lower_pool, NULL, AVERAGE, NULL},
    {"LpPool", lower_pool, NULL, ROOT, NULL},
    {"GlobalMaxPool", lower_global, NULL, MAXIMUM, NULL},
    {"GlobalAveragePool", lower_global, NULL, AVERAGE, NULL},
    {"GlobalLpPool", lower_global, NULL, ROOT, NULL},
    {0}};
