/* Pooling: average, L2 norm, max and dilated max, and their gradients. MPSCNNPooling and its
 * subclasses; spec 7.1.
 *
 *   average    out = sum of taps inside the image / N.  Edge mode zero: N is the whole window;
 *              clamp: N counts pixels of the image enlarged by the zero pad on each side
 *   L2 norm    out = sqrt(sum of squared taps)
 *   max        out = largest tap; of equals the first in row-major order; NaN wins, and
 *              takes the gradient. The others sum: a NaN or an infinity goes to all windows with it
 *   gradients  the exact derivatives. sourceImage is the forward source; L2 and max recompute the
 *              forward result from it, but a maximum whose state has argmax indices reads these
 *
 * The state of a maximum has a vector "indices" where at most 9 windows read a pixel, a window has
 * more than one tap and at most 8x8, along each axis the stride is 1, or the dilation is and the stride
 * is at most the window's size, with edge mode clamp there is no dilation and each window holds a pixel
 * of the image, and the vector takes at most 128 MiB. It has a number for each image, slice of four
 * channels, row and column of the result: the sum over the slice's channels c = 0 to 3 of
 * (8 * row + column) * 64^c, by the row and column of the largest tap in its window, or with clamp by those
 * of the pixel that it stands for. A gradient that follows such a state passes on to these taps,
 * whatever sourceImage has become; one addressed by hand finds them in sourceImage.
 * By hand pixel i of the source gradient stands at stride * (i - primary offset) - kernel_offset of the
 * result: of a gradient 4, 6, averages of two taps, a stride of 2 and a secondary offset of 1 a
 * kernel_offset_x of 0 makes 2, 2, 3, 3, one of 1 makes 2, 3, 3, 0.
 * Channels stay; the result's size comes from the padding policy. Default edge mode: zero.
 * Global pooling, one pixel from each channel of an image, is a window as large as the source and
 * padding GLCNN_PADDING_SIZE_VALID_ONLY, or offset (width / 2, height / 2) without padding.
 * Where a MPS client may differ (spec 12.1 to 12.6, 12.37 and 12.41):
 *   - of equal largest taps MPS may choose any for the gradient, and does not say what it does with NaN;
 *   - the gradient of L2 is 0 where all taps are 0, in MPS perhaps NaN;
 *   - L2, max and dilated max repeat edge pixels with clamp; MPS may cut the window, as it says of
 *     average only. For equal results of L2 use zero;
 *   - an average of no pixel of the image is 0, whether its zeros count or not;
 *   - by hand a gradient's first pixel is the first of the image that the first window holds; by a state
 *     it writes all pixels, where MPS may leave border pixels undefined;
 *   - GLCNN_PADDING_EXCLUDE_EDGES of average is clamp with the zero pad that the offset implies,
 *     max(0, floor(kernel / 2) - offset) on each side; MPS gives no details. */
#ifndef GLCNN_KERNELS_POOLING_H
#define GLCNN_KERNELS_POOLING_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. Average pooling only. */
struct glcnn_pooling_parameters {
    /* Zeros that count, on each side; edge mode clamp only; default 0. */
    uint32_t zero_pad_size_x, zero_pad_size_y;
};

/* The parameters of a pooling kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_pooling_parameters *glcnn_pooling(glcnn_kernel *kernel);

/* Each makes a kernel with a window and a stride in pixels, 1 or more. For a gradient these are the
 * forward kernel's; a gradient state replaces them. The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_pooling_average_create(glcnn_device *device, uint32_t kernel_width,
                                                    uint32_t kernel_height,
                                                    uint32_t stride_in_pixels_x,
                                                    uint32_t stride_in_pixels_y,
                                                    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_pooling_average_gradient_create(
    glcnn_device *device, uint32_t kernel_width, uint32_t kernel_height,
    uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_pooling_l2_norm_create(glcnn_device *device, uint32_t kernel_width,
                                                    uint32_t kernel_height,
                                                    uint32_t stride_in_pixels_x,
                                                    uint32_t stride_in_pixels_y,
                                                    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_pooling_l2_norm_gradient_create(
    glcnn_device *device, uint32_t kernel_width, uint32_t kernel_height,
    uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_pooling_max_create(glcnn_device *device, uint32_t kernel_width,
                                                uint32_t kernel_height, uint32_t stride_in_pixels_x,
                                                uint32_t stride_in_pixels_y, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_pooling_max_gradient_create(
    glcnn_device *device, uint32_t kernel_width, uint32_t kernel_height,
    uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y, glcnn_kernel **kernel);
/* The dilation rate is the distance between taps in pixels, 1 or more. */
GLCNN_API glcnn_status glcnn_dilated_pooling_max_create(
    glcnn_device *device, uint32_t kernel_width, uint32_t kernel_height,
    uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y, uint32_t dilation_rate_x,
    uint32_t dilation_rate_y, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_dilated_pooling_max_gradient_create(
    glcnn_device *device, uint32_t kernel_width, uint32_t kernel_height,
    uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y, uint32_t dilation_rate_x,
    uint32_t dilation_rate_y, glcnn_kernel **kernel);

/* The result of a node with a window and a stride in pixels, 1 to 65535. Defaults: edge mode clamp,
 * padding same size, of average no zero pad. NULL on failure, see glcnn/node.h.
 * MPSCNNPoolingAverageNode, MPSCNNPoolingL2NormNode, MPSCNNPoolingMaxNode. */
GLCNN_API glcnn_image_node *
glcnn_pooling_average_node(glcnn_image_node *source, uint32_t kernel_width, uint32_t kernel_height,
                           uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y);
GLCNN_API glcnn_image_node *
glcnn_pooling_l2_norm_node(glcnn_image_node *source, uint32_t kernel_width, uint32_t kernel_height,
                           uint32_t stride_in_pixels_x, uint32_t stride_in_pixels_y);
GLCNN_API glcnn_image_node *glcnn_pooling_max_node(glcnn_image_node *source, uint32_t kernel_width,
                                                   uint32_t kernel_height,
                                                   uint32_t stride_in_pixels_x,
                                                   uint32_t stride_in_pixels_y);
/* The same with a dilation rate, 1 to 65535. MPSCNNDilatedPoolingMaxNode. */
GLCNN_API glcnn_image_node *
glcnn_dilated_pooling_max_node(glcnn_image_node *source, uint32_t kernel_width,
                               uint32_t kernel_height, uint32_t stride_in_pixels_x,
                               uint32_t stride_in_pixels_y, uint32_t dilation_rate_x,
                               uint32_t dilation_rate_y);

#ifdef __cplusplus
}
#endif
#endif
