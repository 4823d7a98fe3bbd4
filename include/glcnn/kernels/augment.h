/* Augmentation of pictures: at random mirrored, shifted, turned, enlarged, and changed in colour.
 * MPS has no such kernels; spec 7.16.
 *
 *   augment_geometry   flips, shift and crop, rotation and scale, in one bilinear resampling. The
 *                      result has the source's size; what comes from outside takes the edge mode.
 *                      or is the picture reflected at its border. Flips, shifts and quarter turns
 *                      alone are exact copies, and where nothing is asked so is the whole
 *   augment_color      brightness, contrast, hue, saturation, gains of channels, noise and a square
 *                      that is cut out, in this order. Values are not clamped
 *
 * Parameters are ranges, from which each image of a batch draws for itself. What it draws follows
 * from the seed, its number in the data set and the epoch, by Philox4x32-10, and from nothing else:
 * not from the batch it is in, nor its place there, nor the device. What is whole, such as flips,
 * shifts, places and the positions of a resampling, is the same to the bit on every device; values
 * are the same within float32's rounding.
 *
 * image_numbers, the second source, tells number and epoch: an image of 1x1 pixels and 8 channels
 * for each image of the batch, of any format. Channels 0 to 3 are the bytes of the number, the
 * lowest first, as 255ths; 4 to 7 those of the epoch. A Unorm8 image holds just that: upload
 *
 *     uint8_t numbers[batch][8]
 *
 * with glcnn_image_write_bytes or glcnn_image_encode_write for each batch, and a recorded graph
 * draws again at each execution. An image with a value there that is not in 0 .. 1 becomes NaN.
 *
 * Both take any number of channels and pictures of up to 4096 pixels a side. There is no gradient:
 * their nodes' results stop gradients. Networks for inference are written without them.
 */
#ifndef GLCNN_KERNELS_AUGMENT_H
#define GLCNN_KERNELS_AUGMENT_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: nothing changes. */
struct glcnn_augment_geometry_parameters {
    uint64_t seed;                       /* default 0 */
    bool flip_horizontal, flip_vertical; /* with a probability of 1/2 each; default false */
    uint32_t shift;                      /* pixels, -shift .. shift along each axis; 0 to 4096 */
    float rotation; /* degrees, -rotation .. rotation about the centre; 0 to 180 */
    float scale;    /* enlarged by 1 - scale .. 1 + scale about the centre; 0 to 0.5 */
    bool reflect;   /* outside lies the picture, reflected at its border, whatever the edge mode:
                       column -1 is column 0, column -2 column 1; default false */
};

/* All zero: nothing changes. Pictures have values from 0 to 1. */
struct glcnn_augment_color_parameters {
    uint64_t seed;    /* default 0; may be that of augment_geometry */
    float brightness; /* adds -brightness .. brightness; 0 to 1 */
    float contrast;   /* times 1 - contrast .. 1 + contrast, about 0.5; 0 to 1 */
    float noise;      /* standard deviation of what each value has added to it; 0 to 1 */
    uint32_t cutout;  /* side of a square of zeros, pixels; 0 to 4096. Its centre lies anywhere in
                         the picture, so part of it may lie outside */
    float hue;        /* degrees, turned by -hue .. hue about the grey axis; 0 to 180 */
    float saturation; /* differences of a pixel's channels from their mean times 1 - saturation ..
                         1 + saturation; 0 to 1. Both need pictures of three channels */
    float gain;       /* each channel times 1 - gain .. 1 + gain, drawn for channel c as for
                         channel c modulo 4; 0 to 1 */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_augment_geometry_parameters *glcnn_augment_geometry(glcnn_kernel *kernel);
GLCNN_API struct glcnn_augment_color_parameters *glcnn_augment_color(glcnn_kernel *kernel);

/* Where augment_geometry takes the pixels of a picture from, so that what lies in it, boxes and points,
 * can follow: result pixel (X, Y) is that of the source at
 *
 *     (m[0] X + m[1] Y + m[2], m[3] X + m[4] Y + m[5])
 *
 * with whole numbers at the centres of pixels. `number` and `epoch` are those of image_numbers; width
 * and height, the picture's, are 1 to 4096, and *parameters is within the ranges above. The numbers are
 * exact: those that every device draws. Thread-safe, and needs no device. */
GLCNN_API void
glcnn_augment_geometry_matrix(const struct glcnn_augment_geometry_parameters *parameters,
                              uint32_t number, uint32_t epoch, uint32_t width, uint32_t height,
                              double matrix[6]);

/* Each makes a kernel; `parameters` is copied. It is encoded with the pictures as source and
 * image_numbers as secondary source. The caller owns it.
 * Errors: GLCNN_INVALID_ARGUMENT for parameters that are NULL or out of range, and when it is
 * encoded with hue or saturation and pictures that have not three channels;
 * GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_augment_geometry_create(
    glcnn_device *device, const struct glcnn_augment_geometry_parameters *parameters,
    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_augment_color_create(
    glcnn_device *device, const struct glcnn_augment_color_parameters *parameters,
    glcnn_kernel **kernel);

/* The result of a node that augments `source` by `image_numbers`; it stops gradients. NULL on
 * failure, see glcnn/node.h. */
GLCNN_API glcnn_image_node *
glcnn_augment_geometry_node(glcnn_image_node *source, glcnn_image_node *image_numbers,
                            const struct glcnn_augment_geometry_parameters *parameters);
GLCNN_API glcnn_image_node *
glcnn_augment_color_node(glcnn_image_node *source, glcnn_image_node *image_numbers,
                         const struct glcnn_augment_color_parameters *parameters);

#ifdef __cplusplus
}
#endif
#endif
