/* The losses of a detector. Images of distances have channels left, top, right, bottom. */
#include "detection_loss.h"

#define LEAST 1e-7f /* keeps quotients of two zeros at 0 */

static glcnn_image_node *channels_of(glcnn_image_node *source, uint32_t first, uint32_t count)
{
    return glcnn_strided_slice_node(source, &(struct glcnn_strided_slice_parameters){
                                                .start_channel = first, .size_channels = count});
}

static struct glcnn_arithmetic_parameters *arithmetic(glcnn_image_node *result)
{
    return glcnn_arithmetic(glcnn_filter_node_kernel(glcnn_image_node_filter(result)));
}

/* Primary and secondary with factors, and a number added. */
static glcnn_image_node *scaled(glcnn_image_node *result, float primary, float secondary,
                                float bias)
{
    struct glcnn_arithmetic_parameters *parameters = result ? arithmetic(result) : NULL;
    if (parameters) {
        parameters->primary_scale = primary;
        parameters->secondary_scale = secondary;
        parameters->bias = bias;
    }
    return result;
}

static glcnn_image_node *square(glcnn_image_node *x)
{
    return glcnn_multiply_node(x, x);
}

/* Width and height, in two channels. */
static glcnn_image_node *extent_of(glcnn_image_node *distances)
{
    return glcnn_add_node(channels_of(distances, 0, 2), channels_of(distances, 2, 2));
}

/* Of boxes; a channel each. */
struct sides {
    glcnn_image_node *width, *height;
};

static struct sides sides_of(glcnn_image_node *distances)
{
    glcnn_image_node *extent = extent_of(distances);
    return (struct sides){channels_of(extent, 0, 1), channels_of(extent, 1, 1)};
}

static glcnn_image_node *area_of(const struct sides *sides)
{
    return glcnn_multiply_node(sides->width, sides->height);
}

static glcnn_image_node *squared_length(glcnn_image_node *vector)
{
    return glcnn_node(square(vector), "reduce_feature_channels_sum", NULL);
}

/* d^2 / c^2; `enclosing` is the extent of the box around both. */
static glcnn_image_node *distance_term(glcnn_image_node *predicted, glcnn_image_node *expected,
                                       glcnn_image_node *enclosing)
{
    glcnn_image_node *apart = glcnn_subtract_node(predicted, expected);
    glcnn_image_node *centres =
        glcnn_subtract_node(channels_of(apart, 2, 2), channels_of(apart, 0, 2)); /* twice */
    glcnn_image_node *longest = squared_length(enclosing);
    return scaled(glcnn_divide_node(squared_length(centres), longest), 0.25f, 1, 0);
}

/* atan(w / h) - pi / 4 = atan(u), u = (w - h) / (w + h) within -1 .. 1, by the polynomial 4.4.47 of
 * Abramowitz and Stegun, whose error is below 1e-5. */
static glcnn_image_node *angle_of(const struct sides *sides)
{
    static const float factors[] = {-0.0851330f, 0.1801410f, -0.3302995f, 0.9998660f};
    glcnn_image_node *width = sides->width, *height = sides->height;
    glcnn_image_node *u = glcnn_divide_node(glcnn_subtract_node(width, height),
                                            scaled(glcnn_add_node(width, height), 1, 1, LEAST));
    glcnn_image_node *uu = square(u), *sum = glcnn_neuron_linear_node(uu, 0.0208351f, factors[0]);
    for (int i = 1; i < 4; i++)
        sum = scaled(glcnn_multiply_node(sum, uu), 1, 1, factors[i]);
    return glcnn_multiply_node(sum, u);
}

/* alpha v */
static glcnn_image_node *aspect_term(const struct sides *predicted, const struct sides *expected,
                                     glcnn_image_node *iou)
{
    const float factor = 0.63661977f; /* 2 / pi */
    glcnn_image_node *v = square(
        scaled(glcnn_subtract_node(angle_of(predicted), angle_of(expected)), factor, factor, 0));
    glcnn_image_node *alpha =
        glcnn_divide_node(v, scaled(glcnn_subtract_node(v, iou), 1, 1, 1 + LEAST));
    glcnn_image_node_set_stop_gradient(alpha, true);
    return glcnn_multiply_node(alpha, v);
}

/* Both measures of how well boxes agree. */
struct agreement {
    glcnn_image_node *iou, *ciou;
};

static struct agreement compare(glcnn_image_node *predicted, glcnn_image_node *expected)
{
    const struct sides found = sides_of(predicted), wanted = sides_of(expected),
                       common = sides_of(glcnn_minimum_node(predicted, expected));
    glcnn_image_node *inside = area_of(&common);
    glcnn_image_node *both = glcnn_add_node(area_of(&found), area_of(&wanted));
    glcnn_image_node *iou =
        glcnn_divide_node(inside, scaled(glcnn_subtract_node(both, inside), 1, 1, LEAST));
    glcnn_image_node *enclosing = extent_of(glcnn_maximum_node(predicted, expected));
    glcnn_image_node *ciou =
        glcnn_subtract_node(glcnn_subtract_node(iou, distance_term(predicted, expected, enclosing)),
                            aspect_term(&found, &wanted, iou));
    return (struct agreement){iou, ciou};
}

glcnn_image_node *detection_ciou(glcnn_image_node *predicted, glcnn_image_node *expected)
{
    return compare(predicted, expected).ciou;
}

/* The IoU for the class of the location's object. */
static glcnn_image_node *qualities(glcnn_image_node *labels, glcnn_image_node *iou)
{
    glcnn_image_node *q =
        glcnn_node_binary(labels, iou, "multiply", "secondary_stride_in_feature_channels=0");
    glcnn_image_node_set_stop_gradient(q, true);
    return q;
}

/* 1 - CIoU: its difference from 1, which the labels of a location with an object sum to. */
static glcnn_filter_node *add_boxes(glcnn_image_node *ciou, const struct detection_loss *loss)
{
    glcnn_image_node *one = glcnn_node(loss->labels, "reduce_feature_channels_sum", NULL);
    return glcnn_loss_node(ciou, one, loss->box_weights, GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR,
                           GLCNN_REDUCTION_TYPE_SUM);
}

void detection_losses(const struct detection_outputs *outputs, enum detection_classes classes,
                      struct detection_loss *loss)
{
    const struct agreement boxes = compare(outputs->distances, loss->distances);
    const bool by_quality = classes == DETECTION_QUALITY;
    loss->scores = glcnn_loss_node(
        outputs->scores, by_quality ? qualities(loss->labels, boxes.iou) : loss->labels,
        loss->label_weights,
        by_quality ? GLCNN_LOSS_TYPE_QUALITY_FOCAL : GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY,
        GLCNN_REDUCTION_TYPE_SUM);
    loss->boxes = add_boxes(boxes.ciou, loss);
}
