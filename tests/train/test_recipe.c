/* Defaults of glcnn train: how long, which augmentation, which network. Expected values are written out
 * from the rules in tool/recipe.h. */
#include "tests/unit.h"

#include "task/augment.h"
#include "train/recipe.h"

static void batch_and_epochs_follow_from_the_number_of_images(void)
{
    static const struct {
        uint32_t images;
        uint64_t batch, epochs;
    } rows[] = {{1, 1, 200},    {20, 2, 200},   {100, 8, 200},    {600, 8, 133},
                {1999, 8, 60},  {2000, 32, 60}, {3720, 32, 40},   {7999, 32, 24},
                {8000, 64, 24}, {60000, 64, 6}, {1000000, 64, 1}, {UINT32_MAX, 64, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(recipe_batch(rows[i].images, 1), rows[i].batch);
        CU_ASSERT_EQUAL(recipe_epochs(rows[i].images), rows[i].epochs);
    }
    CU_ASSERT_EQUAL(recipe_batch(400, 8), 6); /* an eighth of the images is a step of 8 batches */
    CU_ASSERT_EQUAL(recipe_batch(3, 100), 1);
}

/* ---- Augmentation ---- */

#define COLOURS "brightness=0.15,contrast=0.3,hue=8,saturation=0.3,gain=0.15"

static struct recipe_data data_of(const char *task, const struct glcnn_data_info *info)
{
    return (struct recipe_data){.task = task_find(task),
                                .info = info,
                                .width = 96,
                                .height = 64,
                                .channels = 3,
                                .passes = 50,
                                .trains_all = true};
}

static void check_words(const struct recipe_data *data, const char *expected)
{
    char words[RECIPE_WORDS], error[GLCNN_ERROR_LENGTH];
    struct augment augment;
    recipe_augment(data, words);
    CU_ASSERT_STRING_EQUAL(words, expected);
    CU_ASSERT_TRUE(augment_read(words, &augment, error));
}

static void each_task_has_its_words(void)
{
    static const char *const names[] = {"apple", "banana", "7"};
    const struct glcnn_data_info info = {.bytes = true, .class_count = 3, .class_names = names};
    struct recipe_data data = data_of("classify", &info);
    check_words(&data, "flip,crop=6,rotate=15,scale=0.2,reflect," COLOURS ",cutout=16");
    data.channels = 1;
    check_words(&data,
                "flip,crop=6,rotate=15,scale=0.2,reflect,brightness=0.15,contrast=0.3,cutout=16");
    data = data_of("segment", &info);
    check_words(&data, "flip,crop=8,rotate=15,scale=0.25,reflect," COLOURS);
    data = data_of("detect", &info);
    check_words(&data, "flip,crop=16,scale=0.4," COLOURS);
    data = data_of("keypoints", &info);
    check_words(&data, "crop=6,rotate=20,scale=0.2," COLOURS);
    data = data_of("regress", &info);
    check_words(&data, "");
}

static void check_keypoints(const char *const *names, uint32_t count, const char *expected)
{
    const struct glcnn_data_info info = {.bytes = true, .class_count = count, .class_names = names};
    struct recipe_data data = data_of("keypoints", &info);
    data.passes = 1;
    check_words(&data, expected);
}

static void keypoints_are_mirrored_where_all_sides_have_partners(void)
{
    static const char *const names[] = {"nose_x",      "nose_y",      "left_eye_x", "left_eye_y",
                                        "right_eye_x", "right_eye_y", "l_ear_x",    "l_ear_y"};
    check_keypoints(names, 6, "flip");
    check_keypoints(names, 2, "");
    check_keypoints(names, 4, "");
    check_keypoints(names, 8, "");
}

static void nothing_changes_that_is_no_picture_or_is_kept(void)
{
    static const char *const names[] = {"apple", "banana"};
    struct glcnn_data_info info = {.bytes = true, .class_count = 2, .class_names = names};
    struct recipe_data data = data_of("classify", &info);
    data.trains_all = false;
    check_words(&data, "");
    data = data_of("classify", &info);
    data.passes = 9;
    check_words(&data, "flip");
    info.bytes = false;
    data.passes = 50;
    check_words(&data, "");
}

static bool mirrors(const char *const *names, uint32_t count)
{
    const struct glcnn_data_info info = {.bytes = true, .class_count = count, .class_names = names};
    struct recipe_data data = data_of("classify", &info);
    char words[RECIPE_WORDS];
    data.passes = 1;
    recipe_augment(&data, words);
    return strcmp(words, "flip") == 0;
}

static void letters_digits_and_sides_are_not_mirrored(void)
{
    static const struct {
        const char *names[3];
        bool mirrors;
    } rows[] = {{{"cat", "dog", "cow"}, true},
                {{"0", "1", "2"}, false},
                {{"U0041_A", "U0042_B", "U0061_a"}, false},
                {{"zero", "One", "two"}, false},
                {{"a", "b", "dog"}, false},
                {{"a", "cat", "dog"}, true},
                {{"0_cat", "1_dog", "2_cow"}, true},
                {{"class_0", "class_1", "class_2"}, false},
                {{"turn_left", "stop", "go"}, false},
                {{"Right-Hand", "stop", "go"}, false},
                {{"hand_l", "stop", "go"}, false},
                {{"turnLeft", "stop", "go"}, false},
                {{"bright", "leftover", "go"}, true},
                {{"", "x", "dog"}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(mirrors(rows[i].names, 3), rows[i].mirrors);
        if (mirrors(rows[i].names, 3) != rows[i].mirrors)
            fprintf(stderr, "\n  %s, %s, %s\n", rows[i].names[0], rows[i].names[1],
                    rows[i].names[2]);
    }
}

/* ---- The network ---- */

static void check_net(uint32_t width, uint32_t height, bool is_software, const char *expected)
{
    const struct form form = {.width = width, .height = height, .channels = 3, .classes = 5};
    char why[RECIPE_REASON];
    const struct net *net = recipe_net(&form, is_software, why);
    CU_ASSERT_STRING_EQUAL(net->name, expected);
    CU_ASSERT_EQUAL(*why != 0, is_software);
}

static void software_gets_small_networks(void)
{
    check_net(32, 32, false, "resnet10");
    check_net(1, 2000, false, "resnet10");
    check_net(64, 64, true, "small");
    check_net(65, 20, true, "mobilenet-tiny");
    check_net(3, 3, true, "resnet8");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(batch_and_epochs_follow_from_the_number_of_images),
        UNIT_TEST(each_task_has_its_words),
        UNIT_TEST(keypoints_are_mirrored_where_all_sides_have_partners),
        UNIT_TEST(nothing_changes_that_is_no_picture_or_is_kept),
        UNIT_TEST(letters_digits_and_sides_are_not_mirrored),
        UNIT_TEST(software_gets_small_networks),
        CU_TEST_INFO_NULL,
    };
    return unit_run("recipe", tests, argc, argv);
}
