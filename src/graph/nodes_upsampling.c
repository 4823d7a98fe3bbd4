/* Nodes of up-sampling. */
#include "glcnn/kernels/upsampling.h"

#include "graph/nodes.h"

static glcnn_image_node *make(glcnn_image_node *source, const char *name,
                              struct glcnn_upsampling_parameters parameters)
{
    glcnn_kernel *kernel = unary_kernel(source, name);
    if (kernel)
        *glcnn_upsampling(kernel) = parameters;
    return unary_node(source, kernel);
}

glcnn_image_node *glcnn_upsampling_nearest_node(glcnn_image_node *source, uint32_t scale_factor_x,
                                                uint32_t scale_factor_y)
{
    return make(source, "upsampling_nearest",
                (struct glcnn_upsampling_parameters){scale_factor_x, scale_factor_y, false, false});
}

glcnn_image_node *glcnn_upsampling_bilinear_node(glcnn_image_node *source, uint32_t scale_factor_x,
                                                 uint32_t scale_factor_y, bool align_corners)
{
    return make(
        source, "upsampling_bilinear",
        (struct glcnn_upsampling_parameters){scale_factor_x, scale_factor_y, align_corners, false});
}
