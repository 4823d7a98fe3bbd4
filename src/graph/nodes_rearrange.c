/* Nodes of transposes, depth to space and back, and shuffled channels. */
#include "glcnn/kernels/rearrange.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_transpose_node(glcnn_image_node *source, glcnn_axis_order order)
{
    glcnn_kernel *kernel = unary_kernel(source, "transpose");
    if (kernel)
        glcnn_transpose(kernel)->order = order;
    return unary_node(source, kernel);
}

static glcnn_image_node *blocks(glcnn_image_node *source, const char *name,
                                struct glcnn_block_parameters parameters)
{
    glcnn_kernel *kernel = unary_kernel(source, name);
    if (kernel)
        *glcnn_block(kernel) = parameters;
    return unary_node(source, kernel);
}

glcnn_image_node *glcnn_depth_to_space_node(glcnn_image_node *source, uint32_t block_size,
                                            glcnn_block_order order)
{
    return blocks(source, "depth_to_space", (struct glcnn_block_parameters){block_size, order});
}

glcnn_image_node *glcnn_space_to_depth_node(glcnn_image_node *source, uint32_t block_size,
                                            glcnn_block_order order)
{
    return blocks(source, "space_to_depth", (struct glcnn_block_parameters){block_size, order});
}

glcnn_image_node *glcnn_channel_shuffle_node(glcnn_image_node *source, uint32_t groups)
{
    glcnn_kernel *kernel = unary_kernel(source, "channel_shuffle");
    if (kernel)
        glcnn_channel_shuffle(kernel)->groups = groups;
    return unary_node(source, kernel);
}
