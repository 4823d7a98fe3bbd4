/* Arithmetic: formulas, broadcasting, the clamp's mask, and gradients of either source. */
#include "glcnn/kernels/arithmetic.h"

#include <float.h>
#include <math.h>

#include "tests/fixture.h"

typedef glcnn_status (*forward_constructor)(glcnn_device *device, glcnn_kernel **kernel);
typedef glcnn_status (*gradient_constructor)(glcnn_device *device, bool is_secondary_source_filter,
                                             glcnn_kernel **kernel);

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, KINDS, MAXIMUM = KINDS, MINIMUM, POWER, ALL };

static const forward_constructor forwards[ALL] = {
    glcnn_add_create,     glcnn_subtract_create, glcnn_multiply_create, glcnn_divide_create,
    glcnn_maximum_create, glcnn_minimum_create,  glcnn_power_create};
static const gradient_constructor gradients[ALL] = {
    glcnn_add_gradient_create,    glcnn_subtract_gradient_create, glcnn_multiply_gradient_create,
    glcnn_divide_gradient_create, glcnn_maximum_gradient_create,  glcnn_minimum_gradient_create,
    glcnn_power_gradient_create};

static glcnn_kernel *make_kernel(int kind)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(forwards[kind](device, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

static glcnn_kernel *make_gradient(int kind, bool secondary)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(gradients[kind](device, secondary, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

static glcnn_image *row_of(uint32_t count, const float *values)
{
    return image_with(1, 1, 1, count, values);
}

static glcnn_image *encode(glcnn_kernel *kernel, glcnn_image *first, glcnn_image *second,
                           glcnn_state *given, glcnn_state **made)
{
    const struct glcnn_encode arguments = {.source = first, .secondary = second, .state = given};
    return result_of(kernel, &arguments, made);
}

static bool has_shape(glcnn_image *image, uint32_t channels, uint32_t height, uint32_t width)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    return d->feature_channels == channels && d->height == height && d->width == width;
}

/* ---- Formulas ---- */

static void formulas_with_scales_and_bias(void)
{
    static const float x[] = {1, -2, 3}, y[] = {4, 5, -6};
    static const float expected[KINDS][3] = {
        {14.5f, 11.5f, -11.5f},
        {-9.5f, -18.5f, 24.5f},
        {24.5f, -59.5f, -107.5f},
        {0.5f + 2.0f / 12, 0.5f - 4.0f / 15, 0.5f - 6.0f / 18}};
    for (int kind = ADD; kind < KINDS; kind++) {
        glcnn_kernel *kernel = make_kernel(kind);
        glcnn_image *a = row_of(3, x), *b = row_of(3, y);
        glcnn_arithmetic(kernel)->primary_scale = 2;
        glcnn_arithmetic(kernel)->secondary_scale = 3;
        glcnn_arithmetic(kernel)->bias = 0.5f;
        glcnn_image *result = encode(kernel, a, b, NULL, NULL);
        check_floats(result, expected[kind], 3, 1e-6);
        glcnn_image_destroy(&a);
        glcnn_image_destroy(&b);
        glcnn_image_destroy(&result);
        glcnn_kernel_destroy(&kernel);
    }
}

/* The default bounds are the largest floats; a NaN is within none and stays. */
static void infinite_results_are_bounded(void)
{
    static const float x[] = {1, -1, 0, 3e38f, 5}, y[] = {0, 0, 0, 1e-10f, 4};
    glcnn_kernel *kernel = make_kernel(DIVIDE);
    glcnn_image *a = row_of(5, x), *b = row_of(5, y), *result = encode(kernel, a, b, NULL, NULL);
    float *found = read_image(result);
    CU_ASSERT_EQUAL(found[0], FLT_MAX);
    CU_ASSERT_EQUAL(found[1], -FLT_MAX);
    CU_ASSERT(isnan(found[2]));
    CU_ASSERT_EQUAL(found[3], FLT_MAX);
    CU_ASSERT_EQUAL(found[4], 1.25f);
    free(found);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Broadcasting ---- */

static void set_strides(glcnn_kernel *kernel, bool secondary, uint32_t x, uint32_t y, uint32_t c)
{
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    struct glcnn_source_properties *source = secondary ? &p->secondary : &p->primary;
    source->stride_in_pixels_x = x;
    source->stride_in_pixels_y = y;
    source->stride_in_feature_channels = c;
}

/* x is 2 channels of 2 by 3, y a pixel of 2 channels; then x a row and y a column. */
static void strides_of_zero_broadcast(void)
{
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y[] = {100, 200};
    static const float pixel[] = {101, 102, 103, 104, 105, 106, 207, 208, 209, 210, 211, 212};
    static const float outer[] = {101, 102, 103, 201, 202, 203};
    glcnn_kernel *kernel = make_kernel(ADD);
    glcnn_image *a = make_image(1, 2, 2, 3), *b = make_image(1, 2, 1, 1);
    fill_image(a, x);
    fill_image(b, y);
    set_strides(kernel, true, 0, 0, 1);
    glcnn_image *result = encode(kernel, a, b, NULL, NULL);
    CU_ASSERT_TRUE(has_shape(result, 2, 2, 3));
    check_floats(result, pixel, 12, 1e-6);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&result);
    a = row_of(3, x);
    b = make_image(1, 1, 2, 1);
    fill_image(b, y);
    set_strides(kernel, false, 1, 0, 1);
    set_strides(kernel, true, 0, 1, 1);
    result = encode(kernel, a, b, NULL, NULL);
    CU_ASSERT_TRUE(has_shape(result, 1, 2, 3));
    check_floats(result, outer, 6, 1e-6);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

/* What is broadcast is read at its offset, of a larger source too. */
static void offsets_say_which_pixel_is_broadcast(void)
{
    static const float x[] = {1, 2, 3}, y[] = {10, 20, 30, 40};
    glcnn_kernel *kernel = make_kernel(MULTIPLY);
    glcnn_image *a = row_of(3, x), *b = row_of(4, y);
    set_strides(kernel, true, 0, 1, 1);
    glcnn_kernel_properties(kernel)->secondary.offset.x = 2;
    glcnn_image *result = encode(kernel, a, b, NULL, NULL);
    check_floats(result, (const float[]){30, 60, 90}, 3, 1e-6);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void refuse_sizes(glcnn_kernel *kernel, glcnn_image *a, glcnn_image *b)
{
    glcnn_image *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    const struct glcnn_encode arguments = {.source = a, .secondary = b};
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, kernel, &arguments, &result, NULL));
    CU_ASSERT_PTR_NULL(result);
    glcnn_command_buffer_destroy(&commands);
}

static void sources_that_disagree_are_refused(void)
{
    glcnn_kernel *kernel = make_kernel(ADD);
    glcnn_image *a = make_image(2, 4, 3, 5),
                *others[] = {make_image(2, 4, 3, 6), make_image(2, 4, 2, 5), make_image(2, 8, 3, 5),
                             make_image(1, 4, 3, 5)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        refuse_sizes(kernel, a, others[i]);
        if (i < 3)
            refuse_sizes(kernel, others[i], a);
        glcnn_image_destroy(&others[i]);
    }
    glcnn_image_destroy(&a);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Gradients ---- */

/* Forward and gradient of one operation with its state. */
struct pair {
    glcnn_kernel *forward, *backward;
    glcnn_image *x, *y, *g, *result, *gradient;
    glcnn_state *state;
};

/* By the source that `secondary` says, given what the manual says. */
static void differentiate(struct pair *p, int kind, bool secondary)
{
    bool gives_second = kind == DIVIDE || kind == POWER || secondary != (kind == MULTIPLY);
    p->result = encode(p->forward, p->x, p->y, NULL, &p->state);
    p->backward = make_gradient(kind, secondary);
    p->gradient = encode(p->backward, p->g, gives_second ? p->y : p->x, p->state, NULL);
}

static void release(struct pair *p)
{
    glcnn_kernel_destroy(&p->forward);
    glcnn_kernel_destroy(&p->backward);
    glcnn_image_destroy(&p->x);
    glcnn_image_destroy(&p->y);
    glcnn_image_destroy(&p->g);
    glcnn_image_destroy(&p->result);
    glcnn_image_destroy(&p->gradient);
    glcnn_state_destroy(&p->state);
}

/* Every operation by either source: x = 2, y = 4 with scales 3 and 5, G = 1. */
static void gradients_by_either_source(void)
{
    static const float expected[KINDS][2] = {
        {3, 5}, {3, -5}, {3 * 5 * 4, 3 * 5 * 2}, {3.0f / (5 * 4), -3.0f * 2 / (5 * 4 * 4)}};
    for (int kind = ADD; kind < KINDS; kind++)
        for (int secondary = 0; secondary < 2; secondary++) {
            struct pair p = {.forward = make_kernel(kind),
                             .x = row_of(1, (const float[]){2}),
                             .y = row_of(1, (const float[]){4}),
                             .g = row_of(1, (const float[]){1})};
            glcnn_arithmetic(p.forward)->primary_scale = 3;
            glcnn_arithmetic(p.forward)->secondary_scale = 5;
            glcnn_arithmetic(p.forward)->bias = 7;
            differentiate(&p, kind, secondary);
            check_floats(p.gradient, &expected[kind][secondary], 1, 1e-6);
            release(&p);
        }
}

static void check_number(glcnn_image *image, float expected)
{
    if (!isnan(expected)) {
        check_floats(image, &expected, 1, 1e-6);
        return;
    }
    float *values = read_image(image);
    CU_ASSERT(isnan(values[0]));
    free(values);
}

/* Of equals each has half, a NaN stays one, and powers of 0 have no infinite derivatives where
 * PyTorch has none. Columns are results and both gradients; G is 8. */
static void extremes_and_powers(void)
{
    static const struct {
        int kind;
        float x, y, expected[3];
    } rows[] = {{MAXIMUM, 2, 1, {2, 8, 0}},
                {MAXIMUM, 1, 3, {3, 0, 8}},
                {MAXIMUM, 5, 5, {5, 4, 4}},
                {MAXIMUM, NAN, 1, {NAN, 4, 4}},
                {MINIMUM, 2, 1, {1, 0, 8}},
                {MINIMUM, 1, 3, {1, 8, 0}},
                {MINIMUM, 5, 5, {5, 4, 4}},
                {MINIMUM, 1, NAN, {NAN, 4, 4}},
                {POWER, 2, 3, {8, 96, 44.3614196f}},
                {POWER, 0, 2, {0, 0, 0}},
                {POWER, 0, 0, {1, 0, 0}},
                {POWER, -2, 2, {4, -32, NAN}}};
    static const float g[] = {8};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int secondary = 0; secondary < 2; secondary++) {
            struct pair p = {.forward = make_kernel(rows[i].kind),
                             .x = row_of(1, &rows[i].x),
                             .y = row_of(1, &rows[i].y),
                             .g = row_of(1, g)};
            differentiate(&p, rows[i].kind, secondary);
            check_number(p.result, rows[i].expected[0]);
            check_number(p.gradient, rows[i].expected[1 + secondary]);
            release(&p);
        }
}

/* Spec 12.27: on a bound the gradient passes, beyond it nothing does. */
static void choice_27_the_clamp_mask_is_inclusive(void)
{
    static const float x[] = {-1.5f, -1, -0.5f, 0.5f, 2, 2.25f, NAN}, y[] = {0, 0, 0, 0, 0, 0, 0};
    static const float g[] = {1, 2, 4, 8, 16, 32, 64}, expected[] = {0, 2, 4, 8, 16, 0, 0};
    for (int secondary = 0; secondary < 2; secondary++) {
        struct pair p = {
            .forward = make_kernel(ADD), .x = row_of(7, x), .y = row_of(7, y), .g = row_of(7, g)};
        glcnn_arithmetic(p.forward)->minimum_value = -1;
        glcnn_arithmetic(p.forward)->maximum_value = 2;
        differentiate(&p, ADD, secondary);
        check_floats(p.gradient, expected, 7, 1e-6);
        CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(p.state, "clamp_mask"));
        release(&p);
    }
}

/* Nothing is kept that no gradient needs; a state that has a mask from before does without. */
static void masks_are_kept_where_there_are_bounds(void)
{
    static const float x[] = {1, 5}, y[] = {1, 1}, g[] = {3, 4};
    struct pair p = {
        .forward = make_kernel(MULTIPLY), .x = row_of(2, x), .y = row_of(2, y), .g = row_of(2, g)};
    glcnn_arithmetic(p.forward)->maximum_value = 2;
    differentiate(&p, MULTIPLY, true);
    check_floats(p.gradient, (const float[]){3, 0}, 2, 1e-6);
    glcnn_arithmetic(p.forward)->maximum_value = FLT_MAX;
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_encode arguments = {
        .source = p.x, .secondary = p.y, .state = p.state, .destination = p.result};
    GOOD(glcnn_kernel_encode(commands, p.forward, &arguments));
    arguments.source = p.g;
    arguments.secondary = p.x;
    arguments.destination = p.gradient;
    GOOD(glcnn_kernel_encode(commands, p.backward, &arguments));
    finish(&commands);
    check_floats(p.gradient, (const float[]){3, 20}, 2, 1e-6);
    release(&p);
    p = (struct pair){
        .forward = make_kernel(ADD), .x = row_of(2, x), .y = row_of(2, y), .g = row_of(2, g)};
    differentiate(&p, ADD, false);
    CU_ASSERT_PTR_NULL(glcnn_state_vector(p.state, "clamp_mask"));
    release(&p);
}

/* What a gradient needs of a maximum is a number for four channels: halves in base 4. */
static void shares_take_a_number_for_four_channels(void)
{
    static const float x[] = {3, 1, 2, 7, -1}, y[] = {1, 3, 2, 6, 0}, g[5] = {8, 8, 8, 8, 8};
    static const float expected[] = {8, 0, 4, 8, 0};
    struct pair p = {.forward = make_kernel(MAXIMUM),
                     .x = image_with(1, 5, 1, 1, x),
                     .y = image_with(1, 5, 1, 1, y),
                     .g = image_with(1, 5, 1, 1, g)};
    differentiate(&p, MAXIMUM, false);
    check_floats(p.gradient, expected, 5, 1e-6);
    float shares[2];
    GOOD(glcnn_buffer_read(glcnn_state_vector(p.state, "primary_share"), 0, sizeof shares, shares));
    CU_ASSERT_EQUAL(shares[0], 2 + 1 * 16 + 2 * 64);
    CU_ASSERT_EQUAL(shares[1], 0);
    release(&p);
}

/* A bias for each channel: its gradient is the sum over the image, exact for whole numbers however
 * many passes it takes. */
static void gradients_are_summed_over_broadcast_axes(void)
{
    enum { C = 5, H = 150, W = 200 };
    struct pair p = {.forward = make_kernel(ADD),
                     .x = make_image(2, C, H, W),
                     .y = make_image(2, C, 1, 1),
                     .g = make_image(2, C, H, W)};
    fill_constant(p.g, 3);
    set_strides(p.forward, true, 0, 0, 1);
    differentiate(&p, ADD, true);
    CU_ASSERT_TRUE(has_shape(p.gradient, C, 1, 1));
    CU_ASSERT_TRUE(image_is_constant(p.gradient, 3.0f * H * W));
    release(&p);
}

/* One number for all: the sum goes to the channel and pixel that was read, others get 0. */
static void other_pixels_of_what_is_broadcast_get_zero(void)
{
    float expected[2 * 3 * 4] = {0};
    struct pair p = {.forward = make_kernel(SUBTRACT),
                     .x = make_image(1, 7, 5, 6),
                     .y = make_image(1, 2, 3, 4),
                     .g = make_image(1, 7, 5, 6)};
    fill_constant(p.g, 2);
    set_strides(p.forward, true, 0, 0, 0);
    glcnn_kernel_properties(p.forward)->secondary.offset.x = 3;
    glcnn_kernel_properties(p.forward)->secondary.offset.y = 1;
    differentiate(&p, SUBTRACT, true);
    expected[1 * 4 + 3] = -2 * 7 * 5 * 6;
    check_floats(p.gradient, expected, 2 * 3 * 4, 1e-6);
    release(&p);
}

/* ---- By name ---- */

static void check_run(const char *kernel, const struct glcnn_array *inputs, size_t count,
                      const char *setting, const float *expected, uint32_t width)
{
    struct glcnn_setting settings[2] = {{"is_secondary_source_filter", 1}};
    struct glcnn_array *outputs = NULL;
    size_t output_count = 0, found = 0;
    char error[512] = "";
    CU_ASSERT_EQUAL_FATAL(glcnn_setting_parse(kernel, setting, &settings[1], error), GLCNN_SUCCESS);
    glcnn_status status =
        glcnn_run(device, kernel, settings, 2, inputs, count, NULL, &outputs, &output_count, error);
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\n%s\n", error);
    for (size_t i = 0; i < output_count; i++)
        if (strcmp(outputs[i].name, "destination_gradient") == 0) {
            found++;
            CU_ASSERT_EQUAL_FATAL(outputs[i].shape[3], width);
            for (uint32_t k = 0; k < width; k++)
                CU_ASSERT_DOUBLE_EQUAL(outputs[i].data[k], expected[k], 1e-6);
        }
    CU_ASSERT_EQUAL(found, 1);
    glcnn_run_destroy(outputs);
}

/* A gradient by name takes the one image that its kernel is given, or both of the forward kernel:
 * those serve where values of both count. */
static void gradients_by_name_take_one_source_or_both(void)
{
    float g[] = {1, 2, 3}, x[] = {4, 5, 6}, y[] = {2};
    const struct glcnn_array one[] = {{"source_gradient", 1, {3}, g}, {"source_image", 1, {3}, x}};
    const struct glcnn_array both[] = {{"source_gradient", 1, {3}, g},
                                       {"source_image", 1, {3}, x},
                                       {"secondary_image", 1, {1}, y}};
    const char *broadcast = "secondary_stride_in_pixels_x=0";
    static const float product[] = {4 + 10 + 18}, quotient[] = {-(4 + 10 + 18) / 4.0f};
    struct glcnn_array *outputs = NULL;
    size_t count;
    char error[512] = "";
    check_run("multiply_gradient", one, 2, broadcast, product, 1);
    check_run("multiply_gradient", both, 3, broadcast, product, 1);
    check_run("divide_gradient", both, 3, broadcast, quotient, 1);
    const struct glcnn_setting bound = {"maximum_value", 1};
    CU_ASSERT_EQUAL(
        glcnn_run(device, "add_gradient", &bound, 1, one, 2, NULL, &outputs, &count, error),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "secondary_image"));
}

/* ---- By hand ---- */

/* Pixel by pixel from the clip rectangle: G from 1 on, the other source from 2 on, own scales. */
static void gradients_addressed_by_hand(void)
{
    static const float x[] = {1, 1, 1, 1}, y[] = {10, 20, 30, 40}, g[] = {1, 2, 3, 4};
    struct pair p = {
        .forward = make_kernel(MULTIPLY), .x = row_of(4, x), .y = row_of(4, y), .g = row_of(4, g)};
    differentiate(&p, MULTIPLY, false);
    struct glcnn_addressing *properties = glcnn_kernel_properties(p.backward);
    properties->primary.offset.x = 1;
    properties->secondary.offset.x = 2;
    properties->clip_rect.origin.x = 1;
    properties->clip_rect.size.width = 2;
    glcnn_arithmetic(p.backward)->primary_scale = 2;
    glcnn_arithmetic(p.backward)->secondary_scale = 0.5f;
    fill_constant(p.gradient, -1);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(
        commands, p.backward,
        &(struct glcnn_encode){
            .source = p.g, .secondary = p.y, .state = p.state, .destination = p.gradient}));
    finish(&commands);
    check_floats(p.gradient, (const float[]){-1, 2 * 30, 3 * 40, -1}, 4, 1e-6);
    release(&p);
}

/* ---- Misuse ---- */

static void refuse_encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, arguments));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
}

static void wrong_states_are_refused(void)
{
    static const float values[] = {1, 2};
    struct pair p = {.forward = make_kernel(ADD),
                     .x = row_of(2, values),
                     .y = row_of(2, values),
                     .g = row_of(2, values)};
    glcnn_image *wide = make_image(1, 1, 1, 3);
    glcnn_kernel *other = make_gradient(MULTIPLY, false);
    differentiate(&p, ADD, true);
    struct glcnn_encode arguments = {
        .source = p.g, .secondary = p.y, .destination = p.gradient, .state = NULL};
    refuse_encode(p.backward, &arguments);
    arguments.state = p.state;
    refuse_encode(other, &arguments);
    arguments.secondary = wide;
    refuse_encode(p.backward, &arguments);
    arguments.secondary = p.y;
    arguments.source = wide;
    refuse_encode(p.backward, &arguments);
    glcnn_kernel_destroy(&other);
    glcnn_image_destroy(&wide);
    release(&p);
}

static void wrong_parameters_are_refused(void)
{
    glcnn_kernel *kernel = make_kernel(ADD);
    glcnn_image *x = make_image(1, 1, 1, 2), *y = make_image(1, 1, 1, 2),
                *z = make_image(1, 1, 1, 2);
    struct glcnn_encode arguments = {.source = x, .secondary = y, .destination = z};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "secondary_stride_in_pixels_x", 2));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "primary_scale", INFINITY));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "bias", NAN));
    glcnn_arithmetic(kernel)->minimum_value = 1;
    glcnn_arithmetic(kernel)->maximum_value = 0.5f;
    refuse_encode(kernel, &arguments);
    glcnn_arithmetic(kernel)->maximum_value = 1;
    arguments.secondary = NULL;
    refuse_encode(kernel, &arguments);
    arguments.secondary = z;
    refuse_encode(kernel, &arguments);
    set_strides(kernel, false, 1, 1, 2);
    arguments.secondary = y;
    refuse_encode(kernel, &arguments);
    CU_ASSERT_PTR_NULL(glcnn_arithmetic(NULL));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&z);
    glcnn_kernel_destroy(&kernel);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_add_create(device, NULL));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_divide_gradient_create(device, true, NULL));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(formulas_with_scales_and_bias),
        UNIT_TEST(infinite_results_are_bounded),
        UNIT_TEST(strides_of_zero_broadcast),
        UNIT_TEST(offsets_say_which_pixel_is_broadcast),
        UNIT_TEST(sources_that_disagree_are_refused),
        UNIT_TEST(gradients_by_either_source),
        UNIT_TEST(extremes_and_powers),
        UNIT_TEST(choice_27_the_clamp_mask_is_inclusive),
        UNIT_TEST(masks_are_kept_where_there_are_bounds),
        UNIT_TEST(shares_take_a_number_for_four_channels),
        UNIT_TEST(gradients_are_summed_over_broadcast_axes),
        UNIT_TEST(other_pixels_of_what_is_broadcast_get_zero),
        UNIT_TEST(gradients_by_name_take_one_source_or_both),
        UNIT_TEST(gradients_addressed_by_hand),
        UNIT_TEST(wrong_states_are_refused),
        UNIT_TEST(wrong_parameters_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("arithmetic", tests, argc, argv);
}
