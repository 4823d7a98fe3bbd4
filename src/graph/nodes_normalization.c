/* Nodes of the normalisations with weights: an epsilon of 0 stands for the kernel's own. */
#include "glcnn/kernels/batch_normalization.h"
#include "glcnn/kernels/instance_normalization.h"

#include "graph/nodes.h"

glcnn_image_node *glcnn_batch_normalization_node(glcnn_image_node *source, float epsilon,
                                                 const struct glcnn_neuron_descriptor *neuron,
                                                 const struct glcnn_data_source *data_source)
{
    glcnn_kernel *kernel = NULL;
    glcnn_device *device = node_device("batch_normalization", &source, 1);
    if (!device)
        return NULL;
    glcnn_status status = glcnn_batch_normalization_create(device, NULL, neuron, &kernel);
    if (status == GLCNN_SUCCESS && epsilon != 0)
        glcnn_batch_normalization(kernel)->epsilon = epsilon;
    return glcnn_filter_node_result(node_of_kernel(&source, 1, status, kernel, data_source));
}

glcnn_image_node *glcnn_instance_normalization_node(glcnn_image_node *source, float epsilon,
                                                    const struct glcnn_data_source *data_source)
{
    const struct kernel_value values[] = {{"epsilon", .number = (double)epsilon}, {0}};
    return glcnn_filter_node_result(node_of_values("instance_normalization", &source, 1,
                                                   epsilon != 0 ? values : NULL, data_source));
}
