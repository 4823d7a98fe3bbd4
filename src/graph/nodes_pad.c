/* Nodes of padding and strided slices. */
#include "glcnn/kernels/pad.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_pad_node(glcnn_image_node *source,
                                 const struct glcnn_pad_parameters *parameters)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status = glcnn_pad_create(unary_device(source), parameters, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}

static int32_t step_of(int32_t step)
{
    return step ? step : 1;
}

glcnn_image_node *glcnn_strided_slice_node(glcnn_image_node *source,
                                           const struct glcnn_strided_slice_parameters *parameters)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    struct glcnn_strided_slice_parameters p;
    if (parameters) {
        p = *parameters;
        p.step_x = step_of(p.step_x);
        p.step_y = step_of(p.step_y);
        p.step_channel = step_of(p.step_channel);
    }
    glcnn_status status =
        glcnn_strided_slice_create(unary_device(source), parameters ? &p : NULL, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}
