/* Two images joined along channels, rows or columns, with the gradients by both. Channels follow
 * each other without a gap, at any number of them: glcnn/kernels/slice.h's concatenation starts each
 * source at a multiple of 4 and copies less. MPS has no such kernel; spec 7.20.
 *
 *   out       the elements of the source, then those of the secondary source, along the axis; along
 *             the others the two must agree
 *
 * Offsets count in z only, edge modes do not count, and the destination is as wide and high as the
 * sources make it. Gradients follow their states: each source has its part of the gradient.
 */
#ifndef GLCNN_KERNELS_AXIS_CONCATENATION_H
#define GLCNN_KERNELS_AXIS_CONCATENATION_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum glcnn_axis {
    GLCNN_AXIS_CHANNELS = 0,
    GLCNN_AXIS_ROWS = 1,
    GLCNN_AXIS_COLUMNS = 2,
    GLCNN_AXIS_FORCE32 = 0x7fffffff
} glcnn_axis;

/* Parameters of both kernels; a gradient takes the axis from its state. */
struct glcnn_axis_concatenation_parameters {
    glcnn_axis axis;                 /* default channels */
    bool is_secondary_source_filter; /* of the gradient: it is by the secondary source */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_axis_concatenation_parameters *
glcnn_axis_concatenation(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_axis_concatenation_create(glcnn_device *device, glcnn_axis axis,
                                                       glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_axis_concatenation_gradient_create(glcnn_device *device,
                                                                bool is_secondary_source_filter,
                                                                glcnn_kernel **kernel);

/* The result of nodes that join `source_count` sources, one or more, one after the other: a node for
 * each but the first, and the source itself for one. NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_axis_concatenation_node(glcnn_image_node *const *sources,
                                                          size_t source_count, glcnn_axis axis);

#ifdef __cplusplus
}
#endif
#endif
