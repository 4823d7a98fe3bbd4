/* What "glcnn anomaly" computes: coresets, the nearest of a bank on the device against double precision,
 * scores by neighbours, thresholds and the area under the ROC curve by hand. */
#include "task/anomaly_bank.h"
#include "task/anomaly_nearest.h"
#include "task/anomaly_projection.h"
#include "task/anomaly_scores.h"

#include <math.h>

#include "tests/fixture.h"

/* ---- Coresets ---- */

/* On a line: after the first point, the farther end, then the middle of what is left. */
static void the_farthest_is_chosen_next(void)
{
    static const float line[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    size_t chosen[5];
    CU_ASSERT_EQUAL(bank_select(line, 9, 1, 5, 1, chosen), 5);
    const size_t first = chosen[0], ends[] = {first < 4 ? 8 : 0, first < 4 ? 0 : 8};
    CU_ASSERT_EQUAL(chosen[1], first == 4 ? 0 : ends[0]);
    size_t other[5];
    bool is_other = false;
    for (uint64_t seed = 2; seed < 9 && !is_other; seed++) {
        bank_select(line, 9, 1, 5, seed, other);
        is_other = other[0] != first;
    }
    CU_ASSERT_TRUE(is_other); /* the seed draws the first */
    CU_ASSERT_EQUAL(bank_select(line, 9, 1, 5, 1, other), 5);
    CU_ASSERT_EQUAL(memcmp(chosen, other, sizeof chosen), 0);
}

/* Of more dimensions than sums are made side by side, against distances that each step computes again. */
static void a_coreset_is_that_of_plain_distances(void)
{
    enum { POINTS = 200, CHANNELS = 19, WANTED = 40 };
    static float points[POINTS * CHANNELS];
    size_t chosen[WANTED];
    uint32_t seed = 5;
    for (size_t i = 0; i < POINTS * CHANNELS; i++)
        points[i] = noise(&seed);
    CU_ASSERT_EQUAL(bank_select(points, POINTS, CHANNELS, WANTED, 3, chosen), WANTED);
    for (size_t step = 1; step < WANTED; step++) {
        double found = INFINITY, farthest = 0;
        for (size_t i = 0; i < POINTS; i++) {
            double least = INFINITY;
            for (size_t k = 0; k < step; k++)
                least = fmin(least, bank_distance(points + i * CHANNELS,
                                                  points + chosen[k] * CHANNELS, CHANNELS));
            farthest = fmax(farthest, least);
            found = i == chosen[step] ? least : found;
        }
        CU_ASSERT_TRUE(is_near(found, farthest, 1e-5));
    }
}

static void copies_are_not_chosen(void)
{
    static const float points[] = {1, 1, 5, 5, 1, 5};
    size_t chosen[6];
    CU_ASSERT_EQUAL(bank_select(points, 6, 1, 6, 1, chosen), 2);
    CU_ASSERT_EQUAL(bank_select(points, 0, 1, 6, 1, chosen), 0);
}

/* ---- The nearest ---- */

#define BANK     70
#define CHANNELS 37
#define WIDTH    5
#define HEIGHT   3
#define PATCHES  (WIDTH * HEIGHT)

static double nearest_of(const float *bank, const float *patch)
{
    double least = INFINITY;
    for (uint32_t m = 0; m < BANK; m++)
        least = fmin(least, bank_distance(bank + m * CHANNELS, patch, CHANNELS));
    return least;
}

/* Far from the origin, where |a|^2 + |b|^2 - 2 a b has few digits left of what was not centred. */
static void check_nearest(float offset)
{
    static float values[BANK * CHANNELS], pixels[2 * CHANNELS * PATCHES], patch[CHANNELS];
    const struct bank bank = {BANK, CHANNELS, values};
    const struct form grid = {WIDTH, HEIGHT, CHANNELS, 0};
    struct nearest n;
    uint32_t seed = 11;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = offset + noise(&seed);
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        pixels[i] = offset + noise(&seed);
    for (uint32_t c = 0; c < CHANNELS; c++) /* a patch of the bank itself */
        pixels[c * PATCHES + 4] = values[9 * CHANNELS + c];
    glcnn_image *image = image_with(2, CHANNELS, HEIGHT, WIDTH, pixels);
    CU_ASSERT_TRUE_FATAL(nearest_create(device, &bank, &grid, 2, &n));
    CU_ASSERT_TRUE(nearest_run(&n, image));
    for (size_t i = 0; i < 2 * PATCHES; i++) {
        for (uint32_t c = 0; c < CHANNELS; c++)
            patch[c] = pixels[i / PATCHES * CHANNELS * PATCHES + c * PATCHES + i % PATCHES];
        CU_ASSERT_EQUAL(memcmp(patch, n.patches + i * CHANNELS, sizeof patch), 0);
        CU_ASSERT_TRUE(is_near(n.distances[i], nearest_of(values, patch), 1e-4));
    }
    CU_ASSERT_EQUAL(n.numbers[4], 9);
    CU_ASSERT_EQUAL(n.distances[4], 0);
    nearest_destroy(&n);
    glcnn_image_destroy(&image);
}

static void the_nearest_is_that_of_double_precision(void)
{
    check_nearest(0);
    check_nearest(100);
}

static void the_worst_patch_is_found_unless_a_value_is_not_finite(void)
{
    static float values[] = {0, 1};
    float pixels[] = {0.25f, 1, 3, 3, NAN, 0, 0, 0};
    const struct bank bank = {2, 1, values};
    const struct form grid = {2, 2, 1, 0};
    struct nearest n;
    glcnn_image *image = image_with(2, 1, 2, 2, pixels);
    CU_ASSERT_TRUE_FATAL(nearest_create(device, &bank, &grid, 2, &n));
    CU_ASSERT_TRUE(nearest_run(&n, image));
    CU_ASSERT_EQUAL(nearest_count(&n), 4);
    CU_ASSERT_EQUAL(nearest_worst(&n, 0), 2);
    CU_ASSERT_EQUAL(n.distances[0], 0.25);
    CU_ASSERT_EQUAL(n.distances[2], 2);
    CU_ASSERT_EQUAL(nearest_worst(&n, 1), UINT32_MAX);
    nearest_destroy(&n);
    glcnn_image_destroy(&image);
}

/* ---- Scores ---- */

static void neighbours_weigh_the_distance(void)
{
    float values[] = {0, 1, 4};
    const float patch = -2;
    struct bank bank = {3, 1, values};
    const double share = exp(2) / (exp(2) + exp(3) + exp(6));
    CU_ASSERT_TRUE(is_near(bank_score(&bank, &patch, 0, 2), 2 * (1 - share), 1e-12));
    bank.count = 1;
    CU_ASSERT_EQUAL(bank_score(&bank, &patch, 0, 2), 2);
    float far[] = {0, 5000};
    bank = (struct bank){2, 1, far};
    CU_ASSERT_EQUAL(bank_score(&bank, &patch, 0, 2), 2);
}

/* Nine of twelve count: those next to number 11, itself included, and no other. */
static void neighbours_are_the_nearest_of_the_nearest(void)
{
    float values[12];
    double sum = 0;
    const float patch = 14;
    for (uint32_t i = 0; i < 12; i++)
        values[i] = (float)i;
    for (uint32_t i = 3; i < 12; i++)
        sum += exp(14.0 - i);
    const struct bank bank = {12, 1, values};
    CU_ASSERT_TRUE(is_near(bank_score(&bank, &patch, 11, 3), 3 * (1 - exp(3) / sum), 1e-12));
}

static void thresholds_are_ranks(void)
{
    double scores[] = {4, 1, 3, 2};
    size_t rank;
    CU_ASSERT_EQUAL(scores_threshold(scores, 4, 0.5, &rank), 3); /* ceil(2.5) */
    CU_ASSERT_EQUAL(rank, 3);
    CU_ASSERT_EQUAL(scores_threshold(scores, 4, 0.95, &rank), 4);
    CU_ASSERT_EQUAL(rank, 4);
    CU_ASSERT_EQUAL(scores_threshold(scores, 4, 1e-9, &rank), 1);
    CU_ASSERT_EQUAL(scores_threshold(scores, 1, 0.95, &rank), 1);
    CU_ASSERT_EQUAL(rank, 1);
}

static void auroc_counts_pairs(void)
{
    /* scikit-learn's roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) is 0.75. */
    CU_ASSERT_EQUAL(
        scores_auroc((double[]){0.1, 0.4, 0.35, 0.8}, (bool[]){false, false, true, true}, 4), 0.75);
    CU_ASSERT_EQUAL(scores_auroc((double[]){2, 1, 1}, (bool[]){true, false, false}, 3), 1);
    CU_ASSERT_EQUAL(scores_auroc((double[]){2, 1, 1}, (bool[]){false, true, true}, 3), 0);
    CU_ASSERT_EQUAL(scores_auroc((double[]){1, 1, 1}, (bool[]){false, true, true}, 3), 0.5);
    /* Of 2 x 3 pairs three are right, and two are equal. */
    CU_ASSERT_TRUE(is_near(
        scores_auroc((double[]){3, 1, 1, 3, 2}, (bool[]){true, true, false, false, false}, 5),
        (2.5 + 0.5) / 6, 1e-12));
    CU_ASSERT_TRUE(isnan(scores_auroc((double[]){1, 2}, (bool[]){true, true}, 2)));
    CU_ASSERT_TRUE(isnan(scores_auroc(NULL, NULL, 0)));
}

/* ---- Projections ---- */

/* Signs of one size, so that lengths stay about what they are; few dimensions stay themselves. */
static void a_projection_keeps_lengths(void)
{
    enum { WIDE = 512 };
    struct projection p;
    glcnn_image *image = make_image(1, WIDE, 1, 1), *narrow = make_image(1, 8, 1, 1);
    fill_noise(image, 3);
    float *before = read_image(image), *after;
    double squares[2] = {0};
    CU_ASSERT_TRUE_FATAL(projection_create(device, WIDE, 1, &p));
    CU_ASSERT_EQUAL(p.channels, PROJECTION_CHANNELS);
    glcnn_image *result = projection_run(&p, image);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    after = read_image(result);
    for (uint32_t i = 0; i < WIDE; i++)
        squares[0] += (double)before[i] * (double)before[i];
    for (uint32_t i = 0; i < PROJECTION_CHANNELS; i++)
        squares[1] += (double)after[i] * (double)after[i];
    CU_ASSERT_TRUE(is_near(sqrt(squares[1] / squares[0]), 1, 0.25));
    projection_destroy(&p);
    CU_ASSERT_TRUE_FATAL(projection_create(device, 8, 1, &p));
    CU_ASSERT_PTR_EQUAL(projection_run(&p, narrow), narrow);
    projection_destroy(&p);
    free(before);
    free(after);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&narrow);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(the_farthest_is_chosen_next),
        UNIT_TEST(a_coreset_is_that_of_plain_distances),
        UNIT_TEST(copies_are_not_chosen),
        UNIT_TEST(the_nearest_is_that_of_double_precision),
        UNIT_TEST(the_worst_patch_is_found_unless_a_value_is_not_finite),
        UNIT_TEST(neighbours_weigh_the_distance),
        UNIT_TEST(neighbours_are_the_nearest_of_the_nearest),
        UNIT_TEST(thresholds_are_ranks),
        UNIT_TEST(auroc_counts_pairs),
        UNIT_TEST(a_projection_keeps_lengths),
        CU_TEST_INFO_NULL};
    return fixture_run("anomaly", tests, argc, argv);
}
