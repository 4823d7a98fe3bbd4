/* Convolution where formulas give exact values: sub-pixels, and the types of weights. A folded
 * batch normalisation against one that follows the convolution. */
#include "kernels/convolution_plan.h"
#include "tests/fixture.h"

/* ---- Sub-pixels ---- */

/* out(x, y, k) = in(x, y) + 100 * k */
static glcnn_kernel *make_numbered(uint32_t outputs, uint32_t factor)
{
    float weights[64], biases[64];
    glcnn_kernel *kernel = NULL;
    for (uint32_t k = 0; k < outputs; k++) {
        weights[k] = 1;
        biases[k] = 100 * (float)k;
    }
    GOOD_FATAL(glcnn_convolution_create(
        device,
        &(struct glcnn_convolution_descriptor){.kernel_width = 1,
                                               .kernel_height = 1,
                                               .input_feature_channels = 1,
                                               .output_feature_channels = outputs,
                                               .sub_pixel_scale_factor = factor},
        &(struct glcnn_convolution_weights){.weights = weights, .biases = biases}, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

/* The value of a source that fill_numbers filled, 0 outside. */
static float number_at(const glcnn_image *source, int32_t x, int32_t y)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(source);
    bool inside = x >= 0 && y >= 0 && x < (int32_t)d->width && y < (int32_t)d->height;
    return inside ? (float)(1 + x + (int32_t)d->width * y) : 0;
}

static glcnn_image *make_numbers(uint32_t height, uint32_t width)
{
    float values[64];
    glcnn_image *image = make_image(1, 1, height, width);
    for (uint32_t i = 0; i < height * width; i++)
        values[i] = 1 + (float)i;
    fill_image(image, values);
    return image;
}

/* What the result is from the clip rectangle's corner on; -1 beyond the rectangle. */
static void check_sub_pixels(const glcnn_kernel *kernel, glcnn_image *source, glcnn_image *result,
                             uint32_t factor)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    const struct glcnn_addressing *p = glcnn_kernel_properties((glcnn_kernel *)kernel);
    const struct glcnn_region *clip = &p->clip_rect;
    float *values = read_image(result), *at = values;
    for (uint32_t c = 0; c < d->feature_channels; c++)
        for (uint32_t row = 0; row < d->height; row++)
            for (uint32_t column = 0; column < d->width; column++) {
                uint32_t x = column - clip->origin.x, y = row - clip->origin.y;
                uint32_t k = d->feature_channels * (factor * (y % factor) + x % factor) + c;
                float expected = number_at(source, (int32_t)(x / factor) + p->primary.offset.x,
                                           (int32_t)(y / factor) + p->primary.offset.y) +
                                 100 * (float)k;
                bool written = column >= clip->origin.x && row >= clip->origin.y &&
                               x < clip->size.width && y < clip->size.height;
                CU_ASSERT_EQUAL(*at++, written ? expected : -1);
            }
    free(values);
}

static void sub_pixels_are_channels(void)
{
    static const uint32_t shapes[][2] = {{4, 2}, {12, 2}, {16, 2}, {9, 3}, {45, 3}, {16, 4}};
    glcnn_image *source = make_numbers(3, 5);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint32_t outputs = shapes[i][0], factor = shapes[i][1];
        glcnn_kernel *kernel = make_numbered(outputs, factor);
        glcnn_image *result = NULL;
        glcnn_command_buffer *commands = make_commands();
        GOOD_FATAL(glcnn_kernel_encode_returning(
            commands, kernel, &(struct glcnn_encode){.source = source}, &result, NULL));
        finish(&commands);
        const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
        CU_ASSERT_EQUAL(d->width, 5 * factor);
        CU_ASSERT_EQUAL(d->height, 3 * factor);
        CU_ASSERT_EQUAL(d->feature_channels, outputs / (factor * factor));
        check_sub_pixels(kernel, source, result, factor);
        glcnn_image_destroy(&result);
        glcnn_kernel_destroy(&kernel);
    }
    glcnn_image_destroy(&source);
}

static void sub_pixels_count_from_the_clip_rectangle(void)
{
    glcnn_kernel *kernel = make_numbered(27, 3);
    glcnn_image *source = make_numbers(3, 5), *result = make_image(1, 3, 9, 11);
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    p->primary.offset.x = -1;
    p->primary.offset.y = 1;
    p->clip_rect = (struct glcnn_region){{1, 2, 0}, {8, 5, 1}};
    fill_constant(result, -1);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    check_sub_pixels(kernel, source, result, 3);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void sub_pixels_have_no_gradient(void)
{
    const struct glcnn_convolution_descriptor plain = {.kernel_width = 1,
                                                       .kernel_height = 1,
                                                       .input_feature_channels = 1,
                                                       .output_feature_channels = 4};
    struct glcnn_convolution_descriptor d = plain;
    glcnn_kernel *gradient = NULL, *kernel = make_numbered(4, 2);
    glcnn_image *x = make_numbers(2, 2), *y = NULL, *dx = make_image(1, 1, 2, 2);
    glcnn_state *state = NULL;
    d.sub_pixel_scale_factor = 2;
    REFUSED(GLCNN_UNSUPPORTED, glcnn_convolution_gradient_create(device, &d, NULL, &gradient));
    REFUSED(GLCNN_UNSUPPORTED, glcnn_fully_connected_create(device, &d, NULL, &gradient));
    REFUSED(GLCNN_UNSUPPORTED, glcnn_convolution_transpose_create(device, &d, NULL, &gradient));
    GOOD_FATAL(glcnn_convolution_gradient_create(device, &plain, NULL, &gradient));
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, kernel, &(struct glcnn_encode){.source = x},
                                             &y, &state));
    struct glcnn_encode arguments = {
        .source = y, .secondary = x, .state = state, .destination = dx};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, gradient, &arguments));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "sub-pixel"));
    finish(&commands);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&gradient);
}

/* By the structure of parameters, which no table checks for them. */
static void other_layers_read_no_factor(void)
{
    static const float weights[] = {3};
    const struct glcnn_convolution_descriptor d = {.kernel_width = 1,
                                                   .kernel_height = 1,
                                                   .input_feature_channels = 1,
                                                   .output_feature_channels = 1};
    const struct glcnn_convolution_weights w = {.weights = weights};
    glcnn_kernel *kernels[2] = {NULL, NULL};
    GOOD_FATAL(glcnn_fully_connected_create(device, &d, &w, &kernels[0]));
    GOOD_FATAL(glcnn_convolution_transpose_create(device, &d, &w, &kernels[1]));
    glcnn_image *x = make_image(1, 1, 1, 1);
    fill_constant(x, 2);
    for (int i = 0; i < 2; i++) {
        glcnn_image *y = NULL;
        glcnn_command_buffer *commands = make_commands();
        glcnn_kernel_properties(kernels[i])->result_is_ordinary = true;
        glcnn_convolution(kernels[i])->sub_pixel_scale_factor = 65536;
        GOOD_FATAL(glcnn_kernel_encode_returning(commands, kernels[i],
                                                 &(struct glcnn_encode){.source = x}, &y, NULL));
        finish(&commands);
        CU_ASSERT_EQUAL(count_of(y), 1);
        CU_ASSERT(image_is_constant(y, 6));
        glcnn_image_destroy(&y);
        glcnn_kernel_destroy(&kernels[i]);
    }
    glcnn_image_destroy(&x);
}

static void sub_pixels_divide_the_outputs(void)
{
    struct glcnn_convolution_descriptor d = {.kernel_width = 1,
                                             .kernel_height = 1,
                                             .input_feature_channels = 1,
                                             .output_feature_channels = 6,
                                             .sub_pixel_scale_factor = 2};
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_convolution_create(device, &d, NULL, &kernel));
    d.sub_pixel_scale_factor = 65536;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_convolution_create(device, &d, NULL, &kernel));
    kernel = make_numbered(4, 2);
    glcnn_image *x = make_numbers(2, 2), *y = make_image(1, 1, 6, 6);
    GOOD(glcnn_kernel_set(kernel, "sub_pixel_scale_factor", 3));
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, kernel,
                                &(struct glcnn_encode){.source = x, .destination = y}));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "sub-pixels"));
    finish(&commands);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Types of weights ---- */

enum { OUTPUTS = 3, TAPS = 2, INPUTS = 43, NUMBERS = OUTPUTS * TAPS * INPUTS }; /* 258 */

static const struct glcnn_convolution_descriptor typed = {.kernel_width = 1,
                                                          .kernel_height = TAPS,
                                                          .input_feature_channels = INPUTS,
                                                          .output_feature_channels = OUTPUTS};

typedef glcnn_status (*creator)(glcnn_device *, const struct glcnn_convolution_descriptor *,
                                const struct glcnn_convolution_weights *, glcnn_kernel **);
static const creator creators[] = {
    glcnn_convolution_create,           glcnn_convolution_gradient_create,
    glcnn_fully_connected_create,       glcnn_fully_connected_gradient_create,
    glcnn_convolution_transpose_create, glcnn_convolution_transpose_gradient_create,
};

/* The kernel's own vector, exactly. */
static void check_weights(const struct glcnn_convolution_weights *weights, const float *expected)
{
    for (size_t i = 0; i < sizeof creators / sizeof *creators; i++) {
        float values[NUMBERS];
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(creators[i](device, &typed, weights, &kernel));
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "weights"), 0, sizeof values, values));
        for (int j = 0; j < NUMBERS; j++)
            CU_ASSERT_EQUAL(values[j], expected[j]);
        glcnn_kernel_destroy(&kernel);
    }
}

/* Steps of 2 / 255, 1 and a quarter, and a range of nothing. */
static void linear_bytes(void)
{
    static const float ranges[2 * OUTPUTS] = {-1, 1, -100, 155, 7.5F, 7.5F};
    uint8_t bytes[NUMBERS];
    float expected[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        int k = i / (TAPS * INPUTS);
        bytes[i] = (uint8_t)(i * 77);
        expected[i] = k == 0   ? (float)((2 * bytes[i] - 255) / 255.0)
                      : k == 1 ? (float)(bytes[i] - 100)
                               : 7.5F;
    }
    bytes[0] = 0;
    bytes[1] = 255;
    expected[0] = -1;
    expected[1] = 1;
    check_weights(
        &(struct glcnn_convolution_weights){
            .weights = bytes, .type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR, .ranges = ranges},
        expected);
}

static void bytes_of_a_table(void)
{
    float table[256], expected[NUMBERS];
    uint8_t bytes[NUMBERS];
    uint32_t seed = 9;
    for (int i = 0; i < 256; i++)
        table[i] = noise(&seed);
    for (int i = 0; i < NUMBERS; i++) {
        bytes[i] = (uint8_t)(255 - i % 256);
        expected[i] = table[255 - i % 256];
    }
    check_weights(&(struct glcnn_convolution_weights){.weights = bytes,
                                                      .type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE,
                                                      .table = table},
                  expected);
}

/* Bits of 1 + i / 1024, which float16 holds; of a small one, and of one below the normal ones. */
static void float16_weights(void)
{
    uint16_t bits[NUMBERS];
    float expected[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        bits[i] = (uint16_t)((i % 2 ? 0xbc00 : 0x3c00) + i);
        expected[i] = (i % 2 ? -1 : 1) * (1 + (float)i / 1024);
    }
    bits[5] = 0x0401;
    expected[5] = 0x1.004p-14F;
    bits[6] = 0x8003;
    expected[6] = -0x3p-24F;
    check_weights(&(struct glcnn_convolution_weights){.weights = bits,
                                                      .type = GLCNN_CONVOLUTION_WEIGHTS_FLOAT16},
                  expected);
}

static void floats_are_the_type_left_out(void)
{
    float weights[NUMBERS];
    uint32_t seed = 3;
    for (int i = 0; i < NUMBERS; i++)
        weights[i] = noise(&seed);
    check_weights(&(struct glcnn_convolution_weights){.weights = weights}, weights);
}

/* out = b + w0 x0 + w1 x1 */
static void bytes_in_a_sum(void)
{
    static const uint8_t bytes[] = {0, 51, 255, 102};
    static const float ranges[] = {-1, 4, 0, 10}, biases[] = {0.5F, -3}, values[] = {2, 8};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_convolution_create(
        device,
        &(struct glcnn_convolution_descriptor){.kernel_width = 1,
                                               .kernel_height = 1,
                                               .input_feature_channels = 2,
                                               .output_feature_channels = 2},
        &(struct glcnn_convolution_weights){.weights = bytes,
                                            .biases = biases,
                                            .type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR,
                                            .ranges = ranges},
        &kernel));
    glcnn_image *x = make_image(1, 2, 1, 1), *y = make_image(1, 2, 1, 1);
    fill_image(x, values);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = x, .destination = y}));
    finish(&commands);
    CU_ASSERT(image_equals(y, (const float[]){-1.5F, 49}));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
}

static void types_need_what_decodes_them(void)
{
    static const uint8_t bytes[NUMBERS];
    glcnn_kernel *kernel = NULL;
    struct glcnn_convolution_weights w = {.weights = bytes,
                                          .type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_convolution_create(device, &typed, &w, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    w.type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_convolution_create(device, &typed, &w, &kernel));
    w.type = GLCNN_CONVOLUTION_WEIGHTS_FORCE32;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_convolution_create(device, &typed, &w, &kernel));
    w.weights = NULL;
    w.type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR;
    GOOD(glcnn_convolution_create(device, &typed, &w, &kernel));
    glcnn_kernel_destroy(&kernel);
}

/* ---- Batch normalisation folded in ---- */

/* I = 4 / sqrt(3 + 1) and -1 / sqrt(3 + 1). */
static void folded_vectors(void)
{
    static const uint8_t bytes[] = {2, 3, 5, 7};
    static const float ranges[] = {0, 255, 0, 255}, biases[] = {3, -1};
    const struct glcnn_convolution_descriptor d = {.kernel_width = 1,
                                                   .kernel_height = 1,
                                                   .input_feature_channels = 2,
                                                   .output_feature_channels = 2};
    const struct glcnn_batch_normalization_data_source b = {.number_of_feature_channels = 2,
                                                            .gamma = (const float[]){4, -1},
                                                            .beta = (const float[]){7, 8},
                                                            .mean = (const float[]){5, 0.5F},
                                                            .variance = (const float[]){3, 3},
                                                            .epsilon = 1};
    struct glcnn_convolution_weights w = {.weights = bytes,
                                          .biases = biases,
                                          .type = GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR,
                                          .ranges = ranges,
                                          .batch_normalization = &b};
    static const float weights[] = {4, 6, -2.5F, -3.5F};
    static const float folded[2][2] = {{3, 8.75F}, {-3, 8.25F}}; /* with biases, and without */
    float values[4];
    for (int i = 0; i < 2; i++) {
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(glcnn_convolution_create(device, &d, &w, &kernel));
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "weights"), 0, 16, values));
        CU_ASSERT(memcmp(values, weights, sizeof weights) == 0);
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "biases"), 0, 8, values));
        CU_ASSERT(memcmp(values, folded[i], sizeof folded[i]) == 0);
        glcnn_kernel_destroy(&kernel);
        w.biases = NULL;
    }
}

enum { CHANNELS = 6 };

struct normalized {
    float weights[CHANNELS * 3 * 3 * 5], biases[CHANNELS];
    float gamma[CHANNELS], beta[CHANNELS], mean[CHANNELS], variance[CHANNELS];
};

static void make_normalized(struct normalized *n, struct glcnn_batch_normalization_data_source *b)
{
    uint32_t seed = 21;
    for (size_t i = 0; i < sizeof n->weights / sizeof *n->weights; i++)
        n->weights[i] = noise(&seed);
    for (int k = 0; k < CHANNELS; k++) {
        n->biases[k] = noise(&seed);
        n->gamma[k] = noise(&seed);
        n->beta[k] = noise(&seed);
        n->mean[k] = noise(&seed);
        n->variance[k] = 1.25F + noise(&seed);
    }
    *b = (struct glcnn_batch_normalization_data_source){CHANNELS, n->gamma,    n->beta,
                                                        n->mean,  n->variance, 0.125F};
}

static glcnn_image *encode_one(glcnn_kernel *kernel, glcnn_image *source)
{
    glcnn_image *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, kernel, &(struct glcnn_encode){.source = source}, &result, NULL));
    finish(&commands);
    return result;
}

static void check_folded(creator create, const struct glcnn_batch_normalization_data_source *b,
                         struct glcnn_convolution_weights w, glcnn_image *source)
{
    const struct glcnn_neuron_descriptor neuron = {GLCNN_NEURON_TYPE_RELU, 0.25F, 0, 0};
    struct glcnn_convolution_descriptor d = {.kernel_width = 3,
                                             .kernel_height = 3,
                                             .input_feature_channels = 5,
                                             .output_feature_channels = CHANNELS};
    glcnn_kernel *convolution = NULL, *normalization = NULL, *folded = NULL;
    GOOD_FATAL(create(device, &d, &w, &convolution));
    GOOD_FATAL(glcnn_batch_normalization_create(device, b, &neuron, &normalization));
    w.batch_normalization = b;
    d.neuron = neuron;
    GOOD_FATAL(create(device, &d, &w, &folded));
    glcnn_image *sums = encode_one(convolution, source);
    glcnn_image *two = encode_one(normalization, sums), *one = encode_one(folded, source);
    CU_ASSERT_EQUAL_FATAL(count_of(one), count_of(two));
    float *x = read_image(one), *y = read_image(two);
    for (size_t i = 0; i < count_of(one); i++)
        CU_ASSERT_DOUBLE_EQUAL(x[i], y[i], 2e-5);
    free(x);
    free(y);
    glcnn_image_destroy(&sums);
    glcnn_image_destroy(&one);
    glcnn_image_destroy(&two);
    glcnn_kernel_destroy(&convolution);
    glcnn_kernel_destroy(&normalization);
    glcnn_kernel_destroy(&folded);
}

/* Of all forward kernels, with every array and with those left out that have a default. */
static void folded_is_convolution_then_normalization(void)
{
    struct normalized n;
    struct glcnn_batch_normalization_data_source b;
    make_normalized(&n, &b);
    glcnn_image *source = make_image(2, 5, 3, 3);
    fill_noise(source, 12);
    for (int i = 0; i < 6; i += 2) { /* creators alternate with those of gradients */
        struct glcnn_batch_normalization_data_source plain = b;
        check_folded(creators[i], &b,
                     (struct glcnn_convolution_weights){.weights = n.weights, .biases = n.biases},
                     source);
        plain.gamma = plain.beta = NULL;
        check_folded(creators[i], &plain, (struct glcnn_convolution_weights){.weights = n.weights},
                     source);
        plain.mean = plain.variance = NULL;
        plain.epsilon = 0;
        check_folded(creators[i], &plain, (struct glcnn_convolution_weights){.biases = n.biases},
                     source);
    }
    glcnn_image_destroy(&source);
}

static void folding_is_for_inference(void)
{
    const struct glcnn_batch_normalization_data_source b = {.number_of_feature_channels = OUTPUTS},
                                                       few = {.number_of_feature_channels = 2};
    struct glcnn_convolution_weights w = {.batch_normalization = &b};
    glcnn_kernel *kernel = NULL;
    for (int i = 1; i < 6; i += 2)
        REFUSED(GLCNN_UNSUPPORTED, creators[i](device, &typed, &w, &kernel));
    w.batch_normalization = &few;
    for (int i = 0; i < 6; i += 2)
        REFUSED(GLCNN_INVALID_ARGUMENT, creators[i](device, &typed, &w, &kernel));
}

/* Ten columns; what few registers read of them is not masked where no window reaches beyond. */
static void windows_that_stay_inside(void)
{
    static const struct {
        struct axis axis;
        uint32_t extent;
        bool inside;
    } rows[] = {
        {{.first = 0, .stride = 1, .size = 1, .dilation = 1}, 10, true},
        {{.first = 0, .stride = 1, .size = 1, .dilation = 1}, 11, false},
        {{.first = -1, .stride = 1, .size = 3, .dilation = 1}, 2, false},
        {{.first = 0, .stride = 1, .size = 3, .dilation = 1}, 8, true},
        {{.first = 0, .stride = 1, .size = 3, .dilation = 1}, 9, false},
        {{.first = 1, .stride = 2, .size = 3, .dilation = 1}, 4, true},
        {{.first = 2, .stride = 2, .size = 3, .dilation = 1}, 4, false},
        {{.first = 0, .stride = 1, .size = 3, .dilation = 4}, 2, true},
        {{.first = 0, .stride = 1, .size = 3, .dilation = 4}, 3, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(windows_stay_inside(&rows[i].axis, rows[i].extent, 0, 9), rows[i].inside);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(sub_pixels_are_channels),
        UNIT_TEST(sub_pixels_count_from_the_clip_rectangle),
        UNIT_TEST(sub_pixels_have_no_gradient),
        UNIT_TEST(other_layers_read_no_factor),
        UNIT_TEST(sub_pixels_divide_the_outputs),
        UNIT_TEST(linear_bytes),
        UNIT_TEST(bytes_of_a_table),
        UNIT_TEST(float16_weights),
        UNIT_TEST(floats_are_the_type_left_out),
        UNIT_TEST(bytes_in_a_sum),
        UNIT_TEST(types_need_what_decodes_them),
        UNIT_TEST(folded_vectors),
        UNIT_TEST(folded_is_convolution_then_normalization),
        UNIT_TEST(folding_is_for_inference),
        UNIT_TEST(windows_that_stay_inside),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("convolution", tests, argc, argv);
}
