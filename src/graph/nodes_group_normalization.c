/* Normalisation of groups of channels and of the channels of a pixel, of reshapes, transposes and
 * instance normalisation. */
#include "glcnn/kernels/group_normalization.h"

#include "glcnn/kernels/instance_normalization.h"
#include "glcnn/kernels/rearrange.h"
#include "glcnn/kernels/slice.h"
#include "graph/nodes.h"

static glcnn_image_node *reshaped(glcnn_image_node *source, struct glcnn_source_shape shape)
{
    const struct glcnn_reshape_parameters parameters = {shape.width, shape.height,
                                                        shape.feature_channels, true};
    const struct kernel_value values[] = {{.all = true, .parameters = &parameters}, {0}};
    return glcnn_filter_node_result(node_of_values("reshape", &source, 1, values, NULL));
}

/* Its gamma and beta stay 1 and 0. */
static glcnn_image_node *normalized(glcnn_image_node *source, float epsilon)
{
    glcnn_image_node *result = glcnn_instance_normalization_node(source, epsilon, NULL);
    if (result)
        glcnn_filter_node_set_training_style(glcnn_image_node_filter(result),
                                             GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    return result;
}

static bool is_known(glcnn_image_node *source, struct glcnn_source_shape shape, const char *name)
{
    if (shape.width && shape.height && shape.feature_channels)
        return true;
    network_fail(
        source->network, GLCNN_INVALID_ARGUMENT,
        "%s: the shape is %ux%u pixels of %u channels; it must be that of the source, none "
        "of it 0",
        name, shape.width, shape.height, shape.feature_channels);
    return false;
}

glcnn_image_node *glcnn_group_normalization_node(glcnn_image_node *source,
                                                 struct glcnn_source_shape shape, uint32_t groups,
                                                 float epsilon)
{
    if (!source || !is_known(source, shape, "group_normalization"))
        return NULL;
    if (!groups || shape.feature_channels % groups)
        return network_fail(source->network, GLCNN_INVALID_ARGUMENT,
                            "group_normalization: %u groups do not divide %u channels", groups,
                            shape.feature_channels);
    const struct glcnn_source_shape grouped = {
        shape.width, shape.height * (shape.feature_channels / groups), groups};
    return reshaped(normalized(reshaped(source, grouped), epsilon), shape);
}

glcnn_image_node *glcnn_layer_normalization_node(glcnn_image_node *source,
                                                 struct glcnn_source_shape shape, float epsilon)
{
    if (!source || !is_known(source, shape, "layer_normalization"))
        return NULL;
    const struct glcnn_source_shape turned = {shape.feature_channels, shape.width, shape.height};
    const struct glcnn_source_shape pixels = {shape.feature_channels, 1,
                                              shape.width * shape.height};
    glcnn_image_node *result = glcnn_transpose_node(source, GLCNN_AXIS_ORDER_HWC);
    result = reshaped(normalized(reshaped(result, pixels), epsilon), turned);
    return glcnn_transpose_node(result, GLCNN_AXIS_ORDER_WCH);
}
