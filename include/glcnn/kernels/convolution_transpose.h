/* Transposed convolution: MPSCNNConvolutionTranspose; spec 5.6, 6.3 and 7.2.
 *
 * The source is spread out, stride - 1 zeros between its pixels, and correlated with the weights as
 * they are given, not turned:
 *
 *   Z[stride * i] = in[i],   total = offset * stride + kernel_offset
 *   out(y, k) = neuron(b[k] + sum over taps p and inputs c of
 *                      W[k][q][p][c] * Z(y + total - floor(Kd / 2) + dilation * p, c))
 *
 * Strides are steps of the result for a step of the source. What lies outside the source is 0
 * whatever the edge mode. Parameters, weights, groups and the fused neuron are those of
 * glcnn/kernels/convolution.h; MPS has dilation rates of 1 only.
 *
 * A returning encode makes a result of (n - 1) * stride + 1 pixels, Kd - 1 fewer for valid only and
 * as many more for full, and sets kernel_offset so that the taps are those of the convolution that
 * goes the other way. Given the gradient state of that convolution, whose kernel size it must
 * share, glcnn_kernel_prepare_destination and the returning encode take the size of its source
 * and its offset instead; an encode with such a state leaves no state of its own.
 *
 * The gradient, which MPS lacks, works like that of a convolution: dX, and dW and db added into the
 * state. It follows its state and cannot be addressed by hand.
 */
#ifndef GLCNN_KERNELS_CONVOLUTION_TRANSPOSE_H
#define GLCNN_KERNELS_CONVOLUTION_TRANSPOSE_H

#include <glcnn/kernels/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each makes a kernel; `weights` may be NULL: all 0. Weights are
 * W[outputs][kernel_height][kernel_width][inputs / groups]. glcnn_convolution() gives the
 * parameters. The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_convolution_transpose_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_convolution_transpose_gradient_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);

/* The result of a node, as glcnn_convolution_node makes it. Defaults: edge mode zero, padding same
 * size; glcnn_filter_node_set_source_state lets it take sizes from a convolution.
 * MPSCNNConvolutionTransposeNode. */
GLCNN_API glcnn_image_node *
glcnn_convolution_transpose_node(glcnn_image_node *source,
                                 const struct glcnn_convolution_descriptor *descriptor,
                                 const struct glcnn_data_source *data_source);

#ifdef __cplusplus
}
#endif
#endif
