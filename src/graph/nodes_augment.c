/* Nodes of what is done to pictures before a network sees them. Nothing of them is trained, so
 * their results stop gradients. */
#include "glcnn/kernels/augment.h"
#include "glcnn/kernels/frame.h"
#include "glcnn/kernels/image_normalization.h"

#include <string.h>

#include "graph/nodes.h"

static glcnn_image_node *stopping(glcnn_image_node *result)
{
    glcnn_image_node_set_stop_gradient(result, true);
    return result;
}

/* Of `count` sources, none of which may be NULL. */
static glcnn_image_node *made_of(glcnn_image_node *const *sources, size_t count, const char *name,
                                 const void *parameters)
{
    for (size_t i = 0; i < count; i++)
        if (!sources[i])
            return NULL;
    struct glcnn_network *network = sources[0]->network;
    glcnn_kernel *kernel = node_kernel(network, name, sources, count);
    if (!kernel)
        return NULL;
    if (!parameters) {
        glcnn_kernel_destroy(&kernel);
        return network_fail(network, GLCNN_INVALID_ARGUMENT, "%s: parameters is NULL", name);
    }
    memcpy(kernel->parameters, parameters, kernel->descriptor->parameters_size);
    return stopping(glcnn_filter_node_result(node_finish(network, kernel, sources, count)));
}

glcnn_image_node *
glcnn_augment_geometry_node(glcnn_image_node *source, glcnn_image_node *image_numbers,
                            const struct glcnn_augment_geometry_parameters *parameters)
{
    glcnn_image_node *const sources[] = {source, image_numbers};
    return made_of(sources, 2, "augment_geometry", parameters);
}

glcnn_image_node *glcnn_augment_color_node(glcnn_image_node *source,
                                           glcnn_image_node *image_numbers,
                                           const struct glcnn_augment_color_parameters *parameters)
{
    glcnn_image_node *const sources[] = {source, image_numbers};
    return made_of(sources, 2, "augment_color", parameters);
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

glcnn_image_node *glcnn_frame_rgb_node(glcnn_image_node *source,
                                       const struct glcnn_frame_parameters *parameters)
{
    return made_of(&source, 1, "frame_rgb", parameters);
}

glcnn_image_node *glcnn_frame_yuyv_node(glcnn_image_node *source,
                                        const struct glcnn_frame_parameters *parameters)
{
    return made_of(&source, 1, "frame_yuyv", parameters);
}

glcnn_image_node *glcnn_frame_nv12_node(glcnn_image_node *luma, glcnn_image_node *chroma,
                                        const struct glcnn_frame_parameters *parameters)
{
    glcnn_image_node *const sources[] = {luma, chroma};
    return made_of(sources, 2, "frame_nv12", parameters);
}
