/* Keypoints: where cuts and augmentation move them, and that their heat maps tell where they are. */
#include "task/keypoint_map.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit.h"
#include "task/score.h"

#define WIDTH  36
#define HEIGHT 28

static const struct form covering = {.width = WIDTH, .height = HEIGHT, .channels = 3, .classes = 4};

/* The middle of 72 x 56 of a picture of 80 x 56 is seen, 2 of its pixels in one. */
static void cuts_move_places(void)
{
    static const uint32_t size[2] = {80, 56};
    const struct keypoint corner = keypoint_cut(&covering, size, (const float[2]){4, 0}),
                          inner = keypoint_cut(&covering, size, (const float[2]){25, 11});
    CU_ASSERT(corner.is_seen && corner.x == 0 && corner.y == 0);
    CU_ASSERT(inner.is_seen && inner.x == 10.5f && inner.y == 5.5f);
    CU_ASSERT_FALSE(keypoint_cut(&covering, size, (const float[2]){3.9f, 20}).is_seen);
    CU_ASSERT_FALSE(keypoint_cut(&covering, size, (const float[2]){76, 20}).is_seen);
    CU_ASSERT_FALSE(keypoint_cut(&covering, size, (const float[2]){-1, 20}).is_seen);
    CU_ASSERT_FALSE(keypoint_cut(&covering, size, (const float[2]){20, -1}).is_seen);
}

/* With `resize` the shorter side becomes 40 pixels, whatever the network's picture is. */
static void a_resized_side_scales(void)
{
    static const uint32_t size[2] = {100, 80};
    struct form form = covering;
    form.resize = 40;
    const struct keypoint k = keypoint_cut(&form, size, (const float[2]){54, 36});
    CU_ASSERT(k.is_seen && k.x == WIDTH / 2 + 2 && k.y == HEIGHT / 2 - 2);
    CU_ASSERT_FALSE(keypoint_cut(&form, size, (const float[2]){13, 40}).is_seen);
}

static void places_come_back(void)
{
    static const uint32_t size[2] = {61, 97};
    const float place[2] = {17.25f, 40.5f};
    double back[2];
    const struct keypoint k = keypoint_cut(&covering, size, place);
    keypoint_restore(&covering, size, &k, back);
    CU_ASSERT_DOUBLE_EQUAL(back[0], 17.25, 1e-4);
    CU_ASSERT_DOUBLE_EQUAL(back[1], 40.5, 1e-4);
}

/* What a pixel of the result shows, moves to its middle. */
static void places_follow_their_pixels(void)
{
    const struct glcnn_augment_geometry_parameters parameters = {
        .seed = 3, .flip_horizontal = true, .shift = 3, .rotation = 30, .scale = 0.2f};
    uint32_t random = 5;
    for (uint32_t n = 0; n < 100; n++) {
        const double x = below(&random, WIDTH), y = below(&random, HEIGHT);
        double m[6];
        glcnn_augment_geometry_matrix(&parameters, n, 2, WIDTH, HEIGHT, m);
        struct keypoint k = {(float)(m[0] * x + m[1] * y + m[2] + 0.5),
                             (float)(m[3] * x + m[4] * y + m[5] + 0.5), true};
        keypoint_move(&covering, m, &k);
        CU_ASSERT_DOUBLE_EQUAL((double)k.x, x + 0.5, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL((double)k.y, y + 0.5, 1e-3);
        CU_ASSERT(k.is_seen);
    }
}

/* One that is moved out of the picture is not seen; one that was not stays so. */
static void what_leaves_is_not_seen(void)
{
    static const double right[6] = {1, 0, -10, 0, 1, 0};
    struct keypoint leaves = {WIDTH - 9, 5, true}, stays = {WIDTH - 11, 5, true},
                    unseen = {5, 5, false};
    keypoint_move(&covering, right, &leaves);
    keypoint_move(&covering, right, &stays);
    keypoint_move(&covering, right, &unseen);
    CU_ASSERT_FALSE(leaves.is_seen);
    CU_ASSERT(stays.is_seen && fabsf(stays.x - (WIDTH - 1)) < 1e-4f);
    CU_ASSERT_FALSE(unseen.is_seen);
}

/* The last pixel ends before the size; a map of less than 32 pixels has spots of one. */
static void pictures_end_at_their_size(void)
{
    const struct form small = {.width = 16, .height = 16, .classes = 2};
    const uint32_t size[2] = {4, 3};
    CU_ASSERT_TRUE(keypoint_is_in(size, (const float[]){3.9f, 2.9f}));
    CU_ASSERT_FALSE(keypoint_is_in(size, (const float[]){4, 0}));
    CU_ASSERT_FALSE(keypoint_is_in(size, (const float[]){0, 3}));
    CU_ASSERT_EQUAL(keypoint_map(&small).sigma, 1);
}

static float *draw_maps(const struct form *form, const struct keypoint points[2])
{
    const struct keypoint_map map = keypoint_map(form);
    float *maps = malloc((size_t)map.width * map.height * 2 * sizeof *maps);
    for (uint32_t i = 0; maps && i < map.width * map.height * 2; i++)
        maps[i] = keypoint_heat(form, &map, &points[i % 2], i / 2 % map.width, i / 2 / map.width);
    return maps;
}

#define EXACT 0.02f /* pixels of a map */

/* Draws both keypoints, and finds them. The confidence is at least what half a pixel in both directions
 * leaves. */
static void check_found(uint32_t width, uint32_t height, const struct keypoint points[2])
{
    const struct form form = {.width = width, .height = height, .channels = 3, .classes = 4};
    const struct keypoint_map map = keypoint_map(&form);
    const float x = (float)width / (float)map.width, y = (float)height / (float)map.height;
    float *maps = draw_maps(&form, points);
    CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
    for (uint32_t k = 0; k < 2; k++) {
        float confidence;
        const struct keypoint found = keypoint_find(&form, maps, k, &confidence);
        CU_ASSERT(fabsf(found.x - points[k].x) <= EXACT * x);
        CU_ASSERT(fabsf(found.y - points[k].y) <= EXACT * y);
        CU_ASSERT(confidence > 0.75f && confidence <= 1);
    }
    free(maps);
}

/* Maps of all of a picture's pixels, of half and of a quarter of each side: keypoints anywhere, and at the
 * edges and corners, where a part of the Gaussian is cut off. */
static void maps_tell_their_places(void)
{
    static const uint32_t sizes[][2] = {{36, 28}, {64, 64}, {90, 121}, {224, 224}, {1024, 640}};
    uint32_t random = 7;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const float width = (float)sizes[i][0], height = (float)sizes[i][1];
        for (uint32_t n = 0; n < (i < 4 ? 40 : 4); n++) {
            const float x = (float)below(&random, 10000) / 10000 * width,
                        y = (float)below(&random, 10000) / 10000 * height;
            const float column = n % 3 == 0   ? 0
                                 : n % 3 == 1 ? width - 0.01f
                                              : x / width * 3,
                        row = n % 4 == 0   ? 0
                              : n % 4 == 1 ? height - 0.01f
                                           : y;
            const struct keypoint points[2] = {{x, y, true}, {column, row, true}};
            check_found(sizes[i][0], sizes[i][1], points);
        }
    }
}

/* A Gaussian as floats, of another width and height than labels have: exact. */
static void any_gaussian_is_exact(void)
{
    const struct form form = {.width = 64, .height = 64, .channels = 3, .classes = 2};
    static float map[64 * 64];
    float confidence;
    for (float sigma = 1; sigma < 4; sigma += 0.4f)
        for (uint32_t i = 0; i < 64; i++) {
            const float x = (float)i * 0.997f + 0.05f, y = 63.9f - (float)i * 0.4f;
            for (uint32_t at = 0; at < 64 * 64; at++) {
                const float dx = (float)(at % 64) + 0.5f - x, dy = (float)(at / 64) + 0.5f - y;
                map[at] = 0.6f * expf(-(dx * dx + dy * dy) / (2 * sigma * sigma));
            }
            const struct keypoint found = keypoint_find(&form, map, 0, &confidence);
            CU_ASSERT(fabsf(found.x - x) < 1e-3f);
            CU_ASSERT(fabsf(found.y - y) < 1e-3f);
        }
}

/* What has no top, as a ramp or a single pixel, gives the hottest pixel, or what is within its reach. */
static void maps_without_a_top_give_their_hottest_pixel(void)
{
    static float maps[3][WIDTH * HEIGHT * 2];
    float confidence;
    for (uint32_t i = 0; i < WIDTH * HEIGHT * 2; i++) {
        maps[0][i] = 1;
        maps[1][i] = expf((float)(i / 2 % WIDTH));
        maps[2][i] = i == 2 * (5 * WIDTH + 7) ? 0.5f : 0;
    }
    static const float places[3][2] = {{0.5f, 0.5f}, {WIDTH - 0.5f, 0.5f}, {7.5f, 5.5f}};
    for (int i = 0; i < 3; i++) {
        const struct keypoint k = keypoint_find(&covering, maps[i], 0, &confidence);
        CU_ASSERT_EQUAL(k.x, places[i][0]);
        CU_ASSERT_EQUAL(k.y, places[i][1]);
    }
}

/* The squares of a map add up to its energy. */
static void squares_add_up_to_the_energy(void)
{
    const struct form form = {.width = 224, .height = 224, .channels = 3, .classes = 4};
    const struct keypoint_map map = keypoint_map(&form);
    const struct keypoint points[2] = {{100, 90, true}, {120, 130, true}};
    double sum = 0;
    float *maps = draw_maps(&form, points);
    CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
    for (uint32_t i = 0; i < map.width * map.height; i++)
        sum += (double)maps[2 * i] * (double)maps[2 * i];
    CU_ASSERT_DOUBLE_EQUAL(sum / keypoint_energy(&map), 1, 0.02);
    free(maps);
}

/* A picture of 80 x 56, of which the network sees 72 x 56 at half the size: what is 1.5 of its pixels off is
 * 3 of the picture's, and right, since a twentieth of 80 is 4; 2.5 of its pixels are 5, and wrong. */
static void distances_are_in_pixels_of_the_picture(void)
{
    static const float places[4] = {40, 30, 20, 20};
    static const uint32_t width = 80, height = 56, label, index;
    double sums[6] = {0};
    struct score score = {
        .task = task_find("keypoints"), .form = covering, .sums = sums, .sum_count = 6};
    const struct glcnn_data_batch batch = {.count = 1,
                                           .labels = &label,
                                           .indices = &index,
                                           .numbers = places,
                                           .widths = &width,
                                           .heights = &height};
    struct keypoint off[2];
    for (uint32_t k = 0; k < 2; k++)
        off[k] = keypoint_cut(&covering, (const uint32_t[2]){width, height}, places + 2 * k);
    off[0].x += 1.5f;
    off[1].y += 2.5f;
    float *maps = draw_maps(&covering, off);
    CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
    score_add(&score, maps, &batch);
    static const double expected[6] = {1, 1, 3, 1, 0, 5}; /* seen, near, distance */
    for (int i = 0; i < 6; i++)
        CU_ASSERT_DOUBLE_EQUAL(sums[i], expected[i], 2 * (double)EXACT);
    free(maps);
}

/* Nothing is hot: some place all the same, and no confidence. */
static void cold_maps_have_no_confidence(void)
{
    static float maps[WIDTH * HEIGHT * 2];
    float confidence = 1;
    for (size_t i = 0; i < WIDTH * HEIGHT * 2; i++)
        maps[i] = -1;
    const struct keypoint k = keypoint_find(&covering, maps, 1, &confidence);
    CU_ASSERT(confidence == 0);
    CU_ASSERT(k.x >= 0 && k.x < WIDTH && k.y >= 0 && k.y < HEIGHT);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(cuts_move_places),
                                        UNIT_TEST(a_resized_side_scales),
                                        UNIT_TEST(places_come_back),
                                        UNIT_TEST(places_follow_their_pixels),
                                        UNIT_TEST(what_leaves_is_not_seen),
                                        UNIT_TEST(pictures_end_at_their_size),
                                        UNIT_TEST(maps_tell_their_places),
                                        UNIT_TEST(any_gaussian_is_exact),
                                        UNIT_TEST(maps_without_a_top_give_their_hottest_pixel),
                                        UNIT_TEST(distances_are_in_pixels_of_the_picture),
                                        UNIT_TEST(squares_add_up_to_the_energy),
                                        UNIT_TEST(cold_maps_have_no_confidence),
                                        CU_TEST_INFO_NULL};
    return unit_run("keypoint_map", tests, argc, argv);
}
