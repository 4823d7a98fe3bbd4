/* Numbers of an image in another order, with the gradients: transposes, blocks of pixels as
 * channels and back, and shuffled channels. MPS has none of them; spec 7.18.
 *
 *   transpose        the axes of each image, channels, rows and columns, in another order. The
 *                    order names for each axis of the result that of the source: with "hwc" the
 *                    result's channels are the source's rows, its rows the columns and its columns
 *                    the channels
 *   depth_to_space   blocks of block_size^2 channels become blocks of as many pixels
 *   space_to_depth   the same back. The order of the channels is, of pixel (i, j) of a block of b,
 *                    row and column, and channel c of C that pixels have:
 *                      dcr   (i b + j) C + c, ONNX's, TensorFlow's
 *                      crd   c b^2 + i b + j, that of PyTorch's pixel_shuffle
 *   channel_shuffle  channels of `groups` groups, first one of each, then the next of each:
 *                    out(k g + q) = in(q C / g + k)
 *
 * The offset counts in z only, the edge mode does not count, and the destination is as wide and
 * high as the kernel makes it. Gradients follow their states and put every number back.
 */
#ifndef GLCNN_KERNELS_REARRANGE_H
#define GLCNN_KERNELS_REARRANGE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* c channels, h rows, w columns. */
typedef enum glcnn_axis_order {
    GLCNN_AXIS_ORDER_CHW = 0, /* as they are */
    GLCNN_AXIS_ORDER_CWH = 1,
    GLCNN_AXIS_ORDER_HCW = 2,
    GLCNN_AXIS_ORDER_HWC = 3,
    GLCNN_AXIS_ORDER_WCH = 4,
    GLCNN_AXIS_ORDER_WHC = 5,
    GLCNN_AXIS_ORDER_FORCE32 = 0x7fffffff
} glcnn_axis_order;

typedef enum glcnn_block_order {
    GLCNN_BLOCK_ORDER_DCR = 0,
    GLCNN_BLOCK_ORDER_CRD = 1,
    GLCNN_BLOCK_ORDER_FORCE32 = 0x7fffffff
} glcnn_block_order;

/* Parameters of transpose and its gradient, which takes them from its state, as the others do. */
struct glcnn_transpose_parameters {
    glcnn_axis_order order; /* setting axis_order; default chw */
};

/* Of depth_to_space and space_to_depth and their gradients. Channels, or rows and columns, must be
 * whole blocks. */
struct glcnn_block_parameters {
    uint32_t block_size;     /* 1 to 64, default 1 */
    glcnn_block_order order; /* setting block_order; default dcr */
};

/* Of channel_shuffle and its gradient. */
struct glcnn_channel_shuffle_parameters {
    uint32_t groups; /* 1 to 65536, default 1; must divide the channels */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_transpose_parameters *glcnn_transpose(glcnn_kernel *kernel);
GLCNN_API struct glcnn_block_parameters *glcnn_block(glcnn_kernel *kernel);
GLCNN_API struct glcnn_channel_shuffle_parameters *glcnn_channel_shuffle(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns; gradients start with default parameters.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_transpose_create(glcnn_device *device, glcnn_axis_order axis_order,
                                              glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_transpose_gradient_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_depth_to_space_create(glcnn_device *device, uint32_t block_size,
                                                   glcnn_block_order block_order,
                                                   glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_depth_to_space_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_space_to_depth_create(glcnn_device *device, uint32_t block_size,
                                                   glcnn_block_order block_order,
                                                   glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_space_to_depth_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_channel_shuffle_create(glcnn_device *device, uint32_t groups,
                                                    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_channel_shuffle_gradient_create(glcnn_device *device,
                                                             glcnn_kernel **kernel);

/* Results of nodes; NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_transpose_node(glcnn_image_node *source,
                                                 glcnn_axis_order axis_order);
GLCNN_API glcnn_image_node *glcnn_depth_to_space_node(glcnn_image_node *source, uint32_t block_size,
                                                      glcnn_block_order block_order);
GLCNN_API glcnn_image_node *glcnn_space_to_depth_node(glcnn_image_node *source, uint32_t block_size,
                                                      glcnn_block_order block_order);
GLCNN_API glcnn_image_node *glcnn_channel_shuffle_node(glcnn_image_node *source, uint32_t groups);

#ifdef __cplusplus
}
#endif
#endif
