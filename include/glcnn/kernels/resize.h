/* Resizing to any size, larger or smaller, with the gradients: what ONNX's Resize and PyTorch's
 * interpolate do. MPS enlarges by whole factors only (glcnn/kernels/upsampling.h); spec 7.19.
 *
 *   resize_nearest   each result pixel is the source pixel next to its position
 *   resize_linear    the four source pixels around it, interpolated
 *
 * A position is a place between the pixels of the source, with W of them, of result column X of W':
 *
 *   half_pixel       (X + 1/2) / scale - 1/2
 *   pytorch_half_pixel   the same, but 0 where W' is 1
 *   asymmetric       X / scale
 *   align_corners    X (W - 1) / (W' - 1), and 0 where W' is 1
 *
 * Nearest rounds it to a whole number and linear interpolates between those below and above it; of
 * a number outside of the source the nearest pixel stands. Positions are exact: the scale counts as
 * the fraction of whole numbers up to 4096 that is next to it.
 *
 * The result is resized_width wide, or where that is 0 the whole part of W scale_x, or W where both
 * are; without a scale it is W' / W. Linear makes no mean of the pixels that a smaller result passes over. The offset
 * counts in z only and the edge mode does not count; images may have 16384 pixels a side. Gradients
 * follow their states: each source pixel has the sum of the gradient over the results that read it,
 * times its shares in them.
 */
#ifndef GLCNN_KERNELS_RESIZE_H
#define GLCNN_KERNELS_RESIZE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum glcnn_resize_position {
    GLCNN_RESIZE_POSITION_HALF_PIXEL = 0,
    GLCNN_RESIZE_POSITION_PYTORCH_HALF_PIXEL = 1,
    GLCNN_RESIZE_POSITION_ASYMMETRIC = 2,
    GLCNN_RESIZE_POSITION_ALIGN_CORNERS = 3,
    GLCNN_RESIZE_POSITION_FORCE32 = 0x7fffffff
} glcnn_resize_position;

/* Of nearest: the first two round to the nearest number, and halves down or up. */
typedef enum glcnn_resize_rounding {
    GLCNN_RESIZE_ROUNDING_PREFER_FLOOR = 0,
    GLCNN_RESIZE_ROUNDING_PREFER_CEIL = 1,
    GLCNN_RESIZE_ROUNDING_FLOOR = 2,
    GLCNN_RESIZE_ROUNDING_CEIL = 3,
    GLCNN_RESIZE_ROUNDING_FORCE32 = 0x7fffffff
} glcnn_resize_rounding;

/* Parameters of both and their gradients, which take them from their states. */
struct glcnn_resize_parameters {
    uint32_t resized_width, resized_height; /* up to 16384; 0, the default: by the scales */
    float scale_x, scale_y;                 /* 1/4096 to 4096, or 0, the default: result / source */
    glcnn_resize_position position;         /* default half_pixel */
    glcnn_resize_rounding rounding;         /* of resize_nearest; default prefer_floor */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_resize_parameters *glcnn_resize(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns, with the parameters of *parameters, which is copied.
 * Errors: GLCNN_INVALID_ARGUMENT, also where `parameters` is NULL; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_resize_nearest_create(glcnn_device *device,
                                                   const struct glcnn_resize_parameters *parameters,
                                                   glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_resize_linear_create(glcnn_device *device,
                                                  const struct glcnn_resize_parameters *parameters,
                                                  glcnn_kernel **kernel);
/* With default parameters: a state brings those of its encode. */
GLCNN_API glcnn_status glcnn_resize_nearest_gradient_create(glcnn_device *device,
                                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_resize_linear_gradient_create(glcnn_device *device,
                                                           glcnn_kernel **kernel);

/* Results of nodes with those parameters, which are copied. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *
glcnn_resize_nearest_node(glcnn_image_node *source,
                          const struct glcnn_resize_parameters *parameters);
GLCNN_API glcnn_image_node *
glcnn_resize_linear_node(glcnn_image_node *source,
                         const struct glcnn_resize_parameters *parameters);

#ifdef __cplusplus
}
#endif
#endif
