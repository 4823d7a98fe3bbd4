/* Nodes of pooling. */
#include "glcnn/kernels/pooling.h"

#include "graph/nodes.h"

static glcnn_image_node *make(glcnn_image_node *source, const char *name, const uint32_t window[6])
{
    glcnn_kernel *kernel = unary_kernel(source, name);
    if (kernel)
        kernel_set_window(kernel, window);
    return unary_node(source, kernel);
}

#define DEFINE_NODE(NAME)                                                                          \
    glcnn_image_node *glcnn_##NAME##_node(glcnn_image_node *source, uint32_t kernel_width,         \
                                          uint32_t kernel_height, uint32_t stride_x,               \
                                          uint32_t stride_y)                                       \
    {                                                                                              \
        return make(source, #NAME,                                                                 \
                    (const uint32_t[6]){kernel_width, kernel_height, stride_x, stride_y, 1, 1});   \
    }

DEFINE_NODE(pooling_average)
DEFINE_NODE(pooling_l2_norm)
DEFINE_NODE(pooling_max)

glcnn_image_node *glcnn_dilated_pooling_max_node(glcnn_image_node *source, uint32_t kernel_width,
                                                 uint32_t kernel_height, uint32_t stride_x,
                                                 uint32_t stride_y, uint32_t dilation_rate_x,
                                                 uint32_t dilation_rate_y)
{
    return make(source, "dilated_pooling_max",
                (const uint32_t[6]){kernel_width, kernel_height, stride_x, stride_y,
                                    dilation_rate_x, dilation_rate_y});
}
