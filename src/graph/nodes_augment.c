/* Nodes of what is done to pictures before a network sees them. Nothing of them is trained, so
 * their results stop gradients. */
#include "glcnn/kernels/augment.h"
#include "glcnn/kernels/image_normalization.h"

#include <string.h>

#include "graph/nodes.h"

static glcnn_image_node *stopping(glcnn_image_node *result)
{
    glcnn_image_node_set_stop_gradient(result, true);
    return result;
}

static glcnn_image_node *augmented(glcnn_image_node *source, glcnn_image_node *image_numbers,
                                   const char *name, const void *parameters)
{
    glcnn_image_node *const sources[] = {source, image_numbers};
    glcnn_kernel *kernel =
        source && image_numbers ? node_kernel(source->network, name, sources, 2) : NULL;
    if (!kernel)
        return NULL;
    if (!parameters) {
        glcnn_kernel_destroy(&kernel);
        return network_fail(source->network, GLCNN_INVALID_ARGUMENT, "%s: parameters is NULL",
                            name);
    }
    memcpy(kernel->parameters, parameters, kernel->descriptor->parameters_size);
    return stopping(glcnn_filter_node_result(node_finish(source->network, kernel, sources, 2)));
}

glcnn_image_node *
glcnn_augment_geometry_node(glcnn_image_node *source, glcnn_image_node *image_numbers,
                            const struct glcnn_augment_geometry_parameters *parameters)
{
    return augmented(source, image_numbers, "augment_geometry", parameters);
}

glcnn_image_node *glcnn_augment_color_node(glcnn_image_node *source,
                                           glcnn_image_node *image_numbers,
                                           const struct glcnn_augment_color_parameters *parameters)
{
    return augmented(source, image_numbers, "augment_color", parameters);
}

glcnn_image_node *glcnn_image_normalization_node(glcnn_image_node *source, const float *mean,
                                                 const float *deviation, size_t count)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status =
        glcnn_image_normalization_create(unary_device(source), mean, deviation, count, &kernel);
    return stopping(unary_node(source, unary_constructed(source, status, kernel)));
}
