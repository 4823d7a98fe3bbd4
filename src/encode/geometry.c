/* Geometry of an encode: which pixels, channels and images of each argument take part. Spec 5.2 to
 * 5.6 and 6. Knows extents only, so encodes and references share it. */
#include "encode/kernel.h"

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static const struct glcnn_image_descriptor *
shape_at(const struct operation *operation, const struct shapes *shapes, enum argument_place place)
{
    int index = descriptor_place(operation->descriptor, place);
    return index >= 0 && shapes->images[index].width ? &shapes->images[index] : NULL;
}

/* ---- Channels ---- */

/* Channels that one source contributes. */
static bool channels_read(const struct glcnn_source_properties *source, const char *what,
                          const struct glcnn_image_descriptor *shape, uint32_t *count,
                          struct refusal refusal)
{
    *count = 0;
    if (source->feature_channel_offset % 4 ||
        source->feature_channel_offset >= shape->feature_channels)
        return refuse(refusal,
                      "source feature channel offset is %u; it must be a multiple of 4 below the "
                      "%u channels of the %s",
                      source->feature_channel_offset, shape->feature_channels, what);
    *count = least(source->feature_channel_max_count,
                   shape->feature_channels - source->feature_channel_offset);
    return true;
}

static void set_view(struct operation *operation, int index,
                     const struct glcnn_image_descriptor *shape, uint32_t first_image,
                     uint32_t images, uint32_t first_channel, uint32_t channels)
{
    struct image_view *view = &operation->images[index];
    view->width = shape->width;
    view->height = shape->height;
    view->channels = channels;
    view->images = images;
    /* Relative to the image; encode.c turns them into layers of its storage. */
    view->first_layer = first_image;
    view->layer_stride = first_channel;
}

/* Channels, width and so on of the whole result as the operation alone decides, without offset. */
static void natural_shape(const struct operation *operation, uint32_t width, uint32_t height,
                          uint32_t channels, uint32_t images, struct glcnn_image_descriptor *result)
{
    *result = (struct glcnn_image_descriptor){
        .width = width, .height = height, .feature_channels = channels, .number_of_images = images};
    if (operation->descriptor->shape)
        operation->descriptor->shape(operation, result);
}

/* ---- Results of returning encodes ---- */

/* Positions that windows may reach, so that no sum of a few of them leaves 32 bits. */
#define REACH ((int64_t)1 << 29)
/* Taps of one window. */
#define TAPS ((uint64_t)1 << 24)

static bool check_reach(int64_t low, int64_t high, struct refusal refusal)
{
    if (low >= -REACH && high <= REACH)
        return true;
    return refuse(refusal,
                  "windows reach from %lld to %lld in pixels of the source; offset, stride, window "
                  "and dilation must keep them within %lld of it",
                  (long long)low, (long long)high, (long long)REACH);
}

/* The mirrored kernel goes from the result to the source, with valid and full in each other's
 * place; the kernel offset makes the taps meet the same pixels (spec 6.3). */
static glcnn_status reverse_padding(uint32_t method, bool vertical, uint32_t source,
                                    uint32_t window, uint32_t stride, uint32_t *result,
                                    int32_t *kernel_offset)
{
    uint32_t mirrored;
    int32_t offset;
    glcnn_status status = glcnn_padding_resolve_reverse(method, source, window, stride, result);
    if (status == GLCNN_SUCCESS)
        status = glcnn_padding_resolve(glcnn_padding_inverse(method), vertical, *result, window,
                                       stride, &mirrored, &offset);
    if (status == GLCNN_SUCCESS)
        *kernel_offset = -offset + (window % 2 == 0);
    return status;
}

static bool resolve_ahead(struct operation *operation, const struct glcnn_image_descriptor *from,
                          uint32_t kw, uint32_t kh, struct glcnn_image_descriptor *result)
{
    struct glcnn_source_properties *p = &operation->properties.primary;
    uint32_t method = operation->properties.padding;
    return glcnn_padding_resolve(method, false, from->width, kw, p->stride_in_pixels_x,
                                 &result->width, &p->offset.x) == GLCNN_SUCCESS &&
           glcnn_padding_resolve(method, true, from->height, kh, p->stride_in_pixels_y,
                                 &result->height, &p->offset.y) == GLCNN_SUCCESS;
}

static bool resolve_reverse(struct operation *operation, const struct glcnn_image_descriptor *from,
                            uint32_t kw, uint32_t kh, struct glcnn_image_descriptor *result)
{
    struct glcnn_kernel_properties *p = &operation->properties;
    p->primary.offset.x = p->primary.offset.y = 0;
    return reverse_padding(p->padding, false, from->width, kw, p->primary.stride_in_pixels_x,
                           &result->width, &p->kernel_offset_x) == GLCNN_SUCCESS &&
           reverse_padding(p->padding, true, from->height, kh, p->primary.stride_in_pixels_y,
                           &result->height, &p->kernel_offset_y) == GLCNN_SUCCESS;
}

static bool resolve_padding(struct operation *operation, const struct glcnn_image_descriptor *from,
                            struct glcnn_image_descriptor *result, struct refusal refusal)
{
    struct glcnn_source_properties *p = &operation->properties.primary;
    uint32_t method = operation->properties.padding;
    int64_t width = ((int64_t)p->kernel_width - 1) * p->dilation_rate_x;
    int64_t height = ((int64_t)p->kernel_height - 1) * p->dilation_rate_y;
    if (!check_reach(0, width > height ? width : height, refusal))
        return false;
    int32_t kw = dilated_size((int32_t)p->kernel_width, (int32_t)p->dilation_rate_x);
    int32_t kh = dilated_size((int32_t)p->kernel_height, (int32_t)p->dilation_rate_y);
    bool backwards = operation->descriptor->flags & IS_BACKWARDS;
    if (!(backwards ? resolve_reverse : resolve_ahead)(operation, from, (uint32_t)kw, (uint32_t)kh,
                                                       result))
        return refuse(refusal,
                      "padding %#x gives no result for a source of %ux%u, a window of %dx%d and "
                      "strides %u and %u",
                      method, from->width, from->height, kw, kh, p->stride_in_pixels_x,
                      p->stride_in_pixels_y);
    return true;
}

/* Extent of the result of a binary kernel along one axis: that of the sources which walk along it;
 * one of stride 0 is read at one place for all results. */
static bool broadcast(const char *what, uint32_t stride, uint32_t extent, uint32_t second_stride,
                      uint32_t second_extent, uint32_t *result, struct refusal refusal)
{
    *result = stride ? extent : second_stride ? second_extent : 1;
    if (!stride || !second_stride || extent == second_extent)
        return true;
    return refuse(
        refusal,
        "the primary source has %u %s and the secondary source %u; they must agree, or one "
        "be broadcast with a stride of 0",
        extent, what, second_extent);
}

/* Channels that the sources make; `read` are of the primary source. */
static bool broadcast_channels(const struct operation *operation, const struct shapes *shapes,
                               uint32_t read, uint32_t *channels, struct refusal refusal)
{
    const struct glcnn_kernel_properties *p = &operation->properties;
    const struct glcnn_image_descriptor *second = shape_at(operation, shapes, PLACE_SECONDARY);
    uint32_t second_read;
    *channels = read;
    if (!descriptor_broadcasts(operation->descriptor))
        return true;
    return channels_read(&p->secondary, "secondary source", second, &second_read, refusal) &&
           broadcast("channels", p->primary.stride_in_feature_channels, read,
                     p->secondary.stride_in_feature_channels, second_read, channels, refusal);
}

/* Width and height of the result. Offsets stay as they are. */
static bool broadcast_size(const struct operation *operation, const struct shapes *shapes,
                           struct glcnn_image_descriptor *result, struct refusal refusal)
{
    const struct glcnn_source_properties *p = &operation->properties.primary;
    const struct glcnn_source_properties *q = &operation->properties.secondary;
    const struct glcnn_image_descriptor *first = shape_at(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *second = shape_at(operation, shapes, PLACE_SECONDARY);
    return broadcast("columns", p->stride_in_pixels_x, first->width, q->stride_in_pixels_x,
                     second->width, &result->width, refusal) &&
           broadcast("rows", p->stride_in_pixels_y, first->height, q->stride_in_pixels_y,
                     second->height, &result->height, refusal);
}

static bool result_size(struct operation *operation, const struct shapes *shapes,
                        struct glcnn_image_descriptor *result, struct refusal refusal)
{
    unsigned flags = operation->descriptor->flags;
    if (descriptor_broadcasts(operation->descriptor))
        return broadcast_size(operation, shapes, result, refusal);
    if (!(flags & (HAS_WINDOW | HAS_STRIDE)))
        return true;
    return resolve_padding(operation, shape_at(operation, shapes, PLACE_SOURCE), result, refusal);
}

static bool forward_result(struct operation *operation, const struct shapes *shapes,
                           struct glcnn_image_descriptor *result, struct refusal refusal)
{
    const struct glcnn_image_descriptor *source = shape_at(operation, shapes, PLACE_SOURCE);
    struct glcnn_kernel_properties *p = &operation->properties;
    struct glcnn_image_descriptor sized = *source;
    uint32_t channels;
    if (!channels_read(&p->primary, "source", source, &channels, refusal) ||
        !broadcast_channels(operation, shapes, channels, &channels, refusal))
        return false;
    /* All but the size stands where there is none: a caller may have one of its own. */
    bool has_size = result_size(operation, shapes, &sized, refusal);
    if ((uint32_t)p->primary.offset.z >= source->number_of_images)
        return refuse(refusal, "offset z is %d; the source has %u images", p->primary.offset.z,
                      source->number_of_images);
    natural_shape(operation, sized.width, sized.height, channels,
                  source->number_of_images - (uint32_t)p->primary.offset.z, result);
    result->feature_channels += p->destination_feature_channel_offset;
    result->channel_format = source->channel_format;
    return has_size;
}

/* The gradient of an image has the image's shape. */
static bool gradient_result(const struct operation *operation, const struct shapes *shapes,
                            struct glcnn_image_descriptor *result)
{
    const struct glcnn_image_descriptor *source = shape_at(operation, shapes, PLACE_SECONDARY);
    *result = *source;
    result->channel_format = shape_at(operation, shapes, PLACE_SOURCE)->channel_format;
    return true;
}

bool geometry_result(struct operation *operation, const struct shapes *shapes,
                     struct glcnn_image_descriptor *result, struct refusal refusal)
{
    if (operation->descriptor->flags & IS_GRADIENT)
        return gradient_result(operation, shapes, result);
    /* Views are needed by `prepare` and `shape` before the result is known. */
    const struct glcnn_image_descriptor *source = shape_at(operation, shapes, PLACE_SOURCE);
    set_view(
        operation, descriptor_place(operation->descriptor, PLACE_SOURCE), source, 0,
        source->number_of_images, 0,
        least(operation->properties.primary.feature_channel_max_count,
              source->feature_channels - least(operation->properties.primary.feature_channel_offset,
                                               source->feature_channels)));
    if (operation->descriptor->prepare)
        operation->descriptor->prepare(operation);
    return forward_result(operation, shapes, result, refusal);
}

/* ---- Clip rectangle ---- */

struct clip {
    uint32_t x, y, z, width, height, depth;
};

static bool intersect_clip(const struct operation *operation,
                           const struct glcnn_image_descriptor *destination, struct clip *clip,
                           struct refusal refusal)
{
    const glcnn_region *r = &operation->properties.clip_rect;
    if (r->origin.x >= destination->width || r->origin.y >= destination->height ||
        r->origin.z >= destination->number_of_images || !r->size.width || !r->size.height ||
        !r->size.depth)
        return refuse(refusal,
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

static bool check_images(const char *what, int32_t first, uint32_t count,
                         const struct glcnn_image_descriptor *shape, struct refusal refusal)
{
    if (first >= 0 && (uint32_t)first < shape->number_of_images &&
        count <= shape->number_of_images - (uint32_t)first)
        return true;
    return refuse(refusal, "%u images are wanted of the %s from image %d on; it has %u", count,
                  what, first, shape->number_of_images);
}

static bool check_destination_channels(const struct operation *operation,
                                       const struct glcnn_image_descriptor *destination,
                                       uint32_t outputs, struct refusal refusal)
{
    uint32_t offset = operation->properties.destination_feature_channel_offset;
    if (offset % 4)
        return refuse(refusal,
                      "destination feature channel offset is %u; it must be a multiple of 4",
                      offset);
    if (offset > destination->feature_channels || outputs > destination->feature_channels - offset)
        return refuse(refusal, "the destination has %u channels; %u from channel %u on are written",
                      destination->feature_channels, outputs, offset);
    return true;
}

/* ---- Forward ---- */

static bool set_axis(struct axis *axis, int32_t offset, uint32_t stride, uint32_t kernel,
                     uint32_t dilation, uint32_t begin, uint32_t count, struct refusal refusal)
{
    int64_t Kd = ((int64_t)kernel - 1) * dilation + 1;
    int64_t first = offset - (int64_t)stride * begin - Kd / 2;
    int64_t last = first + (int64_t)stride * ((int64_t)begin + count) + Kd;
    *axis = (struct axis){0};
    if (!check_reach(first, last, refusal))
        return false;
    *axis = (struct axis){
        .first = (int32_t)first,
        .stride = (int32_t)stride,
        .size = (int32_t)kernel,
        .dilation = (int32_t)dilation,
        .begin = (int32_t)begin,
        .end = (int32_t)(begin + count),
    };
    return true;
}

/* Source pixel x of a backwards kernel lies at pixel  stride * x  of the zero-stuffed source, of
 * which the tap p of result pixel y reads  y + total - Kd/2 + dilation * p  (spec 7.2). Seen from
 * x, the taps come in reverse. */
static bool set_backwards_axis(struct axis *axis, int32_t offset, int32_t kernel_offset,
                               uint32_t source_size, struct refusal refusal)
{
    int64_t Kd = ((int64_t)axis->size - 1) * axis->dilation + 1;
    int64_t total = (int64_t)offset * axis->stride + kernel_offset;
    int64_t first = axis->begin + Kd / 2 - total - (Kd - 1);
    if (!check_reach(first, first + (int64_t)axis->stride * source_size + Kd, refusal))
        return false;
    axis->first = (int32_t)first;
    return true;
}

static bool set_backwards_window(struct operation *operation, struct refusal refusal)
{
    const struct glcnn_kernel_properties *p = &operation->properties;
    const struct image_view *source =
        &operation->images[descriptor_place(operation->descriptor, PLACE_SOURCE)];
    operation->window.edge_mode = GLCNN_EDGE_MODE_ZERO;
    return set_backwards_axis(&operation->window.x, p->primary.offset.x, p->kernel_offset_x,
                              source->width, refusal) &&
           set_backwards_axis(&operation->window.y, p->primary.offset.y, p->kernel_offset_y,
                              source->height, refusal);
}

static bool set_window(const struct operation *operation, struct window *window,
                       const struct glcnn_source_properties *p, const struct clip *clip,
                       struct refusal refusal)
{
    window->channel_stride = p->stride_in_feature_channels;
    window->edge_mode = p->edge_mode;
    window->exclude_edges = operation->properties.padding & GLCNN_PADDING_EXCLUDE_EDGES;
    if ((uint64_t)p->kernel_width * p->kernel_height > TAPS)
        return refuse(refusal, "a window of %ux%u has more than the %llu taps that are allowed",
                      p->kernel_width, p->kernel_height, (unsigned long long)TAPS);
    return set_axis(&window->x, p->offset.x, p->stride_in_pixels_x, p->kernel_width,
                    p->dilation_rate_x, clip->x, clip->width, refusal) &&
           set_axis(&window->y, p->offset.y, p->stride_in_pixels_y, p->kernel_height,
                    p->dilation_rate_y, clip->y, clip->height, refusal);
}

/* The windows of a forward kernel on its sources. */
static bool set_windows(struct operation *operation, const struct clip *clip,
                        struct refusal refusal)
{
    const struct glcnn_kernel_properties *p = &operation->properties;
    if (!set_window(operation, &operation->window, &p->primary, clip, refusal))
        return false;
    if (operation->descriptor->flags & IS_BACKWARDS)
        return set_backwards_window(operation, refusal);
    return !descriptor_broadcasts(operation->descriptor) ||
           set_window(operation, &operation->secondary_window, &p->secondary, clip, refusal);
}

static void set_region(struct operation *operation, const struct clip *clip)
{
    operation->region_x = clip->x;
    operation->region_y = clip->y;
    operation->region_width = clip->width;
    operation->region_height = clip->height;
}

/* Kernels that read a source and leave vectors only. */
static bool resolve_without_destination(struct operation *operation,
                                        const struct glcnn_image_descriptor *source,
                                        struct refusal refusal)
{
    const struct glcnn_source_properties *p = &operation->properties.primary;
    uint32_t channels;
    if (!channels_read(p, "source", source, &channels, refusal))
        return false;
    uint32_t first = (uint32_t)p->offset.z;
    if (!check_images("source", p->offset.z, 1, source, refusal))
        return false;
    set_view(operation, descriptor_place(operation->descriptor, PLACE_SOURCE), source, first,
             source->number_of_images - first, p->feature_channel_offset, channels);
    struct clip whole = {0, 0, 0, source->width, source->height, source->number_of_images - first};
    set_region(operation, &whole);
    return set_window(operation, &operation->window, p, &whole, refusal);
}

static bool resolve_secondary(struct operation *operation, const struct shapes *shapes,
                              uint32_t depth, struct refusal refusal)
{
    const struct glcnn_image_descriptor *shape = shape_at(operation, shapes, PLACE_SECONDARY);
    const struct glcnn_source_properties *p = &operation->properties.secondary;
    uint32_t channels;
    if (!shape)
        return true;
    if (!channels_read(p, "secondary source", shape, &channels, refusal) ||
        !check_images("secondary source", p->offset.z, depth, shape, refusal))
        return false;
    set_view(operation, descriptor_place(operation->descriptor, PLACE_SECONDARY), shape,
             (uint32_t)p->offset.z, depth, p->feature_channel_offset, channels);
    return true;
}

/* Images beside source and destination, of loss kernels: labels and their weights go with the
 * source's images, the loss with the destination's. All their channels are used. */
static bool resolve_beside(struct operation *operation, const struct shapes *shapes,
                           const struct clip *clip, struct refusal refusal)
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
        if (!check_images(argument->name, first, clip->depth, shape, refusal))
            return false;
        set_view(operation, i, shape, (uint32_t)first, clip->depth, 0, shape->feature_channels);
    }
    return true;
}

static bool resolve_forward(struct operation *operation, const struct shapes *shapes,
                            struct refusal refusal)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    const struct glcnn_image_descriptor *source = shape_at(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *destination =
        shape_at(operation, shapes, PLACE_DESTINATION);
    struct glcnn_kernel_properties *p = &operation->properties;
    struct clip clip;
    uint32_t read, channels; /* of the source, and what they make of the result */
    if (!destination)
        return resolve_without_destination(operation, source, refusal);
    if (!channels_read(&p->primary, "source", source, &read, refusal) ||
        !intersect_clip(operation, destination, &clip, refusal) ||
        !check_images("source", p->primary.offset.z, clip.depth, source, refusal) ||
        !resolve_secondary(operation, shapes, clip.depth, refusal) ||
        !broadcast_channels(operation, shapes, read, &channels, refusal))
        return false;
    set_view(operation, descriptor_place(d, PLACE_SOURCE), source, (uint32_t)p->primary.offset.z,
             clip.depth, p->primary.feature_channel_offset, read);
    if (d->prepare)
        d->prepare(operation);
    struct glcnn_image_descriptor natural;
    natural_shape(operation, destination->width, destination->height, channels, clip.depth,
                  &natural);
    if (!check_destination_channels(operation, destination, natural.feature_channels, refusal))
        return false;
    set_view(operation, descriptor_place(d, PLACE_DESTINATION), destination, clip.z, clip.depth,
             p->destination_feature_channel_offset, natural.feature_channels);
    if (!set_windows(operation, &clip, refusal))
        return false;
    set_region(operation, &clip);
    return resolve_beside(operation, shapes, &clip, refusal);
}

/* ---- Gradient, following a state ---- */

/* An image that must have the shape the forward encode saw. */
static bool check_same(const char *what, const struct glcnn_image_descriptor *shape,
                       const struct image_view *forward, uint32_t channels, struct refusal refusal)
{
    uint32_t images = forward->first_layer + forward->images;
    if (shape->width == forward->width && shape->height == forward->height &&
        shape->feature_channels >= channels && shape->number_of_images >= images)
        return true;
    return refuse(refusal,
                  "%s is %ux%u with %u channels and %u images; the forward encode needs %ux%u with "
                  "%u channels and %u images",
                  what, shape->width, shape->height, shape->feature_channels,
                  shape->number_of_images, forward->width, forward->height, channels, images);
}

/* Gives the argument at `place` the range that the forward encode's view `like` had. */
static bool follow(struct operation *operation, const struct shapes *shapes,
                   enum argument_place place, const char *what, const struct image_view *like,
                   struct refusal refusal)
{
    const struct glcnn_image_descriptor *shape = shape_at(operation, shapes, place);
    if (!shape)
        return true;
    if (!check_same(what, shape, like, like->layer_stride + like->channels, refusal))
        return false;
    set_view(operation, descriptor_place(operation->descriptor, place), shape, like->first_layer,
             like->images, like->layer_stride, like->channels);
    return true;
}

/* A state that a whole batch shares was left by the last of several encodes: unless those were
 * clipped, this encode has as many images as it is given. */
static uint32_t images_followed(const struct operation *operation, const struct shapes *shapes,
                                const struct operation *forward, const struct image_view *result)
{
    const struct glcnn_image_descriptor *gradient = shape_at(operation, shapes, PLACE_SOURCE);
    bool counted = operation->descriptor->flags & SHARED_STATE &&
                   forward->properties.clip_rect.size.depth == UINT32_MAX &&
                   gradient->number_of_images > result->first_layer;
    return counted ? gradient->number_of_images - result->first_layer : result->images;
}

static const struct window *window_on(const struct operation *forward, enum argument_place place)
{
    return place == PLACE_SECONDARY ? &forward->secondary_window : &forward->window;
}

static bool resolve_state_driven(struct operation *operation, const struct shapes *shapes,
                                 const struct operation *forward, struct refusal refusal)
{
    const struct glcnn_descriptor *f = forward->descriptor;
    struct operands operands = operation_operands(operation);
    struct image_view source_view = forward->images[descriptor_place(f, operands.of)];
    struct image_view given_view = forward->images[descriptor_place(f, operands.given)];
    struct image_view result_view = forward->images[descriptor_place(f, PLACE_DESTINATION)];
    const struct image_view *source = &source_view, *result = &result_view;
    source_view.images = given_view.images = result_view.images =
        images_followed(operation, shapes, forward, &result_view);
    bool needs_result = operation->descriptor->flags & NEEDS_RESULT;
    operation->window = *window_on(forward, operands.of);
    operation->secondary_window = *window_on(forward, operands.given);
    if (!follow(operation, shapes, PLACE_SOURCE, "source gradient", result, refusal) ||
        !follow(operation, shapes, PLACE_SECONDARY,
                needs_result ? "source image (the forward result)" : "source image",
                needs_result ? result : &given_view, refusal) ||
        !follow(operation, shapes, PLACE_DESTINATION, "destination gradient", source, refusal))
        return false;
    set_region(operation, &(struct clip){0, 0, 0, source->width, source->height, 0});
    return true;
}

/* ---- Gradient, addressed by hand ---- */

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
static void set_used(struct axis *axis, int64_t start, int32_t gradient_offset, uint32_t used,
                     uint32_t gradient_size)
{
    int64_t end = gradient_size, begin = start > 0 ? start : 0;
    if (used != UINT32_MAX && (int64_t)gradient_offset + used < end)
        end = (int64_t)gradient_offset + used;
    if (used != UINT32_MAX && gradient_offset > begin)
        begin = gradient_offset;
    axis->begin = (int32_t)begin;
    axis->end = (int32_t)end;
}

static bool set_manual_axis(struct axis *axis, const struct glcnn_descriptor *descriptor,
                            int32_t kernel_offset, int32_t gradient_offset, uint32_t used,
                            uint32_t gradient_size, uint32_t clip_origin, struct refusal refusal)
{
    bool dense = descriptor->flags & DENSE_MANUAL;
    int32_t left = axis->first; /* of the window of the gradient pixel at gradient_offset */
    int64_t first =
        left - (int64_t)axis->stride * gradient_offset - (dense ? 0 : (int64_t)kernel_offset);
    int64_t last = first + (int64_t)axis->stride * gradient_size +
                   ((int64_t)axis->size - 1) * axis->dilation + 1;
    int64_t end = (int64_t)gradient_offset + used;
    if (!check_reach(first, last, refusal))
        return false;
    axis->first = (int32_t)first;
    axis->begin = gradient_offset > 0 ? gradient_offset : 0;
    axis->end = end < gradient_size ? (int32_t)end : (int32_t)gradient_size;
    if (descriptor->flags & PIXEL_MANUAL)
        set_used(axis, left - first, gradient_offset, used, gradient_size);
    axis->shift = first_seen(axis, descriptor->flags, left) - (int32_t)clip_origin;
    return true;
}

static bool set_elements_axis(struct axis *axis, struct axis *given, int32_t kernel_offset,
                              int32_t gradient_offset, uint32_t used, uint32_t gradient_size,
                              uint32_t clip_origin, struct refusal refusal)
{
    int64_t start = (int64_t)gradient_offset + kernel_offset;
    int64_t first = given->first - given->stride * start;
    if (!check_reach(-start, gradient_size - start, refusal) ||
        !check_reach(first, first + gradient_size, refusal))
        return false;
    *axis = (struct axis){.first = (int32_t)-start, .stride = 1, .size = 1, .dilation = 1};
    set_used(axis, start, gradient_offset, used, gradient_size);
    axis->shift = -(int32_t)clip_origin;
    given->first = (int32_t)first;
    return true;
}

/* By hand the gradient of a binary kernel goes element by element (spec 5.5): destination pixel j
 * has the gradient at primary offset + j and the source image at secondary offset + stride * j,
 * both counted from the clip rectangle. Which axes were broadcast only a state could tell. */
static bool set_elements_window(struct operation *operation,
                                const struct glcnn_image_descriptor *gradient,
                                const struct clip *clip, struct refusal refusal)
{
    const struct glcnn_kernel_properties *p = &operation->properties;
    struct window *window = &operation->window, *given = &operation->secondary_window;
    *window = (struct window){.channel_stride = 1, .edge_mode = GLCNN_EDGE_MODE_ZERO};
    return set_window(operation, given, &p->secondary, &(struct clip){0, 0, 0, 0, 0, 0}, refusal) &&
           set_elements_axis(&window->x, &given->x, p->kernel_offset_x, p->primary.offset.x,
                             p->source_size.width, gradient->width, clip->x, refusal) &&
           set_elements_axis(&window->y, &given->y, p->kernel_offset_y, p->primary.offset.y,
                             p->source_size.height, gradient->height, clip->y, refusal);
}

static bool set_manual_window(struct operation *operation,
                              const struct glcnn_image_descriptor *gradient,
                              const struct clip *clip, struct refusal refusal)
{
    const struct glcnn_kernel_properties *p = &operation->properties;
    if (descriptor_broadcasts(operation->descriptor))
        return set_elements_window(operation, gradient, clip, refusal);
    return set_window(operation, &operation->window, &p->secondary,
                      &(struct clip){0, 0, 0, 0, 0, 0}, refusal) &&
           set_manual_axis(&operation->window.x, operation->descriptor, p->kernel_offset_x,
                           p->primary.offset.x, p->source_size.width, gradient->width, clip->x,
                           refusal) &&
           set_manual_axis(&operation->window.y, operation->descriptor, p->kernel_offset_y,
                           p->primary.offset.y, p->source_size.height, gradient->height, clip->y,
                           refusal);
}

/* Where channels stay, each channel of the result has one of the gradient. */
static bool check_gradient_channels(const struct glcnn_descriptor *descriptor, uint32_t read,
                                    uint32_t outputs, struct refusal refusal)
{
    const struct glcnn_descriptor *forward = descriptor_find(descriptor->forward);
    if (!forward || forward->shape || read >= outputs)
        return true;
    return refuse(refusal,
                  "%u channels of the source gradient are read; the source image "
                  "needs %u",
                  read, outputs);
}

static bool resolve_manual(struct operation *operation, const struct shapes *shapes,
                           struct refusal refusal)
{
    const struct glcnn_descriptor *d = operation->descriptor;
    const struct glcnn_kernel_properties *p = &operation->properties;
    const struct glcnn_image_descriptor *gradient = shape_at(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *source = shape_at(operation, shapes, PLACE_SECONDARY);
    const struct glcnn_image_descriptor *destination =
        shape_at(operation, shapes, PLACE_DESTINATION);
    uint32_t read, outputs;
    struct clip clip = {0, 0, 0, source->width, source->height, source->number_of_images};
    if (destination && !intersect_clip(operation, destination, &clip, refusal))
        return false;
    if (!channels_read(&p->primary, "source gradient", gradient, &read, refusal) ||
        !channels_read(&p->secondary, "source image", source, &outputs, refusal) ||
        !check_images("source gradient", p->primary.offset.z, clip.depth, gradient, refusal) ||
        !check_images("source image", p->secondary.offset.z, clip.depth, source, refusal))
        return false;
    set_view(operation, descriptor_place(d, PLACE_SOURCE), gradient, (uint32_t)p->primary.offset.z,
             clip.depth, p->primary.feature_channel_offset, read);
    set_view(operation, descriptor_place(d, PLACE_SECONDARY), source,
             (uint32_t)p->secondary.offset.z, clip.depth, p->secondary.feature_channel_offset,
             outputs);
    if (descriptor_broadcasts(d)) /* the source image may be one that is broadcast */
        outputs = read;
    if (!check_gradient_channels(d, read, outputs, refusal) ||
        !set_manual_window(operation, gradient, &clip, refusal))
        return false;
    set_region(operation, &clip);
    if (!destination)
        return true;
    set_view(operation, descriptor_place(d, PLACE_DESTINATION), destination, clip.z, clip.depth,
             p->destination_feature_channel_offset, outputs);
    return check_destination_channels(operation, destination, outputs, refusal);
}

/* ---- All ---- */

bool geometry_resolve(struct operation *operation, const struct shapes *shapes,
                      const struct operation *forward, struct refusal refusal)
{
    if (operation->descriptor->flags & WITHOUT_PIXELS)
        return true;
    if (!(operation->descriptor->flags & IS_GRADIENT))
        return resolve_forward(operation, shapes, refusal);
    operation->state_driven = forward != NULL;
    if (!forward && operation->descriptor->prepare)
        operation->descriptor->prepare(operation);
    return forward ? resolve_state_driven(operation, shapes, forward, refusal)
                   : resolve_manual(operation, shapes, refusal);
}

void geometry_adopt(const struct glcnn_descriptor *descriptor, const void *parameters,
                    const struct operation *forward, struct glcnn_kernel_properties *properties)
{
    const struct glcnn_kernel_properties *f = &forward->properties;
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
