/* Slice, concatenation and reshape on images whose numbers say where they came from:
 * what a concatenation puts between its sources (spec 12.30), and the order of a reshape
 * (spec 12.42). */
#include "glcnn/kernels/slice.h"

#include "tests/fixture.h"

typedef glcnn_status (*constructor)(glcnn_device *device, glcnn_kernel **kernel);

static glcnn_kernel *make(constructor create)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(create(device, &kernel));
    return kernel;
}

static void encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
}

/* 1000 * image + 100 * channel + 10 * row + column. */
static float number_at(uint32_t n, uint32_t c, uint32_t y, uint32_t x)
{
    return (float)(1000 * n + 100 * c + 10 * y + x);
}

static glcnn_image *numbered(uint32_t images, uint32_t channels, uint32_t height, uint32_t width)
{
    glcnn_image *image = make_image(images, channels, height, width);
    float *values = malloc(count_of(image) * sizeof *values), *at = values;
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (uint32_t n = 0; n < images; n++)
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t y = 0; y < height; y++)
                for (uint32_t x = 0; x < width; x++)
                    *at++ = number_at(n, c, y, x);
    fill_image(image, values);
    free(values);
    return image;
}

static void slice_takes_a_region_and_some_channels(void)
{
    glcnn_kernel *slice = make(glcnn_slice_create);
    glcnn_image *source = numbered(2, 9, 4, 5), *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_addressing *p = glcnn_kernel_properties(slice);
    p->primary.offset = (struct glcnn_offset){2, 1, 0};
    p->primary.feature_channel_offset = 4;
    p->primary.feature_channel_max_count = 3;
    p->clip_rect.size = (struct glcnn_size){3, 2, UINT32_MAX};
    p->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, slice, &(struct glcnn_encode){.source = source}, &result, NULL));
    finish(&commands);
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    CU_ASSERT_FATAL(d->width == 3 && d->height == 2 && d->feature_channels == 3 &&
                    d->number_of_images == 2);
    float *found = read_image(result);
    for (uint32_t i = 0; i < count_of(result); i++)
        CU_ASSERT_EQUAL(found[i], number_at(i / 18, 4 + i / 6 % 3, 1 + i / 3 % 2, 2 + i % 3));
    free(found);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&slice);
}

/* What two encodes, of 23 and of 5 channels, left in one image of 29. */
static void check_joined(glcnn_image *joined)
{
    float *found = read_image(joined);
    for (uint32_t i = 0; i < count_of(joined); i++) {
        uint32_t n = i / (29 * 6), c = i / 6 % 29, y = i / 3 % 2, x = i % 3;
        float wanted = c < 23 ? number_at(n, c, y, x) : c < 24 ? 0 : -number_at(n, c - 24, y, x);
        CU_ASSERT_EQUAL(found[i], wanted);
    }
    free(found);
}

static glcnn_image *negated(uint32_t images, uint32_t channels, uint32_t height, uint32_t width)
{
    glcnn_image *image = numbered(images, channels, height, width);
    float *values = read_image(image);
    for (size_t i = 0; i < count_of(image); i++)
        values[i] = -values[i];
    fill_image(image, values);
    free(values);
    return image;
}

static glcnn_state *encode_part(glcnn_kernel *kernel, glcnn_image *source, glcnn_image *joined,
                                uint32_t channel)
{
    struct glcnn_encode arguments = {.source = source, .destination = joined};
    glcnn_kernel_properties(kernel)->destination_feature_channel_offset = channel;
    GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, &arguments, &arguments.state));
    encode(kernel, &arguments);
    return arguments.state;
}

/* The gradient of one source is its slice of the whole gradient, here of the joined image itself.
 */
static void check_part(glcnn_image *joined, glcnn_image *source, glcnn_state *state)
{
    glcnn_kernel *gradient = make(glcnn_concatenation_gradient_create);
    glcnn_image *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel_properties(gradient)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, gradient,
        &(struct glcnn_encode){.source = joined, .secondary = source, .state = state}, &result,
        NULL));
    finish(&commands);
    CU_ASSERT_EQUAL(count_of(result), count_of(source));
    CU_ASSERT(images_equal(result, source));
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&gradient);
}

static void sources_of_a_concatenation_start_at_multiples_of_four(void) /* spec 12.30 */
{
    glcnn_kernel *concatenation = make(glcnn_concatenation_create);
    glcnn_image *first = numbered(2, 23, 2, 3), *second = negated(2, 5, 2, 3);
    glcnn_image *joined = make_image(2, 29, 2, 3);
    fill_constant(joined, 7);
    glcnn_state *states[] = {encode_part(concatenation, first, joined, 0),
                             encode_part(concatenation, second, joined, 24)};
    check_joined(joined);
    check_part(joined, first, states[0]);
    check_part(joined, second, states[1]);
    glcnn_kernel_properties(concatenation)->destination_feature_channel_offset = 23;
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, concatenation,
                                &(struct glcnn_encode){.source = second, .destination = joined}));
    finish(&commands);
    for (int i = 0; i < 2; i++)
        glcnn_state_destroy(&states[i]);
    glcnn_image_destroy(&first);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&joined);
    glcnn_kernel_destroy(&concatenation);
}

static void reshape_keeps_the_order_row_column_channel(void) /* spec 12.42 */
{
    static const float expected[] = {0, 101, 10, 111, /**/ 100, 2, 110, 12, /**/ 1, 102, 11, 112};
    glcnn_kernel *reshape = NULL, *back = make(glcnn_reshape_gradient_create);
    glcnn_image *source = numbered(1, 2, 2, 3), *result = NULL, *again = NULL;
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_reshape_create(device, 2, 2, 3, &reshape));
    glcnn_kernel_properties(reshape)->result_is_ordinary = true;
    glcnn_kernel_properties(back)->result_is_ordinary = true;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, reshape, &(struct glcnn_encode){.source = source}, &result, &state));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, back,
        &(struct glcnn_encode){.source = result, .secondary = source, .state = state}, &again,
        NULL));
    finish(&commands);
    CU_ASSERT_EQUAL_FATAL(count_of(result), 12);
    CU_ASSERT(image_equals(result, expected));
    CU_ASSERT(images_equal(again, source));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&again);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&reshape);
    glcnn_kernel_destroy(&back);
}

static void reshapes_that_do_not_fit_are_refused(void)
{
    glcnn_kernel *reshape = NULL;
    glcnn_image *source = numbered(1, 2, 2, 3), *wide = make_image(1, 3, 2, 3);
    glcnn_image *result = make_image(1, 3, 2, 2);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_reshape_create(device, 2, 2, 3, &reshape));
    struct glcnn_encode arguments = {.source = source, .destination = wide};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, reshape, &arguments));
    arguments.destination = result;
    GOOD(glcnn_kernel_encode(commands, reshape, &arguments));
    glcnn_reshape(reshape)->reshaped_feature_channels = 2;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, reshape, &arguments));
    finish(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&wide);
    glcnn_kernel_destroy(&reshape);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(slice_takes_a_region_and_some_channels),
        UNIT_TEST(sources_of_a_concatenation_start_at_multiples_of_four),
        UNIT_TEST(reshape_keeps_the_order_row_column_channel),
        UNIT_TEST(reshapes_that_do_not_fit_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("slice", tests, argc, argv);
}
