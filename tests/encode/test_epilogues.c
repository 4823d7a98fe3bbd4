/* Reductions of what a convolution stores, by the convolution's own groups: the same statistics as by
 * a pass that reads it again, in a pass less. GLCNN_TEST_CHECK=1 takes all forms, else one of each way
 * to convolve. */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "device/device.h"
#include "image/image.h"
#include "record/command_buffer.h"

#define WIDTH  21
#define HEIGHT 19
#define BATCH  5

/* A way to convolve, and a layer that takes it. */
struct form {
    const char *implementation, *settings;
    uint32_t inputs, outputs;
};

static const struct form forms[] = {
    {"convolution_wide", "kernel_width=3 kernel_height=3", 6, 10},
    {"convolution_wide", "kernel_width=2 kernel_height=1 neuron_type=relu", 3, 18},
    {"convolution_wide", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_wide", "kernel_width=4 kernel_height=2", 1, 7},
    {"convolution_shared", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_shared", "kernel_width=5 kernel_height=5", 1, 10},
    {"convolution_tiled", "kernel_width=3 kernel_height=3 stride_in_pixels_x=2", 8, 10},
    {"convolution_tiled", "kernel_width=3 kernel_height=3", 8, 21},
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

/* Not in libraries without src/desktop. */
static bool is_built(const char *implementation)
{
    for (size_t i = 0; i < glcnn_kernel_count(); i++) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_at(i);
        for (size_t row = 0; info->implementations[row]; row++)
            if (strcmp(info->implementations[row], implementation) == 0)
                return true;
    }
    return false;
}

/* One pass then reduces, where it is not the one that stores. */
static const char *last_blocks(void)
{
    return is_built("sums_last_block") ? "statistics_last_block,sums_last_block," : "";
}

static void open_with(const char *place, const char *implementation)
{
    char implementations[120];
    fixture_close();
    snprintf(implementations, sizeof implementations, "%s,%s,%scoefficients_vectors", place,
             implementation, last_blocks());
    setenv("GLCNN_IMPLEMENTATIONS", implementations, 1);
    CU_ASSERT_TRUE_FATAL(fixture_open());
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

static struct outcome normalise(const char *place, const struct form *form, float bias)
{
    struct outcome outcome;
    struct gl_count count;
    open_with(place, form->implementation);
    glcnn_network *net = make_network();
    glcnn_image_node *result = make_layer(net, form, bias);
    glcnn_graph *graph = graph_of(result);
    glcnn_image *source = make_image(BATCH, form->inputs, HEIGHT, WIDTH);
    for (uint32_t i = 0; i < 2; i++) { /* the counters of groups are as they were */
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
    if (!implementations_exist(form->implementation))
        return;
    struct outcome apart = normalise("reduced_by_a_pass", form, bias);
    struct outcome stored = normalise("reduced_where_stored", form, bias);
    CU_ASSERT_EQUAL_FATAL(apart.count, stored.count);
    CU_ASSERT(arrays_near(stored.values, apart.values, apart.count, tolerance));
    CU_ASSERT(stored.dispatches + can_reduce() <= apart.dispatches);
    CU_ASSERT(!is_built("sums_last_block") || stored.dispatches + can_reduce() == apart.dispatches);
    free(apart.values);
    free(stored.values);
}

static void test_statistics_are_those_of_a_pass(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i += unit_is_check() ? 1 : 4)
        compare(&forms[i], 0, 1e-5);
}

/* Deviations of about 1 beside means of about 4096, of which a float has 1/2048. */
static void test_large_means_lose_nothing(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i += unit_is_check() ? 1 : 4)
        compare(&forms[i], 4096, 2e-3);
}

/* ---- Sums for gradients ---- */

#define STEPS 3

/* The last convolution's data gradient is what the normalisation before it sums up. */
static const struct form gradient_forms[] = {
    {"convolution_wide", "kernel_width=3 kernel_height=3", 6, 10},
    {"convolution_wide", "kernel_width=3 kernel_height=3 groups=6", 6, 6},
    {"convolution_shared", "kernel_width=5 kernel_height=5 groups=6", 6, 6},
    {"convolution_tiled", "kernel_width=1 kernel_height=1", 37, 16},
    {"convolution_tiled", "kernel_width=3 kernel_height=3", 10, 24}};

static glcnn_image_node *convolve(glcnn_image_node *x, const char *settings, uint32_t inputs,
                                  uint32_t outputs)
{
    char text[200];
    snprintf(text, sizeof text, "%s input_feature_channels=%u output_feature_channels=%u", settings,
             inputs, outputs);
    return glcnn_node(x, "convolution", text);
}

static glcnn_filter_node *make_trained(glcnn_network *net, const struct form *form)
{
    glcnn_image_node *x =
        convolve(make_input(net, "image"), "kernel_width=3 kernel_height=3", 1, form->inputs);
    x = glcnn_node(x, "batch_normalization", "epsilon=1e-5 neuron_type=gelu");
    x = glcnn_node(convolve(x, form->settings, form->inputs, form->outputs), "pooling_average",
                   "kernel_width=12 kernel_height=12 padding=valid");
    const struct glcnn_convolution_descriptor all = {1, 1, form->outputs, CNN_CLASSES};
    glcnn_filter_node *loss =
        glcnn_loss_node(glcnn_fully_connected_node(x, &all, NULL), make_input(net, "labels"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_status(net));
    set_weights(net, 5);
    train_network(net, false);
    return loss;
}

/* The losses of some steps. */
static struct outcome train(const char *place, const struct form *form)
{
    struct outcome outcome = {.values = calloc(STEPS * BATCH, sizeof(float)),
                              .count = STEPS * BATCH};
    struct gl_count count;
    glcnn_image *sources[2];
    glcnn_graph *graph;
    open_with(place, form->implementation);
    glcnn_network *net = make_network();
    glcnn_filter_node *loss = make_trained(net, form);
    GOOD_FATAL(glcnn_training_graph_create(loss, NULL, NULL, &graph));
    make_cnn_sources(BATCH, sources);
    for (size_t i = 0; i < STEPS; i++) {
        count_gl(&count);
        run_graph(graph, sources);
        stop_counting_gl();
        float *values = result_values(graph, glcnn_filter_node_loss(loss));
        memcpy(outcome.values + i * BATCH, values, BATCH * sizeof *values);
        free(values);
    }
    outcome.dispatches = count.dispatches;
    destroy_images(sources, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
    return outcome;
}

static void test_sums_are_those_of_a_pass(void)
{
    for (size_t i = 0; i < sizeof gradient_forms / sizeof *gradient_forms;
         i += unit_is_check() ? 1 : 2) {
        if (!implementations_exist(gradient_forms[i].implementation))
            continue;
        struct outcome apart = train("reduced_by_a_pass", &gradient_forms[i]);
        struct outcome stored = train("reduced_where_stored", &gradient_forms[i]);
        CU_ASSERT(arrays_near(stored.values, apart.values, apart.count, 1e-5));
        CU_ASSERT(apart.values[0] != apart.values[apart.count - BATCH]);
        CU_ASSERT(stored.dispatches + 2u * can_reduce() <= apart.dispatches);
        CU_ASSERT(!is_built("sums_last_block") ||
                  stored.dispatches + 2u * can_reduce() == apart.dispatches);
        free(apart.values);
        free(stored.values);
    }
}

/* ---- What an epilogue reads ---- */

/* Whether a pass that stores the first image could read these, the second and a vector being written
 * behind it. */
static bool could_read(const struct image_view *stored, const struct image_view *written,
                       const struct vector_view *vector, const struct image_view *texture,
                       const struct vector_view *read)
{
    glcnn_command_buffer *buffer;
    struct plan plan;
    GOOD_FATAL(glcnn_command_buffer_create(device, &buffer));
    buffer->deferred = true;
    plan_begin(&plan, buffer);
    struct pass *pass = plan_pass(&plan, "record/fill.comp");
    pass_image(pass, "destination", stored);
    pass->epilogue = (struct pass_epilogue){64, 1, 1};
    pass = plan_pass(&plan, "record/fill.comp");
    pass_image(pass, "destination", written);
    pass_vector(pass, "destination", vector, VECTOR_WRITE);
    GOOD_FATAL(plan_end(&plan));
    plan_begin(&plan, buffer);
    pass = plan_amend(&plan, stored, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pass);
    pass_texture(pass, "source", texture);
    pass_vector(pass, "vector", read, VECTOR_READ);
    bool can = plan_amended_can_read(&plan);
    plan_drop_amended(&plan);
    plan_free(&plan);
    glcnn_command_buffer_destroy(&buffer);
    return can;
}

static void test_reads_what_was_there(void)
{
    glcnn_image *images[3];
    struct image_view views[3];
    struct vector_view vectors[2] = {{.count = 4}, {.count = 4}};
    for (int i = 0; i < 3; i++) {
        images[i] = make_image(1, 4, 2, 2);
        views[i] = image_whole_view(images[i]);
    }
    for (int i = 0; i < 2; i++)
        GOOD_FATAL(glcnn_buffer_create(device, 16, &vectors[i].buffer));
    CU_ASSERT(could_read(&views[0], &views[1], &vectors[0], &views[2], &vectors[1]));
    CU_ASSERT_FALSE(could_read(&views[0], &views[1], &vectors[0], &views[1], &vectors[1]));
    CU_ASSERT_FALSE(could_read(&views[0], &views[1], &vectors[0], &views[2], &vectors[0]));
    for (int i = 0; i < 2; i++)
        glcnn_buffer_destroy(&vectors[i].buffer);
    destroy_images(images, 3);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_statistics_are_those_of_a_pass),
                                        UNIT_TEST(test_large_means_lose_nothing),
                                        UNIT_TEST(test_sums_are_those_of_a_pass),
                                        UNIT_TEST(test_reads_what_was_there), CU_TEST_INFO_NULL};
    return fixture_run("epilogues", tests, argc, argv);
}
