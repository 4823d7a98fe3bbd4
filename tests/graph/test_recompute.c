/* The choice of what a step computes again, as arithmetic: random chains and graphs, seeded, against
 * every choice that there is. No device is opened. */
#include "tests/unit.h"

#include "graph/recompute.h"

#define MOST_STEPS 64
#define MOST_READS 3

/* With branches readers of two images, and with fused ones images that need not be stored. */
enum kind { CHAIN, BRANCHES, FUSED };

/* A training step of `layers` layers: images 0 (the input), 1 to layers, and behind them the
 * gradients. */
struct problem {
    struct recompute_model model;
    struct recompute_step steps[MOST_STEPS];
    struct recompute_image images[MOST_STEPS + 1];
    size_t reads[MOST_STEPS * MOST_READS];
    size_t read_count, layers;
};

static void begin(struct problem *p, size_t layers)
{
    *p = (struct problem){.layers = layers};
    p->model.steps = p->steps;
    p->model.images = p->images;
    p->model.forward_count = layers;
    p->model.image_count = 2 * layers + 2;
}

/* SIZE_MAX: no image. */
static void add_step(struct problem *p, double time, size_t result, size_t a, size_t b, size_t c)
{
    const size_t sources[MOST_READS] = {a, b, c};
    struct recompute_step *step = &p->steps[p->model.step_count++];
    *step = (struct recompute_step){
        .reads = p->reads + p->read_count, .results = {result, SIZE_MAX}, .time = time};
    for (int i = 0; i < MOST_READS; i++)
        if (sources[i] != SIZE_MAX)
            p->reads[p->read_count + step->read_count++] = sources[i];
    p->read_count += step->read_count;
}

static size_t gradient_of(const struct problem *p, size_t image)
{
    return p->layers + 1 + image;
}

/* Layer i makes image i of image i - 1, and in a graph with branches of an earlier one too; its
 * gradient reads what it read, or what it made. */
static void make_problem(struct problem *p, size_t layers, uint32_t *seed, enum kind kind)
{
    size_t other[MOST_STEPS] = {0};
    bool reads_result[MOST_STEPS] = {false};
    begin(p, layers);
    for (size_t i = 0; i <= layers; i++) {
        uint64_t size = i ? 1 + below(seed, 20) : 0;
        p->images[i] = (struct recompute_image){.size = size, .part = size, .may_drop = i > 0};
        p->images[gradient_of(p, i)] = (struct recompute_image){.size = size, .part = size};
    }
    for (size_t i = 1; i <= layers; i++) {
        other[i] = kind != CHAIN && i > 2 && below(seed, 3) == 0 ? 1 + below(seed, (uint32_t)i - 2)
                                                                 : SIZE_MAX;
        reads_result[i] = below(seed, 4) == 0;
        add_step(p, 1 + below(seed, 9), i, i - 1, other[i], SIZE_MAX);
    }
    for (size_t i = layers; i > 0; i--) {
        add_step(p, 1, gradient_of(p, i - 1), i == layers ? SIZE_MAX : gradient_of(p, i),
                 reads_result[i] ? i : i - 1, other[i]);
        p->steps[p->model.step_count - 1].scratch = below(seed, 3);
    }
    for (size_t i = 0; i <= layers && kind == FUSED; i++) {
        p->images[i].may_fuse = i > 0 && below(seed, 2) == 0;
        p->images[gradient_of(p, i)].may_fuse = i < layers && below(seed, 3) == 0;
    }
    for (size_t s = 0; s < p->model.step_count && kind == FUSED; s++)
        for (size_t i = 0; i < p->steps[s].read_count; i++)
            p->steps[s].time += (double)p->images[p->steps[s].reads[i]].size;
}

/* ---- Every choice ---- */

struct best {
    bool found;
    double extra;
    uint64_t least; /* that any choice takes */
};

static bool allows(const struct recompute_image *image, unsigned mode, unsigned modes)
{
    return mode == RECOMPUTE_FUSED ? image->may_fuse
                                   : mode == RECOMPUTE_KEPT || (image->may_drop && mode < modes);
}

/* The next mode of an image; false: it is the first again. */
static bool next_mode(const struct recompute_image *image, unsigned modes, unsigned char *mode)
{
    do
        *mode = *mode == RECOMPUTE_FUSED ? RECOMPUTE_KEPT : (unsigned char)(*mode + 1);
    while (!allows(image, *mode, modes));
    return *mode != RECOMPUTE_KEPT;
}

/* Choices of the first `modes` modes, and of the last where an image may be fused. */
static struct best try_all(const struct problem *p, struct recompute_search *search,
                           uint64_t budget, unsigned modes)
{
    struct best best = {.least = UINT64_MAX};
    unsigned char choice[MOST_STEPS + 1] = {0};
    size_t i = 0;
    while (i < p->model.image_count) {
        const struct recompute_schedule *s = recompute_evaluate(search, choice, budget);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s);
        CU_ASSERT_EQUAL(s->excess > 0, s->peak > budget);
        best.least = s->peak < best.least ? s->peak : best.least;
        if (s->peak <= budget && (!best.found || s->extra < best.extra))
            best = (struct best){true, s->extra, best.least};
        i = 1;
        while (i < p->model.image_count && !next_mode(&p->images[i], modes, &choice[i]))
            i++;
    }
    return best;
}

/* Plans, and those than which there is no better one. */
struct tally {
    size_t plans, best;
};

/* ---- What a schedule promises ---- */

/* What an item reads; what is fused stands for what it is made of. */
static bool reads(const struct problem *p, const unsigned char *modes, size_t step, size_t image)
{
    for (size_t k = 0; k < p->steps[step].read_count; k++) {
        size_t read = p->steps[step].reads[k], maker = 0;
        if (read == image)
            return true;
        while (maker < p->model.step_count && p->steps[maker].results[0] != read)
            maker++;
        if (modes[read] == RECOMPUTE_FUSED && reads(p, modes, maker, image))
            return true;
    }
    return false;
}

/* By hand: each item finds what it reads, and what lives at one time is the sum of what was made
 * and is still to be read. */
static uint64_t check_schedule(const struct problem *p, const unsigned char *modes,
                               const struct recompute_schedule *s)
{
    uint64_t peak = 0;
    for (size_t now = 0; now < s->count; now++) {
        uint64_t bytes = p->steps[s->items[now].step].scratch;
        for (size_t image = 1; image < p->model.image_count; image++) {
            size_t made = SIZE_MAX, read = SIZE_MAX;
            for (size_t i = 0; i <= now; i++)
                if (p->steps[s->items[i].step].results[0] == image)
                    made = i;
            for (size_t i = made; made != SIZE_MAX && i < s->count; i++) {
                if (i > made && p->steps[s->items[i].step].results[0] == image)
                    break;
                read = reads(p, modes, s->items[i].step, image) ? i : read;
            }
            CU_ASSERT(!reads(p, modes, s->items[now].step, image) || made < now);
            if (modes[image] != RECOMPUTE_FUSED &&
                (made == now || (read != SIZE_MAX && read >= now)))
                bytes += p->images[image].size;
        }
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

/* No worse than the best that makes images once, nor better than the best of all. */
static void check_plan(const struct problem *p, struct recompute_search *search, uint64_t budget,
                       double slack, struct tally *tally)
{
    unsigned char modes[MOST_STEPS + 1];
    struct best once = try_all(p, search, budget, RECOMPUTE_NEAR),
                each = try_all(p, search, budget, RECOMPUTE_FUSED);
    bool good = recompute_plan(search, budget, modes);
    CU_ASSERT(!once.found || good);
    CU_ASSERT(!good || each.found);
    if (!good)
        return;
    const struct recompute_schedule *s = recompute_evaluate(search, modes, budget);
    CU_ASSERT(s->peak <= budget);
    CU_ASSERT_EQUAL(check_schedule(p, modes, s), s->peak);
    CU_ASSERT(s->extra >= each.extra);
    CU_ASSERT(!once.found || s->extra <= once.extra + slack * s->time);
    tally->plans++;
    tally->best += s->extra == each.extra;
}

static void check_problem(const struct problem *p, double slack, struct tally *tally)
{
    const unsigned char kept[MOST_STEPS + 1] = {0};
    struct recompute_search *search = recompute_search_create(&p->model, RECOMPUTE_STORED_ANY);
    CU_ASSERT_PTR_NOT_NULL_FATAL(search);
    uint64_t most = recompute_evaluate(search, kept, 0)->peak;
    for (uint64_t budget = most; budget > most / 4; budget -= 1 + most / 12)
        check_plan(p, search, budget, slack, tally);
    recompute_search_destroy(search);
}

static void check_problems(enum kind kind, size_t most_layers, double slack)
{
    uint32_t seed = 5;
    struct tally tally = {0};
    for (size_t layers = 1; layers <= most_layers; layers++)
        for (int i = 0; i < 12; i++) {
            struct problem p;
            make_problem(&p, layers, &seed, kind);
            check_problem(&p, slack, &tally);
        }
    printf("\n    %zu of %zu plans are the best  ", tally.best, tally.plans);
    CU_ASSERT(tally.plans > 100);
    CU_ASSERT(tally.best * 10 > tally.plans * 9);
}

static void test_chains_are_planned_as_well_as_can_be(void)
{
    check_problems(CHAIN, 6, 0);
}

static void test_branches_are_planned_nearly_as_well(void)
{
    check_problems(BRANCHES, 6, 0.05);
}

static void test_what_is_stored_is_chosen_image_by_image(void)
{
    check_problems(FUSED, 4, 0.05);
}

/* Image 2 is read by a gradient, then not while another takes much, then by two gradients in a row:
 * it is recomputed before the first and before the second, not before the third. */
static void test_what_steps_in_a_row_need_is_made_once(void)
{
    enum { SIZE = 10, TIME = 8 };
    struct problem p;
    unsigned char modes[MOST_STEPS + 1];
    begin(&p, 3);
    for (size_t i = 1; i <= 3; i++)
        p.images[i] = (struct recompute_image){.size = SIZE, .part = SIZE, .may_drop = i == 2};
    p.images[1].size = p.images[1].part = 1;
    add_step(&p, 1, 1, 0, SIZE_MAX, SIZE_MAX);
    add_step(&p, TIME, 2, 1, SIZE_MAX, SIZE_MAX);
    add_step(&p, 1, 3, 2, SIZE_MAX, SIZE_MAX);
    add_step(&p, 1, 7, 3, SIZE_MAX, SIZE_MAX);
    add_step(&p, 1, 6, 7, 2, SIZE_MAX);
    add_step(&p, 1, 5, 6, SIZE_MAX, SIZE_MAX);
    p.steps[p.model.step_count - 1].scratch = 2 * SIZE;
    add_step(&p, 1, 4, 5, 2, SIZE_MAX);
    add_step(&p, 1, SIZE_MAX, 4, 2, 1);
    struct recompute_search *search = recompute_search_create(&p.model, RECOMPUTE_STORED_ANY);
    CU_ASSERT_PTR_NOT_NULL_FATAL(search);
    CU_ASSERT(recompute_plan(search, 2 * SIZE + 1, modes));
    CU_ASSERT_EQUAL(modes[2], RECOMPUTE_NEAR);
    const struct recompute_schedule *s = recompute_evaluate(search, modes, 2 * SIZE + 1);
    CU_ASSERT_EQUAL(s->count, p.model.step_count + 2);
    CU_ASSERT_EQUAL(s->extra, 2 * TIME);
    CU_ASSERT_EQUAL(check_schedule(&p, modes, s), s->peak);
    recompute_search_destroy(search);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_chains_are_planned_as_well_as_can_be),
                                        UNIT_TEST(test_branches_are_planned_nearly_as_well),
                                        UNIT_TEST(test_what_is_stored_is_chosen_image_by_image),
                                        UNIT_TEST(test_what_steps_in_a_row_need_is_made_once),
                                        CU_TEST_INFO_NULL};
    return unit_run("recomputation", tests, argc, argv);
}
