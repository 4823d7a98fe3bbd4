/* Up-sampling by whole factors, nearest and bilinear, and the gradients. MPSCNNUpsamplingNearest,
 * MPSCNNUpsamplingBilinear; spec 7.12.
 *
 *   result    width * scale_factor_x by height * scale_factor_y; channels and images stay
 *   nearest   out(X) = in(floor(X / factor))
 *   bilinear  out(X) = (1 - f) in(i) + f in(i + 1),  i + f = the position of X in the source:
 *               (X + 0.5) / factor - 0.5, kept inside the image      the default
 *               X (W - 1) / (W factor - 1)                           align_corners
 *               X / factor                                           asymmetric
 *   gradients the transpose of the interpolation. sourceImage gives the size alone; the state
 *             brings factors, align_corners and asymmetric
 *
 * A source pixel whose share is 0 does not count, whatever it holds: no NaN of it is seen.
 *
 * An offset is counted in source pixels: with offset o the first column written is column
 * o * factor of the whole result. Results beyond the whole result take the edge mode.
 * Where a MPS client may differ: the position without align_corners (set asymmetric for the other
 * rule), and its bilinear gradient may not know of align_corners; spec 12.28 and 12.29.
 */
#ifndef GLCNN_KERNELS_UPSAMPLING_H
#define GLCNN_KERNELS_UPSAMPLING_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_upsampling_parameters {
    uint32_t scale_factor_x, scale_factor_y; /* 1 or more, default 1 */
    bool align_corners; /* bilinear: corner pixels lie on corner pixels; default false */
    bool asymmetric;    /* bilinear without align_corners: column X lies at X / factor */
};

/* The parameters of an up-sampling kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_upsampling_parameters *glcnn_upsampling(glcnn_kernel *kernel);

/* Each makes a kernel with its factors, 1 or more. For a gradient these are the forward kernel's; a
 * gradient state replaces them. The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_upsampling_nearest_create(glcnn_device *device,
                                                       uint32_t scale_factor_x,
                                                       uint32_t scale_factor_y,
                                                       glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_upsampling_nearest_gradient_create(glcnn_device *device,
                                                                uint32_t scale_factor_x,
                                                                uint32_t scale_factor_y,
                                                                glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_upsampling_bilinear_create(glcnn_device *device,
                                                        uint32_t scale_factor_x,
                                                        uint32_t scale_factor_y, bool align_corners,
                                                        glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_upsampling_bilinear_gradient_create(glcnn_device *device,
                                                                 uint32_t scale_factor_x,
                                                                 uint32_t scale_factor_y,
                                                                 bool align_corners,
                                                                 glcnn_kernel **kernel);

/* The result of a node with whole factors, 1 or more. Default: not asymmetric. NULL on failure, see
 * glcnn/node.h. MPSCNNUpsamplingNearestNode, MPSCNNUpsamplingBilinearNode. */
GLCNN_API glcnn_image_node *glcnn_upsampling_nearest_node(glcnn_image_node *source,
                                                          uint32_t scale_factor_x,
                                                          uint32_t scale_factor_y);
GLCNN_API glcnn_image_node *glcnn_upsampling_bilinear_node(glcnn_image_node *source,
                                                           uint32_t scale_factor_x,
                                                           uint32_t scale_factor_y,
                                                           bool align_corners);

#ifdef __cplusplus
}
#endif
#endif
