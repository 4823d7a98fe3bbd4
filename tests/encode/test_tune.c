/* Implementations by timed trials (GLCNN_TUNE), by a clock that the test moves: which row is chosen is kept
 * and taken again, results are those of any row, and nothing of the kept file is believed that was not
 * written so. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dirent.h>

#include "device/device.h"
#include "device/traits.h"
#include "record/tuning_cache.h"
#include "record/command_buffer.h"
#include "tests/cases.h"
#include "tests/fixture.h"
#include "tests/folder.h"

static char folder[64] = "/tmp/glcnn-tune-XXXXXX";

/* ---- A clock ---- */

static uint64_t moment, step, readings;
static bool rises;

/* Each time that is measured is longer than the one before, or shorter. */
static uint64_t read_clock(void)
{
    readings++;
    step = rises ? step + step / 16 : step - step / 16;
    return moment += step;
}

/* With the trials of `tuning` on a device of a family of drivers; NULL: the one that there is. */
static glcnn_device *open_tuning(const char *tuning, const char *family, bool rising)
{
    glcnn_device *on = NULL;
    setenv("GLCNN_TUNE", tuning, 1);
    setenv("GLCNN_CACHE_DIR", folder, 1);
    GOOD_FATAL(glcnn_device_create(NULL, &on));
    setenv("GLCNN_CACHE_DIR", "off", 1);
    unsetenv("GLCNN_TUNE");
    on->tuning_cache->clock = read_clock;
    if (family)
        on->info.traits = traits_find(family, family);
    on->info.traits.may_skip_programs = false;
    moment = readings = 0;
    step = (uint64_t)1 << 40;
    rises = rising;
    return on;
}

/* ---- A convolution ---- */

#define SIDE     9
#define CHANNELS 8

/* The implementation that a convolution is planned by, and its result, which the caller frees. */
static const char *convolve(glcnn_device *on, float **values)
{
    static const struct glcnn_convolution_descriptor descriptor = {
        3, 3, .input_feature_channels = CHANNELS, .output_feature_channels = CHANNELS};
    float taps[9 * CHANNELS * CHANNELS];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof taps / sizeof *taps; i++)
        taps[i] = noise(&seed);
    const struct glcnn_convolution_weights weights = {taps, NULL};
    glcnn_kernel *kernel;
    glcnn_command_buffer *commands;
    glcnn_image *x = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 2, CHANNELS, SIDE, SIDE);
    glcnn_image *y = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 2, CHANNELS, SIDE, SIDE);
    fill_noise(x, 2);
    fill_constant(y, 3);
    GOOD_FATAL(glcnn_convolution_create(on, &descriptor, &weights, &kernel));
    GOOD_FATAL(glcnn_command_buffer_create(on, &commands));
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = x, .destination = y}));
    const char *implementation = commands->passes[commands->pass_count - 1].owner.implementation;
    CU_ASSERT_TRUE(image_is_constant(y, 3)); /* trials write elsewhere */
    finish(&commands);
    *values = read_image(y);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    return implementation;
}

/* On a device of its own. */
static const char *convolve_tuned(const char *tuning, bool rising, float **values)
{
    glcnn_device *on = open_tuning(tuning, NULL, rising);
    const char *implementation = convolve(on, values);
    glcnn_device_destroy(&on);
    return implementation;
}

static bool are_near(const float *a, const float *b)
{
    bool near = true;
    for (size_t i = 0; i < 2 * CHANNELS * SIDE * SIDE && near; i++)
        near = is_near((double)a[i], (double)b[i], 1e-5);
    return near;
}

/* ---- Choices ---- */

static void test_without_tuning_nothing_is_timed(void)
{
    float *values;
    const char *usual = convolve_tuned("off", false, &values);
    CU_ASSERT_EQUAL(readings, 0);
    CU_ASSERT_PTR_NOT_NULL(usual);
    free(values);
}

/* The last row is the fastest by a clock that slows down, the usual one by a clock that does not. */
static void test_the_fastest_row_is_taken(void)
{
    float *plain, *usual, *other;
    const char *implementation = convolve_tuned("off", false, &plain);
    folder_empty(folder);
    CU_ASSERT_STRING_EQUAL(convolve_tuned("full", true, &usual), implementation);
    CU_ASSERT(readings > 0);
    CU_ASSERT_EQUAL(memcmp(plain, usual, 2 * CHANNELS * SIDE * SIDE * sizeof *plain), 0);
    folder_empty(folder);
    CU_ASSERT_STRING_EQUAL(convolve_tuned("full", false, &other), "convolution_two");
    CU_ASSERT_TRUE(are_near(plain, other));
    free(plain);
    free(usual);
    free(other);
}

/* In the same device and in the next one, whatever a clock would say then. */
static void test_a_choice_is_kept(void)
{
    float *first, *again, *later;
    folder_empty(folder);
    glcnn_device *on = open_tuning("full", NULL, false);
    CU_ASSERT_STRING_EQUAL(convolve(on, &first), "convolution_two");
    readings = 0;
    rises = true;
    CU_ASSERT_STRING_EQUAL(convolve(on, &again), "convolution_two");
    CU_ASSERT_EQUAL(readings, 0);
    glcnn_device_destroy(&on);
    CU_ASSERT_STRING_EQUAL(convolve_tuned("full", true, &later), "convolution_two");
    CU_ASSERT_EQUAL(readings, 0);
    CU_ASSERT_EQUAL(memcmp(first, later, 2 * CHANNELS * SIDE * SIDE * sizeof *first), 0);
    free(first);
    free(again);
    free(later);
}

/* ---- Files ---- */

/* Changes the last byte of each file: of a choice, the end of the row's name. */
static void damage_files(void)
{
    char path[320];
    DIR *directory = opendir(folder);
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r+b");
        if (!file)
            continue;
        CU_ASSERT_EQUAL(fseek(file, -1, SEEK_END), 0);
        int last = fgetc(file);
        CU_ASSERT_EQUAL(fseek(file, -1, SEEK_END), 0);
        fputc(last ^ 1, file);
        CU_ASSERT_EQUAL(fclose(file), 0);
    }
    closedir(directory);
}

static void test_a_damaged_file_is_no_choice(void)
{
    float *values, *again;
    folder_empty(folder);
    convolve_tuned("full", false, &values);
    CU_ASSERT(folder_count_files(folder) > 0);
    damage_files();
    CU_ASSERT_STRING_NOT_EQUAL(convolve_tuned("full", true, &again), "convolution_two");
    CU_ASSERT(readings > 0);
    CU_ASSERT_TRUE(are_near(values, again));
    free(values);
    free(again);
}

/* A row that is open no more, and a choice that another process has kept meanwhile. */
static void test_what_is_kept_must_be_a_row(void)
{
    static const char *const rows[] = {"one", "two", NULL}, *const others[] = {"one", NULL};
    folder_empty(folder);
    glcnn_device *on = open_tuning("full", NULL, true), *beside = open_tuning("full", NULL, true);
    CU_ASSERT_PTR_NULL(tuning_cache_find(on, "key", rows));
    CU_ASSERT_STRING_EQUAL(tuning_cache_keep(on, "key", rows, "two"), "two");
    CU_ASSERT_PTR_NULL(tuning_cache_find(beside, "key", others));
    CU_ASSERT_PTR_NULL(tuning_cache_find(beside, "another key", rows));
    CU_ASSERT_STRING_EQUAL(tuning_cache_keep(beside, "key", rows, "one"), "two");
    glcnn_device_destroy(&on);
    glcnn_device_destroy(&beside);
}

/* ---- Results ---- */

/* Kernels agree with their references by the rows that trials choose, of small and of large GPUs;
 * trials leave no trace in images and states. */
static void check_kernels(const char *tuning, const char *family)
{
    static const char *const kernels[] = {"convolution", "convolution_gradient",
                                          "fully_connected_gradient"};
    folder_empty(folder);
    glcnn_device *on = open_tuning(tuning, family, false);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct glcnn_descriptor *d = descriptor_find(kernels[i]);
        struct case_run c;
        double worst = 2;
        CU_ASSERT_TRUE_FATAL(case_prepare(&c, d, 0, GLCNN_CHANNEL_FORMAT_FLOAT32));
        GOOD(check_run(on, d, &c.run, &worst));
        CU_ASSERT(worst <= 1);
        case_release(&c);
    }
    CU_ASSERT(readings > 0);
    glcnn_device_destroy(&on);
}

static void test_kernels_agree_with_their_references(void)
{
    check_kernels("full", "NVIDIA");
    check_kernels("full", NULL);
}

static void hear(void *user, glcnn_log_level level, const char *text)
{
    if (level == GLCNN_LOG_ERROR)
        snprintf(user, 200, "%s", text);
}

static void test_an_unknown_word_is_refused(void)
{
    char said[200] = "";
    glcnn_device *on = NULL;
    setenv("GLCNN_TUNE", "fast", 1);
    CU_ASSERT_EQUAL(
        glcnn_device_create(&(struct glcnn_device_parameters){.log = hear, .log_user = said}, &on),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(on);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "\"fast\"; the values it takes are off and full"));
    unsetenv("GLCNN_TUNE");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_without_tuning_nothing_is_timed),
        UNIT_TEST(test_the_fastest_row_is_taken),
        UNIT_TEST(test_a_choice_is_kept),
        UNIT_TEST(test_a_damaged_file_is_no_choice),
        UNIT_TEST(test_what_is_kept_must_be_a_row),
        UNIT_TEST(test_kernels_agree_with_their_references),
        UNIT_TEST(test_an_unknown_word_is_refused),
        CU_TEST_INFO_NULL,
    };
    if (!mkdtemp(folder))
        return 1;
    int status = fixture_run("tune", tests, argc, argv);
    folder_empty(folder);
    rmdir(folder);
    return status;
}
