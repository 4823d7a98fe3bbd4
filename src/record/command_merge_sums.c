/* Passes of a deferred command buffer that add up partial sums, merged into one. Each adds up those of
 * one layer, which is soon done; a network has one for every layer, and nothing reads what they leave
 * before the layers are updated.
 *
 * So such a pass may wait for the last of them, as long as no pass between uses what it writes. Those
 * whose results lie in one memory become rows of a table, and a single pass goes over all of it. The
 * partial sums of all of them then live until it has run: they lie beside each other in a buffer of
 * their own, which takes no more than a part of what the passes store in images. */
#include <stdlib.h>
#include <string.h>

#include "record/command_buffer.h"

#define IMAGE_PART 8          /* one part in so many of the images' bytes is for partial sums */
#define MOST_BYTES (2u << 20) /* of those of a pass that is merged: a longer one is worth its own */

#define ROW_RESULTS 2 /* vectors that a pass writes at most */
#define ROW_HEAD    2 /* words: the first invocation, where its partial sums begin */
#define ROW_WORDS   (ROW_HEAD + ROW_RESULTS + PASS_ENTRY_WORDS)

/* Passes on their way into one. */
struct merging {
    struct glcnn_command_buffer *buffer;
    const struct pass *like;     /* the first of them */
    struct glcnn_buffer *memory; /* that all their results lie in */
    size_t *passes;              /* indices */
    size_t count;
    size_t size, most;                 /* bytes of the partial sums of all */
    struct glcnn_buffer *partial_sums; /* these */
    uint32_t invocations, work;
    int32_t *rows;
};

/* ---- Which passes ---- */

/* NULL: they lie in several, or by themselves. */
static struct glcnn_buffer *results_memory(const struct pass *pass)
{
    struct glcnn_buffer *memory = NULL;
    for (uint32_t i = 1; i < pass->buffer_count; i++) {
        const struct pass_buffer *item = &pass->buffers[i];
        struct glcnn_buffer *within = item->view.buffer ? item->view.buffer->within : NULL;
        if (!within || item->view.is_part || !(item->access & VECTOR_WRITE) ||
            (memory && memory != within))
            return NULL;
        memory = within;
    }
    return memory;
}

/* In memory with others. */
static size_t partial_sums_size(const struct pass *pass)
{
    return buffer_merged_size((struct glcnn_buffer *const[]){pass->buffers[0].view.buffer}, 1);
}

static bool reads_partial_sums(const struct pass *pass)
{
    const struct pass_buffer *item = &pass->buffers[0];
    return pass->buffer_count > 1 && pass->buffer_count <= 1 + ROW_RESULTS &&
           item->access == VECTOR_READ && item->view.buffer &&
           buffer_wants_place(item->view.buffer);
}

static bool can_be_row(const struct pass *pass)
{
    return pass->entry.shader && !pass->debug.observer && !pass->issue.callback &&
           !pass->image_count && !pass->texture_count && reads_partial_sums(pass) &&
           results_memory(pass);
}

static bool overlap(const struct glcnn_buffer *a, const struct glcnn_buffer *b)
{
    return a && b && (a == b || a->within == b || b->within == a);
}

/* Does one of them write what the other uses? */
static bool conflict(const struct pass *a, const struct pass *b)
{
    for (uint32_t i = 0; i < a->buffer_count; i++)
        for (uint32_t k = 0; k < b->buffer_count; k++)
            if ((a->buffers[i].access | b->buffers[k].access) & VECTOR_WRITE &&
                overlap(a->buffers[i].view.buffer, b->buffers[k].view.buffer))
                return true;
    return false;
}

/* What the processor does behind a pass may use anything. */
static bool must_follow(const struct merging *m, const struct pass *pass)
{
    if (pass->issue.callback)
        return true;
    for (size_t i = 0; i < m->count; i++)
        if (conflict(pass, &m->buffer->passes[m->passes[i]]))
            return true;
    return false;
}

static bool is_alike(const struct merging *m, const struct pass *pass)
{
    return can_be_row(pass) && strcmp(pass->entry.shader, m->like->entry.shader) == 0 &&
           results_memory(pass) == m->memory;
}

/* The first always: a single pass takes the program of many, since how many there are depends on the
 * batch. */
static bool has_place_for(const struct merging *m, const struct pass *pass)
{
    size_t size = partial_sums_size(pass);
    return !m->count || (size <= MOST_BYTES && partial_sums_size(m->like) <= MOST_BYTES &&
                         m->size + size <= m->most);
}

/* From pass `first` on, until one uses what they write. */
static void list_passes(struct merging *m, size_t first)
{
    const struct glcnn_command_buffer *buffer = m->buffer;
    for (size_t i = first; i < buffer->pass_count && !must_follow(m, &buffer->passes[i]); i++) {
        if (!is_alike(m, &buffer->passes[i]) || !has_place_for(m, &buffer->passes[i]))
            continue;
        m->passes[m->count++] = i;
        m->size += partial_sums_size(&buffer->passes[i]);
    }
}

/* ---- The table ---- */

static void write_row(struct merging *m, size_t index, size_t offset)
{
    struct pass *pass = &m->buffer->passes[m->passes[index]];
    int32_t *row = m->rows + index * ROW_WORDS;
    row[0] = (int32_t)m->invocations;
    row[1] = (int32_t)(offset / 16);
    for (uint32_t i = 0; i < ROW_RESULTS; i++) {
        const struct vector_view *vector = &pass->buffers[1 + i].view;
        row[ROW_HEAD + i] = 1 + i < pass->buffer_count
                                ? (int32_t)(vector->buffer->offset / 4 + vector->offset)
                                : -1;
    }
    memcpy(row + ROW_HEAD + ROW_RESULTS, pass->entry.words, pass->entry.count * sizeof *row);
    m->invocations += pass->grid[0] * pass->grid[1] * pass->grid[2];
    m->work = pass->work > m->work ? pass->work : m->work;
}

static void write_rows(struct merging *m)
{
    size_t offset = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct glcnn_buffer *partial_sums = m->buffer->passes[m->passes[i]].buffers[0].view.buffer;
        write_row(m, i, offset);
        if (m->count > 1)
            buffer_put_within(partial_sums, m->partial_sums, offset);
        offset += partial_sums_size(&m->buffer->passes[m->passes[i]]);
    }
}

/* ---- The pass ---- */

static void describe(const struct merging *m, struct pass *pass, const struct vector_view *table)
{
    const struct vector_view memory = {m->memory, 0, m->memory->size / 4, false},
                             partial_sums = {m->partial_sums, 0, m->size / 4, false};
    pass->owner = m->like->owner;
    pass_vector_of(pass, "vec4", "partial_sums", &partial_sums, VECTOR_READ);
    pass_vector(pass, "vectors", &memory, VECTOR_READ_WRITE);
    pass_vector_of(pass, "int", "rows", table, VECTOR_READ);
    pass_define(pass, "ROW_WORDS", ROW_WORDS);
    pass_define(pass, "ROW_ENTRY", ROW_WORDS - PASS_ENTRY_WORDS);
    pass_int(pass, "row_count", (int32_t)m->count);
    pass_grid(pass, m->invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = m->work;
}

/* The last pass of the buffer takes the place of the last that it stands for, and all those go. */
static void replace_passes(const struct merging *m)
{
    struct glcnn_command_buffer *buffer = m->buffer;
    size_t kept = 0;
    buffer->passes[m->passes[m->count - 1]] = buffer->passes[--buffer->pass_count];
    for (size_t i = 0, next = 0; i < buffer->pass_count; i++) {
        if (next < m->count - 1 && m->passes[next] == i)
            next++;
        else
            buffer->passes[kept++] = buffer->passes[i];
    }
    buffer->pass_count = kept;
}

static glcnn_status record(struct merging *m)
{
    struct plan plan;
    plan_begin(&plan, m->buffer);
    write_rows(m);
    struct vector_view rows = plan_table(&plan, m->rows, m->count * ROW_WORDS);
    describe(m, plan_pass(&plan, m->like->entry.shader), &rows);
    glcnn_status status = plan_end(&plan);
    if (status == GLCNN_SUCCESS)
        replace_passes(m);
    return status;
}

/* ---- All of it ---- */

/* The partial sums of one pass stay where they are. */
static glcnn_status join_memory(struct merging *m)
{
    if (m->count == 1) {
        m->partial_sums = buffer_retain(m->like->buffers[0].view.buffer);
        return GLCNN_SUCCESS;
    }
    m->buffer->held_size += m->size;
    return buffer_create_unallocated(m->buffer->device, m->size, &m->partial_sums);
}

static glcnn_status merge(struct merging *m)
{
    glcnn_status status = join_memory(m);
    return status == GLCNN_SUCCESS ? record(m) : status;
}

static void release(struct merging *m)
{
    glcnn_buffer_destroy(&m->partial_sums);
    free(m->passes);
    free(m->rows);
}

/* The pass and all behind it that can be merged with it. *left: bytes that partial sums may take. */
static glcnn_status merge_from(struct glcnn_command_buffer *buffer, size_t first, size_t *left)
{
    struct merging m = {.buffer = buffer,
                        .like = &buffer->passes[first],
                        .memory = results_memory(&buffer->passes[first]),
                        .most = *left,
                        .passes = calloc(buffer->pass_count, sizeof(size_t)),
                        .rows = calloc(buffer->pass_count * ROW_WORDS, sizeof(int32_t))};
    glcnn_status status = GLCNN_SUCCESS;
    if (!m.passes || !m.rows)
        status = device_fail(buffer->device, GLCNN_OUT_OF_MEMORY, "out of memory recording passes");
    else
        list_passes(&m, first);
    if (status == GLCNN_SUCCESS)
        status = merge(&m);
    *left -= m.count > 1 ? m.size : 0;
    release(&m);
    return status;
}

static size_t most_bytes(const struct glcnn_command_buffer *buffer)
{
    const size_t block = buffer->device->info.limits.storage_block_size;
    uint64_t stored = 0;
    for (size_t p = 0; p < buffer->pass_count; p++)
        for (uint32_t i = 0; i < buffer->passes[p].image_count; i++)
            stored += storage_size(buffer->passes[p].images[i].view.storage);
    return stored / IMAGE_PART < block ? (size_t)(stored / IMAGE_PART) : block;
}

glcnn_status command_buffer_merge_sums(struct glcnn_command_buffer *command_buffer)
{
    size_t left = most_bytes(command_buffer);
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < command_buffer->pass_count && status == GLCNN_SUCCESS; i++)
        if (can_be_row(&command_buffer->passes[i]))
            status = merge_from(command_buffer, i, &left);
    return status;
}
