/* The choice of an implementation, by the device's traits or by name. */
#include "encode/implementation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/descriptor.h"
#include "encode/tune.h"
#include "record/tuning_cache.h"
#include "record/program.h"
#include "base/text.h"

#define PHRASE 96

/* ---- Names in GLCNN_IMPLEMENTATIONS ---- */

/* The name that begins `list`, and what follows it; false at the end. */
static bool next_name(const char **list, const char **name, size_t *length)
{
    *name = *list + strspn(*list, ", ");
    *length = strcspn(*name, ", ");
    *list = *name + *length;
    return *length > 0;
}

static bool is_named(const char *list, const char *row)
{
    const char *name;
    size_t length;
    while (list && next_name(&list, &name, &length))
        if (strlen(row) == length && strncmp(row, name, length) == 0)
            return true;
    return false;
}

/* ---- Rows ---- */

/* The rows that src/desktop has for the list, unless it is one of its own; NULL: none. */
static const struct implementation *desktop_rows(const struct implementation_list *list)
{
    for (size_t i = 0; glcnn_desktop_registry[i]; i++)
        if (glcnn_desktop_registry[i] != list &&
            strcmp(glcnn_desktop_registry[i]->name, list->name) == 0)
            return glcnn_desktop_registry[i]->rows;
    return NULL;
}

struct implementation_walk implementation_walk_of(const struct implementation_list *list)
{
    const struct implementation *first = desktop_rows(list);
    return first ? (struct implementation_walk){first, list->rows}
                 : (struct implementation_walk){list->rows, NULL};
}

const struct implementation *implementation_next(struct implementation_walk *walk)
{
    if (!walk->next->name && walk->then) {
        walk->next = walk->then;
        walk->then = NULL;
    }
    return walk->next->name ? walk->next++ : NULL;
}

/* ---- Choice ---- */

/* Why a row is passed over. */
enum obstacle {
    NO_OBSTACLE,
    FEW_REGISTERS,
    NARROW_SUBGROUPS,
    NO_SHARED_MEMORY,
    COSTLY_LOADS,
    FAST_IMAGE_STORES,
    COSTLY_PIXELS,
    BATCHED_DISPATCHES,
    FEW_BUFFERS,
    UNSUPPORTED,
    REFUSED_BY_DRIVER,
    UNPROFITABLE
};

static bool holds(const struct condition *condition, const void *problem)
{
    return !condition->holds || condition->holds(problem);
}

/* What of a row's needs the traits do not meet. */
static enum obstacle lacks(const struct glcnn_device_traits *traits,
                           const struct implementation *row)
{
    if (row->registers > traits->registers)
        return FEW_REGISTERS;
    if (row->width > traits->width)
        return NARROW_SUBGROUPS;
    if (row->shared_memory && !traits->shared_memory)
        return NO_SHARED_MEMORY;
    if (row->uniform_loads && !traits->uniform_loads)
        return COSTLY_LOADS;
    if (row->slow_image_stores && !traits->slow_image_stores)
        return FAST_IMAGE_STORES;
    if (row->recomputes_pixels && !traits->recomputes_pixels)
        return COSTLY_PIXELS;
    return row->submits_dispatches && !traits->submits_dispatches ? BATCHED_DISPATCHES
                                                                  : NO_OBSTACLE;
}

/* What forbids to take a row, even one that is forced. */
static enum obstacle is_closed(const struct glcnn_device *device, const struct implementation *row,
                               const void *problem)
{
    if (row->buffers > device->info.limits.storage_blocks)
        return FEW_BUFFERS;
    if (!holds(&row->supported, problem))
        return UNSUPPORTED;
    return program_is_refused(device, row->name) ? REFUSED_BY_DRIVER : NO_OBSTACLE;
}

static enum obstacle forbids(const struct plan *plan, const struct implementation *row,
                             const void *problem)
{
    enum obstacle lacking = lacks(&plan->device->info.traits, row);
    return lacking ? lacking : is_closed(plan->device, row, problem);
}

/* The end of a message about a row, after "which needs" or "which gains only with". */
static const char *phrase_of(enum obstacle obstacle, const struct glcnn_device *device,
                             const struct implementation *row, char text[PHRASE])
{
    static const char *const phrases[] = {
        [NO_SHARED_MEMORY] = "shared memory on the chip",
        [COSTLY_LOADS] = "loads of one address for a work group that cost less than fetches",
        [FAST_IMAGE_STORES] = "image stores that cost more than loads",
        [COSTLY_PIXELS] = "pixels that cost less to recompute than to store",
        [BATCHED_DISPATCHES] = "a driver that submits dispatches one by one",
        [UNSUPPORTED] = "another problem",
        [REFUSED_BY_DRIVER] = "a driver that runs its program",
        [UNPROFITABLE] = "other sizes"};
    if (obstacle == FEW_REGISTERS)
        snprintf(text, PHRASE, "registers for %u vec4 values, and this GPU has %u", row->registers,
                 device->info.traits.registers);
    else if (obstacle == NARROW_SUBGROUPS)
        snprintf(text, PHRASE, "subgroups of %u invocations, and this GPU has %u", row->width,
                 device->info.traits.width);
    else if (obstacle == FEW_BUFFERS)
        snprintf(text, PHRASE, "%u storage blocks in a shader, and this GPU has %u", row->buffers,
                 device->info.limits.storage_blocks);
    else if (obstacle == UNSUPPORTED && row->supported.phrase)
        return row->supported.phrase;
    else if (obstacle == UNPROFITABLE && row->profitable.phrase)
        return row->profitable.phrase;
    else
        return phrases[obstacle];
    return text;
}

static void log_passed_over(const struct plan *plan, const struct implementation *row,
                            enum obstacle obstacle)
{
    char text[PHRASE];
    device_log(plan->device, GLCNN_LOG_DEBUG, "%s: not %s, which %s %s", plan_display_name(plan),
               row->name, obstacle == UNPROFITABLE ? "gains only with" : "needs",
               phrase_of(obstacle, plan->device, row, text));
}

static const struct implementation *
forced_row(const struct plan *plan, const struct implementation_list *list, const void *problem)
{
    const char *forced = plan->device->forced_implementations;
    const struct implementation *row;
    struct implementation_walk walk = implementation_walk_of(list);
    while (forced && (row = implementation_next(&walk)))
        if (is_named(forced, row->name) && !is_closed(plan->device, row, problem))
            return row;
    return NULL;
}

static const struct implementation *last_row(const struct implementation_list *list)
{
    const struct implementation *row = list->rows;
    while (row[1].name)
        row++;
    return row;
}

/* Fails the plan where the driver ran no row's programs. */
static void expect_to_run(struct plan *plan, const struct implementation_list *list,
                          const void *problem)
{
    const struct implementation *last = last_row(list), *first;
    struct implementation_walk walk = implementation_walk_of(list);
    if (!program_is_refused(plan->device, last->name))
        return;
    do
        first = implementation_next(&walk);
    while (first != last && !holds(&first->supported, problem));
    plan_fail(
        plan, GLCNN_SHADER_ERROR,
        "%s: the driver of %s accepts the programs of all implementations, from %s to %s, and "
        "runs none of them; use another device, or report it with what glcnn info says",
        plan->kernel, plan->device->info.renderer, first->name, last->name);
}

/* The first row that may be taken and is profitable, or the last. */
static const struct implementation *
usual_row(struct plan *plan, const struct implementation_list *list, const void *problem)
{
    const struct implementation *row, *last = last_row(list);
    struct implementation_walk walk = implementation_walk_of(list);
    while ((row = implementation_next(&walk)) != last) {
        enum obstacle obstacle = forbids(plan, row, problem);
        if (!obstacle && holds(&row->profitable, problem))
            return row;
        if (plan->device->log)
            log_passed_over(plan, row, obstacle ? obstacle : UNPROFITABLE);
    }
    expect_to_run(plan, list, problem);
    return last;
}

/* ---- Choice by trials ---- */

/* Asks for a trial of the usual row and of all others that may be taken. */
static void ask(const struct plan *plan, const struct implementation_list *list,
                const void *problem, const struct implementation *usual)
{
    struct tuned *tuned = plan->tuned;
    const struct implementation *row;
    tuned->rows[0] = usual;
    tuned->row_count = 1;
    struct implementation_walk walk = implementation_walk_of(list);
    while ((row = implementation_next(&walk)))
        if (row != usual && tuned->row_count < TUNED_ROWS && !forbids(plan, row, problem))
            tuned->rows[tuned->row_count++] = row;
    if (tuned->row_count > 1)
        tuned->list = list;
}

/* A list may be asked for several times, also about what the row that was decided for cannot do. */
static const struct implementation *tuned_row(const struct plan *plan,
                                              const struct implementation_list *list,
                                              const void *problem,
                                              const struct implementation *usual)
{
    const struct tuned *tuned = plan->tuned;
    for (size_t i = 0; i < tuned->count; i++)
        if (tuned->decided[i].list == list)
            return forbids(plan, tuned->decided[i].row, problem) ? usual : tuned->decided[i].row;
    if (tuned->asks && !tuned->list)
        ask(plan, list, problem, usual);
    return usual;
}

static const struct implementation *
choose(struct plan *plan, const struct implementation_list *list, const void *problem)
{
    const struct implementation *forced = forced_row(plan, list, problem);
    if (forced)
        return forced;
    const struct implementation *usual = usual_row(plan, list, problem);
    return plan->tuned ? tuned_row(plan, list, problem, usual) : usual;
}

const struct implementation *implementation_choose(struct plan *plan,
                                                   const struct implementation_list *list,
                                                   const void *problem)
{
    const struct implementation *row = choose(plan, list, problem);
    device_log(plan->device, GLCNN_LOG_DEBUG, "%s: list %s takes %s", plan_display_name(plan),
               list->name, row->name);
    return row;
}

void implementation_plan(struct plan *plan, const struct implementation_list *list,
                         const void *problem)
{
    const struct implementation *row = implementation_choose(plan, list, problem);
    row->plan(plan, row, problem);
}

void pass_implementation(struct pass *pass, const struct implementation *row)
{
    pass->owner.implementation = row->name;
}

void plan_implementation(struct plan *plan, size_t first, const struct implementation *row)
{
    for (size_t i = first; i < plan->pass_count; i++)
        pass_implementation(&plan->passes[i], row);
}

/* ---- Check of the names ---- */

typedef void (*visitor)(void *user, const struct implementation *row);

static void each_row_of(const struct implementation_list *list, visitor visit, void *user)
{
    const struct implementation *row;
    struct implementation_walk walk = implementation_walk_of(list);
    while ((row = implementation_next(&walk)))
        visit(user, row);
}

/* Calls `visit` with every row of every list; a list that descriptors share comes several times. Lists
 * that src/desktop chooses from by itself are no descriptor's. */
static void each_row(visitor visit, void *user)
{
    for (size_t i = 0; glcnn_registry[i]; i++)
        for (const struct implementation_list *const *list = glcnn_registry[i]->implementations;
             list && *list; list++)
            each_row_of(*list, visit, user);
    for (size_t i = 0; glcnn_desktop_registry[i]; i++)
        each_row_of(glcnn_desktop_registry[i], visit, user);
}

static void add_name(void *user, const struct implementation *row)
{
    struct text *names = user;
    if (!is_named(names->bytes, row->name))
        text_format(names, "%s%s", names->length ? ", " : "", row->name);
}

struct naming {
    const char *list; /* as GLCNN_IMPLEMENTATIONS has it */
    bool found;
};

static void find_named(void *user, const struct implementation *row)
{
    struct naming *naming = user;
    naming->found |= is_named(naming->list, row->name);
}

bool implementations_concern(const struct glcnn_device *device,
                             const struct glcnn_descriptor *descriptor)
{
    struct naming naming = {.list = device->forced_implementations};
    for (const struct implementation_list *const *list = descriptor->implementations;
         naming.list && list && *list; list++)
        each_row_of(*list, find_named, &naming);
    return !naming.list || naming.found;
}

glcnn_status implementations_check(struct glcnn_device *device)
{
    struct text names = {0};
    const char *list = device->forced_implementations, *name;
    size_t length;
    glcnn_status status = GLCNN_SUCCESS;
    if (!list)
        return GLCNN_SUCCESS;
    each_row(add_name, &names);
    while (status == GLCNN_SUCCESS && next_name(&list, &name, &length)) {
        struct text one = {0};
        text_add(&one, name, length);
        if (!one.bytes || !names.bytes)
            status = device_fail(device, GLCNN_OUT_OF_MEMORY,
                                 "out of memory reading GLCNN_IMPLEMENTATIONS");
        else if (!is_named(names.bytes, one.bytes))
            status = device_fail(device, GLCNN_INVALID_ARGUMENT,
                                 "GLCNN_IMPLEMENTATIONS names \"%s\"; there are %s", one.bytes,
                                 names.bytes);
        text_free(&one);
    }
    text_free(&names);
    return status;
}
