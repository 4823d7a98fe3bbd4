/* Geometry, part 3: what a gradient kernel reads and writes, following the forward encode that its
 * state holds or addressed by hand, and what it takes over from that encode (spec 5.5 and 5.6). */
#include "encode/geometry.h"

/* ---- Following a state ---- */

/* What the forward encode used of an image. */
struct part {
    struct extent extent;
    struct image_start start;
};

static struct part part_of(const struct operation *forward, enum argument_place place)
{
    int index = descriptor_place(forward->descriptor, place);
    return (struct part){view_extent(&forward->images[index]), forward->starts[index]};
}

/* An image must have the shape that the forward encode saw. */
static bool check_same(const char *what, const struct glcnn_image_descriptor *shape,
                       const struct part *forward, struct validation validation)
{
    const struct extent *extent = &forward->extent;
    uint32_t channels = forward->start.channel + extent->channels;
    uint32_t images = forward->start.image + extent->images;
    if (shape->width == extent->width && shape->height == extent->height &&
        shape->feature_channels >= channels && shape->number_of_images >= images)
        return true;
    return invalid(
        validation,
        "%s is %ux%u with %u channels and %u images; the forward encode needs %ux%u with "
        "%u channels and %u images",
        what, shape->width, shape->height, shape->feature_channels, shape->number_of_images,
        extent->width, extent->height, channels, images);
}

/* Gives the argument at `place` the part that the forward encode used of its own. */
static bool follow(struct operation *operation, const struct shapes *shapes,
                   enum argument_place place, const char *what, const struct part *like,
                   struct validation validation)
{
    const struct glcnn_image_descriptor *shape = geometry_shape(operation, shapes, place);
    if (!shape)
        return true;
    if (!check_same(what, shape, like, validation))
        return false;
    geometry_view(operation, place, like->extent, like->start);
    return true;
}

/* A state that a whole batch shares was left by the last of several encodes: unless those were
 * clipped, this encode has as many images as it is given. */
static bool counts_images(const struct operation *operation,
                          const struct glcnn_image_descriptor *gradient,
                          const struct operation *forward, const struct part *result)
{
    return operation->descriptor->flags & SHARED_STATE &&
           forward->properties.clip_rect.size.depth == UINT32_MAX &&
           gradient->number_of_images > result->start.image;
}

static const struct window *window_on(const struct operation *forward, enum argument_place place)
{
    return place == PLACE_SECONDARY ? &forward->secondary_window : &forward->window;
}

static bool resolve_state_driven(struct operation *operation, const struct shapes *shapes,
                                 const struct operation *forward, struct validation validation)
{
    struct operands operands = operation_operands(operation);
    struct part source = part_of(forward, operands.of);
    struct part given = part_of(forward, operands.given);
    struct part result = part_of(forward, PLACE_DESTINATION);
    const struct glcnn_image_descriptor *gradient = geometry_shape(operation, shapes, PLACE_SOURCE);
    if (counts_images(operation, gradient, forward, &result))
        source.extent.images = given.extent.images = result.extent.images =
            gradient->number_of_images - result.start.image;
    bool needs_result = operation->descriptor->flags & NEEDS_RESULT;
    operation->window = *window_on(forward, operands.of);
    operation->secondary_window = *window_on(forward, operands.given);
    if (!follow(operation, shapes, PLACE_SOURCE, "source gradient", &result, validation) ||
        !follow(operation, shapes, PLACE_SECONDARY,
                needs_result ? "source image (the forward result)" : "source image",
                needs_result ? &result : &given, validation) ||
        !follow(operation, shapes, PLACE_DESTINATION, "destination gradient", &source, validation))
        return false;
    geometry_region(operation,
                    &(struct clip){0, 0, 0, source.extent.width, source.extent.height, 0});
    return true;
}

/* ---- Addressed by hand ---- */

/* One axis of the addressing, and of the images that it addresses. */
struct manual {
    int32_t kernel_offset, offset; /* the latter of the source gradient */
    uint32_t used, size;           /* of its pixels: those from the offset on that count; all */
    uint32_t clip_origin;
};

/* Source pixel whose gradient goes to the first destination pixel, given the left of the window of
 * the gradient pixel at its offset. Where the result is like the source, a window without a stride,
 * it is the window's centre; with a stride its first pixel in the image; and where results read one
 * pixel each that one, outside of the image too. */
static int32_t first_seen(const struct axis *axis, unsigned flags, int32_t left)
{
    if (flags & DENSE_MANUAL)
        return 0;
    if (flags & PIXEL_MANUAL)
        return left;
    if (flags & HAS_WINDOW && !(flags & HAS_STRIDE))
        return left + axis->size / 2;
    return left > 0 ? left : 0;
}

/* Gradient pixels from `start`, that of the first destination pixel, on; of those that were chosen,
 * `used` from the offset on, if not all were. */
static void set_used(struct axis *axis, int64_t start, const struct manual *m)
{
    int64_t end = m->size, begin = start > 0 ? start : 0;
    if (m->used != UINT32_MAX && (int64_t)m->offset + m->used < end)
        end = (int64_t)m->offset + m->used;
    if (m->used != UINT32_MAX && m->offset > begin)
        begin = m->offset;
    axis->begin = (int32_t)begin;
    axis->end = (int32_t)end;
}

static bool set_manual_axis(struct axis *axis, const struct glcnn_descriptor *descriptor,
                            struct manual m, struct validation validation)
{
    bool dense = descriptor->flags & DENSE_MANUAL;
    int32_t left = axis->first; /* of the window of the gradient pixel at the offset */
    int64_t first =
        left - (int64_t)axis->stride * m.offset - (dense ? 0 : (int64_t)m.kernel_offset);
    int64_t last =
        first + (int64_t)axis->stride * m.size + ((int64_t)axis->size - 1) * axis->dilation + 1;
    int64_t end = (int64_t)m.offset + m.used;
    if (!geometry_check_reach(first, last, validation))
        return false;
    axis->first = (int32_t)first;
    axis->begin = m.offset > 0 ? m.offset : 0;
    axis->end = end < m.size ? (int32_t)end : (int32_t)m.size;
    if (descriptor->flags & PIXEL_MANUAL)
        set_used(axis, left - first, &m);
    axis->shift = first_seen(axis, descriptor->flags, left) - (int32_t)m.clip_origin;
    return true;
}

/* By hand the gradient of a binary kernel goes element by element (spec 5.5): destination pixel j
 * has the gradient at primary offset + j and the source image at secondary offset + stride * j,
 * both counted from the clip rectangle. Which axes were broadcast only a state could tell. */
static bool set_elements_axis(struct axis *axis, struct axis *given, struct manual m,
                              struct validation validation)
{
    int64_t start = (int64_t)m.offset + m.kernel_offset;
    int64_t first = given->first - given->stride * start;
    if (!geometry_check_reach(-start, m.size - start, validation) ||
        !geometry_check_reach(first, first + m.size, validation))
        return false;
    *axis = (struct axis){.first = (int32_t)-start, .stride = 1, .size = 1, .dilation = 1};
    set_used(axis, start, &m);
    axis->shift = -(int32_t)m.clip_origin;
    given->first = (int32_t)first;
    return true;
}

static bool set_manual_window(struct operation *operation,
                              const struct glcnn_image_descriptor *gradient,
                              const struct clip *clip, struct validation validation)
{
    static const struct clip from_first = {0};
    const struct glcnn_addressing *p = &operation->properties;
    const struct manual columns = {p->kernel_offset_x, p->primary.offset.x, p->source_size.width,
                                   gradient->width, clip->x};
    const struct manual rows = {p->kernel_offset_y, p->primary.offset.y, p->source_size.height,
                                gradient->height, clip->y};
    const struct glcnn_descriptor *d = operation->descriptor;
    struct window *window = &operation->window, *given = &operation->secondary_window;
    if (!descriptor_broadcasts(d))
        return geometry_window(operation, window, &p->secondary, &from_first, validation) &&
               set_manual_axis(&window->x, d, columns, validation) &&
               set_manual_axis(&window->y, d, rows, validation);
    *window = (struct window){.channel_stride = 1, .edge_mode = GLCNN_EDGE_MODE_ZERO};
    return geometry_window(operation, given, &p->secondary, &from_first, validation) &&
           set_elements_axis(&window->x, &given->x, columns, validation) &&
           set_elements_axis(&window->y, &given->y, rows, validation);
}

/* Where channels stay, each channel of the result has one of the gradient. */
static bool check_gradient_channels(const struct glcnn_descriptor *descriptor, uint32_t read,
                                    uint32_t outputs, struct validation validation)
{
    const struct glcnn_descriptor *forward = descriptor_find(descriptor->forward);
    if (!forward || forward->shape || read >= outputs)
        return true;
    return invalid(validation,
                   "%u channels of the source gradient are read; the source image "
                   "needs %u",
                   read, outputs);
}

static bool resolve_manual(struct operation *operation, const struct shapes *shapes,
                           struct validation validation)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    const struct glcnn_addressing *p = &operation->properties;
    const struct glcnn_image_descriptor *gradient = geometry_shape(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *source =
        geometry_shape(operation, shapes, PLACE_SECONDARY);
    const struct glcnn_image_descriptor *destination =
        geometry_shape(operation, shapes, PLACE_DESTINATION);
    uint32_t read, outputs;
    struct clip clip = {0, 0, 0, source->width, source->height, source->number_of_images};
    if (destination && !geometry_clip(operation, destination, &clip, validation))
        return false;
    if (!geometry_read_channels(&p->primary, "source gradient", gradient, &read, validation) ||
        !geometry_read_channels(&p->secondary, "source image", source, &outputs, validation) ||
        !geometry_check_images("source gradient", p->primary.offset.z, clip.depth, gradient,
                               validation) ||
        !geometry_check_images("source image", p->secondary.offset.z, clip.depth, source,
                               validation))
        return false;
    geometry_view(operation, PLACE_SOURCE, geometry_extent(gradient, read, clip.depth),
                  geometry_start(&p->primary));
    geometry_view(operation, PLACE_SECONDARY, geometry_extent(source, outputs, clip.depth),
                  geometry_start(&p->secondary));
    if (descriptor_broadcasts(d)) /* the source image may be one that is broadcast */
        outputs = read;
    if (!check_gradient_channels(d, read, outputs, validation) ||
        !set_manual_window(operation, gradient, &clip, validation))
        return false;
    geometry_region(operation, &clip);
    if (!destination)
        return true;
    geometry_view(operation, PLACE_DESTINATION, geometry_extent(destination, outputs, clip.depth),
                  (struct image_start){clip.z, p->destination_feature_channel_offset});
    return geometry_check_channels(operation, destination, outputs, validation);
}

bool geometry_gradient(struct operation *operation, const struct shapes *shapes,
                       const struct operation *forward, struct validation validation)
{
    operation->state_driven = forward != NULL;
    if (forward)
        return resolve_state_driven(operation, shapes, forward, validation);
    if (operation->descriptor->prepare)
        operation->descriptor->prepare(operation);
    return resolve_manual(operation, shapes, validation);
}

/* ---- What a kernel takes over from a state ---- */

void geometry_adopt(const struct glcnn_descriptor *descriptor, const void *parameters,
                    const struct operation *forward, struct glcnn_addressing *properties)
{
    const struct glcnn_addressing *f = &forward->properties;
    struct glcnn_source_properties *g = &properties->primary;
    struct glcnn_source_properties *x = &properties->secondary;
    bool secondary =
        descriptor->operands && descriptor->operands(parameters).given == PLACE_SECONDARY;
    *x = secondary ? f->secondary : f->primary;
    if (!descriptor_broadcasts(descriptor)) {
        g->stride_in_pixels_x = f->primary.stride_in_pixels_x;
        g->stride_in_pixels_y = f->primary.stride_in_pixels_y;
    }
    g->feature_channel_offset = f->destination_feature_channel_offset;
    g->offset.x = (int32_t)f->clip_rect.origin.x;
    g->offset.y = (int32_t)f->clip_rect.origin.y;
    g->offset.z = (int32_t)f->clip_rect.origin.z;
    bool backwards = forward->descriptor->flags & IS_BACKWARDS;
    properties->kernel_offset_x = backwards ? f->kernel_offset_x : 0;
    properties->kernel_offset_y = backwards ? f->kernel_offset_y : 0;
    if (!(descriptor->flags & DENSE_MANUAL))
        return;
    int32_t Kx = dilated_size((int32_t)x->kernel_width, (int32_t)x->dilation_rate_x);
    int32_t Ky = dilated_size((int32_t)x->kernel_height, (int32_t)x->dilation_rate_y);
    properties->kernel_offset_x = -x->offset.x + (Kx % 2 == 0);
    properties->kernel_offset_y = -x->offset.y + (Ky % 2 == 0);
}
