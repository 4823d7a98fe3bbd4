/* Transposed convolution: the golden row, the sizes of padding policies, and the convolution that
 * it mirrors. A transposed convolution whose weights are turned is that convolution's adjoint:
 * <conv(x), y> = <x, transpose(y)> for all x and y, which fixes every offset (spec 12.35). */
#include "glcnn/kernels/convolution_transpose.h"

#include "tests/fixture.h"

static glcnn_kernel *
make(glcnn_status (*create)(glcnn_device *, const struct glcnn_convolution_descriptor *,
                            const struct glcnn_convolution_weights *, glcnn_kernel **),
     const struct glcnn_convolution_descriptor *descriptor, const float *weights)
{
    glcnn_kernel *kernel = NULL;
    const struct glcnn_convolution_weights w = {.weights = weights};
    GOOD_FATAL(create(device, descriptor, &w, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

/* ---- Golden values ---- */

static void check_row(int32_t kernel_offset, uint32_t width, const float *expected)
{
    static const float weights[] = {1, 10, 100}, values[] = {1, 2, 3};
    const struct glcnn_convolution_descriptor descriptor = {.kernel_width = 3,
                                                            .kernel_height = 1,
                                                            .input_feature_channels = 1,
                                                            .output_feature_channels = 1,
                                                            .stride_in_pixels_x = 2};
    glcnn_kernel *kernel = make(glcnn_convolution_transpose_create, &descriptor, weights);
    glcnn_image *source = make_image(1, 1, 1, 3), *result = make_image(1, 1, 1, width);
    fill_image(source, values);
    glcnn_kernel_properties(kernel)->kernel_offset_x = kernel_offset;
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    CU_ASSERT(image_equals(result, expected));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void golden_values(void)
{
    static const float five[] = {10, 201, 20, 302, 30};
    static const float seven[] = {100, 10, 201, 20, 302, 30, 3};
    check_row(0, 5, five);
    check_row(-1, 7, seven);
}

/* ---- The mirrored convolution ---- */

struct layer {
    uint32_t width, height, stride_x, stride_y, inputs, outputs, groups, padding;
};

static struct glcnn_convolution_descriptor describe(const struct layer *l, bool transposed)
{
    return (struct glcnn_convolution_descriptor){
        .kernel_width = l->width,
        .kernel_height = l->height,
        .input_feature_channels = transposed ? l->outputs : l->inputs,
        .output_feature_channels = transposed ? l->inputs : l->outputs,
        .stride_in_pixels_x = l->stride_x,
        .stride_in_pixels_y = l->stride_y,
        .groups = l->groups};
}

/* Weights of the convolution, and turned: V[c][last - tap][k] = W[k][tap][c], group by group. */
static void make_weights(const struct layer *l, float *weights, float *turned)
{
    uint32_t taps = l->width * l->height, seed = 11;
    uint32_t inputs = l->inputs / l->groups, outputs = l->outputs / l->groups;
    for (uint32_t k = 0; k < l->outputs; k++)
        for (uint32_t tap = 0; tap < taps; tap++)
            for (uint32_t c = 0; c < inputs; c++) {
                float value = noise(&seed);
                uint32_t whole = k / outputs * inputs + c;
                weights[(k * taps + tap) * inputs + c] = value;
                turned[(whole * taps + taps - 1 - tap) * outputs + k % outputs] = value;
            }
}

static double inner_product(glcnn_image *a, glcnn_image *b)
{
    double sum = 0;
    CU_ASSERT_EQUAL_FATAL(count_of(a), count_of(b));
    float *x = read_image(a), *y = read_image(b);
    for (size_t i = 0; i < count_of(a); i++)
        sum += (double)x[i] * (double)y[i];
    free(x);
    free(y);
    return sum;
}

/* The result of a convolution of x, and what its transpose makes of noise of that shape. */
static void check_adjoint(const struct layer *l, bool with_state, uint32_t height, uint32_t width)
{
    static float weights[4096], turned[4096];
    struct glcnn_convolution_descriptor there = describe(l, false), back = describe(l, true);
    make_weights(l, weights, turned);
    glcnn_kernel *convolution = make(glcnn_convolution_create, &there, weights);
    glcnn_kernel *transpose = make(glcnn_convolution_transpose_create, &back, turned);
    glcnn_image *x = make_image(2, l->inputs, height, width), *result = NULL, *image = NULL;
    glcnn_state *state = NULL;
    fill_noise(x, 5);
    glcnn_kernel_properties(convolution)->padding = l->padding;
    glcnn_kernel_properties(transpose)->padding = glcnn_padding_inverse(l->padding);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, convolution,
                                             &(struct glcnn_encode){.source = x}, &result, &state));
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    glcnn_image *y = make_image(2, l->outputs, d->height, d->width);
    fill_noise(y, 6);
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, transpose,
        &(struct glcnn_encode){.source = y, .state = with_state ? state : NULL}, &image, NULL));
    finish(&commands);
    d = glcnn_image_get_descriptor(image);
    CU_ASSERT(d->width == width && d->height == height && d->feature_channels == l->inputs);
    double one = inner_product(result, y), other = inner_product(x, image);
    CU_ASSERT_DOUBLE_EQUAL(one, other, 1e-4);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&image);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&convolution);
    glcnn_kernel_destroy(&transpose);
}

static const struct layer layers[] = {
    {3, 3, 2, 2, 3, 5, 1, GLCNN_PADDING_SIZE_SAME},
    {4, 2, 2, 3, 2, 6, 1, GLCNN_PADDING_SIZE_SAME},
    {4, 4, 2, 2, 4, 4, 2, GLCNN_PADDING_SIZE_FULL},
    {5, 3, 3, 2, 6, 3, 3, GLCNN_PADDING_SIZE_VALID_ONLY},
    {2, 3, 1, 1, 1, 7, 1, GLCNN_PADDING_TENSORFLOW_SAME},
    {3, 4, 4, 2, 3, 3, 3, GLCNN_PADDING_SIZE_SAME | GLCNN_PADDING_ALIGN_TOP_LEFT},
};

/* Sizes that the strides divide with one pixel over are those that the formula goes back to. */
static void padding_goes_the_way_back(void)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct layer *l = &layers[i];
        bool full = (l->padding & GLCNN_PADDING_SIZE_MASK) == GLCNN_PADDING_SIZE_FULL;
        bool same = (l->padding & GLCNN_PADDING_SIZE_MASK) == GLCNN_PADDING_SIZE_SAME;
        int32_t x = same ? 1 : full ? 2 - (int32_t)l->width : (int32_t)l->width;
        int32_t y = same ? 1 : full ? 2 - (int32_t)l->height : (int32_t)l->height;
        check_adjoint(l, false, (uint32_t)y + 3 * l->stride_y, (uint32_t)x + 4 * l->stride_x);
    }
}

/* All other sizes come from the state of the convolution. */
static void a_state_says_the_size(void)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (uint32_t more = 0; more < 3; more++)
            check_adjoint(&layers[i], true, 9 + more, 11 - more);
}

/* The state is the convolution's still: its gradient goes on to follow it. */
static void a_mirrored_state_stays_as_it_is(void)
{
    static float weights[4096], turned[4096];
    const struct layer *l = &layers[0];
    struct glcnn_convolution_descriptor there = describe(l, false), back = describe(l, true);
    make_weights(l, weights, turned);
    glcnn_kernel *convolution = make(glcnn_convolution_create, &there, weights);
    glcnn_kernel *gradient = make(glcnn_convolution_gradient_create, &there, weights);
    glcnn_kernel *transpose = make(glcnn_convolution_transpose_create, &back, turned);
    glcnn_image *x = make_image(1, l->inputs, 8, 7), *y = NULL, *image = NULL, *dx = NULL;
    glcnn_state *state = NULL;
    fill_noise(x, 8);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, convolution,
                                             &(struct glcnn_encode){.source = x}, &y, &state));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, transpose, &(struct glcnn_encode){.source = y, .state = state}, &image, NULL));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, gradient, &(struct glcnn_encode){.source = y, .secondary = x, .state = state},
        &dx, NULL));
    finish(&commands);
    CU_ASSERT_EQUAL_FATAL(count_of(dx), count_of(image));
    float *one = read_image(dx), *other = read_image(image);
    for (size_t i = 0; i < count_of(dx); i++)
        CU_ASSERT_DOUBLE_EQUAL(one[i], other[i], 1e-5);
    free(one);
    free(other);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&convolution);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&transpose);
}

/* ---- Gradients ---- */

/* Two encodes into one state add up, and those after a read start over. */
static void gradients_add_up_in_the_state(void)
{
    const struct layer l = {3, 3, 2, 2, 2, 3, 1, GLCNN_PADDING_SIZE_SAME};
    struct glcnn_convolution_descriptor d = describe(&l, true);
    float weights[54], once[54], twice[54], biases[2], g_sum[2] = {0};
    uint32_t seed = 4;
    for (int i = 0; i < 54; i++)
        weights[i] = noise(&seed);
    glcnn_kernel *forward = make(glcnn_convolution_transpose_create, &d, weights);
    glcnn_kernel *gradient = make(glcnn_convolution_transpose_gradient_create, &d, weights);
    glcnn_image *x = make_image(1, 3, 4, 3), *y = NULL, *dx = make_image(1, 3, 4, 3);
    glcnn_state *state = NULL;
    fill_noise(x, 1);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, forward, &(struct glcnn_encode){.source = x},
                                             &y, &state));
    finish(&commands);
    const struct glcnn_encode arguments = {
        .source = y, .secondary = x, .state = state, .destination = dx};
    for (int i = 0; i < 2; i++) {
        commands = make_commands();
        GOOD_FATAL(glcnn_kernel_encode(commands, gradient, &arguments));
        finish(&commands);
        GOOD(glcnn_buffer_read(glcnn_state_vector(state, "gradient_for_weights"), 0, sizeof once,
                               i ? twice : once));
    }
    GOOD(glcnn_buffer_read(glcnn_state_vector(state, "gradient_for_biases"), 0, sizeof biases,
                           biases));
    float *values = read_image(y);
    for (size_t i = 0; i < count_of(y); i++)
        g_sum[i / (count_of(y) / 2)] += values[i];
    for (int i = 0; i < 54; i++)
        CU_ASSERT_DOUBLE_EQUAL(twice[i], 2 * once[i], 1e-5);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_DOUBLE_EQUAL(biases[i], 2 * g_sum[i], 1e-4);
    free(values);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(golden_values),
        UNIT_TEST(padding_goes_the_way_back),
        UNIT_TEST(a_state_says_the_size),
        UNIT_TEST(a_mirrored_state_stays_as_it_is),
        UNIT_TEST(gradients_add_up_in_the_state),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("convolution_transpose", tests, argc, argv);
}
