/* GLCNN_DEBUG=race. Where passes are few most drivers run each at once, and memory that is returned
 * and acquired again mostly still holds what it held: here neither is so. */
#include "record/race.h"

#include <stdlib.h>
#include <string.h>

#include "device/buffer.h"
#include "device/debug.h"
#include "record/dispatch_work.h"
#include "record/run_once.h"

#define LAG_INVOCATIONS 65536
#define LAG_ROUND       8 /* operations */
#define LAG_SHARE       8 /* of what one dispatch may take */
#define WHERE           "GLCNN_DEBUG=race"

/* Work before the commit's own: whatever the processor does meanwhile is done too early. */
static glcnn_status lag(struct glcnn_device *device)
{
    const struct vector_view elements = {.buffer = device->zeros, .count = 4};
    struct pass pass = {.shader = "record/work.comp", .work = 1};
    uint64_t rounds = dispatch_work(device) / LAG_SHARE / LAG_INVOCATIONS / LAG_ROUND;
    pass_vector_of(&pass, "vec4", "elements", &elements, VECTOR_READ_WRITE);
    pass_int(&pass, "rounds", (int32_t)(rounds < 4096 ? rounds : 4096));
    pass_grid(&pass, LAG_INVOCATIONS, 1, 1);
    pass_local(&pass, 64, 1, 1);
    return pass_run_once(device, &pass, WHERE);
}

/* ---- Poison ---- */

static glcnn_status poison_storage(struct storage *storage, uint64_t begun)
{
    struct pass pass;
    if (!storage->transient || storage->format == GLCNN_CHANNEL_FORMAT_UNORM8 ||
        storage->hazard.written > begun)
        return GLCNN_SUCCESS;
    fill_describe(storage, &pass);
    pass_define(&pass, "POISON", 1);
    return pass_run_once(storage->device, &pass, WHERE);
}

static glcnn_status poison_workspace(struct glcnn_buffer *buffer, uint64_t begun)
{
    struct glcnn_buffer *whole = buffer ? buffer->within : NULL;
    if (!whole || !whole->is_arena || whole->hazard.written > begun)
        return GLCNN_SUCCESS;
    void *bytes = malloc(whole->size);
    if (!bytes)
        return device_fail(whole->device, GLCNN_OUT_OF_MEMORY, "out of memory at commit");
    memset(bytes, 0xff, whole->size);
    glcnn_status status = glcnn_buffer_write(whole, 0, whole->size, bytes);
    free(bytes);
    buffer_mark_written(whole, ++whole->device->serial);
    return status;
}

static glcnn_status poison(const struct pass *pass, uint64_t begun)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < pass->texture_count && status == GLCNN_SUCCESS; i++)
        status = poison_storage(storage_owner(pass->textures[i].view.storage), begun);
    for (uint32_t i = 0; i < pass->image_count && status == GLCNN_SUCCESS; i++)
        status = poison_storage(storage_owner(pass->images[i].view.storage), begun);
    for (uint32_t i = 0; i < pass->buffer_count && status == GLCNN_SUCCESS; i++)
        status = poison_workspace(pass->buffers[i].view.buffer, begun);
    return status;
}

glcnn_status race_prepare(struct glcnn_command_buffer *command_buffer)
{
    struct glcnn_device *device = command_buffer->device;
    const uint64_t begun = device->serial;
    if (!(device->checks & DEBUG_RACE))
        return GLCNN_SUCCESS;
    glcnn_status status = lag(device);
    for (size_t i = 0; i < command_buffer->pass_count && status == GLCNN_SUCCESS; i++)
        status = poison(&command_buffer->passes[i], begun);
    return status;
}

/* ---- Order ---- */

size_t race_order(const struct glcnn_command_buffer *command_buffer, size_t index)
{
    const struct pass *passes = command_buffer->passes;
    size_t first = index, end = index + 1;
    if (!(command_buffer->device->checks & DEBUG_RACE))
        return index;
    while (first > 0 && passes_share_level(&passes[first - 1], &passes[index]))
        first--;
    while (end < command_buffer->pass_count && passes_share_level(&passes[index], &passes[end]))
        end++;
    return first + end - 1 - index;
}
