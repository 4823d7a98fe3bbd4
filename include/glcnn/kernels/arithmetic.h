/* Arithmetic of two images, and the gradients. MPSCNNAdd, MPSCNNSubtract, MPSCNNMultiply,
 * MPSCNNDivide; MPS has no maximum, minimum and power; spec 7.11. With x of the primary and y of the secondary source
 *
 *   add        r = primary_scale * x + secondary_scale * y + bias
 *   subtract   r = primary_scale * x - secondary_scale * y + bias
 *   multiply   r = (primary_scale * x) * (secondary_scale * y) + bias
 *   divide     r = (primary_scale * x) / (secondary_scale * y) + bias
 *   maximum    r = max(primary_scale * x, secondary_scale * y) + bias
 *   minimum    r = min(primary_scale * x, secondary_scale * y) + bias
 *   power      r = (primary_scale * x)^(secondary_scale * y) + bias
 *   out        r, kept within minimum_value .. maximum_value
 *
 * Broadcasting: a source whose stride is 0 along an axis (glcnn_source_properties: columns, rows or
 * feature channels) is read at its offset only, one pixel or channel for all results. The result
 * has the extent of the source whose stride is 1; two such sources must agree in channels, and in a
 * returning encode in width and height. By another encode results that lie beyond a source take its
 * edge mode. Images of a batch are never broadcast.
 *
 * Gradients: a kernel differentiates by one source, the primary or the secondary. With the forward
 * state it is the exact derivative, the state's scales and strides included, summed over every axis
 * along which that source was broadcast; the result has that source's size. Where r was outside the
 * bounds nothing is passed on, on the bounds everything (spec 12.27): the forward encode
 * keeps a mask in the state's vector "clamp_mask", unless both bounds are at their defaults.
 *
 * A NaN stays one whatever the bounds, and is within none: it passes no gradient on, unless dr/dx
 * itself is a NaN. Outside of the bounds an infinite dr/dx, as of a division by 0, is 0 too.
 *
 *   gradient of     is given as source image
 *   add, subtract   the source differentiated by; its size alone counts
 *   multiply        the other source
 *   divide          the secondary source, always. By the secondary source the quotient is needed
 *                   too: the forward encode keeps it in the state's vector "quotient"
 *   maximum,        the source differentiated by; its size alone counts. The larger or smaller of
 *   minimum         the two has the gradient, each of equals half of it: the forward encode keeps
 *                   the primary's share in the state's vector "primary_share"
 *   power           the secondary source, the exponents, always: the forward encode keeps the
 *                   scaled primary in the state's vector "base". By an exponent of 0 or more the
 *                   derivative at a base of 0 is 0, and at a negative base a NaN
 *
 * With addressing set by hand the gradient goes pixel by pixel with the kernel's own scales: by
 * primary_scale * G, for multiply (primary_scale * G) * (secondary_scale * other), for divide,
 * maximum, minimum and power by the formulas of the exact derivative. Nothing is summed.
 *
 * Where a MPS client may differ: it sets a gradient's scales itself; its clamp may pass nothing on
 * exactly at a bound; it has no gradient of divide.
 */
#ifndef GLCNN_KERNELS_ARITHMETIC_H
#define GLCNN_KERNELS_ARITHMETIC_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_arithmetic_parameters {
    float primary_scale, secondary_scale; /* default 1 */
    float bias;                           /* default 0; gradients ignore it */
    float minimum_value, maximum_value;   /* defaults -FLT_MAX and FLT_MAX */
    bool is_secondary_source_filter;      /* gradients: by the secondary source; default false */
};

/* The parameters of an arithmetic kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_arithmetic_parameters *glcnn_arithmetic(glcnn_kernel *kernel);

/* Each makes a kernel. The caller owns it. Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_add_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_subtract_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_multiply_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_divide_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_maximum_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_minimum_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_power_create(glcnn_device *device, glcnn_kernel **kernel);

/* Gradients by the primary source, or by the secondary source. They need the forward state. */
GLCNN_API glcnn_status glcnn_add_gradient_create(glcnn_device *device,
                                                 bool is_secondary_source_filter,
                                                 glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_subtract_gradient_create(glcnn_device *device,
                                                      bool is_secondary_source_filter,
                                                      glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_multiply_gradient_create(glcnn_device *device,
                                                      bool is_secondary_source_filter,
                                                      glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_divide_gradient_create(glcnn_device *device,
                                                    bool is_secondary_source_filter,
                                                    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_maximum_gradient_create(glcnn_device *device,
                                                     bool is_secondary_source_filter,
                                                     glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_minimum_gradient_create(glcnn_device *device,
                                                     bool is_secondary_source_filter,
                                                     glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_power_gradient_create(glcnn_device *device,
                                                   bool is_secondary_source_filter,
                                                   glcnn_kernel **kernel);

/* The result of a node. Defaults: scales 1, bias 0, no bounds, no broadcasting. NULL on failure,
 * see glcnn/node.h. MPSNNAdditionNode, MPSNNSubtractionNode, MPSNNMultiplicationNode,
 * MPSNNDivisionNode. */
GLCNN_API glcnn_image_node *glcnn_add_node(glcnn_image_node *primary, glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_subtract_node(glcnn_image_node *primary,
                                                glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_multiply_node(glcnn_image_node *primary,
                                                glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_divide_node(glcnn_image_node *primary,
                                              glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_maximum_node(glcnn_image_node *primary,
                                               glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_minimum_node(glcnn_image_node *primary,
                                               glcnn_image_node *secondary);
GLCNN_API glcnn_image_node *glcnn_power_node(glcnn_image_node *primary,
                                             glcnn_image_node *secondary);

#ifdef __cplusplus
}
#endif
#endif
