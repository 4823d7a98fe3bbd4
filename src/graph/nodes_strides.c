/* Nodes of strided slices and views, in whose parameters a step or a size of 0 stands for 1. */
#include "glcnn/kernels/pad.h"
#include "glcnn/kernels/strided_view.h"

#include "graph/nodes.h"

static int32_t step_of(int32_t step)
{
    return step ? step : 1;
}

glcnn_image_node *glcnn_strided_slice_node(glcnn_image_node *source,
                                           const struct glcnn_strided_slice_parameters *parameters)
{
    struct glcnn_strided_slice_parameters p;
    if (parameters) {
        p = *parameters;
        p.step_x = step_of(p.step_x);
        p.step_y = step_of(p.step_y);
        p.step_channel = step_of(p.step_channel);
    }
    const struct kernel_value values[] = {{.all = true, .parameters = parameters ? &p : NULL}, {0}};
    return glcnn_filter_node_result(node_of_values("strided_slice", &source, 1, values, NULL));
}

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
    struct glcnn_strided_view_parameters p;
    if (parameters)
        p = with_sizes(parameters);
    const struct kernel_value values[] = {{.all = true, .parameters = parameters ? &p : NULL}, {0}};
    return glcnn_filter_node_result(node_of_values("strided_view", &source, 1, values, NULL));
}
