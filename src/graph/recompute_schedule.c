/* The schedule that a choice of modes makes, and what it takes. */
#include <stdlib.h>
#include <string.h>

#include "graph/recompute.h"

#define NEVER SIZE_MAX

/* An image as the schedule goes on. */
struct instance {
    size_t made, read; /* items: where it was made last, where it was read last; NEVER: not yet */
    size_t epoch;      /* when it was made */
};

struct recompute_evaluation {
    const struct recompute_model *model;
    const unsigned char *modes;
    struct recompute_schedule schedule;
    size_t capacity;
    struct instance *images;
    size_t *producers; /* by image: step; NEVER: none makes it */
    bool *needed;      /* by image: to be made for the step at hand */
    int64_t *changes;  /* by item: bytes that come to live there */
    size_t *segments;  /* first item of each, and the end */
    size_t segment_count;
    double *reference; /* by step: its time with all derived that can be */
    const struct recompute_view *view;
};

static void find_producers(struct recompute_evaluation *e)
{
    for (size_t i = 0; i < e->model->image_count; i++)
        e->producers[i] = NEVER;
    for (size_t s = 0; s < e->model->step_count; s++)
        for (int k = 0; k < 2; k++)
            if (e->model->steps[s].results[k] != SIZE_MAX)
                e->producers[e->model->steps[s].results[k]] = s;
}

/* ---- Time ---- */

static bool is_derived(const struct recompute_evaluation *e, size_t image)
{
    return e->modes ? e->modes[image] == RECOMPUTE_DERIVED : e->model->images[image].may_derive;
}

/* Bytes that are read for it. */
static double read_bytes(const struct recompute_evaluation *e, size_t image)
{
    if (!is_derived(e, image))
        return (double)e->model->images[image].size;
    const struct recompute_step *step = &e->model->steps[e->producers[image]];
    double bytes = 0;
    for (size_t i = 0; i < step->read_count; i++)
        bytes += read_bytes(e, step->reads[i]);
    return bytes;
}

static double step_time(const struct recompute_evaluation *e, size_t s)
{
    const struct recompute_step *step = &e->model->steps[s];
    if (step->results[0] != SIZE_MAX && is_derived(e, step->results[0]))
        return step->derived_time;
    double time = step->time;
    for (size_t i = 0; i < step->read_count; i++)
        time += read_bytes(e, step->reads[i]) - (double)e->model->images[step->reads[i]].size;
    return time;
}

/* Modes NULL stands for all derived that can be. */
static void find_reference(struct recompute_evaluation *e)
{
    e->modes = NULL;
    for (size_t s = 0; s < e->model->step_count; s++)
        e->reference[s] = step_time(e, s);
}

static void find_time(struct recompute_evaluation *e)
{
    for (size_t i = 0; i < e->schedule.count; i++) {
        const struct recompute_item *item = &e->schedule.items[i];
        double time = step_time(e, item->step);
        e->schedule.time += time;
        e->schedule.extra += time - (item->step == item->at ? e->reference[item->at] : 0);
    }
}

/* ---- Life ---- */

struct recompute_evaluation *recompute_evaluation_create(const struct recompute_model *model)
{
    struct recompute_evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    uint32_t last = model->step_count ? model->steps[model->step_count - 1].segment : 0;
    e->model = model;
    e->images = calloc(model->image_count + 1, sizeof *e->images);
    e->producers = calloc(model->image_count + 1, sizeof *e->producers);
    e->needed = calloc(model->image_count + 1, sizeof *e->needed);
    e->segments = calloc((size_t)last + 2, sizeof *e->segments);
    e->segment_count = (size_t)last + 1;
    e->reference = calloc(model->step_count + 1, sizeof *e->reference);
    if (!e->images || !e->producers || !e->needed || !e->segments || !e->reference) {
        recompute_evaluation_destroy(e);
        return NULL;
    }
    find_producers(e);
    find_reference(e);
    return e;
}

void recompute_evaluation_destroy(struct recompute_evaluation *e)
{
    if (!e)
        return;
    free(e->schedule.items);
    free(e->images);
    free(e->producers);
    free(e->needed);
    free(e->changes);
    free(e->segments);
    free(e->reference);
    free(e);
}

/* ---- The steps ---- */

static bool reserve(struct recompute_evaluation *e)
{
    if (e->schedule.count < e->capacity)
        return true;
    size_t capacity = e->capacity * 2 + 256;
    struct recompute_item *items = realloc(e->schedule.items, capacity * sizeof *items);
    if (items)
        e->schedule.items = items;
    int64_t *changes = realloc(e->changes, (capacity + 1) * sizeof *changes);
    if (changes)
        e->changes = changes;
    if (!items || !changes)
        return false;
    e->capacity = capacity;
    return true;
}

/* Images that are dropped live within an epoch of step `at`. */
static size_t epoch_of(const struct recompute_evaluation *e, size_t image, size_t at)
{
    const struct recompute_model *m = e->model;
    if (e->modes[image] == RECOMPUTE_KEPT)
        return 0;
    if (m->parts)
        return m->steps[at].segment;
    if (at < m->forward_count)
        return 0;
    return e->modes[image] == RECOMPUTE_ONCE ? 1 : at + 1;
}

/* What is derived is there as long as what it was made of. */
static bool is_live(const struct recompute_evaluation *e, size_t image, size_t at)
{
    const struct instance *made = &e->images[image];
    if (e->producers[image] == NEVER)
        return true;
    if (made->made == NEVER)
        return false;
    if (!is_derived(e, image))
        return made->epoch == epoch_of(e, image, at);
    const struct recompute_step *step = &e->model->steps[e->producers[image]];
    for (size_t i = 0; i < step->read_count; i++) {
        const struct instance *source = &e->images[step->reads[i]];
        if (e->producers[step->reads[i]] != NEVER &&
            (source->made > made->made || !is_live(e, step->reads[i], at)))
            return false;
    }
    return true;
}

/* Adds what step `s` reads and what is gone to what is needed; how many images that is. */
static size_t need_sources(struct recompute_evaluation *e, size_t s, size_t at)
{
    const struct recompute_step *step = &e->model->steps[s];
    size_t count = 0;
    for (size_t i = 0; i < step->read_count; i++) {
        size_t image = step->reads[i];
        if (e->needed[image] || is_live(e, image, at))
            continue;
        e->needed[image] = true;
        count++;
    }
    return count;
}

/* Bytes of an instance that is no more needed, from where it was made. */
static void end_instance(struct recompute_evaluation *e, size_t image)
{
    const struct recompute_image *i = &e->model->images[image];
    const struct instance *instance = &e->images[image];
    if (instance->made == NEVER || is_derived(e, image) || (e->view && e->view->free[image]))
        return;
    size_t first = instance->made, last = instance->read;
    uint64_t size = i->size;
    if (e->model->parts) {
        const struct recompute_item *items = e->schedule.items;
        uint32_t made = e->model->steps[items[first].at].segment;
        uint32_t read = e->model->steps[items[last].at].segment;
        size = made == read ? i->part : size;
        first = made == read ? first : e->segments[made];
        last = made == read ? last : e->segments[read + 1] - 1;
    }
    e->changes[first] += (int64_t)size;
    e->changes[last + 1] -= (int64_t)size;
}

/* Reading what is derived reads what it is made of. */
static void read_image(struct recompute_evaluation *e, size_t image, size_t item)
{
    e->images[image].read = item;
    if (!is_derived(e, image))
        return;
    const struct recompute_step *step = &e->model->steps[e->producers[image]];
    for (size_t i = 0; i < step->read_count; i++)
        read_image(e, step->reads[i], item);
}

static bool append(struct recompute_evaluation *e, size_t s, size_t at)
{
    if (!reserve(e))
        return false;
    const struct recompute_step *step = &e->model->steps[s];
    size_t item = e->schedule.count++;
    e->schedule.items[item] = (struct recompute_item){s, at};
    for (int k = 0; k < 2; k++) {
        size_t image = step->results[k];
        if (image == SIZE_MAX)
            continue;
        e->images[image] = (struct instance){item, item, epoch_of(e, image, at)};
        e->needed[image] = false;
    }
    return true;
}

/* Runs a step after those that make what it reads. A step's index is above that of all that it
 * depends on, so one way down finds them all, and they are run on the way up. */
static bool run_step(struct recompute_evaluation *e, size_t at)
{
    size_t missing = need_sources(e, at, at), s = at, lowest = at;
    while (missing) {
        const struct recompute_step *step = &e->model->steps[--s];
        bool makes = false;
        for (int k = 0; k < 2; k++)
            makes |= step->results[k] != SIZE_MAX && e->needed[step->results[k]];
        if (!makes)
            continue;
        lowest = s;
        missing += need_sources(e, s, at) - 1;
    }
    for (s = lowest; s < at; s++) {
        size_t image = e->model->steps[s].results[0];
        if (image != SIZE_MAX && e->needed[image] && !append(e, s, at))
            return false;
    }
    return append(e, at, at);
}

/* ---- What they take ---- */

static void find_segments(struct recompute_evaluation *e)
{
    size_t next = 0;
    for (size_t i = 0; i < e->schedule.count; i++)
        while (next <= e->model->steps[e->schedule.items[i].at].segment)
            e->segments[next++] = i;
    while (next <= e->segment_count)
        e->segments[next++] = e->schedule.count;
}

/* Once more from the first item on: which instance is read by what. */
static void count_bytes(struct recompute_evaluation *e)
{
    const struct recompute_model *m = e->model;
    memset(e->changes, 0, (e->schedule.count + 1) * sizeof *e->changes);
    for (size_t i = 0; i < m->image_count; i++)
        e->images[i].made = NEVER;
    for (size_t p = 0; p < e->schedule.count; p++) {
        const struct recompute_step *step = &m->steps[e->schedule.items[p].step];
        for (size_t i = 0; i < step->read_count; i++)
            read_image(e, step->reads[i], p);
        for (int k = 0; k < 2; k++)
            if (step->results[k] != SIZE_MAX) {
                end_instance(e, step->results[k]);
                e->images[step->results[k]] = (struct instance){p, p, 0};
            }
    }
    for (size_t i = 0; i < m->image_count; i++)
        end_instance(e, i);
}

static bool is_seen(const struct recompute_view *view, size_t at)
{
    return !view || (view->from[0] <= at && at < view->to[0]) ||
           (view->from[1] <= at && at < view->to[1]);
}

static void find_peak(struct recompute_evaluation *e, uint64_t budget)
{
    struct recompute_schedule *schedule = &e->schedule;
    int64_t bytes = 0;
    for (size_t p = 0; p < schedule->count; p++) {
        bytes += e->changes[p];
        uint64_t now =
            (uint64_t)bytes + e->model->held + e->model->steps[schedule->items[p].step].scratch;
        if (!is_seen(e->view, schedule->items[p].at))
            continue;
        schedule->peak = now > schedule->peak ? now : schedule->peak;
        schedule->excess += now > budget ? (double)(now - budget) : 0;
    }
}

const struct recompute_schedule *recompute_evaluation_run(struct recompute_evaluation *e,
                                                          const unsigned char *modes,
                                                          uint64_t budget,
                                                          const struct recompute_view *view)
{
    e->modes = modes;
    e->view = view;
    e->schedule = (struct recompute_schedule){.items = e->schedule.items};
    for (size_t i = 0; i < e->model->image_count; i++) {
        e->images[i] = (struct instance){NEVER, NEVER, 0};
        e->needed[i] = false;
    }
    for (size_t s = 0; s < e->model->step_count; s++)
        if (!run_step(e, s))
            return NULL;
    find_segments(e);
    count_bytes(e);
    find_peak(e, budget);
    find_time(e);
    return &e->schedule;
}

void recompute_evaluation_lifetime(const struct recompute_evaluation *e, size_t image, size_t *made,
                                   size_t *read)
{
    *made = e->images[image].made;
    *read = e->images[image].read;
}
