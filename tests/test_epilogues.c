/* Reductions of what a convolution stores, by the convolution's own groups: the same statistics as by
 * a pass that reads it again, in a pass less. */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "device/device.h"

#define WIDTH  21
#define HEIGHT 19
#define BATCH  5

/* A way to convolve, and a layer that takes it. */
struct form {
    const char *variant, *settings;
    uint32_t inputs, outputs;
};

static const struct form forms[] = {
    {"convolution_wide", "kernel_width=3 kernel_height=3", 6, 10},
    {"convolution_wide", "kernel_width=2 kernel_height=1 neuron_type=relu", 3, 18},
    {"convolution_wide", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_first", "kernel_width=4 kernel_height=2", 1, 7},
    {"convolution_column", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_shared", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_shared", "kernel_width=5 kernel_height=5", 1, 10},
    {"convolution_tiled", "kernel_width=3 kernel_height=3 stride_in_pixels_x=2", 8, 10},
    {"convolution_tiled", "kernel_width=1 kernel_height=1", 16, 37},
    {"convolution_tiled",
     "kernel_width=3 kernel_height=3 stride_in_pixels_x=4 stride_in_pixels_y=3", 24, 70}};

/* What a graph of a convolution and its normalisation comes to. */
struct outcome {
    float *values;
    size_t count, dispatches;
};

static void set_biases(glcnn_image_node *convolved, uint32_t count, float value)
{
    float biases[70];
    for (uint32_t i = 0; i < count; i++)
        biases[i] = value + (float)i;
    GOOD(glcnn_kernel_set_vector(kernel_of(convolved), "biases", biases, count));
}

static glcnn_image_node *make_layer(glcnn_network *net, const struct form *form, float bias)
{
    char settings[200];
    snprintf(settings, sizeof settings, "%s input_feature_channels=%u output_feature_channels=%u",
             form->settings, form->inputs, form->outputs);
    glcnn_image_node *x = glcnn_node(make_input(net, "image"), "convolution", settings);
    GOOD_FATAL(glcnn_network_status(net));
    set_weights(net, 7);
    set_biases(x, form->outputs, bias);
    return glcnn_node(x, "batch_normalization", "epsilon=1e-5 flags=always");
}

static void open_with(const char *place, const char *variant)
{
    char variants[100];
    fixture_close();
    snprintf(variants, sizeof variants, "%s,%s,statistics_arrival,coefficients_vectors", place,
             variant);
    setenv("GLCNN_VARIANTS", variants, 1);
    CU_ASSERT_TRUE_FATAL(fixture_open());
    unsetenv("GLCNN_VARIANTS");
}

static struct outcome normalise(const char *place, const struct form *form, float bias)
{
    struct outcome outcome;
    struct gl_count count;
    open_with(place, form->variant);
    glcnn_network *net = make_network();
    glcnn_image_node *result = make_layer(net, form, bias);
    glcnn_graph *graph = graph_of(result);
    glcnn_image *source = make_image(BATCH, form->inputs, HEIGHT, WIDTH);
    for (uint32_t i = 0; i < 2; i++) { /* the counters of arrivals are as they were */
        fill_noise(source, i);
        count_gl(&count);
        run_graph(graph, &source);
        stop_counting_gl();
    }
    outcome.dispatches = count.dispatches;
    outcome.values = result_values(graph, result);
    outcome.count = count_of(glcnn_graph_image(graph, result));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&net);
    return outcome;
}

/* Passes cannot take the buffers that this needs everywhere. */
static bool can_reduce(void)
{
    return glcnn_device_info(device)->limits.storage_blocks >= 8;
}

static void compare(const struct form *form, float bias, double tolerance)
{
    struct outcome apart = normalise("reduced_by_a_pass", form, bias);
    struct outcome stored = normalise("reduced_where_stored", form, bias);
    CU_ASSERT_EQUAL_FATAL(apart.count, stored.count);
    CU_ASSERT(arrays_near(stored.values, apart.values, apart.count, tolerance));
    CU_ASSERT_EQUAL(stored.dispatches + can_reduce(), apart.dispatches);
    free(apart.values);
    free(stored.values);
}

static void test_statistics_are_those_of_a_pass(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        compare(&forms[i], 0, 1e-5);
}

/* Deviations of about 1 beside means of about 4096, of which a float has 1/2048. */
static void test_large_means_lose_nothing(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        compare(&forms[i], 4096, 2e-3);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_statistics_are_those_of_a_pass),
                                        UNIT_TEST(test_large_means_lose_nothing),
                                        CU_TEST_INFO_NULL};
    return fixture_run("epilogues", tests, argc, argv);
}
