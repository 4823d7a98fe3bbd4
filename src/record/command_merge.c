/* Passes that a deferred command buffer merges into one. A GPU takes some microseconds for a pass, and a
 * network has one for the weights of each layer, forward and backward, which takes less than that.
 *
 * What such a pass makes of vectors it can make before all others, if none of these writes the
 * vectors. Those whose vectors lie in one memory become rows of a table, and a single pass goes over
 * all of it. Their images, each a storage of its own, are put into a few textures by their height, and
 * vectors of workspace that they write, one each, into one buffer, which live as long as the command
 * buffer. What read an image or a vector reads it there. */
#include <stdlib.h>
#include <string.h>

#include "record/command_buffer.h"
#include "record/placement.h"
#include "record/uniforms.h"

/* Of an image: a longer pass is worth its own. Merged passes store by way of all textures, which
 * costs more than a short pass where image stores are slow. */
#define MOST_TEXELS      65536u
#define MOST_SLOW_TEXELS 256u

#define ROW_VECTORS 2 /* that a pass reads at most */
#define ROW_HEAD    2 /* words: the first invocation, the texture or the place in the buffer */
#define ROW_WORDS   (ROW_HEAD + PASS_VIEW_WORDS + ROW_VECTORS + PASS_ENTRY_WORDS)

static const char *const texture_names[PASS_IMAGES] = {"joined_0", "joined_1", "joined_2",
                                                       "joined_3"};
/* The highest image of each texture. */
static const uint32_t heights[PASS_IMAGES] = {1, 8, 32, UINT32_MAX};

/* A texture of the images of many passes. */
struct merged_texture {
    uint32_t width, height, layers;
    struct storage *storage;
};

/* Passes on their way into one. */
struct merging {
    struct glcnn_command_buffer *buffer;
    const char *shader;
    struct glcnn_buffer *memory; /* that all their vectors lie in */
    size_t *passes;              /* indices; NULL until it is known that there are some */
    size_t count;
    const struct pass_buffer *like; /* the vector that the first of them writes; NULL: an image */
    struct merged_texture textures[PASS_IMAGES];
    struct glcnn_buffer *vectors; /* of all vectors that are written */
    size_t size;                  /* bytes */
    uint32_t invocations;
    int32_t *rows;
};

/* ---- Which passes ---- */

/* The vector that the pass writes, its last; NULL: it stores an image. */
static const struct pass_buffer *vector_of(const struct pass *pass)
{
    const struct pass_buffer *last = pass->buffers + pass->buffer_count - 1;
    return !pass->image_count && pass->buffer_count && last->access == VECTOR_WRITE ? last : NULL;
}

static uint32_t vectors_read(const struct pass *pass)
{
    return pass->buffer_count - (vector_of(pass) ? 1 : 0);
}

/* NULL: they lie in several. */
static struct glcnn_buffer *shared_memory(const struct pass *pass)
{
    struct glcnn_buffer *memory = NULL;
    for (uint32_t i = 0; i < vectors_read(pass); i++) {
        const struct pass_buffer *item = &pass->buffers[i];
        if (!item->view.buffer || !item->view.buffer->within || item->access != VECTOR_READ)
            return NULL;
        if (memory && memory != item->view.buffer->within)
            return NULL;
        memory = item->view.buffer->within;
    }
    return memory;
}

static bool is_short(const struct image_view *view)
{
    bool slow = view->storage->device->info.traits.slow_image_stores;
    return (uint64_t)view->width * view->height * view->storage->layers <=
           (slow ? MOST_SLOW_TEXELS : MOST_TEXELS);
}

static bool image_can_move(const struct pass *pass)
{
    const struct image_view *view = &pass->images[0].view;
    return pass->image_count == 1 && !view->storage->within && !view->storage->texture &&
           view->first_layer == 0 && is_short(view);
}

static size_t vector_size(const struct pass_buffer *vector)
{
    return buffer_merged_size((struct glcnn_buffer *const[]){vector->view.buffer}, 1);
}

static bool vector_can_move(const struct pass *pass)
{
    const struct pass_buffer *vector = vector_of(pass);
    return vector && vector->view.buffer && buffer_wants_place(vector->view.buffer) &&
           vector_size(vector) / 16 <= MOST_TEXELS;
}

static bool can_be_row(const struct pass *pass)
{
    return pass->entry.shader && !pass->debug.observer && !pass->issue.callback &&
           !pass->texture_count && vectors_read(pass) <= ROW_VECTORS &&
           (image_can_move(pass) || vector_can_move(pass));
}

static bool writes(const struct pass *pass, const struct glcnn_buffer *memory)
{
    for (uint32_t i = 0; i < pass->buffer_count; i++) {
        const struct glcnn_buffer *buffer = pass->buffers[i].view.buffer;
        if (buffer && pass->buffers[i].access & VECTOR_WRITE &&
            (buffer == memory || buffer->within == memory))
            return true;
    }
    return false;
}

static bool has_place_for(const struct merging *j, const struct pass *pass)
{
    return can_be_row(pass) && strcmp(pass->entry.shader, j->shader) == 0 &&
           shared_memory(pass) == j->memory && !vector_of(pass) == !j->like;
}

/* From pass `first` on, until one writes the vectors. */
static void list_passes(struct merging *j, size_t first)
{
    const struct glcnn_command_buffer *buffer = j->buffer;
    for (size_t i = 0; i < buffer->pass_count && !writes(&buffer->passes[i], j->memory); i++)
        if (i >= first && has_place_for(j, &buffer->passes[i]))
            j->passes[j->count++] = i;
}

/* ---- Where their images lie ---- */

static const struct image_view *image_of(const struct merging *j, size_t index)
{
    return &j->buffer->passes[j->passes[index]].images[0].view;
}

static uint32_t texture_for(const struct image_view *view)
{
    uint32_t i = 0;
    while (view->height > heights[i])
        i++;
    return i;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* One of a texel where it has no image: the pass stores into all, so that one program serves networks
 * and batches of all sizes. */
static glcnn_status make_texture(struct merging *j, struct merged_texture *texture)
{
    glcnn_status status =
        storage_create(j->buffer->device, larger(texture->width, 1), larger(texture->height, 1),
                       larger(texture->layers, 1), GLCNN_CHANNEL_FORMAT_FLOAT32, &texture->storage);
    if (status == GLCNN_SUCCESS) {
        texture->storage->clear = false;
        texture->storage->transient = true;
        texture->storage->holds =
            true; /* none is placed in another texture, that of a texel neither */
    }
    return status;
}

/* Layers of the texture that the image takes. */
static uint32_t cells_of(const struct merged_texture *texture, const struct image_view *view,
                         uint32_t *across, uint32_t *down)
{
    *across = placement_power_within(texture->width / view->width);
    *down = placement_power_within(texture->height / view->height);
    return groups_of(view->storage->layers, *across * *down);
}

/* False: they take more than a storage block. */
static bool measure_vectors(struct merging *j)
{
    for (size_t i = 0; i < j->count; i++)
        j->size += vector_size(vector_of(&j->buffer->passes[j->passes[i]]));
    return j->size <= j->buffer->device->info.limits.storage_block_size;
}

/* False: they take more layers than a texture has. */
static bool measure(struct merging *j)
{
    uint32_t across, down;
    for (size_t i = 0; i < j->count; i++) {
        const struct image_view *view = image_of(j, i);
        struct merged_texture *texture = &j->textures[texture_for(view)];
        texture->width = larger(texture->width, view->width);
        texture->height = larger(texture->height, view->height);
    }
    for (size_t i = 0; i < j->count; i++) {
        struct merged_texture *texture = &j->textures[texture_for(image_of(j, i))];
        texture->layers += cells_of(texture, image_of(j, i), &across, &down);
        if (texture->layers > j->buffer->device->info.limits.array_layers)
            return false;
    }
    return true;
}

static glcnn_status make_textures(struct merging *j)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < PASS_IMAGES && status == GLCNN_SUCCESS; i++)
        status = make_texture(j, &j->textures[i]);
    return status;
}

static void place_images(struct merging *j)
{
    uint32_t used[PASS_IMAGES] = {0}, across, down;
    for (size_t i = 0; i < j->count; i++) {
        const struct image_view *view = image_of(j, i);
        uint32_t at = texture_for(view);
        const struct merged_texture *texture = &j->textures[at];
        uint32_t cells = cells_of(texture, view, &across, &down);
        storage_place(view->storage, texture->storage, used[at], across, down);
        used[at] += cells;
    }
}

static void place_vectors(struct merging *j)
{
    size_t offset = 0;
    for (size_t i = 0; i < j->count; i++) {
        const struct pass_buffer *vector = vector_of(&j->buffer->passes[j->passes[i]]);
        buffer_put_within(vector->view.buffer, j->vectors, offset);
        offset += vector_size(vector);
    }
}

/* ---- The table ---- */

/* Where the pass stores. Returns how many invocations do. */
static uint32_t write_place(const struct pass *pass, int32_t *row)
{
    const struct pass_buffer *vector = vector_of(pass);
    const struct image_view *view = &pass->images[0].view;
    if (vector) {
        row[1] = (int32_t)(vector->view.buffer->offset / 16);
        return pass->grid[0] * pass->grid[1] * pass->grid[2];
    }
    row[1] = (int32_t)texture_for(view);
    uniforms_of_view(view, (uint32_t *)row + ROW_HEAD);
    return view->width * view->height * view->storage->layers;
}

static void write_row(struct merging *j, size_t index)
{
    const struct pass *pass = &j->buffer->passes[j->passes[index]];
    int32_t *row = j->rows + index * ROW_WORDS;
    int32_t *vectors = row + ROW_HEAD + PASS_VIEW_WORDS;
    row[0] = (int32_t)j->invocations;
    j->invocations += write_place(pass, row);
    for (uint32_t i = 0; i < ROW_VECTORS; i++) {
        const struct vector_view *vector = &pass->buffers[i].view;
        vectors[i] =
            i < vectors_read(pass) ? (int32_t)(vector->buffer->offset / 4 + vector->offset) : -1;
    }
    memcpy(vectors + ROW_VECTORS, pass->entry.words, pass->entry.count * sizeof *row);
}

static struct vector_view plan_rows(struct plan *plan, struct merging *j)
{
    for (size_t i = 0; i < j->count; i++)
        write_row(j, i);
    return plan_table(plan, j->rows, j->count * ROW_WORDS);
}

/* ---- The pass ---- */

static void describe_images(struct merging *j, struct pass *pass)
{
    for (uint32_t i = 0; i < PASS_IMAGES; i++) {
        const struct storage *storage = j->textures[i].storage;
        pass_image(pass, texture_names[i],
                   &(struct image_view){.storage = j->textures[i].storage,
                                        .layer_stride = 1,
                                        .width = storage->width,
                                        .height = storage->height,
                                        .channels = 4,
                                        .images = storage->layers});
    }
}

/* Of the passes' type. */
static void describe_vector(struct merging *j, struct pass *pass)
{
    const struct vector_view vectors = {.buffer = j->vectors, .count = j->size / 4};
    pass_vector_of(pass, j->like->type, "joined", &vectors, VECTOR_WRITE);
    pass_define(pass, "JOINED_VECTOR", 1);
}

static void describe(struct merging *j, struct pass *pass, const struct vector_view *table)
{
    const struct vector_view memory = {j->memory, 0, j->memory->size / 4};
    if (j->like)
        describe_vector(j, pass);
    else
        describe_images(j, pass);
    pass_vector_of(pass, "int", "rows", table, VECTOR_READ);
    pass_vector(pass, "vectors", &memory, VECTOR_READ);
    pass_define(pass, "ROW_WORDS", ROW_WORDS);
    pass_define(pass, "ROW_ENTRY", ROW_WORDS - PASS_ENTRY_WORDS);
    pass_int(pass, "row_count", (int32_t)j->count);
    pass_grid(pass, j->invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
}

/* The last pass becomes the first, and those that it stands for go. */
static void replace_passes(struct merging *j)
{
    struct glcnn_command_buffer *buffer = j->buffer;
    struct pass last = buffer->passes[buffer->pass_count - 1];
    size_t kept = buffer->pass_count - 1;
    for (size_t i = buffer->pass_count - 1, next = j->count; i-- > 0;) {
        if (next && j->passes[next - 1] == i)
            next--;
        else
            buffer->passes[kept--] = buffer->passes[i];
    }
    buffer->passes[kept] = last;
    buffer->pass_count -= kept;
    memmove(buffer->passes, buffer->passes + kept, buffer->pass_count * sizeof last);
}

static glcnn_status record(struct merging *j)
{
    struct plan plan;
    plan_begin(&plan, j->buffer);
    struct vector_view rows = plan_rows(&plan, j);
    describe(j, plan_pass(&plan, j->shader), &rows);
    glcnn_status status = plan_end(&plan);
    if (status == GLCNN_SUCCESS)
        replace_passes(j);
    return status;
}

/* ---- All of it ---- */

static void release(struct merging *j)
{
    for (uint32_t i = 0; i < PASS_IMAGES; i++)
        if (j->textures[i].storage)
            storage_release(j->textures[i].storage);
    glcnn_buffer_destroy(&j->vectors);
    free(j->passes);
    free(j->rows);
}

static glcnn_status merge_vectors(struct merging *j)
{
    glcnn_status status = buffer_create_unallocated(j->buffer->device, j->size, &j->vectors);
    if (status != GLCNN_SUCCESS)
        return status;
    place_vectors(j);
    j->buffer->held_size += j->size;
    return record(j);
}

static glcnn_status merge_images(struct merging *j)
{
    glcnn_status status = make_textures(j);
    if (status != GLCNN_SUCCESS)
        return status;
    place_images(j);
    for (uint32_t i = 0; i < PASS_IMAGES; i++)
        j->buffer->held_size += storage_size(j->textures[i].storage);
    return record(j);
}

/* The pass and all behind it that can be merged with it. A single one goes the same way, since how many
 * there are depends on the batch. */
static glcnn_status merge_from(struct glcnn_command_buffer *buffer, size_t first)
{
    struct merging j = {.buffer = buffer,
                        .shader = buffer->passes[first].entry.shader,
                        .memory = shared_memory(&buffer->passes[first]),
                        .like = vector_of(&buffer->passes[first]),
                        .passes = calloc(buffer->pass_count, sizeof(size_t)),
                        .rows = calloc(buffer->pass_count * ROW_WORDS, sizeof(int32_t))};
    glcnn_status status = GLCNN_SUCCESS;
    if (!j.passes || !j.rows)
        status = device_fail(buffer->device, GLCNN_OUT_OF_MEMORY, "out of memory recording passes");
    else
        list_passes(&j, first);
    if (status == GLCNN_SUCCESS && j.count > 0 && (j.like ? measure_vectors(&j) : measure(&j)))
        status = j.like ? merge_vectors(&j) : merge_images(&j);
    release(&j);
    return status;
}

/* All textures, the table and the vectors. */
static bool can_bind_all(const struct glcnn_device *device)
{
    return device->info.limits.output_resources >= PASS_IMAGES + 2;
}

glcnn_status command_buffer_merge(struct glcnn_command_buffer *command_buffer)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (!can_bind_all(command_buffer->device))
        return status;
    for (size_t i = 0; i < command_buffer->pass_count && status == GLCNN_SUCCESS; i++) {
        const struct pass *pass = &command_buffer->passes[i];
        if (can_be_row(pass) && shared_memory(pass))
            status = merge_from(command_buffer, i);
    }
    return status;
}
