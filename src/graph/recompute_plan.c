/* The choice of what to keep: recompute.h tells how. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encode/random.h"
#include "graph/recompute.h"

#define MOST_ROUNDS     8
#define PERTURBATIONS   200       /* of what was found */
#define PERTURBED_ITEMS (1 << 22) /* of schedules that are looked at for them */
#define RESTART         20        /* perturbations until the next begins with the best again */
#define LITTLE          0.02      /* of the time: less extra time is not worth perturbations */
#define TOLERANCE       0.1 /* of the best's extra time: what is no worse is perturbed further */

struct recompute_search {
    const struct recompute_model *model;
    struct recompute_evaluation *evaluation;
    enum recompute_stored stored; /* what choices store */
    size_t *choices; /* images that have a choice of modes, in the order of their making */
    size_t choice_count, forward_choices; /* of all; of those that the forward pass makes */
    unsigned char *trial, *walk;          /* modes that are looked at, and that are perturbed */
    unsigned char *least;                 /* the modes that take the least memory */
    bool has_least;                       /* they have been looked for */
    bool failed;                          /* memory was wanting */
    uint64_t items;                       /* of all schedules that were looked at */
};

/* ---- Life ---- */

static void list_choices(struct recompute_search *s)
{
    const struct recompute_model *m = s->model;
    for (size_t i = 0; i < m->step_count; i++)
        for (int k = 0; k < 2; k++) {
            size_t image = m->steps[i].results[k];
            if (image != SIZE_MAX && (m->images[image].may_drop || m->images[image].may_fuse))
                s->choices[s->choice_count++] = image;
            if (i < m->forward_count)
                s->forward_choices = s->choice_count;
        }
}

struct recompute_search *recompute_search_create(const struct recompute_model *model,
                                                 enum recompute_stored stored)
{
    struct recompute_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = model;
    s->stored = stored;
    s->evaluation = recompute_evaluation_create(model);
    s->choices = calloc(2 * model->step_count + 1, sizeof *s->choices);
    s->trial = calloc(model->image_count + 1, 1);
    s->walk = calloc(model->image_count + 1, 1);
    s->least = calloc(model->image_count + 1, 1);
    if (!s->evaluation || !s->choices || !s->trial || !s->walk || !s->least) {
        recompute_search_destroy(s);
        return NULL;
    }
    list_choices(s);
    return s;
}

void recompute_search_destroy(struct recompute_search *s)
{
    if (!s)
        return;
    recompute_evaluation_destroy(s->evaluation);
    free(s->choices);
    free(s->trial);
    free(s->walk);
    free(s->least);
    free(s);
}

/* ---- Choices ---- */

const struct recompute_schedule *recompute_evaluate(struct recompute_search *s,
                                                    const unsigned char *modes, uint64_t budget)
{
    const struct recompute_schedule *schedule =
        recompute_evaluation_run(s->evaluation, modes, budget);
    s->failed |= !schedule;
    return schedule;
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
static const struct score worst = {UINT64_MAX, 1e300, 1e300};

static struct score score_of(struct recompute_search *s, const unsigned char *modes,
                             uint64_t budget)
{
    const struct recompute_schedule *schedule = recompute_evaluate(s, modes, budget);
    if (!schedule)
        return worst;
    s->items += schedule->count;
    return (struct score){schedule->peak, schedule->excess, schedule->extra};
}

/* Of two choices that are within the budget the faster, or else the one that takes less. */
static bool is_better(const struct score *a, const struct score *b, uint64_t budget)
{
    uint64_t peak_a = a->peak > budget ? a->peak : budget;
    uint64_t peak_b = b->peak > budget ? b->peak : budget;
    return peak_a < peak_b || (peak_a == peak_b && a->extra < b->extra);
}

/* May the mode of an image change so? In parts NEAR and EACH are as ONCE: what is dropped lives
 * within a segment in any case. */
static bool may_change(const struct recompute_search *s, size_t image, unsigned char before,
                       unsigned mode)
{
    const struct recompute_image *i = &s->model->images[image];
    bool fuses = mode == RECOMPUTE_FUSED;
    bool stays = fuses == (before == RECOMPUTE_FUSED);
    if (mode == before || (!stays && s->stored != RECOMPUTE_STORED_ANY))
        return false;
    if (mode == RECOMPUTE_KEPT || fuses)
        return !fuses || i->may_fuse;
    return i->may_drop && (mode == RECOMPUTE_ONCE || !s->model->parts);
}

/* What first choices store. */
static enum recompute_stored first_base(const struct recompute_search *s)
{
    return s->stored == RECOMPUTE_STORED_ANY ? RECOMPUTE_STORED_ALL : s->stored;
}

static enum recompute_stored last_base(const struct recompute_search *s)
{
    return s->stored == RECOMPUTE_STORED_ANY ? RECOMPUTE_STORED_NOTHING : s->stored;
}

/* All images that the base does not fuse have that mode, if they can. */
static void begin_with(const struct recompute_search *s, enum recompute_stored base,
                       enum recompute_mode mode, unsigned char *modes)
{
    const struct recompute_model *m = s->model;
    memset(modes, RECOMPUTE_KEPT, m->image_count);
    for (size_t k = 0; k < s->choice_count; k++) {
        const struct recompute_image *i = &m->images[s->choices[k]];
        bool fuses = base == RECOMPUTE_STORED_NOTHING ||
                     (base == RECOMPUTE_STORED_GRADIENTS && k < s->forward_choices);
        if (fuses && i->may_fuse)
            modes[s->choices[k]] = RECOMPUTE_FUSED;
        else if (i->may_drop)
            modes[s->choices[k]] = (unsigned char)mode;
    }
}

/* ---- Local search ---- */

/* Excess for time; more than any where there is time to gain, too. */
static double gain_of(const struct score *now, const struct score *score)
{
    double less = now->excess - score->excess, more = score->extra - now->extra;
    return more > 0 ? less / more : less * 1e9 * (1 - more);
}

/* Changes one mode, so that the excess is lessened the most for its time. False: none lessens it. */
static bool lessen(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                   struct score *now)
{
    const struct score before = *now;
    double best = 0;
    size_t found = SIZE_MAX;
    unsigned char found_mode = 0;
    for (size_t k = 0; k < s->choice_count; k++) {
        size_t image = s->choices[k];
        unsigned char own = modes[image];
        for (unsigned char mode = RECOMPUTE_KEPT; mode <= RECOMPUTE_FUSED; mode++) {
            if (!may_change(s, image, own, mode))
                continue;
            modes[image] = mode;
            struct score score = score_of(s, modes, budget);
            double gain = gain_of(&before, &score);
            if (score.excess >= before.excess || gain <= best)
                continue;
            best = gain;
            found = image;
            found_mode = mode;
            *now = score;
        }
        modes[image] = own;
    }
    if (found != SIZE_MAX)
        modes[found] = found_mode;
    return found != SIZE_MAX;
}

static bool improve_image(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                          size_t image, struct score *now)
{
    bool better = false;
    for (unsigned char mode = RECOMPUTE_KEPT; mode <= RECOMPUTE_FUSED; mode++) {
        unsigned char before = modes[image];
        if (!may_change(s, image, before, mode))
            continue;
        modes[image] = mode;
        struct score score = score_of(s, modes, budget);
        if (is_better(&score, now, budget)) {
            *now = score;
            better = true;
        } else {
            modes[image] = before;
        }
    }
    return better;
}

/* Changes single modes as long as that makes the choice better. */
static void improve(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                    struct score *now)
{
    bool better = true;
    *now = score_of(s, modes, budget);
    for (int round = 0; better && round < MOST_ROUNDS; round++) {
        better = false;
        for (size_t k = 0; k < s->choice_count; k++)
            better |= improve_image(s, budget, modes, s->choices[k], now);
    }
}

/* Brings a choice within the budget, and improves it. False: no mode leads there. */
static bool search_from(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                        struct score *now)
{
    *now = score_of(s, modes, budget);
    while (now->excess > 0)
        if (!lessen(s, budget, modes, now))
            return false;
    improve(s, budget, modes, now);
    return true;
}

/* ---- Iterated local search ---- */

/* Other modes for up to four images. */
static void perturb(const struct recompute_search *s, uint64_t *random, unsigned char *modes)
{
    for (uint32_t left = 1 + random_bits24(random) % 4; left > 0; left--) {
        size_t image = s->choices[random_bits24(random) % s->choice_count];
        unsigned mode = random_bits24(random) % (RECOMPUTE_FUSED + 1);
        if (may_change(s, image, modes[image], mode))
            modes[image] = (unsigned char)mode;
    }
}

/* The limits are looked at between perturbations: each takes little beside the searches before. */
static void search_around(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                          struct score *found)
{
    const size_t size = s->model->image_count;
    const uint64_t begun = s->items;
    uint64_t random = 1;
    for (int i = 0; i < PERTURBATIONS && s->items - begun < PERTURBED_ITEMS; i++) {
        struct score score;
        if (i % RESTART == 0)
            memcpy(s->walk, modes, size);
        memcpy(s->trial, s->walk, size);
        perturb(s, &random, s->trial);
        if (!search_from(s, budget, s->trial, &score) ||
            score.extra > found->extra + TOLERANCE * fabs(found->extra))
            continue;
        memcpy(s->walk, s->trial, size);
        if (score.extra >= found->extra)
            continue;
        memcpy(modes, s->trial, size);
        *found = score;
    }
}

/* ---- The whole ---- */

/* From where each mode of images that are dropped leads, for each base. */
static void find_least(struct recompute_search *s)
{
    struct score least = worst;
    for (enum recompute_stored base = first_base(s); base <= last_base(s); base++)
        for (enum recompute_mode mode = RECOMPUTE_ONCE; mode <= RECOMPUTE_EACH; mode++) {
            struct score score;
            begin_with(s, base, mode, s->trial);
            improve(s, 0, s->trial, &score);
            if (!is_better(&score, &least, 0))
                continue;
            least = score;
            memcpy(s->least, s->trial, s->model->image_count);
        }
    s->has_least = true;
}

void recompute_least(struct recompute_search *s, unsigned char *modes)
{
    if (!s->has_least)
        find_least(s);
    memcpy(modes, s->least, s->model->image_count);
}

static void take_better(struct recompute_search *s, uint64_t budget, unsigned char *modes,
                        struct score *found)
{
    struct score score;
    if (!search_from(s, budget, s->trial, &score) || score.extra >= found->extra)
        return;
    memcpy(modes, s->trial, s->model->image_count);
    *found = score;
}

bool recompute_plan(struct recompute_search *s, uint64_t budget, unsigned char *modes)
{
    struct score found = worst;
    for (enum recompute_stored base = first_base(s); base <= last_base(s); base++)
        for (enum recompute_mode mode = RECOMPUTE_KEPT; mode <= RECOMPUTE_ONCE; mode++) {
            begin_with(s, base, mode, s->trial);
            take_better(s, budget, modes, &found);
        }
    recompute_least(s, s->trial);
    take_better(s, budget, modes, &found);
    if (found.extra >= worst.extra)
        return false;
    const struct recompute_schedule *schedule = recompute_evaluate(s, modes, budget);
    if (schedule && schedule->extra > LITTLE * schedule->time)
        search_around(s, budget, modes, &found);
    return true;
}
