/* Upload and read-back of images: compute passes between the image and a buffer of float32, since
 * glReadPixels of float formats needs an extension; what is written to Unorm8 images is bytes in
 * the buffer too, and classes are one number for all channels of a pixel. The bytes form adds the
 * device's staging buffer and, on the CPU, strides and elements of 16 and 8 bits. */
#include <string.h>

#include "image/float16.h"
#include "image/image.h"
#include "record/commit_count.h"
#include "record/staging.h"

enum direction { READ, WRITE, WRITE_CLASSES };

/* A transfer with nothing left to default. Strides in elements of the CPU side. */
struct access {
    uint32_t x, y, width, height, channel, channels, image, images;
    uint32_t planes; /* elements of a pixel on the CPU side: its channels, or its class */
    size_t stride_x, stride_y, stride_c, stride_n;
    size_t extent; /* one more than the last element touched */
    bool channels_last, write, classes;
    size_t element; /* bytes of an element in the buffer of the pass */
};

static size_t element_in_buffer(const struct glcnn_image *image, enum direction direction)
{
    bool bytes = image->descriptor.channel_format == GLCNN_CHANNEL_FORMAT_UNORM8;
    return bytes && direction == WRITE ? 1 : 4;
}

/* On the CPU side of the bytes form. */
static size_t element_of(const struct glcnn_image *image, enum direction direction)
{
    static const size_t bytes[] = {[GLCNN_CHANNEL_FORMAT_UNORM8] = 1,
                                   [GLCNN_CHANNEL_FORMAT_FLOAT16] = 2,
                                   [GLCNN_CHANNEL_FORMAT_FLOAT32] = 4};
    return direction == WRITE_CLASSES ? sizeof(uint32_t) : bytes[image->descriptor.channel_format];
}

/* Staging memory of one pass; longer transfers are made in parts. */
#define STAGING_BYTES ((size_t)8 << 20)

static glcnn_status check_region(const struct glcnn_image *image, const char *where,
                                 const struct access *a)
{
    const struct glcnn_image_descriptor *d = &image->descriptor;
    if (a->x >= d->width || a->width > d->width - a->x || a->y >= d->height ||
        a->height > d->height - a->y || a->image >= d->number_of_images ||
        a->images > d->number_of_images - a->image)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "%s: columns %u+%u, rows %u+%u, images %u+%u are not within the image's "
                           "%ux%u pixels and %u images",
                           where, a->x, a->width, a->y, a->height, a->image, a->images, d->width,
                           d->height, d->number_of_images);
    bool ends = a->channel + a->channels == d->feature_channels;
    if (a->classes && a->channels != d->feature_channels)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "%s: channels %u+%u of %u; a class is written to all channels", where,
                           a->channel, a->channels, d->feature_channels);
    if (a->channel % 4 || a->channel >= d->feature_channels ||
        a->channels > d->feature_channels - a->channel ||
        (a->channels % 4 && !ends && (a->channel || a->write)))
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "%s: channels %u+%u; the offset must be a multiple of 4, the count too "
                           "unless it ends with the image's %u channels (or, to read, begins at 0)",
                           where, a->channel, a->channels, d->feature_channels);
    return GLCNN_SUCCESS;
}

static size_t or_dense(size_t stride, size_t element, size_t dense)
{
    return stride ? stride / element : dense;
}

/* Strides, dense where they are 0. */
static void set_strides(const struct glcnn_image_transfer *t, size_t element, struct access *a)
{
    a->channels_last = t->layout == GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS;
    a->stride_x = a->channels_last ? a->planes : 1;
    a->stride_y = or_dense(t->bytes_per_row, element, a->stride_x * a->width);
    a->stride_c =
        a->channels_last ? 1 : or_dense(t->bytes_per_plane, element, a->stride_y * a->height);
    a->stride_n = or_dense(t->bytes_per_image, element,
                           a->channels_last ? a->stride_y * a->height : a->stride_c * a->planes);
}

/* Adds (count - 1) * stride; false where the sum is beyond any memory. */
static bool add_steps(size_t *sum, size_t count, size_t stride)
{
    const size_t most = SIZE_MAX / 8;
    if (count > 1 && stride > (most - *sum) / (count - 1))
        return false;
    *sum += (count - 1) * stride;
    return true;
}

static glcnn_status set_extent(const struct glcnn_image *image, const char *where, struct access *a)
{
    a->extent = 1;
    if (add_steps(&a->extent, a->width, a->stride_x) &&
        add_steps(&a->extent, a->height, a->stride_y) &&
        add_steps(&a->extent, a->planes, a->stride_c) &&
        add_steps(&a->extent, a->images, a->stride_n))
        return GLCNN_SUCCESS;
    return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                       "%s: strides of %zu, %zu and %zu elements between rows, channels and images "
                       "reach beyond any memory",
                       where, a->stride_y, a->stride_c, a->stride_n);
}

static glcnn_status resolve(const struct glcnn_image *image, const char *where,
                            const struct glcnn_image_transfer *t, size_t element,
                            enum direction direction, struct access *a)
{
    static const struct glcnn_image_transfer everything;
    const struct glcnn_image_descriptor *d = &image->descriptor;
    if (!t)
        t = &everything;
    if (t->layout != GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS &&
        t->layout != GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "%s: layout %d is neither height-width-channels (0) nor "
                           "channels-height-width (1)",
                           where, (int)t->layout);
    if (t->bytes_per_row % element || t->bytes_per_plane % element || t->bytes_per_image % element)
        return device_fail(image->device, GLCNN_INVALID_ARGUMENT,
                           "%s: strides of %zu, %zu and %zu bytes must be multiples of the %zu "
                           "bytes of an element",
                           where, t->bytes_per_row, t->bytes_per_plane, t->bytes_per_image,
                           element);
    glcnn_status status =
        direction != READ ? image_check_write(image, where, "the image") : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS)
        return status;
    *a = (struct access){.x = t->x,
                         .y = t->y,
                         .channel = t->channel_offset,
                         .image = t->first_image,
                         .write = direction != READ,
                         .classes = direction == WRITE_CLASSES,
                         .element = element_in_buffer(image, direction)};
    a->width = t->width ? t->width : d->width - t->x;
    a->height = t->height ? t->height : d->height - t->y;
    a->channels = t->channel_count ? t->channel_count : d->feature_channels - t->channel_offset;
    a->images = t->image_count ? t->image_count : d->number_of_images - t->first_image;
    a->planes = a->classes ? 1 : a->channels;
    status = check_region(image, where, a);
    if (status != GLCNN_SUCCESS)
        return status;
    set_strides(t, element, a);
    return set_extent(image, where, a);
}

/* ---- Passes ---- */

static void add_layout(struct pass *pass, const struct access *a, size_t offset)
{
    pass_int(pass, "first_element", (int32_t)(offset / a->element));
    pass_int(pass, "x0", (int32_t)a->x);
    pass_int(pass, "y0", (int32_t)a->y);
    pass_int(pass, "stride_x", (int32_t)a->stride_x);
    pass_int(pass, "stride_y", (int32_t)a->stride_y);
    pass_int(pass, "stride_c", (int32_t)a->stride_c);
    pass_int(pass, "stride_n", (int32_t)a->stride_n);
    pass_int(pass, "channel_count", (int32_t)a->channels);
}

/* What the first write of a temporary image leaves out is 0. */
static void fill_unset(struct plan *plan, struct glcnn_image *image, const struct access *a)
{
    const struct glcnn_image_descriptor *d = &image->descriptor;
    bool covers = !image->parent && a->width == d->width && a->height == d->height &&
                  a->channels == d->feature_channels && a->images == d->number_of_images;
    if (covers || !image_is_unset(image))
        return;
    struct image_view whole = image_whole_view(image_root(image));
    plan_fill_image(plan, &whole);
}

static struct pass *plan_write(struct plan *plan, const struct access *a,
                               const struct image_view *view, const struct vector_view *elements)
{
    bool bytes = a->element == 1;
    struct pass *pass = plan_pass(plan, "image/image_write.comp");
    pass_image(pass, "destination", view);
    if (bytes)
        pass_define(pass, "BYTES", 1);
    if (a->classes)
        pass_define(pass, "CLASSES", 1);
    pass_vector_of(pass, bytes || a->classes ? "uint" : "float", "elements", elements, VECTOR_READ);
    pass_grid_over(pass, a->width, a->height, "destination", view);
    return pass;
}

static struct pass *plan_read(struct plan *plan, const struct access *a,
                              const struct image_view *view, const struct vector_view *elements)
{
    struct pass *pass = plan_pass(plan, "image/image_read.comp");
    pass_texture(pass, "source", view);
    pass_vector(pass, "elements", elements, VECTOR_WRITE);
    pass_grid_over(pass, a->width, a->height, "source", view);
    return pass;
}

/* `joins`: the pass is all that is committed, and counts that itself. */
static glcnn_status record(struct glcnn_command_buffer *command_buffer, struct glcnn_image *image,
                           const struct access *a, const struct vector_view *elements,
                           size_t offset, bool joins)
{
    struct plan plan;
    struct image_view view = image_view(image, a->image, a->images, a->channel, a->channels);
    plan_begin(&plan, command_buffer);
    if (a->write)
        fill_unset(&plan, image, a);
    struct pass *pass = (a->write ? plan_write : plan_read)(&plan, a, &view, elements);
    add_layout(pass, a, offset);
    if (joins)
        commit_count_join(command_buffer->device, pass);
    return plan_end(&plan);
}

static glcnn_status encode(struct glcnn_command_buffer *command_buffer, struct glcnn_image *image,
                           const struct glcnn_image_transfer *transfer, struct glcnn_buffer *buffer,
                           size_t offset, enum direction direction, const char *where)
{
    struct access a;
    if (!command_buffer)
        return GLCNN_INVALID_ARGUMENT;
    struct glcnn_device *device = command_buffer->device;
    glcnn_status status = device_enter(device);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!image || !buffer)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL", where,
                           image ? "the buffer" : "image");
    status = image_check_use(image, where, "image", command_buffer);
    if (status == GLCNN_SUCCESS)
        status =
            resolve(image, where, transfer, element_in_buffer(image, direction), direction, &a);
    if (status != GLCNN_SUCCESS)
        return status;
    if (buffer->device != device)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: the buffer belongs to another device than the command buffer",
                           where);
    if (offset % 4 || offset > buffer->size || a.extent > (buffer->size - offset) / a.element)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: the transfer needs %zu bytes from byte %zu on (a multiple of 4); "
                           "the buffer has %zu",
                           where, a.extent * a.element, offset, buffer->size);
    status = a.write ? GLCNN_SUCCESS : buffer_prefetch_to_host(buffer);
    if (status == GLCNN_SUCCESS)
        status = record(command_buffer, image, &a,
                        &(struct vector_view){buffer, 0, buffer->size / 4, false}, offset, false);
    if (status == GLCNN_SUCCESS && a.write)
        image_root(image)->written = true;
    else if (status == GLCNN_SUCCESS)
        image_count_read(image);
    return status;
}

glcnn_status glcnn_image_encode_write(glcnn_command_buffer *command_buffer, glcnn_image *image,
                                      const struct glcnn_image_transfer *transfer,
                                      glcnn_buffer *source, size_t offset)
{
    return encode(command_buffer, image, transfer, source, offset, WRITE,
                  "glcnn_image_encode_write");
}

glcnn_status glcnn_image_encode_write_classes(glcnn_command_buffer *command_buffer,
                                              glcnn_image *image,
                                              const struct glcnn_image_transfer *transfer,
                                              glcnn_buffer *source, size_t offset)
{
    return encode(command_buffer, image, transfer, source, offset, WRITE_CLASSES,
                  "glcnn_image_encode_write_classes");
}

glcnn_status glcnn_image_encode_read(glcnn_command_buffer *command_buffer, glcnn_image *image,
                                     const struct glcnn_image_transfer *transfer,
                                     glcnn_buffer *destination, size_t offset)
{
    return encode(command_buffer, image, transfer, destination, offset, READ,
                  "glcnn_image_encode_read");
}

/* ---- Bytes ---- */

static void bytes_from_floats(char *bytes, const float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)bytes)[i] = byte_of_unit(floats[i]);
}

/* Elements that follow each other, between the caller's memory and what the buffer has or gets. */
static void convert(char *bytes, void *staged, size_t count, size_t element, bool write)
{
    if (element == 2 && write)
        float16_to_floats(bytes, staged, count);
    else if (element == 2)
        float16_from_floats(bytes, staged, count);
    else if (write)
        memcpy(staged, bytes, count * element);
    else if (element == 1)
        bytes_from_floats(bytes, staged, count);
    else
        memcpy(bytes, staged, count * 4);
}

/* Elements that follow each other in either layout. */
static size_t row_length(const struct access *a)
{
    return a->width * a->stride_x;
}

static size_t element_count(const struct access *a)
{
    return (size_t)a->width * a->height * a->planes * a->images;
}

/* Whole images, or where one is too long rows of one, from image and row on (counted from the
 * transfer's first): as much as one pass stages. */
static struct access part_from(const struct glcnn_image *image, const struct access *a,
                               uint32_t first_image, uint32_t first_row)
{
    size_t block = image->device->info.limits.storage_block_size;
    size_t most = (block < STAGING_BYTES ? block : STAGING_BYTES) / a->element;
    size_t row = (size_t)a->width * a->planes, rows = most / row, images = rows / a->height;
    struct access part = *a;
    part.image += first_image;
    part.images = images ? a->images - first_image : 1;
    if (part.images > images && images)
        part.images = (uint32_t)images;
    part.y += first_row;
    part.height -= first_row;
    if (part.height > rows)
        part.height = rows ? (uint32_t)rows : 1;
    return part;
}

static struct access dense_access(const struct access *a)
{
    struct access dense = *a;
    set_strides(&(struct glcnn_image_transfer){.layout = a->channels_last
                                                             ? GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS
                                                             : GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH},
                4, &dense);
    return dense;
}

/* Does it leave nothing out between its elements? Strides of what there is one of do not count. */
static bool is_dense(const struct access *a, const struct access *dense)
{
    return (a->height == 1 || a->stride_y == dense->stride_y) &&
           (a->planes == 1 || a->stride_c == dense->stride_c) &&
           (a->images == 1 || a->stride_n == dense->stride_n);
}

/* Between the caller's strided rows and dense elements of the buffer in the same order. */
static void stage(const struct access *a, const struct access *dense, char *bytes, void *values,
                  size_t element)
{
    char *staged = values;
    size_t planes = a->channels_last ? 1 : a->planes, row = row_length(a);
    if (is_dense(a, dense)) {
        convert(bytes, staged, element_count(a), element, a->write);
        return;
    }
    for (size_t n = 0; n < a->images; n++)
        for (size_t c = 0; c < planes; c++)
            for (size_t y = 0; y < a->height; y++, staged += row * a->element)
                convert(bytes + element * (n * a->stride_n + c * a->stride_c + y * a->stride_y),
                        staged, row, element, a->write);
}

static size_t storage_words(const struct storage *s, uint64_t *words)
{
    const uint64_t all[] = {s->width, s->height, s->layers, s->format,
                            s->fold,  s->cell,   s->across, s->down,
                            s->flat,  s->fixed,  s->bytes,  (uintptr_t)s->producer};
    memcpy(words, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* All that a transfer's pass depends on but for the texture and the buffer themselves. */
static void pass_words(const struct access *a, const struct image_view *v, uint64_t *words)
{
    const uint64_t all[] = {a->x,
                            a->y,
                            a->width,
                            a->height,
                            a->channel,
                            a->channels,
                            a->stride_x,
                            a->stride_y,
                            a->stride_c,
                            a->stride_n,
                            a->element,
                            a->write,
                            a->classes,
                            v->images,
                            v->first_layer,
                            v->masked,
                            v->width,
                            v->height,
                            v->channels,
                            v->layer_stride,
                            v->storage->device->watch.count.buffer != NULL};
    size_t count = sizeof all / sizeof *all;
    _Static_assert(sizeof all / sizeof *all + 2 * 12 <= STAGING_WORDS, "room for all words");
    memset(words, 0, STAGING_WORDS * sizeof *words);
    memcpy(words, all, sizeof all);
    count += storage_words(v->storage, words + count);
    storage_words(storage_owner(v->storage), words + count);
}

static void turn_to(struct pass *pass, struct storage *storage, struct glcnn_buffer *buffer)
{
    (pass->image_count ? pass->images : pass->textures)[0].view.storage = storage;
    pass->buffers[0].view.buffer = buffer;
}

/* Issues the pass between the image and the memory: the one that was made for such a transfer, or a
 * new one. */
static glcnn_status issue_staged(struct glcnn_image *image, const struct access *dense,
                                 struct staging_memory *memory)
{
    glcnn_status status = GLCNN_SUCCESS;
    uint64_t words[STAGING_WORDS];
    struct image_view view =
        image_view(image, dense->image, dense->images, dense->channel, dense->channels);
    const struct vector_view elements = {memory->buffer, 0,
                                         (element_count(dense) * dense->element + 3) / 4, false};
    pass_words(dense, &view, words);
    struct staging_pass *staged = staging_find_pass(image->device, words);
    if (glcnn_command_buffer_pass_count(staged->commands))
        turn_to(&staged->commands->passes[0], view.storage, memory->buffer);
    else
        status = record(staged->commands, image, dense, &elements, 0,
                        !dense->write && !view.storage->producer);
    if (status == GLCNN_SUCCESS)
        status = command_buffer_issue(staged->commands, !dense->write, "transferring an image");
    if (status == GLCNN_SUCCESS && !view.storage->producer)
        command_buffer_cut(staged->commands, 1, 0); /* holds on to neither image nor memory */
    else
        staging_forget_pass(staged);
    memory->serial = image->device->serial;
    return status;
}

/* What needs no work goes as it is. */
static glcnn_status fill(struct glcnn_buffer *buffer, const struct access *part,
                         const struct access *dense, char *bytes, size_t element, const char *where)
{
    size_t size = element_count(part) * part->element;
    void *staged;
    if (element == part->element && is_dense(part, dense))
        return buffer_fill(buffer, size, bytes, where);
    glcnn_status status = buffer_map(buffer, size, &staged, where);
    if (status != GLCNN_SUCCESS)
        return status;
    stage(part, dense, bytes, staged, element);
    return buffer_unmap(buffer, size, where);
}

static glcnn_status write_part(struct glcnn_image *image, const struct access *part, char *bytes,
                               size_t element, const char *where)
{
    struct access dense = dense_access(part);
    struct staging_memory *memory;
    size_t size = element_count(part) * part->element;
    glcnn_status status = staging_acquire(image->device, size, true, &memory, where);
    if (status == GLCNN_SUCCESS)
        status = fill(memory->buffer, part, &dense, bytes, element, where);
    return status == GLCNN_SUCCESS ? issue_staged(image, &dense, memory) : status;
}

static glcnn_status read_part(struct glcnn_image *image, const struct access *part, char *bytes,
                              size_t element, const char *where)
{
    struct access dense = dense_access(part);
    struct staging_memory *memory;
    size_t size = element_count(part) * part->element;
    void *staged;
    glcnn_status status = staging_acquire(image->device, size, false, &memory, where);
    if (status == GLCNN_SUCCESS)
        status = issue_staged(image, &dense, memory);
    if (status != GLCNN_SUCCESS)
        return status;
    buffer_show(memory->buffer);
    status = fence_await(image->device, memory->serial, where);
    if (status == GLCNN_SUCCESS)
        status = buffer_map(memory->buffer, size, &staged, where);
    if (status != GLCNN_SUCCESS)
        return status;
    stage(part, &dense, bytes, staged, element);
    return buffer_unmap(memory->buffer, size, where);
}

static glcnn_status transfer_parts(struct glcnn_image *image, const struct access *a, char *bytes,
                                   size_t element, const char *where)
{
    glcnn_status status = GLCNN_SUCCESS;
    struct access part;
    for (uint32_t n = 0; n < a->images && status == GLCNN_SUCCESS; n += part.images)
        for (uint32_t y = 0; y < a->height && status == GLCNN_SUCCESS; y += part.height) {
            part = part_from(image, a, n, y);
            status = (a->write ? write_part : read_part)(
                image, &part, bytes + element * (n * a->stride_n + y * a->stride_y), element,
                where);
        }
    return status;
}

/* One more than the number of the first class without a channel, in the order of the memory; 0: all
 * have one. */
static size_t find_wrong_class(const struct access *a, const uint32_t *classes)
{
    for (size_t n = 0; n < a->images; n++)
        for (size_t y = 0; y < a->height; y++)
            for (size_t x = 0; x < a->width; x++) {
                size_t at = n * a->stride_n + y * a->stride_y + x;
                if (classes[at] >= a->channels && classes[at] != GLCNN_NO_CLASS)
                    return at + 1;
            }
    return 0;
}

static glcnn_status check_classes(struct glcnn_device *device, const char *where,
                                  const struct access *a, const char *bytes)
{
    const uint32_t *classes = (const void *)bytes;
    size_t wrong = a->classes ? find_wrong_class(a, classes) : 0;
    if (!wrong)
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_INVALID_ARGUMENT,
                       "%s: class %u, number %zu of the memory, has no channel; the image has %u: "
                       "classes are 0 .. %u, or GLCNN_NO_CLASS",
                       where, classes[wrong - 1], wrong - 1, a->channels, a->channels - 1);
}

static glcnn_status transfer_bytes(struct glcnn_image *image,
                                   const struct glcnn_image_transfer *transfer, char *bytes,
                                   size_t size, enum direction direction, const char *where)
{
    struct access a;
    if (!image)
        return GLCNN_INVALID_ARGUMENT;
    struct glcnn_device *device = image->device;
    size_t element = element_of(image, direction);
    glcnn_status status = device_enter(device);
    if (status == GLCNN_SUCCESS)
        status = resolve(image, where, transfer, element, direction, &a);
    if (status != GLCNN_SUCCESS)
        return status;
    if (image->command_buffer)
        return device_fail(
            device, GLCNN_INVALID_STATE,
            "%s: a temporary image cannot be reached by the CPU; use an ordinary one", where);
    if (!bytes || size < a.extent * element)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: the transfer needs %zu bytes; %zu are given", where,
                           a.extent * element, bytes ? size : 0);
    status = check_classes(device, where, &a, bytes);
    return status != GLCNN_SUCCESS ? status : transfer_parts(image, &a, bytes, element, where);
}

glcnn_status glcnn_image_write_bytes(glcnn_image *image,
                                     const struct glcnn_image_transfer *transfer, const void *bytes,
                                     size_t size)
{
    return transfer_bytes(image, transfer, (char *)(uintptr_t)bytes, size, WRITE,
                          "glcnn_image_write_bytes");
}

glcnn_status glcnn_image_read_bytes(glcnn_image *image, const struct glcnn_image_transfer *transfer,
                                    void *bytes, size_t size)
{
    return transfer_bytes(image, transfer, bytes, size, READ, "glcnn_image_read_bytes");
}

glcnn_status glcnn_image_write_classes(glcnn_image *image,
                                       const struct glcnn_image_transfer *transfer,
                                       const uint32_t *classes, size_t count)
{
    size_t most = SIZE_MAX / sizeof *classes;
    return transfer_bytes(image, transfer, (char *)(uintptr_t)classes,
                          (count < most ? count : most) * sizeof *classes, WRITE_CLASSES,
                          "glcnn_image_write_classes");
}
