/* Texture memory: how layers are folded, and the pool that hands textures on. */
#include "device/storage.h"

#include <stdlib.h>

/* Beyond this many bytes the pool frees what has waited longest. */
#define POOL_CAPACITY ((size_t)256 << 20)

struct storage_pool {
    struct storage *first; /* most recent first */
    size_t size;
};

struct storage *storage_owner(struct storage *storage)
{
    return storage->within ? storage->within : storage;
}

void storage_place(struct storage *storage, struct storage *within, uint32_t cell, uint32_t across,
                   uint32_t down)
{
    storage->within = storage_retain(within);
    within->holds = true;
    storage->cell = cell;
    storage->across = across;
    storage->down = down;
}

bool storage_is_folded(const struct storage *storage)
{
    return storage->across * storage->down > 1;
}

const struct texel *texel_of(glcnn_channel_format format)
{
    static const struct texel texels[] = {
        [GLCNN_CHANNEL_FORMAT_UNORM8] = {GL_RGBA8, "rgba8", 4},
        [GLCNN_CHANNEL_FORMAT_FLOAT16] = {GL_RGBA16F, "rgba16f", 8},
        [GLCNN_CHANNEL_FORMAT_FLOAT32] = {GL_RGBA32F, "rgba32f", 16},
    };
    return &texels[format];
}

size_t storage_size(const struct storage *storage)
{
    size_t texel = texel_of(storage->format)->size;
    return texel * storage->width * storage->across * storage->height * storage->down *
           storage->fold;
}

/* Layers go to the right first, then below; as few beside each other as hold all. */
static bool fold(struct storage *storage, const struct glcnn_limits *limits)
{
    if (storage->width > limits->texture_size || storage->height > limits->texture_size)
        return false;
    uint32_t most_x = limits->texture_size / storage->width;
    uint32_t most_y = limits->texture_size / storage->height;
    uint32_t needed = (storage->layers + limits->array_layers - 1) / limits->array_layers;
    storage->across = storage->down = 1;
    while (storage->across < needed && 2 * storage->across <= most_x)
        storage->across *= 2;
    while (storage->across * storage->down < needed && 2 * storage->down <= most_y)
        storage->down *= 2;
    uint32_t beside = storage->across * storage->down;
    storage->fold = (storage->layers + beside - 1) / beside;
    return beside >= needed;
}

glcnn_status storage_create(struct glcnn_device *device, uint32_t width, uint32_t height,
                            uint32_t layers, glcnn_channel_format format, struct storage **storage)
{
    struct storage *made = calloc(1, sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making an image");
    made->width = width;
    made->height = height;
    made->layers = layers;
    made->format = format;
    made->references = 1;
    made->clear = true;
    if (!fold(made, &device->info.limits)) {
        free(made);
        return device_fail(
            device, GLCNN_LIMIT_EXCEEDED,
            "an image of %u x %u pixels and %u layers does not fit a texture of this "
            "device: %u x %u pixels, %u layers",
            width, height, layers, device->info.limits.texture_size,
            device->info.limits.texture_size, device->info.limits.array_layers);
    }
    made->device = device_retain(device);
    *storage = made;
    return GLCNN_SUCCESS;
}

glcnn_status storage_adopt(struct glcnn_device *device, const struct storage *like,
                           struct storage **storage)
{
    struct storage *made = malloc(sizeof *made);
    if (!made)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory making an image");
    *made = *like;
    made->device = device_retain(device);
    made->references = 1;
    made->across = made->down = 1;
    *storage = made;
    return GLCNN_SUCCESS;
}

static struct storage *take_from_pool(struct storage_pool *pool, uint32_t width, uint32_t height,
                                      uint32_t layers, glcnn_channel_format format)
{
    for (struct storage **at = &pool->first; *at; at = &(*at)->next) {
        struct storage *found = *at;
        if (found->width != width || found->height != height || found->layers != layers ||
            found->format != format)
            continue;
        *at = found->next;
        found->next = NULL;
        pool->size -= storage_size(found);
        found->references = 1;
        device_retain(found->device);
        return found;
    }
    return NULL;
}

glcnn_status storage_create_pooled(struct glcnn_device *device, uint32_t width, uint32_t height,
                                   uint32_t layers, glcnn_channel_format format,
                                   struct storage **storage)
{
    *storage = take_from_pool(device->pool, width, height, layers, format);
    if (*storage)
        return GLCNN_SUCCESS;
    glcnn_status status = storage_create(device, width, height, layers, format, storage);
    if (status == GLCNN_SUCCESS) {
        (*storage)->clear = false;
        (*storage)->pooled = (*storage)->transient = true;
    }
    return status;
}

struct storage *storage_retain(struct storage *storage)
{
    storage->references++;
    return storage;
}

static void free_storage(struct storage *storage, const struct gl *gl)
{
    if (storage->texture && gl && !storage->borrowed)
        gl->DeleteTextures(1, &storage->texture);
    if (storage->import && gl)
        platform_release_import(storage->device->platform, storage->import);
    free(storage);
}

void storage_release(struct storage *storage)
{
    if (!storage || --storage->references > 0)
        return;
    struct glcnn_device *device = storage->device;
    if (storage->within)
        storage_release(storage->within);
    free_storage(storage, device_can_free(device) ? &device->gl : NULL);
    device_unreference(device);
}

/* Storage in the pool holds no reference to the device: the device destroys the pool. */
static void trim(struct storage_pool *pool, const struct gl *gl)
{
    while (pool->size > POOL_CAPACITY) {
        struct storage **last = &pool->first;
        while ((*last)->next)
            last = &(*last)->next;
        pool->size -= storage_size(*last);
        free_storage(*last, gl);
        *last = NULL;
    }
}

void storage_recycle(struct storage *storage)
{
    if (!storage)
        return;
    struct glcnn_device *device = storage->device;
    if (storage->references > 1 || !storage->pooled || !storage->texture ||
        !device_can_free(device)) {
        storage_release(storage);
        return;
    }
    storage->references = 0;
    storage->next = device->pool->first;
    device->pool->first = storage;
    device->pool->size += storage_size(storage);
    trim(device->pool, &device->gl);
    device_unreference(device);
}

glcnn_status storage_allocate(struct storage *storage)
{
    if (storage->texture)
        return GLCNN_SUCCESS;
    const struct gl *gl = &storage->device->gl;
    gl->GenTextures(1, &storage->texture);
    gl->ActiveTexture(GL_TEXTURE0);
    gl->BindTexture(GL_TEXTURE_2D_ARRAY, storage->texture);
    gl->TexStorage3D(GL_TEXTURE_2D_ARRAY, 1, texel_of(storage->format)->name,
                     (GLsizei)(storage->width * storage->across),
                     (GLsizei)(storage->height * storage->down), (GLsizei)storage->fold);
    gl->TexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl->TexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glcnn_status status = device_check(storage->device, "making a texture");
    if (status != GLCNN_SUCCESS) {
        gl->DeleteTextures(1, &storage->texture);
        storage->texture = 0;
    }
    return status;
}

struct storage_pool *storage_pool_create(void)
{
    return calloc(1, sizeof(struct storage_pool));
}

void storage_pool_destroy(struct storage_pool *pool, const struct gl *gl)
{
    if (!pool)
        return;
    while (pool->first) {
        struct storage *next = pool->first->next;
        free_storage(pool->first, gl);
        pool->first = next;
    }
    free(pool);
}
