/* A view of each image's numbers by strides, copied in one pass, with its gradient: what permute,
 * expand and reshape of PyTorch make, in any order, before contiguous. MPS has none; spec 7.18.
 *
 * The numbers of an image are counted channels first: number (c height + y) width + x is column x of
 * row y of channel c, of the source and of the result alike. The result's are counted along six
 * axes, the slowest first, as NumPy counts those of an array of shape size_0, ..., size_5:
 *
 *   out(j) = in(i_0 stride_0 + ... + i_5 stride_5)
 *   j = (...(i_0 size_1 + i_1) size_2 + ...) size_5 + i_5
 *
 * A stride of 0 repeats the same numbers. An axis of size 1 has no effect; fewer axes than six have
 * the others' sizes 1. A source of 6 channels, 4 rows and 5 columns with rows and channels swapped
 * has a result of 4 channels, 6 rows and 5 columns, and sizes 4, 6, 5 of strides 5, 20, 1.
 *
 * The offset counts in z only, the edge mode does not count, and the destination is as wide and high
 * as the parameters say. The gradient follows its state: each number of the source has the sum of
 * the gradient over the results that read it, 0 where none does, added up in an order that the
 * parameters fix.
 */
#ifndef GLCNN_KERNELS_STRIDED_VIEW_H
#define GLCNN_KERNELS_STRIDED_VIEW_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of strided_view and its gradient, which takes them from its state. The product of the
 * sizes must be width height feature_channels, that and the numbers of a source image at most
 * 2147483647, and every number that is read within the source. An axis of a
 * size above 1 has a stride of 0, which repeats numbers, or one larger than
 * the sum of (size - 1) stride over the axes of smaller strides, so that its
 * indices read numbers of their own. */
struct glcnn_strided_view_parameters {
    uint32_t width, height, feature_channels; /* of the result; 1 to 65536, default 1 */
    uint32_t sizes[6];   /* settings size_0 to size_5; 1 to 2147483647, default 1 */
    uint32_t strides[6]; /* settings stride_0 to stride_5, in numbers of the
                            source; 0 to 2147483647, default 0 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_strided_view_parameters *glcnn_strided_view(glcnn_kernel *kernel);

/* Makes a kernel that the caller owns, with the parameters of *parameters, which is copied.
 * Errors: GLCNN_INVALID_ARGUMENT, also where `parameters` is NULL; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_strided_view_create(
    glcnn_device *device, const struct glcnn_strided_view_parameters *parameters,
    glcnn_kernel **kernel);
/* With default parameters: a state brings those of its encode. */
GLCNN_API glcnn_status glcnn_strided_view_gradient_create(glcnn_device *device,
                                                          glcnn_kernel **kernel);

/* Result of a node with those parameters, which are copied; a size of 0 stands for 1, also of the
 * result. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *
glcnn_strided_view_node(glcnn_image_node *source,
                        const struct glcnn_strided_view_parameters *parameters);

#ifdef __cplusplus
}
#endif
#endif
