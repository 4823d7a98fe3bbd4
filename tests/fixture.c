/* What the tests of the core share. */
#include "tests/fixture.h"

#include <math.h>

#include "device/device.h"
#include "encode/implementation.h"
#include "image/float16.h"

glcnn_device *device;

bool fixture_open(void)
{
    unit_keep_no_programs();
    return glcnn_device_create(NULL, &device) == GLCNN_SUCCESS;
}

void fixture_close(void)
{
    glcnn_device_destroy(&device);
}

int fixture_run(const char *suite, const CU_TestInfo *tests, int argc, char *argv[])
{
    if (!fixture_open()) {
        fprintf(stderr, "no device can be opened\n");
        return EXIT_FAILURE;
    }
    int result = unit_run(suite, tests, argc, argv);
    fixture_close();
    return result;
}

bool implementations_exist(const char *names)
{
    char *const kept = device->forced_implementations;
    device->forced_implementations = (char *)(uintptr_t)names;
    bool exist = implementations_check(device) == GLCNN_SUCCESS;
    device->forced_implementations = kept;
    return exist;
}

bool fixture_good(glcnn_status status, const char *call, int line)
{
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\nline %d: %s: %s: %s\n", line, call, glcnn_status_text(status),
                glcnn_device_error(device));
    return status == GLCNN_SUCCESS;
}

void fixture_forget_error(glcnn_device *on)
{
    if (on)
        on->error[0] = 0;
}

bool fixture_refused(glcnn_device *on, glcnn_status status, glcnn_status expected, const char *call,
                     int line)
{
    bool said = !on || strlen(glcnn_device_error(on)) > 10;
    if (status != expected || !said)
        fprintf(stderr, "\nline %d: %s: %s, not %s: \"%s\"\n", line, call,
                glcnn_status_text(status), glcnn_status_text(expected), glcnn_device_error(on));
    return status == expected && said;
}

float noise(uint32_t *seed)
{
    return (float)below(seed, 4001) / 2000.0f - 1.0f;
}

/* ---- Images ---- */

size_t count_of(const glcnn_image *image)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    return (size_t)d->width * d->height * d->feature_channels * d->number_of_images;
}

glcnn_image *make_image_of(glcnn_device *on, glcnn_channel_format format, uint32_t images,
                           uint32_t channels, uint32_t height, uint32_t width)
{
    const struct glcnn_image_descriptor descriptor = {width, height, channels, images, format};
    glcnn_image *image = NULL;
    GOOD_FATAL(glcnn_image_create(on, &descriptor, &image));
    return image;
}

glcnn_image *make_image(uint32_t images, uint32_t channels, uint32_t height, uint32_t width)
{
    return make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT32, images, channels, height, width);
}

static size_t element_size(const glcnn_image *image)
{
    return glcnn_image_get_descriptor(image)->channel_format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? 2
                                                                                             : 4;
}

static const struct glcnn_image_transfer planes = {.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH};

void fill_image(glcnn_image *image, const float *values)
{
    size_t count = count_of(image), size = element_size(image);
    uint16_t *float16 = calloc(count, sizeof *float16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(float16);
    for (size_t i = 0; i < count; i++)
        float16[i] = float16_from_float(values[i]);
    GOOD(glcnn_image_write_bytes(image, &planes, size == 2 ? (const void *)float16 : values,
                                 count * size));
    free(float16);
}

void fill_noise(glcnn_image *image, uint32_t seed)
{
    size_t count = count_of(image);
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < count; i++)
        values[i] = noise(&seed);
    fill_image(image, values);
    free(values);
}

void fill_constant(glcnn_image *image, float value)
{
    size_t count = count_of(image);
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    fill_image(image, values);
    free(values);
}

glcnn_image *image_with(uint32_t images, uint32_t channels, uint32_t height, uint32_t width,
                        const float *values)
{
    glcnn_image *image = make_image(images, channels, height, width);
    fill_image(image, values);
    return image;
}

float *read_image(glcnn_image *image)
{
    size_t count = count_of(image), size = element_size(image);
    uint16_t *float16 = calloc(count, sizeof *float16);
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(float16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    GOOD(
        glcnn_image_read_bytes(image, &planes, size == 2 ? (void *)float16 : values, count * size));
    for (size_t i = 0; size == 2 && i < count; i++)
        values[i] = float16_to_float(float16[i]);
    free(float16);
    return values;
}

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool image_equals(glcnn_image *image, const float *expected)
{
    size_t count = count_of(image), i = 0;
    float *values = read_image(image);
    while (i < count && same(values[i], expected[i]))
        i++;
    if (i < count)
        fprintf(stderr, "\nelement %zu is %g, not %g\n", i, (double)values[i], (double)expected[i]);
    free(values);
    return i == count;
}

bool images_equal(glcnn_image *a, glcnn_image *b)
{
    if (count_of(a) != count_of(b))
        return false;
    float *expected = read_image(b);
    bool equal = image_equals(a, expected);
    free(expected);
    return equal;
}

bool image_is_constant(glcnn_image *image, float value)
{
    size_t count = count_of(image);
    float *expected = calloc(count, sizeof *expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = value;
    bool equal = image_equals(image, expected);
    free(expected);
    return equal;
}

bool is_near(double found, double expected, double tolerance)
{
    bool good = fabs(found - expected) <= tolerance * fmax(1, fabs(expected));
    if (!good)
        fprintf(stderr, "\nfound %.9g, not %.9g\n", found, expected);
    return good;
}

void check_doubles(glcnn_image *image, const double *expected, double tolerance)
{
    float *found = read_image(image);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT(is_near((double)found[i], expected[i], tolerance));
    free(found);
}

void check_floats(glcnn_image *image, const float *expected, size_t count, double tolerance)
{
    CU_ASSERT_EQUAL_FATAL(count_of(image), count);
    double *wider = calloc(count, sizeof *wider);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wider);
    for (size_t i = 0; i < count; i++)
        wider[i] = (double)expected[i];
    check_doubles(image, wider, tolerance);
    free(wider);
}

/* ---- Kernels ---- */

void apply_settings(glcnn_kernel *kernel, const char *settings)
{
    char text[256], error[512];
    snprintf(text, sizeof text, "%s", settings ? settings : "");
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        struct glcnn_setting setting;
        double unused;
        GOOD(glcnn_setting_parse(glcnn_kernel_name(kernel), word, &setting, error));
        if (glcnn_kernel_get(kernel, setting.name, &unused) == GLCNN_SUCCESS)
            GOOD(glcnn_kernel_set(kernel, setting.name, setting.value));
    }
}

glcnn_kernel *kernel_with(const char *name, const char *settings)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    apply_settings(kernel, settings);
    return kernel;
}

/* ---- Command buffers ---- */

glcnn_command_buffer *make_commands(void)
{
    glcnn_command_buffer *commands = NULL;
    GOOD_FATAL(glcnn_command_buffer_create(device, &commands));
    return commands;
}

void finish(glcnn_command_buffer **commands)
{
    GOOD(glcnn_command_buffer_commit(*commands));
    GOOD(glcnn_command_buffer_wait(*commands));
    glcnn_command_buffer_destroy(commands);
}

void encode_pair(glcnn_kernel *forward, glcnn_kernel *backward, glcnn_image *x, glcnn_image *g,
                 glcnn_image *y, glcnn_image *dx)
{
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){.source = x}, &state));
    GOOD(glcnn_kernel_encode(
        commands, forward, &(struct glcnn_encode){.source = x, .state = state, .destination = y}));
    GOOD(glcnn_kernel_encode(
        commands, backward,
        &(struct glcnn_encode){.source = g, .secondary = x, .state = state, .destination = dx}));
    finish(&commands);
    glcnn_state_destroy(&state);
}

glcnn_image *result_of(glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                       glcnn_state **state)
{
    glcnn_image *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(commands, kernel, arguments, &result, state));
    finish(&commands);
    return result;
}
