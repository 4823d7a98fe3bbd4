/* What keeps a graph within its memory budget: in how many parts the batch runs, and what is made
 * again. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

#define MOST_SPLITS 33   /* powers of two, and the batch */
#define LESS        8    /* one part in so many that more parts must need less, to be the least */
#define WORTH       0.05 /* of a step: more parts must save as much, since sums change their order */

/* Running the batch in so many parts. */
struct split {
    uint32_t parts;
    struct recompute_model model;
    struct recompute_search *search;
    double time; /* of all steps once */
};

struct budget {
    struct split splits[MOST_SPLITS];
    size_t count;
    double whole_time; /* of a step of the graph that keeps everything */
    unsigned char *modes, *best;
};

/* ---- Life ---- */

static bool add_split(struct budget *b, const struct recording *r, uint32_t parts)
{
    struct split *split = &b->splits[b->count++];
    split->parts = parts;
    if (!recompute_model_make(&split->model, r, parts))
        return false;
    split->search = recompute_search_create(&split->model);
    for (size_t s = 0; s < split->model.step_count; s++)
        split->time += split->model.steps[s].time;
    return split->search;
}

static bool add_splits(struct budget *b, const struct recording *r)
{
    uint32_t most = graph_can_be_split(r->graph) ? r->batch : 1, parts = 1;
    bool good = add_split(b, r, 1);
    while (good && parts < most) {
        parts = parts < most / 2 ? parts * 2 : most;
        good = add_split(b, r, parts);
    }
    b->whole_time = b->splits[0].time + b->splits[0].model.other_time;
    b->modes = calloc(r->graph->image_count + 1, 1);
    b->best = calloc(r->graph->image_count + 1, 1);
    return good && b->modes && b->best;
}

glcnn_status budget_create(const struct glcnn_graph *graph, struct glcnn_image *const *sources,
                           struct budget **budget)
{
    struct glcnn_command_buffer *buffer = NULL;
    struct recording r = {.graph = graph};
    struct budget *b = calloc(1, sizeof *b);
    glcnn_status status = glcnn_command_buffer_create(graph->device, &buffer);
    if (status == GLCNN_SUCCESS) {
        buffer->planned = true;
        status =
            recording_make(&r, graph, buffer, sources, &(struct memory_choice){.sub_batches = 1});
        if (status == GLCNN_SUCCESS && (!b || !add_splits(b, &r)))
            status =
                device_fail(graph->device, GLCNN_OUT_OF_MEMORY, "out of memory planning a graph");
        recording_free(&r);
    }
    glcnn_command_buffer_destroy(&buffer);
    if (status != GLCNN_SUCCESS)
        budget_destroy(&b);
    *budget = b;
    return status;
}

void budget_destroy(struct budget **budget)
{
    struct budget *b = *budget;
    *budget = NULL;
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++) {
        recompute_search_destroy(b->splits[i].search);
        recompute_model_free(&b->splits[i].model);
    }
    free(b->modes);
    free(b->best);
    free(b);
}

/* ---- Choices ---- */

void memory_choice_free(struct memory_choice *choice)
{
    free(choice->schedule.items);
    *choice = (struct memory_choice){0};
}

/* Copies the schedule that modes make, which is the search's own. */
static bool take_choice(struct budget *b, const struct split *split, const unsigned char *modes,
                        struct memory_choice *choice)
{
    const struct recompute_schedule *schedule = recompute_evaluate(split->search, modes, 0);
    *choice = (struct memory_choice){.sub_batches = split->parts};
    if (!schedule)
        return false;
    choice->schedule = *schedule;
    choice->schedule.items = malloc((schedule->count + 1) * sizeof *schedule->items);
    if (!choice->schedule.items)
        return false;
    memcpy(choice->schedule.items, schedule->items, schedule->count * sizeof *schedule->items);
    choice->extra_time = (split->time + schedule->extra - b->splits[0].time) / b->whole_time;
    return true;
}

bool budget_choose(struct budget *b, uint64_t bytes, struct memory_choice *choice)
{
    const struct split *found = NULL;
    double least = 0, worth = WORTH * b->whole_time;
    *choice = (struct memory_choice){0};
    for (size_t i = 0; i < b->count; i++) {
        struct split *split = &b->splits[i];
        if ((found && split->time + worth >= least) ||
            !recompute_plan(split->search, bytes, b->modes))
            continue;
        double time = split->time + recompute_evaluate(split->search, b->modes, 0)->extra;
        if (found && time + worth >= least)
            continue;
        found = split;
        least = time;
        memcpy(b->best, b->modes, split->model.image_count);
    }
    return found && take_choice(b, found, b->best, choice);
}

bool budget_least(struct budget *b, struct memory_choice *choice)
{
    const struct split *found = NULL;
    uint64_t least = 0;
    for (size_t i = 0; i < b->count; i++) {
        recompute_least(b->splits[i].search, b->modes);
        const struct recompute_schedule *schedule =
            recompute_evaluate(b->splits[i].search, b->modes, 0);
        if (!schedule || (found && schedule->peak >= least - least / LESS))
            continue;
        found = &b->splits[i];
        least = schedule->peak;
        memcpy(b->best, b->modes, found->model.image_count);
    }
    return found && take_choice(b, found, b->best, choice);
}
