/* Workspace of a deferred command buffer: vectors that live within an encode are sub-allocated from a
 * few buffers, those in one place whose lifetimes do not meet. A vector is an item of the placement of
 * textures (placement.h), a column of cells. */
#include <stdlib.h>

#include "record/command_buffer.h"
#include "record/placement.h"

#define CELL 256 /* bytes: a multiple of what any device wants an offset to be one of */

struct workspace_placement {
    struct glcnn_buffer **vectors;
    struct placement placement;
    bool *conflicts; /* none does: passes may use vectors of one buffer */
};

/* Passes are taken in order, so the last one to use a vector is the one at hand. `time`: its place,
 * or that of its level. */
static void enter(struct workspace_placement *l, struct glcnn_buffer *buffer, uint32_t time)
{
    struct placement *p = &l->placement;
    if (!buffer || !buffer_wants_place(buffer))
        return;
    size_t index = buffer->item;
    if (index >= p->item_count || l->vectors[index] != buffer) {
        index = buffer->item = p->item_count++;
        l->vectors[index] = buffer;
        p->items[index] = (struct placement_item){.width = 1,
                                                  .height = 1,
                                                  .layers = (uint32_t)(buffer->size / CELL),
                                                  .texel_size = CELL,
                                                  .own_across = 1,
                                                  .own_down = 1,
                                                  .first = time};
    }
    p->items[index].last = time;
}

static bool make_placement(struct workspace_placement *l, const struct glcnn_command_buffer *buffer)
{
    size_t most = buffer->pass_count * PASS_BUFFERS + 1;
    l->vectors = calloc(most, sizeof(*l->vectors));
    l->placement.items = calloc(most, sizeof *l->placement.items);
    if (!l->vectors || !l->placement.items)
        return false;
    for (uint32_t p = 0; p < buffer->pass_count; p++) {
        const struct pass *pass = &buffer->passes[p];
        for (uint32_t i = 0; i < pass->buffer_count; i++)
            enter(l, pass->buffers[i].view.buffer, pass->issue.level ? pass->issue.level : p);
    }
    size_t n = l->placement.item_count;
    l->conflicts = calloc(n * n + 1, sizeof *l->conflicts);
    l->placement.textures = calloc(n + 1, sizeof *l->placement.textures);
    l->placement.conflicts = l->conflicts;
    return l->conflicts && l->placement.textures && placement_solve(&l->placement);
}

static void free_placement(struct workspace_placement *l)
{
    free(l->vectors);
    free(l->placement.items);
    free(l->placement.textures);
    free(l->conflicts);
}

static glcnn_status suballocate(struct glcnn_device *device, const struct workspace_placement *l)
{
    const struct placement *p = &l->placement;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t t = 0; t < p->texture_count && status == GLCNN_SUCCESS; t++) {
        struct glcnn_buffer *whole = NULL;
        status = buffer_create_unallocated(device, (size_t)p->textures[t].layers * CELL, &whole);
        for (size_t i = 0; i < p->item_count && status == GLCNN_SUCCESS; i++)
            if (p->items[i].texture == t)
                buffer_suballocate(l->vectors[i], whole, (size_t)p->items[i].cell * CELL);
        glcnn_buffer_destroy(&whole);
    }
    return status;
}

glcnn_status command_buffer_create_workspace(struct glcnn_command_buffer *command_buffer,
                                             size_t size, struct glcnn_buffer **buffer)
{
    return buffer_create_unallocated(command_buffer->device, (size + CELL - 1) / CELL * CELL,
                                     buffer);
}

glcnn_status command_buffer_place_workspace(struct glcnn_command_buffer *command_buffer,
                                            struct command_memory *memory)
{
    struct workspace_placement l = {0};
    glcnn_status status = make_placement(&l, command_buffer)
                              ? suballocate(command_buffer->device, &l)
                              : device_fail(command_buffer->device, GLCNN_OUT_OF_MEMORY,
                                            "out of memory planning vectors");
    if (status == GLCNN_SUCCESS) {
        memory->planned += placement_size(&l.placement);
        memory->without_sharing += placement_size_without_sharing(&l.placement);
        memory->lower_bound += l.placement.lower_bound;
    }
    free_placement(&l);
    return status;
}

glcnn_status command_buffer_allocate_workspace(struct glcnn_command_buffer *command_buffer)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t p = 0; p < command_buffer->pass_count; p++) {
        const struct pass *pass = &command_buffer->passes[p];
        for (uint32_t i = 0; i < pass->buffer_count && status == GLCNN_SUCCESS; i++) {
            struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
            if (buffer && buffer->within && buffer_is_unallocated(buffer->within))
                status = buffer_allocate(buffer->within);
        }
    }
    return status;
}
