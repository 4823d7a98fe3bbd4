/* Regions of an image, each resized to an image of its own: what the second stage of a detector looks
 * at, or the crops of a picture. MPSNNCropAndResizeBilinear, with a gradient; spec 7.26.
 *
 *   crop_and_resize_bilinear           the same regions of every image of the source
 *   crop_and_resize_bilinear_regions   regions of each image, which the secondary source has
 *
 * A region is four numbers: column and row of its upper left corner, width and height, as the origin
 * and the size of an MPSRegion. They count from the centre of the source's first pixel, 0, to that of
 * its last, 1: (0, 0, 1, 1) is all of it. With R regions an image, result image n R + r is region r of
 * image n of the source. Of W columns, column X of the result's W' lies at position
 *
 *   (W - 1) (x + width X / (W' - 1))        where W' is 1:   (W - 1) (x + width / 2)
 *
 * and rows likewise; the four pixels around it are interpolated. Pixels outside of the source are 0
 * or, with edge_mode clamp, the nearest one; the default is zero. A width or height below 0 mirrors.
 * That is PyTorch's grid_sample with align_corners, and TensorFlow's crop_and_resize inside of the
 * source.
 *
 * crop_and_resize_bilinear has its regions in the vector "regions", 4 R numbers; all 0 until it is
 * set. They may change at any time, by glcnn_kernel_set_vector or glcnn_kernel_encode_reload: the next
 * encode, and the next execution of a graph, uses them; so does a gradient that is still to run. They
 * do not train. Copies of the kernel, serialised bytes, also those without weights, and checkpoints
 * have them.
 *
 * crop_and_resize_bilinear_regions has them in its secondary source, region_image, of which it reads
 * 4 channels of as many images as of the source. Each of its pixels is a region, row by row: R is its
 * width times its height. It gets no gradient. As float16 a region has 11 bits, a quarter of a pixel
 * of 512.
 *
 * Positions are float32, off by up to W / 2^21 pixels where |x| + |width| is 2 at most, and the bounds
 * of glcnn/image.h hold for those. A region of an image that is not finite has positions that are NaN,
 * where the result is NaN and has no gradient, or infinite, which is outside.
 *
 * Of the source's offset z alone counts; the first image that is written, origin z of the clip
 * rectangle, is region 0 of that one. In a network the images behind such a node are R times as many,
 * and so must be the labels of a loss there; the batch of such a graph does not run in parts.
 *
 * The gradient follows its state, which has the regions. Each source pixel has the sum of the gradient
 * over the results that read it, times its shares in them; it is added up in their order, image by
 * image and row by row, 32 results at a time, 32 of these sums at a time, and then those. Mesa's
 * llvmpipe ends the loops of an invocation at 65535 turns together: there at most about 10000 regions
 * of an image may overlap at a pixel.
 */
#ifndef GLCNN_KERNELS_CROP_AND_RESIZE_H
#define GLCNN_KERNELS_CROP_AND_RESIZE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters of both and their gradients, which take them from their states. */
struct glcnn_crop_and_resize_parameters {
    uint32_t resize_width, resize_height; /* of the result; 1 to 16384, default 1 */
    uint32_t number_of_regions;           /* of crop_and_resize_bilinear; 1 to 65536, default 1 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_crop_and_resize_parameters *glcnn_crop_and_resize(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns; gradients start with default parameters. `regions` has
 * `count` numbers, 4 number_of_regions, and is copied; NULL and 0 leave the vector to
 * glcnn_kernel_set_vector ("regions").
 * Errors: GLCNN_INVALID_ARGUMENT, also where a number is not finite; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_crop_and_resize_bilinear_create(
    glcnn_device *device, uint32_t resize_width, uint32_t resize_height, uint32_t number_of_regions,
    const float *regions, size_t count, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_crop_and_resize_bilinear_regions_create(glcnn_device *device,
                                                                     uint32_t resize_width,
                                                                     uint32_t resize_height,
                                                                     glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_crop_and_resize_bilinear_gradient_create(glcnn_device *device,
                                                                      glcnn_kernel **kernel);
GLCNN_API glcnn_status
glcnn_crop_and_resize_bilinear_regions_gradient_create(glcnn_device *device, glcnn_kernel **kernel);

/* The result of a node with that size and those regions, the same of every image, which are copied.
 * NULL on failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_crop_and_resize_bilinear_node(glcnn_image_node *source,
                                                                uint32_t resize_width,
                                                                uint32_t resize_height,
                                                                uint32_t number_of_regions,
                                                                const float *regions, size_t count);
/* The result of a node with that size, of the regions that the image `regions` has. NULL on failure,
 * see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_crop_and_resize_bilinear_regions_node(glcnn_image_node *source,
                                                                        glcnn_image_node *regions,
                                                                        uint32_t resize_width,
                                                                        uint32_t resize_height);

#ifdef __cplusplus
}
#endif
#endif
