/* Kernels that move numbers, and others that ONNX models need: what they refuse, and the words that
 * say why. What they compute test_kernels, test_gradients and test_golden hold them to. */
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

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(what_does_not_fit_is_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("elements", tests, argc, argv);
}
