/* Reductions by literal values: extremes of negative numbers, ties, NaN, clip rectangles of the
 * source, weights, long rows, and what is refused. */
#include "glcnn/kernels/reduce.h"

#include <math.h>

#include "tests/fixture.h"

#define MOST_SETTINGS 8

/* Runs a kernel on images [1][channels][height][width] and compares its only output. */
struct run_case {
    const char *kernel, *settings;
    uint32_t shape[3];
    float source[24];
    float secondary[24]; /* where the kernel has a second source */
    uint32_t count;
    float expected[24];
};

static size_t parse(const char *kernel, const char *text, struct glcnn_setting *settings)
{
    char copy[256], error[512] = "", *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        CU_ASSERT_EQUAL_FATAL(glcnn_setting_parse(kernel, word, &settings[count++], error),
                              GLCNN_SUCCESS);
    return count;
}

static void compare(const struct run_case *c, const struct glcnn_array *found)
{
    size_t count = 1;
    for (uint32_t i = 0; i < found->rank; i++)
        count *= found->shape[i];
    CU_ASSERT_EQUAL_FATAL(count, c->count);
    for (size_t i = 0; i < count; i++) {
        float wanted = c->expected[i];
        bool good = isnan(wanted)
                        ? isnan(found->data[i])
                        : fabsf(found->data[i] - wanted) <= 1e-6f * fmaxf(1, fabsf(wanted));
        CU_ASSERT(good);
        if (!good)
            fprintf(stderr, "\n  %s %s: element %zu is %g, not %g\n", c->kernel, c->settings, i,
                    (double)found->data[i], (double)wanted);
    }
}

static void check_case(const struct run_case *c)
{
    struct glcnn_setting settings[MOST_SETTINGS];
    float source[24], secondary[24];
    size_t sources = strstr(c->kernel, "_and_weights_") ? 2 : 1;
    memcpy(source, c->source, sizeof source);
    memcpy(secondary, c->secondary, sizeof secondary);
    struct glcnn_array inputs[] = {
        {"source_image", 3, {c->shape[0], c->shape[1], c->shape[2]}, source},
        {"secondary_image", 3, {c->shape[0], c->shape[1], c->shape[2]}, secondary}};
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
    char error[512] = "";
    glcnn_status status =
        glcnn_run(device, c->kernel, settings, parse(c->kernel, c->settings, settings), inputs,
                  sources, NULL, &outputs, &count, error);
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\n  %s: %s\n", c->kernel, error);
    else
        compare(c, outputs);
    glcnn_run_destroy(outputs);
}

static void check_cases(const struct run_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_case(&cases[i]);
}

/* What a gradient kernel makes of gradients of results. */
struct gradient_case {
    const char *kernel;
    uint32_t shape[3]; /* of the source */
    float source[24];
    float gradient[24], expected[24];
};

static void check_gradient(const struct gradient_case *c)
{
    float source[24], gradient[24];
    bool of_row = strstr(c->kernel, "row"), of_column = strstr(c->kernel, "column");
    memcpy(source, c->source, sizeof source);
    memcpy(gradient, c->gradient, sizeof gradient);
    struct glcnn_array inputs[] = {
        {"source_image", 3, {c->shape[0], c->shape[1], c->shape[2]}, source},
        {"source_gradient",
         3,
         {of_row || of_column ? c->shape[0] : 1, of_column ? 1 : c->shape[1],
          of_row ? 1 : c->shape[2]},
         gradient}};
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
    char error[512] = "";
    GOOD_FATAL(glcnn_run(device, c->kernel, NULL, 0, inputs, 2, NULL, &outputs, &count, error));
    size_t index = 0;
    while (index + 1 < count && strcmp(outputs[index].name, "destination_gradient") != 0)
        index++;
    struct run_case wanted = {
        .kernel = c->kernel, .settings = "", .count = c->shape[0] * c->shape[1] * c->shape[2]};
    memcpy(wanted.expected, c->expected, sizeof wanted.expected);
    compare(&wanted, &outputs[index]);
    glcnn_run_destroy(outputs);
}

/* clang-format off */
#define VALUES(...) sizeof((float[]){__VA_ARGS__}) / sizeof(float), {__VA_ARGS__}
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const struct run_case cases[] = {__VA_ARGS__};                                      \
        check_cases(cases, sizeof cases / sizeof *cases);                                          \
    } while (0)

/* Two channels of two rows of three. */
#define SIX {2, 2, 3}, {1, -2, 3, -4, 5, -6, /**/ 10, 20, 30, 40, 50, 60}, {0}

static void rows_columns_and_channels(void)
{
    CHECK({"reduce_row_min", "", SIX, VALUES(-2, -6, 10, 40)},
          {"reduce_row_max", "", SIX, VALUES(3, 5, 30, 60)},
          {"reduce_row_sum", "", SIX, VALUES(2, -5, 60, 150)},
          {"reduce_row_mean", "", SIX, VALUES(2 / 3.f, -5 / 3.f, 20, 50)},
          {"reduce_column_min", "", SIX, VALUES(-4, -2, -6, 10, 20, 30)},
          {"reduce_column_max", "", SIX, VALUES(1, 5, 3, 40, 50, 60)},
          {"reduce_column_sum", "", SIX, VALUES(-3, 3, -3, 50, 70, 90)},
          {"reduce_column_mean", "", SIX, VALUES(-1.5f, 1.5f, -1.5f, 25, 35, 45)},
          {"reduce_feature_channels_min", "", SIX, VALUES(1, -2, 3, -4, 5, -6)},
          {"reduce_feature_channels_max", "", SIX, VALUES(10, 20, 30, 40, 50, 60)},
          {"reduce_feature_channels_sum", "", SIX, VALUES(11, 18, 33, 36, 55, 54)},
          {"reduce_feature_channels_sum", "weight=-0.5", SIX,
           VALUES(-5.5f, -9, -16.5f, -18, -27.5f, -27)},
          {"reduce_feature_channels_mean", "", SIX, VALUES(5.5f, 9, 16.5f, 18, 27.5f, 27)});
}

/* What lies beside the last channel of a slice is no channel: 0 must not win. */
static void channels_beyond_the_last_do_not_take_part(void)
{
#define NEGATIVE {5, 1, 1}, {-3, -1, -4, -2, -7}, {0}
#define POSITIVE {5, 1, 1}, {3, 1, 4, 2, 7}, {0}
    CHECK({"reduce_feature_channels_max", "", NEGATIVE, VALUES(-1)},
          {"reduce_feature_channels_argument_max", "", NEGATIVE, VALUES(1)},
          {"reduce_feature_channels_min", "", POSITIVE, VALUES(1)},
          {"reduce_feature_channels_argument_min", "", POSITIVE, VALUES(1)},
          {"reduce_feature_channels_argument_min", "", NEGATIVE, VALUES(4)},
          {"reduce_feature_channels_mean", "", POSITIVE, VALUES(3.4f)},
          {"reduce_feature_channels_max", "source_feature_channel_max_count=3 "
           "source_feature_channel_offset=4", {8, 1, 1}, {9, 9, 9, 9, -5, -6, -7, 8}, {0}, VALUES(-5)});
}

/* Choice of spec 7.14: of equals the smallest number, wherever in the slices they lie. */
static void ties_go_to_the_smallest_channel(void)
{
    CHECK({"reduce_feature_channels_argument_max", "", {6, 1, 2},
           {1, 0, 7, 5, 2, 5, 7, 1, 7, 5, 7, 5}, {0}, VALUES(1, 1)},
          {"reduce_feature_channels_argument_max", "", {7, 1, 1}, {1, 2, 3, 8, 8, 0, 8}, {0}, VALUES(3)},
          {"reduce_feature_channels_argument_min", "", {6, 1, 1}, {3, 3, 3, 1, 2, 1}, {0}, VALUES(3)},
          {"reduce_feature_channels_argument_min", "", {6, 1, 1}, {4, 4, 4, 4, 4, 4}, {0}, VALUES(0)},
          {"reduce_feature_channels_argument_max", "", {6, 1, 1}, {4, 5, 4, 6, 6, 4}, {0}, VALUES(3)});
}

static void the_first_not_a_number_wins(void)
{
    CHECK({"reduce_row_max", "", {1, 1, 4}, {1, NAN, 9, 2}, {0}, VALUES(NAN)},
          {"reduce_column_min", "", {1, 4, 1}, {1, NAN, -9, 2}, {0}, VALUES(NAN)},
          {"reduce_feature_channels_max", "", {6, 1, 1}, {1, 2, 9, 8, NAN, NAN}, {0}, VALUES(NAN)},
          {"reduce_feature_channels_argument_max", "", {7, 1, 1}, {1, 2, 9, 8, 3, NAN, NAN}, {0}, VALUES(5)},
          {"reduce_feature_channels_argument_min", "", {7, 1, 1}, {1, 2, NAN, 8, NAN, 0, 0}, {0}, VALUES(2)});
}

/* The clip rectangle of the source takes the place of the offset, and only its part inside
 * counts. */
static void the_source_can_be_clipped(void)
{
#define FROM(X, Y) "clip_rect_source_origin_x=" #X " clip_rect_source_origin_y=" #Y " "
    CHECK({"reduce_row_sum", FROM(1, 0) "clip_rect_source_size_width=9", SIX, VALUES(1, -1, 50, 110)},
          {"reduce_row_sum", FROM(1, 1), SIX, VALUES(-1, 110)},
          {"reduce_row_mean", FROM(0, 1) "clip_rect_source_size_width=2", SIX, VALUES(0.5f, 45)},
          {"reduce_column_mean", FROM(2, 1), SIX, VALUES(-6, 60)},
          {"reduce_feature_channels_max", FROM(1, 0) "clip_rect_source_size_height=1", SIX,
           VALUES(20, 30)});
}

static void gradients_of_extremes_go_to_the_first(void)
{
    static const struct gradient_case cases[] = {
        {"reduce_row_max_gradient", {1, 2, 4}, {1, 7, 7, 2, /**/ -3, -1, -2, -1}, {5, 10},
         {0, 5, 0, 0, /**/ 0, 10, 0, 0}},
        {"reduce_row_min_gradient", {1, 2, 4}, {1, 7, 1, 2, /**/ -3, -1, -3, -3}, {5, 10},
         {5, 0, 0, 0, /**/ 10, 0, 0, 0}},
        {"reduce_column_max_gradient", {2, 3, 1}, {4, 6, 6, /**/ 0, 0, 0}, {5, 10},
         {0, 5, 0, /**/ 10, 0, 0}},
        {"reduce_column_min_gradient", {2, 3, 1}, {4, 3, 6, /**/ 3, 2, 2}, {5, 10},
         {0, 5, 0, /**/ 0, 10, 0}},
        {"reduce_feature_channels_max_gradient", {6, 1, 2}, {1, 9, 2, 9, 8, 0, 8, 1, 3, 2, 8, 3}, {5, 10},
         {0, 10, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}},
        {"reduce_feature_channels_min_gradient", {6, 1, 1}, {3, 3, 3, 1, 2, 1}, {5}, {0, 0, 0, 5, 0, 0}},
        {"reduce_row_min_gradient", {1, 1, 4}, {1, NAN, 0, NAN}, {5}, {0, 5, 0, 0}},
        {"reduce_column_max_gradient", {1, 4, 1}, {9, 1, NAN, NAN}, {5}, {0, 0, 5, 0}},
        {"reduce_feature_channels_max_gradient", {6, 1, 1}, {1, 2, 9, 8, NAN, NAN}, {5},
         {0, 0, 0, 0, 5, 0}},
        {"reduce_row_max_gradient", {1, 1, 3}, {1, 2, 3}, {NAN}, {0, 0, NAN}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_gradient(&cases[i]);
}

static void channels_are_weighted(void)
{
#define WEIGHTED {5, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {0.5f, 0, 2, 0, 0, 0, -1, 0, 3, 0}
    CHECK({"reduce_feature_channels_and_weights_sum", "", WEIGHTED, VALUES(26.5f, 0)},
          {"reduce_feature_channels_and_weights_mean", "", WEIGHTED, VALUES(5.3f, 0)},
          {"reduce_feature_channels_and_weights_sum", "do_weighted_sum_by_non_zero_weights=1", WEIGHTED,
           VALUES(26.5f / 4, 0)},
          {"reduce_feature_channels_and_weights_sum",
           "primary_source_clip_rect_origin_x=1 secondary_source_clip_rect_size_width=1", WEIGHTED,
           VALUES(1 + 8 - 8 + 30)});
}
/* clang-format on */

static glcnn_kernel *make(glcnn_status (*create)(glcnn_device *, glcnn_kernel **))
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(create(device, &kernel));
    return kernel;
}

/* 2048 numbers near 1000, whose sum added up one by one would lose the last three digits. */
static void long_rows_keep_their_precision(void)
{
    enum { WIDTH = 2048 };
    static float values[WIDTH];
    glcnn_kernel *kernel = make(glcnn_reduce_row_mean_create);
    glcnn_image *source = make_image(1, 1, 1, WIDTH), *result = make_image(1, 1, 1, 1);
    double sum = 0;
    uint32_t seed = 7;
    for (int i = 0; i < WIDTH; i++)
        sum += (double)(values[i] = 1000 + noise(&seed));
    fill_image(source, values);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    float *found = read_image(result);
    CU_ASSERT_DOUBLE_EQUAL(found[0], sum / WIDTH, 1e-6 * 1000);
    free(found);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

/* Images go by offset z, results by the clip rectangle; what is not written stays. */
static void images_and_results_are_chosen(void)
{
    static const float expected[] = {-1, -1, 3, -1};
    static const float values[] = {1, 1, 1, 1, 1, 2, 3, 4};
    glcnn_kernel *kernel = make(glcnn_reduce_row_sum_create);
    glcnn_image *source = make_image(2, 1, 2, 2), *result = make_image(1, 1, 2, 2);
    fill_image(source, values);
    fill_constant(result, -1);
    glcnn_kernel_properties(kernel)->primary.offset.z = 1;
    glcnn_kernel_properties(kernel)->clip_rect =
        (struct glcnn_region){.origin = {0, 1, 0}, .size = {1, 1, 1}};
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    CU_ASSERT(image_equals(result, expected));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void empty_rectangles_and_wrong_sizes_are_refused(void)
{
    glcnn_kernel *kernel = make(glcnn_reduce_row_sum_create);
    glcnn_image *source = make_image(1, 1, 3, 4), *result = make_image(1, 1, 3, 1);
    glcnn_image *wide = make_image(1, 1, 3, 2);
    struct glcnn_encode arguments = {.source = source, .destination = result};
    glcnn_command_buffer *commands = make_commands();
    glcnn_reduce(kernel)->clip_rect_source.origin_x = 4;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "(4, 0)"));
    glcnn_reduce(kernel)->clip_rect_source.origin_x = 3;
    GOOD(glcnn_kernel_encode(commands, kernel, &arguments));
    glcnn_reduce(kernel)->clip_rect_source.origin_y = 1;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    glcnn_reduce(kernel)->clip_rect_source.origin_y = 0;
    arguments.destination = wide;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    finish(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&wide);
    glcnn_kernel_destroy(&kernel);
}

/* A gradient follows the state of its own forward kernel. */
static void gradients_follow_their_state(void)
{
    static const float g[] = {6, 60}, expected[] = {0, 3, 3, 0, 30, 30};
    glcnn_kernel *mean = make(glcnn_reduce_row_mean_create);
    glcnn_kernel *gradient = make(glcnn_reduce_row_mean_gradient_create);
    glcnn_kernel *other = make(glcnn_reduce_row_sum_gradient_create);
    glcnn_image *source = make_image(1, 1, 2, 3), *result = make_image(1, 1, 2, 1);
    glcnn_image *to = make_image(1, 1, 2, 3);
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_encode forward = {.source = source, .destination = result};
    fill_noise(source, 3);
    fill_constant(to, 5);
    glcnn_reduce(mean)->clip_rect_source.origin_x = 1;
    GOOD_FATAL(glcnn_kernel_result_state(NULL, mean, &forward, &state));
    forward.state = state;
    GOOD(glcnn_kernel_encode(commands, mean, &forward));
    finish(&commands);
    fill_image(result, g);
    struct glcnn_encode backward = {
        .source = result, .secondary = source, .state = state, .destination = to};
    commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, other, &backward));
    GOOD(glcnn_kernel_encode(commands, gradient, &backward));
    glcnn_kernel_properties(gradient)->secondary.offset.x = 5;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, gradient, &backward));
    finish(&commands);
    CU_ASSERT(image_equals(to, expected));
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&to);
    glcnn_kernel_destroy(&mean);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&other);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(rows_columns_and_channels),
        UNIT_TEST(channels_beyond_the_last_do_not_take_part),
        UNIT_TEST(ties_go_to_the_smallest_channel),
        UNIT_TEST(the_first_not_a_number_wins),
        UNIT_TEST(gradients_of_extremes_go_to_the_first),
        UNIT_TEST(the_source_can_be_clipped),
        UNIT_TEST(channels_are_weighted),
        UNIT_TEST(long_rows_keep_their_precision),
        UNIT_TEST(images_and_results_are_chosen),
        UNIT_TEST(empty_rectangles_and_wrong_sizes_are_refused),
        UNIT_TEST(gradients_follow_their_state),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("reduce", tests, argc, argv);
}
