/* How good a network is at the end of its training: intervals, what is learned least, and advice. Expected
 * values are written out from the rules in task/interval.h, task/least.h and train/advice.h. */
#include "tests/fixture.h"
#include "tests/unit.h"

#include "train/advice.h"
#include "task/interval.h"
#include "task/least.h"
#include "task/score.h"
#include "task/tallies.h"

#include <math.h>

/* ---- Intervals ---- */

/* Of pictures that are right or wrong; `calls` counts. */
struct pictures {
    uint32_t count, right,
        undefined; /* the first ones are right; less drawn than that is undefined */
    uint32_t calls;
};

static double accuracy(void *context, const uint32_t *times)
{
    struct pictures *p = context;
    uint32_t right = 0, all = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        right += i < p->right ? times[i] : 0;
        all += times[i];
    }
    CU_ASSERT_EQUAL(all, p->count);
    p->calls++;
    return right < p->undefined ? NAN : (double)right / all;
}

static struct interval interval_of(struct pictures *p, size_t work, uint64_t seed)
{
    struct interval interval = {.draws = 99};
    CU_ASSERT_TRUE(interval_find(p->count, work, seed, accuracy, p, &interval));
    return interval;
}

/* Of n pictures of which the share p is right the deviation is sqrt(p (1 - p) / n). */
static void an_interval_is_as_wide_as_two_deviations_to_either_side(void)
{
    struct pictures p = {400, 320, 0, 0};
    const struct interval i = interval_of(&p, 400, 7);
    const double deviation = sqrt(0.8 * 0.2 / 400);
    CU_ASSERT_EQUAL(i.draws, 1000);
    CU_ASSERT_EQUAL(p.calls, 1000);
    CU_ASSERT(is_near(i.low, 0.8 - 1.96 * deviation, 0.2 * deviation));
    CU_ASSERT(is_near(i.high, 0.8 + 1.96 * deviation, 0.2 * deviation));
}

static void the_seed_decides_what_is_drawn(void)
{
    struct pictures p = {50, 31, 0, 0};
    const struct interval a = interval_of(&p, 50, 7), b = interval_of(&p, 50, 7);
    CU_ASSERT_EQUAL(a.low, b.low);
    CU_ASSERT_EQUAL(a.high, b.high);
    bool differs = false;
    for (uint64_t seed = 8; seed < 20; seed++) {
        const struct interval c = interval_of(&p, 50, seed);
        differs = differs || c.low != a.low || c.high != a.high;
    }
    CU_ASSERT_TRUE(differs);
}

static void what_all_draws_agree_on_has_the_rule_of_three(void)
{
    struct pictures all = {60, 60, 0, 0}, none = {60, 0, 0, 0}, few = {2, 2, 0, 0};
    struct interval i = interval_of(&all, 60, 7);
    CU_ASSERT_EQUAL(i.low, 1 - 3.0 / 60);
    CU_ASSERT_EQUAL(i.high, 1);
    i = interval_of(&none, 60, 7);
    CU_ASSERT_EQUAL(i.low, 0);
    CU_ASSERT_EQUAL(i.high, 3.0 / 60);
    i = interval_of(&few, 2, 7);
    CU_ASSERT_EQUAL(i.low, 0);
    CU_ASSERT_EQUAL(i.high, 1);
}

static void there_is_no_interval_where_it_would_say_nothing(void)
{
    struct pictures one = {1, 1, 0, 0}, none = {0, 0, 0, 0}, mostly = {100, 50, 70, 0},
                    seldom = {100, 50, 40, 0}, large = {100, 50, 0, 0};
    CU_ASSERT_EQUAL(interval_of(&one, 1, 7).draws, 0);
    CU_ASSERT_EQUAL(interval_of(&none, 1, 7).draws, 0);
    CU_ASSERT_EQUAL(interval_of(&mostly, 100, 7).draws, 0);
    const struct interval i = interval_of(&seldom, 100, 7);
    CU_ASSERT(i.draws > 900 && i.draws < 1000);
    CU_ASSERT(i.low >= 0.4 && i.high < 0.65);
    CU_ASSERT_EQUAL(interval_of(&large, 2000000, 7).draws, 149); /* 3e8 numbers in all */
    CU_ASSERT_EQUAL(interval_of(&large, 7000000, 7).draws, 0);
}

/* ---- Tallies ---- */

static void tally_two(struct tallies *t)
{
    tallies_begin_picture(t);
    tallies_add(t, 0, 1);
    tallies_add(t, 2, 3);
    tallies_add(t, 0, 2);
    tallies_begin_picture(t);
    tallies_add(t, 1, 0);
    tallies_add(t, 0, 5);
}

static void sums_are_those_of_the_pictures_drawn(void)
{
    static const uint32_t each[] = {1, 1}, second[] = {0, 2}, first[] = {3, 0};
    struct tallies t = {.items = NULL};
    double sums[3];
    tally_two(&t);
    CU_ASSERT_EQUAL(t.pictures, 2);
    CU_ASSERT_EQUAL(t.count, 3); /* of the same sum there is one, and none of nothing */
    tallies_sum(&t, each, sums, 3);
    CU_ASSERT(sums[0] == 8 && sums[1] == 0 && sums[2] == 3);
    tallies_sum(&t, second, sums, 3);
    CU_ASSERT(sums[0] == 10 && sums[1] == 0 && sums[2] == 0);
    tallies_sum(&t, first, sums, 3);
    CU_ASSERT(sums[0] == 9 && sums[1] == 0 && sums[2] == 9);
    tallies_clear(&t);
    CU_ASSERT(t.pictures == 0 && t.count == 0);
    tallies_free(&t);
}

/* The second row begins with a picture without a tally, and ends with one. */
static void rows_of_tallies_are_joined(void)
{
    static const uint32_t times[] = {0, 1, 7, 2, 7};
    struct tallies a = {.items = NULL}, b = {.items = NULL}, c = {.items = NULL};
    double sums[3], numbers[2 + 9 + 2 + 3];
    tally_two(&a);
    tallies_begin_picture(&b);
    tallies_begin_picture(&b);
    tallies_add(&b, 1, 4);
    tallies_begin_picture(&b);
    CU_ASSERT_EQUAL_FATAL(tallies_numbers(&a) + tallies_numbers(&b), 16);
    tallies_write(&a, numbers);
    tallies_write(&b, numbers + tallies_numbers(&a));
    CU_ASSERT_FALSE(tallies_read(&c, numbers, 15));
    CU_ASSERT_TRUE(tallies_read(&c, numbers, 16));
    CU_ASSERT_EQUAL(c.pictures, 5);
    tallies_sum(&c, times, sums, 3);
    CU_ASSERT(sums[0] == 5 && sums[1] == 8 && sums[2] == 0);
    tallies_free(&a);
    tallies_free(&b);
    tallies_free(&c);
}

/* ---- Scores ---- */

/* One of classify, of two classes: all pictures of the first, of which the first `right` are right. */
static void a_score_has_the_interval_of_its_measure(void)
{
    struct tallies tallies = {.items = NULL};
    double sums[4 + METRICS_SUMS] = {0};
    struct interval interval;
    struct score score = {.task = task_find("classify"),
                          .form = {.classes = 2},
                          .sums = sums,
                          .sum_count = sizeof sums / sizeof *sums,
                          .tallies = &tallies};
    struct pictures same = {40, 30, 0, 0};
    for (uint32_t n = 0; n < 40; n++) {
        const float row[] = {n < 30 ? 0.9f : 0.1f, n < 30 ? 0.1f : 0.9f};
        uint32_t label = 0, index = n;
        const struct glcnn_data_batch batch = {.labels = &label, .indices = &index, .count = 1};
        score_add(&score, row, &batch);
    }
    CU_ASSERT_EQUAL(score_measure(&score), 0.75);
    CU_ASSERT_TRUE(score_interval(&score, 11, &interval));
    const struct interval expected = interval_of(&same, 40, 11);
    CU_ASSERT_EQUAL(interval.low, expected.low);
    CU_ASSERT_EQUAL(interval.high, expected.high);
    CU_ASSERT_EQUAL(score_measure(&score), 0.75);
    CU_ASSERT_EQUAL(task_find("classify")->chance(&score), 1);
    tallies.lacks_memory = true;
    CU_ASSERT_TRUE(score_interval(&score, 11, &interval));
    CU_ASSERT_EQUAL(interval.draws, 0);
    tallies_free(&tallies);
}

/* ---- What is learned least ---- */

static void check_least(const double *measures, const double *counts, size_t count, int expected)
{
    size_t least = 99;
    CU_ASSERT_EQUAL(least_find(measures, counts, count, &least), expected >= 0);
    if (expected >= 0)
        CU_ASSERT_EQUAL(least, (size_t)expected);
}

static void the_lowest_is_learned_least(void)
{
    static const double counts[] = {3, 5, 9, 9};
    check_least((const double[]){0.5, 0.25, 0.75, 1}, counts, 4, 1);
    check_least((const double[]){0.5, 0.5, 0.5, 1}, counts, 4, 2); /* of equals that of the most */
    check_least((const double[]){1, 1, 0.5, 0.5}, counts, 4, 2);   /* then the first */
    check_least((const double[]){NAN, 0.25, NAN, 0.5}, counts, 4, 1);
    check_least((const double[]){0, NAN, 1, NAN}, counts, 4, 0);
    check_least((const double[]){-2, 0.25, 1, 0.5}, counts, 4, 0);
    check_least((const double[]){1, 1, 1, 1}, counts, 4, -1); /* all right */
    check_least((const double[]){0, 0, NAN, 0}, counts, 4, -1);
    check_least((const double[]){0.5}, counts, 1, -1);
    check_least((const double[]){NAN, 0.5, NAN}, counts, 3, -1);
    check_least((const double[]){NAN, NAN}, counts, 2, -1);
    check_least(NULL, NULL, 0, -1);
}

/* ---- Advice ---- */

static const double flat[] = {2, 1.5, 1, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.59},
                    falling[] = {2, 1.9, 1.8, 1.6, 1.4, 1.2, 1.1, 1, 0.9, 0.8},
                    rising[] = {2, 1.2, 0.9, 0.6, 1.4, 1.5, 1.9, 2, 1.2, 1.2};

/* Half way, and as good in training. */
static struct advice_facts facts_of(const double *losses, size_t epochs)
{
    return (struct advice_facts){.losses = losses,
                                 .epochs = epochs,
                                 .step_losses = flat,
                                 .steps = 10,
                                 .all_steps = 500,
                                 .measure = 0.6,
                                 .low = 0.5,
                                 .high = 0.68,
                                 .chance = 0.1,
                                 .training_measure = 0.65,
                                 .training_loss = 1,
                                 .validation_loss = 9};
}

static void a_loss_that_still_falls_wants_time(void)
{
    struct advice_facts f = facts_of(falling, 10);
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_TIME);
    f.low = 0; /* it may have had no time to leave chance */
    f.measure = 0.1;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_TIME);
    f.measure = 0.99;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f = facts_of(flat, 10);
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f = facts_of(rising, 10); /* it falls back to what was better before */
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f = facts_of(falling, 5);
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_TIME);
}

static void the_steps_count_where_epochs_are_few(void)
{
    struct advice_facts f = facts_of(falling, 4);
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f.step_losses = falling;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_TIME);
    f.steps = 9;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f.epochs = f.steps = 0;
    f.losses = f.step_losses = NULL;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
}

static void chance_points_at_the_labels(void)
{
    struct advice_facts f = facts_of(flat, 10);
    f.measure = 0.12;
    f.low = 0.09;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_LABELS);
    f.all_steps = 499;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_STEPS);
    f.all_steps = 500;
    f.training_measure = 1; /* it has learned them by heart */
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_LABELS);
    f = facts_of(flat, 10);
    f.low = 0; /* few pictures, which are well learned */
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f.measure = NAN;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
}

static void training_far_ahead_wants_pictures(void)
{
    struct advice_facts f = facts_of(flat, 10);
    f.training_measure = 0.71;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_PICTURES);
    f.high = 0.72; /* it may be chance */
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f.training_measure = NAN;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_PICTURES);
    f.validation_loss = 2;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
    f.training_loss = NAN; /* losses of different kinds */
    f.validation_loss = 9;
    CU_ASSERT_EQUAL(advice_find(&f), ADVICE_NONE);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(an_interval_is_as_wide_as_two_deviations_to_either_side),
        UNIT_TEST(the_seed_decides_what_is_drawn),
        UNIT_TEST(what_all_draws_agree_on_has_the_rule_of_three),
        UNIT_TEST(there_is_no_interval_where_it_would_say_nothing),
        UNIT_TEST(sums_are_those_of_the_pictures_drawn),
        UNIT_TEST(rows_of_tallies_are_joined),
        UNIT_TEST(a_score_has_the_interval_of_its_measure),
        UNIT_TEST(the_lowest_is_learned_least),
        UNIT_TEST(a_loss_that_still_falls_wants_time),
        UNIT_TEST(the_steps_count_where_epochs_are_few),
        UNIT_TEST(chance_points_at_the_labels),
        UNIT_TEST(training_far_ahead_wants_pictures),
        CU_TEST_INFO_NULL,
    };
    return unit_run("conclusion", tests, argc, argv);
}
