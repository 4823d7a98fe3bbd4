/* Geometry, part 2: what a forward kernel reads and writes. The clip rectangle, the images and
 * channels of each argument, and the windows on sources (spec 5.2 to 5.4). */
#include "encode/geometry.h"

/* ---- Clip rectangle ---- */

bool geometry_clip(const struct operation *operation,
                   const struct glcnn_image_descriptor *destination, struct clip *clip,
                   struct validation validation)
{
    const struct glcnn_region *r = &operation->properties.clip_rect;
    if (r->origin.x >= destination->width || r->origin.y >= destination->height ||
        r->origin.z >= destination->number_of_images || !r->size.width || !r->size.height ||
        !r->size.depth)
        return invalid(validation,
                       "clip rectangle at (%u, %u, %u) of %ux%ux%u does not meet the destination's "
                       "%ux%u pixels and %u images",
                       r->origin.x, r->origin.y, r->origin.z, r->size.width, r->size.height,
                       r->size.depth, destination->width, destination->height,
                       destination->number_of_images);
    *clip = (struct clip){
        r->origin.x,
        r->origin.y,
        r->origin.z,
        least(r->size.width, destination->width - r->origin.x),
        least(r->size.height, destination->height - r->origin.y),
        least(r->size.depth, destination->number_of_images - r->origin.z),
    };
    return true;
}

bool geometry_check_images(const char *what, int32_t first, uint32_t count,
                           const struct glcnn_image_descriptor *shape, struct validation validation)
{
    if (first >= 0 && (uint32_t)first < shape->number_of_images &&
        count <= shape->number_of_images - (uint32_t)first)
        return true;
    return invalid(validation, "%u images are wanted of the %s from image %d on; it has %u", count,
                   what, first, shape->number_of_images);
}

bool geometry_check_channels(const struct operation *operation,
                             const struct glcnn_image_descriptor *destination, uint32_t outputs,
                             struct validation validation)
{
    uint32_t offset = operation->properties.destination_feature_channel_offset;
    if (offset % 4)
        return invalid(validation,
                       "destination feature channel offset is %u; it must be a multiple of 4",
                       offset);
    if (offset > destination->feature_channels || outputs > destination->feature_channels - offset)
        return invalid(validation,
                       "the destination has %u channels; %u from channel %u on are written",
                       destination->feature_channels, outputs, offset);
    return true;
}

void geometry_region(struct operation *operation, const struct clip *clip)
{
    operation->region_x = clip->x;
    operation->region_y = clip->y;
    operation->region_width = clip->width;
    operation->region_height = clip->height;
}

/* ---- Windows ---- */

#define TAPS ((uint64_t)1 << 24) /* of one window */

/* One axis of how a source is walked. */
struct walk {
    int32_t offset;
    uint32_t stride, size, dilation;
};

static bool set_axis(struct axis *axis, struct walk walk, uint32_t begin, uint32_t count,
                     struct validation validation)
{
    int64_t Kd = ((int64_t)walk.size - 1) * walk.dilation + 1;
    int64_t first = walk.offset - (int64_t)walk.stride * begin - Kd / 2;
    int64_t last = first + (int64_t)walk.stride * ((int64_t)begin + count) + Kd;
    *axis = (struct axis){0};
    if (!geometry_check_reach(first, last, validation))
        return false;
    *axis = (struct axis){
        .first = (int32_t)first,
        .stride = (int32_t)walk.stride,
        .size = (int32_t)walk.size,
        .dilation = (int32_t)walk.dilation,
        .begin = (int32_t)begin,
        .end = (int32_t)(begin + count),
    };
    return true;
}

bool geometry_window(const struct operation *operation, struct window *window,
                     const struct glcnn_source_properties *source, const struct clip *clip,
                     struct validation validation)
{
    const struct glcnn_source_properties *p = source;
    const struct walk columns = {p->offset.x, p->stride_in_pixels_x, p->kernel_width,
                                 p->dilation_rate_x};
    const struct walk rows = {p->offset.y, p->stride_in_pixels_y, p->kernel_height,
                              p->dilation_rate_y};
    window->channel_stride = p->stride_in_feature_channels;
    window->edge_mode = p->edge_mode;
    window->exclude_edges = operation->properties.padding & GLCNN_PADDING_EXCLUDE_EDGES;
    if ((uint64_t)p->kernel_width * p->kernel_height > TAPS)
        return invalid(validation, "a window of %ux%u has more than the %llu taps that are allowed",
                       p->kernel_width, p->kernel_height, (unsigned long long)TAPS);
    return set_axis(&window->x, columns, clip->x, clip->width, validation) &&
           set_axis(&window->y, rows, clip->y, clip->height, validation);
}

/* Source pixel x of a backwards kernel lies at pixel  stride * x  of the zero-stuffed source, of
 * which the tap p of result pixel y reads  y + total - Kd/2 + dilation * p  (spec 7.2). Seen from
 * x, the taps come in reverse. */
static bool set_backwards_axis(struct axis *axis, int32_t offset, int32_t kernel_offset,
                               uint32_t source_size, struct validation validation)
{
    int64_t Kd = ((int64_t)axis->size - 1) * axis->dilation + 1;
    int64_t total = (int64_t)offset * axis->stride + kernel_offset;
    int64_t first = axis->begin + Kd / 2 - total - (Kd - 1);
    if (!geometry_check_reach(first, first + (int64_t)axis->stride * source_size + Kd, validation))
        return false;
    axis->first = (int32_t)first;
    return true;
}

static bool set_backwards_window(struct operation *operation, struct validation validation)
{
    const struct glcnn_addressing *p = &operation->properties;
    const struct image_view *source =
        &operation->images[descriptor_place(operation->descriptor, PLACE_SOURCE)];
    operation->window.edge_mode = GLCNN_EDGE_MODE_ZERO;
    return set_backwards_axis(&operation->window.x, p->primary.offset.x, p->kernel_offset_x,
                              source->width, validation) &&
           set_backwards_axis(&operation->window.y, p->primary.offset.y, p->kernel_offset_y,
                              source->height, validation);
}

/* The windows of a forward kernel on its sources. */
static bool set_windows(struct operation *operation, const struct clip *clip,
                        struct validation validation)
{
    const struct glcnn_addressing *p = &operation->properties;
    if (!geometry_window(operation, &operation->window, &p->primary, clip, validation))
        return false;
    if (operation->descriptor->flags & IS_BACKWARDS)
        return set_backwards_window(operation, validation);
    return !(operation->descriptor->flags & IS_BINARY) ||
           geometry_window(operation, &operation->secondary_window, &p->secondary, clip,
                           validation);
}

/* ---- Arguments ---- */

/* Kernels that read a source and leave vectors only. */
static bool resolve_without_destination(struct operation *operation,
                                        const struct glcnn_image_descriptor *source,
                                        struct validation validation)
{
    const struct glcnn_source_properties *p = &operation->properties.primary;
    uint32_t channels;
    if (!geometry_read_channels(p, "source", source, &channels, validation) ||
        !geometry_check_images("source", p->offset.z, 1, source, validation))
        return false;
    uint32_t images = source->number_of_images - (uint32_t)p->offset.z;
    geometry_view(operation, PLACE_SOURCE, geometry_extent(source, channels, images),
                  geometry_start(p));
    struct clip whole = {0, 0, 0, source->width, source->height, images};
    geometry_region(operation, &whole);
    return geometry_window(operation, &operation->window, p, &whole, validation);
}

static bool resolve_secondary(struct operation *operation, const struct shapes *shapes,
                              uint32_t depth, struct validation validation)
{
    const struct glcnn_image_descriptor *shape = geometry_shape(operation, shapes, PLACE_SECONDARY);
    const struct glcnn_source_properties *p = &operation->properties.secondary;
    uint32_t channels;
    if (!shape)
        return true;
    if (!geometry_read_channels(p, "secondary source", shape, &channels, validation) ||
        !geometry_check_images("secondary source", p->offset.z, depth, shape, validation))
        return false;
    geometry_view(operation, PLACE_SECONDARY, geometry_extent(shape, channels, depth),
                  geometry_start(p));
    return true;
}

/* Images beside source and destination, of loss kernels: labels and their weights go with the
 * source's images, the loss with the destination's. All their channels are used. */
static bool resolve_beside(struct operation *operation, const struct shapes *shapes,
                           const struct clip *clip, struct validation validation)
{
    for (int i = 0; i < MAX_ARGUMENTS && operation->descriptor->arguments[i].name; i++) {
        const struct argument *argument = &operation->descriptor->arguments[i];
        const struct glcnn_image_descriptor *shape = &shapes->images[i];
        bool beside = argument->place == PLACE_LABELS || argument->place == PLACE_LABEL_WEIGHTS ||
                      argument->place == PLACE_LOSS;
        int32_t first =
            argument->output ? (int32_t)clip->z : operation->properties.primary.offset.z;
        if (!beside || !shape->width)
            continue;
        if (!geometry_check_images(argument->name, first, clip->depth, shape, validation))
            return false;
        geometry_view(operation, argument->place,
                      geometry_extent(shape, shape->feature_channels, clip->depth),
                      (struct image_start){(uint32_t)first, 0});
    }
    return true;
}

/* Images of the sources that make so many of the result, the last perhaps not all of its own. */
static uint32_t images_read(struct operation *operation, const struct shapes *shapes,
                            uint32_t depth)
{
    uint32_t each = geometry_results(operation, shapes);
    return depth / each + (depth % each != 0);
}

static bool resolve_forward(struct operation *operation, const struct shapes *shapes,
                            struct validation validation)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    const struct glcnn_image_descriptor *source = geometry_shape(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *destination =
        geometry_shape(operation, shapes, PLACE_DESTINATION);
    struct glcnn_addressing *p = &operation->properties;
    struct clip clip;
    uint32_t read, channels, images; /* channels of the source and of the result */
    if (!destination)
        return resolve_without_destination(operation, source, validation);
    if (!geometry_read_channels(&p->primary, "source", source, &read, validation) ||
        !geometry_clip(operation, destination, &clip, validation))
        return false;
    images = images_read(operation, shapes, clip.depth);
    if (!geometry_check_images("source", p->primary.offset.z, images, source, validation) ||
        !resolve_secondary(operation, shapes, images, validation) ||
        !geometry_broadcast_channels(operation, shapes, read, &channels, validation))
        return false;
    geometry_view(operation, PLACE_SOURCE, geometry_extent(source, read, images),
                  geometry_start(&p->primary));
    if (d->prepare)
        d->prepare(operation);
    struct glcnn_image_descriptor natural;
    geometry_natural(operation, geometry_extent(destination, channels, clip.depth), &natural);
    if (!geometry_check_channels(operation, destination, natural.feature_channels, validation))
        return false;
    geometry_view(operation, PLACE_DESTINATION,
                  geometry_extent(destination, natural.feature_channels, clip.depth),
                  (struct image_start){clip.z, p->destination_feature_channel_offset});
    if (!set_windows(operation, &clip, validation))
        return false;
    geometry_region(operation, &clip);
    return resolve_beside(operation, shapes, &clip, validation);
}

bool geometry_resolve(struct operation *operation, const struct shapes *shapes,
                      const struct operation *forward, struct validation validation)
{
    if (operation->descriptor->flags & WITHOUT_PIXELS)
        return true;
    if (!(operation->descriptor->flags & IS_GRADIENT))
        return resolve_forward(operation, shapes, validation);
    return geometry_gradient(operation, shapes, forward, validation);
}
