/* The choice of what to keep: recompute.h tells how. */
#include <stdlib.h>
#include <string.h>

#include "graph/recompute.h"

#define MOST_LABELS    1024 /* of one last kept image; a chain of more loses the certain optimum */
#define MOST_IN_CHAIN  160  /* images that the optimum for chains is looked for with */
#define MOST_EXCHANGED 48   /* images of which pairs are exchanged */
#define MOST_ROUNDS    8

/* What is dropped between two kept images, which are not in it. */
struct run {
    uint64_t peak; /* while it lives or is made, without what is kept before it */
    double extra;
};

/* A choice up to an image that is kept. */
struct label {
    uint64_t kept; /* bytes */
    double extra;
    size_t from, from_label; /* the kept image before it, and its label */
};

struct labels {
    struct label *items;
    size_t count, capacity;
};

struct recompute_search {
    const struct recompute_model *model;
    struct recompute_evaluation *evaluation;
    size_t *candidates; /* images that may be dropped, in the order of their making */
    size_t count;
    size_t *made, *read; /* by candidate, from 1 on: steps that make it and that read it last */
    struct run *runs;    /* [count + 2][count + 2]; NULL until needed */
    unsigned char *modes, *other, *trial;
    bool *free;
};

/* ---- Life ---- */

static void list_candidates(struct recompute_search *s)
{
    const struct recompute_model *m = s->model;
    for (size_t i = 0; i < m->step_count; i++)
        for (int k = 0; k < 2; k++) {
            size_t image = m->steps[i].results[k];
            if (image != SIZE_MAX && m->images[image].may_drop)
                s->candidates[s->count++] = image;
        }
}

struct recompute_search *recompute_search_create(const struct recompute_model *model)
{
    struct recompute_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = model;
    s->evaluation = recompute_evaluation_create(model);
    s->candidates = calloc(model->image_count + 2, sizeof *s->candidates);
    s->made = calloc(model->image_count + 2, sizeof *s->made);
    s->read = calloc(model->image_count + 2, sizeof *s->read);
    s->modes = calloc(model->image_count + 1, 1);
    s->other = calloc(model->image_count + 1, 1);
    s->trial = calloc(model->image_count + 1, 1);
    s->free = calloc(model->image_count + 1, sizeof *s->free);
    if (!s->evaluation || !s->candidates || !s->made || !s->read || !s->modes || !s->other ||
        !s->trial || !s->free) {
        recompute_search_destroy(s);
        return NULL;
    }
    list_candidates(s);
    return s;
}

void recompute_search_destroy(struct recompute_search *s)
{
    if (!s)
        return;
    recompute_evaluation_destroy(s->evaluation);
    free(s->candidates);
    free(s->made);
    free(s->read);
    free(s->runs);
    free(s->modes);
    free(s->other);
    free(s->trial);
    free(s->free);
    free(s);
}

/* ---- Choices ---- */

const struct recompute_schedule *recompute_evaluate(struct recompute_search *s,
                                                    const unsigned char *modes, uint64_t budget)
{
    return recompute_evaluation_run(s->evaluation, modes, budget, NULL);
}

/* What a choice takes. */
struct score {
    uint64_t peak;
    double excess, extra;
};

static struct score score_of(struct recompute_search *s, const unsigned char *modes,
                             uint64_t budget)
{
    const struct recompute_schedule *schedule = recompute_evaluate(s, modes, budget);
    if (!schedule)
        return (struct score){UINT64_MAX, 1e300, 1e300};
    return (struct score){schedule->peak, schedule->excess, schedule->extra};
}

static void set_all(const struct recompute_search *s, unsigned char *modes,
                    enum recompute_mode mode)
{
    memset(modes, RECOMPUTE_KEPT, s->model->image_count);
    for (size_t i = 0; i < s->count; i++)
        modes[s->candidates[i]] = (unsigned char)mode;
}

static bool is_within(const struct score *score)
{
    return score->excess <= 0;
}

/* ---- Chains ---- */

/* Candidates count from 1; 0 stands before the first step, count + 1 before the backward pass. */
static void find_lifetimes(struct recompute_search *s)
{
    set_all(s, s->modes, RECOMPUTE_KEPT);
    recompute_evaluate(s, s->modes, 0);
    for (size_t k = 1; k <= s->count; k++)
        recompute_evaluation_lifetime(s->evaluation, s->candidates[k - 1], &s->made[k],
                                      &s->read[k]);
}

/* Candidates between `first` and `last` are dropped. */
static void choose_run(const struct recompute_search *s, size_t first, size_t last,
                       unsigned char *modes)
{
    for (size_t k = first + 1; k < last; k++)
        modes[s->candidates[k - 1]] = RECOMPUTE_ONCE;
}

/* A run is made in the forward pass up to the image after it, and made again and read when that one
 * has been read last, until the image before it has. */
static struct run find_run(struct recompute_search *s, size_t first, size_t last)
{
    const struct recompute_model *m = s->model;
    const struct recompute_view view = {
        .from = {first ? s->made[first] + 1 : 0,
                 last <= s->count ? s->read[last] + 1 : m->forward_count},
        .to = {last <= s->count ? s->made[last] + 1 : m->forward_count,
               first ? s->read[first] + 1 : m->step_count},
        .free = s->free};
    set_all(s, s->modes, RECOMPUTE_KEPT);
    choose_run(s, first, last, s->modes);
    const struct recompute_schedule *schedule =
        recompute_evaluation_run(s->evaluation, s->modes, 0, &view);
    return schedule ? (struct run){schedule->peak, schedule->extra} : (struct run){UINT64_MAX, 0};
}

static bool find_runs(struct recompute_search *s)
{
    size_t n = s->count + 2;
    if (s->runs || !(s->runs = calloc(n * n, sizeof *s->runs)))
        return s->runs;
    find_lifetimes(s);
    for (size_t first = 0; first + 1 < n; first++) {
        if (first)
            s->free[s->candidates[first - 1]] = true;
        for (size_t last = first + 1; last < n; last++)
            s->runs[first * n + last] = find_run(s, first, last);
    }
    memset(s->free, 0, s->model->image_count * sizeof *s->free);
    return true;
}

static bool add_label(struct labels *labels, struct label label)
{
    if (labels->count == labels->capacity) {
        size_t capacity = labels->capacity * 2 + 16;
        struct label *items = realloc(labels->items, capacity * sizeof *items);
        if (!items)
            return false;
        labels->items = items;
        labels->capacity = capacity;
    }
    labels->items[labels->count++] = label;
    return true;
}

static int compare_labels(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    if (x->kept != y->kept)
        return x->kept < y->kept ? -1 : 1;
    return x->extra < y->extra ? -1 : x->extra > y->extra;
}

/* Only labels that are better than all with fewer bytes stay, and of these not too many. */
static void prune(struct labels *labels)
{
    size_t kept = 0;
    if (!labels->count)
        return;
    qsort(labels->items, labels->count, sizeof *labels->items, compare_labels);
    for (size_t i = 0; i < labels->count; i++)
        if (!kept || labels->items[i].extra < labels->items[kept - 1].extra)
            labels->items[kept++] = labels->items[i];
    size_t step = (kept + MOST_LABELS - 1) / MOST_LABELS;
    labels->count = (kept + step - 1) / step;
    for (size_t i = 0; i < labels->count; i++)
        labels->items[i] = labels->items[kept - 1 - (labels->count - 1 - i) * step];
}

/* All choices up to candidate `last`, each with a kept image before it. */
static bool extend(const struct recompute_search *s, struct labels *all, size_t last,
                   uint64_t budget)
{
    uint64_t size = last <= s->count ? s->model->images[s->candidates[last - 1]].size : 0;
    for (size_t first = 0; first < last; first++) {
        const struct run *run = &s->runs[first * (s->count + 2) + last];
        for (size_t i = 0; i < all[first].count; i++) {
            const struct label *label = &all[first].items[i];
            if (run->peak > budget || label->kept > budget - run->peak)
                break;
            struct label next = {label->kept + size, label->extra + run->extra, first, i};
            if (!add_label(&all[last], next))
                return false;
        }
    }
    prune(&all[last]);
    return true;
}

/* From the end back to the first image. */
static void follow_labels(const struct recompute_search *s, const struct labels *all,
                          unsigned char *modes)
{
    size_t last = s->count + 1;
    const struct label *label = &all[last].items[all[last].count - 1];
    set_all(s, modes, RECOMPUTE_KEPT);
    while (last) {
        choose_run(s, label->from, last, modes);
        last = label->from;
        label = last ? &all[last].items[label->from_label] : NULL;
    }
}

/* The best choice for a chain; of a graph with branches one that may even take more than the
 * budget. False: there is none. */
static bool plan_chain(struct recompute_search *s, uint64_t budget, unsigned char *modes)
{
    size_t last = s->count + 1;
    struct labels *all =
        s->count <= MOST_IN_CHAIN && find_runs(s) ? calloc(last + 1, sizeof *all) : NULL;
    bool good = all && add_label(&all[0], (struct label){0});
    for (size_t k = 1; good && k <= last; k++)
        good = extend(s, all, k, budget);
    good = good && all[last].count;
    if (good)
        follow_labels(s, all, modes);
    for (size_t k = 0; all && k <= last; k++)
        free(all[k].items);
    free(all);
    return good;
}

/* ---- Branches ---- */

/* Changes one mode, up to `last`, so that the excess is lessened the most for its time. False: none
 * lessens it. */
static bool drop_one(struct recompute_search *s, uint64_t budget, enum recompute_mode last,
                     unsigned char *modes, struct score *now)
{
    double best = 0;
    size_t found = SIZE_MAX;
    unsigned char mode = 0;
    struct score after = *now;
    for (size_t k = 0; k < s->count; k++) {
        size_t image = s->candidates[k];
        unsigned char before = modes[image];
        for (unsigned char m = (unsigned char)(before + 1); m <= (unsigned char)last; m++) {
            modes[image] = m;
            struct score score = score_of(s, modes, budget);
            double gain = (now->excess - score.excess) / (score.extra - now->extra + 1e-9);
            if (score.excess >= now->excess || gain <= best)
                continue;
            best = gain;
            found = image;
            mode = m;
            after = score;
        }
        modes[image] = before;
    }
    if (found == SIZE_MAX)
        return false;
    modes[found] = mode;
    *now = after;
    return true;
}

/* Takes another mode for an image where that costs less time within the budget. */
static bool try_mode(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                     size_t image, enum recompute_mode mode, struct score *now)
{
    unsigned char before = modes[image];
    modes[image] = (unsigned char)mode;
    struct score score = score_of(s, modes, budget);
    if (is_within(&score) && score.extra < now->extra) {
        *now = score;
        return true;
    }
    modes[image] = before;
    return false;
}

static bool keep_again(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                       struct score *now)
{
    bool better = false;
    for (size_t k = s->count; k-- > 0;) {
        size_t image = s->candidates[k];
        if (modes[image] == RECOMPUTE_KEPT)
            continue;
        bool changed = try_mode(s, budget, modes, image, RECOMPUTE_KEPT, now);
        if (!changed && modes[image] == RECOMPUTE_EACH)
            changed = try_mode(s, budget, modes, image, RECOMPUTE_ONCE, now);
        better |= changed;
    }
    return better;
}

/* One image dropped for another. */
static bool exchange(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                     struct score *now)
{
    bool better = false;
    for (size_t i = 0; i < s->count && s->count <= MOST_EXCHANGED; i++)
        for (size_t k = 0; k < s->count; k++) {
            size_t kept = s->candidates[i], dropped = s->candidates[k];
            if (modes[kept] != RECOMPUTE_KEPT || modes[dropped] == RECOMPUTE_KEPT)
                continue;
            unsigned char mode = modes[dropped];
            modes[dropped] = RECOMPUTE_KEPT;
            if (try_mode(s, budget, modes, kept, (enum recompute_mode)mode, now))
                better = true;
            else
                modes[dropped] = mode;
        }
    return better;
}

static void improve(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                    struct score *now)
{
    bool better = true;
    for (int round = 0; better && round < MOST_ROUNDS; round++) {
        better = keep_again(s, budget, modes, now);
        better |= exchange(s, budget, modes, now);
    }
}

/* From what is in `modes` on. */
static bool descend(struct recompute_search *s, uint64_t budget, enum recompute_mode last,
                    unsigned char *modes, struct score *now)
{
    *now = score_of(s, modes, budget);
    while (!is_within(now))
        if (!drop_one(s, budget, last, modes, now))
            return false;
    improve(s, budget, modes, now);
    return true;
}

/* ---- The least memory ---- */

static bool is_less(const struct score *a, const struct score *b)
{
    return a->peak < b->peak || (a->peak == b->peak && a->extra < b->extra);
}

/* Changes single modes as long as that lessens the peak, or the time for the same. */
static struct score settle(struct recompute_search *s, unsigned char *modes)
{
    struct score now = score_of(s, modes, 0);
    bool better = true;
    for (int round = 0; better && round < MOST_ROUNDS; round++) {
        better = false;
        for (size_t k = 0; k < s->count; k++)
            for (unsigned char mode = RECOMPUTE_KEPT; mode <= RECOMPUTE_EACH; mode++) {
                size_t image = s->candidates[k];
                unsigned char before = modes[image];
                modes[image] = mode;
                struct score score = score_of(s, modes, 0);
                if (is_less(&score, &now)) {
                    now = score;
                    better = true;
                } else {
                    modes[image] = before;
                }
            }
    }
    return now;
}

void recompute_least(struct recompute_search *s, unsigned char *modes)
{
    unsigned char *other = s->other;
    set_all(s, modes, RECOMPUTE_EACH);
    struct score each = settle(s, modes);
    set_all(s, other, RECOMPUTE_ONCE);
    struct score once = settle(s, other);
    if (is_less(&once, &each))
        memcpy(modes, other, s->model->image_count);
}

/* ---- The whole ---- */

static bool plan_once(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                      struct score *score)
{
    set_all(s, modes, RECOMPUTE_KEPT);
    return descend(s, budget, RECOMPUTE_ONCE, modes, score);
}

static bool plan_each(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                      struct score *score)
{
    set_all(s, modes, RECOMPUTE_KEPT);
    return descend(s, budget, RECOMPUTE_EACH, modes, score);
}

static bool plan_chained(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                         struct score *score)
{
    if (!plan_chain(s, budget, modes))
        return false;
    return descend(s, budget, RECOMPUTE_EACH, modes, score);
}

static bool plan_from_least(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                            struct score *score)
{
    recompute_least(s, modes);
    return descend(s, budget, RECOMPUTE_EACH, modes, score);
}

/* The best of several ways down. */
bool recompute_plan(struct recompute_search *s, uint64_t budget, unsigned char *modes)
{
    static bool (*const ways[])(struct recompute_search *, uint64_t, unsigned char *,
                                struct score *) = {plan_chained, plan_once, plan_each,
                                                   plan_from_least};
    struct score found, score;
    set_all(s, modes, RECOMPUTE_KEPT);
    found = score_of(s, modes, budget);
    bool good = is_within(&found);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && (!good || found.extra > 0); i++) {
        if (!ways[i](s, budget, s->trial, &score) || (good && score.extra >= found.extra))
            continue;
        memcpy(modes, s->trial, s->model->image_count);
        found = score;
        good = true;
    }
    return good;
}
