/* Nodes of the normalisations. */
#include "glcnn/kernels/batch_normalization.h"
#include "glcnn/kernels/cross_channel_normalization.h"
#include "glcnn/kernels/instance_normalization.h"
#include "glcnn/kernels/local_contrast_normalization.h"
#include "glcnn/kernels/spatial_normalization.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_batch_normalization_node(glcnn_image_node *source, float epsilon,
                                                 const struct glcnn_neuron_descriptor *neuron,
                                                 const struct glcnn_data_source *data_source)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status =
        glcnn_batch_normalization_create(unary_device(source), NULL, neuron, &kernel);
    if (status == GLCNN_SUCCESS && epsilon != 0)
        glcnn_batch_normalization(kernel)->epsilon = epsilon;
    return unary_node_with_data(source, unary_constructed(source, status, kernel), data_source);
}

glcnn_image_node *glcnn_instance_normalization_node(glcnn_image_node *source, float epsilon,
                                                    const struct glcnn_data_source *data_source)
{
    glcnn_kernel *kernel = unary_kernel(source, "instance_normalization");
    if (kernel && epsilon != 0)
        glcnn_instance_normalization(kernel)->epsilon = epsilon;
    return unary_node_with_data(source, kernel, data_source);
}

glcnn_image_node *glcnn_cross_channel_normalization_node(glcnn_image_node *source,
                                                         uint32_t kernel_size)
{
    glcnn_kernel *kernel = unary_kernel(source, "cross_channel_normalization");
    if (kernel)
        glcnn_cross_channel_normalization(kernel)->kernel_size = kernel_size;
    return unary_node(source, kernel);
}

static glcnn_image_node *make_local(glcnn_image_node *source, const char *name, uint32_t width,
                                    uint32_t height)
{
    glcnn_kernel *kernel = unary_kernel(source, name);
    if (!kernel)
        return NULL;
    kernel_window(kernel)->kernel_width = width;
    kernel_window(kernel)->kernel_height = height;
    return unary_node(source, kernel);
}

glcnn_image_node *glcnn_spatial_normalization_node(glcnn_image_node *source, uint32_t kernel_width,
                                                   uint32_t kernel_height)
{
    return make_local(source, "spatial_normalization", kernel_width, kernel_height);
}

glcnn_image_node *glcnn_local_contrast_normalization_node(glcnn_image_node *source,
                                                          uint32_t kernel_width,
                                                          uint32_t kernel_height)
{
    return make_local(source, "local_contrast_normalization", kernel_width, kernel_height);
}
