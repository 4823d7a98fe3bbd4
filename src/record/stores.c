/* Stores by way of a buffer. */
#include "record/stores.h"

#include "record/command_buffer.h"

#define TEXEL_SIZE 16 /* bytes of four floats */

static size_t stored_layers(const struct image_view *view)
{
    return (size_t)slice_count(view->channels) * view->images;
}

static size_t stored_size(const struct image_view *view)
{
    return stored_layers(view) * view->width * view->height * TEXEL_SIZE;
}

/* Layers without others between them, of a texture that is the library's. */
static bool is_copied_at_once(const struct image_view *view)
{
    const struct storage *storage = view->storage;
    return storage->format == GLCNN_CHANNEL_FORMAT_FLOAT32 && !storage->borrowed &&
           (view->images == 1 || view->layer_stride == slice_count(view->channels));
}

/* In a context that it borrows the library keeps to the state that glcnn/device.h tells of, and a
 * canary (record/canary.h) stores into the image. */
bool stores_are_buffered(const struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_limits *limits = &device->info.limits;
    const struct glcnn_device_traits *traits = &device->info.traits;
    return pass->whole && traits->buffered_stores && !traits->may_skip_programs &&
           !device->caller_state && pass->image_count == 1 &&
           pass->buffer_count < limits->storage_blocks &&
           is_copied_at_once(&pass->images[0].view) &&
           stored_size(&pass->images[0].view) <= limits->storage_block_size;
}

void stores_directly(struct pass *passes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        passes[i].whole = false;
}

glcnn_status stores_prepare(struct glcnn_device *device, const struct pass *passes, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        if (stores_are_buffered(device, &passes[i]) &&
            stored_size(&passes[i].images[0].view) > size)
            size = stored_size(&passes[i].images[0].view);
    if (size <= device->stores_size)
        return GLCNN_SUCCESS;
    device->stores_size = 0;
    glcnn_status status = buffer_upload(device, GL_SHADER_STORAGE_BUFFER, &device->stores, size,
                                        NULL, "glcnn_command_buffer_commit");
    device->stores_size = status == GLCNN_SUCCESS ? size : 0;
    return status;
}

void stores_destroy(struct glcnn_device *device, bool reachable)
{
    if (reachable && device->stores)
        device->gl.DeleteBuffers(1, &device->stores);
    device->stores = 0;
}

void stores_bind(const struct glcnn_device *device, const struct pass *pass)
{
    if (stores_are_buffered(device, pass))
        device->gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, pass->buffer_count, device->stores);
}

/* Of the layers that lie beside each other in a layer of the texture those at one place, which
 * begin with the view's layer `first`: each `apart`-th. */
static void copy_place(const struct gl *gl, const struct image_view *view, uint32_t first,
                       uint32_t apart)
{
    const struct storage *storage = view->storage;
    uint32_t layer = view->first_layer + first, count = (uint32_t)stored_layers(view);
    size_t offset = (size_t)first * view->width * view->height * TEXEL_SIZE;
    gl->PixelStorei(GL_UNPACK_IMAGE_HEIGHT, (GLint)(apart * view->height));
    gl->TexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, (GLint)(layer % storage->across * storage->width),
                      (GLint)(layer / storage->across % storage->down * storage->height),
                      (GLint)(storage->cell + layer / apart), (GLsizei)view->width,
                      (GLsizei)view->height, (GLsizei)groups_of(count - first, apart), GL_RGBA,
                      GL_FLOAT, (const void *)(uintptr_t)offset);
}

/* They stay bound: the context is the library's own, and nothing else in it takes texels from memory.
 * Without the buffer the driver would read the caller's memory, and without the texture it would
 * write another. */
static glcnn_status bind_both(struct glcnn_device *device, const struct image_view *view)
{
    const struct gl *gl = &device->gl;
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(GL_TEXTURE_2D_ARRAY, storage_owner(view->storage)->texture);
    gl->BindBuffer(GL_PIXEL_UNPACK_BUFFER, device->stores);
    return device_check(device, AMID_PASSES);
}

glcnn_status stores_copy(struct glcnn_device *device, const struct pass *pass)
{
    const struct gl *gl = &device->gl;
    const struct image_view *view = &pass->images[0].view;
    if (!stores_are_buffered(device, pass))
        return GLCNN_SUCCESS;
    uint32_t apart = view->storage->across * view->storage->down;
    gl->MemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
    glcnn_status status = bind_both(device, view);
    for (uint32_t first = 0; status == GLCNN_SUCCESS && first < apart; first++)
        if (first < stored_layers(view))
            copy_place(gl, view, first, apart);
    return status;
}
