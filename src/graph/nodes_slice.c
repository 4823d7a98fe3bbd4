/* Nodes of slice, concatenation and reshape. */
#include "glcnn/kernels/slice.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_slice_node(glcnn_image_node *source, uint32_t feature_channel_offset,
                                   uint32_t feature_channels)
{
    glcnn_kernel *kernel = unary_kernel(source, "slice");
    if (!kernel)
        return NULL;
    struct glcnn_source_properties *properties = kernel_window(kernel);
    properties->feature_channel_offset = feature_channel_offset;
    properties->feature_channel_max_count = feature_channels;
    return unary_node(source, kernel);
}

glcnn_image_node *glcnn_concatenation_node(glcnn_image_node *const *sources, size_t source_count)
{
    if (!sources || source_count == 0 || !sources[0])
        return NULL;
    return glcnn_filter_node_result(glcnn_filter_node_create(sources[0]->network, "concatenation",
                                                             NULL, sources, source_count));
}

glcnn_image_node *glcnn_reshape_node(glcnn_image_node *source, uint32_t width, uint32_t height,
                                     uint32_t feature_channels)
{
    glcnn_kernel *kernel = unary_kernel(source, "reshape");
    if (kernel)
        *glcnn_reshape(kernel) =
            (struct glcnn_reshape_parameters){width, height, feature_channels, false};
    return unary_node(source, kernel);
}
