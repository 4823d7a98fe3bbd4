/* Loss of a detector with anchor boxes, and its first gradient, in one kernel. MPSCNNYOLOLoss;
 * spec 8.1.
 *
 * Predictions y, labels t and label weights w are images as those of glcnn/kernels/loss.h, given in
 * the same fields of glcnn_encode; destination and loss receive what they do there. A pixel is a cell
 * of a grid. It has (5 + classes) channels for each anchor box, one box behind the other:
 *
 *   0 1  x, y        centre in the cell, from its left upper corner: t in cells, 0 to 1; y before the
 *                    sigmoid
 *   2 3  w, h        size: t in cells; y is the logarithm of how many times the anchor box's
 *   4    confidence  t is 1 where there is an object, else 0
 *   5..  classes     t is 1 for the object's class, else 0
 *
 * Labels may name an object for all anchor boxes of the cell that its centre is in, alike: the kernel
 * finds the box whose anchor fits. Or for a box that the caller found, with zeros in the others.
 * With s the sigmoid, p the anchor box, B the box (s(y_x), s(y_y), p_w exp(y_w), p_h exp(y_h)) and IoU
 * the intersection over union of B and t's box, 0 where they share nothing, an anchor box has
 *
 *   an object  where t_c, t_w and t_h are above 0, and the IoU above min_iou_for_object_presence or
 *              no anchor box of the cell whose t is the same box fits it better. The fit is the IoU
 *              of p and t's size about one centre; of equal ones the first counts
 *   none       where it has no object and the IoU is below max_iou_for_object_absence
 *
 * and adds to the loss, each part with the loss l of its type and its weight:
 *
 *   xy, with an object          scale_xy l(s(y), t)
 *   wh, with an object          scale_wh l(y, log(t / p))
 *   confidence, with an object  scale_object l(y, t_c IoU), without rescore l(y, t_c)
 *   confidence, with none       scale_no_object l(y, 0)
 *   classes, with an object     scale_class l(y, t); soft-max cross entropy is over the classes
 *
 * all times w. What is neither adds 0 and has a gradient of 0. The gradient is that of the loss where
 * the objects and the IoU stay as they are: none goes through the label t_c IoU. It is never scaled
 * by the reduction. The reductions are those of glcnn/kernels/loss.h over all elements: mean divides
 * by width * height * channels. There is no sum over images: to train on the mean of a batch set the
 * four weights to 1 / images.
 *
 * A NaN in y shows in the loss and the gradient of its element where those are not 0. One in x, y, w or
 * h of y or t makes the IoU a NaN, which is neither above nor below a threshold. The offset, edge mode and
 * clip rectangle are as for glcnn/kernels/loss.h.
 *
 * Where a MPS client may differ (spec 12.45 to 12.51): which anchor box has an object, what the
 * thresholds are compared with, the label of w and h, means, the gradient through the IoU.
 */
#ifndef GLCNN_KERNELS_YOLO_LOSS_H
#define GLCNN_KERNELS_YOLO_LOSS_H

#include <glcnn/kernels/loss.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What MPSCNNLossDescriptor says of a part. */
struct glcnn_yolo_loss_part {
    glcnn_loss_type loss_type; /* not cosine_distance; soft_max_cross_entropy for classes only */
    float weight;              /* factor of its loss and gradient beside the scale, default 1 */
    float label_smoothing;     /* 0 .. 1, default 0; cross entropies of soft-max, over the classes
                                  that there are, and of sigmoid */
    float epsilon;             /* 0 or more, default 1e-7; type log */
    float delta;               /* 0 or more, default 1; type Huber */
};

/* MPSCNNYOLOLossDescriptor. The anchor boxes are the kernel's vector "anchor_boxes": width and height
 * of each, in cells, 1 until it is set. */
struct glcnn_yolo_loss_parameters {
    struct glcnn_yolo_loss_part xy;         /* default mean_squared_error */
    struct glcnn_yolo_loss_part wh;         /* default huber */
    struct glcnn_yolo_loss_part confidence; /* default sigmoid_cross_entropy */
    struct glcnn_yolo_loss_part classes;    /* default soft_max_cross_entropy */
    glcnn_reduction_type reduction_type;    /* default sum */
    bool rescore;                           /* default true */
    float scale_xy, scale_wh;               /* default 10 each */
    float scale_no_object, scale_object;    /* default 5 and 100 */
    float scale_class;                      /* default 2 */
    float min_iou_for_object_presence;      /* 0 .. 1, default 0.7 */
    float max_iou_for_object_absence;       /* 0 .. 1, default 0.3 */
    uint32_t number_of_anchor_boxes;        /* 1 to 1024, default 1 */
};

/* The parameters of a YOLO loss kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_yolo_loss_parameters *glcnn_yolo_loss(glcnn_kernel *kernel);

/* Makes a kernel that the caller owns. `anchor_boxes` has `count` numbers, width and height of each
 * anchor box in cells, and is copied; it sets number_of_anchor_boxes. NULL and 0 leave both to
 * glcnn_yolo_loss and glcnn_kernel_set_vector. Errors: GLCNN_INVALID_ARGUMENT, also for another number
 * than 2 to 2048, for an odd one, and for a width or height that is not finite and above 0;
 * GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_yolo_loss_create(glcnn_device *device, const float *anchor_boxes,
                                              size_t count, glcnn_reduction_type reduction_type,
                                              glcnn_kernel **kernel);

/* A node with the loss and its gradient, as glcnn_loss_node makes one; label_weights may be NULL: 1
 * everywhere. `anchor_boxes` has `count` numbers, as for glcnn_yolo_loss_create. The other parameters
 * begin with their defaults. NULL on failure, see glcnn/node.h. MPSCNNYOLOLossNode. */
GLCNN_API glcnn_filter_node *glcnn_yolo_loss_node(glcnn_image_node *predictions,
                                                  glcnn_image_node *labels,
                                                  glcnn_image_node *label_weights,
                                                  const float *anchor_boxes, size_t count,
                                                  glcnn_reduction_type reduction_type);

#ifdef __cplusplus
}
#endif
#endif
