/* Compiling graphs for the sizes of their sources: recordings whose textures are planned, within the
 * graph's budget. */
#include <stdlib.h>

#include "graph/budget.h"
#include "graph/compile.h"
#include "image/image.h"

#define TRIES           24  /* choices recorded within a budget */
#define GOOD_TRIES      6   /* within it, of which the fastest is taken */
#define WORTH           .05 /* of a step */
#define WORKSPACE       24  /* one part in so many of all memory is for each vector of part sums */
#define SMALL_WORKSPACE ((size_t)5 << 19) /* bytes: a workspace smaller than this needs no limit */
#define SURE            2 /* textures take less than so many times the model's estimate */

/* ---- One recording ---- */

static void drop_recording(struct compiled *c)
{
    if (c->recording.graph)
        recording_free(&c->recording);
    glcnn_command_buffer_destroy(&c->command_buffer);
}

void compiled_free(struct compiled *c, size_t source_count)
{
    drop_recording(c);
    memory_choice_free(&c->choice);
    for (size_t i = 0; c->sources && i < source_count; i++)
        glcnn_image_destroy(&c->sources[i]);
    free(c->sources);
    free(c);
}

void compiled_free_all(struct glcnn_graph *graph)
{
    while (graph->compiled) {
        struct compiled *next = graph->compiled->next;
        compiled_free(graph->compiled, graph->source_count);
        graph->compiled = next;
    }
    graph->executing = NULL;
}

static bool has_gradients(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++)
        if (graph->filters[i].node->forward)
            return true;
    return false;
}

/* Of what is left of the budget for what passes leave to each other, so large a part; 0: any. */
static uint64_t limit_of(const struct glcnn_graph *graph, const struct compiled *c, double part)
{
    uint64_t held = recording_held(&c->recording) + c->command_buffer->held_size;
    uint64_t left = held < graph->memory_budget ? graph->memory_budget - held : 0;
    return part > 0 ? (uint64_t)(part * (double)left) : UINT64_MAX;
}

/* Inference keeps the order that takes least memory: but for branches it has no passes to run beside
 * each other. Partial sums that wait for others take memory: where all that lives is within a limit,
 * none do. */
static glcnn_status arrange(const struct glcnn_graph *graph, struct compiled *c)
{
    if (c->choice.arrangement == ARRANGE_AS_RECORDED)
        return GLCNN_SUCCESS;
    glcnn_status status = command_buffer_merge(c->command_buffer);
    bool in_levels = c->choice.arrangement == ARRANGE_IN_LEVELS && has_gradients(graph);
    if (status == GLCNN_SUCCESS && in_levels && !(c->choice.live > 0))
        status = command_buffer_merge_sums(c->command_buffer);
    return status == GLCNN_SUCCESS && in_levels
               ? command_buffer_order(c->command_buffer, limit_of(graph, c, c->choice.live))
               : status;
}

static void add_held(struct command_memory *memory, uint64_t held)
{
    memory->planned += held;
    memory->without_sharing += held;
    memory->lower_bound += held;
}

static glcnn_status record(struct glcnn_graph *graph, struct compiled *c)
{
    glcnn_status status = glcnn_command_buffer_create(graph->device, &c->command_buffer);
    if (status != GLCNN_SUCCESS)
        return status;
    c->command_buffer->deferred = true;
    status = recording_make(&c->recording, graph, c->command_buffer, c->sources, &c->choice);
    if (status == GLCNN_SUCCESS)
        status = arrange(graph, c);
    if (status == GLCNN_SUCCESS)
        status = command_buffer_place(c->command_buffer, &c->memory);
    if (status == GLCNN_SUCCESS)
        add_held(&c->memory, recording_held(&c->recording));
    return status;
}

/* Takes the choice over, and records it in place of what was recorded before. */
static glcnn_status record_choice(struct glcnn_graph *graph, struct compiled *c,
                                  struct memory_choice choice)
{
    drop_recording(c);
    memory_choice_free(&c->choice);
    c->choice = choice;
    return record(graph, c);
}

glcnn_status compiled_renew(struct glcnn_graph *graph, struct compiled *c)
{
    glcnn_status status = GLCNN_SUCCESS;
    drop_recording(c);
    for (size_t i = 0; i < graph->source_count && status == GLCNN_SUCCESS; i++) {
        const struct glcnn_image_descriptor descriptor = c->sources[i]->descriptor;
        glcnn_image_destroy(&c->sources[i]);
        status = glcnn_image_create(graph->device, &descriptor, &c->sources[i]);
    }
    return status == GLCNN_SUCCESS ? record(graph, c) : status;
}

/* ---- Budgets ---- */

static bool is_within_budget(const struct glcnn_graph *graph, const struct compiled *c)
{
    return !graph->memory_budget || c->memory.planned <= graph->memory_budget;
}

static glcnn_status choose_least(const struct glcnn_graph *graph, const struct compiled *c,
                                 struct memory_choice *choice)
{
    struct budget *b = NULL;
    glcnn_status status = budget_create(graph, c->sources, LEAST_WORKSPACE, &b);
    if (status == GLCNN_SUCCESS)
        status = budget_least(b, choice);
    budget_destroy(&b);
    return status;
}

static glcnn_status record_least(struct glcnn_graph *graph, struct compiled *c)
{
    struct memory_choice choice;
    glcnn_status status = choose_least(graph, c, &choice);
    return status == GLCNN_SUCCESS ? record_choice(graph, c, choice) : status;
}

/* Ways to arrange passes, from the fastest to the one that takes least. */
static const struct {
    enum arrangement arrangement;
    double live;
} arrangements[] = {{ARRANGE_IN_LEVELS, 0},  {ARRANGE_IN_LEVELS, 1},   {ARRANGE_IN_LEVELS, .95},
                    {ARRANGE_IN_LEVELS, .9}, {ARRANGE_IN_LEVELS, .85}, {ARRANGE_IN_LEVELS, .8},
                    {ARRANGE_MERGED, 0},     {ARRANGE_AS_RECORDED, 0}};

/* Of the ways that keep within the budget the fastest, or else the last. */
static glcnn_status record_arranged(struct glcnn_graph *graph, struct compiled *c)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < sizeof arrangements / sizeof *arrangements; i++) {
        c->choice.arrangement = arrangements[i].arrangement;
        c->choice.live = arrangements[i].live;
        drop_recording(c);
        status = record(graph, c);
        if (status == GLCNN_SUCCESS && !(c->whole_time > 0))
            c->whole_time = recording_time(&c->recording);
        if (status != GLCNN_SUCCESS || is_within_budget(graph, c))
            return status;
    }
    return status;
}

/* The fastest choice so far. */
struct fastest {
    struct memory_choice choice;
    double time; /* 0: there is none yet */
};

/* Takes what was recorded, if it is faster. */
static void take_faster(struct fastest *fastest, struct compiled *c)
{
    double time = recording_time(&c->recording);
    if (fastest->time > 0 && fastest->time <= time)
        return;
    memory_choice_free(&fastest->choice);
    fastest->choice = c->choice;
    fastest->time = time;
    c->choice = (struct memory_choice){0};
}

/* Would another arrangement of what was recorded save time? */
static bool is_worth_arranging(const struct glcnn_graph *graph, const struct compiled *c)
{
    double passes = (double)c->command_buffer->pass_count * graph->device->info.traits.pass_bytes;
    return c->choice.sub_batches == 1 && passes > WORTH * recording_time(&c->recording);
}

/* By how much the next choice must take less than what was recorded, which takes too much. Where all
 * that lives has room and only its textures do not fit, any other choice may: the next best is tried,
 * as long as tries are left for larger steps. */
static uint64_t bytes_over(const struct glcnn_graph *graph, const struct compiled *c, int tries)
{
    bool has_room = c->memory.lower_bound <= graph->memory_budget;
    return has_room && tries < TRIES / 2 ? 0 : c->memory.planned - graph->memory_budget;
}

/* What the model counted too much of what was recorded: vectors of several passes that lie in the same
 * memory. */
static uint64_t counted_too_much(const struct compiled *c)
{
    uint64_t counted = c->choice.schedule.peak;
    return counted > c->memory.planned ? counted - c->memory.planned : 0;
}

/* Models count bytes, of which textures take some more or some less: more than the budget is asked
 * for first, and what a choice takes too much the next of its kind is given less. One that takes
 * less may leave room for a faster arrangement. */
static glcnn_status find_fastest(struct glcnn_graph *graph, struct compiled *c, struct budget *b,
                                 struct fastest *fastest)
{
    const uint64_t begin = graph->memory_budget + graph->memory_budget / 32;
    struct memory_choice choice;
    glcnn_status status = GLCNN_SUCCESS;
    budget_set(b, begin);
    for (int i = 0, good = 0; i < TRIES && good < GOOD_TRIES; i++) {
        uint64_t over = graph->memory_budget / 16;
        status = budget_choose(b, &choice);
        if (status != GLCNN_SUCCESS || !choice.sub_batches)
            return status;
        status = record_choice(graph, c, choice);
        if (status != GLCNN_SUCCESS)
            return status;
        uint64_t more = i ? 0 : counted_too_much(c);
        if (!is_within_budget(graph, c)) {
            over = bytes_over(graph, c, i);
        } else {
            good += more ? 0 : is_worth_arranging(graph, c) ? 1 : GOOD_TRIES;
            status = c->choice.sub_batches == 1 ? record_arranged(graph, c) : status;
            if (status != GLCNN_SUCCESS)
                return status;
            take_faster(fastest, c);
        }
        if (more)
            budget_set(b, begin + more);
        else
            budget_lessen(b, over);
    }
    return status;
}

/* Other roundings are for budgets that need them anyway, as where a batch runs in parts. */
static bool needs_fewer_parts(const struct glcnn_graph *graph, const struct compiled *c,
                              const struct fastest *fastest)
{
    bool rounds = !(fastest->time > 0) || fastest->choice.sub_batches > 1;
    return rounds && c->workspace_size > budget_workspace(graph);
}

/* Buffers of part sums leave textures less of the budget: sums are shared out among fewer groups. */
static glcnn_status find_with_fewer_parts(struct glcnn_graph *graph, struct compiled *c,
                                          struct fastest *fastest)
{
    struct budget *b = NULL;
    struct fastest found = {.time = 0};
    glcnn_status status = budget_create(graph, c->sources, budget_workspace(graph), &b);
    if (status == GLCNN_SUCCESS)
        status = find_fastest(graph, c, b, &found);
    budget_destroy(&b);
    bool better = !(fastest->time > 0) || found.time < fastest->time;
    if (found.time > 0 && better) {
        memory_choice_free(&fastest->choice);
        *fastest = found;
    } else {
        memory_choice_free(&found.choice);
    }
    return status;
}

/* What takes the least stands in where no other choice keeps within the budget, and is c's then. */
static glcnn_status record_choices(struct glcnn_graph *graph, struct compiled *c, struct budget *b,
                                   struct memory_choice *least)
{
    struct fastest fastest = {.time = 0};
    glcnn_status status = find_fastest(graph, c, b, &fastest);
    if (status == GLCNN_SUCCESS && needs_fewer_parts(graph, c, &fastest))
        status = find_with_fewer_parts(graph, c, &fastest);
    if (status != GLCNN_SUCCESS) {
        memory_choice_free(&fastest.choice);
        return status;
    }
    if (!(fastest.time > 0)) {
        fastest.choice = *least;
        *least = (struct memory_choice){0};
    }
    return record_choice(graph, c, fastest.choice);
}

static uint32_t batch_of(const struct glcnn_graph *graph, const struct compiled *c)
{
    return graph->source_count ? c->sources[0]->descriptor.number_of_images : 1;
}

static glcnn_status refuse_budget(const struct glcnn_graph *graph, const struct compiled *c)
{
    return device_fail(
        graph->device, GLCNN_LIMIT_EXCEEDED,
        "graph: a batch of %u needs %llu bytes of the GPU's memory at least; the budget is "
        "%llu; raise it or lower the batch size",
        batch_of(graph, c), (unsigned long long)c->memory.planned,
        (unsigned long long)graph->memory_budget);
}

/* Refuses a budget below the least, though some choice may keep within it: what is refused shall not
 * depend on the search. Recording what takes the least takes long, since it may be in many parts; it
 * is left out where the model is sure. */
static glcnn_status check_budget(struct glcnn_graph *graph, struct compiled *c,
                                 struct memory_choice *least)
{
    if (least->schedule.peak < graph->memory_budget / SURE)
        return GLCNN_SUCCESS;
    glcnn_status status = record_choice(graph, c, *least);
    *least = c->choice;
    c->choice = (struct memory_choice){0};
    return status == GLCNN_SUCCESS && !is_within_budget(graph, c) ? refuse_budget(graph, c)
                                                                  : status;
}

/* Without a budget vectors of part sums take a small part of all memory: so they are in the way of no
 * budget, and with and without one are added up in the same order. */
static glcnn_status find_workspace(struct glcnn_graph *graph, struct compiled *c)
{
    c->choice = (struct memory_choice){
        .sub_batches = 1, .arrangement = ARRANGE_IN_LEVELS, .stores = UINT64_MAX};
    glcnn_status status = record(graph, c);
    if (status != GLCNN_SUCCESS)
        return status;
    c->workspace_size = c->command_buffer->workspace_size;
    uint64_t part = c->memory.planned / WORKSPACE,
             most = part > SMALL_WORKSPACE ? part : SMALL_WORKSPACE;
    if (c->workspace_size > most)
        c->workspace = (size_t)most;
    else
        c->whole_time = recording_time(&c->recording);
    return status;
}

static glcnn_status record_chosen(struct glcnn_graph *graph, struct compiled *c,
                                  struct memory_choice *least)
{
    struct budget *b = NULL;
    glcnn_status status = check_budget(graph, c, least);
    if (status == GLCNN_SUCCESS)
        status = budget_create(graph, c->sources, c->workspace, &b);
    if (status == GLCNN_SUCCESS)
        status = record_choices(graph, c, b, least);
    if (status == GLCNN_SUCCESS && !is_within_budget(graph, c))
        status = refuse_budget(graph, c);
    budget_destroy(&b);
    return status;
}

static glcnn_status record_within_budget(struct glcnn_graph *graph, struct compiled *c)
{
    struct memory_choice least;
    glcnn_status status = find_workspace(graph, c);
    if (status != GLCNN_SUCCESS || (!c->workspace && is_within_budget(graph, c)))
        return status;
    c->choice = (struct memory_choice){
        .sub_batches = 1, .stores = budget_stores(graph), .workspace = c->workspace};
    status = record_arranged(graph, c);
    if (status != GLCNN_SUCCESS || is_within_budget(graph, c))
        return status;
    status = choose_least(graph, c, &least);
    if (status != GLCNN_SUCCESS)
        return status;
    status = record_chosen(graph, c, &least);
    memory_choice_free(&least);
    return status;
}

/* ---- Compiling ---- */

/* With images in place of the sources, nothing recorded. To be freed, unless it is NULL. */
static glcnn_status make_compiled(struct glcnn_graph *graph,
                                  const struct glcnn_image_descriptor *sources,
                                  struct compiled **compiled)
{
    struct compiled *c = *compiled = calloc(1, sizeof *c);
    if (c)
        c->sources = calloc(graph->source_count + 1, sizeof(*c->sources));
    if (!c || !c->sources)
        return device_fail(graph->device, GLCNN_OUT_OF_MEMORY, "out of memory compiling a graph");
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < graph->source_count && status == GLCNN_SUCCESS; i++)
        status = glcnn_image_create(graph->device, &sources[i], &c->sources[i]);
    return status;
}

static glcnn_status compile(struct glcnn_graph *graph, const struct glcnn_image_descriptor *sources,
                            struct compiled **compiled)
{
    struct compiled *c;
    glcnn_status status = make_compiled(graph, sources, &c);
    if (status == GLCNN_SUCCESS)
        status = record_within_budget(graph, c);
    if (status != GLCNN_SUCCESS) {
        if (c)
            compiled_free(c, graph->source_count);
        return status;
    }
    c->next = graph->compiled;
    graph->compiled = c;
    *compiled = c;
    return GLCNN_SUCCESS;
}

static bool same(const struct glcnn_image_descriptor *a, const struct glcnn_image_descriptor *b)
{
    return a->width == b->width && a->height == b->height &&
           a->feature_channels == b->feature_channels &&
           a->number_of_images == b->number_of_images && a->channel_format == b->channel_format;
}

glcnn_status compiled_find(struct glcnn_graph *graph, const struct glcnn_image_descriptor *sources,
                           struct compiled **compiled)
{
    for (struct compiled *c = graph->compiled; c; c = c->next) {
        size_t i = 0;
        while (i < graph->source_count && same(&c->sources[i]->descriptor, &sources[i]))
            i++;
        if (i == graph->source_count) {
            *compiled = c;
            return GLCNN_SUCCESS;
        }
    }
    return compile(graph, sources, compiled);
}

static glcnn_status check_plan_arguments(const struct glcnn_graph *graph, const char *where,
                                         const struct glcnn_image_descriptor *sources,
                                         const void *result, const char *name)
{
    if (result && (sources || !graph->source_count))
        return GLCNN_SUCCESS;
    return device_fail(graph->device, GLCNN_INVALID_ARGUMENT, "%s: %s is NULL", where,
                       result ? "sources" : name);
}

/* The user's descriptors with their defaults, to be released with free, for `result`, called `name`
 * in the call `where`. */
static glcnn_status complete_sources(const struct glcnn_graph *graph, const char *where,
                                     const struct glcnn_image_descriptor *sources,
                                     const void *result, const char *name,
                                     struct glcnn_image_descriptor **complete)
{
    glcnn_status status = check_plan_arguments(graph, where, sources, result, name);
    if (status == GLCNN_SUCCESS)
        status = device_enter(graph->device);
    if (status != GLCNN_SUCCESS)
        return status;
    *complete = calloc(graph->source_count + 1, sizeof **complete);
    if (!*complete)
        return device_fail(graph->device, GLCNN_OUT_OF_MEMORY, "out of memory planning a graph");
    for (size_t i = 0; i < graph->source_count && status == GLCNN_SUCCESS; i++) {
        (*complete)[i] = sources[i];
        status = image_complete_descriptor(graph->device, where, &(*complete)[i]);
    }
    return status;
}

static uint32_t count_recomputed(const struct recompute_schedule *schedule)
{
    uint32_t count = 0;
    for (size_t i = 0; i < schedule->count; i++)
        count += schedule->items[i].step != schedule->items[i].at;
    return count;
}

glcnn_status glcnn_graph_memory(glcnn_graph *graph, const struct glcnn_image_descriptor *sources,
                                struct glcnn_memory_plan *memory)
{
    struct glcnn_image_descriptor *complete = NULL;
    struct compiled *c;
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    glcnn_status status =
        complete_sources(graph, "glcnn_graph_memory", sources, memory, "memory", &complete);
    if (status == GLCNN_SUCCESS)
        status = compiled_find(graph, complete, &c);
    free(complete);
    if (status == GLCNN_SUCCESS)
        *memory = (struct glcnn_memory_plan){c->memory.planned,
                                             c->memory.without_sharing,
                                             c->memory.lower_bound,
                                             c->recording.sub_batches,
                                             count_recomputed(&c->choice.schedule),
                                             recording_time(&c->recording) / c->whole_time - 1};
    return status;
}

static glcnn_status find_least(struct glcnn_graph *graph, struct compiled *c, uint64_t *bytes)
{
    glcnn_status status = record_least(graph, c);
    if (status == GLCNN_SUCCESS)
        *bytes = c->memory.planned;
    return status;
}

glcnn_status glcnn_graph_least_memory(glcnn_graph *graph,
                                      const struct glcnn_image_descriptor *sources, uint64_t *bytes)
{
    struct glcnn_image_descriptor *complete = NULL;
    struct compiled *c = NULL;
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    glcnn_status status =
        complete_sources(graph, "glcnn_graph_least_memory", sources, bytes, "bytes", &complete);
    if (status == GLCNN_SUCCESS)
        status = make_compiled(graph, complete, &c);
    if (status == GLCNN_SUCCESS)
        status = find_least(graph, c, bytes);
    if (c)
        compiled_free(c, graph->source_count);
    free(complete);
    return status;
}
