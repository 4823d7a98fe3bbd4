/* Kernels that move numbers, and others that ONNX models need: what they refuse, and the words that
 * say why, and views whose numbers are written down. What all compute test_kernels, test_gradients and
 * test_golden hold them to. */
#include "tests/fixture.h"

struct refused {
    const char *kernel, *settings;
    uint32_t shape[4];     /* of the source: images, channels, rows, columns */
    const char *words;     /* that the message has */
    uint32_t secondary[4]; /* all 0: the same */
};

static const struct refused refusals[] = {
    {"pad", "left=-3 right=-1", {1, 2, 3, 4}, "of 4 columns of the source 0 would be left"},
    {"pad", "top=-5", {1, 2, 3, 4}, "of 3 rows of the source -2 would be left"},
    {"pad", "front=-2", {1, 2, 3, 4}, "of 2 channels of the source 0 would be left"},
    {"pad", "pad_mode=reflect left=4", {1, 2, 3, 4}, "at most 3 columns on each side"},
    {"pad", "pad_mode=reflect bottom=3", {1, 2, 3, 4}, "at most 2 rows on each side"},
    {"pad", "pad_mode=replicate back=1", {1, 2, 3, 4}, "add no channels"},
    {"pad", "left=1 destination_width=4", {1, 2, 3, 4}, "the result is 5x3"},
    {"strided_slice", "step_x=0", {1, 2, 3, 4}, "the step along columns is 0"},
    {"strided_slice", "start_y=3", {1, 2, 3, 4}, "of 3 rows 0 are wanted from 3 on"},
    {"strided_slice", "start_x=1 step_x=2 size_x=3", {1, 2, 3, 4}, "of 4 columns 3 are wanted"},
    {"strided_slice", "step_y=-1 size_y=2", {1, 2, 3, 4}, "of 3 rows 2 are wanted from 0 on"},
    {"strided_slice", "start_channel=1 size_channels=2", {1, 2, 3, 4}, "of 2 channels 2"},
    {"resize_linear", "resized_width=4 scale_y=0.0001", {1, 2, 3, 4}, "it must be 1/4096"},
    {"resize_nearest", "resized_width=4 scale_y=0.25", {1, 2, 3, 4}, "3 rows by a scale of 0.25"},
    {"axis_concatenation", "axis=rows", {1, 2, 3, 4}, "5", {1, 5, 3, 4}},
    {"axis_concatenation", "", {1, 2, 3, 4}, "4 columns and the secondary source 3", {1, 2, 3, 3}},
    {"axis_concatenation", "axis=rows destination_width=4", {1, 2, 3, 4}, "the result is 4x6"},
    {"matrix_multiplication", "", {1, 2, 3, 4}, "4 columns and the secondary source 3 rows"},
    {"matrix_multiplication", "", {1, 2, 3, 4}, "as many matrices", {1, 3, 4, 3}},
    {"transpose", "axis_order=cwh destination_width=4", {1, 2, 3, 4}, "the result is 3x4"},
    {"depth_to_space", "block_size=2", {1, 6, 3, 4}, "need a multiple of 4"},
    {"space_to_depth", "block_size=2", {1, 6, 3, 4}, "whole blocks of 2 by 2"},
    {"channel_shuffle", "groups=4", {1, 6, 3, 4}, "4 groups must divide them"},
    {"strided_view",
     "width=4 size_5=3",
     {1, 2, 3, 4},
     "multiply to 3; 4x1 pixels of 1 channels are 4"},
    {"strided_view",
     "width=2048 height=2048 feature_channels=512 size_0=4194304 size_1=512",
     {1, 2, 3, 4},
     "one of the result 2147483648; there may be at most 2147483647"},
    {"strided_view",
     "width=8 size_1=4 stride_1=6 size_4=2 stride_4=6",
     {1, 2, 3, 4},
     "axis 4, of size 2 and stride 6, reads number 24; an image of the source has 24"},
    {"strided_view",
     "width=8 size_2=2 stride_2=3 size_3=4 stride_3=1",
     {1, 2, 3, 4},
     "axis 2, of stride 3, repeats numbers that axes of strides up to that read; its stride must "
     "be 0 or above 3"},
    {"strided_view",
     "width=4 size_0=2 stride_0=1 size_5=2 stride_5=1",
     {1, 2, 3, 4},
     "axis 0, of stride 1, repeats numbers"},
    {"strided_view", "width=6 size_0=6 destination_width=4", {1, 2, 3, 4}, "the result is 6x1"},
};

/* What a destination of the size that the settings give, or of the result's, makes of it. */
static glcnn_status encode(glcnn_kernel *kernel, const struct refused *row, uint32_t width)
{
    const uint32_t *s = row->shape, *t = row->secondary[0] ? row->secondary : s;
    glcnn_image *source = make_image(s[0], s[1], s[2], s[3]), *result = NULL;
    glcnn_image *second = make_image(t[0], t[1], t[2], t[3]);
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_encode arguments = {.source = source, .secondary = second};
    if (width)
        arguments.destination = make_image(s[0], s[1], s[2], width);
    glcnn_status status =
        width ? glcnn_kernel_encode(commands, kernel, &arguments)
              : glcnn_kernel_encode_returning(commands, kernel, &arguments, &result, NULL);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&arguments.destination);
    return status;
}

static void check_row(const struct refused *row)
{
    glcnn_kernel *kernel = NULL;
    char settings[256], message[GLCNN_ERROR_LENGTH], *rest = NULL;
    uint32_t width = 0;
    GOOD_FATAL(glcnn_kernel_create(device, row->kernel, &kernel));
    snprintf(settings, sizeof settings, "%s", row->settings);
    for (char *word = strtok_r(settings, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        struct glcnn_setting setting;
        GOOD_FATAL(glcnn_setting_parse(row->kernel, word, &setting, message));
        if (strcmp(setting.name, "destination_width") == 0)
            width = (uint32_t)setting.value;
        else
            GOOD(glcnn_kernel_set(kernel, setting.name, setting.value));
    }
    fixture_forget_error(device);
    CU_ASSERT_EQUAL(encode(kernel, row, width), GLCNN_INVALID_ARGUMENT);
    bool said = strstr(glcnn_device_error(device), row->words) != NULL;
    CU_ASSERT(said);
    if (!said)
        fprintf(stderr, "\n  %s %s: \"%s\" has no \"%s\"\n", row->kernel, row->settings,
                glcnn_device_error(device), row->words);
    glcnn_kernel_destroy(&kernel);
}

static void what_does_not_fit_is_refused(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_row(&refusals[i]);
}

/* Views of numbers 0 to 11, two channels of two rows of three columns, and the gradients where that of
 * the result is 1, 2, 3 and so on. */
static const struct {
    const char *settings;
    float result[24], gradient[12];
} views[] = {
    /* rows, columns, channels */
    {"feature_channels=2 height=3 width=2 size_0=2 stride_0=3 size_1=3 stride_1=1 size_2=2 stride_2=6",
     {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11},
     {1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10, 12}},
    /* each row twice */
    {"feature_channels=2 height=4 width=3 size_0=4 stride_0=3 size_1=2 size_2=3 stride_2=1",
     {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8, 6, 7, 8, 9, 10, 11, 9, 10, 11},
     {5, 7, 9, 17, 19, 21, 29, 31, 33, 41, 43, 45}},
    /* two columns of three */
    {"feature_channels=2 height=2 width=2 size_2=4 stride_2=3 size_4=2 stride_4=2",
     {0, 2, 3, 5, 6, 8, 9, 11},
     {1, 0, 2, 3, 0, 4, 5, 0, 6, 7, 0, 8}},
};

static glcnn_image *counted(uint32_t channels, uint32_t height, uint32_t width, float first)
{
    float values[24];
    for (size_t i = 0; i < 24; i++)
        values[i] = first + (float)i;
    return image_with(1, channels, height, width, values);
}

static void check_view(const char *settings, const float *result, const float *gradient)
{
    glcnn_kernel *forward = kernel_with("strided_view", settings);
    glcnn_kernel *backward = kernel_with("strided_view_gradient", NULL);
    const struct glcnn_strided_view_parameters *p = glcnn_strided_view(forward);
    glcnn_image *x = counted(2, 2, 3, 0), *g = counted(p->feature_channels, p->height, p->width, 1);
    glcnn_image *y = make_image(1, p->feature_channels, p->height, p->width);
    glcnn_image *dx = make_image(1, 2, 2, 3);
    encode_pair(forward, backward, x, g, y, dx);
    CU_ASSERT_TRUE(image_equals(y, result));
    CU_ASSERT_TRUE(image_equals(dx, gradient));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

static void views_and_their_gradients_have_the_numbers(void)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        check_view(views[i].settings, views[i].result, views[i].gradient);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(what_does_not_fit_is_refused),
        UNIT_TEST(views_and_their_gradients_have_the_numbers),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("elements", tests, argc, argv);
}
