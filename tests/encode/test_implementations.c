/* Implementations: each forced in turn agrees with the references; canaries, compilations and traits. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "device/device.h"
#include "record/dispatch_work.h"
#include "record/program.h"
#include "record/speed.h"
#include "record/work_group.h"
#include "tests/fixture.h"
#include "tests/graphs.h"
#include "run/check.h"
#include "device/traits.h"
#include "encode/implementation.h"

/* What the log says, all of it. */
static char said[16384];

static void hear(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    if (level <= GLCNN_LOG_WARNING && strlen(said) + strlen(text) + 2 < sizeof said)
        strcat(strcat(said, text), "\n");
}

static glcnn_device *open_device(const struct glcnn_device_parameters *wanted)
{
    struct glcnn_device_parameters parameters =
        wanted ? *wanted : (struct glcnn_device_parameters){0};
    glcnn_device *opened = NULL;
    parameters.log = hear;
    said[0] = 0;
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(&parameters, &opened), GLCNN_SUCCESS);
    return opened;
}

static size_t failures_of(glcnn_device *on, const char *kernel, bool quick)
{
    size_t failed = 1;
    CU_ASSERT_EQUAL(glcnn_check(on, kernel, quick, NULL, NULL, &failed), GLCNN_SUCCESS);
    return failed;
}

static size_t failures(glcnn_device *on, const char *kernel)
{
    return failures_of(on, kernel, true);
}

/* ---- Each implementation, forced ---- */

struct search {
    const char *text;
    bool found;
};

static void look(void *user, const struct program *program)
{
    struct search *search = user;
    search->found |= strstr(program->source, search->text) != NULL;
}

static bool any_program_has(const glcnn_device *on, const char *implementation)
{
    char line[80];
    snprintf(line, sizeof line, "// %s\n", implementation);
    struct search search = {.text = line};
    program_cache_each(on->programs, look, &search);
    return search.found;
}

static bool lists(const struct glcnn_kernel_info *info, const char *implementation)
{
    for (size_t i = 0; info->implementations[i]; i++)
        if (strcmp(info->implementations[i], implementation) == 0)
            return true;
    return false;
}

/* The quick check of one kernel that uses the implementation; GLCNN_TEST_FULL=1: the whole of all. */
static void check_forced(const char *implementation)
{
    setenv("GLCNN_IMPLEMENTATIONS", implementation, 1);
    glcnn_device *on = open_device(NULL);
    for (size_t i = 0; i < glcnn_kernel_count(); i++) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_at(i);
        bool wanted =
            lists(info, implementation) && (unit_is_full() || !any_program_has(on, implementation));
        if (wanted && failures_of(on, info->name, !unit_is_full())) {
            CU_FAIL("an implementation disagrees with the reference");
            fprintf(stderr, "\n  %s of %s\n", implementation, info->name);
        }
    }
    if (!any_program_has(on, implementation)) {
        CU_FAIL("an implementation that is forced is not taken");
        fprintf(stderr, "\n  %s\n", implementation);
    }
    glcnn_device_destroy(&on);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Whether an earlier kernel, or the same kernel earlier, has the implementation. */
static bool came_before(size_t kernel, size_t index)
{
    const char *name = glcnn_kernel_info_at(kernel)->implementations[index];
    for (size_t i = 0; i < kernel; i++)
        if (lists(glcnn_kernel_info_at(i), name))
            return true;
    return false;
}

/* Not told by a kernel's programs alone: test_producer_fusion.c and test_epilogues.c have graphs;
 * phases of a stride, and the forms of tiles, which have the name of the row that they are forms of,
 * have tests of their own. */
static bool is_tested_apart(const char *implementation)
{
    static const char *const apart[] = {"pixels_",
                                        "gradients_",
                                        "data_phases_separate",
                                        "data_phases_unbranched",
                                        "data_gathered",
                                        "register_tile",
                                        "reduced_",
                                        "pooling_average_gradient_",
                                        "pooling_max_gradient_",
                                        "partial_sums_last_group"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strncmp(implementation, apart[i], strlen(apart[i])) == 0)
            return true;
    return false;
}

/* Rows of more buffers than the minimum of storage blocks, 4: no device of that minimum takes them. */
static bool has_room(const char *implementation)
{
    bool many = strcmp(implementation, "sums_last_block") == 0 ||
                strcmp(implementation, "coefficients_vectors") == 0;
    return !many || device->info.limits.storage_blocks >= 8;
}

/* What the device takes unforced is what every other test of kernels tests. */
static bool is_usual(const char *implementation)
{
    return strstr(implementation, "_wide") || strstr(implementation, "_fourteen") ||
           strstr(implementation, "_unrolled") || strstr(implementation, "_eight") ||
           strstr(implementation, "_alone");
}

/* Within the minimum limits one stands for all, unless the longer tests run. */
static bool is_enough(size_t count)
{
    return count > 0 && !unit_is_full() && glcnn_device_info(device)->limits_clamped;
}

static void test_each_variant_agrees_with_the_references(void)
{
    size_t count = 0;
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        for (size_t v = 0; glcnn_kernel_info_at(i)->implementations[v] && !is_enough(count); v++) {
            const char *implementation = glcnn_kernel_info_at(i)->implementations[v];
            if (came_before(i, v) || is_tested_apart(implementation) || !has_room(implementation) ||
                (!unit_is_full() && is_usual(implementation)))
                continue;
            check_forced(implementation);
            count++;
        }
    CU_ASSERT(count >= (is_enough(count) ? 1 : 9));
    printf("%zu implementations ", count);
}

static void expect_phrase(const struct implementation *row, const struct condition *condition)
{
    bool good = !condition->holds == !condition->phrase;
    CU_ASSERT(good);
    if (!good)
        fprintf(stderr, "\n  %s\n", row->name);
}

/* Also that each row plans by itself. */
static void expect_reasons(const struct implementation_list *list)
{
    const struct implementation *row;
    struct implementation_walk walk = implementation_walk_of(list);
    while ((row = implementation_next(&walk))) {
        expect_phrase(row, &row->supported);
        expect_phrase(row, &row->profitable);
        CU_ASSERT(row->plan || row->form);
    }
}

static void test_each_condition_says_what_it_asks(void)
{
    for (size_t i = 0; glcnn_registry[i]; i++)
        for (const struct implementation_list *const *list = glcnn_registry[i]->implementations;
             list && *list; list++)
            expect_reasons(*list);
    for (size_t i = 0; glcnn_desktop_registry[i]; i++)
        expect_reasons(glcnn_desktop_registry[i]);
}

static void test_an_unknown_variant_is_refused(void)
{
    setenv("GLCNN_IMPLEMENTATIONS", "convolution_two,convolution_three", 1);
    glcnn_device *on = open_device(NULL);
    glcnn_kernel *kernel;
    REFUSED_ON(on, GLCNN_INVALID_ARGUMENT, glcnn_kernel_create(on, "neuron", &kernel));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "\"convolution_three\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "convolution_buffer_row"));
    glcnn_device_destroy(&on);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* A check that would not run a row that is forced is no check of it. */
static void test_a_check_without_a_case_is_refused(void)
{
    size_t failed = 0;
    setenv("GLCNN_IMPLEMENTATIONS", "soft_max_four,pixels_stored", 1);
    glcnn_device *on = open_device(NULL);
    CU_ASSERT_EQUAL(failures(on, "soft_max"), 0);
    REFUSED_ON(on, GLCNN_INVALID_ARGUMENT,
               glcnn_check(on, "pooling_max", true, NULL, NULL, &failed));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "soft_max_four"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "pooling_max has none"));
    glcnn_device_destroy(&on);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Programs of what has the name of a kernel's folder. */
static void count_pooling(void *user, const struct program *program)
{
    *(size_t *)user += strstr(program->source, "// pooling_") != NULL;
}

static size_t pooling_programs(const glcnn_device *on)
{
    size_t count = 0;
    program_cache_each(on->programs, count_pooling, &count);
    return count;
}

/* Each takes megabytes on llvmpipe. What was made before stays, and the device goes on. */
static void test_programs_of_kernels_are_released(void)
{
    glcnn_device *on = open_device(NULL);
    CU_ASSERT_EQUAL(failures(on, "pooling_average"), 0);
    size_t before = pooling_programs(on);
    uint64_t made = programs_made(on);
    CU_ASSERT_EQUAL(failures(on, "pooling_max"), 0);
    CU_ASSERT(pooling_programs(on) > before && before > 0);
    programs_release(on, made);
    CU_ASSERT_EQUAL(pooling_programs(on), before);
    CU_ASSERT_EQUAL(failures(on, "pooling_max"), 0);
    programs_release(on, 0);
    CU_ASSERT_EQUAL(pooling_programs(on), 0);
    CU_ASSERT_EQUAL(failures(on, "pooling_average"), 0);
    glcnn_device_destroy(&on);
}

/* Those of the draws of an augmentation are named as parameters of functions are. */
static void test_kernels_agree_with_each_way_of_uniforms(void)
{
    static const char *const kernels[] = {"dropout", "pooling_average", "optimizer_adam",
                                          "augment_color", "augment_geometry"};
    for (int plain = 0; plain < 2; plain++) {
        glcnn_device *on = open_device(NULL);
        on->info.traits.uniform_copies = false;
        on->info.traits.plain_uniforms = plain;
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            CU_ASSERT_EQUAL(failures(on, kernels[i]), 0);
        glcnn_device_destroy(&on);
    }
}

/* float16 that is stored as bits takes the shortest form of an exponential. */
static void test_kernels_agree_with_exponentials_of_the_driver(void)
{
    static const char *const kernels[] = {"soft_max", "log_soft_max", "log_soft_max_gradient",
                                          "neuron", "neuron_gradient"};
    glcnn_device *on = open_device(NULL);
    on->info.traits.accurate_exp2 = true;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        CU_ASSERT_EQUAL(failures(on, kernels[i]), 0);
    glcnn_device_destroy(&on);
}

/* ---- Last-block reductions ---- */

#define BLOCK_CHANNELS 6

/* Mean and variance of each channel, as commit after commit leaves them. */
static void read_statistics(glcnn_state *state, float values[2 * BLOCK_CHANNELS])
{
    static const char *const names[] = {"mean", "variance"};
    for (int i = 0; i < 2; i++)
        GOOD(glcnn_buffer_read(glcnn_state_vector(state, names[i]), 0,
                               BLOCK_CHANNELS * sizeof(float), values + i * BLOCK_CHANNELS));
}

/* Groups are counted from 0 at each commit: equal images leave equal bits, in one pass. */
static void test_the_last_group_is_found_at_each_commit(void)
{
    float first[2 * BLOCK_CHANNELS], again[2 * BLOCK_CHANNELS];
    glcnn_kernel *statistics, *normalize;
    glcnn_command_buffer *to;
    glcnn_state *state;
    if (!implementations_exist("statistics_last_block"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "statistics_last_block", 1);
    glcnn_device *on = open_device(NULL);
    glcnn_image *x = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 40, BLOCK_CHANNELS, 16, 16);
    GOOD_FATAL(glcnn_kernel_create(on, "batch_normalization_statistics", &statistics));
    GOOD_FATAL(glcnn_kernel_create(on, "batch_normalization", &normalize));
    GOOD_FATAL(glcnn_kernel_result_state(NULL, normalize, &(struct glcnn_encode){0}, &state));
    GOOD_FATAL(glcnn_command_buffer_create(on, &to));
    GOOD(glcnn_kernel_encode(to, statistics, &(struct glcnn_encode){.source = x, .state = state}));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 1);
    for (uint32_t i = 0; i < 3; i++) {
        fill_noise(x, i % 2);
        GOOD(glcnn_command_buffer_commit(to));
        GOOD(glcnn_command_buffer_wait(to));
        read_statistics(state, i ? again : first);
        CU_ASSERT(i == 0 || (memcmp(first, again, sizeof first) == 0) == (i == 2));
    }
    CU_ASSERT(is_near((double)first[BLOCK_CHANNELS], 1.0 / 3, 0.05)); /* of -1 .. 1, even */
    glcnn_command_buffer_destroy(&to);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&statistics);
    glcnn_kernel_destroy(&normalize);
    glcnn_image_destroy(&x);
    glcnn_device_destroy(&on);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- Pixels that are taken together ---- */

/* How far device and reference are apart, in units of the bound. */
static double error_of(glcnn_device *on, const char *kernel, const struct check_case *of)
{
    const struct glcnn_descriptor *d = descriptor_find(kernel);
    struct argument_map map = {0};
    struct glcnn_setting settings[CHECK_SETTINGS];
    char error[GLCNN_ERROR_LENGTH] = "";
    double worst = 0;
    struct run run = {.map = &map, .validation = {error, sizeof error}};
    CU_ASSERT_TRUE_FATAL(check_inputs(&run, d, of, 1, settings));
    glcnn_status status = check_run(on, d, &run, &worst);
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\n  %s, %s: %s\n", kernel, of->settings, error);
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
    argument_map_free(&map);
    return worst;
}

/* The case agrees with the reference, on a device of its own; which of the texts its programs have. */
static void look_after(const char *kernel, const struct check_case *of, struct search *wanted,
                       size_t count)
{
    glcnn_device *on = open_device(NULL);
    CU_ASSERT(error_of(on, kernel, of) <= 1);
    for (size_t i = 0; i < count; i++)
        program_cache_each(on->programs, look, &wanted[i]);
    glcnn_device_destroy(&on);
}

static bool has(const char *kernel, const struct check_case *of, const char *text)
{
    struct search wanted = {.text = text};
    look_after(kernel, of, &wanted, 1);
    return wanted.found;
}

#define TURNS(SIZE, STRIDE)                                                                        \
    "gradient_option=weights_and_biases output_feature_channels=9 kernel_width=" #SIZE             \
    " kernel_height=" #SIZE " stride_in_pixels_x=" #STRIDE " stride_in_pixels_y=" #STRIDE

/* Groups of more runs than a pass merges one by one; pixels of the last are no multiple of those
 * that a lane takes together. */
static void test_lanes_merge_many_runs(void)
{
    static const char *const kernels[] = {"batch_normalization_statistics",
                                          "batch_normalization_statistics_gradient"};
    static const struct check_case of = {"", {41, 3, 23, 25}};
    if (!implementations_exist("sums_last_block"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "statistics_last_block,sums_last_block", 1);
    glcnn_device *on = open_device(NULL);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        CU_ASSERT(error_of(on, kernels[i], &of) <= 1);
    glcnn_device_destroy(&on);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Runs of rows and chunks of pixels take turns: the last is shorter, and one that is near spans rows,
 * or lies in the next image. */
static void test_runs_and_chunks_take_turns(void)
{
    static const struct {
        const char *implementations, *kernel;
        struct check_case of;
    } rows[] = {
        {"statistics_last_block", "batch_normalization_statistics", {"", {2, 2, 401, 700}}},
        {"statistics_last_block", "batch_normalization_statistics", {"", {5, 6, 37, 290}}},
        {"statistics_last_block", "batch_normalization_statistics", {"", {3, 1, 9, 2048}}},
        {"sums_last_block", "batch_normalization_statistics_gradient", {"", {2, 2, 401, 700}}},
        {"sums_last_block", "batch_normalization_statistics_gradient", {"", {3, 1, 9, 2048}}},
        {"weights_tiled", "convolution_gradient", {TURNS(3, 1), {3, 5, 37, 29}}},
        {"weights_tiled", "convolution_gradient", {TURNS(5, 1), {50, 4, 3, 5}}},
        {"weights_tiled", "convolution_gradient", {TURNS(2, 2), {2, 3, 61, 203}}},
        {"weights_tiled", "convolution_gradient", {TURNS(1, 1), {3, 4, 725, 823}}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!implementations_exist(rows[i].implementations))
            continue;
        setenv("GLCNN_IMPLEMENTATIONS", rows[i].implementations, 1);
        glcnn_device *on = open_device(NULL);
        CU_ASSERT(error_of(on, rows[i].kernel, &rows[i].of) <= 1);
        CU_ASSERT_EQUAL(any_program_has(on, rows[i].implementations),
                        has_room(rows[i].implementations));
        glcnn_device_destroy(&on);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

#define CONNECTED(OUTPUTS, WIDTH, HEIGHT)                                                          \
    "output_feature_channels=" #OUTPUTS " kernel_width=" #WIDTH " kernel_height=" #HEIGHT

/* Tiles of fully connected layers, also where images, columns, outputs and splits of those do not
 * fill the last; and where images and outputs do, which is not asked then for each that is read. */
static void test_tiles_of_connected_layers_need_not_be_full(void)
{
    static const struct check_case rows[] = {{CONNECTED(268, 2, 3), {66, 24, 3, 2}},
                                             {CONNECTED(72, 1, 1), {9, 140, 1, 1}},
                                             {CONNECTED(72, 2, 1), {16, 20, 1, 2}},
                                             {CONNECTED(132, 5, 1), {1, 4, 1, 5}}};
    if (!implementations_exist("connected_tiled_unpacked"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "connected_tiled_unpacked,connected_weights_unpacked", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct search wanted[] = {{.text = "// connected_tiled_unpacked\n"},
                                  {.text = "// connected_weights_unpacked\n"}};
        look_after("fully_connected_gradient", &rows[i], wanted, 2);
        CU_ASSERT_TRUE(wanted[0].found && wanted[1].found);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* So do those of results: rows and slices that do not fill the last tile, elements that do not fill the
 * last split, and pixels that are rows, too, whose windows step and spread. */
static void test_tiles_of_unpacked_weights_need_not_be_full(void)
{
    static const struct {
        const char *kernel;
        struct check_case of;
    } rows[] = {
        {"fully_connected", {CONNECTED(268, 2, 3), {66, 88, 3, 2}}},
        {"fully_connected", {CONNECTED(6, 1, 1), {9, 136, 1, 1}}},
        {"fully_connected", {CONNECTED(132, 5, 1) " without_biases=true", {1, 8, 1, 5}}},
        {"convolution",
         {CONNECTED(40, 2, 1) " padding=0 stride_in_pixels_x=2 dilation_rate_x=3", {2, 16, 5, 20}}},
    };
    if (!implementations_exist("convolution_tiled_unpacked"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "convolution_tiled_unpacked", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct search wanted = {.text = "// convolution_tiled_unpacked\n"};
        look_after(rows[i].kernel, &rows[i].of, &wanted, 1);
        CU_ASSERT_TRUE(wanted.found);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- Clip rectangles ---- */

enum { CLIP_SIDE = 8, CLIP_FIRST = 1, CLIP_SIZE = 5, CLIP_OUTPUTS = 8 };
#define UNTOUCHED -7.0f

/* Every weight of the first input is 1 and all others are 0; output k is 1000 k higher. */
static glcnn_kernel *make_sums_of_nine(uint32_t inputs)
{
    char settings[200];
    float weights[CLIP_OUTPUTS * 9 * 8], biases[CLIP_OUTPUTS];
    snprintf(settings, sizeof settings,
             "kernel_width=3 kernel_height=3 input_feature_channels=%u output_feature_channels=%d "
             "offset_x=1 offset_y=1 clip_rect_origin_x=1 clip_rect_origin_y=1 "
             "clip_rect_size_width=5 clip_rect_size_height=5",
             inputs, CLIP_OUTPUTS);
    glcnn_kernel *kernel = kernel_with("convolution", settings);
    for (uint32_t i = 0; i < CLIP_OUTPUTS * 9 * inputs; i++)
        weights[i] = i % inputs == 0;
    for (int k = 0; k < CLIP_OUTPUTS; k++)
        biases[k] = 1000 * (float)k;
    GOOD(glcnn_kernel_set_vector(kernel, "weights", weights, CLIP_OUTPUTS * 9 * inputs));
    GOOD(glcnn_kernel_set_vector(kernel, "biases", biases, CLIP_OUTPUTS));
    return kernel;
}

/* Pixels x, y of every channel are 10 y + x, nine of which have nine times that of the middle one. */
static bool has_rectangle_alone(glcnn_image *result)
{
    bool good = true;
    float *values = read_image(result);
    for (int i = 0; i < CLIP_OUTPUTS * CLIP_SIDE * CLIP_SIDE; i++) {
        int x = i % CLIP_SIDE, y = i / CLIP_SIDE % CLIP_SIDE, k = i / CLIP_SIDE / CLIP_SIDE;
        bool is_inside = x >= CLIP_FIRST && x < CLIP_FIRST + CLIP_SIZE && y >= CLIP_FIRST &&
                         y < CLIP_FIRST + CLIP_SIZE;
        double expected = is_inside ? 9 * (10 * y + x) + 1000 * k : (double)UNTOUCHED;
        good &= is_near((double)values[i], expected, is_inside ? 1e-5 : 0);
    }
    free(values);
    return good;
}

static bool keeps_to_its_rectangle(uint32_t inputs)
{
    float values[8 * CLIP_SIDE * CLIP_SIDE];
    for (uint32_t i = 0; i < inputs * CLIP_SIDE * CLIP_SIDE; i++)
        values[i] = (float)(10 * (i / CLIP_SIDE % CLIP_SIDE) + i % CLIP_SIDE);
    glcnn_kernel *kernel = make_sums_of_nine(inputs);
    glcnn_image *source = image_with(1, inputs, CLIP_SIDE, CLIP_SIDE, values);
    glcnn_image *result = make_image(1, CLIP_OUTPUTS, CLIP_SIDE, CLIP_SIDE);
    fill_constant(result, UNTOUCHED);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    bool good = has_rectangle_alone(result);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
    return good;
}

/* Five rows and columns, which no form's tiles, lines or pairs divide. */
static void test_no_form_stores_beyond_its_clip_rectangle(void)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name("convolution");
    glcnn_device *const usual = device;
    for (size_t i = 0; info->implementations[i]; i++) {
        if (strncmp(info->implementations[i], "convolution_", 12) != 0)
            continue;
        setenv("GLCNN_IMPLEMENTATIONS", info->implementations[i], 1);
        device = open_device(NULL);
        bool good = keeps_to_its_rectangle(1) && keeps_to_its_rectangle(8);
        CU_ASSERT(good);
        if (!good)
            fprintf(stderr, "\n  %s\n", info->implementations[i]);
        glcnn_device_destroy(&device);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
    device = usual;
}

/* The gradient of weights takes columns together, also where they do not divide the width and the
 * last group has some beyond it. */
static void test_columns_need_not_divide_the_width(void)
{
    static const struct {
        uint32_t width;
        const char *columns;
    } rows[] = {{1, "#define COLUMNS 1\n"},  {4, "#define COLUMNS 2\n"},
                {5, "#define COLUMNS 3\n"},  {7, "#define COLUMNS 2\n"},
                {11, "#define COLUMNS 3\n"}, {12, "#define COLUMNS 3\n"},
                {13, "#define COLUMNS 3\n"}};
    setenv("GLCNN_IMPLEMENTATIONS", "weights_wide", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct check_case of = {"output_feature_channels=4 kernel_width=3 kernel_height=3 "
                                      "gradient_option=weights_and_biases",
                                      {2, 4, 2, rows[i].width}};
        CU_ASSERT_TRUE(has("convolution_gradient", &of, rows[i].columns));
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

#define PAIRED(OUTPUTS, WIDTH, HEIGHT)                                                             \
    "gradient_option=weights_and_biases output_feature_channels=" #OUTPUTS " kernel_width=" #WIDTH \
    " kernel_height=" #HEIGHT

/* Pairs of slices of outputs share what is read of the gradient, and taps of a row what is read of the
 * source, also where a stride is between: else a tap reads by itself, as the only one of a row does. Rows
 * and groups of columns are gone through in one loop: of images of one row and of several groups. */
static void test_pairs_of_outputs_share_reads(void)
{
#define ROW_OF(STRIDE) "#define SHARED_ROW " #STRIDE "\n"
    static const struct {
        struct check_case of;
        const char *columns; /* NULL: outputs have no pairs */
        const char *row;     /* NULL: a tap by itself */
    } rows[] = {
        {{PAIRED(5, 3, 3), {2, 5, 6, 14}}, "#define COLUMNS 7\n", ROW_OF(1)},
        {{PAIRED(16, 2, 3), {3, 9, 5, 11}}, "#define COLUMNS 6\n", ROW_OF(1)},
        {{PAIRED(8, 5, 5), {2, 4, 9, 13}}, "#define COLUMNS 7\n", ROW_OF(1)},
        {{PAIRED(8, 3, 1), {5, 5, 1, 20}}, "#define COLUMNS 5\n", ROW_OF(1)},
        {{PAIRED(8, 3, 3) " stride_in_pixels_x=2", {2, 5, 6, 28}},
         "#define COLUMNS 7\n",
         ROW_OF(2)},
        {{PAIRED(8, 3, 3) " stride_in_pixels_x=2 stride_in_pixels_y=2", {3, 5, 7, 29}},
         "#define COLUMNS 5\n",
         ROW_OF(2)},
        {{PAIRED(8, 5, 2) " stride_in_pixels_x=3 stride_in_pixels_y=2 dilation_rate_y=2",
          {3, 5, 7, 23}},
         "#define SLICES 2\n",
         ROW_OF(3)},
        {{PAIRED(8, 1, 3), {2, 5, 6, 14}}, "#define COLUMNS 7\n", NULL},
        {{PAIRED(8, 1, 1) " stride_in_pixels_x=2", {2, 5, 6, 28}}, "#define COLUMNS 7\n", NULL},
        {{PAIRED(4, 3, 3), {2, 5, 6, 14}}, NULL, ROW_OF(1)},
        {{PAIRED(8, 3, 3) " stride_in_pixels_x=3", {2, 5, 6, 14}}, NULL, NULL},
        {{PAIRED(8, 3, 3) " dilation_rate_x=2", {2, 5, 6, 14}}, NULL, NULL},
        {{PAIRED(8, 3, 3) " groups=2", {2, 8, 6, 14}}, NULL, ROW_OF(1)},
    };
    setenv("GLCNN_IMPLEMENTATIONS", "weights_broad", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct search wanted[] = {{.text = "#define SLICES 2\n"},
                                  {.text = rows[i].row ? rows[i].row : "#define SHARED_ROW"},
                                  {.text = rows[i].columns}};
        look_after("convolution_gradient", &rows[i].of, wanted, rows[i].columns ? 3 : 2);
        CU_ASSERT_EQUAL(wanted[0].found, rows[i].columns != NULL);
        if (!rows[i].columns)
            continue;
        CU_ASSERT_EQUAL(wanted[1].found, rows[i].row != NULL);
        CU_ASSERT(wanted[2].found);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- Strided data gradients ---- */

#define STRIDED(OUTPUTS, WIDTH, HEIGHT, X, Y)                                                      \
    "gradient_option=data output_feature_channels=" #OUTPUTS " kernel_width=" #WIDTH               \
    " kernel_height=" #HEIGHT " stride_in_pixels_x=" #X " stride_in_pixels_y=" #Y

/* All phases of a stride in one pass, or one after the other, agree with the reference: also
 * where a phase has no taps or no pixels, and where dilation leaves it some. */
static void test_phases_of_a_stride_are_batched_or_separate(void)
{
    static const struct check_case rows[] = {
        {STRIDED(6, 3, 3, 2, 2), {2, 5, 9, 8}},
        {STRIDED(9, 1, 1, 2, 2), {1, 17, 7, 21}},
        {STRIDED(4, 7, 2, 3, 1), {1, 3, 5, 19}},
        {STRIDED(4, 3, 5, 1, 4) " dilation_rate_y=2", {2, 1, 23, 6}},
        {STRIDED(4, 5, 5, 2, 2), {2, 4, 1, 1}},
    };
    static const struct {
        const char *implementations;
        bool batched, tiled;
    } ways[] = {{"data_phases_batched", true, false},
                {"data_phases_batched,convolution_tiled", true, true},
                {"data_phases_separate", false, false},
                {"data_phases_unbranched", false, false},
                {"data_phases_separate,convolution_tiled", false, true}};
    for (size_t v = 0; v < sizeof ways / sizeof *ways; v++) {
        if (!implementations_exist(ways[v].implementations))
            continue;
        setenv("GLCNN_IMPLEMENTATIONS", ways[v].implementations, 1);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct search wanted[] = {{.text = "#define PHASES 1\n"}, {.text = "kept_inputs["}};
            look_after("convolution_gradient", &rows[i], wanted, 2);
            CU_ASSERT_EQUAL(wanted[0].found, ways[v].batched);
            CU_ASSERT_EQUAL(wanted[1].found, ways[v].tiled);
        }
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* A rasteriser of the processor takes phases separately, unless one would have no taps. */
static void test_phases_with_taps_are_separate_on_a_processor(void)
{
    static const struct {
        struct check_case of;
        bool batched;
    } rows[] = {
        {{STRIDED(6, 3, 3, 2, 2), {2, 5, 9, 8}}, false},
        {{STRIDED(6, 2, 1, 2, 1), {2, 5, 3, 8}}, false},
        {{STRIDED(6, 1, 1, 2, 2), {2, 5, 9, 8}}, true},
        {{STRIDED(6, 3, 1, 1, 2), {2, 5, 9, 8}}, true},
        {{STRIDED(6, 3, 3, 2, 2) " dilation_rate_x=2", {2, 5, 9, 9}}, true},
    };
    if (device->info.traits.registers < 64)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(has("convolution_gradient", &rows[i].of, "#define PHASES 1\n"),
                        rows[i].batched);
}

/* ---- Sums of few registers ---- */

/* Only what may lie beyond an end of a row is masked: with paddings of none, some and more than a tile at
 * each end, with strides, and where neighbours of a folded image lie beyond. */
static void test_ends_of_rows_are_masked(void)
{
    const uint32_t folded = device->info.limits.array_layers / 30 + 1;
    const struct check_case rows[] = {
        {"output_feature_channels=5 kernel_width=3 kernel_height=3", {folded, 120, 4, 9}},
        {"output_feature_channels=4 kernel_width=3 kernel_height=1 offset_x=1", {2, 5, 3, 7}},
        {"output_feature_channels=4 kernel_width=3 kernel_height=1 offset_x=-7", {2, 5, 3, 8}},
        {"output_feature_channels=4 kernel_width=5 kernel_height=3 stride_in_pixels_x=2",
         {2, 6, 5, 11}},
        {"output_feature_channels=4 kernel_width=3 kernel_height=3 dilation_rate_x=3",
         {2, 4, 4, 9}},
        {"gradient_option=data output_feature_channels=120 kernel_width=3 kernel_height=3",
         {folded, 5, 4, 9}},
    };
    static const char *const implementations[] = {"convolution_long_row", "convolution_row",
                                                  "convolution_buffer_row",
                                                  "convolution_buffer_two", "convolution_two"};
    for (size_t v = 0; v < sizeof implementations / sizeof *implementations; v++) {
        setenv("GLCNN_IMPLEMENTATIONS", implementations[v], 1);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            CU_ASSERT_TRUE(has(strncmp(rows[i].settings, "gradient", 8) == 0
                                   ? "convolution_gradient"
                                   : "convolution",
                               &rows[i], "#define OUTSIDE_LEFT"));
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Winograd's tiles: of odd extents, with and without paddings, regions, clamped edges, neurons and biases, of
 * channels that are no multiple of four, where images or their points are folded, in blocks of images, and
 * of as many channels as a sum has without stretches. */
static void test_winograd_tiles(void)
{
#define OF_THREE "kernel_width=3 kernel_height=3"
    const uint32_t folded = device->info.limits.array_layers / 30 + 1;
    const struct check_case rows[] = {
        {"output_feature_channels=5 " OF_THREE, {2, 6, 5, 7}},
        {"output_feature_channels=9 neuron_type=sigmoid offset_x=1 offset_y=-2 " OF_THREE,
         {3, 7, 3, 8}},
        {"output_feature_channels=4 edge_mode=clamp offset_x=1 " OF_THREE, {2, 5, 6, 3}},
        {"output_feature_channels=5 " OF_THREE, {folded, 120, 4, 9}},
        {"output_feature_channels=4 " OF_THREE, {5, 128, 64, 66}},
        {"output_feature_channels=4 " OF_THREE, {1, 764, 3, 9}},
        {"gradient_option=data output_feature_channels=120 " OF_THREE, {folded, 5, 4, 9}},
        {"gradient_option=data output_feature_channels=11 " OF_THREE, {2, 6, 5, 3}},
    };
    static const char *const implementations[] = {"convolution_winograd_row",
                                                  "convolution_winograd_buffer"};
    for (size_t v = 0; v < sizeof implementations / sizeof *implementations; v++) {
        setenv("GLCNN_IMPLEMENTATIONS", implementations[v], 1);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            CU_ASSERT_TRUE(has(strncmp(rows[i].settings, "gradient", 8) == 0
                                   ? "convolution_gradient"
                                   : "convolution",
                               &rows[i], "store_products("));
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* The gradient of weights is looked at for parts of the results as well, and in several chunks and blocks. */
static void test_winograd_gradients_of_weights(void)
{
#define WEIGHTS_OF_THREE "gradient_option=weights_and_biases " OF_THREE
    const uint32_t folded = device->info.limits.array_layers / 30 + 1;
    const struct check_case rows[] = {
        {WEIGHTS_OF_THREE " output_feature_channels=9 offset_x=1 offset_y=-2", {3, 13, 3, 8}},
        {OF_THREE " output_feature_channels=4 edge_mode=clamp offset_x=1", {2, 5, 6, 3}},
        {WEIGHTS_OF_THREE " output_feature_channels=5", {folded, 120, 4, 9}},
        {WEIGHTS_OF_THREE " output_feature_channels=4", {5, 128, 64, 66}},
        {WEIGHTS_OF_THREE " output_feature_channels=11", {40, 6, 33, 3}},
    };
    /* The last differs from the first in the devices that take it. */
    static const char *const implementations[] = {"weights_winograd_pair", "weights_winograd_one",
                                                  "weights_winograd_wide"};
    for (size_t v = 0; v < sizeof implementations / sizeof *implementations; v++) {
        setenv("GLCNN_IMPLEMENTATIONS", implementations[v], 1);
        for (size_t i = 0; i < (v < 2 ? sizeof rows / sizeof *rows : 1); i++)
            CU_ASSERT_TRUE(has("convolution_gradient", &rows[i], "gradients_at("));
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- Tiles of sums ---- */

/* Tiles hold 4 or 8 slices of outputs where there are no more, else 16. */
static void test_tiles_follow_outputs(void)
{
    static const struct {
        const char *slices;
        struct check_case of;
    } forms[] = {
        {"#define SLICES 4\n#define VECTORS 8\n",
         {"output_feature_channels=9 kernel_width=3 kernel_height=3", {3, 6, 9, 11}}},
        {"#define SLICES 8\n#define VECTORS 8\n",
         {"output_feature_channels=21 kernel_width=3 kernel_height=3", {3, 6, 9, 11}}},
        {"#define SLICES 8\n#define VECTORS 4\n",
         {"output_feature_channels=9 kernel_width=2 kernel_height=2", {3, 6, 9, 11}}},
        {"#define SLICES 16\n",
         {"output_feature_channels=37 kernel_width=3 kernel_height=3", {3, 6, 9, 11}}},
        {"#define SLICES 4\n",
         {"output_feature_channels=5 kernel_width=1 kernel_height=1", {1, 65, 224, 221}}},
        {"#define SLICES 16\n",
         {"output_feature_channels=33 kernel_width=1 kernel_height=1", {1, 65, 224, 221}}},
    };
    if (!implementations_exist("convolution_tiled"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "convolution_tiled", 1);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        CU_ASSERT_TRUE(has("convolution", &forms[i].of, forms[i].slices));
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Each form of tiles, forced, agrees with the reference. */
static void test_forms_of_sums_are_forced(void)
{
    static const struct check_case of = {
        "output_feature_channels=37 kernel_width=3 kernel_height=3", {3, 36, 9, 11}};
    static const struct {
        const char *implementations, *text;
        bool found;
    } forms[] = {
        {"convolution_tiled,tile_wide", "#define SLICES 32\n", true},
        {"convolution_tiled,tile_full", "#define SLICES 16\n", true},
        {"convolution_tiled,tile_usual", "#define SLICES 16\n", true},
        {"convolution_tiled,tile_split_k", "#define SPLIT 1\n", true},
        {"convolution_tiled,tile_whole_k", "#define SPLIT 1\n", false},
        {"convolution_tiled,tile_weights_unpacked", "#define UNPACKED 1\n", true},
        {"convolution_tiled,tile_whole_k,tile_weights_packed", "#define UNPACKED 1\n", false},
        {"convolution_wide,register_tile_small", "#define SLICES 1\n#define PIXELS 4\n", true},
        {"convolution_wide,register_tile", "#define SLICES 2\n#define PIXELS 6\n", true},
        {"convolution_wide,register_tile_unrolled", "#define SLICES 2\n#define PIXELS 11\n", true},
        {"convolution_wide,register_tile_unrolled", "#define LINES_OF_TAPS 3\n", true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!implementations_exist(forms[i].implementations))
            continue;
        setenv("GLCNN_IMPLEMENTATIONS", forms[i].implementations, 1);
        bool found = has("convolution", &of, forms[i].text);
        CU_ASSERT_EQUAL(found, forms[i].found);
        if (found != forms[i].found)
            fprintf(stderr, "\n  %s: %s\n", forms[i].implementations, forms[i].text);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- Tiles of the gradient of weights ---- */

/* Tiles hold 8, 16 or 32 vectors of elements, and 4, 8, 16 or, of few elements, 32 slices of outputs;
 * of 32 and 16, where one chunk holds all pixels, the tile is the gradient itself. */
static void test_tiles_of_weights_follow_the_weights(void)
{
    static const struct {
        const char *kernel, *has;
        struct check_case of;
    } rows[] = {
        {"convolution_gradient",
         "#define SLICES 4\n",
         {"output_feature_channels=5 kernel_width=3 kernel_height=3", {3, 6, 5, 7}}},
        {"convolution_gradient",
         "#define SLICES 8\n",
         {"output_feature_channels=21 kernel_width=3 kernel_height=3", {3, 6, 5, 7}}},
        {"convolution_gradient",
         "#define SLICES 16\n",
         {"output_feature_channels=70 kernel_width=2 kernel_height=3", {3, 18, 5, 7}}},
        {"convolution_gradient",
         "#define WHOLE",
         {"output_feature_channels=70 kernel_width=3 kernel_height=3", {1, 8, 4, 6}}},
        {"convolution_gradient",
         "#define VECTORS 8\n",
         {"output_feature_channels=70 kernel_width=2 kernel_height=1", {3, 13, 4, 6}}},
        {"convolution_gradient",
         "#define VECTORS 16\n",
         {"output_feature_channels=70 kernel_width=3 kernel_height=3", {3, 3, 4, 6}}},
        {"convolution_gradient",
         "#define VECTORS 32\n",
         {"output_feature_channels=70 kernel_width=1 kernel_height=1", {3, 65, 4, 6}}},
        {"fully_connected_gradient",
         "#define WHOLE",
         {"output_feature_channels=37 kernel_width=2 kernel_height=2", {5, 36, 2, 2}}},
        {"convolution_gradient",
         "#define SLICES 32\n",
         {"output_feature_channels=70 kernel_width=3 kernel_height=1", {3, 7, 4, 6}}},
        {"fully_connected_gradient",
         "#define ONE_PIXEL",
         {"output_feature_channels=70 kernel_width=1 kernel_height=1", {70, 21, 1, 1}}},
        {"fully_connected_gradient",
         "#define SLICES 4\n",
         {"output_feature_channels=10 kernel_width=1 kernel_height=1", {70, 21, 1, 1}}},
    };
    if (!implementations_exist("weights_tiled"))
        return;
    setenv("GLCNN_IMPLEMENTATIONS", "connected_weights_convolved,weights_tiled", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_TRUE(has(rows[i].kernel, &rows[i].of, rows[i].has));
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Many chunks of pixels are added up in one pass by groups, or in two passes without. */
static void test_many_chunks_are_added_up(void)
{
    static const char *const implementations[] = {"weights_tiled,partial_sums_group",
                                                  "weights_tiled,partial_sums"};
    static const struct check_case of = {"output_feature_channels=9 kernel_width=3 kernel_height=1 "
                                         "gradient_option=weights_and_biases",
                                         {4, 7, 21, 20}};
    for (size_t v = 0; v < 2 && implementations_exist(implementations[v]); v++) {
        setenv("GLCNN_IMPLEMENTATIONS", implementations[v], 1);
        CU_ASSERT_EQUAL(has("convolution_gradient", &of, "merged["), v == 1);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Register tiles of pixels also end where the gradient does: in the middle of a pair of columns, or of
 * a tile; and there are more of them than a group has lanes, or all groups together. Chunks are added
 * up by a pass, or by the last group to have one. */
static void test_register_tiles_need_not_divide_the_gradient(void)
{
    static const struct check_case rows[] = {
        {"output_feature_channels=8 groups=8 kernel_width=3 kernel_height=3", {5, 8, 31, 39}},
        {"output_feature_channels=5 kernel_width=2 kernel_height=4", {1, 1, 30, 8}},
        {"output_feature_channels=4 groups=4 kernel_width=3 kernel_height=3 edge_mode=clamp "
         "padding=same",
         {2, 4, 29, 1}},
        {"output_feature_channels=2048 kernel_width=2 kernel_height=1", {15, 1, 1, 33}},
    };
    static const char *const implementations[] = {"weights_register_tiled,partial_sums_group",
                                                  "weights_register_tiled,partial_sums_last_group"};
    for (size_t v = 0; v < 2 && implementations_exist(implementations[v]); v++) {
        setenv("GLCNN_IMPLEMENTATIONS", implementations[v], 1);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct search wanted[] = {{.text = "tiles_down"}, {.text = "#define LAST_BLOCK 1\n"}};
            look_after("convolution_gradient", &rows[i], wanted, 2);
            CU_ASSERT_TRUE(wanted[0].found);
            CU_ASSERT_EQUAL(wanted[1].found, v == 1);
        }
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* ---- A driver that leaves dispatches out ---- */

static struct {
    struct gl real;
    const glcnn_device *on;
    const char *without; /* programs with this in their source do not run */
    GLuint program;
    size_t skipped;
} driver;

static void find_source(void *user, const struct program *program)
{
    if (program->name == driver.program)
        *(const char **)user = program->source;
}

static void GL_APIENTRY use_program(GLuint program)
{
    driver.program = program;
    driver.real.UseProgram(program);
}

static void GL_APIENTRY dispatch_compute(GLuint x, GLuint y, GLuint z)
{
    const char *source = NULL;
    program_cache_each(driver.on->programs, find_source, &source);
    if (source && strstr(source, driver.without))
        driver.skipped++;
    else
        driver.real.DispatchCompute(x, y, z);
}

static glcnn_device *open_skipping(const char *without)
{
    glcnn_device *on = open_device(NULL);
    driver.real = on->gl;
    driver.on = on;
    driver.without = without;
    driver.skipped = 0;
    on->gl.UseProgram = use_program;
    on->gl.DispatchCompute = dispatch_compute;
    on->info.traits.may_skip_programs = true;
    on->info.traits.registers = 64;
    return on;
}

/* Of each type of element that a program can store: int, uint and float in buffers, and images. */
static void test_programs_that_run_pass_the_smoke_test(void)
{
    static const char *const kernels[] = {"augment_geometry", "dropout", "optimizer_adam",
                                          "soft_max"};
    glcnn_device *on = open_skipping("no program has this");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        CU_ASSERT_EQUAL(failures(on, kernels[i]), 0);
    CU_ASSERT_EQUAL(driver.skipped, 0);
    CU_ASSERT_STRING_EQUAL(strstr(said, "does not run it") ? said : "", "");
    glcnn_device_destroy(&on);
}

/* A unorm8 image keeps the smoke test's number as 255ths. */
static void write_pictures(glcnn_device *on, glcnn_status expected)
{
    const uint8_t bytes[4] = {1, 2, 3, 4};
    glcnn_image *image = make_image_of(on, GLCNN_CHANNEL_FORMAT_UNORM8, 1, 1, 2, 2);
    CU_ASSERT_EQUAL(glcnn_image_write_bytes(image, NULL, bytes, sizeof bytes), expected);
    glcnn_image_destroy(&image);
}

static void test_the_smoke_test_knows_unorm8(void)
{
    glcnn_device *on = open_skipping("no program has this");
    write_pictures(on, GLCNN_SUCCESS);
    write_pictures(on, GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(strstr(said, "does not run it") ? said : "", "");
    glcnn_device_destroy(&on);
    on = open_skipping("rgba8");
    write_pictures(on, GLCNN_SHADER_ERROR);
    CU_ASSERT(driver.skipped > 0);
    glcnn_device_destroy(&on);
}

static void test_the_next_smaller_variant_is_taken(void)
{
    glcnn_device *on = open_skipping("// convolution_wide");
    CU_ASSERT_EQUAL(failures(on, "convolution"), 0);
    CU_ASSERT_EQUAL(driver.skipped, 1); /* the smoke test: no result was left out */
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "implementation convolution_wide and does not run it"));
    CU_ASSERT(any_program_has(on, "convolution_row"));
    glcnn_device_destroy(&on);
}

static void test_without_a_variant_that_runs_the_encode_fails(void)
{
    glcnn_device *on = open_skipping("// convolution_");
    const struct glcnn_convolution_descriptor d = {1, 1, 1, 1};
    const float weight = 1;
    char driver_of[256];
    glcnn_kernel *kernel;
    GOOD_FATAL(glcnn_convolution_create(
        on, &d, &(struct glcnn_convolution_weights){.weights = &weight}, &kernel));
    glcnn_image *image = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 1, 1, 4, 4);
    glcnn_image *result = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 1, 1, 4, 4);
    glcnn_command_buffer *commands;
    GOOD_FATAL(glcnn_command_buffer_create(on, &commands));
    REFUSED_ON(on, GLCNN_SHADER_ERROR,
               glcnn_kernel_encode(commands, kernel,
                                   &(struct glcnn_encode){.source = image, .destination = result}));
    snprintf(driver_of, sizeof driver_of, "convolution: the driver of %s accepts",
             glcnn_device_info(on)->renderer);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), driver_of));
    bool shares = implementations_exist("convolution_shared");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(glcnn_device_error(on), shares ? "convolution_shared to convolution_two"
                                              : "convolution_wide to convolution_two"));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
    glcnn_device_destroy(&on);
}

static void test_a_shader_without_implementations_that_does_not_run_is_an_error(void)
{
    glcnn_device *on = open_skipping("store_destination(at.x, at.y, slice, image, reduced");
    driver.without = "soft_max";
    size_t failed = 0;
    GOOD(glcnn_check(on, "log_soft_max", true, NULL, NULL, &failed));
    CU_ASSERT_EQUAL(failed, driver.skipped ? 1 : 0);
    glcnn_device_destroy(&on);
}

static void test_a_driver_that_runs_nothing_is_told_once(void)
{
    glcnn_device *on = open_skipping("#version");
    glcnn_image *image = make_image_of(on, GLCNN_CHANNEL_FORMAT_FLOAT32, 1, 1, 2, 2);
    const float values[4] = {1, 2, 3, 4};
    GOOD(glcnn_image_write_bytes(image, NULL, values, sizeof values));
    const char *first = strstr(said, "runs none of them");
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NULL(strstr(first + 1, "runs none of them"));
    glcnn_image_destroy(&image);
    glcnn_device_destroy(&on);
}

/* ---- Graphs ---- */

/* A network that trains, and what its graph is given, on the device that `device` is. */
struct trained {
    struct cnn cnn;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static struct trained make_trained(void)
{
    struct trained t = {.cnn = make_cnn()};
    set_weights(t.cnn.net, 3);
    train_network(t.cnn.net, false);
    t.graph = cnn_training_graph(&t.cnn, 0);
    t.sources[0] = make_image(4, 1, CNN_SIDE, CNN_SIDE);
    t.sources[1] = make_image(4, CNN_CLASSES, 1, 1);
    return t;
}

static void free_trained(struct trained *t)
{
    glcnn_graph_destroy(&t->graph);
    glcnn_image_destroy(&t->sources[0]);
    glcnn_image_destroy(&t->sources[1]);
    glcnn_network_destroy(&t->cnn.net);
}

/* Weights of the first convolution after three steps; the caller frees them. */
static float *trained_weights(glcnn_device *on, size_t *count)
{
    glcnn_device *kept = device;
    device = on;
    struct trained t = make_trained();
    fill_noise(t.sources[0], 5);
    fill_constant(t.sources[1], 0.2f);
    for (int step = 0; step < 3; step++)
        run_graph(t.graph, t.sources);
    const glcnn_buffer *weights = glcnn_kernel_vector(kernel_of(t.cnn.convolved[0]), "weights");
    float *values = vector_values(weights);
    *count = vector_count(weights);
    free_trained(&t);
    device = kept;
    return values;
}

/* With rows that take none which shares memory: those that fill a large GPU leave it out. */
static void test_a_graph_is_rerecorded_with_smaller_implementations(void)
{
    size_t count = 0, other = 0;
    float *expected = trained_weights(device, &count);
    glcnn_device *on = open_skipping("// convolution_wide");
    on->info.traits.shared_memory = false;
    float *found = trained_weights(on, &other);
    CU_ASSERT_EQUAL_FATAL(count, other);
    CU_ASSERT(arrays_near(found, expected, count, 1e-5));
    CU_ASSERT_EQUAL(driver.skipped, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "implementation convolution_wide and does not run it"));
    free(expected);
    free(found);
    glcnn_device_destroy(&on);
}

static void test_a_graph_without_a_variant_that_runs_fails_each_time(void)
{
    glcnn_device *kept = device, *on = open_skipping("// convolution_");
    device = on;
    struct trained t = make_trained();
    for (int i = 0; i < 2; i++) {
        REFUSED_ON(on, GLCNN_SHADER_ERROR, glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "runs none of them"));
    }
    free_trained(&t);
    device = kept;
    glcnn_device_destroy(&on);
}

/* ---- Work groups ---- */

static void check_group(uint32_t width, uint32_t most, bool light, bool slow,
                        const uint32_t size[2])
{
    const struct glcnn_limits limits = {.work_group_size = {1024, 1024, 64},
                                        .work_group_invocations = most};
    const struct glcnn_device_traits traits = {.large_groups = slow};
    struct pass pass = {.grid = {width, width, 1024}, .prefers_large_groups = light};
    work_group_choose(&pass, &limits, &traits);
    CU_ASSERT_EQUAL(pass.local[0], size[0]);
    CU_ASSERT_EQUAL(pass.local[1], size[1]);
    CU_ASSERT_EQUAL(pass.local[2], 1);
}

/* Where the device gains by them, and a grid has so many invocations that fewer groups of them keep
 * a GPU busy. */
static void test_light_passes_have_large_groups(void)
{
    static const uint32_t usual[] = {8, 8}, large[] = {4, 64};
    check_group(112, 1024, true, true, large);
    check_group(112, 1024, false, true, usual);
    check_group(112, 1024, true, false, usual);
    check_group(8, 1024, true, true, usual); /* few in all */
    check_group(56, 1024, true, true, large);
    check_group(32, 1024, true, true, (const uint32_t[]){8, 32});
    check_group(40, 1024, true, true, usual); /* too many would be left over */
    check_group(112, 128, true, true, (const uint32_t[]){4, 32});
}

/* Those sizes that Qualcomm's driver miscomputes, whatever the grid. */
static void test_miscomputed_work_groups_are_not_made(void)
{
    const struct glcnn_limits limits = {.work_group_size = {1024, 1024, 64},
                                        .work_group_invocations = 128};
    const struct glcnn_device_traits traits = traits_find("Qualcomm", "Adreno (TM) 840");
    CU_ASSERT(traits.miscomputes_8x8 && traits.may_skip_programs);
    CU_ASSERT_FALSE(traits_find("freedreno", "FD740").miscomputes_8x8);
    for (uint32_t width = 1; width <= 70; width++)
        for (uint32_t height = 1; height <= 70; height++) {
            struct pass pass = {.grid = {width, height, 8}};
            work_group_choose(&pass, &limits, &traits);
            CU_ASSERT_FALSE(pass.local[0] == 8 && pass.local[1] == 8 && pass.local[2] == 1);
            CU_ASSERT_FALSE(pass.local[0] == 4 && pass.local[1] == 16 && pass.local[2] == 1);
        }
}

/* ---- Speed ---- */

static void GL_APIENTRY dispatch_slowly(GLuint x, GLuint y, GLuint z)
{
    const struct timespec moment = {0, 25000000};
    driver.real.DispatchCompute(x, y, z);
    nanosleep(&moment, NULL);
}

static void test_dispatches_that_take_long_are_told(void)
{
    const struct pass pass = {.grid = {4096, 4096, 1}};
    glcnn_device *on = open_device(NULL);
    driver.real = on->gl;
    on->gl.DispatchCompute = dispatch_slowly;
    CU_ASSERT_EQUAL(speed_measure(on, &pass), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "a dispatch that does next to nothing takes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "update the kernel"));
    CU_ASSERT(on->dispatch_work >= LEAST_DISPATCH_WORK);
    CU_ASSERT(on->dispatch_bytes >= LEAST_DISPATCH_BYTES);
    glcnn_device_destroy(&on);
}

/* ---- Compilations ---- */

static struct {
    uint32_t begun, ended;
    bool in_order;
} compilations;

static void count_compilation(void *user, const struct glcnn_compilation *c)
{
    (void)user;
    *(c->seconds > 0 ? &compilations.ended : &compilations.begun) += 1;
    uint32_t expected = compilations.begun;
    compilations.in_order &= c->number == expected && c->shader && c->pass >= 1 &&
                             c->pass <= c->passes &&
                             compilations.begun - compilations.ended == (c->seconds > 0 ? 0 : 1);
}

static void test_compilations_are_told(void)
{
    const struct glcnn_device_parameters parameters = {.compile = count_compilation,
                                                       .compile_seconds = 1e-9f};
    memset(&compilations, 0, sizeof compilations);
    compilations.in_order = true;
    glcnn_device *on = open_device(&parameters);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT(compilations.begun >= 10);
    CU_ASSERT_EQUAL(compilations.begun, compilations.ended);
    CU_ASSERT(compilations.in_order);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "to compile glsl/neuron/neuron.comp"));
    uint32_t before = compilations.begun;
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT_EQUAL(compilations.begun, before); /* all are in the cache */
    glcnn_device_destroy(&on);
}

static void test_a_compilation_in_time_is_not_reported(void)
{
    const struct glcnn_device_parameters parameters = {.compile_seconds = 1e6f};
    glcnn_device *on = open_device(&parameters);
    CU_ASSERT_EQUAL(failures(on, "neuron"), 0);
    CU_ASSERT_PTR_NULL(strstr(said, "to compile"));
    glcnn_device_destroy(&on);
}

/* A driver that compiles in threads: the first question waits for what it has been given. */
static struct {
    struct gl real;
    uint32_t compiled, linked, asked, most, compiled_at_question;
    const char *spoilt; /* a source that has this is not handed on */
} threaded;

static void GL_APIENTRY count_compile(GLuint shader)
{
    threaded.compiled++;
    threaded.real.CompileShader(shader);
}

static void GL_APIENTRY count_link(GLuint program)
{
    threaded.linked++;
    threaded.real.LinkProgram(program);
}

static void GL_APIENTRY count_question(GLuint shader, GLenum name, GLint *value)
{
    uint32_t more = threaded.compiled - threaded.compiled_at_question;
    threaded.asked++;
    threaded.most = more > threaded.most ? more : threaded.most;
    threaded.compiled_at_question = threaded.compiled;
    CU_ASSERT_EQUAL(threaded.compiled, threaded.linked);
    threaded.real.GetShaderiv(shader, name, value);
}

static void GL_APIENTRY spoil_source(GLuint shader, GLsizei count, const GLchar *const *sources,
                                     const GLint *lengths)
{
    static const GLchar *const nonsense = "#version 310 es\nnonsense";
    bool spoils = threaded.spoilt && strstr(*sources, threaded.spoilt);
    threaded.real.ShaderSource(shader, count, spoils ? &nonsense : sources, lengths);
}

static glcnn_device *open_threaded(void)
{
    const struct glcnn_device_parameters parameters = {.compile = count_compilation};
    glcnn_device *on = open_device(&parameters);
    memset(&threaded, 0, sizeof threaded);
    memset(&compilations, 0, sizeof compilations);
    threaded.real = on->gl;
    on->gl.CompileShader = count_compile;
    on->gl.LinkProgram = count_link;
    on->gl.GetShaderiv = count_question;
    on->gl.ShaderSource = spoil_source;
    on->compilation.at_once = 64;
    return on;
}

static void test_a_driver_with_threads_has_all_programs_before_it_is_asked(void)
{
    size_t count = 0, other = 0;
    float *expected = trained_weights(device, &count);
    glcnn_device *on = open_threaded();
    float *found = trained_weights(on, &other);
    CU_ASSERT_EQUAL_FATAL(count, other);
    CU_ASSERT(arrays_near(found, expected, count, 0));
    CU_ASSERT(threaded.most >= 15);
    CU_ASSERT_EQUAL(threaded.asked, threaded.compiled);
    CU_ASSERT_EQUAL(compilations.begun, threaded.compiled);
    CU_ASSERT_EQUAL(compilations.ended, threaded.compiled);
    glcnn_device_destroy(&on);
    on = open_threaded();
    on->compilation.at_once = 1;
    free(trained_weights(on, &other));
    CU_ASSERT_EQUAL(threaded.most, 1);
    free(expected);
    free(found);
    glcnn_device_destroy(&on);
}

/* Those that were under way with it are finished when they are asked for again. */
static void test_of_many_programs_the_one_that_fails_is_named(void)
{
    glcnn_device *kept = device, *on = open_threaded();
    device = on;
    struct trained t = make_trained();
    threaded.spoilt = "gradient(k) = omega(k) d(k)";
    fill_noise(t.sources[0], 5);
    fill_constant(t.sources[1], 0.2f);
    for (int i = 0; i < 2; i++) {
        REFUSED_ON(on, GLCNN_SHADER_ERROR, glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(on), "the driver refuses the shader of"));
    }
    uint32_t before = threaded.compiled;
    threaded.spoilt = NULL;
    run_graph(t.graph, t.sources);
    CU_ASSERT(threaded.compiled > before);
    CU_ASSERT(threaded.compiled < 2 * before);
    free_trained(&t);
    device = kept;
    glcnn_device_destroy(&on);
}

/* ---- Traits ---- */

static void test_families_are_told_by_the_strings_of_drivers(void)
{
    static const struct {
        const char *vendor, *renderer, *family;
    } rows[] = {
        {"Mesa", "llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe"},
        {"Mesa", "softpipe", "softpipe"},
        {"Mesa", "virgl (LLVMPIPE (LLVM 15.0.6, 256 bits))", "llvmpipe"},
        {"Panfrost", "Mali-T860 (Panfrost)", "mali-midgard"},
        {"Panfrost", "Mali-G52 (Panfrost)", "mali-bifrost"},
        {"ARM", "Mali-G610", "mali-bifrost"},
        {"Broadcom", "V3D 4.2", "v3d"},
        {"freedreno", "FD618", "adreno"},
        {"Qualcomm", "Adreno (TM) 530", "adreno-qualcomm"},
        {"nouveau", "NVEA", "nouveau"},
        {"Mesa", "NVEA", "nouveau"},
        {"Mesa", "NV12B", "nouveau"},
        {"Mesa", "zink Vulkan 1.3(NVIDIA H200 (NVIDIA_PROPRIETARY))", "unknown"},
        {"NVIDIA Corporation", "NVIDIA H200/PCIe/SSE2", "nvidia"},
        {"NVIDIA Corporation", "NVIDIA Tegra X1 (nvgpu)/integrated", "tegra"},
        {"NVIDIA Corporation", "NVIDIA Tegra Orin (nvgpu)/integrated", "tegra"},
        {"Somebody", "Something", "unknown"},
        {NULL, NULL, "unknown"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct glcnn_device_traits traits = traits_find(rows[i].vendor, rows[i].renderer);
        CU_ASSERT_STRING_EQUAL(traits.family, rows[i].family);
        CU_ASSERT(traits.registers >= 8);
        CU_ASSERT_EQUAL(traits.async_uploads, strcmp(rows[i].family, "nvidia") == 0);
    }
    CU_ASSERT_FALSE(traits_find("Panfrost", "Mali-T860 (Panfrost)").plain_uniforms);
    CU_ASSERT(traits_find("Panfrost", "Mali-G52 (Panfrost)").plain_uniforms);
    CU_ASSERT(traits_find("Broadcom", "V3D 4.2").plain_uniforms);
    CU_ASSERT_FALSE(traits_find(NULL, NULL).plain_uniforms);
    CU_ASSERT(traits_find("Panfrost", "Mali-T860 (Panfrost)").submits_dispatches);
    CU_ASSERT(traits_find("nouveau", "NVEA").submits_dispatches);
    CU_ASSERT_FALSE(traits_find("freedreno", "FD618").submits_dispatches);
    CU_ASSERT(traits_find("freedreno", "FD530").may_skip_programs);
    CU_ASSERT(traits_find("Panfrost", "Mali-G52 (Panfrost)").may_skip_programs);
    CU_ASSERT(traits_find(NULL, NULL).may_skip_programs);
    CU_ASSERT_FALSE(traits_find("Mesa", "llvmpipe").may_skip_programs);
}

/* But for its name the row of nouveau, whose GPUs these are. */
static void test_a_tegra_is_no_desktop_gpu(void)
{
    struct glcnn_device_traits tegra = traits_find("NVIDIA Corporation", "NVIDIA Tegra X1 (nvgpu)");
    const struct glcnn_device_traits nouveau = traits_find("nouveau", "NV12B");
    CU_ASSERT_EQUAL(tegra.registers, nouveau.registers);
    CU_ASSERT_EQUAL(tegra.width, nouveau.width);
    CU_ASSERT_EQUAL(tegra.pass_bytes, nouveau.pass_bytes);
    CU_ASSERT(tegra.shared_memory && tegra.uniform_copies);
    CU_ASSERT_FALSE(tegra.spin_waits || tegra.large_groups || tegra.async_uploads);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_each_variant_agrees_with_the_references),
        UNIT_TEST(test_each_condition_says_what_it_asks),
        UNIT_TEST(test_an_unknown_variant_is_refused),
        UNIT_TEST(test_a_check_without_a_case_is_refused),
        UNIT_TEST(test_programs_of_kernels_are_released),
        UNIT_TEST(test_kernels_agree_with_each_way_of_uniforms),
        UNIT_TEST(test_kernels_agree_with_exponentials_of_the_driver),
        UNIT_TEST(test_the_last_group_is_found_at_each_commit),
        UNIT_TEST(test_lanes_merge_many_runs),
        UNIT_TEST(test_runs_and_chunks_take_turns),
        UNIT_TEST(test_tiles_of_connected_layers_need_not_be_full),
        UNIT_TEST(test_tiles_of_unpacked_weights_need_not_be_full),
        UNIT_TEST(test_no_form_stores_beyond_its_clip_rectangle),
        UNIT_TEST(test_columns_need_not_divide_the_width),
        UNIT_TEST(test_pairs_of_outputs_share_reads),
        UNIT_TEST(test_phases_of_a_stride_are_batched_or_separate),
        UNIT_TEST(test_phases_with_taps_are_separate_on_a_processor),
        UNIT_TEST(test_ends_of_rows_are_masked),
        UNIT_TEST(test_winograd_tiles),
        UNIT_TEST(test_winograd_gradients_of_weights),
        UNIT_TEST(test_tiles_follow_outputs),
        UNIT_TEST(test_forms_of_sums_are_forced),
        UNIT_TEST(test_tiles_of_weights_follow_the_weights),
        UNIT_TEST(test_many_chunks_are_added_up),
        UNIT_TEST(test_register_tiles_need_not_divide_the_gradient),
        UNIT_TEST(test_programs_that_run_pass_the_smoke_test),
        UNIT_TEST(test_the_smoke_test_knows_unorm8),
        UNIT_TEST(test_the_next_smaller_variant_is_taken),
        UNIT_TEST(test_without_a_variant_that_runs_the_encode_fails),
        UNIT_TEST(test_a_shader_without_implementations_that_does_not_run_is_an_error),
        UNIT_TEST(test_a_driver_that_runs_nothing_is_told_once),
        UNIT_TEST(test_a_graph_is_rerecorded_with_smaller_implementations),
        UNIT_TEST(test_a_graph_without_a_variant_that_runs_fails_each_time),
        UNIT_TEST(test_light_passes_have_large_groups),
        UNIT_TEST(test_miscomputed_work_groups_are_not_made),
        UNIT_TEST(test_dispatches_that_take_long_are_told),
        UNIT_TEST(test_compilations_are_told),
        UNIT_TEST(test_a_compilation_in_time_is_not_reported),
        UNIT_TEST(test_a_driver_with_threads_has_all_programs_before_it_is_asked),
        UNIT_TEST(test_of_many_programs_the_one_that_fails_is_named),
        UNIT_TEST(test_families_are_told_by_the_strings_of_drivers),
        UNIT_TEST(test_a_tegra_is_no_desktop_gpu),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("implementations", tests, argc, argv);
}
