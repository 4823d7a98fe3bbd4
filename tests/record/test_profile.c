/* Times of passes: every pass of a commit is told once, in order, by the clock of the GPU or, where
 * a driver has none, by waits. */
#include "device/device.h"
#include "glcnn/kernels/convolution.h"
#include "record/command_buffer.h"
#include "tests/cases.h"

#define PASSES_MAX 64

/* What the callback was told. */
struct told {
    struct glcnn_pass_timing passes[PASSES_MAX];
    char kernels[PASSES_MAX][48], shaders[PASSES_MAX][64];
    size_t count;
};

static void take(void *user, const struct glcnn_pass_timing *timing)
{
    struct told *told = user;
    CU_ASSERT_FATAL(told->count < PASSES_MAX);
    told->passes[told->count] = *timing;
    snprintf(told->kernels[told->count], sizeof *told->kernels, "%s", timing->kernel);
    snprintf(told->shaders[told->count++], sizeof *told->shaders, "%s", timing->shader);
}

static glcnn_image *make_image(void)
{
    const struct glcnn_image_descriptor descriptor = {
        .width = 8, .height = 6, .feature_channels = 5, .number_of_images = 2};
    glcnn_image *image = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_image_create(cases_device(), &descriptor, &image), GLCNN_SUCCESS);
    return image;
}

/* Max pooling, then a neuron on its result. */
static glcnn_command_buffer *record(glcnn_image *source)
{
    static const char *const names[] = {"pooling_max", "neuron"};
    glcnn_command_buffer *commands = NULL;
    glcnn_image *images[3] = {source};
    CU_ASSERT_EQUAL_FATAL(glcnn_command_buffer_create(cases_device(), &commands), GLCNN_SUCCESS);
    for (size_t i = 0; i < 2; i++) {
        glcnn_kernel *kernel = NULL;
        CU_ASSERT_EQUAL_FATAL(glcnn_kernel_create(cases_device(), names[i], &kernel),
                              GLCNN_SUCCESS);
        CU_ASSERT_EQUAL_FATAL(glcnn_kernel_encode_returning(
                                  commands, kernel, &(struct glcnn_encode){.source = images[i]},
                                  &images[i + 1], NULL),
                              GLCNN_SUCCESS);
        glcnn_kernel_destroy(&kernel);
    }
    glcnn_image_destroy(&images[1]);
    glcnn_image_destroy(&images[2]);
    return commands;
}

static void check_told(const struct told *told, const glcnn_command_buffer *commands)
{
    CU_ASSERT_EQUAL_FATAL(told->count, glcnn_command_buffer_pass_count(commands));
    for (size_t i = 0; i < told->count; i++) {
        const struct glcnn_pass_timing *t = &told->passes[i];
        CU_ASSERT_STRING_EQUAL(told->shaders[i], commands->passes[i].shader);
        CU_ASSERT_STRING_EQUAL(told->kernels[i], commands->passes[i].owner.name);
        CU_ASSERT(t->dispatches >= 1);
        CU_ASSERT(t->end >= t->begin);
        CU_ASSERT(i == 0 || t->begin >= told->passes[i - 1].end);
    }
    CU_ASSERT_STRING_EQUAL(told->kernels[0], "pooling_max");
    CU_ASSERT_STRING_EQUAL(told->kernels[told->count - 1], "neuron");
}

/* Commits twice while somebody asks and once when nobody does any more. */
static void profile_commits(bool gpu_clock)
{
    struct told told = {.count = 0};
    glcnn_image *source = make_image();
    glcnn_command_buffer *commands = record(source);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), take, &told), GLCNN_SUCCESS);
    for (int i = 0; i < 2; i++) {
        told.count = 0;
        CU_ASSERT_EQUAL(glcnn_command_buffer_commit(commands), GLCNN_SUCCESS);
        CU_ASSERT(glcnn_command_buffer_is_complete(commands));
        check_told(&told, commands);
        CU_ASSERT_EQUAL(told.passes[0].gpu_clock, gpu_clock);
    }
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), NULL, NULL), GLCNN_SUCCESS);
    told.count = 0;
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(commands), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(told.count, 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
}

static void every_pass_is_told_by_the_clock_of_the_gpu(void)
{
    struct glcnn_device *device = cases_device();
    GLint bits = 0;
    if (device->gl.GetQueryivEXT)
        device->gl.GetQueryivEXT(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &bits);
    profile_commits(bits > 0);
}

static void every_pass_is_told_without_such_a_clock(void)
{
    struct glcnn_device *device = cases_device();
    PFNGLQUERYCOUNTEREXTPROC kept = device->gl.QueryCounterEXT;
    device->gl.QueryCounterEXT = NULL;
    profile_commits(false);
    device->gl.QueryCounterEXT = kept;
}

/* Not in a commit of the user's, but passes too. */
static void transfers_are_told(void)
{
    float values[2 * 5 * 6 * 8] = {0};
    struct told told = {.count = 0};
    glcnn_image *image = make_image();
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), take, &told), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_image_write_bytes(image, NULL, values, sizeof values), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(told.count, 1);
    CU_ASSERT_STRING_EQUAL(told.kernels[0], "");
    CU_ASSERT_STRING_EQUAL(told.shaders[0], "image/image_write.comp");
    /* 2 images of 2 slices of 6 rows of 8 pixels, and the numbers. */
    CU_ASSERT_EQUAL(told.passes[0].bytes, 2 * 2 * 6 * 8 * 16 + sizeof values);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), NULL, NULL), GLCNN_SUCCESS);
    glcnn_image_destroy(&image);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(NULL, take, &told), GLCNN_INVALID_ARGUMENT);
}

/* 3 x 3 taps of 5 channels (slices make it 8) for each of 4 channels and 96 pixels; an implementation
 * may add the biases to it and fill its last tiles. */
static void multiplications_of_weights_are_counted(void)
{
    static const float weights[4 * 3 * 3 * 5];
    const double least = 2.0 * 96 * 4 * 9 * 5;
    const struct glcnn_convolution_descriptor d = {.kernel_width = 3,
                                                   .kernel_height = 3,
                                                   .input_feature_channels = 5,
                                                   .output_feature_channels = 4};
    struct told told = {.count = 0};
    glcnn_image *image = make_image(), *result = NULL;
    glcnn_command_buffer *commands = NULL;
    glcnn_kernel *kernel = NULL;
    double operations = 0;
    CU_ASSERT_EQUAL_FATAL(
        glcnn_convolution_create(cases_device(), &d,
                                 &(struct glcnn_convolution_weights){.weights = weights}, &kernel),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_command_buffer_create(cases_device(), &commands), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_kernel_encode_returning(commands, kernel,
                                                        &(struct glcnn_encode){.source = image},
                                                        &result, NULL),
                          GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), take, &told), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(commands), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(cases_device(), NULL, NULL), GLCNN_SUCCESS);
    for (size_t i = 0; i < told.count; i++)
        if (!strstr(told.shaders[i], "pack"))
            operations += (double)told.passes[i].operations;
    CU_ASSERT(operations >= least);
    CU_ASSERT(operations <= 4 * least);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&result);
}

/* A device that goes while somebody asks leaves nothing behind, as valgrind sees. */
static void a_device_may_go_meanwhile(void)
{
    struct told told = {.count = 0};
    glcnn_device *device = NULL;
    glcnn_image *image = NULL;
    float value = 1;
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &device), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_device_set_profile(device, take, &told), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(
        glcnn_image_create(device, &(struct glcnn_image_descriptor){.width = 1}, &image),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_image_write_bytes(image, NULL, &value, sizeof value), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(told.count, 1);
    glcnn_image_destroy(&image);
    glcnn_device_destroy(&device);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(every_pass_is_told_by_the_clock_of_the_gpu),
                                        UNIT_TEST(every_pass_is_told_without_such_a_clock),
                                        UNIT_TEST(transfers_are_told),
                                        UNIT_TEST(multiplications_of_weights_are_counted),
                                        UNIT_TEST(a_device_may_go_meanwhile),
                                        CU_TEST_INFO_NULL};
    return cases_main("profile", tests, argc, argv);
}
