/* Padding and strided slices, with their gradients. MPS has neither; spec 7.17.
 *
 *   pad             the source with more columns, rows and channels around it, or fewer: as many
 *                   as the parameters say, of which those below 0 take away
 *   strided_slice   every step-th column, row and channel from a start on, backwards where the
 *                   step is below 0
 *
 * What a padding holds its mode says. A result pixel X stands for source pixel u = X - left:
 *
 *   constant    the constant where u is outside of the source
 *   reflect     the source mirrored at its outermost pixels, which are not repeated: -u, and
 *               2 (width - 1) - u. There may be at most width - 1 columns of it on a side
 *   replicate   the nearest pixel of the source
 *
 * Channels are padded with the constant; with the other modes none may be added.
 *
 * The offset counts in z only, the edge mode does not count, and the destination is as wide and
 * high as the parameters say. Gradients follow their states: each element of the source has the sum
 * of the gradient over the results that it is read for.
 */
#ifndef GLCNN_KERNELS_PAD_H
#define GLCNN_KERNELS_PAD_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum glcnn_pad_mode {
    GLCNN_PAD_MODE_CONSTANT = 0,
    GLCNN_PAD_MODE_REFLECT = 1,
    GLCNN_PAD_MODE_REPLICATE = 2,
    GLCNN_PAD_MODE_FORCE32 = 0x7fffffff
} glcnn_pad_mode;

/* Parameters of pad and its gradient, which takes them from its state. Columns, rows and channels
 * are -65536 to 65536, default 0; what is left of the source must not be empty. */
struct glcnn_pad_parameters {
    int32_t left, right; /* columns before the first and after the last */
    int32_t top, bottom; /* rows */
    int32_t front, back; /* channels */
    glcnn_pad_mode mode; /* setting pad_mode; default constant */
    float constant;      /* setting pad_constant; default 0 */
};

/* Parameters of strided_slice and its gradient, which takes them from its state. Result column X
 * is source column start_x + step_x X; rows and channels alike. All of them must lie within the
 * source. */
struct glcnn_strided_slice_parameters {
    uint32_t start_x, start_y, start_channel; /* 0 to 65535, default 0 */
    int32_t step_x, step_y, step_channel;     /* -65536 to 65536, but not 0; default 1 */
    uint32_t size_x, size_y, size_channels;   /* of the result; 0, the default: as many as there
                                                 are from the start on */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_pad_parameters *glcnn_pad(glcnn_kernel *kernel);
GLCNN_API struct glcnn_strided_slice_parameters *glcnn_strided_slice(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns, with the parameters of *parameters, which is copied.
 * Errors: GLCNN_INVALID_ARGUMENT, also where `parameters` is NULL; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_pad_create(glcnn_device *device,
                                        const struct glcnn_pad_parameters *parameters,
                                        glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_strided_slice_create(
    glcnn_device *device, const struct glcnn_strided_slice_parameters *parameters,
    glcnn_kernel **kernel);
/* With default parameters: a state brings those of its encode. */
GLCNN_API glcnn_status glcnn_pad_gradient_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_strided_slice_gradient_create(glcnn_device *device,
                                                           glcnn_kernel **kernel);

/* Results of nodes with those parameters, which are copied; a step of 0 stands for 1. NULL on
 * failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_pad_node(glcnn_image_node *source,
                                           const struct glcnn_pad_parameters *parameters);
GLCNN_API glcnn_image_node *
glcnn_strided_slice_node(glcnn_image_node *source,
                         const struct glcnn_strided_slice_parameters *parameters);

#ifdef __cplusplus
}
#endif
#endif
