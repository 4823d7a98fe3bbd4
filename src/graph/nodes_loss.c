/* The nodes of losses. */
#include "glcnn/kernels/box_loss.h"
#include "glcnn/kernels/yolo_loss.h"

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

glcnn_filter_node *glcnn_yolo_loss_node(glcnn_image_node *predictions, glcnn_image_node *labels,
                                        glcnn_image_node *label_weights, const float *anchor_boxes,
                                        size_t count, glcnn_reduction_type reduction_type)
{
    glcnn_image_node *const sources[] = {predictions, labels, label_weights};
    glcnn_kernel *kernel = NULL;
    if (!predictions || !labels || !unary_device(predictions))
        return NULL;
    glcnn_status status = glcnn_yolo_loss_create(unary_device(predictions), anchor_boxes, count,
                                                 reduction_type, &kernel);
    return node_finish(predictions->network, unary_constructed(predictions, status, kernel),
                       sources, label_weights ? 3 : 2);
}

glcnn_filter_node *glcnn_box_loss_node(glcnn_image_node *predictions, glcnn_image_node *labels,
                                       glcnn_image_node *label_weights,
                                       glcnn_reduction_type reduction_type)
{
    glcnn_image_node *const sources[] = {predictions, labels, label_weights};
    const size_t count = label_weights ? 3 : 2;
    if (!predictions || !labels)
        return NULL;
    glcnn_kernel *kernel = node_kernel(predictions->network, "box_loss", sources, count);
    if (!kernel)
        return NULL;
    glcnn_box_loss(kernel)->reduction_type = reduction_type;
    return node_finish(predictions->network, kernel, sources, count);
}

glcnn_image_node *glcnn_box_iou_node(glcnn_image_node *source, glcnn_image_node *secondary)
{
    return glcnn_node_binary(source, secondary, "box_iou", NULL);
}
