/* The order of a deferred command buffer's passes. Those that use nothing which another one writes
 * share a dependency level: before the first pass of a level are the barriers that all of the level
 * needs (hazards.c), between its passes there is none, and a GPU that has room runs them at the same
 * time. A network's step has many: the gradients of a layer's weights and of its source, branches,
 * averages.
 *
 * A pass goes into the first level behind all that it depends on, so each level has one that waits for
 * the level before. Within a level passes keep the order in which they were recorded.
 *
 * An image that is made earlier than it was recorded lives longer. Where that would take more than a
 * limit the pass waits for a later level. One behind all others never has more to live than the
 * passes as they were recorded: whatever the limit, the most that lives is the limit or theirs. So it
 * is with workspace, which lies in other memory: under a limit it takes as much as it did, and images
 * the rest. */
#include <stdlib.h>
#include <string.h>

#include "record/command_buffer.h"

/* Bytes that live, in textures and in buffers. */
enum memory { IMAGES, VECTORS, MEMORIES };

/* The last levels that wrote and that read something; 0: none did, levels count from 1. */
struct use {
    const void *object;
    uint32_t written, read;
    uint64_t size; /* bytes of what is to be placed, or 0 */
    enum memory memory;
    uint32_t coming; /* bindings of it by passes that have no level yet */
    bool lives;      /* a pass that has a level uses it */
};

struct ordering {
    struct use *uses;
    size_t use_count;
    uint32_t refreshed; /* the last level of a pass that moves with every step */
    uint32_t levels;    /* so far */
    uint32_t least;     /* the first level for passes behind one that a commit may end with */
    uint64_t limits[MEMORIES];
    uint64_t (*live)[MEMORIES]; /* by level */
    uint64_t held[MEMORIES];    /* of what lives and is yet to be used */
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

static void wait_for(struct ordering *o, const void *object, bool writes, uint32_t *level)
{
    const struct use *use = use_of(o, object);
    uint32_t last = writes && use->read > use->written ? use->read : use->written;
    *level = last >= *level ? last + 1 : *level;
}

static void mark(struct ordering *o, const void *object, bool writes, uint32_t level)
{
    struct use *use = use_of(o, object);
    uint32_t *last = writes ? &use->written : &use->read;
    *last = level > *last ? level : *last;
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

/* ---- Levels ---- */

/* Passes whose uniforms move with every step keep their order: a kernel counts its steps. One that a
 * commit may end with is in the last level of all before it, and none behind it is. */
static uint32_t level_of(struct ordering *o, const struct pass *pass)
{
    uint32_t level = pass->refresh && o->refreshed ? o->refreshed : 1;
    level = level < o->least ? o->least : level;
    level = pass->issue.ends_short && level < o->levels ? o->levels : level;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        wait_for(o, storage_owner(pass->textures[i].view.storage), false, &level);
    for (uint32_t i = 0; i < pass->image_count; i++)
        wait_for(o, storage_owner(pass->images[i].view.storage), true, &level);
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        bool writes = pass->buffers[i].access & VECTOR_WRITE;
        if (!buffer)
            continue;
        wait_for(o, buffer, writes, &level);
        wait_for(o, beside(buffer), writes, &level);
    }
    return level;
}

static void mark_uses(struct ordering *o, const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->texture_count; i++)
        mark(o, storage_owner(pass->textures[i].view.storage), false, pass->issue.level);
    for (uint32_t i = 0; i < pass->image_count; i++)
        mark(o, storage_owner(pass->images[i].view.storage), true, pass->issue.level);
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        bool writes = pass->buffers[i].access & VECTOR_WRITE;
        if (!buffer)
            continue;
        mark(o, buffer, writes, pass->issue.level);
        mark(o, marked(buffer), writes, pass->issue.level);
    }
    if (pass->refresh)
        o->refreshed = pass->issue.level;
    if (pass->issue.ends_short)
        o->least = pass->issue.level + 1;
}

/* ---- What lives ---- */

static uint32_t binding_count(const struct pass *pass)
{
    return pass->texture_count + pass->image_count + pass->buffer_count;
}

static struct use *use_of_storage(struct ordering *o, struct storage *storage)
{
    struct use *use = use_of(o, storage_owner(storage));
    use->size = command_buffer_places(storage) ? storage_size(storage) : 0;
    return use;
}

static struct use *use_of_buffer(struct ordering *o, const struct glcnn_buffer *buffer)
{
    struct use *use = use_of(o, buffer);
    use->size = buffer && buffer_wants_place(buffer) ? buffer->size : 0;
    use->memory = VECTORS;
    return use;
}

static struct use *binding(struct ordering *o, const struct pass *pass, uint32_t i)
{
    if (i < pass->texture_count)
        return use_of_storage(o, pass->textures[i].view.storage);
    i -= pass->texture_count;
    return i < pass->image_count
               ? use_of_storage(o, pass->images[i].view.storage)
               : use_of_buffer(o, pass->buffers[i - pass->image_count].view.buffer);
}

static void count_bindings(struct ordering *o, const struct glcnn_command_buffer *buffer)
{
    for (size_t p = 0; p < buffer->pass_count; p++)
        for (uint32_t i = 0; i < binding_count(&buffer->passes[p]); i++)
            binding(o, &buffer->passes[p], i)->coming++;
}

/* Bytes that come to live with the pass. */
static void begin_lives(struct ordering *o, const struct pass *pass, uint64_t bytes[MEMORIES])
{
    for (uint32_t i = 0; i < binding_count(pass); i++) {
        struct use *use = binding(o, pass, i);
        bytes[use->memory] += use->lives ? 0 : use->size;
        use->lives = true;
    }
}

/* What nothing uses behind the pass is not there in the levels behind its last. */
static void end_lives(struct ordering *o, const struct pass *pass)
{
    for (uint32_t i = 0; i < binding_count(pass); i++) {
        struct use *use = binding(o, pass, i);
        if (--use->coming)
            continue;
        o->held[use->memory] -= use->size;
        for (uint32_t w = (use->written > use->read ? use->written : use->read) + 1; w <= o->levels;
             w++)
            o->live[w][use->memory] -= use->size;
    }
}

/* The first level from `level` on such that it and all behind it have room for so many bytes. */
static uint32_t level_with_room(const struct ordering *o, uint32_t level, enum memory memory,
                                uint64_t bytes)
{
    uint64_t limit = o->limits[memory];
    for (uint32_t w = level; bytes && w <= o->levels; w++)
        if (bytes > limit || o->live[w][memory] > limit - bytes)
            level = w + 1;
    return level;
}

static uint32_t level_for(struct ordering *o, const struct pass *pass,
                          const uint64_t bytes[MEMORIES])
{
    uint32_t level = level_of(o, pass);
    for (int m = 0; m < MEMORIES; m++)
        level = level_with_room(o, level, (enum memory)m, bytes[m]);
    return level;
}

static void add(uint64_t to[MEMORIES], const uint64_t bytes[MEMORIES])
{
    for (int m = 0; m < MEMORIES; m++)
        to[m] += bytes[m];
}

static void find_levels(struct ordering *o, struct glcnn_command_buffer *buffer)
{
    count_bindings(o, buffer);
    for (size_t i = 0; i < buffer->pass_count; i++) {
        struct pass *pass = &buffer->passes[i];
        uint64_t bytes[MEMORIES] = {0};
        begin_lives(o, pass, bytes);
        pass->issue.level = level_for(o, pass, bytes);
        if (pass->issue.level > o->levels)
            memcpy(o->live[o->levels = pass->issue.level], o->held, sizeof o->held);
        for (uint32_t w = pass->issue.level; w <= o->levels; w++)
            add(o->live[w], bytes);
        add(o->held, bytes);
        mark_uses(o, pass);
        end_lives(o, pass);
    }
}

/* ---- All of it ---- */

/* Observers see an encode's passes one behind the other, and a callback wants all before its pass
 * done. */
static bool is_observed(const struct glcnn_command_buffer *buffer)
{
    for (size_t i = 0; i < buffer->pass_count; i++)
        if (buffer->passes[i].debug.observer || buffer->passes[i].issue.callback)
            return true;
    return false;
}

static void sort(struct glcnn_command_buffer *buffer, struct pass *sorted, uint32_t levels)
{
    size_t count = 0;
    for (uint32_t level = 1; level <= levels; level++)
        for (size_t i = 0; i < buffer->pass_count; i++)
            if (buffer->passes[i].issue.level == level)
                sorted[count++] = buffer->passes[i];
    free(buffer->passes);
    buffer->passes = sorted;
    buffer->pass_capacity = count;
}

static void set_limits(struct ordering *o, const struct glcnn_command_buffer *buffer,
                       uint64_t limit)
{
    uint64_t workspace = buffer->workspace_size;
    o->limits[VECTORS] = limit == UINT64_MAX ? limit : workspace;
    o->limits[IMAGES] = limit == UINT64_MAX ? limit : limit > workspace ? limit - workspace : 0;
}

glcnn_status command_buffer_order(struct glcnn_command_buffer *command_buffer, uint64_t limit)
{
    size_t count = command_buffer->pass_count;
    if (!count || is_observed(command_buffer))
        return GLCNN_SUCCESS;
    struct ordering o = {
        .uses = calloc(count * (PASS_TEXTURES + PASS_IMAGES + 3 * PASS_BUFFERS), sizeof *o.uses),
        .live = calloc(count + 1, sizeof *o.live)};
    struct pass *sorted = malloc(count * sizeof *sorted);
    if (!o.uses || !o.live || !sorted) {
        free(o.uses);
        free(o.live);
        free(sorted);
        return device_fail(command_buffer->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory ordering passes");
    }
    set_limits(&o, command_buffer, limit);
    find_levels(&o, command_buffer);
    sort(command_buffer, sorted, o.levels);
    free(o.uses);
    free(o.live);
    return GLCNN_SUCCESS;
}
