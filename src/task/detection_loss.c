/* The losses of a detector. Images of distances have channels left, top, right, bottom. */
#include "detection_loss.h"

#include <glcnn/kernels/box_loss.h>

/* The IoU for the class of the location's object. */
static glcnn_image_node *qualities(const struct detection_outputs *outputs,
                                   const struct detection_loss *loss)
{
    glcnn_image_node *q =
        glcnn_node_binary(loss->labels, glcnn_box_iou_node(outputs->distances, loss->distances),
                          "multiply", "secondary_stride_in_feature_channels=0");
    glcnn_image_node_set_stop_gradient(q, true);
    return q;
}

void detection_losses(const struct detection_outputs *outputs, enum detection_classes classes,
                      struct detection_loss *loss)
{
    const bool by_quality = classes == DETECTION_QUALITY;
    loss->scores = glcnn_loss_node(
        outputs->scores, by_quality ? qualities(outputs, loss) : loss->labels, loss->label_weights,
        by_quality ? GLCNN_LOSS_TYPE_QUALITY_FOCAL : GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY,
        GLCNN_REDUCTION_TYPE_SUM);
    loss->boxes = glcnn_box_loss_node(outputs->distances, loss->distances, loss->box_weights,
                                      GLCNN_REDUCTION_TYPE_SUM);
}
