/* Nodes of resized regions. */
#include "glcnn/kernels/crop_and_resize.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_crop_and_resize_bilinear_node(glcnn_image_node *source,
                                                      uint32_t resize_width, uint32_t resize_height,
                                                      uint32_t number_of_regions,
                                                      const float *regions, size_t count)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status =
        glcnn_crop_and_resize_bilinear_create(unary_device(source), resize_width, resize_height,
                                              number_of_regions, regions, count, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}

glcnn_image_node *glcnn_crop_and_resize_bilinear_regions_node(glcnn_image_node *source,
                                                              glcnn_image_node *regions,
                                                              uint32_t resize_width,
                                                              uint32_t resize_height)
{
    glcnn_image_node *const sources[] = {source, regions};
    if (!source || !regions)
        return NULL;
    glcnn_kernel *kernel =
        node_kernel(source->network, "crop_and_resize_bilinear_regions", sources, 2);
    if (kernel)
        *glcnn_crop_and_resize(kernel) =
            (struct glcnn_crop_and_resize_parameters){resize_width, resize_height, 1};
    return glcnn_filter_node_result(node_finish(source->network, kernel, sources, 2));
}
