/* From a loss to a graph that trains: glcnn_training_graph_create. */
#include "graph/node.h"
#include "tests/graphs.h"

#define INVALID GLCNN_INVALID_ARGUMENT

static glcnn_kernel *make_adam(void)
{
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &optimizer));
    return optimizer;
}

static glcnn_graph *create(glcnn_filter_node *loss, const struct glcnn_graph_descriptor *descriptor)
{
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = make_adam();
    GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, descriptor, &graph));
    glcnn_kernel_destroy(&optimizer);
    return graph;
}

/* ---- The same as the long way ---- */

/* All parameters after three steps; the caller frees them. */
static float *parameters_after(const struct cnn *c, glcnn_graph *graph, size_t *count)
{
    glcnn_image *sources[2];
    make_cnn_sources(5, sources);
    for (int step = 0; step < 3; step++)
        run_graph(graph, sources);
    float *values = cnn_parameters(c, count);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    return values;
}

static void test_one_call_trains_as_the_long_way(void)
{
    size_t counts[2];
    struct cnn long_way = make_cnn(), one_call = make_cnn();
    train_network(long_way.net, true);
    float *expected = parameters_after(&long_way, cnn_training_graph(&long_way, 0), &counts[0]);
    float *start = vector_values(glcnn_kernel_vector(kernel_of(one_call.convolved[0]), "weights"));
    float *found = parameters_after(&one_call, create(one_call.loss, NULL), &counts[1]);
    CU_ASSERT_EQUAL_FATAL(counts[0], counts[1]);
    CU_ASSERT_EQUAL(memcmp(found, expected, counts[0] * sizeof *found), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(found, start, 6 * 9 * sizeof *found), 0); /* they come first */
    free(expected);
    free(found);
    free(start);
    glcnn_network_destroy(&long_way.net);
    glcnn_network_destroy(&one_call.net);
}

/* ---- Results ---- */

/* Encoding gives as many images as the header says: the loss and what was asked for. */
static void test_results_are_the_loss_and_what_is_asked_for(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2], *mark, *images[4];
    glcnn_image_node *const further[] = {c.scores, c.pooled[0]};
    const bool needed[] = {true, false};
    glcnn_command_buffer *commands = NULL;
    glcnn_graph *graph = create(c.loss, &(struct glcnn_graph_descriptor){further, needed, 2});
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), 2);
    CU_ASSERT_PTR_EQUAL(glcnn_graph_source(graph, 0), c.image);
    CU_ASSERT_PTR_EQUAL(glcnn_graph_source(graph, 1), c.labels);
    make_cnn_sources(3, sources);
    mark = images[3] = sources[0];
    GOOD_FATAL(glcnn_command_buffer_create(device, &commands));
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, images));
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(images[0])->feature_channels, 1);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(images[1])->feature_channels, CNN_CLASSES);
    CU_ASSERT_PTR_NULL(images[2]);
    CU_ASSERT_PTR_EQUAL(images[3], mark);
    glcnn_command_buffer_destroy(&commands);
    destroy_images(images, 2);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

static void test_the_descriptor_is_the_graphs(void)
{
    struct cnn c = make_cnn();
    struct glcnn_memory_plan memory = {0};
    const struct glcnn_image_descriptor sources[] = {
        {.width = CNN_SIDE, .height = CNN_SIDE, .feature_channels = 1, .number_of_images = 2},
        {.feature_channels = CNN_CLASSES, .number_of_images = 2}};
    glcnn_graph *graph = create(c.loss, &(struct glcnn_graph_descriptor){.memory_budget = 64});
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_graph_memory(graph, sources, &memory));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c.net);
}

/* ---- Who is trained ---- */

static const float *no_values(void *context, const char *vector, size_t count)
{
    (void)context, (void)vector, (void)count;
    return NULL;
}

/* A data source stays, a style of nobody is obeyed, and what the gradient does not reach is left
 * alone. */
static void test_only_layers_without_an_update_are_trained(void)
{
    struct cnn c = make_cnn();
    const struct glcnn_data_source own = {.values = no_values, .feature_channels = 8};
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(c.normalised[1]), &own));
    glcnn_image_node_set_stop_gradient(c.pooled[0], true);
    GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(c.convolved[1]),
                                                    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    glcnn_graph *graph = create(c.loss, NULL);
    CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_optimizer(kernel_of(c.scores)));
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer(kernel_of(c.normalised[1])));
    CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_data_source(kernel_of(c.normalised[1])));
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(kernel_of(c.convolved[1])));
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(kernel_of(c.convolved[0])));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c.net);
}

/* A layer that nobody updates needs no optimizer. */
static void test_frozen_layers_are_passed_over(void)
{
    struct cnn c = make_cnn();
    GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(c.convolved[1]),
                                                    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    train_network(c.net, false);
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer(kernel_of(c.convolved[1])));
    CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_optimizer(kernel_of(c.convolved[0])));
    glcnn_network_destroy(&c.net);
}

static void test_without_an_optimizer_data_sources_train(void)
{
    struct cnn c = make_cnn();
    glcnn_graph *graph = NULL;
    train_network(c.net, false);
    GOOD(glcnn_training_graph_create(c.loss, NULL, NULL, &graph));
    CU_ASSERT(graph_has(graph, "convolution_gradient"));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c.net);
}

/* ---- Refusals ---- */

/* Nothing is made, and no layer is left with an optimizer. */
static void check_refused(const struct cnn *c, glcnn_filter_node *loss, glcnn_kernel *optimizer,
                          const struct glcnn_graph_descriptor *descriptor, const char *phrase)
{
    size_t images = c->net->image_count, filters = c->net->filter_count;
    glcnn_graph *graph = (glcnn_graph *)(uintptr_t)c;
    REFUSED(INVALID, glcnn_training_graph_create(loss, optimizer, descriptor, &graph));
    CU_ASSERT_PTR_NULL(graph);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
    CU_ASSERT_EQUAL(c->net->image_count, images);
    CU_ASSERT_EQUAL(c->net->filter_count, filters);
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(kernel_of(c->scores)));
    GOOD(glcnn_network_status(c->net));
}

static void test_what_cannot_train_is_refused(void)
{
    struct cnn c = make_cnn();
    glcnn_kernel *adam = make_adam();
    glcnn_image_node *const nothing[] = {NULL}, *const input[] = {c.image};
    check_refused(&c, filter_of(c.scores), adam, NULL, "it is no loss");
    check_refused(&c, c.loss, kernel_of(c.scores), NULL, "optimizer is another kernel");
    check_refused(&c, c.loss, NULL, NULL, "no layer that it depends on would be trained");
    check_refused(&c, c.loss, adam, &(struct glcnn_graph_descriptor){NULL, NULL, 1}, "has none");
    check_refused(&c, c.loss, adam, &(struct glcnn_graph_descriptor){nothing, NULL, 1}, "NULL");
    check_refused(&c, c.loss, adam, &(struct glcnn_graph_descriptor){input, NULL, 1}, "an input");
    GOOD(glcnn_kernel_set(kernel_of(c.convolved[1]), "neuron_type", GLCNN_NEURON_TYPE_TANH));
    check_refused(&c, c.loss, adam, NULL, "gradient of convolution_1");
    REFUSED(INVALID, glcnn_training_graph_create(c.loss, adam, NULL, NULL));
    CU_ASSERT_EQUAL(glcnn_training_graph_create(NULL, adam, NULL, NULL), INVALID);
    glcnn_kernel_destroy(&adam);
    glcnn_network_destroy(&c.net);
}

/* What keeps a network from being made is told here too. */
static void test_the_networks_failure_is_told(void)
{
    struct cnn c = make_cnn();
    glcnn_kernel *adam = make_adam();
    glcnn_graph *graph = NULL;
    CU_ASSERT_PTR_NULL(glcnn_node(c.image, "convolutoin", NULL));
    REFUSED(INVALID, glcnn_training_graph_create(c.loss, adam, NULL, &graph));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "convolutoin"));
    glcnn_kernel_destroy(&adam);
    glcnn_network_destroy(&c.net);
}

/* ---- Layers of zeros ---- */

/* A convolution, then `kernel` with `settings`, added to the first layer's source where `skip`; a
 * second layer, fully connected, and its loss. Weights: random where asked for, otherwise zero. */
struct zeros {
    const char *kernel, *settings;
    bool skip, first, second; /* whose weights are random */
    float bias;               /* of the first layer */
    const char *refused;      /* the layer that can never be trained; NULL: all can */
};

struct pair {
    glcnn_network *net;
    glcnn_image_node *layers[2], *between;
    glcnn_filter_node *loss;
    glcnn_image *sources[2];
    size_t counts[2];
};

static void set_all(glcnn_image_node *layer, const char *vector, size_t count, float value,
                    bool random)
{
    float values[64];
    uint32_t seed = 3;
    for (size_t i = 0; i < count; i++)
        values[i] = random ? noise(&seed) : value;
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(layer), vector, values, count));
}

static struct pair make_pair(const struct zeros *z)
{
    struct pair p = {.net = make_network(), .counts = {2 * 2 * 9, 3 * 2 * 4}};
    glcnn_image_node *x = make_input(p.net, "x"), *labels = make_input(p.net, "labels");
    p.layers[0] = glcnn_node(x, "convolution",
                             "input_feature_channels=2 output_feature_channels=2 kernel_width=3 "
                             "kernel_height=3");
    p.between = glcnn_node(p.layers[0], z->kernel, z->settings);
    if (z->skip)
        p.between = glcnn_node_binary(p.between, x, "add", NULL);
    p.layers[1] = glcnn_node(p.between, "fully_connected",
                             "input_feature_channels=2 output_feature_channels=3 kernel_width=2 "
                             "kernel_height=2");
    glcnn_image_node *const sources[] = {p.layers[1], labels};
    p.loss = glcnn_filter_node_create(
        p.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum", sources, 2);
    set_all(p.layers[0], "weights", p.counts[0], 0, z->first);
    set_all(p.layers[1], "weights", p.counts[1], 0, z->second);
    set_all(p.layers[0], "biases", 2, z->bias, false);
    p.sources[0] = make_image(2, 2, 2, 2);
    p.sources[1] = image_with(2, 3, 1, 1, (const float[]){1, 0, 0, 0, 0, 1});
    fill_noise(p.sources[0], 5);
    return p;
}

static bool is_zero(glcnn_image_node *layer)
{
    const glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(layer), "weights");
    float *values = vector_values(buffer);
    size_t i = 0;
    while (i < vector_count(buffer) && values[i] == 0)
        i++;
    free(values);
    return i == vector_count(buffer);
}

/* Steps that nobody looks at beforehand. */
static void train_unseen(glcnn_graph *graph, glcnn_image *const *sources)
{
    for (int step = 0; step < 3; step++) {
        glcnn_command_buffer *commands = NULL;
        glcnn_image *loss = NULL;
        GOOD_FATAL(glcnn_command_buffer_create(device, &commands));
        GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &loss));
        GOOD_FATAL(glcnn_command_buffer_commit(commands));
        glcnn_command_buffer_destroy(&commands);
        glcnn_image_destroy(&loss);
    }
}

/* What is refused would not have learned; with other weights the same graph runs. */
static void check_zeros_refused(const struct zeros *z, const struct pair *p, glcnn_graph *graph)
{
    REFUSED(GLCNN_INVALID_STATE, glcnn_graph_execute(graph, p->sources, NULL, NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), z->refused));
    train_unseen(graph, p->sources);
    CU_ASSERT((!z->first && is_zero(p->layers[0])) || (!z->second && is_zero(p->layers[1])));
    GOOD(glcnn_network_initialise(p->net, 1));
    run_graph(graph, p->sources);
}

static void check_zeros(const struct zeros *z)
{
    struct pair p = make_pair(z);
    glcnn_graph *graph = create(p.loss, NULL);
    if (z->refused) {
        check_zeros_refused(z, &p, graph);
    } else {
        for (int step = 0; step < 3; step++)
            run_graph(graph, p.sources);
        CU_ASSERT_FALSE(is_zero(p.layers[0]));
        CU_ASSERT_FALSE(is_zero(p.layers[1]));
    }
    glcnn_graph_destroy(&graph);
    destroy_images(p.sources, 2);
    glcnn_network_destroy(&p.net);
}

static void test_layers_that_could_never_learn_are_refused(void)
{
    static const struct zeros cases[] = {
        {"neuron", "neuron_type=relu", .refused = "convolution_0"},
        {"neuron", "neuron_type=tanh", .refused = "convolution_0"},
        {"pooling_max", NULL, .refused = "convolution_0"},
        {"dropout", "keep_probability=0.5", .refused = "convolution_0"},
        {"batch_normalization", "neuron_type=relu", .refused = "convolution_0"},
        {"neuron", "neuron_type=relu", .first = true},
        {"neuron", "neuron_type=relu", .second = true},
        {"neuron", "neuron_type=relu", .bias = 0.5f},
        {"neuron", "neuron_type=relu", .skip = true},
        {"neuron", "neuron_type=sigmoid"},
        {"batch_normalization", "flags=never neuron_type=sigmoid"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_zeros(&cases[i]);
}

/* gamma counts as weights do. */
static void test_normalisations_of_zeros_are_refused(void)
{
    const struct zeros z = {"batch_normalization", NULL, .first = true,
                            .refused = "batch_normalization_0"};
    struct pair p = make_pair(&z);
    glcnn_graph *graph = create(p.loss, NULL);
    set_all(p.between, "gamma", 2, 0, false);
    check_zeros_refused(&z, &p, graph);
    glcnn_graph_destroy(&graph);
    destroy_images(p.sources, 2);
    glcnn_network_destroy(&p.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_one_call_trains_as_the_long_way),
        UNIT_TEST(test_results_are_the_loss_and_what_is_asked_for),
        UNIT_TEST(test_the_descriptor_is_the_graphs),
        UNIT_TEST(test_only_layers_without_an_update_are_trained),
        UNIT_TEST(test_frozen_layers_are_passed_over),
        UNIT_TEST(test_without_an_optimizer_data_sources_train),
        UNIT_TEST(test_what_cannot_train_is_refused),
        UNIT_TEST(test_the_networks_failure_is_told),
        UNIT_TEST(test_layers_that_could_never_learn_are_refused),
        UNIT_TEST(test_normalisations_of_zeros_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("graph_from_loss", tests, argc, argv);
}
