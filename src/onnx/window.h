/* Windows of convolutions and pooling, as attributes of a node have them. */
#ifndef GLCNN_ONNX_WINDOW_H
#define GLCNN_ONNX_WINDOW_H

#include "onnx/onnx.h"

/* One axis of an image. */
struct window_axis {
    int64_t kernel, stride, dilation, before, after; /* before, after: pixels of padding */
};

struct window {
    struct window_axis x, y;
    size_t spatial; /* axes that the tensor has beside N and C: 1, only columns, or 2 */
};

/* Reads kernel_shape (or `kernel`, where the weights tell), strides, dilations, pads and auto_pad for
 * a source of this shape, whose axes must be N, C and one or two more. */
bool window_read(struct call *call, const struct shape *source, const int64_t *kernel,
                 struct window *window);
/* Size of the result along an axis; 0 where there is none. */
int64_t window_result(const struct window_axis *axis, int64_t source);
/* Adds pixels behind so that a window that begins within the image and the pixels before it is whole:
 * ceil_mode. */
void window_ceil(struct window_axis *axis, int64_t source);
/* The shape of a result with these channels. */
bool window_shape(struct call *call, const struct window *window, const struct shape *source,
                  int64_t channels, struct shape *result);
/* Padding custom with the window's pixels. */
bool window_pad(struct call *call, glcnn_image_node *node, const struct window *window);

#endif
