/* Images of feature channels: number_of_images x height x width x feature_channels, kept in a
 * texture array of four-channel slices. MPSImage, MPSTemporaryImage; spec 3.1 to 3.4.
 *
 *      layer  n*S + c/4, component c mod 4, S = (feature_channels + 3) / 4
 *
 *      feature_channels = 6, number_of_images = 2  ->  S = 2, four layers
 *        layer 0          layer 1          layer 2          layer 3
 *      +-----------+    +-----------+    +-----------+    +-----------+
 *      |c0 c1 c2 c3|    |c4 c5  0  0|    |c0 c1 c2 c3|    |c4 c5  0  0|  each cell: RGBA texel
 *      |   image 0 |    |   image 0 |    |   image 1 |    |   image 1 |
 *      +-----------+    +-----------+    +-----------+    +-----------+
 *
 * Components beyond the last channel hold 0 always. Arithmetic is float32 whatever the storage.
 *
 * Float16 storage: a value is rounded once, when it is stored, to the nearest of 11 significant
 * bits, ties to even. For inputs as they are stored, each element of a result differs from the
 * exact r, M being the largest |r| of the image, by at most
 *
 *      float32   1e-5 * max(1, M)
 *      float16   1e-5 * max(1, M) + 1.0001 * 2^-11 * |r| + 2^-25
 *
 * 2^-11 |r| is half a unit of the last place of r or more, 2^-25 half the step of numbers below
 * 2^-14; 1.0001 covers that r is rounded with its float32 error. Vectors keep float32's bound; those
 * that gradient kernels make are sums over pixels, and M is no less than the sum of the magnitudes of
 * an element's terms, which may cancel.
 * Forms of convolution that keep tiles in shared memory, on large GPUs, add all n products of an
 * element to one number: where these have one sign and all round the same way, M n 2^-25 comes to the
 * bound. All others add up long sums in stretches, and keep it whatever the terms are.
 * Crops (glcnn/kernels/crop_and_resize.h) keep it for the positions that float32 has.
 * glcnn check holds every kernel that has images to both, with source, forward source and
 * destination stored as the one and as the other; labels and losses stay float32.
 *
 * Unorm8 storage: a byte b reads as b / 255. It brings pictures to the device in a quarter of
 * float32's bytes. Every kernel reads such images, as sources and as labels; none writes one, and a
 * result or gradient that has its format from a Unorm8 source is float32. They are filled by
 * transfers, below, which take bytes.
 *
 * A NaN goes on to all that depends on it: no clamp, maximum or comparison of a kernel hides one,
 * and what does not depend on it stays as it is. Infinities follow the formulas. The headers of the
 * families say what is particular to each. One form of convolution reaches further (implementations
 * convolution_winograd and weights_winograd, for 3x3 windows of 64 channels and more on GPUs with
 * shared memory): its results come in tiles of 4x4 pixels, and a NaN or an infinity makes NaN of the
 * whole tile, or of all taps of its channels' weights.
 *
 * An image with more layers than the device's texture arrays have is folded: layer L lies at
 * layer L / tiles, tile L mod tiles to the right or below, as many each way as a power of two that
 * the texture has room for; nothing else changes.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_IMAGE_H
#define GLCNN_IMAGE_H

#include <glcnn/buffer.h>
#include <glcnn/channel_format.h>
#include <glcnn/command_buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_image glcnn_image;

/* Order of elements on the CPU side, MPSDataLayout. */
typedef enum glcnn_data_layout {
    GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS = 0, /* element (y,x,c) at (y*W + x)*C + c */
    GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH = 1, /* element (c,y,x) at (c*H + y)*W + x */
    GLCNN_LAYOUT_FORCE32 = 0x7fffffff
} glcnn_data_layout;

/* MPSImageDescriptor. A field of 0 takes its default. */
struct glcnn_image_descriptor {
    uint32_t width, height;              /* pixels, default 1 */
    uint32_t feature_channels;           /* default 1 */
    uint32_t number_of_images;           /* default 1 */
    glcnn_channel_format channel_format; /* default float32 */
};

struct glcnn_offset {
    int32_t x, y, z;
};

struct glcnn_size {
    uint32_t width, height, depth;
};

/* MTLRegion: x, y in pixels, z in images. GLCNN_NO_CLIP covers whatever there is. */
struct glcnn_region {
    struct {
        uint32_t x, y, z;
    } origin;
    struct glcnn_size size;
};
/* clang-format off */
#define GLCNN_NO_CLIP {{0, 0, 0}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}}
/* clang-format on */

/* Makes an image. No device memory is taken before its first use, and contents are 0 until
 * written. The caller owns it.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_LIMIT_EXCEEDED (larger than a folded texture can hold). */
GLCNN_API glcnn_status glcnn_image_create(glcnn_device *device,
                                          const struct glcnn_image_descriptor *descriptor,
                                          glcnn_image **image);

/* Makes a temporary image: it belongs to one command buffer, cannot be read by the CPU, and its
 * storage is recycled as soon as its read count, 1 at first, comes to 0. MPSTemporaryImage.
 * The caller gives up its reference with glcnn_image_destroy as for any image. */
GLCNN_API glcnn_status glcnn_temporary_image_create(glcnn_command_buffer *command_buffer,
                                                    const struct glcnn_image_descriptor *descriptor,
                                                    glcnn_image **image);

/* Gives up the caller's reference; *image becomes NULL. */
GLCNN_API void glcnn_image_destroy(glcnn_image **image);

/* The descriptor with all defaults filled in. Valid while the image lives. */
GLCNN_API const struct glcnn_image_descriptor *glcnn_image_get_descriptor(const glcnn_image *image);

/* Bytes of device memory that the storage takes, or will take at its first use. */
GLCNN_API size_t glcnn_image_resource_size(const glcnn_image *image);

/* Read counts of temporary images, spec 3.4. Each encode that reads the image takes one; writing
 * takes none. Setting it to 0 releases the storage. For an ordinary image the count reads 0 and
 * setting it is refused. Errors of set: GLCNN_INVALID_STATE once the count came to 0. */
GLCNN_API bool glcnn_image_is_temporary(const glcnn_image *image);
GLCNN_API uint32_t glcnn_image_read_count(const glcnn_image *image);
GLCNN_API glcnn_status glcnn_image_set_read_count(glcnn_image *image, uint32_t count);

/* Adds `amount` to the read count of each distinct temporary image of a batch that is not spent.
 * Returns the number of distinct images. MPSImageBatchIncrementReadCount. */
GLCNN_API size_t glcnn_image_batch_increment_read_count(glcnn_image *const *images, size_t count,
                                                        int32_t amount);

/* Image `index` of a multi-image image as an image of its own that shares storage
 * (batchRepresentation). A view of a temporary image holds one read count of its parent and gives
 * it back when its own comes to 0. The caller owns the view. */
GLCNN_API glcnn_status glcnn_image_batch_view(glcnn_image *image, uint32_t index,
                                              glcnn_image **view);

/* Channels [location, location + length) as an image that shares storage. Both are multiples of 4;
 * a length beyond the last channel is clipped. The caller owns the view. */
GLCNN_API glcnn_status glcnn_image_channel_view(glcnn_image *image, uint32_t location,
                                                uint32_t length, glcnn_image **view);

/* Which part of an image a transfer touches and how the elements lie on the CPU side.
 * All zero: everything, dense. */
struct glcnn_image_transfer {
    glcnn_data_layout layout;
    size_t bytes_per_row;         /* 0: dense. Stride of y */
    size_t bytes_per_plane;       /* 0: dense. Stride of c in channels-height-width order */
    size_t bytes_per_image;       /* 0: dense. Stride of n */
    uint32_t x, y, width, height; /* 0 width or height: all from x or y on */
    uint32_t channel_offset, channel_count; /* offset multiple of 4; count 0: all the rest, else a
                                               multiple of 4 unless the last channel is among them
                                               or, to read, the offset is 0 */
    uint32_t first_image, image_count;      /* count 0: all from first_image on */
};

/* Copies bytes into or out of an image and returns when that is done: for write when `bytes` has
 * been copied, for read when the data is there. A write comes after all committed and before all
 * later committed work, and does not wait for it: the next batch can be written while a step reads
 * the one before. It waits where the GPU is eight writes of 8 MiB, or of less, behind. A transfer
 * like one of the last eight (same part, layout, format and extent) allocates nothing. Elements are float32, float16 for a float16 image,
 * bytes for a Unorm8 image. `transfer` may be NULL. `size` is that of the memory at `bytes`: an access beyond it is
 * refused, and gaps between rows stay untouched. Strides must be multiples of the element size.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_INVALID_STATE (a temporary image). */
GLCNN_API glcnn_status glcnn_image_write_bytes(glcnn_image *image,
                                               const struct glcnn_image_transfer *transfer,
                                               const void *bytes, size_t size);
GLCNN_API glcnn_status glcnn_image_read_bytes(glcnn_image *image,
                                              const struct glcnn_image_transfer *transfer,
                                              void *bytes, size_t size);

/* The same recorded into a command buffer, between a buffer from byte `offset` on (a multiple of
 * 4) and an image: asynchronous upload and read-back. Use glcnn_buffer_write before a commit and
 * glcnn_buffer_read after it. In the buffer elements are float32 whatever the image's format, but
 * for what is written to a Unorm8 image: these are bytes. A buffer that is read into and that no pass
 * has read moves to memory that the processor reads without waiting for later commits, where the
 * driver has GL_EXT_buffer_storage; a GPU with memory of its own reads it more slowly then. Errors:
 * out of memory too. */
GLCNN_API glcnn_status glcnn_image_encode_write(glcnn_command_buffer *command_buffer,
                                                glcnn_image *image,
                                                const struct glcnn_image_transfer *transfer,
                                                glcnn_buffer *source, size_t offset);
GLCNN_API glcnn_status glcnn_image_encode_read(glcnn_command_buffer *command_buffer,
                                               glcnn_image *image,
                                               const struct glcnn_image_transfer *transfer,
                                               glcnn_buffer *destination, size_t offset);

/* Classes in place of values, for the labels of a loss: a pixel whose class is k gets 1 in channel k
 * and 0 in all others, made on the device from one number a pixel. GLCNN_NO_CLASS, which is also
 * GLCNN_DATA_NO_LABEL, gives 0 in all channels: of the losses that go by labels such a pixel has none.
 * Classes are [image][y][x], one for each image where it is one pixel; of `transfer` the region, the
 * images and the strides of rows and images count, and it has all channels. `count` is how many
 * classes there are at `classes`; time and waiting are those of glcnn_image_write_bytes.
 * Errors: those of glcnn_image_write_bytes; GLCNN_INVALID_ARGUMENT also for a class that the image
 * has no channel for, nothing being written then, and for a part of the channels. */
#define GLCNN_NO_CLASS 0xffffffffu
GLCNN_API glcnn_status glcnn_image_write_classes(glcnn_image *image,
                                                 const struct glcnn_image_transfer *transfer,
                                                 const uint32_t *classes, size_t count);

/* The same recorded into a command buffer, from a buffer of uint32_t; see glcnn_image_encode_write.
 * A class that there is no channel for makes all channels of its pixel a NaN (0 in a Unorm8 image,
 * which has none). */
GLCNN_API glcnn_status glcnn_image_encode_write_classes(glcnn_command_buffer *command_buffer,
                                                        glcnn_image *image,
                                                        const struct glcnn_image_transfer *transfer,
                                                        glcnn_buffer *source, size_t offset);

#ifdef __cplusplus
}
#endif
#endif
