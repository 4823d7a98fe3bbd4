/* Images, their views and read counts. */
#include "image/image.h"

#include <stdlib.h>

/* ---- Descriptors ---- */

static uint32_t or_one(uint32_t value)
{
    return value ? value : 1;
}

glcnn_status image_complete_descriptor(struct glcnn_device *device, const char *where,
                                       struct glcnn_image_descriptor *descriptor)
{
    descriptor->width = or_one(descriptor->width);
    descriptor->height = or_one(descriptor->height);
    descriptor->feature_channels = or_one(descriptor->feature_channels);
    descriptor->number_of_images = or_one(descriptor->number_of_images);
    if (descriptor->channel_format == GLCNN_CHANNEL_FORMAT_NONE)
        descriptor->channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32;
    if (descriptor->channel_format != GLCNN_CHANNEL_FORMAT_FLOAT32 &&
        descriptor->channel_format != GLCNN_CHANNEL_FORMAT_FLOAT16 &&
        descriptor->channel_format != GLCNN_CHANNEL_FORMAT_UNORM8)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: channel format %d is not float32 (4), float16 (3) or unorm8 (1)",
                           where, (int)descriptor->channel_format);
    uint64_t layers =
        (uint64_t)slice_count(descriptor->feature_channels) * descriptor->number_of_images;
    if (descriptor->feature_channels > INT32_MAX / 2 || layers > INT32_MAX)
        return device_fail(device, GLCNN_LIMIT_EXCEEDED,
                           "%s: %u images of %u channels are more slices than can be addressed",
                           where, descriptor->number_of_images, descriptor->feature_channels);
    return GLCNN_SUCCESS;
}

/* ---- Creation ---- */

static struct glcnn_image *make(struct glcnn_device *device,
                                const struct glcnn_image_descriptor *descriptor)
{
    struct glcnn_image *made = calloc(1, sizeof *made);
    if (!made) {
        device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making an image");
        return NULL;
    }
    made->device = device_retain(device);
    made->references = 1;
    made->descriptor = *descriptor;
    made->layer_stride = slice_count(descriptor->feature_channels);
    made->channels_behind = descriptor->feature_channels;
    return made;
}

static uint32_t layer_count(const struct glcnn_image_descriptor *descriptor)
{
    return slice_count(descriptor->feature_channels) * descriptor->number_of_images;
}

/* Checks what both kinds of creation take; *made has no storage yet. */
static glcnn_status begin_create(struct glcnn_device *device, const char *where,
                                 const struct glcnn_image_descriptor *descriptor,
                                 struct glcnn_image **image, struct glcnn_image **made)
{
    if (!image)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: image is NULL", where);
    *image = NULL;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!descriptor)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: descriptor is NULL", where);
    struct glcnn_image_descriptor complete = *descriptor;
    status = image_complete_descriptor(device, where, &complete);
    if (status != GLCNN_SUCCESS)
        return status;
    *made = make(device, &complete);
    return *made ? GLCNN_SUCCESS : GLCNN_OUT_OF_MEMORY;
}

static glcnn_status end_create(glcnn_status status, struct glcnn_image *made,
                               struct glcnn_image **image)
{
    if (status == GLCNN_SUCCESS)
        *image = made;
    else
        glcnn_image_destroy(&made);
    return status;
}

glcnn_status glcnn_image_create(glcnn_device *device,
                                const struct glcnn_image_descriptor *descriptor,
                                glcnn_image **image)
{
    struct glcnn_image *made;
    glcnn_status status = begin_create(device, "glcnn_image_create", descriptor, image, &made);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct glcnn_image_descriptor *d = &made->descriptor;
    status = storage_create(device, d->width, d->height, layer_count(d), d->channel_format,
                            &made->storage);
    return end_create(status, made, image);
}

glcnn_status glcnn_temporary_image_create(glcnn_command_buffer *command_buffer,
                                          const struct glcnn_image_descriptor *descriptor,
                                          glcnn_image **image)
{
    struct glcnn_image *made;
    if (!command_buffer)
        return GLCNN_INVALID_ARGUMENT;
    struct glcnn_device *device = command_buffer->device;
    glcnn_status status =
        begin_create(device, "glcnn_temporary_image_create", descriptor, image, &made);
    if (status != GLCNN_SUCCESS)
        return status;
    const struct glcnn_image_descriptor *d = &made->descriptor;
    status = command_buffer_acquire_storage(command_buffer, d->width, d->height, layer_count(d),
                                            d->channel_format, &made->storage);
    if (status == GLCNN_SUCCESS) {
        made->command_buffer = command_buffer_retain(command_buffer);
        made->read_count = 1;
    }
    return end_create(status, made, image);
}

glcnn_status image_create_over(struct glcnn_device *device,
                               const struct glcnn_image_descriptor *descriptor,
                               struct storage *storage, struct glcnn_image **image)
{
    *image = make(device, descriptor);
    if (!*image) {
        storage_release(storage);
        return GLCNN_OUT_OF_MEMORY;
    }
    (*image)->storage = storage;
    (*image)->channels_behind = 4 * slice_count(descriptor->feature_channels);
    return GLCNN_SUCCESS;
}

bool image_is_foreign(const struct glcnn_image *image)
{
    return image->storage && (image->storage->borrowed || image->storage->import);
}

glcnn_status image_check_write(const struct glcnn_image *image, const char *where, const char *what)
{
    const struct storage *storage = image->storage;
    if (!storage || !(storage->flat || storage->fixed))
        return GLCNN_SUCCESS;
    return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                       "%s: %s is %s, which the library only reads", where, what,
                       storage->import ? "a plane of a dma-buf"
                       : storage->flat ? "a texture of GL_TEXTURE_2D"
                                       : "a texture that is not immutable");
}

struct glcnn_image *image_retain(struct glcnn_image *image)
{
    image->references++;
    return image;
}

/* ---- Views ---- */

struct glcnn_image *image_root(struct glcnn_image *image)
{
    while (image->parent)
        image = image->parent;
    return image;
}

bool image_is_unset(struct glcnn_image *image)
{
    return image->command_buffer && !image_root(image)->written;
}

/* Has the read count come to 0, of a view or of what it is a view of? */
static bool is_spent(const struct glcnn_image *image)
{
    while (image && image->storage)
        image = image->parent;
    return image != NULL;
}

static glcnn_status make_view(struct glcnn_image *parent,
                              const struct glcnn_image_descriptor *descriptor,
                              struct glcnn_image **view)
{
    struct glcnn_image *made = make(parent->device, descriptor);
    if (!made)
        return GLCNN_OUT_OF_MEMORY;
    made->storage = storage_retain(parent->storage);
    made->first_layer = parent->first_layer;
    made->layer_stride = parent->layer_stride;
    made->channels_behind = parent->channels_behind;
    made->parent = image_retain(parent);
    if (parent->command_buffer) {
        made->command_buffer = command_buffer_retain(parent->command_buffer);
        made->read_count = 1;
        parent->read_count++;
    }
    *view = made;
    return GLCNN_SUCCESS;
}

static glcnn_status begin_view(struct glcnn_image *image, const char *where,
                               struct glcnn_image **view)
{
    if (!image)
        return GLCNN_INVALID_ARGUMENT;
    if (!view)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT, "%s: view is NULL", where);
    *view = NULL;
    glcnn_status status = device_enter(image->device);
    if (status == GLCNN_SUCCESS && is_spent(image))
        status = device_fail(image->device, GLCNN_INVALID_STATE,
                             "%s: the temporary image's read count has come to 0", where);
    return status;
}

glcnn_status glcnn_image_batch_view(glcnn_image *image, uint32_t index, glcnn_image **view)
{
    glcnn_status status = begin_view(image, "glcnn_image_batch_view", view);
    if (status != GLCNN_SUCCESS)
        return status;
    struct glcnn_image_descriptor descriptor = image->descriptor;
    if (index >= descriptor.number_of_images)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_image_batch_view: index is %u; the image has %u images", index,
                           descriptor.number_of_images);
    descriptor.number_of_images = 1;
    status = make_view(image, &descriptor, view);
    if (status == GLCNN_SUCCESS)
        (*view)->first_layer += index * image->layer_stride;
    return status;
}

glcnn_status glcnn_image_channel_view(glcnn_image *image, uint32_t location, uint32_t length,
                                      glcnn_image **view)
{
    glcnn_status status = begin_view(image, "glcnn_image_channel_view", view);
    if (status != GLCNN_SUCCESS)
        return status;
    struct glcnn_image_descriptor descriptor = image->descriptor;
    if (location % 4 || length % 4 || length == 0 || location >= descriptor.feature_channels)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_image_channel_view: location %u, length %u; both must be "
                           "multiples of 4, within %u channels",
                           location, length, descriptor.feature_channels);
    uint32_t rest = descriptor.feature_channels - location;
    descriptor.feature_channels = length < rest ? length : rest;
    status = make_view(image, &descriptor, view);
    if (status == GLCNN_SUCCESS) {
        (*view)->first_layer += location / 4;
        (*view)->channels_behind -= location;
    }
    return status;
}

glcnn_status image_range_view(struct glcnn_image *image, uint32_t first, uint32_t count,
                              struct glcnn_image **view)
{
    struct glcnn_image_descriptor descriptor = image->descriptor;
    descriptor.number_of_images = count;
    glcnn_status status = make_view(image, &descriptor, view);
    if (status == GLCNN_SUCCESS)
        (*view)->first_layer += first * image->layer_stride;
    return status;
}

struct image_view image_view(const struct glcnn_image *image, uint32_t first_image,
                             uint32_t image_count, uint32_t channel_offset, uint32_t channel_count)
{
    return (struct image_view){
        .storage = image->storage,
        .first_layer = image->first_layer + first_image * image->layer_stride + channel_offset / 4,
        .layer_stride = image->layer_stride,
        .width = image->descriptor.width,
        .height = image->descriptor.height,
        .channels = channel_count,
        .images = image_count,
        .masked = channel_count % 4 && channel_offset + channel_count < image->channels_behind,
    };
}

struct image_view image_whole_view(const struct glcnn_image *image)
{
    return image_view(image, 0, image->descriptor.number_of_images, 0,
                      image->descriptor.feature_channels);
}

bool image_views_overlap(const struct image_view *a, const struct image_view *b)
{
    if (a->storage != b->storage)
        return false;
    for (uint32_t i = 0; i < a->images; i++)
        for (uint32_t j = 0; j < b->images; j++) {
            uint32_t first_a = a->first_layer + i * a->layer_stride;
            uint32_t first_b = b->first_layer + j * b->layer_stride;
            if (first_a < first_b + slice_count(b->channels) &&
                first_b < first_a + slice_count(a->channels))
                return true;
        }
    return false;
}

/* ---- Read counts ---- */

/* The storage goes back to its command buffer with the last of image and views. */
static void drop_storage(struct glcnn_image *image)
{
    struct storage *storage = image->storage;
    image->storage = NULL;
    if (!storage)
        return;
    if (image->command_buffer && !image->parent)
        command_buffer_return_storage(image->command_buffer, storage);
    else
        storage_release(storage);
}

void image_count_read(struct glcnn_image *image)
{
    if (!image->command_buffer || image->read_count == 0 || --image->read_count > 0)
        return;
    drop_storage(image);
    if (image->parent)
        image_count_read(image->parent);
}

bool glcnn_image_is_temporary(const glcnn_image *image)
{
    return image && image->command_buffer;
}

uint32_t glcnn_image_read_count(const glcnn_image *image)
{
    return image ? image->read_count : 0;
}

glcnn_status glcnn_image_set_read_count(glcnn_image *image, uint32_t count)
{
    if (!image)
        return GLCNN_INVALID_ARGUMENT;
    if (!image->command_buffer)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_image_set_read_count: the image is not temporary");
    if (is_spent(image))
        return device_fail(image->device, GLCNN_INVALID_STATE,
                           "glcnn_image_set_read_count: the read count has come to 0 before");
    image->read_count = count ? count : 1;
    if (count == 0)
        image_count_read(image);
    return GLCNN_SUCCESS;
}

static bool appeared_before(glcnn_image *const *images, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (images[i] == images[index])
            return true;
    return false;
}

size_t glcnn_image_batch_increment_read_count(glcnn_image *const *images, size_t count,
                                              int32_t amount)
{
    size_t distinct = 0;
    for (size_t i = 0; images && i < count; i++) {
        if (!images[i] || appeared_before(images, i))
            continue;
        distinct++;
        if (images[i]->command_buffer && images[i]->read_count)
            glcnn_image_set_read_count(images[i],
                                       adjusted_read_count(images[i]->read_count, amount));
    }
    return distinct;
}

glcnn_status image_check_use(const struct glcnn_image *image, const char *where, const char *what,
                             const struct glcnn_command_buffer *command_buffer)
{
    struct glcnn_device *device = image->device;
    if (command_buffer->device != device)
        return device_fail(command_buffer->device, GLCNN_INVALID_ARGUMENT,
                           "%s: %s belongs to another device than the command buffer", where, what);
    if (!image->command_buffer)
        return GLCNN_SUCCESS;
    if (image->command_buffer != command_buffer)
        return device_fail(device, GLCNN_INVALID_STATE,
                           "%s: %s is a temporary image of another command buffer", where, what);
    if (is_spent(image))
        return device_fail(device, GLCNN_INVALID_STATE,
                           "%s: %s is a temporary image whose read count has come to 0; set the "
                           "count to the number of its readers before the first of them",
                           where, what);
    return GLCNN_SUCCESS;
}

/* ---- End ---- */

static void release_temporary(struct glcnn_image *image)
{
    if (image->storage && image->parent)
        image_count_read(image->parent);
    else if (image->storage && image->read_count)
        device_log(image->device, GLCNN_LOG_WARNING,
                   "a temporary image of %ux%ux%u is destroyed with a read count of %u: a reader "
                   "was not encoded",
                   image->descriptor.width, image->descriptor.height,
                   image->descriptor.feature_channels, image->read_count);
}

void glcnn_image_destroy(glcnn_image **image)
{
    if (!image || !*image)
        return;
    struct glcnn_image *old = *image;
    *image = NULL;
    if (--old->references > 0)
        return;
    if (old->command_buffer)
        release_temporary(old);
    drop_storage(old);
    glcnn_image_destroy(&old->parent);
    if (old->command_buffer)
        command_buffer_release(old->command_buffer);
    device_unreference(old->device);
    free(old);
}

const struct glcnn_image_descriptor *glcnn_image_get_descriptor(const glcnn_image *image)
{
    return image ? &image->descriptor : NULL;
}

size_t glcnn_image_resource_size(const glcnn_image *image)
{
    return image && image->storage ? storage_size(image->storage) : 0;
}
