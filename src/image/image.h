/* Images and views as their own code sees them.
 *
 * Room: Images of feature channels, their views, and their way from and to host memory. Includes
 * record/ and the rooms below it. */
#ifndef GLCNN_IMAGE_INTERNAL_H
#define GLCNN_IMAGE_INTERNAL_H

#include "glcnn/image.h"
#include "record/command_buffer.h"

struct glcnn_image {
    struct glcnn_device *device;
    int references;
    struct glcnn_image_descriptor descriptor;
    struct storage *storage; /* NULL once a temporary image is spent */
    uint32_t first_layer, layer_stride;
    uint32_t channels_behind;   /* channels of the parent from this view's first one on */
    struct glcnn_image *parent; /* of a view, retained */
    struct glcnn_command_buffer *command_buffer; /* of a temporary image, retained */
    uint32_t read_count;                         /* temporary images only */
    bool written; /* something was recorded that writes it or a view of it; of a root only */
};

/* The image that owns the storage: itself, or what it is a view of. */
struct glcnn_image *image_root(struct glcnn_image *image);
/* Is it a temporary image, or a view of one, whose storage holds nothing yet but what others left?
 */
bool image_is_unset(struct glcnn_image *image);

/* Fills in defaults and checks ranges; fails with a message that begins with `where`. */
glcnn_status image_complete_descriptor(struct glcnn_device *device, const char *where,
                                       struct glcnn_image_descriptor *descriptor);

/* An image of that storage, which it takes over, also on failure; channels beyond its last one may
 * hold anything. */
glcnn_status image_create_over(struct glcnn_device *device,
                               const struct glcnn_image_descriptor *descriptor,
                               struct storage *storage, struct glcnn_image **image);
/* Was its texture made elsewhere? */
bool image_is_foreign(const struct glcnn_image *image);
/* Refuses what would write a texture that can only be read, `what` in the call or kernel `where`. */
glcnn_status image_check_write(const struct glcnn_image *image, const char *where,
                               const char *what);

struct glcnn_image *image_retain(struct glcnn_image *image);
/* A view of some of the images; the caller owns it, and they must be in range. */
glcnn_status image_range_view(struct glcnn_image *image, uint32_t first, uint32_t count,
                              struct glcnn_image **view);

/* The image as a pass sees it: `image_count` images from `first_image` on, `channel_count`
 * channels from `channel_offset` on (a multiple of 4), all within the image. */
struct image_view image_view(const struct glcnn_image *image, uint32_t first_image,
                             uint32_t image_count, uint32_t channel_offset, uint32_t channel_count);
struct image_view image_whole_view(const struct glcnn_image *image);

/* May `command_buffer` use the image? A temporary image belongs to one and must not be spent. */
glcnn_status image_check_use(const struct glcnn_image *image, const char *where, const char *what,
                             const struct glcnn_command_buffer *command_buffer);

/* Takes one read from a temporary image; nothing for an ordinary one. */
void image_count_read(struct glcnn_image *image);

/* A read count, not 0, after adding `amount`: of temporary images and states. */
static inline uint32_t adjusted_read_count(uint32_t count, int32_t amount)
{
    int64_t sum = (int64_t)count + amount;
    return sum > UINT32_MAX ? UINT32_MAX : sum > 0 ? (uint32_t)sum : 0;
}

/* What a Unorm8 image keeps of a value: the nearest 255th from 0 to 1; of a NaN 0. */
static inline unsigned char byte_of_unit(float value)
{
    float held = value > 0 ? (value < 1 ? value : 1) : 0;
    return (unsigned char)(int)(255 * held + 0.5f);
}

/* Do the two share any texel? */
bool image_views_overlap(const struct image_view *a, const struct image_view *b);

#endif
