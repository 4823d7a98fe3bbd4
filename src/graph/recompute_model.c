/* The model of a recording: its steps, what they read and make, and the time that they may take. */
#include <stdlib.h>

#include "graph/budget.h"
#include "record/dispatch_work.h"
#include "record/stores.h"

/* Time is counted in bytes that memory moves: a GPU does some ten operations meanwhile. A
 * processor's rasteriser does less, and stores texel by texel: on llvmpipe a copy and convolutions
 * take these parts of each other's time. Stores by way of a buffer (record/stores.h) take a third. */
struct rates {
    double store; /* bytes that could be loaded while one is stored */
    double operations;
};
static const struct rates gpu = {1, 10}, slow_image_stores = {12, 2}, stores_via_buffer = {4, 2};

/* ---- Time ---- */

static uint64_t storage_bytes(const struct storage *storage)
{
    return (uint64_t)storage->width * storage->height * storage->layers *
           texel_of(storage->format)->size;
}

static const struct rates *rates_of(const struct recording *r, const struct pass *pass)
{
    if (stores_are_buffered(pass))
        return &stores_via_buffer;
    return r->graph->device->info.traits.slow_image_stores ? &slow_image_stores : &gpu;
}

static double pass_time(const struct recording *r, const struct pass *pass)
{
    const struct rates *rates = rates_of(r, pass);
    double bytes = 0, operations = (double)pass_work(pass) / rates->operations;
    for (uint32_t i = 0; i < pass->texture_count; i++)
        bytes += (double)view_bytes(&pass->textures[i].view);
    for (uint32_t i = 0; i < pass->image_count; i++)
        bytes += (double)view_bytes(&pass->images[i].view) * rates->store;
    return bytes > operations ? bytes : operations;
}

static double passes_time(const struct recording *r, size_t first, size_t end, uint32_t parts)
{
    double beginning = r->graph->device->info.traits.pass_bytes;
    double time = (double)(end - first) * beginning * parts;
    for (size_t i = first; i < end; i++)
        time += pass_time(r, &r->command_buffer->passes[i]);
    return time;
}

/* Passes beside each other begin at the same time. */
double recording_time(const struct recording *r)
{
    const struct glcnn_command_buffer *buffer = r->command_buffer;
    double time = 0;
    size_t waves = buffer->pass_count ? buffer->passes[buffer->pass_count - 1].issue.level : 0;
    for (size_t i = 0; i < buffer->pass_count; i++)
        time += pass_time(r, &buffer->passes[i]);
    return time +
           (double)(waves ? waves : buffer->pass_count) * r->graph->device->info.traits.pass_bytes;
}

/* ---- Memory ---- */

static size_t end_of_step(const struct recording *r, size_t s)
{
    return s + 1 < r->step_count ? r->steps[s + 1].first_pass : r->step_passes;
}

static const struct storage *storage_of(const struct pass *pass, uint32_t i)
{
    return i < pass->texture_count ? pass->textures[i].view.storage
                                   : pass->images[i - pass->texture_count].view.storage;
}

static bool is_of_node(const struct recording *r, const struct storage *storage)
{
    size_t i = 0;
    while (i < r->graph->image_count && r->made[i].storage != storage)
        i++;
    return i < r->graph->image_count;
}

/* Has an earlier texture or image of the step's passes this storage? */
static bool is_repeated(const struct recording *r, size_t first, size_t pass, uint32_t item,
                        const struct storage *storage)
{
    for (size_t p = first; p <= pass; p++) {
        const struct pass *at = &r->command_buffer->passes[p];
        uint32_t end = p == pass ? item : at->texture_count + at->image_count;
        for (uint32_t i = 0; i < end; i++)
            if (storage_of(at, i) == storage)
                return true;
    }
    return false;
}

/* Bytes of images that are no node's: what passes of one step leave to each other. */
static uint64_t scratch_of(const struct recording *r, size_t s)
{
    uint64_t bytes = 0;
    size_t first = r->steps[s].first_pass, end = end_of_step(r, s);
    for (size_t p = first; p < end; p++) {
        const struct pass *pass = &r->command_buffer->passes[p];
        for (uint32_t i = 0; i < pass->texture_count + pass->image_count; i++) {
            const struct storage *storage = storage_of(pass, i);
            if (!storage->clear && !is_of_node(r, storage) && !is_repeated(r, first, p, i, storage))
                bytes += storage_bytes(storage);
        }
    }
    return bytes;
}

/* Of so many bytes for the whole batch what the largest part takes. */
static uint64_t part_of(const struct recording *r, uint64_t bytes, uint32_t parts)
{
    uint64_t images = (r->batch + parts - 1) / parts;
    return (bytes * images + r->batch - 1) / r->batch;
}

/* Vectors of the workspace lie in memory of their own, which the step that takes most of it sets. Each
 * part has passes of its own, and their uniforms. */
static uint64_t held_by(const struct recording *r, uint32_t parts)
{
    return recording_held(r) + r->command_buffer->held_size +
           part_of(r, r->command_buffer->workspace_size, parts) +
           command_buffer_place_uniforms(r->command_buffer) * parts;
}

/* ---- Steps ---- */

static double time_of_step(const struct recording *r, size_t s, uint32_t parts)
{
    return passes_time(r, r->steps[s].first_pass, end_of_step(r, s), parts);
}

static bool is_bound(const struct recording *r, size_t s, const struct storage *storage)
{
    for (size_t p = r->steps[s].first_pass; p < end_of_step(r, s); p++) {
        const struct pass *pass = &r->command_buffer->passes[p];
        for (uint32_t i = 0; i < pass->texture_count; i++)
            if (storage_of(pass, i) == storage)
                return true;
    }
    return false;
}

/* A gradient is given the forward source and may read nothing of it, as that of a sum: then the image
 * need not be there. In parts it is there as long as it is given (record.c, find_whole). */
static bool is_read(const struct recording *r, size_t s, size_t image, uint32_t parts)
{
    const struct graph_filter *f = &r->graph->filters[r->steps[s].filter];
    const struct storage *storage = r->made[image].storage;
    return parts > 1 || !f->node->forward || !storage || is_bound(r, s, storage);
}

static void describe_step(struct recompute_model *m, const struct recording *r,
                          const struct recording *fused, size_t s, uint32_t parts, size_t *reads)
{
    const struct record_step *step = &r->steps[s];
    const struct graph_filter *f = &r->graph->filters[step->filter];
    size_t read_count = 0;
    for (size_t i = 0; i < f->node->source_count; i++)
        if (is_read(r, s, f->node->sources[i]->index, parts))
            reads[read_count++] = f->node->sources[i]->index;
    m->steps[s] = (struct recompute_step){
        .reads = reads,
        .read_count = read_count,
        .results = {step->collector ? SIZE_MAX : graph_filter_result(f)->index,
                    step->collector || !f->node->loss ? SIZE_MAX : f->node->loss->index},
        .scratch = part_of(r, scratch_of(r, s), parts),
        .time = time_of_step(r, s, parts),
        .fused_time = fused ? time_of_step(fused, s, parts) : 0,
        .segment = step->segment};
}

static void describe_steps(struct recompute_model *m, const struct recording *r,
                           const struct recording *fused, uint32_t parts)
{
    size_t *reads = m->reads;
    m->forward_count = m->step_count;
    for (size_t s = 0; s < m->step_count; s++) {
        const struct glcnn_filter_node *n = r->graph->filters[r->steps[s].filter].node;
        describe_step(m, r, fused, s, parts, reads);
        reads += n->source_count;
        if (n->forward && s < m->forward_count)
            m->forward_count = s;
    }
}

/* ---- Images ---- */

static void describe_images(struct recompute_model *m, const struct recording *r,
                            const struct recording *fused, uint32_t parts)
{
    for (size_t i = 0; i < m->image_count; i++) {
        uint64_t size = r->graph->wanted[i] ? 0 : r->made[i].size;
        m->images[i] = (struct recompute_image){.size = size,
                                                .part = part_of(r, size, parts),
                                                .may_fuse = fused && fused->made[i].fused};
    }
}

/* Reading what is fused reads what it is made of: producers come first. */
static void mark_read_later(struct recompute_model *m, size_t image, size_t s, const size_t *made)
{
    size_t producer = made[image];
    if (producer == SIZE_MAX)
        return;
    const struct recompute_step *step = &m->steps[producer];
    m->images[image].may_drop |=
        m->parts ? step->segment != m->steps[s].segment : s >= m->forward_count;
    for (size_t i = 0; i < step->read_count && m->images[image].may_fuse; i++)
        mark_read_later(m, step->reads[i], s, made);
}

/* A filter whose encode leaves nothing but its image may be run again. */
static bool may_run_again(const struct recompute_model *m, const struct recording *r, size_t s)
{
    const struct graph_filter *f = &r->graph->filters[r->steps[s].filter];
    return s < m->forward_count && !f->node->loss &&
           !r->graph->wanted[graph_filter_result(f)->index];
}

/* What is dropped is what is read when other things are not: in the backward pass, or in another
 * segment. */
static bool mark_droppable(struct recompute_model *m, const struct recording *r)
{
    size_t *made = calloc(m->image_count + 1, sizeof *made);
    if (!made)
        return false;
    for (size_t i = 0; i < m->image_count; i++)
        made[i] = SIZE_MAX;
    for (size_t s = 0; s < m->step_count; s++) {
        for (size_t i = 0; i < m->steps[s].read_count; i++)
            mark_read_later(m, m->steps[s].reads[i], s, made);
        for (int k = 0; k < 2; k++)
            if (m->steps[s].results[k] != SIZE_MAX)
                made[m->steps[s].results[k]] = s;
    }
    for (size_t i = 0; i < m->image_count; i++)
        m->images[i].may_drop =
            m->images[i].may_drop && made[i] != SIZE_MAX && may_run_again(m, r, made[i]);
    free(made);
    return true;
}

bool recompute_model_make(struct recompute_model *m, const struct recording *r,
                          const struct recording *fused, uint32_t parts)
{
    size_t reads = 0;
    for (size_t s = 0; s < r->step_count; s++)
        reads += r->graph->filters[r->steps[s].filter].node->source_count;
    *m = (struct recompute_model){.steps = calloc(r->step_count + 1, sizeof *m->steps),
                                  .images = calloc(r->graph->image_count + 1, sizeof *m->images),
                                  .step_count = r->step_count,
                                  .image_count = r->graph->image_count,
                                  .parts = parts > 1,
                                  .reads = calloc(reads + 1, sizeof *m->reads)};
    if (!m->steps || !m->images || !m->reads)
        return false;
    describe_images(m, r, fused, parts);
    describe_steps(m, r, fused, parts);
    m->held = held_by(r, parts);
    return mark_droppable(m, r);
}

void recompute_model_free(struct recompute_model *m)
{
    free(m->steps);
    free(m->images);
    free(m->reads);
    *m = (struct recompute_model){0};
}
