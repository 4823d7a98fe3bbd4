/* The order of a planned command buffer's passes. Those that use nothing which another one writes
 * stand beside each other, in waves: between two waves is a barrier, within one there is none, and
 * a GPU that has room runs its passes at the same time. A network's step has many: the gradients of
 * a layer's weights and of its source, branches, averages.
 *
 * A pass goes into the first wave behind all that it depends on, so each wave has one that waits for
 * the wave before. Within a wave passes keep the order in which they were recorded. */
#include <stdlib.h>
#include <string.h>

#include "record/command_buffer.h"

/* The last waves that wrote and that read something; 0: none did, waves count from 1. */
struct use {
    const void *object;
    uint32_t written, read;
};

struct ordering {
    struct use *uses;
    size_t use_count;
    uint32_t refreshed; /* the last wave of a pass that moves with every step */
};

/* ---- What passes use ---- */

static struct use *use_of(struct ordering *o, const void *object)
{
    size_t i = 0;
    while (i < o->use_count && o->uses[i].object != object)
        i++;
    if (i == o->use_count)
        o->uses[o->use_count++] = (struct use){.object = object};
    return &o->uses[i];
}

static void wait_for(struct ordering *o, const void *object, bool writes, uint32_t *wave)
{
    const struct use *use = use_of(o, object);
    uint32_t last = writes && use->read > use->written ? use->read : use->written;
    *wave = last >= *wave ? last + 1 : *wave;
}

static void mark(struct ordering *o, const void *object, bool writes, uint32_t wave)
{
    struct use *use = use_of(o, object);
    uint32_t *last = writes ? &use->written : &use->read;
    *last = wave > *last ? wave : *last;
}

/* A buffer that lies within another is used with it, and a whole with all that lie in it. */
static const void *beside(const struct glcnn_buffer *buffer)
{
    return buffer->within ? (const void *)buffer->within : &buffer->parts;
}

static const void *marked(const struct glcnn_buffer *buffer)
{
    return buffer->within ? &buffer->within->parts : (const void *)buffer;
}

/* ---- Waves ---- */

/* A pass that moves with every step does so in its place among those that do. */
static uint32_t wave_of(struct ordering *o, const struct pass *pass)
{
    uint32_t wave = pass->refresh && o->refreshed ? o->refreshed : 1;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        wait_for(o, storage_owner(pass->textures[i].view.storage), false, &wave);
    for (uint32_t i = 0; i < pass->image_count; i++)
        wait_for(o, storage_owner(pass->images[i].view.storage), true, &wave);
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        bool writes = pass->buffers[i].access & VECTOR_WRITE;
        if (!buffer)
            continue;
        wait_for(o, buffer, writes, &wave);
        wait_for(o, beside(buffer), writes, &wave);
    }
    return wave;
}

static void mark_uses(struct ordering *o, const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->texture_count; i++)
        mark(o, storage_owner(pass->textures[i].view.storage), false, pass->wave);
    for (uint32_t i = 0; i < pass->image_count; i++)
        mark(o, storage_owner(pass->images[i].view.storage), true, pass->wave);
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        bool writes = pass->buffers[i].access & VECTOR_WRITE;
        if (!buffer)
            continue;
        mark(o, buffer, writes, pass->wave);
        mark(o, marked(buffer), writes, pass->wave);
    }
    if (pass->refresh)
        o->refreshed = pass->wave;
}

/* Gives passes their waves; returns how many there are. */
static uint32_t find_waves(struct ordering *o, struct glcnn_command_buffer *buffer)
{
    uint32_t most = 0;
    for (size_t i = 0; i < buffer->pass_count; i++) {
        struct pass *pass = &buffer->passes[i];
        pass->wave = wave_of(o, pass);
        mark_uses(o, pass);
        most = pass->wave > most ? pass->wave : most;
    }
    return most;
}

/* ---- All of it ---- */

/* An encode's passes are looked at in a row, and what follows a pass wants all before it done. */
static bool is_observed(const struct glcnn_command_buffer *buffer)
{
    for (size_t i = 0; i < buffer->pass_count; i++)
        if (buffer->passes[i].observer || buffer->passes[i].follower)
            return true;
    return false;
}

static void sort(struct glcnn_command_buffer *buffer, struct pass *sorted, uint32_t waves)
{
    size_t count = 0;
    for (uint32_t wave = 1; wave <= waves; wave++)
        for (size_t i = 0; i < buffer->pass_count; i++)
            if (buffer->passes[i].wave == wave)
                sorted[count++] = buffer->passes[i];
    free(buffer->passes);
    buffer->passes = sorted;
    buffer->pass_capacity = count;
}

glcnn_status command_buffer_order(struct glcnn_command_buffer *command_buffer)
{
    size_t count = command_buffer->pass_count;
    if (!count || is_observed(command_buffer))
        return GLCNN_SUCCESS;
    struct ordering o = {
        .uses = calloc(count * (PASS_TEXTURES + PASS_IMAGES + 3 * PASS_BUFFERS), sizeof *o.uses)};
    struct pass *sorted = malloc(count * sizeof *sorted);
    if (!o.uses || !sorted) {
        free(o.uses);
        free(sorted);
        return device_fail(command_buffer->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory ordering passes");
    }
    sort(command_buffer, sorted, find_waves(&o, command_buffer));
    free(o.uses);
    return GLCNN_SUCCESS;
}
