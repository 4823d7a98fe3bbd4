/* Stores by way of a buffer. */
#include "record/stores.h"

#include "record/command_buffer.h"
#include "record/work_group.h"

#include <inttypes.h>

#define TEXEL_SIZE 16 /* bytes of four floats */

static size_t layer_size(const struct image_view *view)
{
    return (size_t)view->width * view->height * TEXEL_SIZE;
}

static size_t stored_layers(const struct image_view *view)
{
    return (size_t)slice_count(view->channels) * view->images;
}

/* Layers without others between them, of a texture that is the library's. */
static bool is_copied_at_once(const struct image_view *view)
{
    const struct storage *storage = view->storage;
    return storage->format == GLCNN_CHANNEL_FORMAT_FLOAT32 && !storage->borrowed &&
           (view->images == 1 || view->layer_stride == slice_count(view->channels));
}

/* In a context that it borrows the library keeps to the state that glcnn/device.h tells of, a smoke test
 * (record/smoke_test.h) stores into the image, and plain uniforms lie where the first layer does. */
static bool may_be_buffered(const struct glcnn_device *device, const struct pass *pass)
{
    const struct glcnn_device_traits *traits = &device->info.traits;
    return pass->stores.layers && traits->stores_via_buffer && !traits->may_skip_programs &&
           !traits->plain_uniforms && !device->caller_state && pass->image_count == 1 &&
           pass->buffer_count < device->info.limits.storage_blocks &&
           is_copied_at_once(&pass->images[0].view);
}

glcnn_status stores_check(struct glcnn_device *device, const struct pass *pass)
{
    const struct pass_stores *stores = &pass->stores;
    const uint32_t wanted = pass->grid[stores->axis];
    if (!stores->layers)
        return GLCNN_SUCCESS;
    if (pass->image_count != 1)
        return device_fail(device, GLCNN_SHADER_ERROR,
                           "%s: the pass says that it stores all of its only image, and has %u; "
                           "call pass_overwrites for passes of one",
                           pass->shader, pass->image_count);
    const struct pass_texture *image = &pass->images[0];
    uint64_t told = (uint64_t)wanted * stores->layers, layers = stored_layers(&image->view);
    if (told == layers * stores->invocations)
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_SHADER_ERROR,
                       "%s: the pass says that %u invocations along %c store %u layers of %s, so "
                       "its %u store %g, but the image has %" PRIu64
                       "; tell pass_overwrites or pass_overwrites_images what the body stores",
                       pass->shader, stores->invocations, "xyz"[stores->axis], stores -> layers,
                       image -> name, wanted, (double)told / stores -> invocations, layers);
}

/* ---- What the buffer holds ---- */

/* Layers that the work groups of a range of the axis store, from the first on. */
static uint32_t layers_before(const struct pass *pass, uint32_t group)
{
    const struct pass_stores *stores = &pass->stores;
    uint64_t all = stored_layers(&pass->images[0].view);
    uint64_t layers =
        (uint64_t)group * pass->local[stores->axis] / stores->invocations * stores->layers;
    return (uint32_t)(layers < all ? layers : all);
}

/* The fewest groups that store whole layers, and nothing of those that follow. */
static uint32_t fewest_groups(const struct pass *pass)
{
    const uint32_t local = pass->local[pass->stores.axis];
    uint32_t groups = 1;
    while ((uint64_t)groups * local % pass->stores.invocations)
        groups++;
    return groups;
}

static size_t held_bytes(const struct pass *pass, uint32_t groups)
{
    return layers_before(pass, groups) * layer_size(&pass->images[0].view);
}

/* 0: not even the fewest have room in `most` bytes. */
static uint32_t groups_at_once(const struct pass *pass, size_t most, size_t part)
{
    const uint32_t axis = pass->stores.axis, all = groups_of(pass->grid[axis], pass->local[axis]);
    uint32_t fewest = least(fewest_groups(pass), all);
    size_t bytes = held_bytes(pass, fewest), wanted = part < most ? part : most;
    if (bytes > most)
        return 0;
    return least(all, bytes < wanted ? fewest * (uint32_t)(wanted / bytes) : fewest);
}

size_t stores_plan(const struct glcnn_device *device, struct pass *passes, size_t count,
                   uint64_t most)
{
    const struct glcnn_limits *limits = &device->info.limits;
    size_t bytes = most < limits->storage_block_size ? (size_t)most : limits->storage_block_size;
    for (struct pass *pass = passes; pass < passes + count; pass++) {
        pass->stores.groups = 0;
        if (!may_be_buffered(device, pass))
            continue;
        work_group_choose(pass, limits, &device->info.traits);
        pass->stores.groups = groups_at_once(pass, bytes, device->stores_part);
    }
    return stores_size(passes, count);
}

size_t stores_size(const struct pass *passes, size_t count)
{
    size_t size = 0;
    for (const struct pass *pass = passes; pass < passes + count; pass++)
        if (stores_are_buffered(pass) && held_bytes(pass, pass->stores.groups) > size)
            size = held_bytes(pass, pass->stores.groups);
    return size;
}

/* ---- The buffer ---- */

bool stores_are_buffered(const struct pass *pass)
{
    return pass->stores.groups;
}

glcnn_status stores_prepare(struct glcnn_device *device, const struct pass *passes, size_t count)
{
    size_t size = stores_size(passes, count);
    if (size <= device->stores_size)
        return GLCNN_SUCCESS;
    device->stores_size = 0;
    glcnn_status status = buffer_upload(device, GL_SHADER_STORAGE_BUFFER, &device->stores, size,
                                        NULL, "making the buffer of stores");
    device->stores_size = status == GLCNN_SUCCESS ? size : 0;
    return status;
}

void stores_destroy(struct glcnn_device *device, bool reachable)
{
    if (reachable && device->stores)
        device->gl.DeleteBuffers(1, &device->stores);
    device->stores = 0;
    device->stores_size = 0;
}

void stores_bind(const struct glcnn_device *device, const struct pass *pass)
{
    if (stores_are_buffered(pass))
        device->gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, pass->buffer_count, device->stores);
}

/* llvmpipe's copies are drawn by threads of their own, which may still read the buffer. */
void stores_begin(const struct glcnn_device *device, const struct pass *pass, uint32_t group)
{
    if (!stores_are_buffered(pass))
        return;
    device->gl.MemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT);
    device->gl.Uniform1i(STORES_LOCATION, (GLint)layers_before(pass, group));
}

/* Layers of a view, `begin` of which is the first in the buffer. */
struct held {
    uint32_t begin, end;
};

/* Of the layers that lie beside each other in a layer of the texture those at one place, which
 * begin with `first`: each `apart`-th. */
static void copy_place(const struct gl *gl, const struct image_view *view, struct held held,
                       uint32_t first, uint32_t apart)
{
    const struct storage *storage = view->storage;
    uint32_t layer = view->first_layer + first;
    size_t offset = (size_t)(first - held.begin) * layer_size(view);
    gl->PixelStorei(GL_UNPACK_IMAGE_HEIGHT, (GLint)(apart * view->height));
    gl->TexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, (GLint)(layer % storage->across * storage->width),
                      (GLint)(layer / storage->across % storage->down * storage->height),
                      (GLint)(storage->cell + layer / apart), (GLsizei)view->width,
                      (GLsizei)view->height, (GLsizei)groups_of(held.end - first, apart), GL_RGBA,
                      GL_FLOAT, (const void *)(uintptr_t)offset);
}

/* They stay bound, the texture where no pass has one: more of the pass may follow. The context is
 * the library's own, and nothing else in it takes texels from memory.
 * Without the buffer the driver would read the caller's memory, and without the texture it would
 * write another. */
static glcnn_status bind_both(struct glcnn_device *device, const struct image_view *view,
                              const char *where)
{
    const struct gl *gl = &device->gl;
    gl->ActiveTexture(GL_TEXTURE0 + PASS_TEXTURES);
    gl->BindTexture(GL_TEXTURE_2D_ARRAY, storage_owner(view->storage)->texture);
    gl->BindBuffer(GL_PIXEL_UNPACK_BUFFER, device->stores);
    return device_check(device, where);
}

glcnn_status stores_copy(struct glcnn_device *device, const struct pass *pass, uint32_t from,
                         uint32_t to, const char *where)
{
    const struct gl *gl = &device->gl;
    if (!stores_are_buffered(pass))
        return GLCNN_SUCCESS;
    const struct image_view *view = &pass->images[0].view;
    const struct held held = {layers_before(pass, from), layers_before(pass, to)};
    uint32_t apart = view->storage->across * view->storage->down;
    gl->MemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
    glcnn_status status = bind_both(device, view, where);
    for (uint32_t first = held.begin; status == GLCNN_SUCCESS && first < held.end; first++)
        if (first < held.begin + apart)
            copy_place(gl, view, held, first, apart);
    return status;
}
