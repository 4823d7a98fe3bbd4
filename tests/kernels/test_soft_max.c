/* Soft-max and log-soft-max: golden values, large numbers, gradients addressed by hand. */
#include "glcnn/kernels/soft_max.h"

#include <math.h>

#include "tests/fixture.h"

#define MOST 512

typedef glcnn_status (*constructor)(glcnn_device *device, glcnn_kernel **kernel);

static void encode(glcnn_kernel *kernel, glcnn_image *source, glcnn_image *secondary,
                   glcnn_image *destination)
{
    const struct glcnn_encode arguments = {
        .source = source, .secondary = secondary, .destination = destination};
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel, &arguments));
    finish(&commands);
}

static glcnn_image *image_of(uint32_t channels, const float *values)
{
    glcnn_image *image = make_image(1, channels, 1, 1);
    fill_image(image, values);
    return image;
}

static void check_values(glcnn_image *image, const double *expected, double tolerance)
{
    float *found = read_image(image);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT_DOUBLE_EQUAL(found[i], expected[i], tolerance);
    free(found);
}

/* Kernel on one pixel of `channels`; `secondary` NULL for a forward kernel. */
static void check_pixel(constructor create, uint32_t channels, const float *source,
                        const float *secondary, const double *expected, double tolerance)
{
    glcnn_kernel *kernel = NULL;
    glcnn_image *from = image_of(channels, source), *to = make_image(1, channels, 1, 1);
    glcnn_image *second = secondary ? image_of(channels, secondary) : NULL;
    GOOD_FATAL(create(device, &kernel));
    encode(kernel, from, second, to);
    check_values(to, expected, tolerance);
    glcnn_image_destroy(&from);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&to);
    glcnn_kernel_destroy(&kernel);
}

static void golden_values(void)
{
    static const float x[] = {1, 2, 3}, g[] = {1, 0, 0};
    static const float y[] = {0.09003057f, 0.24472847f, 0.66524096f};
    static const float log_y[] = {-2.407606f, -1.407606f, -0.407606f};
    check_pixel(glcnn_soft_max_create, 3, x, NULL, (const double[]){0.090031, 0.244728, 0.665241},
                1e-6);
    check_pixel(glcnn_soft_max_gradient_create, 3, g, y,
                (const double[]){0.081925, -0.022033, -0.059892}, 1e-6);
    check_pixel(glcnn_log_soft_max_create, 3, x, NULL,
                (const double[]){-2.407606, -1.407606, -0.407606}, 1e-6);
    check_pixel(glcnn_log_soft_max_gradient_create, 3, g, log_y,
                (const double[]){0.909969, -0.244728, -0.665241}, 1e-6);
}

/* Exponentials beyond what floats hold, on both sides. */
static void large_numbers(void)
{
    static const float x[] = {-3e38f, 1000, 998, -1000, 999};
    const double sum = 1 + exp(-1) + exp(-2);
    check_pixel(glcnn_soft_max_create, 5, x, NULL,
                (const double[]){0, 1 / sum, exp(-2) / sum, 0, exp(-1) / sum}, 1e-7);
    check_pixel(glcnn_log_soft_max_create, 4, x + 1, NULL,
                (const double[]){-log(sum), -2 - log(sum), -2000 - log(sum), -1 - log(sum)}, 2e-4);
}

/* All channels far below 0: a component beyond the last channel would be the largest. */
static void padding_is_left_out(void)
{
    for (uint32_t channels = 1; channels <= 9; channels++) {
        float x[9];
        double y[9], log_y[9];
        for (uint32_t c = 0; c < channels; c++) {
            x[c] = -200;
            y[c] = 1.0 / channels;
            log_y[c] = -log(channels);
        }
        check_pixel(glcnn_soft_max_create, channels, x, NULL, y, 1e-6);
        check_pixel(glcnn_log_soft_max_create, channels, x, NULL, log_y, 1e-6);
    }
}

/* Each result within a few units of its own last place, the small ones too. */
static void small_probabilities_are_exact(void)
{
    enum { C = 400 };
    glcnn_kernel *kernel = NULL;
    glcnn_image *from = make_image(1, C, 1, 1), *to = make_image(1, C, 1, 1);
    float x[C];
    double sum = 0;
    for (int c = 0; c < C; c++)
        x[c] = -0.2f * (float)c;
    for (int c = C - 1; c >= 0; c--)
        sum += exp((double)x[c]);
    fill_image(from, x);
    GOOD_FATAL(glcnn_soft_max_create(device, &kernel));
    encode(kernel, from, NULL, to);
    float *y = read_image(to);
    CU_ASSERT_PTR_NOT_NULL_FATAL(y);
    for (int c = 0; c < C; c++) {
        double expected = exp((double)x[c]) / sum;
        CU_ASSERT_DOUBLE_EQUAL(y[c], expected, 1e-6 * expected);
    }
    free(y);
    glcnn_image_destroy(&from);
    glcnn_image_destroy(&to);
    glcnn_kernel_destroy(&kernel);
}

/* By hand the gradient is read at the primary offset and the result at the secondary offset, both
 * counted from the clip rectangle: here pixel 2 + j of the one and 1 + j of the other. */
static void gradients_addressed_by_hand(void)
{
    enum { W = 5, C = 2 };
    static const float y[C * W] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.9f, 0.8f, 0.7f, 0.6f, 0.5f};
    static const float g[C * W] = {1, 2, 3, 4, 5, -1, 1, -1, 1, -1};
    glcnn_kernel *kernel = NULL;
    glcnn_image *gradient = make_image(1, C, 1, W), *result = make_image(1, C, 1, W);
    glcnn_image *to = make_image(1, C, 1, W);
    double expected[C * W] = {0};
    fill_image(gradient, g);
    fill_image(result, y);
    GOOD_FATAL(glcnn_soft_max_gradient_create(device, &kernel));
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    p->primary.offset.x = 2;
    p->secondary.offset.x = 1;
    p->clip_rect.origin.x = 1;
    p->clip_rect.size.width = 2;
    encode(kernel, gradient, result, to);
    for (int j = 0; j < 2; j++) {
        double y0 = (double)y[1 + j], y1 = (double)y[W + 1 + j];
        double g0 = (double)g[2 + j], g1 = (double)g[W + 2 + j], sum = g0 * y0 + g1 * y1;
        expected[1 + j] = y0 * (g0 - sum);
        expected[W + 1 + j] = y1 * (g1 - sum);
    }
    check_values(to, expected, 1e-6);
    glcnn_image_destroy(&gradient);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&to);
    glcnn_kernel_destroy(&kernel);
}

/* Forward with a state, then the gradient that follows it: only the forward clip rectangle passes
 * anything on, and the gradient of a soft-max sums to 0 over the channels. */
static void gradients_that_follow_a_state(void)
{
    enum { N = 2, C = 7, H = 3, W = 4 };
    glcnn_kernel *forward = NULL, *backward = NULL;
    glcnn_image *x = make_image(N, C, H, W), *y = make_image(N, C, H, W);
    glcnn_image *g = make_image(N, C, H, W), *dx = NULL;
    glcnn_state *state = NULL;
    fill_noise(x, 1);
    fill_noise(g, 2);
    GOOD_FATAL(glcnn_soft_max_create(device, &forward));
    GOOD_FATAL(glcnn_soft_max_gradient_create(device, &backward));
    glcnn_kernel_properties(forward)->clip_rect.origin.x = 1;
    glcnn_kernel_properties(forward)->primary.offset.x = 1;
    glcnn_kernel_properties(backward)->result_is_ordinary = true;
    struct glcnn_encode arguments = {.source = x, .destination = y};
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_result_state(NULL, forward, &arguments, &state));
    arguments.state = state;
    GOOD(glcnn_kernel_encode(commands, forward, &arguments));
    arguments = (struct glcnn_encode){.source = g, .secondary = y, .state = state};
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, backward, &arguments, &dx, NULL));
    finish(&commands);
    float *found = read_image(dx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    for (int i = 0; i < N * H * W; i++) {
        const float *pixel = found + i / (H * W) * C * H * W + i % (H * W);
        double sum = 0, size = 0;
        for (int c = 0; c < C; c++) {
            sum += (double)pixel[c * H * W];
            size += fabs((double)pixel[c * H * W]);
        }
        CU_ASSERT_DOUBLE_EQUAL(sum, 0, 1e-6);
        CU_ASSERT_EQUAL(size > 0, i % W >= 1);
    }
    free(found);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(golden_values),
        UNIT_TEST(large_numbers),
        UNIT_TEST(padding_is_left_out),
        UNIT_TEST(small_probabilities_are_exact),
        UNIT_TEST(gradients_addressed_by_hand),
        UNIT_TEST(gradients_that_follow_a_state),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("soft_max", tests, argc, argv);
}
