/* glcnn_run by name on arrays: what is given is used, what is missing is computed or refused with a
 * message. */
#include <math.h>
#include <string.h>

#include "tests/cases.h"

static float row[4] = {1, 2, 3, 6};

static struct glcnn_array image(const char *name, float *data, uint32_t width)
{
    return (struct glcnn_array){name, 4, {1, 1, 1, width}, data};
}

static struct glcnn_array vector(const char *name, float *data)
{
    return (struct glcnn_array){name, 1, {1}, data};
}

static const struct glcnn_array *find(const struct glcnn_array *outputs, size_t count,
                                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, name) == 0)
            return &outputs[i];
    return NULL;
}

/* On the device and in the reference alike. */
static void expect(const char *kernel, const struct glcnn_array *inputs, size_t input_count,
                   const char *name, const float *wanted, size_t wanted_count)
{
    for (int reference = 0; reference < 2; reference++) {
        const struct glcnn_run_options options = {.reference = reference};
        struct glcnn_array *outputs;
        size_t count;
        char error[512];
        glcnn_status status = glcnn_run(cases_device(), kernel, NULL, 0, inputs, input_count,
                                        &options, &outputs, &count, error);
        CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
        const struct glcnn_array *found =
            status == GLCNN_SUCCESS ? find(outputs, count, name) : NULL;
        CU_ASSERT_EQUAL(found != NULL, wanted != NULL);
        for (size_t i = 0; found && i < wanted_count; i++)
            CU_ASSERT_DOUBLE_EQUAL(found->data[i], wanted[i], 1e-5);
        glcnn_run_destroy(outputs);
    }
}

static void missing_statistics_are_computed(void)
{
    const struct glcnn_array inputs[] = {image("source_image", row, 4)};
    const float mean = 3, variance = 3.5f;
    expect("batch_normalization", inputs, 1, "mean", &mean, 1);
    expect("batch_normalization", inputs, 1, "variance", &variance, 1);
}

/* Only one of two fields that the same kernel fills is given: it is used, and not given back as
 * something else. */
static void a_field_that_is_given_is_used(void)
{
    float mean = 1;
    const struct glcnn_array inputs[] = {image("source_image", row, 4), vector("mean", &mean)};
    const float variance = 3.5f, s = 1 / sqrtf(3.5f), wanted[4] = {0, s, 2 * s, 5 * s};
    expect("batch_normalization", inputs, 2, "variance", &variance, 1);
    expect("batch_normalization", inputs, 2, "destination_image", wanted, 4);
    expect("batch_normalization", inputs, 2, "mean", NULL, 0);
}

static void refused(const char *kernel, const struct glcnn_array *inputs, size_t input_count,
                    const struct glcnn_setting *settings, size_t setting_count, const char *word)
{
    for (int reference = 0; reference < 2; reference++) {
        const struct glcnn_run_options options = {.reference = reference};
        struct glcnn_array *outputs = (struct glcnn_array *)&options;
        size_t count = 1;
        char error[512] = "";
        CU_ASSERT_NOT_EQUAL(glcnn_run(cases_device(), kernel, settings, setting_count, inputs,
                                      input_count, &options, &outputs, &count, error),
                            GLCNN_SUCCESS);
        CU_ASSERT_PTR_NULL(outputs);
        CU_ASSERT_EQUAL(count, 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, word));
    }
}

static void bad_requests_are_refused(void)
{
    const struct glcnn_array source = image("source_image", row, 4), twice[] = {source, source};
    const struct glcnn_array strange = image("strange", row, 4);
    const struct glcnn_array small = image("source_gradient", row, 3), pair[] = {source, small};
    struct glcnn_array empty = source, deep = source;
    empty.shape[3] = 0;
    deep.rank = 5;
    deep.shape[4] = 1;
    const struct glcnn_setting unknown = {"kernel_size", 3}, zero = {"kernel_width", 0};
    const struct glcnn_setting fraction = {"kernel_width", 1.5};
    const struct glcnn_setting half_size = {"destination_width", 4};
    refused("pooling_mix", &source, 1, NULL, 0, "pooling_mix");
    refused("pooling_max", NULL, 0, NULL, 0, "source_image");
    refused("pooling_max", twice, 2, NULL, 0, "twice");
    refused("pooling_max", &strange, 1, NULL, 0, "strange");
    refused("pooling_max", &empty, 1, NULL, 0, "no elements");
    refused("pooling_max", &deep, 1, NULL, 0, "rank");
    refused("pooling_max", &source, 1, &unknown, 1, "kernel_size");
    refused("pooling_max", &source, 1, &zero, 1, "kernel_width");
    refused("pooling_max", &source, 1, &fraction, 1, "kernel_width");
    refused("pooling_max", &source, 1, &half_size, 1, "destination_height");
    refused("pooling_max_gradient", pair, 2, NULL, 0, "source gradient is 3x1");
}

/* Images of one input that nothing reads are not dropped without a word; an offset chooses some. */
static void inputs_of_other_numbers_of_images_are_refused(void)
{
    static float numbers[3] = {1, 2, 4};
    static const struct {
        const char *kernel, *first, *second;
    } pairs[] = {{"add", "source_image", "secondary_image"},
                 {"axis_concatenation", "source_image", "secondary_image"},
                 {"matrix_multiplication", "source_image", "secondary_image"},
                 {"loss", "source_image", "labels"},
                 {"neuron_gradient", "source_gradient", "source_image"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint32_t more = 0; more < 2; more++) {
            const struct glcnn_array both[] = {{pairs[i].first, 4, {2 + more, 1, 1, 1}, numbers},
                                               {pairs[i].second, 4, {3 - more, 1, 1, 1}, numbers}};
            refused(pairs[i].kernel, both, 2, NULL, 0,
                    more ? " has 3 images and " : " has 2 images and ");
        }
    const struct glcnn_array both[] = {{"source_image", 4, {2, 1, 1, 1}, numbers},
                                       {"secondary_image", 4, {3, 1, 1, 1}, numbers}};
    const struct glcnn_setting from = {.name = "secondary_offset_z", .value = 1};
    const float wanted[2] = {1 + 2, 2 + 4};
    struct glcnn_array *outputs;
    size_t count;
    char error[512];
    CU_ASSERT_EQUAL_FATAL(
        glcnn_run(cases_device(), "add", &from, 1, both, 2, NULL, &outputs, &count, error),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(memcmp(outputs[0].data, wanted, sizeof wanted), 0);
    glcnn_run_destroy(outputs);
}

static void bounds_of_whole_numbers_are_whole_numbers(void)
{
    const struct glcnn_array source = image("source_image", row, 4);
    const struct glcnn_setting high = {.name = "kernel_width", .value = 70000};
    const struct glcnn_setting low[] = {{.name = "offset_x", .value = -3e9},
                                        {.name = "destination_width", .value = 1},
                                        {.name = "destination_height", .value = 1}};
    const struct glcnn_setting fraction = {"kernel_width", 1.5}, real = {"epsilon", -0.001};
    /* A parameter that has no effect, by the names of those that have; a gradient of a forward result that
     * cannot be. */
    const struct glcnn_array pictures[] = {image("source_gradient", row, 1),
                                           image("source_image", row, 1)};
    const struct glcnn_setting clamp = {.name = "secondary_edge_mode", .value = 1};
    const struct glcnn_setting columns[] = {{.name = "axis", .value = 2},
                                            {.name = "destination_width", .value = 1},
                                            {.name = "destination_height", .value = 1}};
    refused("crop_and_resize_bilinear_regions_gradient", pictures, 2, &clamp, 1,
            "secondary_edge_mode has no effect; it reads resize_width, resize_height, ");
    refused("axis_concatenation_gradient", pictures, 2, columns, 3, "axis_concatenation");
    refused("pooling_max", &source, 1, low, 3,
            "offset_x is -3000000000; it must be a whole number in -2147483647 .. 2147483647");
    refused("pooling_max", &source, 1, &high, 1,
            "kernel_width is 70000; it must be a whole number in 1 .. 65535");
    refused("pooling_max", &source, 1, &fraction, 1, "kernel_width is 1.5; it must be a whole");
    refused("batch_normalization", &source, 1, &real, 1, "epsilon is -0.001; it must be a number");
}

static void whole_numbers_of_64_bits_are_exact(void)
{
    static const struct {
        const char *text;
        uint64_t whole;
    } good[] = {{"seed=9007199254740993", 9007199254740993u},
                {"seed=18446744073709551615", UINT64_MAX},
                {"seed=0xfedcba9876543211", 0xfedcba9876543211u},
                {"seed=9007199254740992", 0}};
    static const char *const bad[] = {"seed=18446744073709551616", "seed=1e19",
                                      "seed=0x10000000000000000", "seed=9007199254740994.0"};
    struct glcnn_setting setting = {NULL, 0, 1};
    char error[512];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CU_ASSERT_EQUAL(glcnn_setting_parse("dropout", good[i].text, &setting, error),
                        GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(setting.whole, good[i].whole);
        CU_ASSERT(!good[i].whole || setting.value == (double)good[i].whole);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(glcnn_setting_parse("dropout", bad[i], &setting, error),
                        GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "is no value of seed"));
    }
    const struct glcnn_array sums = vector("mean", (float[]){1});
    CU_ASSERT_EQUAL(glcnn_setting_parse("batch_normalization_running_statistics",
                                        "samples=9007199254740993", &setting, error),
                    GLCNN_SUCCESS);
    refused("batch_normalization_running_statistics", &sums, 1, &setting, 1,
            "samples is 9007199254740993; it must be a whole number in 1 .. 9007199254740992");
}

/* Masks of dropout, on the device and in its reference, by seeds that are one double. */
static void seeds_of_64_bits_are_told_apart(void)
{
    float ones[64], kept[2][2][64];
    const struct glcnn_array source = {"source_image", 4, {1, 1, 8, 8}, ones};
    static const char *const texts[] = {"seed=18446744073709551614", "seed=18446744073709551615"};
    for (size_t i = 0; i < 64; i++)
        ones[i] = 1;
    for (int reference = 0; reference < 2; reference++)
        for (int t = 0; t < 2; t++) {
            struct glcnn_setting setting;
            struct glcnn_array *outputs = NULL;
            size_t count;
            char error[512] = "";
            CU_ASSERT_EQUAL(glcnn_setting_parse("dropout", texts[t], &setting, error),
                            GLCNN_SUCCESS);
            CU_ASSERT_EQUAL_FATAL(glcnn_run(cases_device(), "dropout", &setting, 1, &source, 1,
                                            &(struct glcnn_run_options){.reference = reference},
                                            &outputs, &count, error),
                                  GLCNN_SUCCESS);
            memcpy(kept[reference][t], outputs[0].data, sizeof kept[0][0]);
            glcnn_run_destroy(outputs);
        }
    CU_ASSERT_NOT_EQUAL(memcmp(kept[0][0], kept[0][1], sizeof kept[0][0]), 0);
    CU_ASSERT_EQUAL(memcmp(kept[0], kept[1], sizeof kept[0]), 0);
}

static void settings_are_read_as_text(void)
{
    static const struct {
        const char *kernel, *text, *name;
        double value;
    } good[] = {
        {"pooling_max", "edge_mode=clamp", "edge_mode", 1},
        {"pooling_max_gradient", "edge_mode=clamp", "edge_mode", 1},
        {"pooling_max", "padding=full", "padding", GLCNN_PADDING_SIZE_FULL},
        {"pooling_max", "align=bottom_right", "align", GLCNN_PADDING_ALIGN_BOTTOM_RIGHT},
        {"pooling_max", "remainder=top_right", "remainder", GLCNN_PADDING_REMAINDER_TO_TOP_RIGHT},
        {"batch_normalization", "epsilon=1e-5", "epsilon", 1e-5},
        {"pooling_max", "offset_x=-2", "offset_x", -2},
    };
    static const char *const bad[] = {"edge_mode", "edge_mode=",    "edge_mode=mirror",
                                      "=3",        "kernel_size=3", "offset_x=2x"};
    struct glcnn_setting setting;
    char error[512];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CU_ASSERT_EQUAL(glcnn_setting_parse(good[i].kernel, good[i].text, &setting, error),
                        GLCNN_SUCCESS);
        CU_ASSERT_STRING_EQUAL(setting.name, good[i].name);
        CU_ASSERT_EQUAL(setting.value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = 0;
        CU_ASSERT_NOT_EQUAL(glcnn_setting_parse("pooling_max", bad[i], &setting, error),
                            GLCNN_SUCCESS);
        CU_ASSERT_NOT_EQUAL(error[0], 0);
    }
}

/* A message fills GLCNN_ERROR_LENGTH bytes at most; who has no use for one gives NULL. */
static void a_message_fits_the_buffer_it_is_given(void)
{
    char name[2 * GLCNN_ERROR_LENGTH], error[GLCNN_ERROR_LENGTH + 1];
    struct glcnn_setting setting = {.name = name};
    struct glcnn_array *outputs;
    size_t count;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int with_message = 0; with_message < 2; with_message++) {
        char *wanted = with_message ? error : NULL;
        memset(error, '!', sizeof error);
        CU_ASSERT_EQUAL(glcnn_setting_parse(name, "a=1", &setting, wanted), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_EQUAL(error[GLCNN_ERROR_LENGTH], '!');
        CU_ASSERT_EQUAL(error[GLCNN_ERROR_LENGTH - 1], with_message ? 0 : '!');
        memset(error, '!', sizeof error);
        CU_ASSERT_EQUAL(glcnn_run(NULL, name, NULL, 0, NULL, 0, NULL, &outputs, &count, wanted),
                        GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_EQUAL(error[GLCNN_ERROR_LENGTH], '!');
        CU_ASSERT_EQUAL(error[GLCNN_ERROR_LENGTH - 1], with_message ? 0 : '!');
    }
}

static void count_pass(void *user, const struct glcnn_pass_timing *timing)
{
    size_t *passes = user;
    *passes += strcmp(timing->kernel, "neuron") == 0;
}

static void a_kernel_is_committed_as_often_as_asked(void)
{
    const struct glcnn_array inputs[] = {image("source_image", row, 4)};
    for (uint32_t commits = 0; commits < 4; commits++) {
        const struct glcnn_run_options options = {.commits = commits};
        struct glcnn_array *outputs;
        size_t count, passes = 0;
        glcnn_device_set_profile(cases_device(), count_pass, &passes);
        CU_ASSERT_EQUAL(glcnn_run(cases_device(), "neuron", NULL, 0, inputs, 1, &options, &outputs,
                                  &count, NULL),
                        GLCNN_SUCCESS);
        glcnn_device_set_profile(cases_device(), NULL, NULL);
        CU_ASSERT_EQUAL(passes, commits ? commits : 1);
        CU_ASSERT_DOUBLE_EQUAL(outputs->data[3], row[3], 0);
        glcnn_run_destroy(outputs);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        {"missing statistics are computed", missing_statistics_are_computed},
        {"a field that is given is used", a_field_that_is_given_is_used},
        {"bad requests are refused", bad_requests_are_refused},
        {"inputs of other numbers of images are refused",
         inputs_of_other_numbers_of_images_are_refused},
        {"bounds of whole numbers are whole numbers", bounds_of_whole_numbers_are_whole_numbers},
        {"whole numbers of 64 bits are exact", whole_numbers_of_64_bits_are_exact},
        {"seeds of 64 bits are told apart", seeds_of_64_bits_are_told_apart},
        {"settings are read as text", settings_are_read_as_text},
        {"a kernel is committed as often as asked", a_kernel_is_committed_as_often_as_asked},
        {"a message fits the buffer it is given", a_message_fits_the_buffer_it_is_given},
        CU_TEST_INFO_NULL};
    return cases_main("run", tests, argc, argv);
}
