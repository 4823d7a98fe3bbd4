/* glcnn train --augment: the words and the nodes that they stand for. */
#include "tests/fixture.h"

#include "task/augment.h"

static struct augment read_words(const char *text)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct augment augment = {.color.cutout = 77};
    CU_ASSERT_TRUE(augment_read(text, &augment, error));
    CU_ASSERT_STRING_EQUAL(error, "");
    return augment;
}

static void words_set_parameters(void)
{
    struct augment a =
        read_words("flip,crop=4,rotate=15,scale=0.1,reflect,brightness=0.2,contrast=0.25,hue=10,"
                   "saturation=0.3,gain=0.4,noise=0.05,cutout=8");
    CU_ASSERT_TRUE(a.geometry.flip_horizontal);
    CU_ASSERT_FALSE(a.geometry.flip_vertical);
    CU_ASSERT_EQUAL(a.geometry.shift, 4);
    CU_ASSERT_EQUAL(a.geometry.rotation, 15);
    CU_ASSERT_EQUAL(a.geometry.scale, 0.1f);
    CU_ASSERT_EQUAL(a.color.brightness, 0.2f);
    CU_ASSERT_EQUAL(a.color.contrast, 0.25f);
    CU_ASSERT_TRUE(a.geometry.reflect);
    CU_ASSERT_EQUAL(a.color.hue, 10);
    CU_ASSERT_EQUAL(a.color.saturation, 0.3f);
    CU_ASSERT_EQUAL(a.color.gain, 0.4f);
    CU_ASSERT_EQUAL(a.color.noise, 0.05f);
    CU_ASSERT_EQUAL(a.color.cutout, 8);
    CU_ASSERT_TRUE(augment_is_asked(&a));
    CU_ASSERT_FALSE(augment_mixes(&a));
    a = read_words("mixup=0.2,cutmix=1");
    CU_ASSERT_EQUAL(a.mixup, 0.2f);
    CU_ASSERT_EQUAL(a.cutmix, 1);
    CU_ASSERT_TRUE(augment_is_asked(&a) && augment_mixes(&a) && !augment_is_single(&a));
    a = read_words("mosaic");
    CU_ASSERT_TRUE(augment_is_asked(&a) && a.mosaic && !augment_is_single(&a));
    a = read_words("cutout=4096,flip_vertical");
    CU_ASSERT_TRUE(a.geometry.flip_vertical);
    CU_ASSERT_FALSE(a.geometry.flip_horizontal);
    CU_ASSERT_EQUAL(a.color.cutout, 4096);
}

static void nothing_is_none(void)
{
    struct augment none = read_words(""), zeros = read_words("crop=0,rotate=0,noise=0");
    CU_ASSERT_EQUAL(none.color.cutout, 0);
    CU_ASSERT_FALSE(augment_is_asked(&none));
    CU_ASSERT_FALSE(augment_is_asked(&zeros));
}

static void wrong_words_get_a_message(void)
{
    static const char *const wrong[][2] = {
        {"flop",
         "\"flop\" is not an augmentation; did you mean flip? There are flip, "
         "flip_vertical, crop, rotate, scale, reflect, brightness, contrast, hue, saturation, "
         "gain, noise, cutout, mixup, cutmix and mosaic"},
        {"flip,corp=4", "did you mean crop?"},
        {"flip,", "\"\" is not an augmentation"},
        {",flip", "\"\" is not an augmentation"},
        {"flip crop=4", "\"flip crop=4\" is not an augmentation"},
        {"flip,crop=4,flip", "flip is given twice"},
        {"flip=1", "flip takes no value, but has \"1\""},
        {"crop", "crop is \"\"; it must be a whole number in 0 .. 4096"},
        {"crop=4.5", "crop is \"4.5\"; it must be a whole number in 0 .. 4096"},
        {"crop=-1", "crop is \"-1\""},
        {"cutout=4097", "cutout is \"4097\""},
        {"scale=0.6", "scale is \"0.6\"; it must be a number in 0 .. 0.5"},
        {"rotate=nan", "rotate is \"nan\"; it must be a number in 0 .. 180"},
        {"noise=0.1x", "noise is \"0.1x\""},
        {"crop=0000000000000000000000000000000000000000000000000000000000000000000004",
         "is not an augmentation"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        struct augment augment = {.color.cutout = 77};
        CU_ASSERT_FALSE(augment_read(wrong[i][0], &augment, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrong[i][1]));
        if (!strstr(error, wrong[i][1]))
            fprintf(stderr, "\n  %s: %s\n", wrong[i][0], error);
        CU_ASSERT_EQUAL(augment.color.cutout, 77);
    }
}

/* Every word that is known has its line of help. */
static void words_are_explained(void)
{
    static const char *const names[] = {
        "flip ",     "flip_vertical ", "crop=",   "rotate=", "scale=", "brightness=",
        "contrast=", "noise=",         "cutout=", "mixup=",  "cutmix="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(AUGMENT_WORDS, names[i]));
}

static const char *kernel_of(glcnn_image_node *node)
{
    return glcnn_kernel_name(glcnn_filter_node_kernel(glcnn_image_node_filter(node)));
}

static void nodes_are_what_is_asked_for(void)
{
    glcnn_network *network = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "image");
    glcnn_image_node *numbers = glcnn_image_node_create(network, "image_numbers");
    struct augment none = read_words(""), crop = read_words("crop=2");
    struct augment both = read_words("noise=0.1,flip");
    CU_ASSERT_PTR_EQUAL(augment_nodes(&none, 5, x, numbers), x);
    glcnn_image_node *y = augment_nodes(&crop, 5, x, numbers);
    CU_ASSERT_STRING_EQUAL(kernel_of(y), "augment_geometry");
    y = augment_nodes(&both, 5, x, numbers);
    CU_ASSERT_STRING_EQUAL(kernel_of(y), "augment_color");
    CU_ASSERT_TRUE(glcnn_image_node_stop_gradient(y));
    glcnn_filter_node *last = glcnn_image_node_filter(y);
    CU_ASSERT_EQUAL(glcnn_augment_color(glcnn_filter_node_kernel(last))->seed, 5);
    CU_ASSERT_STRING_EQUAL(kernel_of(glcnn_filter_node_source(last, 0)), "augment_geometry");
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_source(last, 1), numbers);
    GOOD(glcnn_network_status(network));
    glcnn_network_destroy(&network);
}

static void numbers_are_bytes_the_lowest_first(void)
{
    static const uint8_t expected[AUGMENT_CHANNELS] = {4, 3, 2, 1, 0xff, 0, 0, 0xf0};
    uint8_t bytes[AUGMENT_CHANNELS];
    augment_number(0x01020304, 0xf00000ff, bytes);
    CU_ASSERT_EQUAL(memcmp(bytes, expected, sizeof bytes), 0);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(words_set_parameters),
        UNIT_TEST(nothing_is_none),
        UNIT_TEST(wrong_words_get_a_message),
        UNIT_TEST(words_are_explained),
        UNIT_TEST(nodes_are_what_is_asked_for),
        UNIT_TEST(numbers_are_bytes_the_lowest_first),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("augment words", tests, argc, argv);
}
