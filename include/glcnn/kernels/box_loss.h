/* The loss of boxes that a detector predicts around locations, with its first gradient in one kernel,
 * and how well such boxes overlap. MPS has neither; spec 8.2.
 *
 * A pixel is a location, and its box the distances from there to the left, top, right and bottom edge,
 * 4 channels: 0 or more, all in one unit. Predictions y, labels t and label weights w are images as
 * those of glcnn/kernels/loss.h, given in the same fields of glcnn_encode, but that w has one channel;
 * destination and loss receive what they do there.
 *
 *   loss      omega (1 - CIoU), omega = weight * w: complete intersection over union, Zheng et al. 2020
 *
 *     CIoU = IoU - d^2 / c^2 - alpha v,   v = (2 / pi)^2 (atan(w / h) - atan(w_t / h_t))^2
 *                                         alpha = v / (1 - IoU + v)
 *
 *   d is the distance of the centres, c the diagonal of the smallest box around both, w and h width and
 *   height. It is 0 where the boxes are equal and below 3. Each divisor has 1e-7 added, so that boxes
 *   without an extent have a finite loss.
 *   gradient  its derivative by y, with alpha as a constant; distances of y and t that are equal each
 *             have half of a minimum's or maximum's. Never scaled by the reduction
 *   IoU       of box_iou: intersection / union of the boxes of two images, one channel
 *
 * Where omega is 0 loss and gradient are 0, whatever the boxes: labels of locations without an object
 * may be anything. Elsewhere a NaN in y or t makes both NaN.
 *
 * Reductions are those of glcnn/kernels/loss.h, with one loss to a pixel: none gives an image of one
 * channel, mean divides by width * height, sum_by_non_zero_weights by the number of w that are not 0.
 * Offset, edge mode and clip rectangle are as for glcnn/kernels/loss.h.
 */
#ifndef GLCNN_KERNELS_BOX_LOSS_H
#define GLCNN_KERNELS_BOX_LOSS_H

#include <glcnn/kernels/loss.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glcnn_box_loss_parameters {
    glcnn_reduction_type reduction_type; /* default sum */
    float weight;                        /* default 1 */
};

/* The parameters of a box loss kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_box_loss_parameters *glcnn_box_loss(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_box_loss_create(glcnn_device *device,
                                             glcnn_reduction_type reduction_type,
                                             glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_box_iou_create(glcnn_device *device, glcnn_kernel **kernel);

/* A node with the loss and its gradient, as glcnn_loss_node makes one; label_weights may be NULL: 1
 * everywhere. The weight begins at 1. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_filter_node *glcnn_box_loss_node(glcnn_image_node *predictions,
                                                 glcnn_image_node *labels,
                                                 glcnn_image_node *label_weights,
                                                 glcnn_reduction_type reduction_type);

/* The result of a node with the IoU of both images' boxes. No gradient goes through it. NULL on
 * failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_box_iou_node(glcnn_image_node *source,
                                               glcnn_image_node *secondary);

#ifdef __cplusplus
}
#endif
#endif
