/* Names of left and right, and keypoints that change places where a picture is mirrored. */
#include "tests/fixture.h"
#include "task/keypoint_map.h"
#include "task/keypoint_sides.h"
#include "task/model.h"

#include <math.h>

static void names_have_sides(void)
{
    static const struct {
        const char *name;
        enum side side;
    } rows[] = {{"left_eye", SIDE_LEFT}, {"eye_left", SIDE_LEFT},  {"Right-Hand", SIDE_RIGHT},
                {"leftEye", SIDE_LEFT},  {"eyeRight", SIDE_RIGHT}, {"LEFT EYE", SIDE_LEFT},
                {"left", SIDE_LEFT},     {"left2", SIDE_LEFT},     {"knee2_right", SIDE_RIGHT},
                {"l_hand", SIDE_LEFT},   {"hand.r", SIDE_RIGHT},   {"R_elbow", SIDE_RIGHT},
                {"right_l", SIDE_RIGHT}, {"l", SIDE_LEFT},         {"leftover", SIDE_NONE},
                {"bright", SIDE_NONE},   {"upright", SIDE_NONE},   {"nose", SIDE_NONE},
                {"r2d2", SIDE_NONE},     {"", SIDE_NONE},          {"collar", SIDE_NONE},
                {"Lefty", SIDE_NONE},    {"lefteye", SIDE_NONE},   {"LEFTEYE", SIDE_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(side_of(rows[i].name), rows[i].side);
        if (side_of(rows[i].name) != rows[i].side)
            printf("\n    %s", rows[i].name);
    }
}

#define MOST 5

static void check_partners(const char (*names)[SIDES_NAME], uint32_t count, enum sides sides,
                           const uint32_t *expected, uint32_t expected_lone)
{
    uint32_t partners[MOST], lone = MOST;
    CU_ASSERT_EQUAL(sides_find(names, count, partners, &lone), sides);
    for (uint32_t k = 0; k < count && expected; k++)
        CU_ASSERT_EQUAL(partners[k], expected[k]);
    if (sides == SIDES_LONE)
        CU_ASSERT_EQUAL(lone, expected_lone);
}

static void each_left_has_its_right(void)
{
    static const char paired[][SIDES_NAME] = {"left_eye", "nose", "r_ear", "Right_Eye", "l_ear"},
                      none[][SIDES_NAME] = {"tip", "tail"},
                      lone[][SIDES_NAME] = {"left_eye", "right_eye", "eye_left"},
                      twice[][SIDES_NAME] = {"left_eye", "right_eye", "LEFT_eye"},
                      other[][SIDES_NAME] = {"left_eye", "right_ear"};
    check_partners(paired, 5, SIDES_PAIRED, (const uint32_t[]){3, 1, 4, 0, 2}, 0);
    check_partners(none, 2, SIDES_NONE, (const uint32_t[]){0, 1}, 0);
    check_partners(none, 0, SIDES_NONE, NULL, 0);
    check_partners(lone, 3, SIDES_LONE, NULL, 2);
    check_partners(twice, 3, SIDES_LONE, NULL, 2);
    check_partners(other, 2, SIDES_LONE, NULL, 0);
}

static void columns_are_paired_by_their_keypoints(void)
{
    static const char *const columns[] = {"left_eye_x", "left_eye_y",  "tip_x",
                                          "tip_y",      "right_eye_x", "right_eye_y"};
    uint32_t *partners;
    char why[GLCNN_ERROR_LENGTH];
    CU_ASSERT_TRUE(keypoint_sides(columns, 6, &partners, why));
    CU_ASSERT_PTR_NOT_NULL_FATAL(partners);
    CU_ASSERT(partners[0] == 2 && partners[1] == 1 && partners[2] == 0);
    CU_ASSERT_STRING_EQUAL(why, "");
    free(partners);
    CU_ASSERT_TRUE(keypoint_sides(columns, 4, &partners, why));
    CU_ASSERT_PTR_NULL(partners);
    CU_ASSERT_STRING_EQUAL(
        why, "keypoint \"left_eye\" has no counterpart on the right to change places with");
    CU_ASSERT_TRUE(keypoint_sides(columns + 2, 2, &partners, why));
    CU_ASSERT_PTR_NULL(partners);
    CU_ASSERT_STRING_EQUAL(why, "");
}

/* ---- Batches ---- */

#define SIDE     32
#define PICTURES 8
#define POINTS   3

static const struct form form = {
    .width = SIDE, .height = SIDE, .channels = 3, .classes = 2 * POINTS};

/* The hottest pixel of a map, as the middle of its column in the picture. */
static double hottest(const uint8_t *heat, const struct keypoint_map *map, uint32_t n, uint32_t k)
{
    const size_t pixels = (size_t)map->width * map->height;
    const uint8_t *of = heat + n * pixels * POINTS + k;
    size_t best = 0;
    for (size_t i = 0; i < pixels; i++)
        best = of[i * POINTS] > of[best * POINTS] ? i : best;
    return ((double)(best % map->width) + 0.5) * SIDE / map->width;
}

/* Each picture has its keypoints in the columns 4, 15 and 26: those of a mirrored one are 28, 17 and 6, and
 * `partners` says whose they are. */
static void check_batch(const uint32_t *partners, const uint32_t *expected)
{
    static const double columns[POINTS] = {4.5, 15.5, 26.5};
    const struct keypoint_map map = keypoint_map(&form);
    struct runner runner = {
        .task = task_find("keypoints"), .form = form, .batch = PICTURES, .partners = partners};
    uint32_t sizes[PICTURES], indices[PICTURES], mirrored = 0;
    float places[PICTURES * 2 * POINTS];
    runner.input.augment.geometry.flip_horizontal = true;
    runner.input.seed = 5;
    for (uint32_t n = 0; n < PICTURES; n++) {
        sizes[n] = SIDE;
        indices[n] = n;
        for (uint32_t k = 0; k < POINTS; k++) {
            places[(n * POINTS + k) * 2] = (float)columns[k];
            places[(n * POINTS + k) * 2 + 1] = 16.5f;
        }
    }
    for (int i = 0; i < 2; i++)
        runner.labels[i] = make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, PICTURES, POINTS,
                                         map.height, map.width);
    const struct glcnn_data_batch batch = {.count = PICTURES,
                                           .numbers = places,
                                           .widths = sizes,
                                           .heights = sizes,
                                           .indices = indices};
    CU_ASSERT_TRUE_FATAL(task_find("keypoints")->write_labels(&runner, &batch));
    const size_t size = (size_t)map.width * map.height * POINTS * PICTURES;
    uint8_t *heat = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(heat);
    GOOD_FATAL(glcnn_image_read_bytes(runner.labels[0], NULL, heat, size));
    for (uint32_t n = 0; n < PICTURES; n++) {
        struct glcnn_augment_geometry_parameters geometry = runner.input.augment.geometry;
        double m[6];
        geometry.seed = runner.input.seed;
        glcnn_augment_geometry_matrix(&geometry, n, 0, SIDE, SIDE, m);
        mirrored += m[0] < 0;
        for (uint32_t k = 0; k < POINTS; k++) {
            const double column = m[0] < 0 ? SIDE - columns[expected[k]] : columns[k];
            CU_ASSERT(fabs(hottest(heat, &map, n, k) - column) <= (double)SIDE / map.width);
        }
    }
    CU_ASSERT(mirrored > 0 && mirrored < PICTURES);
    free(heat);
    for (int i = 0; i < 2; i++)
        glcnn_image_destroy(&runner.labels[i]);
}

static void partners_change_places_in_mirrored_pictures(void)
{
    static const uint32_t outer[POINTS] = {2, 1, 0}, same[POINTS] = {0, 1, 2},
                          first[POINTS] = {1, 0, 2};
    check_batch(outer, outer);
    check_batch(first, first);
    check_batch(NULL, same);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(names_have_sides), UNIT_TEST(each_left_has_its_right),
        UNIT_TEST(columns_are_paired_by_their_keypoints),
        UNIT_TEST(partners_change_places_in_mirrored_pictures), CU_TEST_INFO_NULL};
    return fixture_run("sides", tests, argc, argv);
}
