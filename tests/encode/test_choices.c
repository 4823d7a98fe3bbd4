/* The choices made where MPS is silent, contradictory or plainly mistyped: one test for each row of
 * spec 12, named by its number, on values small enough to be followed by hand. Each picks values
 * for which another reading would give another result. Two rows speak of the graph layer as well:
 * here is what a single kernel does about them.
 *
 *   32   a graph takes one read of a temporary source, as here an encode does
 *   33   pooling nodes of a graph have the padding that kernels have
 *
 * Rows 43 and 44 are in test_crop_and_resize, 45 to 51 in test_yolo_loss.
 */
#include <float.h>
#include <math.h>

#include "tests/examples.h"
#include "tests/fixture.h"

/* clang-format off */
#define CHOICE(NAME, ...)                                                                          \
    static void NAME(void)                                                                         \
    {                                                                                              \
        static const struct example examples[] = {__VA_ARGS__, {0}};                               \
        examples_check(examples);                                                          \
    }
#define SQUARE(NAME, ...) {NAME, BLOCK, OF(__VA_ARGS__), {1, 1, 2, 2}}

/* ---- Pooling ---- */

#define TWO_BY_TWO "kernel_width=2 kernel_height=2 padding=valid"

/* Rows come first: of two equals the one above wins, though it lies further right. */
CHOICE(choice_01_max_pool_ties,
    {"pooling_max_gradient", TWO_BY_TWO, {G(8), SQUARE("source_image", 5, 5, 5, 5)},
     {SQUARE("destination_gradient", 8, 0, 0, 0)}},
    {"pooling_max_gradient", TWO_BY_TWO, {G(8), SQUARE("source_image", 1, 5, 5, 5)},
     {SQUARE("destination_gradient", 0, 8, 0, 0)}},
    {"dilated_pooling_max_gradient", TWO_BY_TWO, {G(8), SQUARE("source_image", 1, 5, 5, 5)},
     {SQUARE("destination_gradient", 0, 8, 0, 0)}})

CHOICE(choice_02_l2_of_nothing_but_zeros_has_gradient_0,
    {"pooling_l2_norm_gradient", "kernel_width=2 stride_in_pixels_x=2 padding=valid",
     {G(8, 10), IMAGE(0, 0, 3, 4)}, {GRADIENT(0, 0, 6, 8)}})

/* A window of four taps around the only pixel reads it four times. */
#define ONE_PIXEL "kernel_width=2 kernel_height=2 offset_x=0 offset_y=0 edge_mode=clamp " \
                  "destination_width=1 destination_height=1"
CHOICE(choice_03_l2_and_max_repeat_the_edge,
    {"pooling_l2_norm", ONE_PIXEL, {IMAGE(3)}, {RESULT(6)}},
    {"pooling_l2_norm_gradient", ONE_PIXEL, {G(5), IMAGE(3)}, {GRADIENT(10)}},
    {"pooling_max", ONE_PIXEL, {IMAGE(-3)}, {RESULT(-3)}},
    {"pooling_max_gradient", ONE_PIXEL, {G(5), IMAGE(-3)}, {GRADIENT(5)}})

/* Taps at X - 2 and X + 1: what lies outside is the 9 of the edge, not left out. */
#define SPACED "kernel_width=2 dilation_rate_x=3 offset_x=0 edge_mode=clamp destination_width=3 " \
               "destination_height=1"
CHOICE(choice_04_dilated_max_repeats_the_edge,
    {"dilated_pooling_max", SPACED, {IMAGE(9, 1, 2)}, {RESULT(9, 9, 9)}},
    {"dilated_pooling_max_gradient", SPACED, {G(1, 10, 100), IMAGE(9, 1, 2)},
     {GRADIENT(111, 0, 0)}})

/* The first window holds a zero that counts and a pixel that does not, or nothing at all. */
#define BESIDE "kernel_width=2 offset_x=-1 edge_mode=clamp destination_width=3 " \
               "destination_height=1 zero_pad_size_x="
CHOICE(choice_05_an_average_of_no_pixel_is_0,
    {"pooling_average", BESIDE "1", {IMAGE(4, 8)}, {RESULT(0, 2, 6)}},
    {"pooling_average", BESIDE "0", {IMAGE(4, 8)}, {RESULT(0, 4, 6)}},
    {"pooling_average_gradient", BESIDE "1", {G(100, 2, 4), IMAGE(4, 8)}, {GRADIENT(3, 2)}},
    {"pooling_average_gradient", BESIDE "0", {G(100, 2, 4), IMAGE(4, 8)}, {GRADIENT(4, 2)}})
/* clang-format on */

static glcnn_image *row_of(uint32_t width, const float *values)
{
    if (values)
        return image_with(1, 1, 1, width, values);
    glcnn_image *image = make_image(1, 1, 1, width);
    fill_constant(image, -1);
    return image;
}

static void encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
}

/* Encodes and compares the destination; gives up the images. */
static void check_encode(glcnn_kernel *kernel, struct glcnn_encode *arguments,
                         const float *expected)
{
    encode(kernel, arguments);
    CU_ASSERT_TRUE(image_equals(arguments->destination, expected));
    glcnn_image_destroy(&arguments->source);
    glcnn_image_destroy(&arguments->secondary);
    glcnn_image_destroy(&arguments->destination);
}

/* By hand the first pixel written is the first of the image that the first window holds: pixel 2
 * for windows 2..3 and 4..5, pixel 0 for -1..0 and 1..2. By its state every pixel is written. */
static void choice_06_pooling_gradients_by_hand_start_at_the_first_window(void)
{
    static const struct example with_state[] = {
        {"pooling_average_gradient",
         "kernel_width=2 stride_in_pixels_x=2 offset_x=3 destination_width=2 destination_height=1",
         {G(10, 20), IMAGE(0, 0, 0, 0, 0, 0)},
         {GRADIENT(0, 0, 5, 5, 10, 10)}},
        {0}};
    static const struct {
        int32_t offset;
        float expected[4];
    } rows[] = {{3, {5, 5, 10, 10}}, {0, {5, 10, 10, 0}}};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 2, 1, 2, 1, &kernel));
    for (int i = 0; i < 2; i++) {
        glcnn_kernel_properties(kernel)->secondary.offset.x = rows[i].offset;
        check_encode(kernel,
                     &(struct glcnn_encode){.source = row_of(2, (const float[]){10, 20}),
                                            .secondary = row_of(6, NULL),
                                            .destination = row_of(4, NULL)},
                     rows[i].expected);
    }
    glcnn_kernel_destroy(&kernel);
    examples_check(with_state);
}

/* ---- Padding ---- */

static void check_offset(uint32_t method, uint32_t stride, int32_t expected)
{
    uint32_t size = 0;
    int32_t offset = 99;
    GOOD(glcnn_padding_resolve(method, false, 8, 3, stride, &size, &offset));
    CU_ASSERT_EQUAL(offset, expected);
}

/* Eight pixels, a window of three: with stride 1 two pixels are missing for the same size, with
 * stride 3 two are left over for valid sizes. Top left puts them all in front. */
static void choice_07_alignment(void)
{
    check_offset(GLCNN_PADDING_SIZE_SAME | GLCNN_PADDING_ALIGN_TOP_LEFT, 1, -1);
    check_offset(GLCNN_PADDING_SIZE_SAME | GLCNN_PADDING_ALIGN_BOTTOM_RIGHT, 1, 1);
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY | GLCNN_PADDING_ALIGN_TOP_LEFT, 3, 3);
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY | GLCNN_PADDING_ALIGN_BOTTOM_RIGHT, 3, 1);
}

/* Halves of what is left over are cut towards zero: (-2 + 1) / 2 is 0 and (-1 + 0) / 2 is 0. */
static void choice_08_valid_and_centred_leaves_pixels_on_both_sides(void)
{
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY, 3, 1);
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY | GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT, 3, 2);
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY, 2, 1);
    check_offset(GLCNN_PADDING_SIZE_VALID_ONLY | GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT, 2, 1);
}

/* ---- Convolution ---- */

static glcnn_kernel *make_convolution(bool gradient, uint32_t width, uint32_t dilation)
{
    const struct glcnn_convolution_descriptor descriptor = {width, 1, .input_feature_channels = 1,
                                                            .output_feature_channels = 1,
                                                            .dilation_rate_x = dilation};
    const struct glcnn_convolution_weights weights = {(const float[]){2, 2}, NULL};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL((gradient ? glcnn_convolution_gradient_create
                         : glcnn_convolution_create)(device, &descriptor, &weights, &kernel));
    return kernel;
}

static glcnn_state *make_state(glcnn_kernel *kernel, glcnn_image *source)
{
    glcnn_state *state = NULL;
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, kernel, &(struct glcnn_encode){.source = source}, &state));
    return state;
}

/* The state that the kernel leaves when it makes a row of `width` pixels. */
static glcnn_state *leave_state(glcnn_kernel *kernel, glcnn_image *source, uint32_t width)
{
    struct glcnn_encode arguments = {
        .source = source, .state = make_state(kernel, source), .destination = row_of(width, NULL)};
    encode(kernel, &arguments);
    glcnn_image_destroy(&arguments.destination);
    return arguments.state;
}

static float first_of(const glcnn_state *state, const char *name)
{
    float value = NAN;
    glcnn_buffer *vector = glcnn_state_vector(state, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(vector);
    GOOD(glcnn_buffer_read(vector, 0, sizeof value, &value));
    return value;
}

/* Two taps three pixels apart around X - 1/2 lie at X - 2 and X + 1. The gradient's secondary
 * offset is the forward offset as it is. */
static void choice_09_windows_of_the_weight_gradient(void)
{
    static const struct example taps[] = {
        {"convolution_gradient",
         "kernel_width=2 dilation_rate_x=3 offset_x=0 destination_width=4 destination_height=1",
         {G(1, 10, 100, 1000), IMAGE(1, 2, 3, 4), TAPS(1, 1)},
         {FOR_TAPS(2100, 432)}},
        {0}};
    glcnn_kernel *forward = make_convolution(false, 2, 3), *gradient = make_convolution(true, 2, 3);
    glcnn_image *source = row_of(4, NULL);
    struct glcnn_image_descriptor result;
    glcnn_kernel_properties(forward)->primary.offset.x = 5;
    glcnn_state *state = leave_state(forward, source, 4);
    GOOD(glcnn_kernel_prepare_destination(
        gradient, &(struct glcnn_encode){.source = source, .secondary = source, .state = state},
        &result));
    CU_ASSERT_EQUAL(glcnn_kernel_properties(gradient)->secondary.offset.x, 5);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
    examples_check(taps);
}

/* Each encode adds to a state that starts at 0: 1*1 + 10*2 = 21 every time. */
static void choice_10_weight_gradients_add_up(void)
{
    glcnn_kernel *forward = make_convolution(false, 1, 1), *gradient = make_convolution(true, 1, 1);
    glcnn_image *source = row_of(2, (const float[]){1, 2});
    struct glcnn_encode arguments = {.source = row_of(2, (const float[]){1, 10}),
                                     .secondary = source,
                                     .state = leave_state(forward, source, 2),
                                     .destination = row_of(2, NULL)};
    glcnn_command_buffer *commands = make_commands();
    for (int i = 0; i < 3; i++)
        GOOD(glcnn_kernel_encode(commands, gradient, &arguments));
    finish(&commands);
    CU_ASSERT_EQUAL(first_of(arguments.state, "gradient_for_weights"), 63);
    CU_ASSERT_EQUAL(first_of(arguments.state, "gradient_for_biases"), 33);
    glcnn_state_destroy(&arguments.state);
    glcnn_image_destroy(&arguments.source);
    glcnn_image_destroy(&arguments.secondary);
    glcnn_image_destroy(&arguments.destination);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
}

/* Weight i is 2^i in the order row, column, channel. The source is 1 at row 0, column 1, channel 0
 * (weight 2) and at row 0, column 0, channel 1 (weight 1). */
static void choice_11_fully_connected_weights_go_by_row_column_channel(void)
{
    const struct glcnn_convolution_descriptor descriptor = {2, 2, 2, 1};
    const struct glcnn_convolution_weights weights = {(const float[]){1, 2, 4, 8, 16, 32, 64, 128},
                                                      NULL};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_fully_connected_create(device, &descriptor, &weights, &kernel));
    struct glcnn_encode arguments = {.source = make_image(1, 2, 2, 2),
                                     .destination = row_of(1, NULL)};
    fill_image(arguments.source, (const float[]){0, 1, 0, 0, /**/ 1, 0, 0, 0});
    check_encode(kernel, &arguments, (const float[]){4 + 2});
    glcnn_kernel_destroy(&kernel);
}

/* ---- Neurons ---- */

/* clang-format off */
/* x / 4 + 1/2 is 0 at -2 and 1 at 2: the slope is passed on there and between. */
CHOICE(choice_12_hard_sigmoid_region,
    {"neuron_gradient", "neuron_type=hard_sigmoid neuron_a=0.25 neuron_b=0.5",
     {G(4, 4, 4, 4, 4, 4), IMAGE(-3, -2, -1, 0.5f, 2, 3)}, {GRADIENT(0, 1, 1, 1, 1, 0)}})

CHOICE(choice_13_relun_is_flat_from_b_on,
    {"neuron_gradient", "neuron_type=relun neuron_a=0.5 neuron_b=6",
     {G(4, 4, 4, 4), IMAGE(-1, 5, 6, 7)}, {GRADIENT(2, 4, 0, 0)}})

#define AT_ZERO(TYPE, ...)                                                                         \
    {"neuron_gradient", "neuron_type=" TYPE " neuron_a=0.25",                                      \
     {G(4, 4), IMAGE(0, -0.0f), __VA_ARGS__}, {GRADIENT(4, 4)}}
CHOICE(choice_14_slopes_at_0_are_those_of_the_right,
    AT_ZERO("relu", {0}), AT_ZERO("elu", {0}), AT_ZERO("prelu", VECTOR("neuron_data", 0.25f)))

/* ---- Normalisation ---- */

/* Cross-channel: L = 2, dX = 1/2 - 2*(5/5)*1*1/4. Spatial, T = 3 4 3: the middle pixel has
 * 1/4 - 2 (1/9 + 1/16 + 1/9). Local contrast of (0, 2): mean 1, T = 4,
 * dX = 1/2 - 1/2 (1/2 + 1/8). */
CHOICE(choice_15_normalisation_gradients_are_exact,
    {"cross_channel_normalization_gradient", "alpha=5 beta=1 delta=1 kernel_size=5",
     {G(1), IMAGE(1)}, {GRADIENT(0)}},
    {"spatial_normalization_gradient", "kernel_width=3 alpha=3 beta=1 delta=1",
     {G(1, 1, 1), IMAGE(1, 1, 1)}, {GRADIENT(-2 / 144.0f, -46 / 144.0f, -2 / 144.0f)}},
    {"local_contrast_normalization_gradient", "kernel_width=2 alpha=1 beta=0.5 delta=3",
     {G(1), IMAGE(2)}, {GRADIENT(0.1875f)}})

/* The window holds the pixel and what lies left of it: 0 (mean 1, T = 3 + 1), or with clamp the 2
 * again (mean 2, T = 3 + 0). N is 2 either way. */
CHOICE(choice_16_local_contrast_counts_what_is_outside,
    {"local_contrast_normalization", "kernel_width=2 alpha=1 beta=0.5 delta=3", {IMAGE(2)},
     {RESULT(0.5f)}},
    {"local_contrast_normalization", "kernel_width=2 alpha=1 beta=0.5 delta=4 edge_mode=clamp",
     {IMAGE(2)}, {RESULT(0)}},
    {"local_contrast_normalization", "kernel_width=2 alpha=1 beta=0.5 delta=4 p0=0 edge_mode=clamp",
     {IMAGE(2)}, {RESULT(1)}})

/* (1 + 1) / 2, not / 1. */
CHOICE(choice_17_variance_is_biased,
    {"batch_normalization_statistics", "", {IMAGE(1, 3)},
     {VECTOR("mean", 2), VECTOR("variance", 1)}},
    {"instance_normalization", "epsilon=0", {IMAGE(1, 3)}, {RESULT(-1, 1)}})
/* clang-format on */

/* Also where nothing varies is the result a number. */
static void choice_18_epsilon_is_the_smallest_normal_float(void)
{
    static const char *const names[] = {"batch_normalization",
                                        "batch_normalization_statistics_gradient",
                                        "batch_normalization_gradient", "instance_normalization",
                                        "instance_normalization_gradient"};
    static const struct example flat[] = {
        {"batch_normalization", "", {IMAGE(3, 3), VECTOR("beta", 7)}, {RESULT(7, 7)}},
        {"instance_normalization", "", {IMAGE(3, 3), VECTOR("beta", 7)}, {RESULT(7, 7)}},
        {0}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        glcnn_kernel *kernel = NULL;
        double epsilon = 0;
        GOOD_FATAL(glcnn_kernel_create(device, names[i], &kernel));
        GOOD(glcnn_kernel_get(kernel, "epsilon", &epsilon));
        CU_ASSERT_EQUAL(epsilon, (double)FLT_MIN);
        glcnn_kernel_destroy(&kernel);
    }
    examples_check(flat);
}

static void collect(glcnn_kernel *statistics, glcnn_state *state, float value)
{
    glcnn_image *image = row_of(2, (const float[]){value, value});
    encode(statistics, &(struct glcnn_encode){.source = image, .state = state});
    glcnn_image_destroy(&image);
}

/* Statistics add up until they are used; the next then start afresh, without a reset. */
static void choice_19_statistics_start_afresh_once_they_were_used(void)
{
    const struct glcnn_batch_normalization_data_source source = {.number_of_feature_channels = 1};
    glcnn_kernel *statistics = NULL, *normalize = NULL;
    GOOD_FATAL(glcnn_batch_normalization_statistics_create(device, &statistics));
    GOOD_FATAL(glcnn_batch_normalization_create(device, &source, NULL, &normalize));
    glcnn_image *image = row_of(1, (const float[]){7});
    glcnn_state *state = make_state(normalize, image);
    for (int iteration = 0; iteration < 2; iteration++) {
        collect(statistics, state, 1);
        collect(statistics, state, 5);
        check_encode(normalize,
                     &(struct glcnn_encode){.source = row_of(1, (const float[]){7}),
                                            .state = state,
                                            .destination = row_of(1, NULL)},
                     (const float[]){(7 - 3) / 2.0f});
        CU_ASSERT_EQUAL(first_of(state, "mean"), 3);
    }
    collect(statistics, state, 8);
    CU_ASSERT_EQUAL(first_of(state, "mean"), 8);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&image);
    glcnn_kernel_destroy(&normalize);
    glcnn_kernel_destroy(&statistics);
}

/* ---- Losses ---- */

/* clang-format off */
#define ONE_LOSS(TYPE, Y, T, L, D)                                                                 \
    {"loss", "reduction_type=none loss_type=" TYPE, {IMAGE(Y), VECTOR("labels", T)},               \
     {VECTOR("loss", L), GRADIENT(D)}}
#define SOFT_MAX "loss_type=soft_max_cross_entropy reduction_type=sum"

/* Labels that sum to 2, then weights that differ. MPS's text: -1/2 and -1/2, then 0 and 0. */
CHOICE(choice_20_soft_max_cross_entropy_gradient_is_exact,
    {"loss", SOFT_MAX, {PIXEL("source_image", 0, 0), PIXEL("labels", 1, 1)},
     {VECTOR("loss", 1.386294361f), PIXEL("destination_gradient", 0, 0)}},
    {"loss", SOFT_MAX,
     {PIXEL("source_image", 0, 0), PIXEL("labels", 0.5f, 0.5f), PIXEL("label_weights", 1, 3)},
     {PIXEL("destination_gradient", 0.5f, -0.5f)}})

CHOICE(choice_21_hinge_labels_are_0_and_1,
    ONE_LOSS("hinge", 0.25f, 1, 0.75f, -1), ONE_LOSS("hinge", 0.25f, 0, 1.25f, 1),
    ONE_LOSS("hinge", 2, 1, 0, 0), ONE_LOSS("hinge", -2, 0, 0, 0))

CHOICE(choice_22_huber_is_of_the_difference_with_its_sign,
    ONE_LOSS("huber", 3, 1, 1.5f, 1), ONE_LOSS("huber", -1, 1, 1.5f, -1),
    ONE_LOSS("huber", 0.5f, 1, 0.125f, -0.5f))

CHOICE(choice_23_kullback_leibler_gradient_is_minus_the_label,
    ONE_LOSS("kullback_leibler_divergence", -2, 1, 2, -1),
    ONE_LOSS("kullback_leibler_divergence", -2, 0, 0, 0))

CHOICE(choice_24_weight_and_weights_image_multiply,
    {"loss", "loss_type=mean_squared_error reduction_type=none weight=2",
     {IMAGE(1, 1), VECTOR("labels", 0, 0), VECTOR("label_weights", 3, 0)},
     {VECTOR("loss", 6, 0), GRADIENT(12, 0)}})

CHOICE(choice_25_absolute_error_of_equals_has_gradient_0,
    ONE_LOSS("mean_absolute_error", 0.5f, 0.5f, 0, 0),
    ONE_LOSS("mean_absolute_error", 0.25f, 0.5f, 0.25f, -1))

/* ---- Optimizers ---- */

CHOICE(choice_26_l1_regularisation_pulls_towards_0,
    {"optimizer_stochastic_gradient_descent",
     "learning_rate=1 regularization_type=l1 regularization_scale=0.5",
     {VECTOR("values", -2, 0, 2), VECTOR("gradient", 0, 0, 0)}, {VECTOR("result", -1.5f, 0, 1.5f)}})

/* ---- Arithmetic ---- */

/* On a bound the gradient passes, beyond it nothing does. */
CHOICE(choice_27_clamp_masks_are_inclusive,
    {"add_gradient", "minimum_value=-1 maximum_value=2",
     {G(1, 2, 4, 8, 16), IMAGE(-1.5f, -1, 0, 2, 2.5f), VECTOR("secondary_image", 0, 0, 0, 0, 0)},
     {GRADIENT(0, 2, 4, 8, 0)}})

/* ---- Up-sampling ---- */

#define TWICE "scale_factor_x=2 scale_factor_y=1 "
CHOICE(choice_28_bilinear_positions_are_half_pixels,
    {"upsampling_bilinear", TWICE, {IMAGE(1, 3, 9)}, {RESULT(1, 1.5f, 2.5f, 4.5f, 7.5f, 9)}},
    {"upsampling_bilinear", TWICE "asymmetric=1", {IMAGE(1, 3, 9)}, {RESULT(1, 2, 3, 6, 9, 9)}})
/* clang-format on */

/* The gradient kernel itself is one without aligned corners, which would give 2.25 and 0.75. */
static void choice_29_bilinear_gradients_follow_the_state(void)
{
    glcnn_kernel *forward = NULL, *gradient = NULL;
    GOOD_FATAL(glcnn_upsampling_bilinear_create(device, 2, 1, true, &forward));
    GOOD_FATAL(glcnn_upsampling_bilinear_gradient_create(device, 2, 1, false, &gradient));
    glcnn_image *source = row_of(2, NULL);
    glcnn_state *state = leave_state(forward, source, 4);
    check_encode(gradient,
                 &(struct glcnn_encode){.source = row_of(4, (const float[]){0, 3, 0, 0}),
                                        .secondary = source,
                                        .state = state,
                                        .destination = row_of(2, NULL)},
                 (const float[]){2, 1});
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
}

/* ---- Concatenation, dropout ---- */

/* One channel and two: the second source starts at channel 4, what lies between is 0, and nothing
 * follows the last. */
static void choice_30_sources_of_a_concatenation_are_padded_to_four_channels(void)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_concatenation_create(device, &kernel));
    glcnn_image *first = row_of(1, (const float[]){5}), *joined = make_image(1, 6, 1, 1);
    glcnn_image *second = image_with(1, 2, 1, 1, (const float[]){6, 7});
    encode(kernel, &(struct glcnn_encode){.source = first, .destination = joined});
    glcnn_kernel_properties(kernel)->destination_feature_channel_offset = 4;
    encode(kernel, &(struct glcnn_encode){.source = second, .destination = joined});
    CU_ASSERT_TRUE(image_equals(joined, (const float[]){5, 0, 0, 0, 6, 7}));
    glcnn_kernel_properties(kernel)->destination_feature_channel_offset = 1;
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, kernel,
                                &(struct glcnn_encode){.source = second, .destination = joined}));
    finish(&commands);
    glcnn_image_destroy(&first);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&joined);
    glcnn_kernel_destroy(&kernel);
}

/* clang-format off */
/* Philox of counter 0 and key 0 is 6627e8d5 e169c58d bc57ac4c 9b00dbd8, in units of 2^32 0.399,
 * 0.881, 0.736 and 0.606: below 0.5 is the first, below 0.7 the last too. Of a word 24 bits count:
 * 0x6627e8 is below 6694888.5, which is a probability of 0.399046451. */
CHOICE(choice_31_dropout_masks_come_from_philox,
    {"dropout", "keep_probability=0.5 seed=0", {PIXEL("source_image", 7, 7, 7, 7)},
     {PIXEL("destination_image", 14, 0, 0, 0)}},
    {"dropout", "keep_probability=0.7 seed=0", {PIXEL("source_image", 7, 7, 7, 7)},
     {PIXEL("destination_image", 10, 0, 0, 10)}},
    {"dropout", "keep_probability=0.399046451 seed=0", {PIXEL("source_image", 7, 7, 7, 7)},
     {PIXEL("destination_image", 17.5418175f, 0, 0, 0)}})
/* clang-format on */

/* ---- Reads, padding, states ---- */

/* Instance normalisation reads its source in several passes. */
static void choice_32_an_encode_takes_one_read_however_many_passes_it_has(void)
{
    const struct glcnn_image_descriptor descriptor = {.width = 2};
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = NULL, *result = row_of(2, NULL);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_instance_normalization_create(device, NULL, &kernel));
    GOOD_FATAL(glcnn_temporary_image_create(commands, &descriptor, &source));
    GOOD(glcnn_image_set_read_count(source, 2));
    for (uint32_t left = 1; left + 1 > 0; left--) {
        GOOD(glcnn_kernel_encode(commands, kernel,
                                 &(struct glcnn_encode){.source = source, .destination = result}));
        CU_ASSERT_EQUAL(glcnn_image_read_count(source), left);
    }
    finish(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void check_default_padding(const struct glcnn_kernel_info *info)
{
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, "padding") == 0)
            CU_ASSERT_EQUAL(info->parameters[i].default_value, GLCNN_PADDING_SIZE_SAME);
}

/* Centred, with the remainder at the top left: of five pixels and windows of two the first is
 * pixels -1 and 0. */
static void choice_33_padding_is_same_and_centred_by_default(void)
{
    static const struct example same[] = {{"pooling_max",
                                           "kernel_width=2 stride_in_pixels_x=2",
                                           {IMAGE(1, 2, 3, 4, 5)},
                                           {RESULT(1, 3, 5)}},
                                          {0}};
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        check_default_padding(glcnn_kernel_info_at(i));
    examples_check(same);
}

/* clang-format off */
/* m = 1/2, v = 1/4, corrected rate 1: 1 - (1/2) / (1/2 + 1/2). PyTorch has 1 - 1 / (1 + 1/2). */
CHOICE(choice_34_adam_adds_epsilon_to_the_root_of_v,
    {"optimizer_adam", "learning_rate=1 beta1=0.5 beta2=0.75 epsilon=0.5",
     {VECTOR("values", 1), VECTOR("gradient", 1), VECTOR("first_moment", 0),
      VECTOR("second_moment", 0)}, {VECTOR("result", 0.5f)}})
/* clang-format on */

/* Kernels for which any of the three is true; for all others none is. */
struct traits {
    const char *kernel;
    bool reused, barrier, modified;
};

static const struct traits traits[] = {
    {"batch_normalization", true, false, false},
    {"batch_normalization_gradient", true, false, false},
    {"batch_normalization_statistics", true, true, true},
    {"batch_normalization_statistics_gradient", true, true, true},
    {"convolution", true, false, false},
    {"convolution_gradient", true, false, true},
    {"convolution_transpose", true, false, false},
    {"convolution_transpose_gradient", true, false, true},
    {"fully_connected", true, false, false},
    {"fully_connected_gradient", true, false, true},
    {"instance_normalization_gradient", false, false, true},
    {"learned_image", true, false, false},
    {"learned_image_gradient", true, false, true},
    {"neuron_slope_gradient", false, false, true},
};

static struct traits traits_of(const char *kernel)
{
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (strcmp(traits[i].kernel, kernel) == 0)
            return traits[i];
    return (struct traits){.kernel = kernel};
}

static void check_traits(const char *name)
{
    struct traits expected = traits_of(name);
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    bool good = glcnn_kernel_is_result_state_reused_across_batch(kernel) == expected.reused &&
                glcnn_kernel_append_batch_barrier(kernel) == expected.barrier &&
                glcnn_kernel_is_state_modified(kernel) == expected.modified;
    CU_ASSERT_TRUE(good);
    if (!good)
        fprintf(stderr, "\n  %s\n", name);
    glcnn_kernel_destroy(&kernel);
}

/* Backwards kernels, which MPS does not list either: a stride of 2 makes five pixels of three. */
static void choice_35_states_are_shared_and_modified_as_listed(void)
{
    static const struct example backwards[] = {
        {"convolution_transpose",
         "kernel_width=3 kernel_height=1 stride_in_pixels_x=2 output_feature_channels=1",
         {IMAGE(1, 2, 3), TAPS(1, 10, 100)},
         {RESULT(10, 201, 20, 302, 30)}},
        {0}};
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        check_traits(glcnn_kernel_info_at(i)->name);
    examples_check(backwards);
}

/* clang-format off */
/* A window beside the image, in a source with as many channels as a texel: no 1 in the fourth. */
CHOICE(choice_36_outside_is_0_in_every_channel,
    {"pooling_max", "offset_x=1 destination_width=1 destination_height=1",
     {PIXEL("source_image", 1, 2, 3, 4)}, {PIXEL("destination_image", 0, 0, 0, 0)}},
    {"slice", "offset_x=1 destination_width=1 destination_height=1",
     {PIXEL("source_image", 1, 2, 3, 4)}, {PIXEL("destination_image", 0, 0, 0, 0)}})

CHOICE(choice_37_nan_wins_in_max_pooling,
    {"pooling_max", "kernel_width=2 padding=valid", {IMAGE(1, NAN, 3, 4)}, {RESULT(NAN, NAN, 4)}},
    {"pooling_max_gradient", "kernel_width=2 padding=valid", {G(1, 2, 4), IMAGE(1, NAN, 3, 4)},
     {GRADIENT(0, 3, 0, 4)}},
    {"dilated_pooling_max", "kernel_width=2 padding=valid", {IMAGE(NAN, 1, 3)}, {RESULT(NAN, 3)}})
/* clang-format on */

/* With a primary offset of 1, pixel i of the source image meets pixel 1 + i of the gradient. */
static void choice_38_primary_offsets_are_added(void)
{
    glcnn_kernel *forward = make_convolution(false, 1, 1), *gradient = make_convolution(true, 1, 1);
    glcnn_image *source = row_of(3, (const float[]){1, 2, 3});
    glcnn_state *state = leave_state(forward, source, 3);
    glcnn_kernel_properties(gradient)->primary.offset.x = 1;
    check_encode(gradient,
                 &(struct glcnn_encode){.source = row_of(3, (const float[]){1, 10, 100}),
                                        .secondary = source,
                                        .state = state,
                                        .destination = row_of(3, NULL)},
                 (const float[]){20, 200, 0});
    CU_ASSERT_EQUAL(first_of(state, "gradient_for_weights"), 10 * 1 + 100 * 2);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
}

/* A gradient's primary source is the source gradient. */
static void choice_39_results_have_the_format_of_the_primary_source(void)
{
    static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT16,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT32};
    glcnn_kernel *forward = NULL, *gradient = NULL;
    GOOD_FATAL(glcnn_soft_max_create(device, &forward));
    GOOD_FATAL(glcnn_soft_max_gradient_create(device, &gradient));
    for (int i = 0; i < 2; i++) {
        struct glcnn_image_descriptor result;
        struct glcnn_encode arguments = {.source = make_image_of(device, formats[i], 1, 1, 1, 1),
                                         .secondary =
                                             make_image_of(device, formats[1 - i], 1, 1, 1, 1)};
        GOOD(glcnn_kernel_prepare_destination(gradient, &arguments, &result));
        CU_ASSERT_EQUAL(result.channel_format, formats[i]);
        glcnn_image_destroy(&arguments.secondary);
        GOOD(glcnn_kernel_prepare_destination(forward, &arguments, &result));
        CU_ASSERT_EQUAL(result.channel_format, formats[i]);
        glcnn_image_destroy(&arguments.source);
    }
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
}

/* Of a batch of two each state has the sums of its own image. */
static void choice_40_images_of_a_batch_have_states_of_their_own(void)
{
    glcnn_kernel *forward = NULL, *gradient = NULL, *dropout = NULL;
    struct glcnn_encode arguments[2];
    GOOD_FATAL(glcnn_instance_normalization_create(device, NULL, &forward));
    GOOD_FATAL(glcnn_instance_normalization_gradient_create(device, &gradient));
    GOOD_FATAL(glcnn_dropout_create(device, 0.5f, 0, &dropout));
    CU_ASSERT_FALSE(glcnn_kernel_is_result_state_reused_across_batch(forward));
    CU_ASSERT_FALSE(glcnn_kernel_is_result_state_reused_across_batch(dropout));
    for (int i = 0; i < 2; i++) {
        arguments[i] = (struct glcnn_encode){.source = row_of(2, (const float[]){0, 4}),
                                             .destination = row_of(2, NULL)};
        arguments[i].state = make_state(forward, arguments[i].source);
    }
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode_batch(commands, forward, arguments, 2));
    for (int i = 0; i < 2; i++) {
        arguments[i].secondary = arguments[i].source;
        arguments[i].source = row_of(2, i ? (const float[]){3, 5} : (const float[]){1, 2});
    }
    GOOD(glcnn_kernel_encode_batch(commands, gradient, arguments, 2));
    finish(&commands);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(first_of(arguments[i].state, "gradient_for_beta"), i ? 8 : 3);
        glcnn_state_destroy(&arguments[i].state);
        glcnn_image_destroy(&arguments[i].source);
        glcnn_image_destroy(&arguments[i].secondary);
        glcnn_image_destroy(&arguments[i].destination);
    }
    glcnn_kernel_destroy(&dropout);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&forward);
}

/* clang-format off */
/* The offset implies no padding, so of the second window two pixels count; then a padding of one on
 * each side, whose zeros count. Edge mode zero would give 7/3 at the first. */
CHOICE(choice_41_exclude_edges_counts_the_padding_that_the_offset_implies,
    {"pooling_average", "kernel_width=3 stride_in_pixels_x=2 padding=same remainder=bottom_right "
     "exclude_edges=1", {IMAGE(1, 2, 3, 4)}, {RESULT(2, 3.5f)}},
    {"pooling_average", "kernel_width=3 stride_in_pixels_x=2 padding=same exclude_edges=1",
     {IMAGE(1, 2, 3, 4, 5)}, {RESULT(1, 3, 3)}})

/* Windows at -1 .. 1, 1 .. 3 and 3 .. 5 of four pixels: one pixel of padding counts on each side, and
 * not the second that the last window reaches. Then as a column, and behind a window that is not made,
 * so that the first begins at 1 and implies no padding. */
#define IMPLIED "exclude_edges=1 kernel_width=3 stride_in_pixels_x=2 offset_x=0 destination_width=3 " \
                "destination_height=1"
#define COLUMN(NAME, ...) {NAME, BLOCK, OF(__VA_ARGS__), {1, 1, sizeof((float[]){__VA_ARGS__}) / 4, 1}}
CHOICE(choice_41_of_more_than_the_implied_padding_nothing_counts,
    {"pooling_average", IMPLIED, {IMAGE(1, 2, 3, 4)}, {RESULT(1, 3, 2)}},
    {"pooling_average_gradient", IMPLIED, {G(3, 6, 8), IMAGE(1, 2, 3, 4)},
     {GRADIENT(1, 3, 2, 6)}},
    {"pooling_average", "exclude_edges=1 kernel_height=3 stride_in_pixels_y=2 offset_y=0 "
     "destination_width=1 destination_height=3", {COLUMN("source_image", 1, 2, 3, 4)},
     {COLUMN("destination_image", 1, 3, 2)}},
    {"pooling_average", IMPLIED " clip_rect_origin_x=1 offset_x=2", {IMAGE(1, 2, 3, 4)},
     {RESULT(0, 3, 4)}})

/* Three pixels of two channels hold 0 .. 5 in the order of pixels, then channels; so do two rows of
 * three channels. */
CHOICE(choice_42_reshape_goes_by_row_column_channel,
    {"reshape", "reshaped_width=1 reshaped_height=2 reshaped_feature_channels=3",
     {{"source_image", BLOCK, OF(0, 2, 4, 1, 3, 5), {1, 2, 1, 3}}},
     {{"destination_image", BLOCK, OF(0, 3, 1, 4, 2, 5), {1, 3, 2, 1}}}})
/* clang-format on */

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(choice_01_max_pool_ties),
        UNIT_TEST(choice_02_l2_of_nothing_but_zeros_has_gradient_0),
        UNIT_TEST(choice_03_l2_and_max_repeat_the_edge),
        UNIT_TEST(choice_04_dilated_max_repeats_the_edge),
        UNIT_TEST(choice_05_an_average_of_no_pixel_is_0),
        UNIT_TEST(choice_06_pooling_gradients_by_hand_start_at_the_first_window),
        UNIT_TEST(choice_07_alignment),
        UNIT_TEST(choice_08_valid_and_centred_leaves_pixels_on_both_sides),
        UNIT_TEST(choice_09_windows_of_the_weight_gradient),
        UNIT_TEST(choice_10_weight_gradients_add_up),
        UNIT_TEST(choice_11_fully_connected_weights_go_by_row_column_channel),
        UNIT_TEST(choice_12_hard_sigmoid_region),
        UNIT_TEST(choice_13_relun_is_flat_from_b_on),
        UNIT_TEST(choice_14_slopes_at_0_are_those_of_the_right),
        UNIT_TEST(choice_15_normalisation_gradients_are_exact),
        UNIT_TEST(choice_16_local_contrast_counts_what_is_outside),
        UNIT_TEST(choice_17_variance_is_biased),
        UNIT_TEST(choice_18_epsilon_is_the_smallest_normal_float),
        UNIT_TEST(choice_19_statistics_start_afresh_once_they_were_used),
        UNIT_TEST(choice_20_soft_max_cross_entropy_gradient_is_exact),
        UNIT_TEST(choice_21_hinge_labels_are_0_and_1),
        UNIT_TEST(choice_22_huber_is_of_the_difference_with_its_sign),
        UNIT_TEST(choice_23_kullback_leibler_gradient_is_minus_the_label),
        UNIT_TEST(choice_24_weight_and_weights_image_multiply),
        UNIT_TEST(choice_25_absolute_error_of_equals_has_gradient_0),
        UNIT_TEST(choice_26_l1_regularisation_pulls_towards_0),
        UNIT_TEST(choice_27_clamp_masks_are_inclusive),
        UNIT_TEST(choice_28_bilinear_positions_are_half_pixels),
        UNIT_TEST(choice_29_bilinear_gradients_follow_the_state),
        UNIT_TEST(choice_30_sources_of_a_concatenation_are_padded_to_four_channels),
        UNIT_TEST(choice_31_dropout_masks_come_from_philox),
        UNIT_TEST(choice_32_an_encode_takes_one_read_however_many_passes_it_has),
        UNIT_TEST(choice_33_padding_is_same_and_centred_by_default),
        UNIT_TEST(choice_34_adam_adds_epsilon_to_the_root_of_v),
        UNIT_TEST(choice_35_states_are_shared_and_modified_as_listed),
        UNIT_TEST(choice_36_outside_is_0_in_every_channel),
        UNIT_TEST(choice_37_nan_wins_in_max_pooling),
        UNIT_TEST(choice_38_primary_offsets_are_added),
        UNIT_TEST(choice_39_results_have_the_format_of_the_primary_source),
        UNIT_TEST(choice_40_images_of_a_batch_have_states_of_their_own),
        UNIT_TEST(choice_41_exclude_edges_counts_the_padding_that_the_offset_implies),
        UNIT_TEST(choice_41_of_more_than_the_implied_padding_nothing_counts),
        UNIT_TEST(choice_42_reshape_goes_by_row_column_channel),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("choices", tests, argc, argv);
}
