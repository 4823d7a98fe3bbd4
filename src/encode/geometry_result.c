/* Geometry, part 1: what result an operation makes of its sources. Channels that are read and
 * broadcast, and sizes by padding (spec 5.3 and 6). */
#include "encode/geometry.h"

const struct glcnn_image_descriptor *geometry_shape(const struct operation *operation,
                                                    const struct shapes *shapes,
                                                    enum argument_place place)
{
    int index = descriptor_place(operation->descriptor, place);
    return index >= 0 && shapes->images[index].width ? &shapes->images[index] : NULL;
}

void geometry_view(struct operation *operation, enum argument_place place, struct extent extent,
                   struct image_start start)
{
    int index = descriptor_place(operation->descriptor, place);
    struct image_view *view = &operation->images[index];
    view->width = extent.width;
    view->height = extent.height;
    view->channels = extent.channels;
    view->images = extent.images;
    operation->starts[index] = start;
}

void geometry_natural(const struct operation *operation, struct extent extent,
                      struct glcnn_image_descriptor *result)
{
    *result = (struct glcnn_image_descriptor){.width = extent.width,
                                              .height = extent.height,
                                              .feature_channels = extent.channels,
                                              .number_of_images = extent.images};
    if (operation->descriptor->shape)
        operation->descriptor->shape(operation, result);
}

uint32_t geometry_results(struct operation *operation, const struct shapes *shapes)
{
    const struct glcnn_image_descriptor *secondary =
        geometry_shape(operation, shapes, PLACE_SECONDARY);
    if (!operation->descriptor->results)
        return 1;
    if (secondary)
        geometry_view(operation, PLACE_SECONDARY,
                      geometry_extent(secondary, secondary->feature_channels, 1),
                      (struct image_start){0, 0});
    return operation->descriptor->results(operation);
}

/* ---- Channels ---- */

bool geometry_read_channels(const struct glcnn_source_properties *source, const char *what,
                            const struct glcnn_image_descriptor *shape, uint32_t *count,
                            struct validation validation)
{
    *count = 0;
    if (source->feature_channel_offset % 4 ||
        source->feature_channel_offset >= shape->feature_channels)
        return invalid(validation,
                       "source feature channel offset is %u; it must be a multiple of 4 below the "
                       "%u channels of the %s",
                       source->feature_channel_offset, shape->feature_channels, what);
    *count = least(source->feature_channel_max_count,
                   shape->feature_channels - source->feature_channel_offset);
    return true;
}

/* Of one source of a binary kernel. */
struct broadcast_axis {
    uint32_t stride, extent;
};

/* Extent of the result of a binary kernel along one axis: that of the sources which walk along it;
 * one of stride 0 is read at one place for all results. */
static bool broadcast(const char *what, struct broadcast_axis first, struct broadcast_axis second,
                      uint32_t *result, struct validation validation)
{
    *result = first.stride ? first.extent : second.stride ? second.extent : 1;
    if (!first.stride || !second.stride || first.extent == second.extent)
        return true;
    return invalid(validation,
                   "the primary source has %u %s and the secondary source %u; they must agree, or "
                   "one be broadcast with a stride of 0",
                   first.extent, what, second.extent);
}

bool geometry_broadcast_channels(const struct operation *operation, const struct shapes *shapes,
                                 uint32_t read, uint32_t *channels, struct validation validation)
{
    const struct glcnn_source_properties *p = &operation->properties.primary;
    const struct glcnn_source_properties *q = &operation->properties.secondary;
    uint32_t second;
    *channels = read;
    if (!descriptor_broadcasts(operation->descriptor))
        return true;
    return geometry_read_channels(q, "secondary source",
                                  geometry_shape(operation, shapes, PLACE_SECONDARY), &second,
                                  validation) &&
           broadcast("channels", (struct broadcast_axis){p->stride_in_feature_channels, read},
                     (struct broadcast_axis){q->stride_in_feature_channels, second}, channels,
                     validation);
}

/* ---- Padding ---- */

#define REACH ((int64_t)1 << 29)

bool geometry_check_reach(int64_t low, int64_t high, struct validation validation)
{
    if (low >= -REACH && high <= REACH)
        return true;
    return invalid(
        validation,
        "windows reach from %lld to %lld in pixels of the source; offset, stride, window "
        "and dilation must keep them within %lld of it",
        (long long)low, (long long)high, (long long)REACH);
}

/* One axis of a padding policy: the pixels that custom adds before the source and in all, the source
 * and its window. */
struct padded_axis {
    int32_t before;
    int64_t both;
    uint32_t source, window, stride;
};

static struct padded_axis padded_x(const struct glcnn_addressing *p, uint32_t width,
                                   uint32_t window)
{
    return (struct padded_axis){p->pad.left, (int64_t)p->pad.left + p->pad.right, width, window,
                                p->primary.stride_in_pixels_x};
}

static struct padded_axis padded_y(const struct glcnn_addressing *p, uint32_t height,
                                   uint32_t window)
{
    return (struct padded_axis){p->pad.top, (int64_t)p->pad.top + p->pad.bottom, height, window,
                                p->primary.stride_in_pixels_y};
}

static bool is_size(int64_t size, uint32_t *result)
{
    if (size < 1 || size > INT32_MAX / 4)
        return false;
    *result = (uint32_t)size;
    return true;
}

static bool pad_ahead(const struct padded_axis *a, uint32_t *result, int32_t *offset)
{
    int64_t left_over = (int64_t)a->source + a->both - a->window;
    *offset = (int32_t)(a->window / 2) - a->before;
    return left_over >= 0 && a->stride > 0 && is_size(left_over / a->stride + 1, result);
}

static bool pad_reverse(const struct padded_axis *a, uint32_t *result, int32_t *kernel_offset)
{
    *kernel_offset = a->before - (int32_t)(a->window / 2) + (a->window % 2 == 0);
    return is_size((int64_t)(a->source - 1) * a->stride + a->window - a->both, result);
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
    const struct padded_axis x = padded_x(&operation->properties, from->width, kw),
                             y = padded_y(&operation->properties, from->height, kh);
    if (method & GLCNN_PADDING_CUSTOM)
        return pad_ahead(&x, &result->width, &p->offset.x) &&
               pad_ahead(&y, &result->height, &p->offset.y);
    return glcnn_padding_resolve(method, false, from->width, kw, p->stride_in_pixels_x,
                                 &result->width, &p->offset.x) == GLCNN_SUCCESS &&
           glcnn_padding_resolve(method, true, from->height, kh, p->stride_in_pixels_y,
                                 &result->height, &p->offset.y) == GLCNN_SUCCESS;
}

static bool resolve_reverse(struct operation *operation, const struct glcnn_image_descriptor *from,
                            uint32_t kw, uint32_t kh, struct glcnn_image_descriptor *result)
{
    struct glcnn_addressing *p = &operation->properties;
    const struct padded_axis x = padded_x(p, from->width, kw), y = padded_y(p, from->height, kh);
    p->primary.offset.x = p->primary.offset.y = 0;
    if (p->padding & GLCNN_PADDING_CUSTOM)
        return pad_reverse(&x, &result->width, &p->kernel_offset_x) &&
               pad_reverse(&y, &result->height, &p->kernel_offset_y);
    return reverse_padding(p->padding, false, from->width, kw, p->primary.stride_in_pixels_x,
                           &result->width, &p->kernel_offset_x) == GLCNN_SUCCESS &&
           reverse_padding(p->padding, true, from->height, kh, p->primary.stride_in_pixels_y,
                           &result->height, &p->kernel_offset_y) == GLCNN_SUCCESS;
}

static bool resolve_padding(struct operation *operation, const struct glcnn_image_descriptor *from,
                            struct glcnn_image_descriptor *result, struct validation validation)
{
    struct glcnn_source_properties *p = &operation->properties.primary;
    uint32_t method = operation->properties.padding;
    int64_t width = ((int64_t)p->kernel_width - 1) * p->dilation_rate_x;
    int64_t height = ((int64_t)p->kernel_height - 1) * p->dilation_rate_y;
    if (!geometry_check_reach(0, width > height ? width : height, validation))
        return false;
    int32_t kw = dilated_size((int32_t)p->kernel_width, (int32_t)p->dilation_rate_x);
    int32_t kh = dilated_size((int32_t)p->kernel_height, (int32_t)p->dilation_rate_y);
    bool backwards = operation->descriptor->flags & IS_BACKWARDS;
    if (!(backwards ? resolve_reverse : resolve_ahead)(operation, from, (uint32_t)kw, (uint32_t)kh,
                                                       result))
        return invalid(validation,
                       "padding %#x gives no result for a source of %ux%u, a window of %dx%d and "
                       "strides %u and %u",
                       method, from->width, from->height, kw, kh, p->stride_in_pixels_x,
                       p->stride_in_pixels_y);
    return true;
}

/* ---- Results of returning encodes ---- */

/* Width and height of the result. Offsets stay as they are. */
static bool broadcast_size(const struct operation *operation, const struct shapes *shapes,
                           struct glcnn_image_descriptor *result, struct validation validation)
{
    const struct glcnn_source_properties *p = &operation->properties.primary;
    const struct glcnn_source_properties *q = &operation->properties.secondary;
    const struct glcnn_image_descriptor *first = geometry_shape(operation, shapes, PLACE_SOURCE);
    const struct glcnn_image_descriptor *second =
        geometry_shape(operation, shapes, PLACE_SECONDARY);
    return broadcast("columns", (struct broadcast_axis){p->stride_in_pixels_x, first->width},
                     (struct broadcast_axis){q->stride_in_pixels_x, second->width}, &result->width,
                     validation) &&
           broadcast("rows", (struct broadcast_axis){p->stride_in_pixels_y, first->height},
                     (struct broadcast_axis){q->stride_in_pixels_y, second->height},
                     &result->height, validation);
}

static bool result_size(struct operation *operation, const struct shapes *shapes,
                        struct glcnn_image_descriptor *result, struct validation validation)
{
    unsigned flags = operation->descriptor->flags;
    if (descriptor_broadcasts(operation->descriptor))
        return broadcast_size(operation, shapes, result, validation);
    if (!(flags & (HAS_WINDOW | HAS_STRIDE)))
        return true;
    return resolve_padding(operation, geometry_shape(operation, shapes, PLACE_SOURCE), result,
                           validation);
}

/* No kernel writes Unorm8. */
static glcnn_channel_format result_format(const struct glcnn_image_descriptor *source)
{
    return source->channel_format == GLCNN_CHANNEL_FORMAT_UNORM8 ? GLCNN_CHANNEL_FORMAT_FLOAT32
                                                                 : source->channel_format;
}

/* Images that so many of the source make. */
static bool result_images(struct operation *operation, const struct shapes *shapes, uint32_t images,
                          uint32_t *result, struct validation validation)
{
    uint32_t each = geometry_results(operation, shapes);
    *result = images * each;
    return (uint64_t)images * each <= INT32_MAX ||
           invalid(validation, "%u images of the source make %u each; there may be %d", images,
                   each, INT32_MAX);
}

static bool forward_result(struct operation *operation, const struct shapes *shapes,
                           struct glcnn_image_descriptor *result, struct validation validation)
{
    const struct glcnn_image_descriptor *source = geometry_shape(operation, shapes, PLACE_SOURCE);
    struct glcnn_addressing *p = &operation->properties;
    struct glcnn_image_descriptor sized = *source;
    uint32_t channels, images;
    if (!geometry_read_channels(&p->primary, "source", source, &channels, validation) ||
        !geometry_broadcast_channels(operation, shapes, channels, &channels, validation))
        return false;
    /* All but the size stands where there is none: a caller may have one of its own. */
    bool has_size = result_size(operation, shapes, &sized, validation);
    if ((uint32_t)p->primary.offset.z >= source->number_of_images)
        return invalid(validation, "offset z is %d; the source has %u images", p->primary.offset.z,
                       source->number_of_images);
    if (!result_images(operation, shapes, source->number_of_images - (uint32_t)p->primary.offset.z,
                       &images, validation))
        return false;
    geometry_natural(operation, geometry_extent(&sized, channels, images), result);
    result->feature_channels += p->destination_feature_channel_offset;
    result->channel_format = result_format(source);
    return has_size;
}

/* The gradient of an image has the image's shape. */
static bool gradient_result(const struct operation *operation, const struct shapes *shapes,
                            struct glcnn_image_descriptor *result)
{
    const struct glcnn_image_descriptor *source =
        geometry_shape(operation, shapes, PLACE_SECONDARY);
    *result = *source;
    result->channel_format = result_format(geometry_shape(operation, shapes, PLACE_SOURCE));
    return true;
}

/* The part of a source that is read, in all images. */
static void view_source(struct operation *operation, const struct shapes *shapes,
                        enum argument_place place, const struct glcnn_source_properties *p)
{
    const struct glcnn_image_descriptor *source = geometry_shape(operation, shapes, place);
    uint32_t left =
        source->feature_channels - least(p->feature_channel_offset, source->feature_channels);
    geometry_view(operation, place,
                  geometry_extent(source, least(p->feature_channel_max_count, left),
                                  source->number_of_images),
                  (struct image_start){0, 0});
}

bool geometry_result(struct operation *operation, const struct shapes *shapes,
                     struct glcnn_image_descriptor *result, struct validation validation)
{
    if (operation->descriptor->flags & IS_GRADIENT)
        return gradient_result(operation, shapes, result);
    /* Views are needed by `prepare` and `shape` before the result is known. */
    view_source(operation, shapes, PLACE_SOURCE, &operation->properties.primary);
    if (operation->descriptor->flags & IS_BINARY &&
        geometry_shape(operation, shapes, PLACE_SECONDARY))
        view_source(operation, shapes, PLACE_SECONDARY, &operation->properties.secondary);
    if (operation->descriptor->prepare)
        operation->descriptor->prepare(operation);
    return forward_result(operation, shapes, result, validation);
}
