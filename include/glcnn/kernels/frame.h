/* Frames of cameras as images of red, green and blue: cropped, scaled, converted and normalised in
 * one pass. MPS has no such kernels; spec 7.23.
 *
 *   frame_rgb    source of 3 or 4 channels, R G B or, swapped, B G R; a fourth is not read
 *   frame_yuyv   source of 2 channels: Y' of each pixel, behind it Cb in even columns and Cr in odd
 *                ones or, swapped, the other way round (YVYU). An even number of columns
 *   frame_nv12   source of 1 channel, Y', and a secondary source of 2, Cb and Cr or, swapped, Cr
 *                and Cb (NV21). It has every second column and row, rounded up; or all columns,
 *                or all rows (NV16, NV24)
 *
 * Each image of bytes, GLCNN_CHANNEL_FORMAT_UNORM8, has a frame just as it lies in memory:
 * glcnn_image_write_bytes of YUYV, say, into 2 channels, and glcnn_image_import_dmabuf
 * (glcnn/dmabuf.h) without a copy. Other formats stand for what bytes / 255 do.
 *
 *   out(c)    (rgb(c) - mean[c]) / deviation[c],    c = red, green, blue
 *
 * The kernels' vectors are "mean", 0 until it is set, and "deviation", 1 until it is set
 * (glcnn_kernel_set_vector), 3 values each. rgb is held in 0 .. 1 before that; a NaN stays one.
 *
 * Of the frame the crop counts, crop_width x crop_height pixels from (crop_x, crop_y) on. It becomes
 * resized_width x resized_height: where these are fewer, each result is the mean over the part of
 * the crop that it covers, as pictures are scaled that glcnn/data.h reads, and where they are more,
 * linear between pixels. Chroma is that of the pixel's pair, or block, and scaled before it becomes
 * colour. A side may shrink to 1/64; frames may have 16384 pixels a side.
 *
 * The offset counts in z only and the edge mode does not count. There is no gradient: the results
 * of nodes stop gradients.
 */
#ifndef GLCNN_KERNELS_FRAME_H
#define GLCNN_KERNELS_FRAME_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What Y', Cb and Cr are of red, green and blue: ITU-R BT.601 or BT.709. */
typedef enum glcnn_color_matrix {
    GLCNN_COLOR_MATRIX_BT601 = 0,
    GLCNN_COLOR_MATRIX_BT709 = 1,
    GLCNN_COLOR_MATRIX_FORCE32 = 0x7fffffff
} glcnn_color_matrix;

/* Which bytes stand for black and white, 0 and 255 or 16 and 235, and for no colour and all: 128 and
 * 127.5 on either side, or 128 and 112. Numbers as V4L2's quantization. */
typedef enum glcnn_color_range {
    GLCNN_COLOR_RANGE_USUAL = 0, /* full of frame_rgb, limited of the others */
    GLCNN_COLOR_RANGE_FULL = 1,
    GLCNN_COLOR_RANGE_LIMITED = 2,
    GLCNN_COLOR_RANGE_FORCE32 = 0x7fffffff
} glcnn_color_range;

/* All zero: the whole frame at its size. */
struct glcnn_frame_parameters {
    uint32_t crop_x, crop_y, crop_width, crop_height; /* pixels; 0 width or height: all the rest */
    uint32_t resized_width, resized_height;           /* up to 16384; 0: the crop's */
    glcnn_color_matrix matrix;                        /* of frame_yuyv and frame_nv12 */
    glcnn_color_range range;
    bool swapped; /* see above */
};

/* The parameters of such a kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_frame_parameters *glcnn_frame(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns, with the parameters of *parameters, which is copied.
 * Errors: GLCNN_INVALID_ARGUMENT, also where `parameters` is NULL; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_frame_rgb_create(glcnn_device *device,
                                              const struct glcnn_frame_parameters *parameters,
                                              glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_frame_yuyv_create(glcnn_device *device,
                                               const struct glcnn_frame_parameters *parameters,
                                               glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_frame_nv12_create(glcnn_device *device,
                                               const struct glcnn_frame_parameters *parameters,
                                               glcnn_kernel **kernel);

/* Results of nodes with those parameters, which are copied; they stop gradients. NULL on failure,
 * see glcnn/node.h. */
GLCNN_API glcnn_image_node *glcnn_frame_rgb_node(glcnn_image_node *source,
                                                 const struct glcnn_frame_parameters *parameters);
GLCNN_API glcnn_image_node *glcnn_frame_yuyv_node(glcnn_image_node *source,
                                                  const struct glcnn_frame_parameters *parameters);
GLCNN_API glcnn_image_node *glcnn_frame_nv12_node(glcnn_image_node *luma, glcnn_image_node *chroma,
                                                  const struct glcnn_frame_parameters *parameters);

#ifdef __cplusplus
}
#endif
#endif
