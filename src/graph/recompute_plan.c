/* The choice of what to keep: recompute.h tells how. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encode/random.h"
#include "graph/recompute.h"

#define MOST_LABELS    1024 /* of one last kept image; a chain of more loses the certain optimum */
#define MOST_IN_CHAIN  160  /* images that the optimum for chains is looked for with */
#define MOST_EXCHANGED 48   /* images of which pairs are exchanged */
#define MOST_ROUNDS    8
#define KICKS          200       /* random changes to what was found */
#define KICKED_ITEMS   (1 << 22) /* of schedules that are looked at for them */
#define LITTLE         0.02      /* of the time: less is not worth the search */
#define WALK           20        /* kicks until all begins with the best again */
#define WORSE          0.1       /* of the best's extra time: more of what is walked on from */

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

#define BASES RECOMPUTE_STORED_ANY

struct recompute_search {
    const struct recompute_model *model;
    struct recompute_evaluation *evaluation;
    size_t *choices; /* images that have a choice of modes, in the order of their making */
    size_t choice_count;
    enum recompute_stored stored; /* what choices store */
    enum recompute_stored begun;  /* what the base stores */
    unsigned char *base;          /* modes with nothing dropped: a beginning */
    size_t *candidates;           /* choices that are stored there and may be dropped */
    size_t count;
    size_t *made, *read;     /* by candidate, from 1 on: steps that make it and that read it last */
    struct run *runs[BASES]; /* by base: [count + 2][count + 2]; NULL until needed */
    unsigned char *modes, *other, *trial;
    unsigned char *least; /* the modes that take the least memory */
    bool has_least;       /* they have been looked for */
    bool *free;
    bool failed;       /* memory was wanting */
    double base_extra; /* time of the base */
    uint64_t items;    /* of all schedules that were looked at */
};

/* ---- Life ---- */

static void list_choices(struct recompute_search *s)
{
    const struct recompute_model *m = s->model;
    for (size_t i = 0; i < m->step_count; i++)
        for (int k = 0; k < 2; k++) {
            size_t image = m->steps[i].results[k];
            if (image != SIZE_MAX && (m->images[image].may_drop || m->images[image].may_derive))
                s->choices[s->choice_count++] = image;
        }
}

static void set_base(struct recompute_search *s, enum recompute_stored stored)
{
    const struct recompute_model *m = s->model;
    memset(s->base, RECOMPUTE_KEPT, m->image_count);
    for (size_t i = 0; i < m->step_count && stored != RECOMPUTE_STORED_ALL; i++)
        for (int k = 0; k < 2; k++) {
            size_t image = m->steps[i].results[k];
            if (image != SIZE_MAX && m->images[image].may_derive &&
                (stored == RECOMPUTE_STORED_NOTHING || i < m->forward_count))
                s->base[image] = RECOMPUTE_DERIVED;
        }
    s->count = 0;
    for (size_t k = 0; k < s->choice_count; k++)
        if (s->base[s->choices[k]] == RECOMPUTE_KEPT && m->images[s->choices[k]].may_drop)
            s->candidates[s->count++] = s->choices[k];
    s->begun = stored;
}

static enum recompute_stored first_base(const struct recompute_search *s)
{
    return s->stored == RECOMPUTE_STORED_ANY ? RECOMPUTE_STORED_ALL : s->stored;
}

static enum recompute_stored last_base(const struct recompute_search *s)
{
    return s->stored == RECOMPUTE_STORED_ANY ? RECOMPUTE_STORED_NOTHING : s->stored;
}

struct recompute_search *recompute_search_create(const struct recompute_model *model,
                                                 enum recompute_stored stored)
{
    struct recompute_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = model;
    s->evaluation = recompute_evaluation_create(model);
    s->choices = calloc(model->image_count + 2, sizeof *s->choices);
    s->candidates = calloc(model->image_count + 2, sizeof *s->candidates);
    s->base = calloc(model->image_count + 1, 1);
    s->made = calloc(model->image_count + 2, sizeof *s->made);
    s->read = calloc(model->image_count + 2, sizeof *s->read);
    s->modes = calloc(model->image_count + 1, 1);
    s->other = calloc(model->image_count + 1, 1);
    s->trial = calloc(model->image_count + 1, 1);
    s->least = calloc(model->image_count + 1, 1);
    s->free = calloc(model->image_count + 1, sizeof *s->free);
    if (!s->evaluation || !s->choices || !s->candidates || !s->base || !s->made || !s->read ||
        !s->modes || !s->other || !s->trial || !s->least || !s->free) {
        recompute_search_destroy(s);
        return NULL;
    }
    list_choices(s);
    s->stored = stored;
    set_base(s, first_base(s));
    return s;
}

void recompute_search_destroy(struct recompute_search *s)
{
    if (!s)
        return;
    recompute_evaluation_destroy(s->evaluation);
    free(s->choices);
    free(s->candidates);
    free(s->base);
    free(s->made);
    free(s->read);
    for (int i = 0; i < BASES; i++)
        free(s->runs[i]);
    free(s->modes);
    free(s->other);
    free(s->trial);
    free(s->least);
    free(s->free);
    free(s);
}

/* ---- Choices ---- */

static const struct recompute_schedule *evaluate(struct recompute_search *s,
                                                 const unsigned char *modes, uint64_t budget,
                                                 const struct recompute_view *view)
{
    const struct recompute_schedule *schedule =
        recompute_evaluation_run(s->evaluation, modes, budget, view);
    s->failed |= !schedule;
    return schedule;
}

const struct recompute_schedule *recompute_evaluate(struct recompute_search *s,
                                                    const unsigned char *modes, uint64_t budget)
{
    return evaluate(s, modes, budget, NULL);
}

bool recompute_has_failed(const struct recompute_search *s)
{
    return s->failed;
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
    s->items += schedule->count;
    return (struct score){schedule->peak, schedule->excess, schedule->extra};
}

static void set_all(const struct recompute_search *s, unsigned char *modes,
                    enum recompute_mode mode)
{
    memcpy(modes, s->base, s->model->image_count);
    for (size_t i = 0; i < s->count; i++)
        modes[s->candidates[i]] = (unsigned char)mode;
}

/* May the image have that mode, and what is made again be no more than `last`? In parts NEAR and EACH
 * are as ONCE: what is dropped lives within a segment in any case. */
static bool allows(const struct recompute_search *s, size_t image, unsigned mode,
                   enum recompute_mode last)
{
    const struct recompute_image *i = &s->model->images[image];
    bool derived = s->base[image] == RECOMPUTE_DERIVED;
    if (s->stored != RECOMPUTE_STORED_ANY && derived != (mode == RECOMPUTE_DERIVED))
        return false;
    bool again = mode == RECOMPUTE_NEAR || mode == RECOMPUTE_EACH;
    if (again && s->model->parts)
        return false;
    return mode == RECOMPUTE_KEPT      ? true
           : mode == RECOMPUTE_DERIVED ? i->may_derive
                                       : i->may_drop && mode <= (unsigned)last;
}

static bool is_within(const struct score *score)
{
    return score->excess <= 0;
}

/* ---- Chains ---- */

/* Candidates count from 1; 0 stands before the first step, count + 1 before the backward pass. */
static void find_lifetimes(struct recompute_search *s)
{
    const struct recompute_schedule *schedule = recompute_evaluate(s, s->base, 0);
    s->base_extra = schedule ? schedule->extra : 0;
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
    const struct recompute_schedule *schedule = evaluate(s, s->modes, 0, &view);
    return schedule ? (struct run){schedule->peak, schedule->extra - s->base_extra}
                    : (struct run){UINT64_MAX, 0};
}

static bool find_runs(struct recompute_search *s)
{
    size_t n = s->count + 2;
    struct run **runs = &s->runs[s->begun];
    if (*runs || !(*runs = calloc(n * n, sizeof **runs)))
        return *runs;
    find_lifetimes(s);
    for (size_t first = 0; first + 1 < n; first++) {
        if (first)
            s->free[s->candidates[first - 1]] = true;
        for (size_t last = first + 1; last < n; last++)
            (*runs)[first * n + last] = find_run(s, first, last);
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

static bool is_before(const struct label *a, const struct label *b)
{
    return a->kept < b->kept || (a->kept == b->kept && a->extra <= b->extra);
}

static bool add_better(struct labels *labels, const struct label *label)
{
    bool better = !labels->count || label->extra < labels->items[labels->count - 1].extra;
    return !better || add_label(labels, *label);
}

/* Adds those of another list. Lists are in the order of their bytes, and in each only labels that are
 * better than all with fewer bytes stay; of equals the first. */
static bool merge(struct labels *labels, const struct labels *more, struct labels *merged)
{
    size_t i = 0, k = 0;
    bool good = true;
    merged->count = 0;
    while (good && (i < labels->count || k < more->count)) {
        bool first = k == more->count ||
                     (i < labels->count && is_before(&labels->items[i], &more->items[k]));
        good = add_better(merged, first ? &labels->items[i++] : &more->items[k++]);
    }
    const struct labels swap = *labels;
    *labels = *merged;
    *merged = swap;
    return good;
}

/* Leaves not too many of the labels. */
static void thin_out(struct labels *labels)
{
    size_t kept = labels->count, step = (kept + MOST_LABELS - 1) / MOST_LABELS;
    if (!kept)
        return;
    labels->count = (kept + step - 1) / step;
    for (size_t i = 0; i < labels->count; i++)
        labels->items[i] = labels->items[kept - 1 - (labels->count - 1 - i) * step];
}

/* Choices up to candidate `last` with the kept image `first` before it. */
static bool extend_from(const struct recompute_search *s, const struct labels *all, size_t first,
                        size_t last, uint64_t budget, struct labels *more)
{
    uint64_t size = last <= s->count ? s->model->images[s->candidates[last - 1]].size : 0;
    const struct run *run = &s->runs[s->begun][first * (s->count + 2) + last];
    more->count = 0;
    for (size_t i = 0; i < all[first].count; i++) {
        const struct label *label = &all[first].items[i];
        if (run->peak > budget || label->kept > budget - run->peak)
            break;
        const struct label next = {label->kept + size, label->extra + run->extra, first, i};
        if (!add_better(more, &next))
            return false;
    }
    return true;
}

/* All choices up to candidate `last`. */
static bool extend(const struct recompute_search *s, struct labels *all, size_t last,
                   uint64_t budget)
{
    struct labels more = {0}, merged = {0};
    bool good = true;
    for (size_t first = 0; first < last && good; first++) {
        good = extend_from(s, all, first, last, budget, &more);
        if (good && more.count)
            good = merge(&all[last], &more, &merged);
    }
    free(more.items);
    free(merged.items);
    thin_out(&all[last]);
    return good;
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
    if (s->count > MOST_IN_CHAIN)
        return false;
    struct labels *all = find_runs(s) ? calloc(last + 1, sizeof *all) : NULL;
    bool good = all && add_label(&all[0], (struct label){0});
    for (size_t k = 1; good && k <= last; k++)
        good = extend(s, all, k, budget);
    s->failed |= !good;
    good = good && all[last].count;
    if (good)
        follow_labels(s, all, modes);
    for (size_t k = 0; all && k <= last; k++)
        free(all[k].items);
    free(all);
    return good;
}

/* ---- Branches ---- */

/* Excess for time; more than any where there is time to gain, too. */
static double gain_of(const struct score *now, const struct score *score)
{
    double less = now->excess - score->excess, more = score->extra - now->extra;
    return more > 0 ? less / more : less * 1e9 * (1 - more);
}

/* Changes one mode, up to `last`, so that the excess is lessened the most for its time. False: none
 * lessens it. */
static bool drop_one(struct recompute_search *s, uint64_t budget, enum recompute_mode last,
                     unsigned char *modes, struct score *now)
{
    double best = 0;
    size_t found = SIZE_MAX;
    unsigned char mode = 0;
    struct score after = *now;
    for (size_t k = 0; k < s->choice_count; k++) {
        size_t image = s->choices[k];
        unsigned char before = modes[image];
        bool all_are_once = false;
        recompute_evaluation_watch(s->evaluation, image);
        for (unsigned char m = RECOMPUTE_KEPT; m <= RECOMPUTE_DERIVED; m++) {
            bool again = m == RECOMPUTE_NEAR || m == RECOMPUTE_EACH;
            if (m == before || !allows(s, image, m, last) || (again && all_are_once))
                continue;
            modes[image] = m;
            struct score score = score_of(s, modes, budget);
            all_are_once = m == RECOMPUTE_ONCE && recompute_evaluation_waits_once(s->evaluation);
            double gain = gain_of(now, &score);
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

/* What is dropped is made no more often by a mode before its own. */
static bool may_save_time(unsigned char before, unsigned char mode)
{
    return mode < before || (mode == RECOMPUTE_DERIVED && mode != before);
}

static bool keep_again(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                       struct score *now)
{
    bool better = false;
    for (size_t k = s->choice_count; k-- > 0;) {
        size_t image = s->choices[k];
        for (unsigned char m = RECOMPUTE_KEPT; m <= RECOMPUTE_DERIVED; m++)
            if (may_save_time(modes[image], m) && allows(s, image, m, RECOMPUTE_EACH))
                better |= try_mode(s, budget, modes, image, (enum recompute_mode)m, now);
    }
    return better;
}

/* Another mode for any other image, so that all is within the budget again. */
static bool try_others(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                       size_t image, struct score *now)
{
    for (size_t k = 0; k < s->choice_count; k++)
        for (unsigned char m = RECOMPUTE_KEPT; m <= RECOMPUTE_DERIVED; m++)
            if (s->choices[k] != image && m != modes[s->choices[k]] &&
                allows(s, s->choices[k], m, RECOMPUTE_EACH) &&
                try_mode(s, budget, modes, s->choices[k], (enum recompute_mode)m, now))
                return true;
    return false;
}

/* A mode for one image that saves time and takes too much, and another mode for another. */
static bool exchange_with(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                          size_t image, struct score *now)
{
    bool better = false;
    for (unsigned char m = RECOMPUTE_KEPT; m <= RECOMPUTE_DERIVED; m++) {
        unsigned char before = modes[image];
        if (!may_save_time(before, m) || !allows(s, image, m, RECOMPUTE_EACH))
            continue;
        modes[image] = m;
        struct score score = score_of(s, modes, budget);
        if (score.extra < now->extra && try_others(s, budget, modes, image, now))
            better = true;
        else
            modes[image] = before;
    }
    return better;
}

static bool exchange(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                     struct score *now)
{
    bool better = false;
    for (size_t i = 0; i < s->choice_count && s->choice_count <= MOST_EXCHANGED; i++)
        better |= exchange_with(s, budget, modes, s->choices[i], now);
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

/* From what is in `modes` on, until it is within the budget. False: no mode leads there. */
static bool drop_some(struct recompute_search *s, uint64_t budget, enum recompute_mode last,
                      unsigned char *modes, struct score *now)
{
    *now = score_of(s, modes, budget);
    while (!is_within(now))
        if (!drop_one(s, budget, last, modes, now))
            return false;
    return true;
}

static bool descend(struct recompute_search *s, uint64_t budget, enum recompute_mode last,
                    unsigned char *modes, struct score *now)
{
    bool good = drop_some(s, budget, last, modes, now);
    if (good)
        improve(s, budget, modes, now);
    return good;
}

/* ---- Iterated local search ---- */

/* Other modes for two to five images. */
static void kick(const struct recompute_search *s, uint64_t *random, unsigned char *modes)
{
    for (uint32_t left = 2 + random_bits24(random) % 4; left > 0; left--) {
        size_t image = s->choices[random_bits24(random) % s->choice_count];
        unsigned mode = random_bits24(random) % (RECOMPUTE_DERIVED + 1);
        if (allows(s, image, mode, RECOMPUTE_EACH))
            modes[image] = (unsigned char)mode;
    }
}

/* Within the budget again, and then better by single modes. False: no mode leads there. */
static bool mend(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                 struct score *now)
{
    int round = 0;
    if (!drop_some(s, budget, RECOMPUTE_EACH, modes, now))
        return false;
    while (round < MOST_ROUNDS && keep_again(s, budget, modes, now))
        round++;
    return true;
}

static bool is_much(struct recompute_search *s, const unsigned char *modes)
{
    const struct recompute_schedule *schedule = recompute_evaluate(s, modes, 0);
    return schedule && schedule->extra > LITTLE * schedule->time;
}

/* Extra time may be below 0. */
static bool is_nearly_as_good(const struct score *score, const struct score *best)
{
    return score->extra <= best->extra + WORSE * fabs(best->extra);
}

/* Walks on from what is nearly as good. The limits are looked at between kicks: what is mended after
 * one takes little beside the ways down. */
static void wander(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                   struct score *found)
{
    const size_t size = s->model->image_count;
    const uint64_t begun = s->items;
    uint64_t random = 1;
    for (int k = 0; k < KICKS && s->items - begun < KICKED_ITEMS; k++) {
        struct score score;
        if (k % WALK == 0)
            memcpy(s->other, modes, size);
        memcpy(s->trial, s->other, size);
        kick(s, &random, s->trial);
        if (!mend(s, budget, s->trial, &score) || !is_nearly_as_good(&score, found))
            continue;
        memcpy(s->other, s->trial, size);
        if (score.extra >= found->extra)
            continue;
        memcpy(modes, s->trial, size);
        *found = score;
    }
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
        for (size_t k = 0; k < s->choice_count; k++)
            for (unsigned char mode = RECOMPUTE_KEPT; mode <= RECOMPUTE_DERIVED; mode++) {
                size_t image = s->choices[k];
                unsigned char before = modes[image];
                if (!allows(s, image, mode, RECOMPUTE_EACH))
                    continue;
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

static void find_least(struct recompute_search *s)
{
    struct score least = {UINT64_MAX, 1e300, 1e300};
    for (enum recompute_stored stored = first_base(s); stored <= last_base(s); stored++)
        for (int mode = RECOMPUTE_ONCE; mode <= RECOMPUTE_EACH; mode++) {
            set_base(s, stored);
            set_all(s, s->other, (enum recompute_mode)mode);
            struct score score = settle(s, s->other);
            if (!is_less(&score, &least))
                continue;
            least = score;
            memcpy(s->least, s->other, s->model->image_count);
        }
    s->has_least = true;
}

void recompute_least(struct recompute_search *s, unsigned char *modes)
{
    if (!s->has_least)
        find_least(s);
    memcpy(modes, s->least, s->model->image_count);
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

/* Goes that way, and takes what is found if it is better. */
static void take_better(struct recompute_search *s,
                        bool (*way)(struct recompute_search *, uint64_t, unsigned char *,
                                    struct score *),
                        uint64_t budget, unsigned char *modes, struct score *found)
{
    struct score score;
    if (!way(s, budget, s->trial, &score) || score.extra >= found->extra)
        return;
    memcpy(modes, s->trial, s->model->image_count);
    *found = score;
}

/* The best of several ways down from a base. */
static void plan_from_base(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                           struct score *found)
{
    static bool (*const ways[])(struct recompute_search *, uint64_t, unsigned char *,
                                struct score *) = {plan_chained, plan_once, plan_each};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        take_better(s, ways[i], budget, modes, found);
}

bool recompute_plan(struct recompute_search *s, uint64_t budget, unsigned char *modes)
{
    struct score found = {.extra = 1e300};
    for (enum recompute_stored stored = first_base(s); stored <= last_base(s); stored++) {
        set_base(s, stored);
        plan_from_base(s, budget, modes, &found);
    }
    take_better(s, plan_from_least, budget, modes, &found);
    if (found.extra < 1e300 && is_much(s, modes))
        wander(s, budget, modes, &found);
    return found.extra < 1e300;
}
