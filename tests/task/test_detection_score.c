/* Mean average precision: that of small sets by hand, and of 20 random ones as NumPy has it
 * (golden/make_detection_scores.py). */
#include "tests/archive.h"
#include "tests/fixture.h"
#include "task/detection_score.h"

#include <math.h>

#define SETS       20
#define PICTURES   10
#define CLASSES    4
#define COLUMNS    7 /* of the archive's arrays */
#define MOST_BOXES 512

/* ---- By hand ---- */

static const struct glcnn_box here = {0, 0, 10, 10}, there = {20, 20, 40, 40},
                              nowhere = {50, 0, 60, 9};

static double at_50(const struct glcnn_object *objects, uint32_t count,
                    const struct glcnn_detection *found, uint32_t found_count, double *at_all)
{
    glcnn_detection_score score;
    struct detection_precision precision = {.at_50 = 0};
    CU_ASSERT_TRUE_FATAL(detection_score_begin(&score, 2));
    CU_ASSERT_TRUE(detection_score_add(&score, objects, count, found, found_count));
    detection_score_result(&score, &precision);
    detection_score_free(&score);
    if (at_all)
        *at_all = precision.at_all;
    return precision.at_50;
}

static void what_is_found_counts(void)
{
    const struct glcnn_object objects[] = {{here, 0, false, false}, {there, 0, false, false}};
    const struct glcnn_detection found[] = {
        {here, 0, 0.5f}, {there, 0, 0.4f}, {nowhere, 0, 0.45f}, {here, 0, 0.3f}};
    double all;
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 2, &all), 1);
    CU_ASSERT_EQUAL(all, 1);
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 0, NULL), 0);
    /* Recall 0 to 0.5 at a precision of 1, up to 1 at 2/3; a box that is found twice comes behind. */
    CU_ASSERT(is_near(at_50(objects, 2, found, 4, NULL), (51 + 50 * 2.0 / 3) / 101, 1e-12));
}

static void classes_without_an_object_do_not_count(void)
{
    const struct glcnn_object object = {here, 1, false, false};
    const struct glcnn_detection found[] = {{here, 0, 0.9f}, {here, 1, 0.5f}};
    CU_ASSERT_EQUAL(at_50(&object, 1, found, 2, NULL), 1);
    CU_ASSERT_EQUAL(at_50(&object, 1, found, 1, NULL), 0);
    CU_ASSERT_TRUE(isnan(at_50(NULL, 0, found, 2, NULL)));
}

static void a_crowd_is_neither_right_nor_wrong(void)
{
    const struct glcnn_object objects[] = {{there, 0, true, false}, {here, 0, false, false}};
    const struct glcnn_box inside = {25, 25, 30, 30};
    const struct glcnn_detection found[] = {
        {inside, 0, 0.9f}, {there, 0, 0.8f}, {nowhere, 0, 0.7f}, {here, 0, 0.6f}};
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 4, NULL), 0.5);
    CU_ASSERT_TRUE(isnan(at_50(objects, 1, found, 4, NULL)));
}

/* A difficult object is missed without a loss, found any number of times, and by its own overlap: a box of a
 * quarter of it is wrong, though of a crowd it would not count. */
static void a_difficult_object_is_neither_right_nor_wrong(void)
{
    const struct glcnn_object objects[] = {{there, 0, false, true}, {here, 0, false, false}};
    const struct glcnn_box inside = {20, 20, 30, 30};
    const struct glcnn_detection found[] = {
        {there, 0, 0.9f}, {there, 0, 0.8f}, {here, 0, 0.7f}, {inside, 0, 0.95f}};
    CU_ASSERT_EQUAL(at_50(objects, 2, found + 2, 1, NULL), 1);
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 3, NULL), 1);
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 4, NULL), 0.5);
    CU_ASSERT_TRUE(isnan(at_50(objects, 1, found, 4, NULL)));
}

/* What overlaps both takes the object that counts, however much more it has of the difficult one. */
static void an_object_that_counts_comes_before_a_difficult_one(void)
{
    const struct glcnn_object objects[] = {{here, 0, false, true},
                                           {{0, 0, 10, 8}, 0, false, false}};
    const struct glcnn_detection found[] = {{here, 0, 0.9f}};
    CU_ASSERT_EQUAL(at_50(objects, 2, found, 1, NULL), 1);
}

static void thresholds_ask_for_overlap(void)
{
    const struct glcnn_object object = {here, 0, false, false};
    const struct glcnn_detection most = {{0, 0, 10, 7.25f}, 0, 1}, half = {{0, 0, 10, 5}, 0, 1},
                                 less = {{0, 0, 10, 4.75f}, 0, 1};
    double all;
    CU_ASSERT_EQUAL(at_50(&object, 1, &most, 1, &all), 1);
    CU_ASSERT(is_near(all, 0.5, 1e-12)); /* 0.5 to 0.7 of ten */
    CU_ASSERT_EQUAL(at_50(&object, 1, &half, 1, NULL), 1);
    CU_ASSERT_EQUAL(at_50(&object, 1, &less, 1, NULL), 0);
}

static void the_likeliest_hundred_count(void)
{
    const struct glcnn_object object = {here, 0, false, false};
    struct glcnn_detection found[101];
    for (int i = 0; i < 101; i++)
        found[i] = (struct glcnn_detection){nowhere, 0, 1 - 0.005f * (float)i};
    found[99].box = here;
    CU_ASSERT(is_near(at_50(&object, 1, found, 101, NULL), 0.01, 1e-12));
    found[99].box = nowhere;
    found[100].box = here;
    CU_ASSERT_EQUAL(at_50(&object, 1, found, 101, NULL), 0);
}

/* ---- NumPy ---- */

static struct glcnn_npy read_array(struct zip *archive, int set, const char *name)
{
    struct glcnn_npy array;
    char full[32];
    snprintf(full, sizeof full, "%d.%s", set, name);
    CU_ASSERT_TRUE_FATAL(archive_read(archive, full, &array));
    return array;
}

/* Rows of the picture, as objects and detections; how many. */
static uint32_t read_boxes(const struct glcnn_npy *array, int picture, struct glcnn_object *objects,
                           struct glcnn_detection *found)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < array->shape[0]; i++) {
        const float *row = array->data + COLUMNS * i;
        const struct glcnn_box box = {row[3], row[4], row[5], row[6]};
        if ((int)row[0] != picture)
            continue;
        CU_ASSERT_FATAL(count < MOST_BOXES);
        if (objects)
            objects[count++] = (struct glcnn_object){box, (uint32_t)row[1], row[2] > 0, false};
        else
            found[count++] = (struct glcnn_detection){box, (uint32_t)row[1], row[2]};
    }
    return count;
}

/* Pictures from `first` to before `end`. */
static void count_pictures(glcnn_detection_score *score, const struct glcnn_npy *objects,
                           const struct glcnn_npy *found, int first, int end)
{
    CU_ASSERT_TRUE_FATAL(detection_score_begin(score, CLASSES));
    for (int i = first; i < end; i++) {
        static struct glcnn_object o[MOST_BOXES];
        static struct glcnn_detection f[MOST_BOXES];
        uint32_t object_count = read_boxes(objects, i, o, NULL);
        CU_ASSERT_TRUE(
            detection_score_add(score, o, object_count, f, read_boxes(found, i, NULL, f)));
    }
}

/* Three that count a part each, and one of them takes what all have. */
static void count_in_parts(glcnn_detection_score *score, const struct glcnn_npy *objects,
                           const struct glcnn_npy *found)
{
    glcnn_detection_score parts[3];
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        count_pictures(&parts[i], objects, found, i * PICTURES / 3, (i + 1) * PICTURES / 3);
        count += detection_score_numbers(&parts[i]);
    }
    double *numbers = calloc(count, sizeof *numbers), *next = numbers;
    CU_ASSERT_PTR_NOT_NULL_FATAL(numbers);
    for (int i = 0; i < 3; i++) {
        detection_score_write(&parts[i], next);
        next += detection_score_numbers(&parts[i]);
    }
    CU_ASSERT_TRUE(detection_score_read(&parts[1], numbers, count));
    CU_ASSERT_FALSE(detection_score_read(&parts[2], numbers, count - 1));
    free(numbers);
    detection_score_free(&parts[0]);
    detection_score_free(&parts[2]);
    *score = parts[1];
}

static void check_set(struct zip *archive, int set, bool in_parts)
{
    struct glcnn_npy objects = read_array(archive, set, "objects"),
                     found = read_array(archive, set, "found"),
                     mean = read_array(archive, set, "mean"),
                     by_class = read_array(archive, set, "by_class");
    glcnn_detection_score score;
    double classes[CLASSES];
    struct detection_precision p = {.of_class_at_50 = classes};
    if (in_parts)
        count_in_parts(&score, &objects, &found);
    else
        count_pictures(&score, &objects, &found, 0, PICTURES);
    detection_score_result(&score, &p);
    CU_ASSERT(is_near(p.at_50, (double)mean.data[0], 1e-6));
    CU_ASSERT(is_near(p.at_all, (double)mean.data[1], 1e-6));
    for (int c = 0; c < CLASSES; c++)
        CU_ASSERT(isnan(by_class.data[c]) ? isnan(classes[c])
                                          : is_near(classes[c], (double)by_class.data[c], 1e-6));
    detection_score_free(&score);
    glcnn_npy_destroy(&objects);
    glcnn_npy_destroy(&found);
    glcnn_npy_destroy(&mean);
    glcnn_npy_destroy(&by_class);
}

/* Pictures drawn several times score as if they were there several times, whichever rank counted them. */
static void check_drawn(struct zip *archive, int set, bool in_parts)
{
    static const uint32_t times[PICTURES] = {0, 2, 1, 0, 3, 1, 1, 0, 1, 1};
    static struct glcnn_object o[MOST_BOXES];
    static struct glcnn_detection f[MOST_BOXES];
    struct glcnn_npy objects = read_array(archive, set, "objects"),
                     found = read_array(archive, set, "found");
    glcnn_detection_score score, drawn;
    struct detection_precision p = {.at_50 = 0};
    for (uint32_t i = 0; i < found.shape[0]; i++) /* equal scores go by the order of the pictures */
        found.data[COLUMNS * i + 2] += 1e-5f * (float)i;
    CU_ASSERT_TRUE_FATAL(detection_score_begin(&drawn, CLASSES));
    for (int i = 0; i < PICTURES; i++)
        for (uint32_t n = 0; n < times[i]; n++) {
            const uint32_t count = read_boxes(&objects, i, o, NULL);
            CU_ASSERT_TRUE(
                detection_score_add(&drawn, o, count, f, read_boxes(&found, i, NULL, f)));
        }
    detection_score_result(&drawn, &p);
    if (in_parts)
        count_in_parts(&score, &objects, &found);
    else
        count_pictures(&score, &objects, &found, 0, PICTURES);
    CU_ASSERT(is_near(detection_score_drawn(&score, times), p.at_50, 1e-12));
    CU_ASSERT(is_near(detection_score_drawn(&score, times), p.at_50, 1e-12));
    detection_score_free(&score);
    detection_score_free(&drawn);
    glcnn_npy_destroy(&objects);
    glcnn_npy_destroy(&found);
}

static void pictures_may_be_drawn_several_times(void)
{
    struct zip *archive = archive_open("tests/golden/detection_scores.npz");
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    for (int set = 0; set < SETS; set++) {
        check_drawn(archive, set, false);
        check_drawn(archive, set, true);
    }
    archive_close(archive);
}

/* ---- Sizes ---- */

/* Squares of the sides 2, 2, 3, 6, 8, 9, of which the last two are found: one exactly, and one by half. Crowds
 * and difficult ones have no size. */
static void sizes_are_thirds_of_the_objects(void)
{
    static const float sides[] = {2, 9, 3, 6, 8, 2};
    struct glcnn_object objects[8] = {[6] = {there, 0, true, false}, [7] = {there, 0, false, true}};
    const struct glcnn_detection found[] = {{{0, 0, 8, 8}, 0, 0.9f},
                                            {{200, 0, 209, 4.5f}, 0, 0.8f}};
    glcnn_detection_score score;
    struct detection_size sizes[DETECTION_SIZES];
    for (int i = 0; i < 6; i++) {
        const float left = sides[i] == 8 ? 0 : sides[i] == 9 ? 200 : 400 + 20 * (float)i;
        objects[i].box = (struct glcnn_box){left, 0, left + sides[i], sides[i]};
    }
    CU_ASSERT_TRUE_FATAL(detection_score_begin(&score, 1));
    CU_ASSERT_TRUE(detection_score_sizes(&score, sizes));
    CU_ASSERT(sizes[0].count == 0 && isnan(sizes[0].found));
    CU_ASSERT_TRUE(detection_score_add(&score, objects, 8, found, 2));
    CU_ASSERT_TRUE(detection_score_sizes(&score, sizes));
    for (int i = 0; i < DETECTION_SIZES; i++)
        CU_ASSERT_EQUAL(sizes[i].count, 2);
    CU_ASSERT(sizes[0].side == 2 && sizes[1].side == 6 && sizes[2].side == 9);
    CU_ASSERT(sizes[0].found == 0 && sizes[1].found == 0);
    CU_ASSERT(is_near(sizes[2].found, (1 + 0.1) / 2, 1e-12));
    detection_score_free(&score);
}

/* Objects that are equally large are all small. */
static void equal_objects_have_one_size(void)
{
    const struct glcnn_object objects[] = {{here, 0, false, false}, {here, 0, false, false}};
    const struct glcnn_detection found[] = {{here, 0, 0.9f}};
    glcnn_detection_score score;
    struct detection_size sizes[DETECTION_SIZES];
    CU_ASSERT_TRUE_FATAL(detection_score_begin(&score, 1));
    CU_ASSERT_TRUE(detection_score_add(&score, objects, 2, found, 1));
    CU_ASSERT_TRUE(detection_score_sizes(&score, sizes));
    CU_ASSERT(sizes[0].count == 2 && sizes[1].count == 0 && sizes[2].count == 0);
    CU_ASSERT(is_near(sizes[0].found, 0.5, 1e-12) && isnan(sizes[1].found));
    detection_score_free(&score);
}

static void random_sets_score_as_in_numpy(void)
{
    struct zip *archive = archive_open("tests/golden/detection_scores.npz");
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    for (int set = 0; set < SETS; set++) {
        check_set(archive, set, false);
        check_set(archive, set, true);
    }
    archive_close(archive);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(what_is_found_counts),
        UNIT_TEST(classes_without_an_object_do_not_count),
        UNIT_TEST(a_crowd_is_neither_right_nor_wrong),
        UNIT_TEST(a_difficult_object_is_neither_right_nor_wrong),
        UNIT_TEST(an_object_that_counts_comes_before_a_difficult_one),
        UNIT_TEST(thresholds_ask_for_overlap),
        UNIT_TEST(the_likeliest_hundred_count),
        UNIT_TEST(random_sets_score_as_in_numpy),
        UNIT_TEST(pictures_may_be_drawn_several_times),
        UNIT_TEST(sizes_are_thirds_of_the_objects),
        UNIT_TEST(equal_objects_have_one_size),
        CU_TEST_INFO_NULL,
    };
    return unit_run("detection_score", tests, argc, argv);
}
