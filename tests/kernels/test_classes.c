/* Classes written to images: 1 in the channel of a pixel's class, 0 in the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fixture.h"

enum {
    IMAGES = 5,
    CHANNELS = 10,
    HEIGHT = 2,
    WIDTH = 3,
    AREA = HEIGHT * WIDTH,
    PIXELS = IMAGES * AREA
};

static const uint32_t classes[PIXELS] = {0, 9, 4, 3, GLCNN_NO_CLASS, 7, 8, 1, 2, 6, 5, 0, 9,
                                         9, 9, 4, 5, GLCNN_NO_CLASS, 3, 1, 0, 7, 8, 2, 6, 4,
                                         0, 9, 1, 5};

static void check_classes(glcnn_image *image)
{
    float expected[PIXELS * CHANNELS] = {0};
    for (size_t i = 0; i < PIXELS; i++)
        if (classes[i] != GLCNN_NO_CLASS)
            expected[(i / AREA * CHANNELS + classes[i]) * AREA + i % AREA] = 1;
    CU_ASSERT_TRUE(image_equals(image, expected));
}

static glcnn_image *make_labels(glcnn_channel_format format)
{
    return make_image_of(device, format, IMAGES, CHANNELS, HEIGHT, WIDTH);
}

static void test_classes_become_channels(void)
{
    static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT16};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        glcnn_image *image = make_labels(formats[i]);
        GOOD(glcnn_image_write_classes(image, NULL, classes, PIXELS));
        check_classes(image);
        glcnn_image_destroy(&image);
    }
}

static void test_classes_of_bytes(void)
{
    uint8_t bytes[PIXELS][CHANNELS];
    glcnn_image *image = make_labels(GLCNN_CHANNEL_FORMAT_UNORM8);
    GOOD(glcnn_image_write_classes(image, NULL, classes, PIXELS));
    GOOD(glcnn_image_read_bytes(image, NULL, bytes, sizeof bytes));
    for (size_t i = 0; i < PIXELS; i++)
        for (uint32_t c = 0; c < CHANNELS; c++)
            CU_ASSERT_EQUAL(bytes[i][c], classes[i] == c ? 255 : 0);
    glcnn_image_destroy(&image);
}

/* Rows 5 apart and images 13, row by row from below, and what else the image has stays. */
static void test_regions_and_strides(void)
{
    uint32_t apart[IMAGES * 13];
    glcnn_image *image = make_labels(GLCNN_CHANNEL_FORMAT_FLOAT32);
    memset(apart, 0x7f, sizeof apart);
    for (size_t i = 0; i < PIXELS; i++)
        apart[i / 6 * 13 + i % 6 / 3 * 5 + i % 3] = classes[i];
    for (uint32_t y = HEIGHT; y-- > 0;) {
        const struct glcnn_image_transfer row = {.y = y,
                                                 .height = 1,
                                                 .layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH,
                                                 .bytes_per_row = 5 * sizeof *apart,
                                                 .bytes_per_image = 13 * sizeof *apart};
        GOOD(glcnn_image_write_classes(image, &row, apart + y * 5, IMAGES * 13 - y * 5));
    }
    check_classes(image);
    const struct glcnn_image_transfer one = {.first_image = 4, .x = 1, .y = 1, .width = 1};
    GOOD(glcnn_image_write_classes(image, &one, &classes[28], 1));
    check_classes(image);
    glcnn_image_destroy(&image);
}

static void test_what_is_wrong_writes_nothing(void)
{
    uint32_t wrong[PIXELS];
    glcnn_image *image = make_labels(GLCNN_CHANNEL_FORMAT_FLOAT32);
    GOOD(glcnn_image_write_classes(image, NULL, classes, PIXELS));
    memset(wrong, 0, sizeof wrong);
    wrong[PIXELS - 1] = CHANNELS;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_write_classes(image, NULL, wrong, PIXELS));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "class 10, number 29"));
    wrong[PIXELS - 1] = GLCNN_NO_CLASS - 1;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_write_classes(image, NULL, wrong, PIXELS));
    wrong[PIXELS - 1] = 0;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_write_classes(image, NULL, wrong, PIXELS - 1));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_write_classes(image, NULL, NULL, PIXELS));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_write_classes(image, &(struct glcnn_image_transfer){.channel_count = 4},
                                      wrong, PIXELS));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_write_classes(image, &(struct glcnn_image_transfer){.channel_offset = 4},
                                      wrong, PIXELS));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_write_classes(image, &(struct glcnn_image_transfer){.bytes_per_row = 3},
                                      wrong, PIXELS));
    CU_ASSERT_EQUAL(glcnn_image_write_classes(NULL, NULL, wrong, PIXELS), GLCNN_INVALID_ARGUMENT);
    check_classes(image);
    glcnn_image_destroy(&image);
}

/* Those of a buffer are not known when they are recorded: one that has no channel is told by NaN. */
static void test_recorded_classes(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *image = make_labels(GLCNN_CHANNEL_FORMAT_FLOAT32);
    glcnn_buffer *buffer = NULL;
    float *read;
    const uint32_t beyond = CHANNELS;
    GOOD_FATAL(glcnn_buffer_create(device, (PIXELS + 1) * sizeof *classes, &buffer));
    CU_ASSERT_EQUAL(glcnn_image_encode_write_classes(NULL, image, NULL, buffer, 0),
                    GLCNN_INVALID_ARGUMENT);
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_encode_write_classes(commands, image, NULL, buffer, 8));
    GOOD(glcnn_image_encode_write_classes(commands, image, NULL, buffer, 4));
    GOOD(glcnn_buffer_write(buffer, 4, sizeof classes, classes));
    GOOD(glcnn_command_buffer_commit(commands));
    check_classes(image);
    GOOD(glcnn_buffer_write(buffer, 4, sizeof beyond, &beyond));
    GOOD(glcnn_command_buffer_commit(commands));
    read = read_image(image);
    for (size_t i = 0; i < PIXELS * CHANNELS; i++)
        CU_ASSERT_EQUAL(isnan(read[i]) != 0, i % AREA == 0 && i < CHANNELS * AREA);
    free(read);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
    glcnn_buffer_destroy(&buffer);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_classes_become_channels), UNIT_TEST(test_classes_of_bytes),
        UNIT_TEST(test_regions_and_strides),     UNIT_TEST(test_what_is_wrong_writes_nothing),
        UNIT_TEST(test_recorded_classes),        CU_TEST_INFO_NULL,
    };
    return fixture_run("classes", tests, argc, argv);
}
