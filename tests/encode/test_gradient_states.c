/* One gradient kernel for the states of several forward encodes: each gives the gradient that a
 * kernel of its own would, whatever the kernel took over from the encode before. */
#include "tests/fixture.h"

#include "encode/kernel.h"

/* A forward encode: settings of the kernel, and its sources. Padding and sizes are such that both
 * encodes of a row have other offsets, windows or strides. */
struct encode {
    const char *settings;
    uint32_t width, height, second_width, second_height;
};

struct row {
    const char *kernel;
    struct encode encodes[2];
};

#define CHANNELS "input_feature_channels=4 output_feature_channels=4 "
#define WINDOW   "kernel_width=3 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=3 "

static const struct row rows[] = {
    {"pooling_average", {{WINDOW, 8, 7, 0, 0}, {WINDOW "edge_mode=clamp", 7, 9, 0, 0}}},
    {"pooling_max", {{WINDOW, 8, 7, 0, 0}, {"kernel_width=2 kernel_height=2", 6, 5, 0, 0}}},
    {"pooling_l2_norm", {{WINDOW "padding=valid", 8, 7, 0, 0}, {WINDOW, 6, 5, 0, 0}}},
    {"convolution", {{CHANNELS WINDOW, 8, 7, 0, 0}, {CHANNELS WINDOW, 7, 6, 0, 0}}},
    {"convolution_transpose",
     {{CHANNELS WINDOW, 4, 3, 0, 0}, {CHANNELS WINDOW "padding=valid", 3, 5, 0, 0}}},
    {"neuron", {{"neuron_type=tanh", 5, 4, 0, 0}, {"neuron_type=elu", 3, 6, 0, 0}}},
    {"spatial_normalization",
     {{"kernel_width=3 kernel_height=3", 5, 4, 0, 0},
      {"kernel_width=5 kernel_height=3", 6, 4, 0, 0}}},
    {"upsampling_nearest",
     {{"scale_factor_x=2 scale_factor_y=2", 5, 4, 0, 0},
      {"scale_factor_x=3 scale_factor_y=1", 3, 4, 0, 0}}},
    {"multiply",
     {{"secondary_stride_in_pixels_x=0 secondary_stride_in_pixels_y=0", 5, 4, 1, 1},
      {"primary_stride_in_pixels_x=0", 1, 4, 6, 4}}},
};
#define ROWS (sizeof rows / sizeof *rows)

/* What a gradient encode is given. */
struct given {
    glcnn_image *image, *second, *gradient;
    glcnn_state *state;
};

static void set_weights(glcnn_kernel *kernel)
{
    float values[96];
    for (size_t i = 0; i < 96; i++)
        values[i] = (float)(i * 37 % 64) / 32 - 1;
    if (kernel_kept_argument(kernel, "weights") >= 0)
        GOOD_FATAL(glcnn_kernel_set_vector(kernel, "weights", values, 96));
}

static glcnn_kernel *forward_of(const char *name, const char *settings)
{
    glcnn_kernel *kernel = kernel_with(name, settings);
    kernel->properties.padding |= GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT;
    kernel->properties.result_is_ordinary = true;
    set_weights(kernel);
    return kernel;
}

static struct given give(const struct row *row, int which)
{
    const struct encode *e = &row->encodes[which];
    struct given g = {.image = make_image(2, 4, e->height, e->width)};
    fill_noise(g.image, 3u + (uint32_t)which);
    if (e->second_width) {
        g.second = make_image(2, 4, e->second_height, e->second_width);
        fill_noise(g.second, 8u + (uint32_t)which);
    }
    glcnn_kernel *kernel = forward_of(row->kernel, e->settings);
    g.gradient = result_of(kernel, &(struct glcnn_encode){.source = g.image, .secondary = g.second},
                           &g.state);
    glcnn_kernel_destroy(&kernel);
    fill_noise(g.gradient, 5u + (uint32_t)which);
    return g;
}

static void take(struct given *g)
{
    glcnn_image_destroy(&g->image);
    glcnn_image_destroy(&g->second);
    glcnn_image_destroy(&g->gradient);
    glcnn_state_destroy(&g->state);
}

/* The gradient of a product is given the other factor. */
static struct glcnn_encode arguments_of(const struct given *g)
{
    return (struct glcnn_encode){
        .source = g->gradient, .secondary = g->second ? g->second : g->image, .state = g->state};
}

static glcnn_kernel *gradient_of(const struct row *row)
{
    glcnn_kernel *kernel = NULL;
    const struct glcnn_descriptor *d = descriptor_find(row->kernel);
    GOOD_FATAL(glcnn_kernel_create(device, d->gradient, &kernel));
    kernel->properties.result_is_ordinary = true;
    if (strstr(row->kernel, "convolution"))
        GOOD_FATAL(glcnn_kernel_set(kernel, "output_feature_channels", 4));
    return kernel;
}

/* Weights can be set once the window is known. */
static void prepare(glcnn_kernel *kernel, const struct given *g)
{
    struct glcnn_image_descriptor unused;
    struct glcnn_encode arguments = arguments_of(g);
    if (kernel_kept_argument(kernel, "weights") < 0)
        return;
    GOOD_FATAL(glcnn_kernel_prepare_destination(kernel, &arguments, &unused));
    GOOD_FATAL(glcnn_kernel_set(kernel, "input_feature_channels", 4));
    set_weights(kernel);
}

/* What a kernel gives that has seen no other state. */
static glcnn_image *expected_of(const struct row *row, const struct given *g)
{
    glcnn_kernel *kernel = gradient_of(row);
    struct glcnn_encode arguments = arguments_of(g);
    prepare(kernel, g);
    glcnn_image *result = result_of(kernel, &arguments, NULL);
    glcnn_kernel_destroy(&kernel);
    return result;
}

/* Whether a non-returning encode, for which nothing is taken over from the state, gives that. */
static bool follows(glcnn_kernel *kernel, const struct row *row, const struct given *g)
{
    struct glcnn_encode arguments = arguments_of(g);
    glcnn_image *expected = expected_of(row, g);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(
        glcnn_image_create(device, glcnn_image_get_descriptor(expected), &arguments.destination));
    GOOD(glcnn_kernel_encode(commands, kernel, &arguments));
    finish(&commands);
    bool equal = images_equal(arguments.destination, expected);
    if (!equal)
        fprintf(stderr, "\n  %s: another gradient\n", row->kernel);
    glcnn_image_destroy(&arguments.destination);
    glcnn_image_destroy(&expected);
    return equal;
}

/* How the kernel comes to know the first state. */
static void adopt(glcnn_kernel *kernel, const struct given *g, int way)
{
    struct glcnn_image_descriptor descriptor;
    struct glcnn_encode arguments = arguments_of(g);
    if (way == 0) {
        glcnn_image *result = result_of(kernel, &arguments, NULL);
        glcnn_image_destroy(&result);
    } else {
        GOOD_FATAL(glcnn_kernel_prepare_destination(kernel, &arguments, &descriptor));
    }
}

static void check_row(const struct row *row, int way)
{
    struct given given[] = {give(row, 0), give(row, 1)};
    glcnn_kernel *kernel = gradient_of(row), *copy = NULL;
    prepare(kernel, &given[0]);
    for (int first = 0; first < 2; first++) {
        adopt(kernel, &given[first], way);
        GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
        CU_ASSERT_TRUE(follows(kernel, row, &given[1 - first]));
        CU_ASSERT_TRUE(follows(copy, row, &given[1 - first]));
        glcnn_kernel_destroy(&copy);
    }
    glcnn_kernel_destroy(&kernel);
    take(&given[0]);
    take(&given[1]);
}

static void test_each_state_has_its_gradient(void)
{
    for (size_t i = 0; i < ROWS; i++)
        for (int way = 0; way < 2; way++)
            check_row(&rows[i], way);
}

/* What a constructor gives a kernel is not set by hand: the state's window counts. */
static void test_windows_of_constructors_give_way(void)
{
    const struct row *row = &rows[1];
    struct given given[] = {give(row, 0), give(row, 1)};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_max_gradient_create(device, 3, 2, 2, 3, &kernel));
    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE(follows(kernel, row, &given[i]));
    glcnn_kernel_destroy(&kernel);
    take(&given[0]);
    take(&given[1]);
}

/* Where the kernel's weights are for another window there is no right gradient. */
static void test_weights_of_another_window_are_refused(void)
{
    const struct glcnn_convolution_descriptor d = {.kernel_width = 3,
                                                   .kernel_height = 2,
                                                   .input_feature_channels = 4,
                                                   .output_feature_channels = 4};
    glcnn_kernel *forward = kernel_with("convolution", CHANNELS "kernel_width=5 kernel_height=4");
    glcnn_kernel *kernel = NULL;
    struct given g = {.image = make_image(2, 4, 7, 8)};
    GOOD_FATAL(glcnn_convolution_gradient_create(device, &d, NULL, &kernel));
    set_weights(kernel);
    forward->properties.result_is_ordinary = true;
    g.gradient = result_of(forward, &(struct glcnn_encode){.source = g.image}, &g.state);
    struct glcnn_encode arguments = arguments_of(&g);
    arguments.destination = make_image(2, 4, 7, 8);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "weights has 96 elements; 320"));
    finish(&commands);
    glcnn_image_destroy(&arguments.destination);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&forward);
    take(&g);
}

/* What no state brings stays set by hand: pixels outside a clip rectangle keep their contents. */
static void test_a_clip_rectangle_stays(void)
{
    struct given given[] = {give(&rows[0], 0), give(&rows[0], 1)};
    glcnn_kernel *kernel = gradient_of(&rows[0]);
    kernel->properties.clip_rect = (struct glcnn_region){{0, 0, 0}, {3, 1, 2}};
    adopt(kernel, &given[0], 1);
    for (int i = 0; i < 2; i++) {
        struct glcnn_encode arguments = arguments_of(&given[i]);
        glcnn_command_buffer *commands = make_commands();
        GOOD_FATAL(glcnn_image_create(device, glcnn_image_get_descriptor(given[i].image),
                                      &arguments.destination));
        fill_constant(arguments.destination, 7);
        GOOD(glcnn_kernel_encode(commands, kernel, &arguments));
        finish(&commands);
        float *values = read_image(arguments.destination);
        uint32_t width = rows[0].encodes[i].width, height = rows[0].encodes[i].height;
        for (size_t e = 0; e < count_of(arguments.destination); e++)
            CU_ASSERT_EQUAL(values[e] == 7, e % width >= 3 || e / width % height >= 1);
        free(values);
        glcnn_image_destroy(&arguments.destination);
    }
    glcnn_kernel_destroy(&kernel);
    take(&given[0]);
    take(&given[1]);
}

/* A refused encode takes over nothing. */
static void test_a_refused_encode_takes_nothing_over(void)
{
    struct given given[] = {give(&rows[1], 0), give(&rows[1], 1)};
    glcnn_kernel *kernel = gradient_of(&rows[1]);
    adopt(kernel, &given[0], 0);
    struct glcnn_encode wrong = arguments_of(&given[1]);
    wrong.source = given[0].gradient;
    struct glcnn_addressing before = kernel->properties;
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *none;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, kernel, &wrong, &none, NULL));
    CU_ASSERT_PTR_NULL(none);
    finish(&commands);
    CU_ASSERT_EQUAL(memcmp(&before, &kernel->properties, sizeof before), 0);
    CU_ASSERT_TRUE(follows(kernel, &rows[1], &given[0]));
    glcnn_kernel_destroy(&kernel);
    take(&given[0]);
    take(&given[1]);
}

/* ---- Graphs ---- */

static glcnn_network *network;

/* Gradient for the weights of a convolution's node, from a graph on images of this size; with the
 * data gradient, where it is needed, too. To be freed. */
static float *weight_gradient(glcnn_filter_node *node, uint32_t width, uint32_t height, bool needed)
{
    glcnn_graph *graph;
    glcnn_state_node *state = glcnn_filter_node_result_state(glcnn_filter_node_forward(node, NULL));
    glcnn_image_node *result = glcnn_filter_node_result(node);
    const struct glcnn_graph_descriptor d = {
        .results = &result, .result_is_needed = &needed, .result_count = 1};
    GOOD_FATAL(glcnn_graph_create(network, &d, &graph));
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 2);
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(glcnn_graph_source(graph, 0)), "g");
    glcnn_image *sources[] = {make_image(2, 4, (height + 2) / 3, (width + 1) / 2),
                              make_image(2, 4, height, width)};
    fill_noise(sources[0], 5);
    fill_noise(sources[1], 6);
    GOOD_FATAL(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD_FATAL(glcnn_graph_wait(graph));
    glcnn_buffer *buffer =
        glcnn_state_vector(glcnn_graph_state(graph, state), "gradient_for_weights");
    float *values = malloc(96 * sizeof *values);
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(buffer), 96 * sizeof *values);
    GOOD_FATAL(glcnn_buffer_read(buffer, 0, 96 * sizeof *values, values));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    return values;
}

static float *weight_gradient_after(const uint32_t (*sizes)[2], size_t count)
{
    float *values = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "x");
    glcnn_image_node *g = glcnn_image_node_create(network, "g");
    glcnn_filter_node *forward =
        glcnn_image_node_filter(glcnn_node(x, "convolution", CHANNELS WINDOW));
    glcnn_kernel_properties(glcnn_filter_node_kernel(forward))->padding |=
        GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT;
    glcnn_state_node_set_export_from_graph(glcnn_filter_node_result_state(forward), true);
    glcnn_filter_node *node = glcnn_gradient_filter_with_source(forward, g);
    CU_ASSERT_PTR_NOT_NULL_FATAL(node);
    for (size_t i = 0; i < count; i++) {
        free(values);
        values = weight_gradient(node, sizes[i][0], sizes[i][1], i + 1 < count);
    }
    glcnn_network_destroy(&network);
    return values;
}

/* What one graph's gradient kernel took over, another graph on other images does not keep. */
static void test_graphs_of_other_sizes(void)
{
    static const uint32_t sizes[][2] = {{8, 7}, {7, 6}};
    float *expected = weight_gradient_after(sizes + 1, 1);
    float *found = weight_gradient_after(sizes, 2);
    CU_ASSERT_EQUAL(memcmp(found, expected, 96 * sizeof *found), 0);
    free(found);
    free(expected);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_each_state_has_its_gradient),
        UNIT_TEST(test_windows_of_constructors_give_way),
        UNIT_TEST(test_weights_of_another_window_are_refused),
        UNIT_TEST(test_a_clip_rectangle_stays),
        UNIT_TEST(test_a_refused_encode_takes_nothing_over),
        UNIT_TEST(test_graphs_of_other_sizes),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("gradient_states", tests, argc, argv);
}
