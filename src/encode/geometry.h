/* Geometry of an encode: which pixels, channels and images of each argument take part. Knows
 * extents only, so encodes and references share it. */
#ifndef GLCNN_GEOMETRY_H
#define GLCNN_GEOMETRY_H

#include "encode/descriptor.h"

/* Extents of what an operation works on. */
struct shapes {
    struct glcnn_image_descriptor images[MAX_ARGUMENTS]; /* width 0: not given */
};

/* Computes the result's descriptor, and with padding the offsets in operation->properties. */
bool geometry_result(struct operation *operation, const struct shapes *shapes,
                     struct glcnn_image_descriptor *result, struct validation validation);
/* Fills window, region, starts, and of all views the extent, from properties and shapes; `forward`
 * is the state's operation for a state-driven gradient. */
bool geometry_resolve(struct operation *operation, const struct shapes *shapes,
                      const struct operation *forward, struct validation validation);
/* What a gradient kernel takes over from the forward operation (spec 5.5). */
void geometry_adopt(const struct glcnn_descriptor *descriptor, const void *parameters,
                    const struct operation *forward, struct glcnn_addressing *properties);

/* ---- What its parts share ---- */

/* Of an argument; NULL where it is not given. */
const struct glcnn_image_descriptor *geometry_shape(const struct operation *operation,
                                                    const struct shapes *shapes,
                                                    enum argument_place place);
/* Extent and start of the argument's view. */
void geometry_view(struct operation *operation, enum argument_place place, struct extent extent,
                   struct image_start start);

/* All pixels of an image. */
static inline struct extent geometry_extent(const struct glcnn_image_descriptor *shape,
                                            uint32_t channels, uint32_t images)
{
    return (struct extent){shape->width, shape->height, channels, images};
}

/* Where a source is read. */
static inline struct image_start geometry_start(const struct glcnn_source_properties *source)
{
    return (struct image_start){(uint32_t)source->offset.z, source->feature_channel_offset};
}

/* Channels that one source contributes. */
bool geometry_read_channels(const struct glcnn_source_properties *source, const char *what,
                            const struct glcnn_image_descriptor *shape, uint32_t *count,
                            struct validation validation);
/* Channels that the sources make; `read` are of the primary source. */
bool geometry_broadcast_channels(const struct operation *operation, const struct shapes *shapes,
                                 uint32_t read, uint32_t *channels, struct validation validation);
/* The whole result as the operation alone decides, without offset; `extent` is what the window
 * alone makes. */
void geometry_natural(const struct operation *operation, struct extent extent,
                      struct glcnn_image_descriptor *result);
/* Images of the result for each of the source: the descriptor's `results`, of a secondary source that
 * is as large as its shape. */
uint32_t geometry_results(struct operation *operation, const struct shapes *shapes);
/* Positions that windows reach must be so few that no sum of a few of them leaves 32 bits. */
bool geometry_check_reach(int64_t low, int64_t high, struct validation validation);

/* Destination pixels and images that are written. */
struct clip {
    uint32_t x, y, z, width, height, depth;
};
bool geometry_clip(const struct operation *operation,
                   const struct glcnn_image_descriptor *destination, struct clip *clip,
                   struct validation validation);
void geometry_region(struct operation *operation, const struct clip *clip);
bool geometry_check_images(const char *what, int32_t first, uint32_t count,
                           const struct glcnn_image_descriptor *shape,
                           struct validation validation);
bool geometry_check_channels(const struct operation *operation,
                             const struct glcnn_image_descriptor *destination, uint32_t outputs,
                             struct validation validation);
/* The window of a forward kernel on the source that has these properties. */
bool geometry_window(const struct operation *operation, struct window *window,
                     const struct glcnn_source_properties *source, const struct clip *clip,
                     struct validation validation);
/* geometry_resolve for gradients. */
bool geometry_gradient(struct operation *operation, const struct shapes *shapes,
                       const struct operation *forward, struct validation validation);

#endif
