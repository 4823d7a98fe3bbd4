/* Staging: what uploads and read-backs need again and again is made once. */
#include "record/staging.h"

#include <stdlib.h>
#include <string.h>

#include "device/buffer.h"

#define FIRST_SIZE (2 * BUFFER_SMALL) /* bytes of a memory to begin with */

static glcnn_status make_ring(struct glcnn_device *device, size_t size, struct staging_ring *ring)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < STAGING_RING && status == GLCNN_SUCCESS; i++)
        status = buffer_create_mapped(device, size, GL_MAP_WRITE_BIT, &ring->memories[i].buffer);
    return status;
}

static void destroy_ring(struct staging_ring *ring)
{
    for (size_t i = 0; i < STAGING_RING; i++)
        glcnn_buffer_destroy(&ring->memories[i].buffer);
}

static glcnn_status make_parts(struct glcnn_device *device, struct staging *staging)
{
    glcnn_status status =
        buffer_create_mapped(device, FIRST_SIZE, GL_MAP_READ_BIT, &staging->read.buffer);
    if (status == GLCNN_SUCCESS)
        status = make_ring(device, BUFFER_SMALL, &staging->small);
    if (status == GLCNN_SUCCESS)
        status = make_ring(device, FIRST_SIZE, &staging->large);
    for (size_t i = 0; i < STAGING_PASSES && status == GLCNN_SUCCESS; i++)
        status = glcnn_command_buffer_create(device, &staging->passes[i].commands);
    return status;
}

glcnn_status staging_create(struct glcnn_device *device)
{
    device->staging = calloc(1, sizeof *device->staging);
    if (!device->staging)
        return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory opening a device");
    return make_parts(device, device->staging);
}

void staging_destroy(struct staging **staging)
{
    struct staging *old = *staging;
    *staging = NULL;
    if (!old)
        return;
    for (size_t i = 0; i < STAGING_PASSES; i++)
        glcnn_command_buffer_destroy(&old->passes[i].commands);
    destroy_ring(&old->small);
    destroy_ring(&old->large);
    glcnn_buffer_destroy(&old->read.buffer);
    free(old);
}

/* At least doubles, so that transfers of many sizes do not make a buffer each. */
static glcnn_status grow(struct glcnn_buffer **buffer, size_t wanted)
{
    struct glcnn_buffer *old = *buffer, *bigger;
    size_t most = old->device->info.limits.storage_block_size / 4 * 4;
    size_t size = 2 * old->size < most ? 2 * old->size : most;
    if (size < wanted)
        size = (wanted + 3) / 4 * 4;
    glcnn_status status = buffer_create_mapped(old->device, size, old->access, &bigger);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_buffer_destroy(buffer);
    *buffer = bigger;
    return GLCNN_SUCCESS;
}

glcnn_status staging_acquire(struct glcnn_device *device, size_t size, bool write,
                             struct staging_memory **memory, const char *where)
{
    struct staging *staging = device->staging;
    struct staging_ring *ring = size > BUFFER_SMALL ? &staging->large : &staging->small;
    struct staging_memory *taken = write ? &ring->memories[ring->next] : &staging->read;
    glcnn_status status = fence_await(device, taken->serial, where);
    *memory = taken;
    if (status == GLCNN_SUCCESS && size > taken->buffer->size)
        status = grow(&taken->buffer, size);
    if (status == GLCNN_SUCCESS && write)
        ring->next = (ring->next + 1) % STAGING_RING;
    return status;
}

struct staging_pass *staging_find_pass(struct glcnn_device *device,
                                       const uint64_t words[STAGING_WORDS])
{
    struct staging *staging = device->staging;
    struct staging_pass *found = NULL, *oldest = staging->passes;
    for (size_t i = 0; i < STAGING_PASSES && !found; i++) {
        struct staging_pass *pass = &staging->passes[i];
        if (pass->used && memcmp(pass->words, words, sizeof pass->words) == 0)
            found = pass;
        if (pass->used < oldest->used)
            oldest = pass;
    }
    if (!found) {
        found = oldest;
        staging_forget_pass(found);
        memcpy(found->words, words, sizeof found->words);
    }
    found->used = ++staging->used;
    return found;
}

void staging_forget_pass(struct staging_pass *pass)
{
    command_buffer_reset(pass->commands);
    pass->used = 0;
}
