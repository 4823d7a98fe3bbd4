/* Regions of images, resized: worked examples, which image is which region of which image, regions
 * that change, what keeps them, and networks behind them. test_kernels, test_gradients and test_golden
 * hold the rest. */
#include "glcnn/checkpoint.h"
#include "glcnn/serialize.h"
#include "glcnn/kernels/crop_and_resize.h"
#include "tests/graphs.h"

#include <math.h>

#include "graph/graph.h"

#define COLUMNS 3 /* of the source of the worked examples */

static const float three[COLUMNS] = {1, 3, 9};

/* Each regions' gradient is 1, 10, 100 and on. */
static const struct example {
    float x, width;
    uint32_t results;
    float forward[2][5], gradient[2][COLUMNS]; /* edge mode zero, clamp */
} examples[] = {
    {0, 1, 5, {{1, 2, 3, 6, 9}, {1, 2, 3, 6, 9}}, {{6, 605, 10500}, {6, 605, 10500}}},
    {0.25f, 0.5f, 3, {{2, 3, 6}, {2, 3, 6}}, {{0.5f, 60.5f, 50}, {0.5f, 60.5f, 50}}},
    {0.75f, 0.5f, 2, {{6, 4.5f}, {6, 9}}, {{0, 0.5f, 5.5f}, {0, 0.5f, 10.5f}}},
    {0.5f, 1, 3, {{3, 9, 0}, {3, 9, 9}}, {{0, 1, 10}, {0, 1, 110}}},
    {1, -1, 3, {{9, 3, 1}, {9, 3, 1}}, {{100, 10, 1}, {100, 10, 1}}},
    {0.25f, 0.25f, 1, {{2.5f}, {2.5f}}, {{0.25f, 0.75f, 0}, {0.25f, 0.75f, 0}}},
    /* Far away. */
    {-1e6f, 1, 2, {{0, 0}, {1, 1}}, {{0, 0, 0}, {11, 0, 0}}},
    {7, 1e6f, 2, {{0, 0}, {9, 9}}, {{0, 0, 0}, {0, 0, 11}}},
};

static glcnn_kernel *kernel_of_regions(uint32_t width, uint32_t height, uint32_t count,
                                       const float *regions)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_create(device, width, height, count, regions,
                                                     4 * (size_t)count, &kernel));
    return kernel;
}

static glcnn_kernel *gradient_kernel(void)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_gradient_create(device, &kernel));
    return kernel;
}

static void check_example(const struct example *e, bool vertical, bool clamp)
{
    static const float powers[] = {1, 10, 100, 1000, 10000};
    const float region[] = {vertical ? 0 : e->x, vertical ? e->x : 0, vertical ? 1 : e->width,
                            vertical ? e->width : 1};
    uint32_t n = e->results, wide = vertical ? 1 : n, high = vertical ? n : 1;
    uint32_t columns = vertical ? 1 : COLUMNS, rows = vertical ? COLUMNS : 1;
    glcnn_kernel *forward = kernel_of_regions(wide, high, 1, region), *backward = gradient_kernel();
    glcnn_kernel_properties(forward)->primary.edge_mode =
        clamp ? GLCNN_EDGE_MODE_CLAMP : GLCNN_EDGE_MODE_ZERO;
    glcnn_image *x = image_with(1, 1, rows, columns, three);
    glcnn_image *g = image_with(1, 1, high, wide, powers);
    glcnn_image *y = make_image(1, 1, high, wide), *dx = make_image(1, 1, rows, columns);
    encode_pair(forward, backward, x, g, y, dx);
    check_floats(y, e->forward[clamp], n, 1e-6);
    check_floats(dx, e->gradient[clamp], COLUMNS, 1e-6);
    glcnn_image *all[] = {x, g, y, dx};
    destroy_images(all, 4);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

static void test_examples_of_the_specification(void)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        for (int k = 0; k < 4; k++)
            check_example(&examples[i], k & 1, k & 2);
}

/* ---- Which image is which ---- */

/* Pixels of two images of 2x2; corners of each, one after the other. */
static const float corners[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const float corner_regions[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0};

static void test_regions_follow_each_other_for_each_image(void)
{
    glcnn_kernel *kernel = kernel_of_regions(1, 1, 4, corner_regions);
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *x = image_with(2, 1, 2, 2, corners);
    glcnn_image *y = result_of(kernel, &(struct glcnn_encode){.source = x}, NULL);
    CU_ASSERT_EQUAL_FATAL(glcnn_image_get_descriptor(y)->number_of_images, 8);
    CU_ASSERT_TRUE(image_equals(y, corners));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
}

/* Two pixels below each other in the image of regions, other ones for each image. */
static void test_an_image_has_regions_for_each_image(void)
{
    static const float regions[] = {0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_regions_create(device, 1, 1, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *x = image_with(2, 1, 2, 2, corners), *r = image_with(2, 4, 2, 1, regions);
    glcnn_image *y = result_of(kernel, &(struct glcnn_encode){.source = x, .secondary = r}, NULL);
    CU_ASSERT_TRUE(image_equals(y, (float[]){1, 4, 6, 5}));
    glcnn_image *all[] = {x, r, y};
    destroy_images(all, 3);
    glcnn_kernel_destroy(&kernel);
}

static void test_regions_of_images_have_four_numbers(void)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_regions_create(device, 1, 1, &kernel));
    glcnn_image *x = make_image(2, 1, 2, 2), *r = make_image(2, 3, 1, 1), *y = NULL;
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(
                commands, kernel, &(struct glcnn_encode){.source = x, .secondary = r}, &y, NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "3 channels of region_image"));
    glcnn_command_buffer_destroy(&commands);
    glcnn_image *all[] = {x, r};
    destroy_images(all, 2);
    glcnn_kernel_destroy(&kernel);
}

/* NaN where the position is one, and nothing of other regions. */
static void test_regions_that_are_not_finite_harm_no_others(void)
{
    static const float wrongs[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f};
    glcnn_kernel *forward = NULL, *backward = NULL;
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_regions_create(device, 2, 1, &forward));
    GOOD_FATAL(glcnn_crop_and_resize_bilinear_regions_gradient_create(device, &backward));
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        float w = wrongs[i];
        glcnn_image *x = image_with(1, 1, 1, COLUMNS, three), *g = make_image(2, 1, 1, 2);
        glcnn_image *r = image_with(1, 4, 1, 2, (float[]){w, 0.5f, 0, 0, w, 0.5f, 0, 0});
        glcnn_image *y = make_image(2, 1, 1, 2), *dx = make_image(1, 1, 1, COLUMNS);
        glcnn_state *state = NULL;
        glcnn_command_buffer *commands = make_commands();
        struct glcnn_encode e = {.source = x, .secondary = r, .destination = y};
        GOOD_FATAL(glcnn_kernel_result_state(commands, forward, &e, &state));
        e.state = state;
        GOOD(glcnn_kernel_encode(commands, forward, &e));
        GOOD(glcnn_kernel_encode(
            commands, backward,
            &(struct glcnn_encode){
                .source = g, .secondary = r, .destination = dx, .state = state}));
        finish(&commands);
        float *values = read_image(y);
        CU_ASSERT(isnan(values[0]) == !isfinite(w));
        CU_ASSERT_DOUBLE_EQUAL((double)values[2], 3, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL((double)values[3], 9, 1e-6);
        free(values);
        glcnn_state_destroy(&state);
        glcnn_image *all[] = {x, g, r, y, dx};
        destroy_images(all, 5);
    }
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
}

/* ---- Regions that change, and what keeps them ---- */

static const float half[] = {0.5f, 0, 0.5f, 0, 0, 0, 0.5f, 0};

static bool has_regions(const glcnn_kernel *kernel)
{
    float values[8];
    GOOD_FATAL(glcnn_buffer_read(glcnn_kernel_vector(kernel, "regions"), 0, sizeof values, values));
    return memcmp(values, half, sizeof values) == 0;
}

static void test_regions_are_numbers(void)
{
    static const float wrongs[] = {NAN, INFINITY, 2e19f};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        glcnn_kernel *kernel = NULL;
        const float region[] = {0, wrongs[i], 1, 1};
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_crop_and_resize_bilinear_create(device, 1, 1, 1, region, 4, &kernel));
        CU_ASSERT_PTR_NULL(kernel);
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "regions[1] is"));
    }
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_crop_and_resize_bilinear_create(device, 1, 1, 2, half, 7, &kernel));
}

static void test_regions_change_between_executions(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *node =
        glcnn_crop_and_resize_bilinear_node(make_input(net, "x"), 2, 1, 2, half, 8);
    GOOD_FATAL(glcnn_network_status(net));
    glcnn_graph *graph = graph_of(node);
    glcnn_image *x = image_with(1, 1, 1, COLUMNS, three);
    static const float expected[][4] = {{3, 9, 1, 3}, {1, 1, 9, 9}, {9, 1, 3, 3}};
    static const float others[] = {0, 0, 0, 0, 1, 0, 0, 0}, more[] = {1, 0, -1, 0, 0.5f, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            GOOD(glcnn_kernel_set_vector(kernel_of(node), "regions", others, 8));
        if (i == 2) {
            glcnn_buffer *buffer = NULL;
            glcnn_command_buffer *commands = make_commands();
            GOOD_FATAL(glcnn_buffer_create(device, sizeof more, &buffer));
            GOOD(glcnn_buffer_write(buffer, 0, sizeof more, more));
            GOOD(glcnn_kernel_encode_reload(commands, kernel_of(node), "regions", buffer));
            finish(&commands);
            glcnn_buffer_destroy(&buffer);
        }
        run_graph(graph, &x);
        float *values = result_values(graph, node);
        CU_ASSERT_TRUE(arrays_near(values, expected[i], 4, 1e-6));
        free(values);
    }
    glcnn_image_destroy(&x);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

static void test_copies_and_bytes_have_the_regions(void)
{
    glcnn_kernel *kernel = kernel_of_regions(2, 1, 2, half), *copy = NULL;
    GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_TRUE(has_regions(copy));
    glcnn_kernel_destroy(&copy);
    for (int with_weights = 0; with_weights < 2; with_weights++) {
        uint8_t *bytes = NULL;
        size_t size = 0;
        GOOD_FATAL(glcnn_kernel_serialize(kernel, with_weights, &bytes, &size, NULL));
        GOOD_FATAL(glcnn_kernel_deserialize(device, bytes, size, &copy, NULL));
        CU_ASSERT_TRUE(has_regions(copy));
        glcnn_serialize_destroy(bytes);
        glcnn_kernel_destroy(&copy);
    }
    glcnn_kernel_destroy(&kernel);
}

static void test_checkpoints_have_the_regions(void)
{
    const char *path = "crop_and_resize.glcnn";
    char error[GLCNN_ERROR_LENGTH];
    glcnn_network *nets[2];
    glcnn_kernel *kernels[2];
    for (int i = 0; i < 2; i++) {
        nets[i] = make_network();
        kernels[i] = kernel_of(glcnn_crop_and_resize_bilinear_node(make_input(nets[i], "x"), 2, 1,
                                                                   2, i ? NULL : half, i ? 0 : 8));
    }
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_save(nets[0], path, NULL, 0, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_load(nets[1], path, NULL, error), GLCNN_SUCCESS);
    remove(path);
    CU_ASSERT_TRUE(has_regions(kernels[1]));
    for (int i = 0; i < 2; i++)
        glcnn_network_destroy(&nets[i]);
}

/* ---- Networks ---- */

#define BATCH   3
#define REGIONS 4
#define SIDE    6

/* image -> convolution -> crops 2x2 by an image of regions -> fully connected -> loss */
struct second_stage {
    glcnn_network *net;
    glcnn_image_node *image, *regions, *labels, *features, *scores;
    glcnn_filter_node *loss, *ends[MOST_ENDS];
    size_t end_count;
};

static struct second_stage make_second_stage(void)
{
    struct second_stage s = {.net = make_network()};
    s.image = make_input(s.net, "image");
    s.regions = make_input(s.net, "regions");
    s.labels = make_input(s.net, "labels");
    s.features = glcnn_node(s.image, "convolution",
                            "input_feature_channels=2 output_feature_channels=5 kernel_width=3 "
                            "kernel_height=3");
    glcnn_image_node *crops =
        glcnn_crop_and_resize_bilinear_regions_node(s.features, s.regions, 2, 2);
    s.scores = glcnn_node(crops, "fully_connected",
                          "input_feature_channels=5 output_feature_channels=3 kernel_width=2 "
                          "kernel_height=2");
    glcnn_image_node *const pair[] = {s.scores, s.labels};
    s.loss = glcnn_filter_node_create(
        s.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum", pair, 2);
    GOOD_FATAL(glcnn_network_status(s.net));
    set_weights(s.net, 3);
    train_network(s.net, false);
    s.end_count =
        glcnn_training_graph_with_source_gradient(s.loss, NULL, NULL, NULL, s.ends, MOST_ENDS);
    return s;
}

static void make_sources(const glcnn_graph *graph, const struct second_stage *s, uint32_t labels,
                         glcnn_image *sources[3])
{
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 3);
    for (size_t i = 0; i < 3; i++) {
        const glcnn_image_node *node = glcnn_graph_source(graph, i);
        sources[i] = node == s->image     ? make_image(BATCH, 2, SIDE, SIDE)
                     : node == s->regions ? make_image(BATCH, 4, 2, REGIONS / 2)
                                          : make_image(labels, 3, 1, 1);
        fill_noise(sources[i], (uint32_t)i + 1);
        if (node != s->labels)
            continue;
        float *values = calloc(3 * (size_t)labels, sizeof *values);
        CU_ASSERT_PTR_NOT_NULL_FATAL(values);
        for (uint32_t n = 0; n < labels; n++)
            values[3 * n + n % 3] = 1;
        fill_image(sources[i], values);
        free(values);
    }
}

static double sum_of_loss(glcnn_graph *graph, const struct second_stage *s)
{
    double sum = 0;
    const glcnn_image_node *loss = glcnn_filter_node_loss(s->loss);
    float *values = result_values(graph, loss);
    for (int i = 0; i < BATCH * REGIONS; i++)
        sum += (double)values[i];
    free(values);
    return sum;
}

#define STEPS 30

/* *budget is that of the graph, 0: none; then becomes the least that it can have. */
static void train_second_stage(uint64_t *budget, double losses[STEPS])
{
    struct second_stage s = make_second_stage();
    const glcnn_image_node *loss = glcnn_filter_node_loss(s.loss);
    glcnn_graph *graph =
        training_graph(glcnn_filter_node_loss(s.loss), s.ends, s.end_count, *budget);
    glcnn_image *sources[3];
    struct glcnn_image_descriptor descriptors[3];
    make_sources(graph, &s, BATCH * REGIONS, sources);
    for (int i = 0; i < 3; i++)
        descriptors[i] = *glcnn_image_get_descriptor(sources[i]);
    GOOD(glcnn_graph_least_memory(graph, descriptors, budget));
    CU_ASSERT_FALSE(graph_can_be_split(graph));
    for (int i = 0; i < STEPS; i++) {
        run_graph(graph, sources);
        losses[i] = sum_of_loss(graph, &s);
    }
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(graph, loss))->number_of_images,
                    BATCH * REGIONS);
    destroy_images(sources, 3);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&s.net);
}

/* Its batch does not run in parts: with the least budget the losses are the same. */
static void test_a_second_stage_trains(void)
{
    uint64_t budget = 0;
    double losses[2][STEPS];
    for (int k = 0; k < 2; k++)
        train_second_stage(&budget, losses[k]);
    CU_ASSERT(losses[0][STEPS - 1] < 0.8 * losses[0][0]);
    for (int i = 0; i < STEPS; i++)
        CU_ASSERT_TRUE(is_near(losses[1][i], losses[0][i], 1e-4));
}

static void test_labels_are_as_many_as_regions(void)
{
    struct second_stage s = make_second_stage();
    glcnn_graph *graph = training_graph(glcnn_filter_node_loss(s.loss), s.ends, s.end_count, 0);
    for (uint32_t labels = BATCH; labels <= 2 * BATCH * REGIONS;
         labels += BATCH * (2 * REGIONS - 1)) {
        glcnn_image *sources[3];
        make_sources(graph, &s, labels, sources);
        REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_execute(graph, sources, NULL, NULL));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "images, source 0 has 12"));
        destroy_images(sources, 3);
    }
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&s.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_examples_of_the_specification),
        UNIT_TEST(test_regions_follow_each_other_for_each_image),
        UNIT_TEST(test_an_image_has_regions_for_each_image),
        UNIT_TEST(test_regions_of_images_have_four_numbers),
        UNIT_TEST(test_regions_that_are_not_finite_harm_no_others),
        UNIT_TEST(test_regions_are_numbers),
        UNIT_TEST(test_regions_change_between_executions),
        UNIT_TEST(test_copies_and_bytes_have_the_regions),
        UNIT_TEST(test_checkpoints_have_the_regions),
        UNIT_TEST(test_a_second_stage_trains),
        UNIT_TEST(test_labels_are_as_many_as_regions),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("crop_and_resize", tests, argc, argv);
}
