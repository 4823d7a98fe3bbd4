/* Planned command buffers: textures for temporary images, chosen once everything is recorded. */
#include <stdlib.h>
#include <string.h>

#include "record/command_buffer.h"
#include "record/placement.h"
#include "record/program.h"
#include "record/stores.h"

/* What is collected from the passes: the storages to place, in the order of their first use. */
struct collection {
    struct storage **storages;
    struct placement placement;
    bool *together;
    size_t capacity;
};

bool command_buffer_places(const struct storage *storage)
{
    return !storage->clear && !storage->texture && !storage->within && !storage->holds;
}

/* Index of a storage; the number of items if it is not there. */
static size_t find(const struct collection *c, const struct storage *storage)
{
    size_t index = storage->item, count = c->placement.item_count;
    return index < count && c->storages[index] == storage ? index : count;
}

/* Passes are taken in order, so the last one to use a storage is the one at hand. `time`: its
 * place, or that of its level. */
static void enter(struct collection *c, struct storage *storage, uint32_t time)
{
    if (!command_buffer_places(storage))
        return;
    size_t index = find(c, storage);
    if (index == c->placement.item_count) {
        storage->item = index;
        c->storages[c->placement.item_count++] = storage;
        c->placement.items[index] =
            (struct placement_item){.width = storage->width,
                                    .height = storage->height,
                                    .layers = storage->layers,
                                    .own_across = storage->across,
                                    .own_down = storage->down,
                                    .texel_size = texel_of(storage->format)->size,
                                    .first = time};
    }
    c->placement.items[index].last = time;
}

static struct storage *storage_of(const struct pass *pass, uint32_t i)
{
    return i < pass->texture_count ? pass->textures[i].view.storage
                                   : pass->images[i - pass->texture_count].view.storage;
}

static void collect(struct collection *c, const struct glcnn_command_buffer *buffer)
{
    for (uint32_t p = 0; p < buffer->pass_count; p++) {
        const struct pass *pass = &buffer->passes[p];
        for (uint32_t i = 0; i < pass->texture_count + pass->image_count; i++)
            enter(c, storage_of(pass, i), pass->issue.level ? pass->issue.level : p);
    }
}

static void mark_together(struct collection *c, const struct storage *a, const struct storage *b)
{
    size_t n = c->placement.item_count, i = find(c, a), j = find(c, b);
    if (i != j && i < n && j < n)
        c->together[i * n + j] = c->together[j * n + i] = true;
}

/* Storages of which one is written by `pass` and one is used by `other`. */
static void mark_written(struct collection *c, const struct pass *pass, const struct pass *other)
{
    for (uint32_t i = 0; i < pass->image_count; i++)
        for (uint32_t k = 0; k < other->texture_count + other->image_count; k++)
            mark_together(c, pass->images[i].view.storage, storage_of(other, k));
}

/* Two storages of one pass, or of passes beside each other, of which one is written. */
static void find_together(struct collection *c, const struct glcnn_command_buffer *buffer)
{
    const struct pass *end = buffer->passes + buffer->pass_count;
    for (const struct pass *pass = buffer->passes; pass < end; pass++) {
        mark_written(c, pass, pass);
        for (const struct pass *other = pass + 1; other < end && passes_share_level(pass, other);
             other++) {

            mark_written(c, pass, other);
            mark_written(c, other, pass);
        }
    }
}

static bool make_collection(struct collection *c, const struct glcnn_command_buffer *buffer)
{
    size_t most = buffer->pass_count * (PASS_TEXTURES + PASS_IMAGES) + 1;
    c->storages = calloc(most, sizeof *c->storages);
    c->placement.items = calloc(most, sizeof *c->placement.items);
    if (!c->storages || !c->placement.items)
        return false;
    collect(c, buffer);
    size_t n = c->placement.item_count;
    c->together = calloc(n * n + 1, sizeof *c->together);
    c->placement.textures = calloc(n + 1, sizeof *c->placement.textures);
    if (!c->together || !c->placement.textures)
        return false;
    find_together(c, buffer);
    c->placement.together = c->together;
    return true;
}

static void free_collection(struct collection *c)
{
    free(c->storages);
    free(c->placement.items);
    free(c->placement.textures);
    free(c->together);
}

/* Of a texture: what lies in it has texels of one size, and so one format. */
static glcnn_channel_format format_in(const struct collection *c, uint32_t texture)
{
    size_t i = 0;
    while (c->placement.items[i].texture != texture)
        i++;
    return c->storages[i]->format;
}

/* Makes the owner of each texture and puts the storages into it. */
static glcnn_status place_storages(struct glcnn_device *device, const struct collection *c)
{
    const struct placement *p = &c->placement;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t t = 0; t < p->texture_count && status == GLCNN_SUCCESS; t++) {
        const struct placement_texture *texture = &p->textures[t];
        struct storage *owner;
        status = storage_create(device, texture->width, texture->height, texture->layers,
                                format_in(c, t), &owner);
        if (status != GLCNN_SUCCESS)
            break;
        owner->clear = false;
        owner->transient = true;
        for (size_t i = 0; i < p->item_count; i++)
            if (p->items[i].texture == t)
                storage_place(c->storages[i], owner, p->items[i].cell, p->items[i].across,
                              p->items[i].down);
        storage_release(owner);
    }
    return status;
}

static uint64_t texture_bytes(const struct collection *c)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < c->placement.texture_count; t++)
        for (size_t i = 0; i < c->placement.item_count; i++)
            if (c->placement.items[i].texture == t) {
                sum += storage_size(storage_owner(c->storages[i]));
                break;
            }
    return sum;
}

glcnn_status command_buffer_place(struct glcnn_command_buffer *command_buffer,
                                  struct command_memory *memory)
{
    struct collection c = {0};
    glcnn_status status = GLCNN_SUCCESS;
    if (!make_collection(&c, command_buffer) || !placement_solve(&c.placement))
        status = device_fail(command_buffer->device, GLCNN_OUT_OF_MEMORY,
                             "out of memory planning textures");
    if (status == GLCNN_SUCCESS)
        status = place_storages(command_buffer->device, &c);
    if (status == GLCNN_SUCCESS) {
        uint64_t others = command_buffer->held_size +
                          command_buffer_place_uniforms(command_buffer) +
                          stores_size(command_buffer->passes, command_buffer->pass_count);
        *memory = (struct command_memory){others + texture_bytes(&c),
                                          others + placement_size_without_sharing(&c.placement),
                                          others + c.placement.lower_bound};
        status = command_buffer_place_workspace(command_buffer, memory);
    }
    free_collection(&c);
    return status;
}

glcnn_status command_buffer_compile(struct glcnn_command_buffer *command_buffer)
{
    glcnn_status status =
        programs_find(command_buffer->device, command_buffer->passes, command_buffer->pass_count);
    return status == GLCNN_SUCCESS ? command_buffer_allocate_workspace(command_buffer) : status;
}

static void exchange(struct pass_texture *items, uint32_t count, struct storage *a,
                     struct storage *b)
{
    for (uint32_t i = 0; i < count; i++) {
        struct storage **storage = &items[i].view.storage;
        *storage = *storage == a ? b : *storage == b ? a : *storage;
    }
}

void command_buffer_exchange(struct glcnn_command_buffer *command_buffer, struct storage *a,
                             struct storage *b)
{
    for (size_t p = 0; p < command_buffer->pass_count; p++) {
        struct pass *pass = &command_buffer->passes[p];
        exchange(pass->textures, pass->texture_count, a, b);
        exchange(pass->images, pass->image_count, a, b);
    }
}
