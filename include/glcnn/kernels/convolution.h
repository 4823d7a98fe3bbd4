/* Convolution and fully connected layers with their gradients: MPSCNNConvolution,
 * MPSCNNFullyConnected and their Gradient classes; spec 5.6 and 7.2.
 *
 *   out(x, y, k) = neuron(b[k] + sum over taps (q, p) and inputs c of W[k][q][p][c] * in(tap, c))
 *   gradients      dX, dW and db, the exact derivatives; dW and db are sums over all images
 *
 * Correlation: weights are not turned. Output k belongs to group k / (outputs / groups) and sees
 * that group's inputs alone; any number of groups that divides both is accepted. groups = inputs is
 * the depth-wise convolution, with a multiplier of outputs / inputs.
 *
 * Weights are float32, W[outputs][kernel_height][kernel_width][inputs / groups], and are the
 * kernel's vector "weights"; biases, one an output, its vector "biases", unless it is one
 * without_biases; both 0 until set. Forward and gradient kernel own a copy each, and both must be
 * given new values (glcnn_kernel_set_vector, glcnn_kernel_encode_reload).
 *
 * A NaN or an infinity goes to every result whose window has it, and may go further where it is
 * multiplied by a 0: from weights or G also where a tap reads the zeros outside of the image, and
 * from a channel to other groups that share its slice of four channels.
 *
 * The gradient kernel adds gradient_for_weights and gradient_for_biases into the state, until another
 * kernel or the caller has read them; see glcnn/state.h. By hand the secondary offset places the source
 * image for the gradient of the weights, and for that of the data pixel i of the source gradient stands
 * at stride * (i - primary offset) - kernel_offset of the result: of a gradient 4, 6, one tap of weight 1
 * and a stride of 2 a kernel_offset_x of 0 makes 4, 0, 6, 0, one of 1 makes 0, 6, 0, 0.
 *
 * Fully connected: the window is the source, which must be kernel_width x kernel_height; the result
 * is 1x1, the offset is ignored. W[outputs][kernel_height][kernel_width][inputs].
 *
 * Weights may be longer than one storage block of the device (storage_block_size): passes then take
 * those of some outputs after the others. Their gradient is made so for one group, or for groups of one
 * channel; of other groups it is refused with GLCNN_LIMIT_EXCEEDED, and so is a transposed convolution.
 *
 * Sub-pixel convolution (MPSCNNSubPixelConvolutionDescriptor), for factor r: the result has r times
 * the convolution's columns and rows and 1 / r^2 of its outputs, which r^2 must divide,
 *   result(x, y, c) = out(floor(x / r), floor(y / r),
 *                         (outputs / r^2) * (r * (y mod r) + (x mod r)) + c)
 * x and y count from the clip rectangle's corner, as they do wherever an offset applies. Strides,
 * padding, biases, groups and neuron are those of the convolution `out`.
 *
 * Where a MPS client may differ (spec 12.9 to 12.11 and 12.38):
 *   - windows of the weight gradient start floor(Kd / 2) pixels before their centre, as forward;
 *     one text of MPS has floor(dilation * K / 2);
 *   - the gradient's secondary offset is the forward offset; a later MPS wants it less
 *     floor(Kd / 2) when it is set by hand;
 *   - the primary offset is added to the gradient's pixels; one formula of MPS subtracts it;
 *   - sums start at 0 with the state and every encode adds; MPS may overwrite with the first;
 *   - weights of a fully connected layer go by row, column, channel; one text of MPS has columns
 *     first.
 *
 * Neither a kernel with a fused neuron nor a sub-pixel convolution has a gradient: training keeps
 * the neuron apart.
 */
#ifndef GLCNN_KERNELS_CONVOLUTION_H
#define GLCNN_KERNELS_CONVOLUTION_H

#include <glcnn/data_source.h>
#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/neuron.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPSCNNConvolutionGradientOption: bits. */
typedef enum glcnn_gradient_option {
    GLCNN_GRADIENT_OPTION_DATA = 1,               /* vectors in the state stay as they are */
    GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES = 2, /* no destination is needed or written */
    GLCNN_GRADIENT_OPTION_ALL = 3,
    GLCNN_GRADIENT_OPTION_FORCE32 = 0x7fffffff
} glcnn_gradient_option;

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_convolution_parameters {
    uint32_t input_feature_channels;       /* 0: as many as are read of the source */
    uint32_t output_feature_channels;      /* at least 1 */
    uint32_t groups;                       /* divides both; fully connected: none */
    struct glcnn_neuron_descriptor neuron; /* forward kernels */
    glcnn_gradient_option gradient_option; /* gradient kernels; default all */
    uint32_t sub_pixel_scale_factor;       /* at most 256; of convolution, others read none */
    bool without_biases; /* the kernel has no vector "biases", and its gradient makes none for it */
};

/* The parameters of one of these kernels, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_convolution_parameters *glcnn_convolution(glcnn_kernel *kernel);

/* MPSCNNConvolutionDescriptor. Strides, dilation rates, groups and a scale factor that are 0 mean
 * 1. */
struct glcnn_convolution_descriptor {
    uint32_t kernel_width, kernel_height;
    uint32_t input_feature_channels, output_feature_channels;
    uint32_t stride_in_pixels_x, stride_in_pixels_y;
    uint32_t dilation_rate_x, dilation_rate_y;
    uint32_t groups;
    struct glcnn_neuron_descriptor neuron; /* none if left out; forward kernels */
    uint32_t sub_pixel_scale_factor;       /* glcnn_convolution_create alone takes one above 1 */
    bool without_biases;                   /* b[k] is 0 and stays so, in training too */
};

/* What weights are made of. */
typedef enum glcnn_convolution_weights_type {
    GLCNN_CONVOLUTION_WEIGHTS_FLOAT32 = 0,      /* float */
    GLCNN_CONVOLUTION_WEIGHTS_FLOAT16 = 1,      /* IEEE 754 binary16, as uint16_t */
    GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR = 2, /* uint8_t u: u / 255 * (max - min) + min */
    GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE = 3,  /* uint8_t u: table[u] */
    GLCNN_CONVOLUTION_WEIGHTS_FORCE32 = 0x7fffffff
} glcnn_convolution_weights_type;

/* MPSCNNConvolutionDataSource: values in the layout above, copied when the kernel is made. Every
 * type is decoded then: the kernel's vector "weights", what is computed with it and what its
 * gradients are added to is float32, so the narrow types save space in what a caller keeps or
 * loads, not on the device.
 *
 * With batch_normalization, one for each output channel, the kernel is the convolution, that
 * normalisation by its mean and variance, and the neuron in one, for inference: with
 *   I = gamma / sqrt(variance + epsilon)
 * its vectors are weights * I and (biases - mean) * I + beta. Kernels that compute gradients refuse
 * it; one that is given new vectors later takes them as they are. */
struct glcnn_convolution_weights {
    const void *weights;                 /* of `type`; NULL: 0 */
    const float *biases;                 /* NULL: 0; a kernel without_biases refuses them */
    glcnn_convolution_weights_type type; /* left out: float32 */
    const float *ranges;                 /* uint8_linear: min and max of each output in turn */
    const float *table;                  /* uint8_table: 256 values */
    const struct glcnn_batch_normalization_data_source *batch_normalization; /* NULL: none */
};

/* Each makes a kernel; `weights` may be NULL: all 0. The fully connected ones take no strides,
 * dilation rates or groups other than 1. The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_convolution_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_convolution_gradient_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_fully_connected_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_fully_connected_gradient_create(
    glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,
    const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel);

/* The result of a node. Its descriptor is that of a kernel, so fields of 0 mean 1, and
 * input_feature_channels must be given. `data_source` (glcnn/data_source.h) has the weights and may
 * update them; its values are loaded at once. NULL: 0 until they are set. Defaults: edge mode zero,
 * padding same size; a fully connected layer takes windows as large as its source whatever the
 * padding. NULL on failure, see glcnn/node.h; the data source's context is then the caller's still.
 * MPSCNNConvolutionNode, MPSCNNFullyConnectedNode. */
GLCNN_API glcnn_image_node *
glcnn_convolution_node(glcnn_image_node *source,
                       const struct glcnn_convolution_descriptor *descriptor,
                       const struct glcnn_data_source *data_source);
GLCNN_API glcnn_image_node *
glcnn_fully_connected_node(glcnn_image_node *source,
                           const struct glcnn_convolution_descriptor *descriptor,
                           const struct glcnn_data_source *data_source);

#ifdef __cplusplus
}
#endif
#endif
