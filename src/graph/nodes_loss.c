/* The node of a loss. */
#include "glcnn/kernels/loss.h"

#include "graph/nodes.h"

glcnn_filter_node *glcnn_loss_node(glcnn_image_node *predictions, glcnn_image_node *labels,
                                   glcnn_image_node *label_weights, glcnn_loss_type loss_type,
                                   glcnn_reduction_type reduction_type)
{
    glcnn_image_node *const sources[] = {predictions, labels, label_weights};
    const size_t count = label_weights ? 3 : 2;
    if (!predictions || !labels)
        return NULL;
    glcnn_kernel *kernel = node_kernel(predictions->network, "loss", sources, count);
    if (!kernel)
        return NULL;
    glcnn_loss(kernel)->loss_type = loss_type;
    glcnn_loss(kernel)->reduction_type = reduction_type;
    return node_finish(predictions->network, kernel, sources, count);
}
