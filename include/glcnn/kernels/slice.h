/* Slice, concatenation and reshape, with their gradients: MPSNNSlice, MPSNNConcatenationNode,
 * MPSNNReshape; spec 7.13.
 *
 *   slice          the pixels from the offset on and the channels from
 *                  source_feature_channel_offset on, as many as the clip rectangle and
 *                  source_feature_channel_max_count say; a returning encode makes a result that
 *                  ends where the clip rectangle ends
 *   concatenation  writes its source at destination_feature_channel_offset of the destination: one
 *                  encode for each source, all into one destination
 *   reshape        the same numbers, in the order row, column, channel, as an image of another
 *                  shape, or with channels_first in the order channel, row, column, ONNX's and
 *                  PyTorch's; the offset counts in z only, and the destination is as wide and high as
 *                  the parameters say
 *
 * Source and destination of a concatenation have the same width and height, unless an offset or a clip
 * rectangle chooses a part; a graph refuses sources of different sizes and names both nodes.
 * Sources of a concatenation start at channels that are multiples of 4: with sizes of 23 and 5 the
 * second starts at channel 24 and the result has 29; the channel between them is 0. As a kernel
 * leaves channels alone that it does not write, any kernel can write its result at
 * destination_feature_channel_offset and save the copy.
 *
 * The gradient of a concatenation is taken once for each source, with the state of that source's
 * encode, and is its slice of the gradient. MPS uses MPSNNSlice for it, and has no gradient of
 * slice and reshape.
 *
 * Where a MPS client may differ (spec 12.30 and 12.42): MPS does not say that the channels
 * between two sources are 0 and that none follow the last, nor what order reshape keeps.
 */
#ifndef GLCNN_KERNELS_SLICE_H
#define GLCNN_KERNELS_SLICE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of reshape and its gradient, which takes them from its state. 0: as the source. */
struct glcnn_reshape_parameters {
    uint32_t reshaped_width, reshaped_height, reshaped_feature_channels;
    bool channels_first; /* default false */
};

/* The parameters of a reshape kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_reshape_parameters *glcnn_reshape(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_slice_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_slice_gradient_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_concatenation_create(glcnn_device *device, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_concatenation_gradient_create(glcnn_device *device,
                                                           glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reshape_create(glcnn_device *device, uint32_t reshaped_width,
                                            uint32_t reshaped_height,
                                            uint32_t reshaped_feature_channels,
                                            glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_reshape_gradient_create(glcnn_device *device, glcnn_kernel **kernel);

/* Results of nodes; NULL on failure, see glcnn/node.h.
 *
 *   slice          the channels from source_feature_channel_offset on, a multiple of 4, at most
 *                  source_feature_channel_max_count of them, 1 or more; UINT32_MAX: all. All
 *                  pixels, unless the clip rectangle ends before the source
 *   concatenation  one source or more, one after the other. MPSNNConcatenationNode
 *   reshape        an image of as many numbers in another shape; 0: as the source. Its kernel's
 *                  glcnn_reshape has channels_first */
GLCNN_API glcnn_image_node *glcnn_slice_node(glcnn_image_node *source,
                                             uint32_t source_feature_channel_offset,
                                             uint32_t source_feature_channel_max_count);
GLCNN_API glcnn_image_node *glcnn_concatenation_node(glcnn_image_node *const *sources,
                                                     size_t source_count);
GLCNN_API glcnn_image_node *glcnn_reshape_node(glcnn_image_node *source, uint32_t reshaped_width,
                                               uint32_t reshaped_height,
                                               uint32_t reshaped_feature_channels);

#ifdef __cplusplus
}
#endif
#endif
