/* Hazards: which memory barriers a pass needs behind the passes that were issued before it. */
#include "record/hazards.h"

#include "device/buffer.h"

static void need(struct glcnn_device *device, unsigned *bits, enum barrier_kind kind,
                 uint64_t serial)
{
    if (serial > device->barrier_serial[kind])
        *bits |= 1u << kind;
}

static uint64_t last_use(const struct hazard *hazard)
{
    return hazard->written > hazard->read ? hazard->written : hazard->read;
}

/* Reads wait for writes; writes wait for writes and reads. */
unsigned hazards_before(struct glcnn_device *device, const struct pass *pass)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        need(device, &bits, pass->issue.loads_images ? BARRIER_IMAGE : BARRIER_TEXTURE,
             storage_owner(pass->textures[i].view.storage)->hazard.written);
    for (uint32_t i = 0; i < pass->image_count; i++)
        need(device, &bits, BARRIER_IMAGE,
             last_use(&storage_owner(pass->images[i].view.storage)->hazard));
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct pass_buffer *item = &pass->buffers[i];
        if (!item->view.buffer)
            continue;
        struct hazard hazard = buffer_hazard(item->view.buffer);
        need(device, &bits, BARRIER_STORAGE,
             item->access & VECTOR_WRITE ? last_use(&hazard) : hazard.written);
    }
    return bits;
}

void hazards_mark(struct glcnn_device *device, const struct pass *pass)
{
    uint64_t serial = ++device->serial;
    reset_note_pass(device, pass->shader, pass->owner.name);
    for (uint32_t i = 0; i < pass->texture_count; i++)
        storage_owner(pass->textures[i].view.storage)->hazard.read = serial;
    for (uint32_t i = 0; i < pass->image_count; i++)
        storage_owner(pass->images[i].view.storage)->hazard.written = serial;
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct pass_buffer *item = &pass->buffers[i];
        if (item->view.buffer && item->access & VECTOR_READ)
            buffer_mark_read(item->view.buffer, serial);
        if (item->view.buffer && item->access & VECTOR_WRITE)
            buffer_mark_written(item->view.buffer, serial);
    }
}
