/* An image of numbers that train: positional embeddings, class tokens, biases by pixel, grids of
 * anchors, initial states. MPS has none; spec 7.24. Of feature_channels C, width W:
 *
 *   out(n, c, y, x) = values[(y W + x) C + c]                  the same for every image n
 *   gradient_for_values[(y W + x) C + c] = sum over n of G(n, c, y, x);   dX = 0
 *
 * "values" is the kernel's vector of height x width x feature_channels numbers, in the order row,
 * column, channel, packed; 0 until it is set. The source is any image: the result has as many images
 * as it, and nothing else of it counts. The result has its format, float32 for unorm8.
 *
 * The gradient kernel needs the state that a forward encode left, and follows it. gradient_option
 * says what it computes: gradient_for_values in the state, zeros as the destination, or both.
 * Encodes into one state add up until glcnn_state_reset or until the vector is read; there is one
 * state for a batch. Images are added up 32 at a time, and then those sums.
 *
 * Graphs train the values as the weights of any layer (glcnn/training.h), and hand no gradient on to
 * the source, whose values do not count. With a training style of none the values are constants.
 *
 * The offset counts in z only, the edge mode does not count, and the destination is width x height.
 */
#ifndef GLCNN_KERNELS_LEARNED_IMAGE_H
#define GLCNN_KERNELS_LEARNED_IMAGE_H

#include <glcnn/kernels/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties; the gradient takes the sizes from its state. Together
 * they are at most 2147483647 numbers. */
struct glcnn_learned_image_parameters {
    uint32_t width, height;                /* 1 to 65536, default 1 */
    uint32_t feature_channels;             /* 1 to 65536, default 1 */
    glcnn_gradient_option gradient_option; /* gradient kernels; default all: weights_and_biases
                                              stands for the values, data for the zeros */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_learned_image_parameters *glcnn_learned_image(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns; the gradient starts with default parameters. Values are
 * set with glcnn_kernel_set_vector ("values"), or come from a data source.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_learned_image_create(glcnn_device *device, uint32_t width,
                                                  uint32_t height, uint32_t feature_channels,
                                                  glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_learned_image_gradient_create(glcnn_device *device,
                                                           glcnn_kernel **kernel);

/* The result of a node. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_learned_image_node(glcnn_image_node *source, uint32_t width,
                                                     uint32_t height, uint32_t feature_channels);

#ifdef __cplusplus
}
#endif
#endif
