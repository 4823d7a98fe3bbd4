/* Filters that move numbers within an image. */
#include "onnx/moves.h"

#include <stdarg.h>
#include <stdio.h>

#include <glcnn/kernels/rearrange.h>

glcnn_image_node *move_axes(glcnn_image_node *node, const uint8_t source[AXES])
{
    static const struct {
        uint8_t c, h, w;
        glcnn_axis_order order;
    } orders[] = {{C, H, W, GLCNN_AXIS_ORDER_CHW}, {C, W, H, GLCNN_AXIS_ORDER_CWH},
                  {H, C, W, GLCNN_AXIS_ORDER_HCW}, {H, W, C, GLCNN_AXIS_ORDER_HWC},
                  {W, C, H, GLCNN_AXIS_ORDER_WCH}, {W, H, C, GLCNN_AXIS_ORDER_WHC}};
    size_t i = 0;
    while (orders[i].c != source[C] || orders[i].h != source[H] || orders[i].w != source[W])
        i++;
    return glcnn_transpose_node(node, orders[i].order);
}

bool move_by_name(struct call *call, struct image *image, const char *kernel, const char *suffix,
                  const char *settings, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, settings);
    vsnprintf(text, sizeof text, settings, arguments);
    va_end(arguments);
    if (!glcnn_kernel_info_by_name(kernel))
        return op_unsupported(call, "there is no kernel %s", kernel);
    image->node = glcnn_node(image->node, kernel, text);
    return op_made(call, image->node, suffix);
}
