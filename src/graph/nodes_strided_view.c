/* Node of views by strides. */
#include "glcnn/kernels/strided_view.h"

#include "graph/nodes.h"

static void set_size(uint32_t *size)
{
    if (*size == 0)
        *size = 1;
}

static struct glcnn_strided_view_parameters
with_sizes(const struct glcnn_strided_view_parameters *parameters)
{
    struct glcnn_strided_view_parameters p = *parameters;
    set_size(&p.width);
    set_size(&p.height);
    set_size(&p.feature_channels);
    for (int k = 0; k < 6; k++)
        set_size(&p.sizes[k]);
    return p;
}

glcnn_image_node *glcnn_strided_view_node(glcnn_image_node *source,
                                          const struct glcnn_strided_view_parameters *parameters)
{
    glcnn_kernel *kernel = NULL;
    struct glcnn_strided_view_parameters p;
    if (!unary_device(source))
        return NULL;
    if (parameters)
        p = with_sizes(parameters);
    glcnn_status status =
        glcnn_strided_view_create(unary_device(source), parameters ? &p : NULL, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}
