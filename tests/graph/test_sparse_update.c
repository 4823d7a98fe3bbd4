/* Some output channels of a layer learn: these as in an update of all, the others not at all, and
 * nothing is made for them. */
#include "tests/graphs.h"

#include <math.h>

#define BATCH 6

/* The layers with weights of the small network. */
enum { CONVOLUTION, CONNECTED, LAYERS };

struct range {
    uint32_t first, count;
};

struct trained {
    struct cnn cnn;
    glcnn_kernel *layers[LAYERS];
    glcnn_image *sources[2];
    glcnn_graph *graph;
};

static const uint32_t outputs[LAYERS] = {8, CNN_CLASSES}, per_output[LAYERS] = {54, 72};

static struct trained make(void)
{
    struct trained t = {.cnn = make_cnn()};
    t.layers[CONVOLUTION] = kernel_of(t.cnn.convolved[1]);
    t.layers[CONNECTED] = kernel_of(t.cnn.scores);
    make_cnn_sources(BATCH, t.sources);
    return t;
}

static void train(struct trained *t, bool adam, int steps,
                  const struct glcnn_graph_descriptor *descriptor)
{
    train_network(t->cnn.net, adam);
    GOOD_FATAL(glcnn_training_graph_create(t->cnn.loss, NULL, descriptor, &t->graph));
    for (int i = 0; i < steps; i++)
        run_graph(t->graph, t->sources);
}

static void end(struct trained *t)
{
    glcnn_graph_destroy(&t->graph);
    destroy_images(t->sources, 2);
    glcnn_network_destroy(&t->cnn.net);
}

/* ---- Values ---- */

/* Weights and biases of an output channel follow those of the channel before. */
static bool same_channels(const float *a, const float *b, size_t each, uint32_t first, uint32_t end)
{
    return memcmp(a + first * each, b + first * each, (end - first) * each * sizeof *a) == 0;
}

static void check_others(const float *before, const float *part, size_t each, uint32_t count,
                         struct range r)
{
    CU_ASSERT_TRUE(same_channels(before, part, each, 0, r.first));
    CU_ASSERT_TRUE(same_channels(before, part, each, r.first + r.count, count));
}

static void check_learning(const float *before, const float *part, const float *whole, size_t each,
                           struct range r)
{
    CU_ASSERT_TRUE(
        arrays_near(part + r.first * each, whole + r.first * each, r.count * each, 1e-5));
    for (uint32_t k = r.first; k < r.first + r.count; k++)
        CU_ASSERT_FALSE(same_channels(before, part, each, k, k + 1));
}

/* What optimizers keep of the channels, and what they would keep of all. */
static void check_moments(const glcnn_kernel *part, const glcnn_kernel *whole, const char *vector,
                          size_t each, struct range r)
{
    for (unsigned i = 0; i < 2; i++) {
        glcnn_buffer *some = glcnn_kernel_optimizer_vector(part, vector, i);
        glcnn_buffer *all = glcnn_kernel_optimizer_vector(whole, vector, i);
        CU_ASSERT_EQUAL(some != NULL, all != NULL);
        if (!some || !all)
            continue;
        CU_ASSERT_EQUAL_FATAL(vector_count(some), r.count * each);
        float *found = vector_values(some), *expected = vector_values(all);
        CU_ASSERT_TRUE(arrays_near(found, expected + r.first * each, r.count * each, 1e-6));
        free(found);
        free(expected);
    }
}

static void check_layer(int layer, bool adam, struct range r,
                        const struct glcnn_graph_descriptor *descriptor)
{
    static const char *const vectors[] = {"weights", "biases"};
    struct trained part = make(), whole = make();
    float *before[2];
    for (size_t v = 0; v < 2; v++)
        before[v] = vector_values(glcnn_kernel_vector(part.layers[layer], vectors[v]));
    GOOD_FATAL(glcnn_kernel_set_training_channels(part.layers[layer], r.first, r.count));
    train(&part, adam, 1, descriptor);
    train(&whole, adam, 1, descriptor);
    for (size_t v = 0; v < 2; v++) {
        size_t each = v == 0 ? per_output[layer] : 1;
        float *some = vector_values(glcnn_kernel_vector(part.layers[layer], vectors[v]));
        float *all = vector_values(glcnn_kernel_vector(whole.layers[layer], vectors[v]));
        check_others(before[v], some, each, outputs[layer], r);
        if (v == 0 || layer == CONNECTED) /* a bias in front of a normalisation has no gradient */
            check_learning(before[v], some, all, each, r);
        check_moments(part.layers[layer], whole.layers[layer], vectors[v], each, r);
        free(some);
        free(all);
        free(before[v]);
    }
    CU_ASSERT_EQUAL(glcnn_optimizer(glcnn_kernel_optimizer(part.layers[layer]))->time_step, adam);
    end(&part);
    end(&whole);
}

static void test_channels_learn_as_in_an_update_of_all(void)
{
    static const struct {
        int layer;
        struct range range;
    } cases[] = {{CONVOLUTION, {0, 4}},
                 {CONVOLUTION, {4, 4}},
                 {CONVOLUTION, {0, 7}},
                 {CONNECTED, {0, 3}},
                 {CONNECTED, {4, 1}}};
    const struct glcnn_graph_descriptor ways[] = {{0}, {.loss_scale.scale = 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int way = 0; way < 4; way++)
            check_layer(cases[i].layer, way & 1, cases[i].range, &ways[way / 2]);
}

/* ---- Layers of other forms ---- */

struct form {
    const char *kernel, *settings;
    uint32_t inputs, height, width, outputs;
    struct range range;
};

/* Weights and then biases of a layer by itself after a step; the caller frees both. */
static void step_alone(const struct form *form, struct range range, bool trains, float *values[2])
{
    glcnn_network *net = make_network();
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    glcnn_image_node *y = glcnn_node(make_input(net, "x"), form->kernel, form->settings);
    bool is_connected = strcmp(form->kernel, "fully_connected") == 0;
    glcnn_filter_node *loss =
        glcnn_loss_node(y, make_input(net, "t"), NULL, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR,
                        GLCNN_REDUCTION_TYPE_SUM);
    glcnn_image *sources[] = {make_image(BATCH, form->inputs, form->height, form->width),
                              make_image(BATCH, form->outputs, is_connected ? 1 : form->height,
                                         is_connected ? 1 : form->width)};
    fill_noise(sources[0], 1);
    fill_noise(sources[1], 2);
    set_weights(net, 3);
    GOOD_FATAL(glcnn_kernel_set_training_channels(kernel_of(y), range.first, range.count));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.001f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    if (trains)
        run_graph(graph, sources);
    values[0] = vector_values(glcnn_kernel_vector(kernel_of(y), "weights"));
    values[1] = vector_values(glcnn_kernel_vector(kernel_of(y), "biases"));
    glcnn_graph_destroy(&graph);
    glcnn_kernel_destroy(&optimizer);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
}

static void check_form(const struct form *form, size_t per_channel)
{
    float *before[2], *part[2], *whole[2];
    step_alone(form, (struct range){0, 0}, false, before);
    step_alone(form, form->range, true, part);
    step_alone(form, (struct range){0, 0}, true, whole);
    for (size_t v = 0; v < 2; v++) {
        size_t each = v == 0 ? per_channel : 1;
        check_others(before[v], part[v], each, form->outputs, form->range);
        check_learning(before[v], part[v], whole[v], each, form->range);
        free(before[v]);
        free(part[v]);
        free(whole[v]);
    }
}

static void test_layers_of_other_forms(void)
{
#define WINDOW " kernel_width=3 kernel_height=3"
    check_form(
        &(struct form){"convolution",
                       "input_feature_channels=12 output_feature_channels=12 groups=12" WINDOW,
                       12,
                       7,
                       6,
                       12,
                       {8, 3}},
        9);
    check_form(&(struct form){"convolution",
                              "input_feature_channels=33 output_feature_channels=40" WINDOW,
                              33,
                              9,
                              8,
                              40,
                              {8, 32}},
               297);
    check_form(&(struct form){"convolution",
                              "input_feature_channels=1 output_feature_channels=16" WINDOW,
                              1,
                              9,
                              8,
                              16,
                              {4, 4}},
               9);
    check_form(&(struct form){"convolution",
                              "input_feature_channels=64 output_feature_channels=65" WINDOW,
                              64,
                              8,
                              8,
                              65,
                              {0, 64}},
               576);
    check_form(&(struct form){"fully_connected",
                              "input_feature_channels=5 output_feature_channels=19 kernel_width=2 "
                              "kernel_height=3",
                              5,
                              3,
                              2,
                              19,
                              {12, 5}},
               30);
}

/* ---- What is made ---- */

static size_t gradient_bytes;

static bool note_sizes(void *context, glcnn_state *gradients, glcnn_state *values)
{
    (void)context;
    (void)values;
    gradient_bytes = glcnn_buffer_size(glcnn_state_vector(gradients, "gradient_for_weights")) +
                     glcnn_buffer_size(glcnn_state_vector(gradients, "gradient_for_biases"));
    return false;
}

static size_t bytes_for(int layer, struct range r)
{
    const struct glcnn_data_source source = {.update_cpu = note_sizes};
    struct trained t = make();
    glcnn_image_node *node = layer == CONVOLUTION ? t.cnn.convolved[1] : t.cnn.scores;
    GOOD_FATAL(glcnn_kernel_set_training_channels(t.layers[layer], r.first, r.count));
    GOOD_FATAL(glcnn_kernel_set_data_source(t.layers[layer], &source));
    GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(node),
                                                    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU));
    train(&t, false, 1, NULL);
    end(&t);
    return gradient_bytes;
}

static void test_gradients_of_the_others_are_not_made(void)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        CU_ASSERT_EQUAL(bytes_for(layer, (struct range){0, 0}),
                        outputs[layer] * (per_output[layer] + 1) * 4);
        CU_ASSERT_EQUAL(bytes_for(layer, (struct range){4, 1}), (per_output[layer] + 1) * 4);
    }
}

/* ---- Refusals ---- */

static bool is_refused(uint32_t first, uint32_t count, const char *message)
{
    struct trained t = make();
    const struct glcnn_image_descriptor sources[] = {*glcnn_image_get_descriptor(t.sources[0]),
                                                     *glcnn_image_get_descriptor(t.sources[1])};
    struct glcnn_memory_plan memory;
    GOOD_FATAL(glcnn_kernel_set_training_channels(t.layers[CONVOLUTION], first, count));
    train(&t, false, 0, NULL);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_memory(t.graph, sources, &memory));
    bool says_so = strstr(glcnn_device_error(device), message);
    end(&t);
    return says_so;
}

static void test_channels_that_there_are_not_are_refused(void)
{
    CU_ASSERT_TRUE(is_refused(4, 5, "5 channels from channel 4 on are to learn; there are 8"));
    CU_ASSERT_TRUE(is_refused(8, 1, "there are 8"));
    CU_ASSERT_TRUE(is_refused(2, 4, "multiple of 4"));
    CU_ASSERT_TRUE(is_refused(4, UINT16_MAX, "there are 8"));
}

static void test_layers_that_learn_whole_are_refused(void)
{
    struct trained t = make();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_set_training_channels(kernel_of(t.cnn.normalised[0]), 0, 4));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_set_training_channels(kernel_of(t.cnn.pooled[0]), 0, 4));
    glcnn_kernel *transposed = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, "convolution_transpose", &transposed));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set_training_channels(transposed, 0, 4));
    glcnn_kernel_destroy(&transposed);
    CU_ASSERT_EQUAL(glcnn_kernel_set_training_channels(NULL, 0, 4), GLCNN_INVALID_ARGUMENT);
    train(&t, false, 0, NULL);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_set_training_channels(t.layers[CONVOLUTION], 0, 4));
    end(&t);
}

static void test_groups_learn_whole(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_network *net = make_network();
    glcnn_graph *graph = NULL;
    struct glcnn_memory_plan memory;
    glcnn_image_node *y = glcnn_node(
        make_input(net, "x"), "convolution",
        "input_feature_channels=8 output_feature_channels=8 groups=2 kernel_width=3 kernel_height=3");
    glcnn_filter_node *loss =
        glcnn_loss_node(y, make_input(net, "t"), NULL, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR,
                        GLCNN_REDUCTION_TYPE_SUM);
    const struct glcnn_image_descriptor images = {
        .width = 5, .height = 5, .feature_channels = 8, .number_of_images = 2};
    const struct glcnn_image_descriptor sources[] = {images, images};
    GOOD_FATAL(glcnn_network_initialise(net, 1));
    GOOD_FATAL(glcnn_kernel_set_training_channels(kernel_of(y), 0, 4));
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &kernel));
    GOOD_FATAL(glcnn_training_graph_create(loss, kernel, NULL, &graph));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_memory(graph, sources, &memory));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "of 2 groups"));
    glcnn_graph_destroy(&graph);
    glcnn_kernel_destroy(&kernel);
    glcnn_network_destroy(&net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_channels_learn_as_in_an_update_of_all),
        UNIT_TEST(test_layers_of_other_forms),
        UNIT_TEST(test_gradients_of_the_others_are_not_made),
        UNIT_TEST(test_channels_that_there_are_not_are_refused),
        UNIT_TEST(test_layers_that_learn_whole_are_refused),
        UNIT_TEST(test_groups_learn_whole),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("sparse_update", tests, argc, argv);
}
