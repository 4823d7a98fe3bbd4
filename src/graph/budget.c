/* What keeps a graph within its memory budget: in how many parts the batch runs, and what is
 * recomputed. */
#include <stdlib.h>
#include <string.h>

#include "graph/budget.h"

#define MOST_SPLITS 36   /* powers of two, and the batch; a batch at once by what is stored */
#define MOST_STEPS  160  /* of more it takes too long to choose image by image what is stored */
#define LESS        12   /* one part in so many that more parts must need less, to be the least */
#define STORES      96   /* one part in so many of a budget is for the buffer of stores */
#define WORKSPACE   20   /* one part in so many is for each part sum, where they may be fewer */
#define WORTH       0.05 /* of a step: what rounds differently must save as much */

/* Running the batch in so many parts. */
struct split {
    uint32_t parts;
    struct recompute_model model;
    struct recompute_search *search;
    double time;             /* of all steps once, all stored */
    uint64_t bytes, planned; /* that a plan may take, and that `modes` was made for */
    unsigned char *modes;
    bool has_plan;
};

struct budget {
    struct glcnn_device *device;
    struct split splits[MOST_SPLITS];
    size_t count;
    struct split *chosen; /* the last choice's; NULL: none yet */
    uint64_t peak;        /* that choice's */
    uint64_t stores;      /* most bytes of the buffer of stores, but in the least choice */
    size_t workspace;     /* as in its choices */
    double whole_time;    /* of a step of the graph that keeps everything, in any order */
    unsigned char *modes, *best;
    bool *all; /* [images of the network]: true */
};

uint64_t budget_stores(const struct glcnn_graph *graph)
{
    return graph->memory_budget ? graph->memory_budget / STORES : UINT64_MAX;
}

size_t budget_workspace(const struct glcnn_graph *graph)
{
    uint64_t bytes = graph->memory_budget / WORKSPACE;
    return bytes > LEAST_WORKSPACE ? (size_t)bytes : LEAST_WORKSPACE;
}

/* ---- Life ---- */

static bool add_split(struct budget *b, const struct recording *r, const struct recording *fused,
                      uint32_t parts, enum recompute_stored stored)
{
    struct split *split = &b->splits[b->count++];
    split->parts = parts;
    if (!recompute_model_make(&split->model, r, fused, parts))
        return false;
    split->search = recompute_search_create(&split->model, stored);
    split->modes = calloc(split->model.image_count + 1, 1);
    for (size_t s = 0; s < split->model.step_count; s++)
        split->time += split->model.steps[s].time;
    return split->search && split->modes;
}

/* The best by the model may be one that textures cannot hold: there are others to be tried. A part
 * stores all: what an image is made of would be of the last part when it is read. */
static bool add_splits(struct budget *b, const struct recording *r, const struct recording *fused)
{
    uint32_t most = graph_can_be_split(r->graph) ? r->batch : 1, parts = 1;
    bool good = true;
    int any = r->step_count <= MOST_STEPS ? RECOMPUTE_STORED_ANY : RECOMPUTE_STORED_NOTHING;
    for (int stored = any; stored >= RECOMPUTE_STORED_ALL && good; stored--)
        good = add_split(b, r, fused, 1, (enum recompute_stored)stored);
    while (good && parts < most) {
        parts = parts < most / 2 ? parts * 2 : most;
        good = add_split(b, r, NULL, parts, RECOMPUTE_STORED_ALL);
    }
    return good;
}

static glcnn_status out_of_memory(struct glcnn_device *device)
{
    return device_fail(device, GLCNN_OUT_OF_MEMORY, "out of memory planning a graph");
}

/* To be dropped in any case. */
struct draft {
    struct glcnn_command_buffer *buffer;
    struct recording recording;
};

/* A batch at once, all of it stored or as little as can be. */
static glcnn_status make_draft(const struct budget *b, const struct glcnn_graph *graph,
                               struct glcnn_image *const *sources, bool stored, struct draft *draft)
{
    const struct memory_choice choice = {.sub_batches = 1,
                                         .stored = stored ? b->all : NULL,
                                         .stores = b->stores,
                                         .workspace = b->workspace};
    glcnn_status status = glcnn_command_buffer_create(graph->device, &draft->buffer);
    if (status != GLCNN_SUCCESS)
        return status;
    draft->buffer->deferred = true;
    return recording_make(&draft->recording, graph, draft->buffer, sources, &choice);
}

static void drop_draft(struct draft *draft)
{
    if (draft->recording.graph)
        recording_free(&draft->recording);
    glcnn_command_buffer_destroy(&draft->buffer);
}

static glcnn_status make_splits(struct budget *b, const struct glcnn_graph *graph,
                                struct glcnn_image *const *sources)
{
    struct draft stored = {0}, fused = {0};
    glcnn_status status = make_draft(b, graph, sources, true, &stored);
    if (status == GLCNN_SUCCESS)
        status = make_draft(b, graph, sources, false, &fused);
    if (status == GLCNN_SUCCESS && !add_splits(b, &stored.recording, &fused.recording))
        status = out_of_memory(graph->device);
    if (status == GLCNN_SUCCESS)
        b->whole_time = recording_time(&fused.recording);
    drop_draft(&stored);
    drop_draft(&fused);
    return status;
}

glcnn_status budget_create(const struct glcnn_graph *graph, struct glcnn_image *const *sources,
                           size_t workspace, struct budget **budget)
{
    struct budget *b = *budget = calloc(1, sizeof *b);
    if (!b)
        return out_of_memory(graph->device);
    b->device = graph->device;
    b->modes = calloc(graph->image_count + 1, 1);
    b->best = calloc(graph->image_count + 1, 1);
    b->all = malloc(graph->image_count + 1);
    b->stores = budget_stores(graph);
    b->workspace = workspace;
    glcnn_status status =
        b->modes && b->best && b->all ? GLCNN_SUCCESS : out_of_memory(graph->device);
    if (status == GLCNN_SUCCESS) {
        memset(b->all, true, graph->image_count);
        status = make_splits(b, graph, sources);
    }
    if (status != GLCNN_SUCCESS)
        budget_destroy(budget);
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
        free(b->splits[i].modes);
    }
    free(b->modes);
    free(b->best);
    free(b->all);
    free(b);
}

/* ---- Choices ---- */

void memory_choice_free(struct memory_choice *choice)
{
    free(choice->schedule.items);
    free(choice->stored);
    *choice = (struct memory_choice){0};
}

/* Copies the schedule that modes make, which is the search's own. */
static bool copy_schedule(const struct split *split, const unsigned char *modes,
                          struct memory_choice *choice)
{
    const size_t images = split->model.image_count;
    const struct recompute_schedule *schedule = recompute_evaluate(split->search, modes, 0);
    if (!schedule)
        return false;
    choice->schedule = *schedule;
    choice->schedule.items = malloc((schedule->count + 1) * sizeof *schedule->items);
    choice->stored = malloc((images + 1) * sizeof *choice->stored);
    if (!choice->schedule.items || !choice->stored)
        return false;
    memcpy(choice->schedule.items, schedule->items, schedule->count * sizeof *schedule->items);
    for (size_t i = 0; i < images; i++)
        choice->stored[i] = modes[i] != RECOMPUTE_FUSED;
    return true;
}

static glcnn_status take_choice(const struct budget *b, const struct split *split,
                                const unsigned char *modes, uint64_t stores,
                                struct memory_choice *choice)
{
    *choice = (struct memory_choice){
        .sub_batches = split->parts, .stores = stores, .workspace = b->workspace};
    if (copy_schedule(split, modes, choice))
        return GLCNN_SUCCESS;
    memory_choice_free(choice);
    return out_of_memory(b->device);
}

void budget_set(struct budget *b, uint64_t bytes)
{
    for (size_t i = 0; i < b->count; i++)
        b->splits[i].bytes = bytes;
}

void budget_lessen(struct budget *b, uint64_t over)
{
    struct split *split = b->chosen;
    split->bytes -= over / 2 < split->bytes ? over / 2 : split->bytes;
    split->bytes = split->bytes < b->peak ? split->bytes : b->peak - 1;
}

/* False: out of memory. */
static bool plan_split(struct split *split)
{
    if (split->planned != split->bytes)
        split->has_plan = recompute_plan(split->search, split->bytes, split->modes);
    split->planned = split->bytes;
    return !recompute_has_failed(split->search);
}

/* Takes the split, if it has a choice that is faster than the last one's by `worth`. False: out of
 * memory. */
static bool choose_split(struct budget *b, struct split *split, double worth, double *least)
{
    if (b->chosen && split->time + worth >= *least)
        return true;
    if (!plan_split(split))
        return false;
    if (!split->has_plan)
        return true;
    const struct recompute_schedule *schedule = recompute_evaluate(split->search, split->modes, 0);
    if (!schedule)
        return false;
    if (b->chosen && schedule->time + worth >= *least)
        return true;
    b->chosen = split;
    b->peak = schedule->peak;
    *least = schedule->time;
    return true;
}

glcnn_status budget_choose(struct budget *b, struct memory_choice *choice)
{
    double least = 0;
    *choice = (struct memory_choice){0};
    b->chosen = NULL;
    for (size_t i = 0; i < b->count; i++)
        if (!choose_split(b, &b->splits[i], WORTH * b->whole_time, &least))
            return out_of_memory(b->device);
    return b->chosen ? take_choice(b, b->chosen, b->chosen->modes, b->stores, choice)
                     : GLCNN_SUCCESS;
}

glcnn_status budget_least(struct budget *b, struct memory_choice *choice)
{
    const struct split *found = NULL;
    uint64_t least = 0;
    *choice = (struct memory_choice){0};
    for (size_t i = 0; i < b->count; i++) {
        struct recompute_search *search = b->splits[i].search;
        recompute_least(search, b->modes);
        const struct recompute_schedule *schedule = recompute_evaluate(search, b->modes, 0);
        if (recompute_has_failed(search))
            return out_of_memory(b->device);
        if (found && schedule->peak >= least - least / LESS)
            continue;
        found = &b->splits[i];
        least = schedule->peak;
        memcpy(b->best, b->modes, found->model.image_count);
    }
    return take_choice(b, found, b->best, 0, choice);
}
