/* What a recording holds: its steps by a memory choice, and the images and states of its encodes. */
#include <stdlib.h>

#include "graph/recording.h"

static const struct graph_filter *filter_of(const struct recording *r,
                                            const struct record_step *step)
{
    return &r->graph->filters[step->filter];
}

/* ---- Steps ---- */

/* A gradient without a result that has a collector has no other step than that. */
static bool has_main_step(const struct graph_filter *f)
{
    return !(f->collects && f->node->kernel->descriptor->flags & IS_GRADIENT && !f->makes_result);
}

static void list_steps(struct recording *r)
{
    uint32_t segment = 0;
    for (size_t i = 0; i < r->graph->filter_count; i++) {
        const struct graph_filter *f = &r->graph->filters[i];
        if (f->skipped)
            continue;
        if (f->collects)
            r->steps[r->step_count++] =
                (struct record_step){.filter = i, .collector = true, .segment = segment++};
        if (has_main_step(f))
            r->steps[r->step_count++] = (struct record_step){.filter = i, .segment = segment};
    }
}

/* In the order that the schedule has them, with those that recompute an image. */
static bool follow_schedule(struct recording *r, const struct recompute_schedule *schedule)
{
    struct record_step *steps = calloc(schedule->count + 1, sizeof *steps);
    for (size_t i = 0; steps && i < schedule->count; i++) {
        const struct recompute_item *item = &schedule->items[i];
        steps[i] = r->steps[item->step];
        steps[i].segment = r->steps[item->at].segment;
        steps[i].recomputes = item->step != item->at;
    }
    if (!steps)
        return false;
    free(r->steps);
    r->steps = steps;
    r->step_count = schedule->count;
    return true;
}

static size_t take_reader(size_t *readers, const struct glcnn_image_node *image)
{
    size_t reader = readers[image->index];
    readers[image->index] = SIZE_MAX;
    return reader;
}

/* The last step that reads what a step makes, before it is recomputed. */
static void find_last_readers(struct recording *r)
{
    size_t *reader = r->last_reader;
    for (size_t i = 0; i < r->graph->image_count; i++)
        reader[i] = SIZE_MAX;
    for (size_t s = r->step_count; s-- > 0;) {
        struct record_step *step = &r->steps[s];
        const struct graph_filter *f = filter_of(r, step);
        if (!step->collector)
            step->last_reader = take_reader(reader, graph_filter_result(f));
        if (!step->collector && f->node->loss)
            step->last_loss_reader = take_reader(reader, f->node->loss);
        for (size_t i = 0; i < f->node->source_count; i++)
            if (reader[f->node->sources[i]->index] == SIZE_MAX)
                reader[f->node->sources[i]->index] = s;
    }
}

/* Which images several segments use. */
static void find_whole(struct recording *r)
{
    const struct glcnn_graph *g = r->graph;
    for (size_t i = 0; i < g->image_count; i++)
        r->whole[i] = g->wanted[i] || r->sub_batches == 1;
    for (size_t i = 0; i < g->source_count; i++)
        r->whole[g->sources[i]->index] = true;
    for (size_t s = 0; s < r->step_count; s++) {
        const struct record_step *step = &r->steps[s];
        const struct glcnn_filter_node *n = filter_of(r, step)->node;
        for (size_t i = 0; i < n->source_count; i++)
            r->whole[n->sources[i]->index] |=
                r->made[n->sources[i]->index].segment != step->segment;
        if (!step->collector)
            r->made[graph_filter_result(filter_of(r, step))->index].segment = step->segment;
        if (!step->collector && n->loss)
            r->made[n->loss->index].segment = step->segment;
    }
}

/* ---- Images and states ---- */

void recording_drop_image(struct recording *r, size_t index)
{
    struct glcnn_image *image = r->images[index];
    if (image && image->command_buffer && image->read_count)
        glcnn_image_set_read_count(image, 0);
    glcnn_image_destroy(&r->images[index]);
}

struct glcnn_state **recording_state_at(const struct recording *r, size_t filter,
                                        uint32_t sub_batch, size_t source)
{
    return &r->states[(filter * r->sub_batches + sub_batch) * r->most_sources + source];
}

struct glcnn_state *recording_state(const struct recording *r, size_t filter, uint32_t sub_batch,
                                    size_t source)
{
    return *recording_state_at(r, filter, sub_batch, source);
}

uint64_t recording_state_size(const struct glcnn_state *state)
{
    uint64_t size = 0;
    for (size_t i = 0; i < state->vector_count; i++)
        if (!state->vectors[i].borrowed)
            size += buffer_taken(state->vectors[i].buffer);
    return size;
}

/* ---- Life ---- */

static glcnn_status check_sources(const struct recording *r, struct glcnn_image *const *sources)
{
    const struct glcnn_graph *g = r->graph;
    for (size_t i = 0; i < g->source_count; i++) {
        const char *handle = g->sources[i]->handle ? g->sources[i]->handle : "without a handle";
        if (!sources || !sources[i])
            return device_fail(g->device, GLCNN_INVALID_ARGUMENT, "graph: source %zu (%s) is NULL",
                               i, handle);
        if (r->keeps_images &&
            sources[i]->descriptor.number_of_images != sources[0]->descriptor.number_of_images)
            return device_fail(g->device, GLCNN_INVALID_ARGUMENT,
                               "graph: source %zu (%s) has %u images, source 0 has %u", i, handle,
                               sources[i]->descriptor.number_of_images,
                               sources[0]->descriptor.number_of_images);
    }
    return GLCNN_SUCCESS;
}

static bool allocate(struct recording *r)
{
    const struct glcnn_graph *g = r->graph;
    r->most_sources = 1;
    for (size_t i = 0; i < g->filter_count; i++)
        if (g->filters[i].node->source_count > r->most_sources)
            r->most_sources = g->filters[i].node->source_count;
    size_t states = g->filter_count * r->sub_batches * r->most_sources;
    r->images = calloc(g->image_count + 1, sizeof(*r->images));
    r->whole = calloc(g->image_count + 1, sizeof *r->whole);
    r->last_reader = calloc(g->image_count + 1, sizeof *r->last_reader);
    r->made = calloc(g->image_count + 1, sizeof *r->made);
    r->states = calloc(states + 1, sizeof(*r->states));
    r->steps = calloc(2 * g->filter_count + 1, sizeof *r->steps);
    r->stepped = calloc(g->filter_count + 1, sizeof *r->stepped);
    r->averaged = calloc(g->filter_count + 1, sizeof *r->averaged);
    return r->images && r->whole && r->last_reader && r->made && r->states && r->steps &&
           r->stepped && r->averaged;
}

glcnn_status recording_begin(struct recording *r, const struct glcnn_graph *graph,
                             struct glcnn_command_buffer *command_buffer,
                             struct glcnn_image *const *sources, const struct memory_choice *choice)
{
    *r = (struct recording){.graph = graph,
                            .command_buffer = command_buffer,
                            .sub_batches = choice->sub_batches,
                            .keeps_images = graph_keeps_images(graph),
                            .stored = choice->stored};
    glcnn_status status = check_sources(r, sources);
    if (status != GLCNN_SUCCESS)
        return status;
    bool good = allocate(r);
    r->batch = graph->source_count ? sources[0]->descriptor.number_of_images : 1;
    for (size_t i = 0; good && i < graph->source_count; i++)
        r->images[graph->sources[i]->index] = image_retain(sources[i]);
    if (good)
        list_steps(r);
    if (!good || (choice->schedule.items && !follow_schedule(r, &choice->schedule)))
        return device_fail(graph->device, GLCNN_OUT_OF_MEMORY, "out of memory recording a graph");
    find_last_readers(r);
    find_whole(r);
    return GLCNN_SUCCESS;
}

uint64_t recording_held(const struct recording *r)
{
    uint64_t size = 0;
    size_t states = r->graph->filter_count * r->sub_batches * r->most_sources;
    for (size_t i = 0; i < states; i++)
        size += r->states[i] ? recording_state_size(r->states[i]) : 0;
    for (size_t i = 0; i < r->graph->image_count; i++)
        if (r->graph->wanted[i] && r->images[i])
            size += glcnn_image_resource_size(r->images[i]);
    return size;
}

void recording_end(struct recording *r)
{
    for (size_t i = 0; r->images && i < r->graph->source_count; i++)
        glcnn_image_destroy(&r->images[r->graph->sources[i]->index]);
    for (size_t i = 0; r->images && i < r->graph->image_count; i++)
        recording_drop_image(r, i);
    size_t states = r->graph->filter_count * r->sub_batches * r->most_sources;
    for (size_t i = 0; r->states && i < states; i++)
        glcnn_state_destroy(&r->states[i]);
    free(r->images);
    free(r->whole);
    free(r->last_reader);
    free(r->made);
    free(r->states);
    free(r->steps);
    free(r->stepped);
    free(r->averaged);
    *r = (struct recording){.graph = r->graph};
}
