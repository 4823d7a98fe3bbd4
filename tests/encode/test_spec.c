/* The worked examples: small enough to be followed by hand, written here as they are known, and
 * computed by the device. Rows of pixels unless said otherwise. Larger vectors are in golden/. */
#include "tests/examples.h"
#include "tests/fixture.h"

/* ---- Padding ---- */

/* Source size, window, stride; size and offset for valid, same and full with the remainder at the
 * top left, then the offset with it at the bottom right. */
struct padding_row {
    uint32_t source, window, stride;
    struct {
        uint32_t size;
        int32_t top_left, bottom_right;
    } of[3];
};

static const struct padding_row padding_rows[] = {
    {8, 3, 1, {{6, 1, 1}, {8, 0, 0}, {10, -1, -1}}}, {8, 3, 2, {{3, 1, 1}, {4, 0, 1}, {5, -1, 0}}},
    {7, 3, 2, {{3, 1, 1}, {4, 0, 0}, {5, -1, -1}}},  {8, 2, 2, {{4, 1, 1}, {4, 1, 1}, {5, 0, 0}}},
    {7, 2, 2, {{3, 1, 1}, {4, 0, 1}, {4, 0, 1}}},    {8, 5, 3, {{2, 2, 2}, {3, 0, 1}, {4, -1, -1}}},
    {8, 3, 3, {{2, 1, 2}, {3, 0, 1}, {4, -1, -1}}},  {5, 4, 1, {{2, 2, 2}, {5, 0, 1}, {8, -1, -1}}},
    {10, 2, 3, {{3, 1, 2}, {4, 0, 1}, {4, 0, 1}}},
};

static void check_padding(const struct padding_row *row, uint32_t method, bool vertical,
                          uint32_t size, int32_t offset)
{
    uint32_t found_size = 0;
    int32_t found_offset = 99;
    CU_ASSERT_EQUAL(glcnn_padding_resolve(method, vertical, row->source, row->window, row->stride,
                                          &found_size, &found_offset),
                    GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(found_size, size);
    CU_ASSERT_EQUAL(found_offset, offset);
}

static void padding_makes_the_sizes_and_offsets_of_the_table(void)
{
    static const uint32_t sizes[] = {GLCNN_PADDING_SIZE_VALID_ONLY, GLCNN_PADDING_SIZE_SAME,
                                     GLCNN_PADDING_SIZE_FULL};
    for (size_t i = 0; i < sizeof padding_rows / sizeof *padding_rows; i++)
        for (int s = 0; s < 3; s++) {
            const struct padding_row *row = &padding_rows[i];
            int32_t first = row->of[s].top_left, last = row->of[s].bottom_right;
            for (int vertical = 0; vertical < 2; vertical++) {
                uint32_t size = row->of[s].size;
                uint32_t along = vertical ? GLCNN_PADDING_REMAINDER_TO_BOTTOM_LEFT
                                          : GLCNN_PADDING_REMAINDER_TO_TOP_RIGHT;
                uint32_t across = GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT & ~along;
                check_padding(row, sizes[s], vertical, size, first);
                check_padding(row, sizes[s] | across, vertical, size, first);
                check_padding(row, sizes[s] | along, vertical, size, last);
                check_padding(row, sizes[s] | along | across, vertical, size, last);
            }
        }
}

/* ---- Kernels ---- */

/* clang-format off */
/* ---- Pooling: windows of three pixels with stride 2 around pixels 0, 2 and 4 ---- */

#define THREE "kernel_width=3 stride_in_pixels_x=2 offset_x=0 destination_width=3 destination_height=1 "
#define POOLING(KERNEL, SETTINGS, X, Y, DX)                                                        \
    {KERNEL, THREE SETTINGS, {X}, {Y}},                                                            \
    {KERNEL "_gradient", THREE SETTINGS, {G(1, 10, 100), X}, {DX}}
#define ONE_TO_FIVE IMAGE(1, 2, 3, 4, 5)

static const struct example poolings[] = {
    POOLING("pooling_average", "edge_mode=zero", ONE_TO_FIVE, RESULT(1, 3, 3),
            GRADIENT(0.333333f, 3.666667f, 3.333333f, 36.666667f, 33.333333f)),
    POOLING("pooling_average", "edge_mode=clamp", ONE_TO_FIVE, RESULT(1.5f, 3, 4.5f),
            GRADIENT(0.5f, 3.833333f, 3.333333f, 53.333333f, 50)),
    POOLING("pooling_average", "edge_mode=clamp zero_pad_size_x=1", ONE_TO_FIVE, RESULT(1, 3, 3),
            GRADIENT(0.333333f, 3.666667f, 3.333333f, 36.666667f, 33.333333f)),
    POOLING("pooling_max", "edge_mode=clamp", ONE_TO_FIVE, RESULT(2, 4, 5),
            GRADIENT(0, 1, 0, 10, 100)),
    POOLING("pooling_l2_norm", "edge_mode=zero", ONE_TO_FIVE,
            RESULT(2.236068f, 5.385165f, 6.403124f),
            GRADIENT(0.447214f, 4.608334f, 5.570860f, 69.897318f, 78.086881f)),
    POOLING("pooling_l2_norm", "edge_mode=clamp", ONE_TO_FIVE,
            RESULT(2.449490f, 5.385165f, 8.124038f),
            GRADIENT(0.816497f, 4.530403f, 5.570860f, 56.664410f, 123.091491f)),
    POOLING("pooling_l2_norm", "edge_mode=zero", IMAGE(0, 0, 0, 0, 0), RESULT(0, 0, 0),
            GRADIENT(0, 0, 0, 0, 0)),
    /* A zero outside the image wins over negative values and takes the gradient with it. */
    POOLING("pooling_max", "edge_mode=zero", IMAGE(-3, -1, -1, -2, -5), RESULT(0, -1, 0),
            GRADIENT(0, 10, 0, 0, 0)),
    /* A tie goes to the first. */
    POOLING("pooling_max", "edge_mode=clamp", IMAGE(-3, -1, -1, -2, -5), RESULT(-1, -1, -2),
            GRADIENT(0, 11, 0, 100, 0)),
    {0}};

#define SPACED "kernel_width=2 dilation_rate_x=3 offset_x=0 destination_width=6 destination_height=1"
#define SIX IMAGE(1, 9, 2, 8, 3, 7)

static const struct example dilated_poolings[] = {
    {"dilated_pooling_max", SPACED, {SIX}, {RESULT(9, 2, 8, 9, 7, 8)}},
    {"dilated_pooling_max_gradient", SPACED, {G(1, 2, 4, 8, 16, 32), SIX},
     {GRADIENT(0, 9, 2, 36, 0, 16)}},
    {0}};

/* ---- Convolution of 1 2 3 4 5 with a bias of 0.5 ---- */

#define HALF VECTOR("biases", 0.5f)
#define CONVOLUTION(SETTINGS, W, Y, GRADIENT_IN, DX, DW, DB)                                       \
    {"convolution", SETTINGS " destination_height=1", {ONE_TO_FIVE, W, HALF}, {Y}},                \
    {"convolution_gradient", SETTINGS " destination_height=1", {GRADIENT_IN, ONE_TO_FIVE, W},      \
     {DX, DW, DB}}

static const struct example convolutions[] = {
    CONVOLUTION("offset_x=0 destination_width=5", TAPS(1, 0, -1),
                RESULT(-1.5f, -1.5f, -1.5f, -1.5f, 4.5f), G(1, 1, 1, 1, 1), GRADIENT(1, 0, 0, 0, -1),
                FOR_TAPS(10, 15, 14), FOR_BIAS(5)),
    CONVOLUTION("offset_x=0 stride_in_pixels_x=2 destination_width=3", TAPS(1, 0, -1),
                RESULT(-1.5f, -1.5f, 4.5f), G(1, 10, 100), GRADIENT(0, 9, 0, 90, 0),
                FOR_TAPS(420, 531, 42), FOR_BIAS(111)),
    CONVOLUTION("offset_x=1 destination_width=4", TAPS(1, 2), RESULT(5.5f, 8.5f, 11.5f, 14.5f),
                G(1, 10, 100, 1000), GRADIENT(1, 12, 120, 1200, 2000), FOR_TAPS(4321, 5432),
                FOR_BIAS(1111)),
    CONVOLUTION("offset_x=2 dilation_rate_x=2 destination_width=1", TAPS(1, 2, 3), RESULT(22.5f),
                G(1), GRADIENT(1, 0, 2, 0, 3), FOR_TAPS(1, 3, 5), FOR_BIAS(1)),
    CONVOLUTION("offset_x=0 dilation_rate_x=2 destination_width=5", TAPS(1, 2, 3),
                RESULT(11.5f, 16.5f, 22.5f, 10.5f, 13.5f), G(1, 1, 1, 1, 1),
                GRADIENT(3, 3, 6, 5, 5), FOR_TAPS(6, 15, 12), FOR_BIAS(5)),
    {0}};

/* ---- One channel normalised over four pixels ---- */

#define FOUR IMAGE(1, 2, 3, 6)
#define TWO_PAIRS(NAME, ...) {NAME, BLOCK, OF(__VA_ARGS__), {2, 1, 1, 2}}
#define GAMMA_BETA VECTOR("gamma", 2), VECTOR("beta", 0.5f)

static const struct example normalisations[] = {
    {"batch_normalization_statistics", "", {FOUR},
     {VECTOR("mean", 3), VECTOR("variance", 3.5f)}},
    {"batch_normalization", "epsilon=0", {FOUR, GAMMA_BETA},
     {RESULT(-1.638090f, -0.569045f, 0.5f, 3.707135f)}},
    {"batch_normalization_statistics_gradient", "epsilon=0", {G(1, 0, -1, 2), FOUR, GAMMA_BETA},
     {VECTOR("gradient_for_gamma", 2.138090f), VECTOR("gradient_for_beta", 2)}},
    {"batch_normalization_gradient", "epsilon=0", {G(1, 0, -1, 2), FOUR, GAMMA_BETA},
     {GRADIENT(1.145405f, -0.229081f, -1.603567f, 0.687243f)}},
    /* Mean 0, variance 1, sums of g and g x 4 and -4: g - (4 - 4 x) / 4 over both images. */
    {"batch_normalization_gradient", "epsilon=0",
     {TWO_PAIRS("source_gradient", 4, 0, 0, 0), TWO_PAIRS("source_image", -1, 1, -1, 1)},
     {TWO_PAIRS("destination_gradient", 2, 0, -2, 0)}},
    {0}};

/* ---- One pixel of three channels ---- */

#define ONE_TWO_THREE PIXEL("source_image", 1, 2, 3)

static const struct example soft_maxes[] = {
    {"soft_max", "", {ONE_TWO_THREE}, {PIXEL("destination_image", 0.090031f, 0.244728f, 0.665241f)}},
    {"soft_max_gradient", "",
     {PIXEL("source_gradient", 1, 0, 0), PIXEL("source_image", 0.09003057f, 0.24472847f, 0.66524096f)},
     {PIXEL("destination_gradient", 0.081925f, -0.022033f, -0.059892f)}},
    {"log_soft_max", "", {ONE_TWO_THREE},
     {PIXEL("destination_image", -2.407606f, -1.407606f, -0.407606f)}},
    {"log_soft_max_gradient", "",
     {PIXEL("source_gradient", 1, 0, 0), PIXEL("source_image", -2.40760596f, -1.40760596f, -0.40760596f)},
     {PIXEL("destination_gradient", 0.909969f, -0.244728f, -0.665241f)}},
    {"loss", "loss_type=soft_max_cross_entropy reduction_type=sum",
     {ONE_TWO_THREE, PIXEL("labels", 0, 0, 1)},
     {VECTOR("loss", 0.407606f),
      PIXEL("destination_gradient", 0.090031f, 0.244728f, -0.334759f)}},
    {0}};

/* ---- One weight of 1, gradients 0.5 and -0.25 ---- */

struct descent {
    const char *kernel, *settings, *states[2];
    float after[2];
};

static const struct descent descents[] = {
    {"optimizer_stochastic_gradient_descent", "learning_rate=0.1 momentum_scale=0.9",
     {"momentum"}, {0.95f, 0.93f}},
    {"optimizer_stochastic_gradient_descent",
     "learning_rate=0.1 momentum_scale=0.9 use_nesterov_momentum=1", {"momentum"}, {0.905f, 0.912f}},
    {"optimizer_rms_prop", "learning_rate=0.1", {"sum_of_squares"}, {0.683772f, 0.831214f}},
    {"optimizer_adam", "learning_rate=0.1 time_step=", {"first_moment", "second_moment"},
     {0.900000063f, 0.873366374f}},
};

/* A gradient of 3 for a weight of 2 becomes 0.7: clipped to 1, halved, and 0.2 added. */
static const struct example preparations[] = {
    {"optimizer_stochastic_gradient_descent",
     "learning_rate=1 apply_gradient_clipping=1 gradient_clip_min=-1 gradient_clip_max=1 "
     "gradient_rescale=0.5 regularization_type=l2 regularization_scale=0.1",
     {VECTOR("gradient", 3), VECTOR("values", 2)}, {VECTOR("result", 1.3f)}},
    {0}};
/* clang-format on */

static void take(struct vector *to, const struct glcnn_array *outputs, size_t count,
                 const char *name)
{
    const struct glcnn_array *array = example_output(outputs, count, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(array);
    to->values[0] = array->data[0];
}

static void check_descent(const struct descent *d)
{
    struct vector inputs[EXAMPLE_ARRAYS] = {{"values", ROW, 1, {1}},
                                            {"gradient", ROW, 1, {0.5f}},
                                            {d->states[0], ROW, 1, {0}},
                                            {d->states[1], ROW, 1, {0}}};
    for (int step = 0; step < 2; step++) {
        struct vector wanted = {"result", ROW, 1, {d->after[step]}};
        bool counts = d->settings[strlen(d->settings) - 1] == '=';
        char settings[256];
        size_t count = 0;
        snprintf(settings, sizeof settings, "%s%s", d->settings, !counts ? "" : step ? "1" : "0");
        struct glcnn_array *outputs = example_run(d->kernel, settings, inputs, &count);
        CU_ASSERT_PTR_NOT_NULL_FATAL(outputs);
        example_compare(d->kernel, &wanted, example_output(outputs, count, "result"));
        take(&inputs[0], outputs, count, "result");
        for (int i = 0; i < 2 && d->states[i]; i++)
            take(&inputs[2 + i], outputs, count, d->states[i]);
        inputs[1].values[0] = -0.25f;
        glcnn_run_destroy(outputs);
    }
}

static void pooling_and_its_gradients(void)
{
    examples_check(poolings);
}

static void dilated_pooling_and_its_gradient(void)
{
    examples_check(dilated_poolings);
}

static void convolution_and_its_gradients(void)
{
    examples_check(convolutions);
}

static void batch_normalisation_and_its_gradients(void)
{
    examples_check(normalisations);
}

static void soft_max_its_gradients_and_its_loss(void)
{
    examples_check(soft_maxes);
}

static void optimizers_step_twice(void)
{
    for (size_t i = 0; i < sizeof descents / sizeof *descents; i++)
        check_descent(&descents[i]);
}

static void gradients_are_clipped_then_rescaled_then_regularised(void)
{
    examples_check(preparations);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(padding_makes_the_sizes_and_offsets_of_the_table),
        UNIT_TEST(pooling_and_its_gradients),
        UNIT_TEST(dilated_pooling_and_its_gradient),
        UNIT_TEST(convolution_and_its_gradients),
        UNIT_TEST(batch_normalisation_and_its_gradients),
        UNIT_TEST(soft_max_its_gradients_and_its_loss),
        UNIT_TEST(optimizers_step_twice),
        UNIT_TEST(gradients_are_clipped_then_rescaled_then_regularised),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("spec", tests, argc, argv);
}
