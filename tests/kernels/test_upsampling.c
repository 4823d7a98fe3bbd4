/* Up-sampling: worked examples, sizes of results, what a gradient takes from its state. */
#include "glcnn/kernels/upsampling.h"

#include "tests/fixture.h"

enum rule { HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC };

static glcnn_kernel *make_kernel(bool bilinear, uint32_t x, uint32_t y, enum rule rule)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(bilinear
                   ? glcnn_upsampling_bilinear_create(device, x, y, rule == ALIGN_CORNERS, &kernel)
                   : glcnn_upsampling_nearest_create(device, x, y, &kernel));
    glcnn_upsampling(kernel)->asymmetric = rule == ASYMMETRIC;
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

/* A row of three pixels, and the same as a column: the axes must not be mixed up. */
static void check_row(bool bilinear, enum rule rule, const float expected[6])
{
    static const float three[] = {1, 3, 9};
    for (int vertical = 0; vertical < 2; vertical++) {
        glcnn_image *source = vertical ? make_image(1, 1, 3, 1) : make_image(1, 1, 1, 3);
        glcnn_kernel *kernel = make_kernel(bilinear, vertical ? 1 : 2, vertical ? 2 : 1, rule);
        fill_image(source, three);
        glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, NULL);
        CU_ASSERT_EQUAL(glcnn_image_get_descriptor(result)->width, vertical ? 1 : 6);
        CU_ASSERT_EQUAL(glcnn_image_get_descriptor(result)->height, vertical ? 6 : 1);
        check_floats(result, expected, 6, 1e-6);
        glcnn_image_destroy(&source);
        glcnn_image_destroy(&result);
        glcnn_kernel_destroy(&kernel);
    }
}

static void nearest_repeats_pixels(void)
{
    check_row(false, HALF_PIXEL, (const float[]){1, 1, 3, 3, 9, 9});
}

/* Spec 12.28: without align_corners positions are those of half pixels. */
static void choice_28_bilinear_is_half_pixel(void)
{
    check_row(true, HALF_PIXEL, (const float[]){1, 1.5f, 2.5f, 4.5f, 7.5f, 9});
    check_row(true, ALIGN_CORNERS, (const float[]){1, 1.8f, 2.6f, 4.2f, 6.6f, 9});
    check_row(true, ASYMMETRIC, (const float[]){1, 2, 3, 6, 9, 9});
}

static void factors_of_one_copy(void)
{
    for (int bilinear = 0; bilinear < 2; bilinear++)
        for (int rule = HALF_PIXEL; rule <= ASYMMETRIC; rule++) {
            glcnn_image *source = make_image(2, 5, 7, 6);
            glcnn_kernel *kernel = make_kernel(bilinear, 1, 1, (enum rule)rule);
            fill_noise(source, 7);
            glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, NULL);
            CU_ASSERT_TRUE(images_equal(source, result));
            glcnn_image_destroy(&source);
            glcnn_image_destroy(&result);
            glcnn_kernel_destroy(&kernel);
        }
}

/* ---- Resizing ---- */

#define PIXELS 100

/* Column X of the result, of pixels 0, 1, 2 ... */
struct place {
    uint32_t x;
    float value;
};

static void check_places(const char *settings, uint32_t width, const struct place *places)
{
    float numbers[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        numbers[i] = (float)i;
    glcnn_kernel *kernel = kernel_with("resize_linear", settings);
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *source = image_with(1, 1, 1, PIXELS, numbers);
    glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, NULL);
    CU_ASSERT_EQUAL_FATAL(glcnn_image_get_descriptor(result)->width, width);
    float *values = read_image(result);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL((double)values[places[i].x], (double)places[i].value, 5e-5);
    free(values);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

/* By 4095/4096, 0.999755859375, of 100 pixels 99 are left; result X lies at 4096/4095 X, or at
 * 4096/4095 (X + 1/2) - 1/2. By 4096/4095 it lies at 4095/4096 X. */
static void a_scale_near_1_has_places_of_its_own(void)
{
    static const struct place asymmetric[] = {{1, 1.000244f}, {50, 50.01221f}, {98, 98.023932f}},
                              half[] = {{1, 1.000366f}, {50, 50.012332f}, {98, 98.024054f}},
                              more[] = {{1, 0.999756f}, {50, 49.987793f}, {99, 98.975830f}};
    check_places("scale_x=0.999755859375 resize_position=asymmetric", 99, asymmetric);
    check_places("scale_x=0.999755859375", 99, half);
    check_places("scale_x=1.000244200244 resize_position=asymmetric", 100, more);
}

/* A gradient kernel with other factors and another rule than the forward kernel's. */
static glcnn_kernel *make_strange_gradient(bool bilinear)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(bilinear ? glcnn_upsampling_bilinear_gradient_create(device, 5, 1, false, &kernel)
                        : glcnn_upsampling_nearest_gradient_create(device, 5, 1, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

static double inner_product(glcnn_image *a, glcnn_image *b)
{
    double sum = 0;
    float *x = read_image(a), *y = read_image(b);
    for (size_t i = 0; i < count_of(a); i++)
        sum += (double)x[i] * (double)y[i];
    free(x);
    free(y);
    return sum;
}

/* Up-sampling is linear: <G, up(x)> = <gradient(G), x> for every x and G. */
static void check_transpose(bool bilinear, enum rule rule)
{
    glcnn_kernel *forward = make_kernel(bilinear, 3, 2, rule);
    glcnn_kernel *backward = make_strange_gradient(bilinear);
    glcnn_image *x = make_image(2, 3, 4, 5), *g = make_image(2, 3, 8, 15);
    glcnn_state *state = NULL;
    fill_noise(x, 1);
    fill_noise(g, 2);
    glcnn_image *y = result_of(forward, &(struct glcnn_encode){.source = x}, &state);
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    glcnn_image *dx = result_of(
        backward, &(struct glcnn_encode){.source = g, .secondary = x, .state = state}, NULL);
    CU_ASSERT_EQUAL_FATAL(count_of(dx), count_of(x));
    CU_ASSERT_DOUBLE_EQUAL(inner_product(g, y), inner_product(dx, x), 1e-4);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

/* Spec 12.29: the gradient has align_corners from the state, and the factors too. */
static void choice_29_gradients_follow_the_state(void)
{
    check_transpose(false, HALF_PIXEL);
    for (int rule = HALF_PIXEL; rule <= ASYMMETRIC; rule++)
        check_transpose(true, (enum rule)rule);
}

/* By hand: gradient columns 4 .. 7 are those of source columns 1 and 2, written to 0 and 1. */
static void gradients_addressed_by_hand(void)
{
    static const float values[] = {1, 2, 4, 8, 16, 32, 64, 128};
    glcnn_kernel *kernel = NULL;
    glcnn_image *g = make_image(1, 1, 1, 8), *x = make_image(1, 1, 1, 4);
    glcnn_image *dx = make_image(1, 1, 1, 2);
    fill_image(g, values);
    GOOD_FATAL(glcnn_upsampling_nearest_gradient_create(device, 2, 1, &kernel));
    glcnn_kernel_properties(kernel)->primary.offset.x = 4;
    glcnn_kernel_properties(kernel)->secondary.offset.x = 1;
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(
        commands, kernel, &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
    finish(&commands);
    check_floats(dx, (const float[]){48, 192}, 2, 1e-6);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&kernel);
}

static void states_of_the_other_kind_are_refused(void)
{
    glcnn_kernel *forward = make_kernel(false, 3, 2, HALF_PIXEL);
    glcnn_kernel *backward = make_strange_gradient(true);
    glcnn_image *x = make_image(1, 3, 4, 5), *dx = NULL;
    glcnn_state *state = NULL;
    glcnn_image *y = result_of(forward, &(struct glcnn_encode){.source = x}, &state);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(
                commands, backward,
                &(struct glcnn_encode){.source = y, .secondary = x, .state = state}, &dx, NULL));
    CU_ASSERT_PTR_NULL(dx);
    glcnn_command_buffer_destroy(&commands);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

static void gradients_with_too_few_channels_are_refused(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_image *g = make_image(1, 4, 1, 8), *x = make_image(1, 9, 1, 4);
    glcnn_image *dx = make_image(1, 9, 1, 4);
    GOOD_FATAL(glcnn_upsampling_bilinear_gradient_create(device, 2, 1, false, &kernel));
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(
                commands, kernel,
                &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
    finish(&commands);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&kernel);
}

static void wrong_factors_are_refused(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_upsampling_nearest_create(device, 0, 2, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_upsampling_bilinear_create(device, 2, 32769, false, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_upsampling_nearest_create(device, 2, 2, NULL));
    GOOD_FATAL(glcnn_upsampling_nearest_create(device, 32768, 1, &kernel));
    glcnn_image *x = make_image(1, 1, 1, 2), *y = make_image(1, 1, 1, 8);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, kernel,
                                &(struct glcnn_encode){.source = x, .destination = y}));
    glcnn_upsampling(kernel)->scale_factor_x = 4;
    glcnn_kernel_properties(kernel)->primary.offset.x = 1 << 28;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, kernel,
                                &(struct glcnn_encode){.source = x, .destination = y}));
    finish(&commands);
    CU_ASSERT_PTR_NULL(glcnn_upsampling(NULL));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(nearest_repeats_pixels),
        UNIT_TEST(choice_28_bilinear_is_half_pixel),
        UNIT_TEST(factors_of_one_copy),
        UNIT_TEST(a_scale_near_1_has_places_of_its_own),
        UNIT_TEST(choice_29_gradients_follow_the_state),
        UNIT_TEST(gradients_addressed_by_hand),
        UNIT_TEST(states_of_the_other_kind_are_refused),
        UNIT_TEST(gradients_with_too_few_channels_are_refused),
        UNIT_TEST(wrong_factors_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("upsampling", tests, argc, argv);
}
