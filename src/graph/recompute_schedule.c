/* The schedule that a choice of modes makes, and what it takes. */
#include <stdlib.h>

#include "graph/recompute.h"

#define NEVER SIZE_MAX

/* An image as the schedule goes on. */
struct instance {
    size_t producer;   /* step; NEVER: none makes it */
    size_t made, read; /* items: where it was made last, where it was read last; NEVER: not yet */
    size_t epoch;      /* when it was made; of NEAR, when it was made or read last */
    bool needed;       /* to be made for the step at hand */
};

/* A segment as the schedule goes on. */
struct segment {
    size_t first;    /* item */
    int64_t carried; /* bytes that live to its end */
};

struct recompute_evaluation {
    const struct recompute_model *model;
    const unsigned char *modes;
    struct recompute_schedule schedule;
    size_t capacity;
    struct instance *images;
    size_t *missing; /* steps that make what is needed */
    size_t missing_count;
    int64_t *changes;         /* by item: bytes that come to live there */
    struct segment *segments; /* and one that begins at the end */
    size_t segment_count, begun_segments;
    double reference; /* time of each step once with all fused that can be */
};

/* ---- Time ---- */

static bool is_fused(const struct recompute_evaluation *e, size_t image)
{
    return e->modes[image] == RECOMPUTE_FUSED;
}

/* Bytes that are read for it. */
static double read_bytes(const struct recompute_evaluation *e, size_t image)
{
    if (!is_fused(e, image))
        return (double)e->model->images[image].size;
    const struct recompute_step *step = &e->model->steps[e->images[image].producer];
    double bytes = 0;
    for (size_t i = 0; i < step->read_count; i++)
        bytes += read_bytes(e, step->reads[i]);
    return bytes;
}

static double step_time(const struct recompute_evaluation *e, size_t s)
{
    const struct recompute_step *step = &e->model->steps[s];
    if (step->results[0] != SIZE_MAX && is_fused(e, step->results[0]))
        return step->fused_time;
    double time = step->time;
    for (size_t i = 0; i < step->read_count; i++)
        if (is_fused(e, step->reads[i]))
            time += read_bytes(e, step->reads[i]) - (double)e->model->images[step->reads[i]].size;
    return time;
}

static void find_time(struct recompute_evaluation *e)
{
    struct recompute_schedule *schedule = &e->schedule;
    for (size_t i = 0; i < schedule->count; i++)
        schedule->time += step_time(e, schedule->items[i].step);
    schedule->extra = schedule->time - e->reference;
}

/* ---- Life ---- */

static void find_producers(struct recompute_evaluation *e)
{
    for (size_t i = 0; i < e->model->image_count; i++)
        e->images[i].producer = NEVER;
    for (size_t s = 0; s < e->model->step_count; s++)
        for (int k = 0; k < 2; k++)
            if (e->model->steps[s].results[k] != SIZE_MAX)
                e->images[e->model->steps[s].results[k]].producer = s;
}

static bool find_reference(struct recompute_evaluation *e)
{
    unsigned char *modes = calloc(e->model->image_count + 1, 1);
    if (!modes)
        return false;
    for (size_t i = 0; i < e->model->image_count; i++)
        modes[i] = e->model->images[i].may_fuse ? RECOMPUTE_FUSED : RECOMPUTE_KEPT;
    e->modes = modes;
    for (size_t s = 0; s < e->model->step_count; s++)
        e->reference += step_time(e, s);
    free(modes);
    return true;
}

static bool reserve(struct recompute_evaluation *e)
{
    if (e->schedule.count < e->capacity)
        return true;
    size_t capacity = e->capacity * 2 + e->model->step_count + 256;
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

static void begin_segments(struct recompute_evaluation *e, size_t end)
{
    while (e->begun_segments < end)
        e->segments[e->begun_segments++] = (struct segment){e->schedule.count, 0};
}

static bool allocate(struct recompute_evaluation *e)
{
    const struct recompute_model *m = e->model;
    e->images = calloc(m->image_count + 1, sizeof *e->images);
    e->missing = calloc(m->image_count + 1, sizeof *e->missing);
    e->segments = calloc(e->segment_count + 1, sizeof *e->segments);
    return e->images && e->missing && e->segments && reserve(e);
}

struct recompute_evaluation *recompute_evaluation_create(const struct recompute_model *model)
{
    struct recompute_evaluation *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->model = model;
    e->segment_count = model->step_count ? model->steps[model->step_count - 1].segment + 1u : 1;
    bool good = allocate(e);
    if (good)
        find_producers(e);
    if (!good || !find_reference(e)) {
        recompute_evaluation_destroy(e);
        return NULL;
    }
    return e;
}

void recompute_evaluation_destroy(struct recompute_evaluation *e)
{
    if (!e)
        return;
    free(e->schedule.items);
    free(e->images);
    free(e->missing);
    free(e->changes);
    free(e->segments);
    free(e);
}

/* ---- The steps ---- */

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

/* Between two steps in a row what both need takes no more than while they run. */
static bool is_of_epoch(const struct recompute_evaluation *e, size_t image, size_t at)
{
    size_t made = e->images[image].epoch, epoch = epoch_of(e, image, at);
    bool in_row = e->modes[image] == RECOMPUTE_NEAR && !e->model->parts && made > 0;
    return made == epoch || (in_row && made + 1 == epoch);
}

/* What is fused is there as long as what it was made of. */
static bool is_live(struct recompute_evaluation *e, size_t image, size_t at)
{
    const struct instance *made = &e->images[image];
    if (e->images[image].producer == NEVER)
        return true;
    if (made->made == NEVER)
        return false;
    if (!is_fused(e, image))
        return is_of_epoch(e, image, at);
    const struct recompute_step *step = &e->model->steps[e->images[image].producer];
    for (size_t i = 0; i < step->read_count; i++) {
        const struct instance *source = &e->images[step->reads[i]];
        if (e->images[step->reads[i]].producer != NEVER &&
            (source->made > made->made || !is_live(e, step->reads[i], at)))
            return false;
    }
    return true;
}

/* What is there is read for step `at`, too. */
static void touch(struct recompute_evaluation *e, size_t image, size_t at)
{
    if (e->images[image].producer == NEVER)
        return;
    if (!is_fused(e, image)) {
        e->images[image].epoch = epoch_of(e, image, at);
        return;
    }
    const struct recompute_step *step = &e->model->steps[e->images[image].producer];
    for (size_t i = 0; i < step->read_count; i++)
        touch(e, step->reads[i], at);
}

/* Lists the steps that make what step `s` reads and what is gone. */
static void need_sources(struct recompute_evaluation *e, size_t s, size_t at)
{
    const struct recompute_step *step = &e->model->steps[s];
    for (size_t i = 0; i < step->read_count; i++) {
        size_t image = step->reads[i];
        if (e->modes[image] == RECOMPUTE_KEPT || e->images[image].needed)
            continue;
        if (is_live(e, image, at)) {
            touch(e, image, at);
            continue;
        }
        e->images[image].needed = true;
        e->missing[e->missing_count++] = e->images[image].producer;
    }
}

/* The last first, nearly as they were found: a step's index is above that of all that it depends
 * on. */
static void sort_missing(struct recompute_evaluation *e)
{
    size_t *steps = e->missing;
    for (size_t i = 1; i < e->missing_count; i++) {
        size_t step = steps[i], at = i;
        for (; at > 0 && steps[at - 1] < step; at--)
            steps[at] = steps[at - 1];
        steps[at] = step;
    }
}

/* An instance of an image that is no more needed lives from where it was made: its bytes. In parts,
 * what several segments use lives for all of these. */
static void end_instance(struct recompute_evaluation *e, size_t image)
{
    const struct recompute_image *i = &e->model->images[image];
    const struct instance *instance = &e->images[image];
    if (instance->made == NEVER || is_fused(e, image))
        return;
    const struct recompute_item *items = e->schedule.items;
    uint32_t made = e->model->steps[items[instance->made].at].segment;
    uint32_t read = e->model->steps[items[instance->read].at].segment;
    if (e->model->parts && made != read) {
        e->changes[e->segments[made].first] += (int64_t)i->size;
        e->segments[read].carried += (int64_t)i->size;
    } else {
        int64_t size = (int64_t)(e->model->parts ? i->part : i->size);
        e->changes[instance->made] += size;
        e->changes[instance->read + 1] -= size;
    }
}

/* Reading what is fused reads what it is made of. */
static void read_sources(struct recompute_evaluation *e, const struct recompute_step *step,
                         size_t item)
{
    for (size_t i = 0; i < step->read_count; i++) {
        size_t image = step->reads[i];
        e->images[image].read = item;
        if (is_fused(e, image))
            read_sources(e, &e->model->steps[e->images[image].producer], item);
    }
}

static bool append(struct recompute_evaluation *e, size_t s, size_t at)
{
    if (!reserve(e))
        return false;
    const struct recompute_step *step = &e->model->steps[s];
    size_t item = e->schedule.count++;
    e->schedule.items[item] = (struct recompute_item){s, at};
    e->changes[item + 1] = 0;
    read_sources(e, step, item);
    for (int k = 0; k < 2; k++) {
        size_t image = step->results[k];
        if (image == SIZE_MAX)
            continue;
        end_instance(e, image);
        e->images[image] = (struct instance){
            .producer = s, .made = item, .read = item, .epoch = epoch_of(e, image, at)};
    }
    return true;
}

/* Runs a step after those that make what it reads. */
static bool run_step(struct recompute_evaluation *e, size_t at)
{
    begin_segments(e, (size_t)e->model->steps[at].segment + 1);
    e->missing_count = 0;
    need_sources(e, at, at);
    for (size_t i = 0; i < e->missing_count; i++)
        need_sources(e, e->missing[i], at);
    sort_missing(e);
    for (size_t i = e->missing_count; i-- > 0;)
        if (!append(e, e->missing[i], at))
            return false;
    return append(e, at, at);
}

static void begin(struct recompute_evaluation *e, const unsigned char *modes)
{
    e->modes = modes;
    for (size_t i = 0; i < e->model->image_count; i++)
        e->images[i] = (struct instance){e->images[i].producer, NEVER, NEVER, 0, false};
    e->changes[0] = 0;
    e->begun_segments = 0;
    e->schedule = (struct recompute_schedule){.items = e->schedule.items};
}

/* ---- What they take ---- */

static void end(struct recompute_evaluation *e)
{
    begin_segments(e, e->segment_count + 1);
    for (size_t i = 0; i < e->model->image_count; i++)
        end_instance(e, i);
    for (size_t i = 0; i < e->segment_count; i++)
        e->changes[e->segments[i + 1].first] -= e->segments[i].carried;
}

static void find_peak(struct recompute_evaluation *e, uint64_t budget)
{
    struct recompute_schedule *schedule = &e->schedule;
    int64_t bytes = 0;
    for (size_t p = 0; p < schedule->count; p++) {
        bytes += e->changes[p];
        uint64_t now =
            (uint64_t)bytes + e->model->held + e->model->steps[schedule->items[p].step].scratch;
        schedule->peak = now > schedule->peak ? now : schedule->peak;
        schedule->excess += now > budget ? (double)(now - budget) : 0;
    }
}

const struct recompute_schedule *recompute_evaluation_run(struct recompute_evaluation *e,
                                                          const unsigned char *modes,
                                                          uint64_t budget)
{
    begin(e, modes);
    for (size_t s = 0; s < e->model->step_count; s++)
        if (!run_step(e, s))
            return NULL;
    end(e);
    find_peak(e, budget);
    find_time(e);
    return &e->schedule;
}
