/* Numbers of each image by constant indices, with their gradient: what table[index], index_select and
 * gather of PyTorch make where the index is a constant, such as relative position tables that train.
 * MPS has none; spec 7.25.
 *
 * The numbers of an image are counted channels first: number (c height + y) width + x is column x of
 * row y of channel c, of the source and of the result alike.
 *
 *   out(n, j) = in(n, indices[j])                      j = 0 ... width height feature_channels - 1
 *   dX(n, i) = sum of G(n, j) over the j with indices[j] = i;   0 where there is none
 *
 * "indices" is the kernel's vector of width x height x feature_channels numbers; all 0 until it is
 * set. They are whole numbers from 0 on, below the numbers of a source image, of which there may be
 * at most 16777216: float32 holds those exactly. A number may be read any number of times, or not at
 * all. An encode refuses others, and names the first place that has one.
 *
 * The indices do not train: optimizers, gradients and averages know nothing of them. Copies of the
 * kernel, serialised bytes, also those without weights, and checkpoints have them. From the first
 * encode on they do not change: writing others is refused, the same ones again is not.
 *
 * The offset counts in z only, the edge mode does not count, and the destination is as wide and high
 * as the parameters say. The gradient follows its state, which has the indices. Each sum is added up
 * in the order of j, 32 numbers at a time, 32 of these sums at a time, and then those.
 */
#ifndef GLCNN_KERNELS_GATHER_H
#define GLCNN_KERNELS_GATHER_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of gather and its gradient, which takes them from its state. A result has at most
 * 2147483647 numbers; the vector is one storage block, whose size a device limits (glcnn/device.h). */
struct glcnn_gather_parameters {
    uint32_t width, height;    /* of the result; 1 to 65536, default 1 */
    uint32_t feature_channels; /* of the result; 1 to 65536, default 1 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_gather_parameters *glcnn_gather(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns; the gradient starts with default parameters. `indices`
 * has `count` numbers, width height feature_channels, and is copied; NULL and 0 leave the vector to
 * glcnn_kernel_set_vector ("indices").
 * Errors: GLCNN_INVALID_ARGUMENT, also where an index is negative or not whole; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_gather_create(glcnn_device *device, uint32_t width, uint32_t height,
                                           uint32_t feature_channels, const float *indices,
                                           size_t count, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_gather_gradient_create(glcnn_device *device, glcnn_kernel **kernel);

/* The result of a node with that size and those indices, which are copied. NULL on failure, see
 * glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_gather_node(glcnn_image_node *source, uint32_t width,
                                              uint32_t height, uint32_t feature_channels,
                                              const float *indices, size_t count);

#ifdef __cplusplus
}
#endif
#endif
