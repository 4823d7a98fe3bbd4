/* Loss and its first gradient in one kernel. MPSCNNLoss; spec 8.
 *
 * MPSCNNLossLabels is three images here, fields of glcnn_encode:
 *   labels         t, of the predictions' width, height and channels; required
 *   label_weights  w, of the same shape; NULL: 1 everywhere
 *   loss           receives the loss; NULL: only the gradient is computed
 * `source` holds the predictions y; `destination` receives the gradient of the loss with respect
 * to y. With omega = weight * w, for an element loss l and its derivative d:
 *
 *   gradient   omega * d, never scaled by the reduction; see below for soft-max cross entropy
 *   loss       none  omega * l, element by element: the loss image has the predictions' shape
 *              sum   sum of omega * l over one image
 *              mean  sum / (width * height * channels); soft-max cross entropy: / (width * height)
 *              sum_by_non_zero_weights  sum / number of elements of w that are not 0; without
 *                    label_weights as mean
 *   The last three go to a loss image of 1x1x1, one value for each image. There is no sum over
 *   images: to train on the mean of a batch set weight = 1 / images.
 *
 *   type                       l                                         d
 *   mean_absolute_error        |y - t|                                   sign(y - t), sign(0) = 0
 *   mean_squared_error         (y - t)^2                                 2 (y - t)
 *   soft_max_cross_entropy     -t log soft-max(y)                        see below
 *   sigmoid_cross_entropy      max(y, 0) - y t + log(1 + exp(-|y|))      1 / (1 + exp(-y)) - t
 *   categorical_cross_entropy  -t log y, 0 where t = 0                   -t / y, 0 where t = 0
 *   hinge, t' = 2 t - 1        max(1 - t' y, 0)                          1 - t' y > 0 ? -t' : 0
 *   huber, e = y - t           |e| <= delta ? e^2 / 2                    clamp(e, -delta, delta)
 *                              : delta^2 / 2 + delta (|e| - delta)
 *   cosine_distance            1 - sum y t; reduction sum only           -t
 *   log                        -t log(y + epsilon)                       derivative of l
 *                              - (1 - t) log(1 - y + epsilon)
 *   kullback_leibler_divergence  t (log t - y), 0 where t = 0            -t
 *   quality_focal              (p - t)^2 times sigmoid_cross_entropy's   derivative of l
 *                              l, p = 1 / (1 + exp(-y)): Li et al.
 *                              2020, with beta = 2, for labels 0 .. 1
 *
 * Soft-max cross entropy goes over the channels of a pixel. Its gradient is exact for labels that
 * do not sum to 1 and weights that vary over channels:
 *   soft-max(y)_k * sum_i omega_i t_i - omega_k t_k,   which is omega (soft-max(y) - t) otherwise.
 * label_smoothing a > 0 changes labels before all else: soft-max cross entropy
 * t (1 - a) + a / number_of_classes, sigmoid cross entropy t (1 - a) + a / 2, other types not.
 *
 * A NaN in y or t makes l a NaN, and of d and the sums what depends on it; where t = 0 no infinite
 * logarithm counts: neither soft-max cross entropy's (a logit of -infinity), nor those above.
 *
 * The offset, edge mode and clip rectangle are as for any unary kernel: labels and label_weights
 * are read where the predictions are, an element-wise loss is written where the gradient is. The
 * sums and counts run over the clip rectangle. Images: labels go with the predictions', the loss
 * with the gradient's; one image of N images and N images of one image give the same.
 *
 * Where a MPS client may differ (spec 12.20 to 12.25): the product of weight and w, the gradients
 * of soft-max cross entropy, hinge, Huber and Kullback-Leibler, the sign at equality.
 */
#ifndef GLCNN_KERNELS_LOSS_H
#define GLCNN_KERNELS_LOSS_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPSCNNLossType. */
typedef enum glcnn_loss_type {
    GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR = 0,
    GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR = 1,
    GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY = 2,
    GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY = 3,
    GLCNN_LOSS_TYPE_CATEGORICAL_CROSS_ENTROPY = 4,
    GLCNN_LOSS_TYPE_HINGE = 5,
    GLCNN_LOSS_TYPE_HUBER = 6,
    GLCNN_LOSS_TYPE_COSINE_DISTANCE = 7,
    GLCNN_LOSS_TYPE_LOG = 8,
    GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE = 9,
    GLCNN_LOSS_TYPE_QUALITY_FOCAL = 10, /* not MPS's */
    GLCNN_LOSS_TYPE_FORCE32 = 0x7fffffff
} glcnn_loss_type;

/* MPSCNNReductionType. */
typedef enum glcnn_reduction_type {
    GLCNN_REDUCTION_TYPE_NONE = 0,
    GLCNN_REDUCTION_TYPE_SUM = 1,
    GLCNN_REDUCTION_TYPE_MEAN = 2,
    GLCNN_REDUCTION_TYPE_SUM_BY_NON_ZERO_WEIGHTS = 3,
    GLCNN_REDUCTION_TYPE_FORCE32 = 0x7fffffff
} glcnn_reduction_type;

/* MPSCNNLossDescriptor. */
struct glcnn_loss_parameters {
    glcnn_loss_type loss_type;
    glcnn_reduction_type reduction_type;
    float weight;               /* default 1 */
    float label_smoothing;      /* 0 .. 1, default 0 */
    uint32_t number_of_classes; /* 1 or more, default 1; for smoothing in soft-max cross entropy */
    float epsilon;              /* 0 or more, default 1e-7; type log */
    float delta;                /* 0 or more, default 1; type Huber */
};

/* The parameters of a loss kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_loss_parameters *glcnn_loss(glcnn_kernel *kernel);

/* Makes a kernel that the caller owns. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_loss_create(glcnn_device *device, glcnn_loss_type loss_type,
                                         glcnn_reduction_type reduction_type,
                                         glcnn_kernel **kernel);

/* A node with the loss and its gradient: glcnn_filter_node_loss and glcnn_filter_node_result give
 * their images. An execution of a graph takes the weight that the node's kernel has by then, as where
 * each batch has another number of labels to be divided by; that of cosine_distance, and the other
 * parameters, are those of the first execution. label_weights may be NULL: 1 everywhere. Defaults: weight 1, no label smoothing,
 * number_of_classes 1, epsilon 1e-7, delta 1. NULL on failure, see glcnn/node.h. MPSCNNLossNode. */
GLCNN_API glcnn_filter_node *glcnn_loss_node(glcnn_image_node *predictions,
                                             glcnn_image_node *labels,
                                             glcnn_image_node *label_weights,
                                             glcnn_loss_type loss_type,
                                             glcnn_reduction_type reduction_type);

#ifdef __cplusplus
}
#endif
#endif
