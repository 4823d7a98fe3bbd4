/* Windows of convolutions and pooling. */
#include "onnx/window.h"

#include <string.h>

/* One attribute with a number for each spatial axis, `each` of them. */
static bool read_axes(struct call *call, const char *name, size_t spatial, size_t each,
                      int64_t otherwise, int64_t values[4])
{
    size_t count = spatial * each;
    for (size_t i = 0; i < count; i++)
        values[i] = otherwise;
    if (!attribute_ints(call, name, count, values, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (values[i] < (each == 2 ? -65535 : 1) || values[i] > 65535)
            return op_fail(call, GLCNN_MALFORMED_DATA, "%s has %lld, which is out of range", name,
                           (long long)values[i]);
    return count == spatial * each ||
           op_fail(call, GLCNN_MALFORMED_DATA, "%s has %zu numbers for %zu axes", name, count,
                   spatial);
}

/* As many pixels that the result has 1 for each stride of the source. */
static void pad_same(struct window_axis *axis, int64_t source, bool more_behind)
{
    int64_t results = (source + axis->stride - 1) / axis->stride;
    int64_t all = (results - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1 - source;
    all = all < 0 ? 0 : all;
    axis->before = more_behind ? all / 2 : all - all / 2;
    axis->after = all - axis->before;
}

static bool read_padding(struct call *call, const struct shape *source, struct window *w,
                         const int64_t pads[4])
{
    size_t last = w->spatial - 1;
    w->x.before = pads[last];
    w->x.after = pads[last + w->spatial];
    w->y.before = w->spatial == 2 ? pads[0] : 0;
    w->y.after = w->spatial == 2 ? pads[2] : 0;
    bool upper = attribute_is(call, "auto_pad", "SAME_UPPER", "NOTSET");
    if (attribute_is(call, "auto_pad", "NOTSET", "NOTSET"))
        return true;
    if (!upper && !attribute_is(call, "auto_pad", "SAME_LOWER", "NOTSET") &&
        !attribute_is(call, "auto_pad", "VALID", "NOTSET"))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its auto_pad is unknown");
    w->x.before = w->x.after = w->y.before = w->y.after = 0;
    if (attribute_is(call, "auto_pad", "VALID", "NOTSET"))
        return true;
    pad_same(&w->x, source->dims[source->rank - 1], upper);
    if (w->spatial == 2)
        pad_same(&w->y, source->dims[2], upper);
    return true;
}

bool window_read(struct call *call, const struct shape *source, const int64_t *kernel,
                 struct window *window)
{
    char text[96];
    int64_t sizes[4], strides[4], dilations[4], pads[4];
    if (source->rank < 3 || source->rank > 4 || call->reader->options.without_batch)
        return op_unsupported(call,
                              "its input is %s; images of a batch, N,C,H,W or N,C,L, have "
                              "windows",
                              shape_text(source, text));
    size_t spatial = source->rank - 2u;
    window->spatial = spatial;
    if (!read_axes(call, "kernel_shape", spatial, 1, 1, sizes) ||
        !read_axes(call, "strides", spatial, 1, 1, strides) ||
        !read_axes(call, "dilations", spatial, 1, 1, dilations) ||
        !read_axes(call, "pads", spatial, 2, 0, pads))
        return false;
    if (kernel)
        memcpy(sizes, kernel, spatial * sizeof *sizes);
    size_t last = spatial - 1;
    window->x = (struct window_axis){sizes[last], strides[last], dilations[last], 0, 0};
    window->y = spatial == 2 ? (struct window_axis){sizes[0], strides[0], dilations[0], 0, 0}
                             : (struct window_axis){1, 1, 1, 0, 0};
    if (window->x.kernel < 1 || window->y.kernel < 1 || window->x.kernel > 65535 ||
        window->y.kernel > 65535)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its window has no pixels, or too many");
    return read_padding(call, source, window, pads);
}

static int64_t left_over(const struct window_axis *axis, int64_t source)
{
    return source + axis->before + axis->after - (axis->kernel - 1) * axis->dilation - 1;
}

int64_t window_result(const struct window_axis *axis, int64_t source)
{
    int64_t rest = left_over(axis, source);
    return rest < 0 ? 0 : rest / axis->stride + 1;
}

void window_ceil(struct window_axis *axis, int64_t source)
{
    int64_t rest = left_over(axis, source), results = window_result(axis, source);
    if (rest > 0 && rest % axis->stride && results * axis->stride < source + axis->before)
        axis->after += axis->stride - rest % axis->stride;
}

bool window_shape(struct call *call, const struct window *window, const struct shape *source,
                  int64_t channels, struct shape *result)
{
    char text[96];
    uint32_t last = source->rank - 1;
    *result = *source;
    result->dims[1] = channels;
    result->dims[last] = window_result(&window->x, source->dims[last]);
    if (window->spatial == 2)
        result->dims[2] = window_result(&window->y, source->dims[2]);
    for (uint32_t i = 2; i <= last; i++)
        if (result->dims[i] < 1)
            return op_fail(call, GLCNN_MALFORMED_DATA, "its window does not fit an image of %s",
                           shape_text(source, text));
    return true;
}

bool window_pad(struct call *call, glcnn_image_node *node, const struct window *window)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(node);
    struct glcnn_addressing *p = glcnn_kernel_properties(glcnn_filter_node_kernel(filter));
    p->pad = (struct glcnn_padding_pixels){(int32_t)window->x.before, (int32_t)window->x.after,
                                           (int32_t)window->y.before, (int32_t)window->y.after};
    return glcnn_filter_node_set_padding(filter, GLCNN_PADDING_CUSTOM) == GLCNN_SUCCESS ||
           op_fail(call, GLCNN_INVALID_ARGUMENT, "%s", glcnn_device_error(call->reader->device));
}
